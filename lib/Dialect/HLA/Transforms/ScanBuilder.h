//===- ScanBuilder.h - writing an operator as scans -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_TRANSFORMS_SCANBUILDER_H
#define HLA_LIB_DIALECT_HLA_TRANSFORMS_SCANBUILDER_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::hla {

/// The rows of all tokens: a sequence, or one number a token, and the number of
/// heads that read one of its. Rows are the same if they are one in the
/// formula: a query that happens to be the key too is another, with states of
/// its own.
struct Rows {
  Value value;
  int64_t group = 1;
  unsigned id = 0;

  bool operator==(const Rows &other) const { return id == other.id; }
};

/// Arithmetic on the rows of one token, in the type of sums.
class RowBuilder : public ImplicitLocOpBuilder {
public:
  RowBuilder(Location loc, OpBuilder &builder, FloatType type)
      : ImplicitLocOpBuilder(loc, builder), type(type) {}

  /// A row of numbers `value`, as wide as `like`.
  Value constant(double value, Value like);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  /// `number · row`, for a number of the token or a constant.
  Value scale(Value number, Value row);
  Value scale(double number, Value row);
  /// `row / number`.
  Value divide(Value row, Value number);
  Value maximum(Value x, Value y);
  Value minimum(Value x, Value y);
  /// `x ≥ 0 ? y : z`.
  Value selectNonNegative(Value x, Value y, Value z);
  /// The sum of a row.
  Value sum(Value row);
  /// A row in the type of sums.
  Value widen(Value row);

private:
  Value broadcast(Value number, Value like);

  FloatType type;
};

struct ScanOptions {
  bool exclusive = false;
  /// Whether the scan decays by γ² in place of γ.
  bool squared = false;
};

/// Builds the scans of one operator, with its decay, direction, layout, lengths
/// and states. Equal scans are built once. A key and a value that are summed
/// alike are one state, whoever reads it; states are the operator's in the
/// order of their first use.
class ScanBuilder {
public:
  ScanBuilder(Operator op, PatternRewriter &rewriter);

  Rows query() { return {op.getQuery(), op.getQueryGroup(), /*id=*/0}; }
  Rows key() { return {op.getKey(), op.getKeyGroup(), /*id=*/1}; }
  Rows value() { return {op.getValue(), op.getKeyGroup(), /*id=*/2}; }
  /// `v ≡ 1`.
  Rows ones();

  Rows scan(Rows query, Rows key, Rows value, ScanOptions options = {});
  /// A row from the rows of the same token, in the type of sums; `asNumbers`,
  /// one number a token without a dimension of its own.
  Rows map(ArrayRef<Rows> rows,
           function_ref<Value(RowBuilder &, ValueRange)> body,
           bool asNumbers = false);
  /// `x + c y`.
  Rows addScaled(Rows x, double c, Rows y);
  /// The number `x_t·y_t` of every token.
  Rows dot(Rows x, Rows y);

  /// Replaces the operator by the scans, with `output` as its output.
  void replaceOperator(Rows output);

private:
  struct Scan {
    Rows query, key, value;
    ScanOptions options;
    Rows result;
  };
  struct State {
    Rows key, value;
    bool squared;
    Value final;
  };

  /// A destination for rows of `width` numbers.
  Value createDestination(int64_t width, bool asNumbers = false);
  /// The number of the state that sums `key valueᵀ`.
  unsigned getState(Rows key, Rows value, bool squared);
  Value getSquaredLogDecay();

  Rows createRows(Value value) { return {value, /*group=*/1, nextId++}; }

  Operator op;
  PatternRewriter &rewriter;
  Location loc;
  FloatType type;
  /// The sizes of the output, of which `ones` and others have all but the last.
  SmallVector<OpFoldResult> sizes;
  /// Query, key and value have the first.
  unsigned nextId = 3;
  SmallVector<Scan> scans;
  SmallVector<State> states;
  Value squaredLogDecay;
};

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_TRANSFORMS_SCANBUILDER_H
