//===- Recurrences.h - operators token by token, in float64 -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_RECURRENCES_H
#define HLA_TOOLS_HLA_RUN_RECURRENCES_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include <memory>
#include <vector>

namespace hla_run {

/// A row of a sequence.
using ConstRow = const double *;
using Row = double *;

/// A matrix of float64: a state of one head.
struct Matrix {
  Matrix(int64_t rows, int64_t cols)
      : rows(rows), cols(cols), values(rows * cols, 0.0) {}

  Row operator[](int64_t i) { return values.data() + i * cols; }

  /// M ← γ M + x yᵀ.
  void addOuter(double decay, ConstRow x, ConstRow y);
  /// s Mᵀ x.
  std::vector<double> times(ConstRow x, double scale = 1.0);

  int64_t rows, cols;
  std::vector<double> values;
};

/// An operator's recurrence in one head, with the statistics of the paper where
/// it has them.
class Recurrence {
public:
  virtual ~Recurrence() = default;

  /// Takes in a token with its decay and returns the row of the output, without
  /// scale and normaliser.
  virtual std::vector<double> step(double decay, ConstRow q, ConstRow k,
                                   ConstRow v) = 0;

  /// The states, in the operator's order.
  std::vector<Matrix> states;

  /// The recurrence of `op` for values of `dv` numbers. With `keepsStates` its
  /// states are those that the operator takes in and gives out.
  static std::unique_ptr<Recurrence> create(mlir::hla::Operator op, int64_t d,
                                            int64_t dv, bool keepsStates);
};

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_RECURRENCES_H
