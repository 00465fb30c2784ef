//===- ProductVerifier.h - shapes of products -------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_TILE_IR_PRODUCTVERIFIER_H
#define HLA_LIB_DIALECT_TILE_IR_PRODUCTVERIFIER_H

#include "hla/Dialect/Tile/IR/Tile.h"

namespace mlir::hla::tile {

/// Verifies that the operands of a `dot` or `dot_async` have shapes that can be
/// multiplied, and its accumulator that of the product.
template <typename Op> LogicalResult verifyProduct(Op op) {
  auto shapeOf = [](Value v, bool transposed) {
    ArrayRef<int64_t> shape = cast<ShapedType>(v.getType()).getShape();
    return transposed ? std::pair(shape[1], shape[0])
                      : std::pair(shape[0], shape[1]);
  };
  auto [m, k] = shapeOf(op.getLhs(), op.getTransposeLhs());
  auto [k2, n] = shapeOf(op.getRhs(), op.getTransposeRhs());
  auto [accM, accN] = shapeOf(op.getAcc(), false);
  if (k != k2)
    return op.emitOpError() << "expected rhs to have " << k
                            << " rows (the columns of lhs), but got " << k2;
  if (m != accM || n != accN)
    return op.emitOpError()
           << "expected acc to be " << m << "x" << n
           << " (rows of lhs, columns of rhs), but got " << accM << "x" << accN;
  return success();
}

} // namespace mlir::hla::tile

#endif // HLA_LIB_DIALECT_TILE_IR_PRODUCTVERIFIER_H
