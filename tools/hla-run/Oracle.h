//===- Oracle.h - what a function should compute ----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_ORACLE_H
#define HLA_TOOLS_HLA_RUN_ORACLE_H

#include "Array.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace hla_run {

/// A tensor of float64, in C order.
struct Tensor {
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<double> values;
  /// Whether an element may be anything, because nothing writes it; empty where
  /// all are written.
  std::vector<uint8_t> isUnspecified;
};

/// The results of `function`, which consists of hla operators and scans on
/// tensors, for the given arguments. Token by token and without rounding:
/// operators by their recurrences, scans by their definition.
llvm::Expected<std::vector<Tensor>> evaluate(mlir::func::FuncOp function,
                                             llvm::ArrayRef<Tensor> arguments);

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_ORACLE_H
