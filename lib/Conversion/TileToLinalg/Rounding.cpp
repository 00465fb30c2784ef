//===- Rounding.cpp - roundings of tiles on a CPU ---------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hla;

Value hla::extend(OpBuilder &b, Location loc, Value tile, Type elementType) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType() == elementType)
    return tile;
  return arith::ExtFOp::create(b, loc, type.clone(elementType), tile);
}

// Half of the last bit that stays is added to the bits; it may carry into the
// exponent. NaN stays as it is.
Value hla::roundToTF32(OpBuilder &b, Location loc, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  Value init =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  auto body = [](OpBuilder &b, Location loc, ValueRange arguments) {
    Value x = arguments[0];
    Type i32 = b.getI32Type();
    auto constant = [&](int64_t bits) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(i32, bits));
    };
    Value bits = arith::BitcastOp::create(b, loc, i32, x);
    bits = arith::AddIOp::create(b, loc, bits, constant(0x1000));
    bits = arith::AndIOp::create(b, loc, bits, constant(-0x2000));
    Value rounded = arith::BitcastOp::create(b, loc, x.getType(), bits);
    Value isNaN =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    linalg::YieldOp::create(
        b, loc, Value(arith::SelectOp::create(b, loc, isNaN, x, rounded)));
  };
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), ValueRange(tile), ValueRange(init),
             ArrayRef{identity, identity}, iterators, body)
      .getResult(0);
}

std::pair<Value, Value> hla::splitBF16(OpBuilder &b, Location loc, Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (type.getElementType().isBF16())
    return {extend(b, loc, tile, b.getF32Type()), Value()};
  tile = extend(b, loc, tile, b.getF32Type());
  auto round = [&](Value wide) -> Value {
    wide = arith::TruncFOp::create(b, loc, type.clone(b.getBF16Type()), wide);
    return extend(b, loc, wide, b.getF32Type());
  };
  Value high = round(tile);
  return {high, round(arith::SubFOp::create(b, loc, tile, high))};
}
