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

#define GET_TYPEDEF_CLASSES
#include "hla/Dialect/Tile/IR/TileTypes.cpp.inc"

void HLATileDialect::initialize() {
  registerAttributes();
  registerTypes();
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

void HLATileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "hla/Dialect/Tile/IR/TileTypes.cpp.inc"
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

//===----------------------------------------------------------------------===//
// TensorMapType
//===----------------------------------------------------------------------===//

Type TensorMapType::parse(AsmParser &parser) {
  SmallVector<int64_t> box;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(box, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    box, elementType);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getBox());
  printer << "x" << getElementType() << ">";
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> box, Type elementType) {
  // tensor_map-type-C1
  if (box.size() < 2 || box.size() > 4)
    return emitError() << "expected a box of two to four dimensions (a fifth "
                          "is the blocks of its columns), but got "
                       << box.size();
  // tensor_map-type-C2
  if (!(elementType.isBF16() || elementType.isF16()) ||
      box.back() % kBlockCols != 0 || box.back() == 0)
    return emitError() << "expected the rows of a box to have a multiple of "
                       << kBlockCols
                       << " elements of bf16 or f16 (128 bytes are swizzled), "
                          "but got "
                       << box.back() << " of " << elementType;
  // tensor_map-type-C3
  if (llvm::count_if(box.drop_back(), [](int64_t n) { return n != 1; }) > 1)
    return emitError() << "expected a box with one dimension of rows (it is a "
                          "tile), but got "
                       << box;
  return success();
}

unsigned TensorMapType::getRowDim() const {
  ArrayRef<int64_t> rows = getBox().drop_back();
  const auto *it = llvm::find_if(rows, [](int64_t n) { return n != 1; });
  return it == rows.end() ? 0 : it - rows.begin();
}

//===----------------------------------------------------------------------===//
// SignalsType
//===----------------------------------------------------------------------===//

// signals-type-C1
LogicalResult SignalsType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t count) {
  if (count >= 1)
    return success();
  return emitError() << "expected at least one signal, but got " << count;
}
