//===- TileDialect.cpp - the hla_tile dialect and its layouts ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla::tile;

#include "hla/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "hla/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "hla/Dialect/Tile/IR/TileAttrs.cpp.inc"

void HLATileDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "hla/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

void HLATileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "hla/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// FragAttr
//===----------------------------------------------------------------------===//

LogicalResult FragAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t rowWarps, int64_t colWarps,
                               bool transposed) {
  // frag-C1
  if (!llvm::isPowerOf2_64(rowWarps) || !llvm::isPowerOf2_64(colWarps) ||
      rowWarps < 1 || colWarps < 1)
    return emitError() << "expected rowWarps and colWarps to be powers of two "
                          "(they cut tiles into equal parts), but got "
                       << rowWarps << " and " << colWarps;
  return success();
}

std::pair<int64_t, int64_t> FragAttr::getStored(ArrayRef<int64_t> shape) const {
  return getTransposed() ? std::pair(shape[1], shape[0])
                         : std::pair(shape[0], shape[1]);
}

int64_t FragAttr::getRegisters(RankedTensorType type) {
  auto frag = cast<FragAttr>(type.getEncoding());
  // A truth value has a register of its own.
  const int64_t width = type.getElementType().isInteger(1)
                            ? 32
                            : getStorageBits(type.getElementType());
  int64_t bits = type.getNumElements() * width;
  return bits / (32 * 32 * frag.getWarps());
}

LogicalResult
FragAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // frag-C2
  if (shape.size() != 2)
    return emitError() << "expected a fragment to be a matrix, but got rank "
                       << shape.size();
  // frag-C3
  auto [rows, cols] = getStored(shape);
  if (rows % (16 * getRowWarps()) || cols % (8 * getColWarps()))
    return emitError() << "expected a fragment of " << getRowWarps() << "x"
                       << getColWarps()
                       << " warps to be stored as a multiple of "
                       << 16 * getRowWarps() << "x" << 8 * getColWarps()
                       << " (a warp holds pieces of 16x8), but got " << rows
                       << "x" << cols;
  return success();
}

//===----------------------------------------------------------------------===//
// SmemAttr
//===----------------------------------------------------------------------===//

std::pair<int64_t, int64_t> SmemAttr::getStored(ArrayRef<int64_t> shape) const {
  return getOrder() == Order::Row ? std::pair(shape[0], shape[1])
                                  : std::pair(shape[1], shape[0]);
}

LogicalResult
SmemAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  // smem-C1
  if (shape.size() != 2)
    return emitError()
           << "expected a tile in shared memory to be a matrix, but "
              "got rank "
           << shape.size();
  // smem-C2
  if (int64_t bits = getStorageBits(elementType); bits != 16 && bits != 32)
    return emitError()
           << "expected a tile in shared memory to have elements of "
              "16 or 32 bits (it is read as matrix operands), but "
              "got "
           << elementType;
  // smem-C3
  auto [rows, cols] = getStored(shape);
  if (rows < 8 || cols < 16 || !llvm::isPowerOf2_64(rows) ||
      !llvm::isPowerOf2_64(cols))
    return emitError() << "expected a tile in shared memory to be stored as "
                          "powers of two of at least 8x16 (swizzles permute "
                          "pieces of 8 elements), but got "
                       << rows << "x" << cols;
  return success();
}

//===----------------------------------------------------------------------===//
// LaneAttr
//===----------------------------------------------------------------------===//

// lane-C1
LogicalResult
LaneAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() == 2 && shape[1] == 1)
    return success();
  return emitError()
         << "expected a tile in lanes to be a column, but got shape " << shape;
}
