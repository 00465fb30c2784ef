//===- Padding.cpp - rows after the last token, columns after the last ----===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Padding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::hla;

static bool isFiniteConstant(Value row) {
  FloatAttr value;
  SplatElementsAttr splat;
  return matchPattern(row, m_Constant(&splat)) &&
         (value = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>())) &&
         value.getValue().isFinite();
}

bool hla::isZeroPadded(Value row, tile::Dim dim) {
  const bool isRows = dim == tile::Dim::Rows;
  if (auto argument = dyn_cast<BlockArgument>(row)) {
    // A number of a head is the same for tokens that do not exist.
    auto loop = cast<FusedScanOp>(argument.getOwner()->getParentOp());
    Value input = loop.getInputs()[argument.getArgNumber()];
    return cast<ShapedType>(input.getType()).getRank() != 1;
  }
  if (matchPattern(row, m_AnyZeroFloat()))
    return true;
  Operation *op = row.getDefiningOp();
  if (auto step = dyn_cast<StepOp>(op))
    return !isRows || isZeroPadded(step.getQuery(), dim);
  if (isa<hla::RowSumOp, vector::BroadcastOp>(op))
    return isRows && isZeroPadded(op->getOperand(0), dim);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, math::AbsFOp>(op))
    return isZeroPadded(op->getOperand(0), dim);
  if (isa<arith::AddFOp, arith::SubFOp, arith::MaximumFOp, arith::MinimumFOp>(
          op))
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return isZeroPadded(operand, dim);
    });
  // Zero times what may be infinite is NaN.
  if (isa<arith::MulFOp>(op)) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    const bool isLhsZero = isZeroPadded(lhs, dim),
               isRhsZero = isZeroPadded(rhs, dim);
    return (isLhsZero && (isRhsZero || isFiniteConstant(rhs))) ||
           (isFiniteConstant(lhs) && isRhsZero);
  }
  return false;
}

std::pair<bool, bool> hla::needsMask(StepOp step) {
  Value key = step.getKey(), value = step.getValue();
  const bool isKeyZero = isZeroPadded(key, tile::Dim::Rows),
             isValueZero = isZeroPadded(value, tile::Dim::Rows);
  if (isKeyZero)
    return {false, !isValueZero && !isFiniteConstant(value)};
  if (isValueZero)
    return {!isFiniteConstant(key), false};
  return {true, !isFiniteConstant(value)};
}
