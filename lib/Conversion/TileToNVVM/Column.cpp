//===- Column.cpp - columns in the lanes of a warp --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Column.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

Value Column::get(Emitter &e, Value row) const {
  Value value = registers.front();
  for (size_t i = 1; i < registers.size(); ++i) {
    Value isHere = arith::CmpIOp::create(e, arith::CmpIPredicate::uge, row,
                                         e.i32(32 * static_cast<int64_t>(i)));
    value = arith::SelectOp::create(e, isHere, registers[i], value);
  }
  // The instruction takes the lane modulo 32.
  return e.shuffle(NVVM::ShflKind::idx, value, row);
}

Value Column::get(Emitter &e, int64_t row) const {
  return e.shuffle(NVVM::ShflKind::idx, registers[row / 32], e.i32(row % 32));
}

Column Column::moveOn(Emitter &e, Value lane) const {
  Value isFirst =
      arith::CmpIOp::create(e, arith::CmpIPredicate::eq, lane, e.i32(0));
  Value before =
      arith::ConstantOp::create(e, e.getZeroAttr(registers.front().getType()));
  SmallVector<Value> moved;
  for (Value value : registers) {
    Value neighbour = e.shuffle(NVVM::ShflKind::up, value, e.i32(1));
    moved.push_back(arith::SelectOp::create(e, isFirst, before, neighbour));
    if (moved.size() < registers.size())
      before = e.shuffle(NVVM::ShflKind::idx, value, e.i32(31));
  }
  return Column(moved);
}

static std::pair<SmallVector<Value>, SmallVector<Value>>
split(Emitter &e, ValueRange sums) {
  std::pair<SmallVector<Value>, SmallVector<Value>> parts;
  for (Value sum : sums) {
    Value high = arith::TruncFOp::create(e, e.getF32Type(), sum);
    Value rest = arith::SubFOp::create(
        e, sum, arith::ExtFOp::create(e, e.getF64Type(), high));
    parts.first.push_back(high);
    parts.second.push_back(arith::TruncFOp::create(e, e.getF32Type(), rest));
  }
  return parts;
}

LogSums::LogSums(Emitter &e, ValueRange sums)
    : high(ValueRange()), low(ValueRange()) {
  auto [highs, lows] = split(e, sums);
  high = Column(highs);
  low = Column(lows);
}

Value LogSums::getFactor(Emitter &e, Sum later, std::optional<Sum> earlier) {
  Value high = later.high, low = later.low;
  if (earlier) {
    high = arith::SubFOp::create(e, high, earlier->high);
    low = arith::SubFOp::create(e, low, earlier->low);
  }
  Value difference = arith::AddFOp::create(e, high, low);
  return e.power2(
      arith::MulFOp::create(e, difference, e.f32(llvm::numbers::log2e)));
}
