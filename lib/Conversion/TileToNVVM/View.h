//===- View.h - matrices in device memory -----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETONVVM_VIEW_H
#define HLA_LIB_CONVERSION_TILETONVVM_VIEW_H

#include "Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::hla::tile {

/// A matrix or a column in device memory, as a thread has it (see
/// populateTypeConversions).
struct View {
  View(ValueRange values, MemRefType type)
      : pointer(values[0]), stride(values[1]), numRows(values[2]), type(type) {}

  /// Whether a tile at row 0 has no rows that are outside of the view, whatever
  /// its size at run time.
  bool holdsRows(RankedTensorType tile, Value row) const {
    return getConstantIntValue(row) == 0 &&
           type.getDimSize(0) == tile.getDimSize(0);
  }
  /// The address of an element: `row` and `col` are i64 values.
  Value getAddress(Emitter &e, Value row, Value col) const {
    Value offset =
        arith::AddIOp::create(e, arith::MulIOp::create(e, row, stride), col);
    return LLVM::GEPOp::create(e, pointer.getType(), type.getElementType(),
                               pointer, ValueRange{offset});
  }
  /// The address of the element so many rows below another.
  Value advance(Emitter &e, Value address, int64_t rows) const {
    if (rows == 0)
      return address;
    Value offset = arith::MulIOp::create(e, stride, e.i64(rows));
    return LLVM::GEPOp::create(e, pointer.getType(), type.getElementType(),
                               address, ValueRange{offset});
  }
  /// Whether a row is in the view; a negative one is not.
  Value contains(Emitter &e, Value row) const {
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, row, numRows);
  }
  /// The first column of a tile, or of the tile of a slice.
  static Value getFirstCol(Emitter &e, ShapedType tile, Value slice) {
    return slice ? e.mul(e.toI32(slice), tile.getDimSize(1)) : e.i32(0);
  }
  /// Whether a tile, or that of a slice, may have columns that the view does
  /// not have, and whether one, i64 or i32, is in it.
  bool isNarrower(ShapedType tile, Value slice) const {
    return slice || type.getDimSize(1) < tile.getDimSize(1);
  }
  Value containsCol(Emitter &e, Value col) const {
    Value cols = arith::ConstantOp::create(
        e, e.getIntegerAttr(col.getType(), type.getDimSize(1)));
    return arith::CmpIOp::create(e, arith::CmpIPredicate::ult, col, cols);
  }

  /// How many rows of a tile of `tileRows` rows from `row` on are in the view,
  /// as an i32; none where `row` is negative.
  Value countRows(Emitter &e, Value row, int64_t tileRows) const {
    Value rest = arith::MinUIOp::create(
        e, arith::SubIOp::create(e, numRows, row), e.i64(tileRows));
    Value count = arith::SelectOp::create(e, contains(e, row), rest, e.i64(0));
    return arith::TruncIOp::create(e, e.getI32Type(), count);
  }

  Value pointer, stride, numRows;
  MemRefType type;
};

/// The slice of a load, store or copy, or null.
template <typename Adaptor> Value getSlice(Adaptor adaptor) {
  return adaptor.getSlice().empty() ? Value() : adaptor.getSlice().front();
}

/// Emits an error if it is not known how many columns the view has.
template <typename Op> LogicalResult verifyColumns(Op op) {
  MemRefType view = op.getView().getType();
  if (view.getRank() == 1 || !view.isDynamicDim(1))
    return success();
  return op.emitOpError() << "expected a view whose number of columns is known "
                             "(rows are copied by as many bytes as divide "
                             "them), but got "
                          << view;
}

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETONVVM_VIEW_H
