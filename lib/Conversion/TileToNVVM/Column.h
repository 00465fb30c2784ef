//===- Column.h - columns in the lanes of a warp ----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETONVVM_COLUMN_H
#define HLA_LIB_CONVERSION_TILETONVVM_COLUMN_H

#include "Emitter.h"

namespace mlir::hla::tile {

/// The numbers of a column that a lane has (`#hla_tile.lane`).
class Column {
public:
  explicit Column(ValueRange registers) : registers(registers) {}

  /// Number `row` of the column, an i32 value; `row / 32` must be the same in
  /// all lanes of the warp.
  Value get(Emitter &e, Value row) const;
  Value get(Emitter &e, int64_t row) const;
  /// The column moved on by one: number `i` is what number `i - 1` is, and
  /// number 0 is zero. `lane` is the lane's own number.
  Column moveOn(Emitter &e, Value lane) const;

  ArrayRef<Value> getRegisters() const { return registers; }

private:
  SmallVector<Value> registers;
};

/// Sums of log-decays. A difference of two f64 is a difference of two f32 and
/// one of what those leave, to the precision of f32: most GPUs have few f64
/// units.
class LogSums {
public:
  LogSums(Emitter &e, ValueRange sums);

  struct Sum {
    Value high, low;
  };
  Sum get(Emitter &e, Value row) const {
    return {high.get(e, row), low.get(e, row)};
  }
  Sum get(Emitter &e, int64_t row) const {
    return {high.get(e, row), low.get(e, row)};
  }
  /// A lane's own sum, of register `i`.
  Sum getOwn(size_t i) const {
    return {high.getRegisters()[i], low.getRegisters()[i]};
  }
  size_t size() const { return high.getRegisters().size(); }
  /// `G_{i-1}` for `G_i`.
  LogSums moveOn(Emitter &e, Value lane) const {
    return LogSums(high.moveOn(e, lane), low.moveOn(e, lane));
  }

  /// exp(later - earlier); exp(later) without the other.
  static Value getFactor(Emitter &e, Sum later,
                         std::optional<Sum> earlier = std::nullopt);

private:
  LogSums(Column high, Column low)
      : high(std::move(high)), low(std::move(low)) {}

  Column high, low;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETONVVM_COLUMN_H
