//===- TileGroupOps.cpp - verification of operations of groups --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductVerifier.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// The layout of a tile, or the memory space of a buffer.
static Attribute getLayout(Value value) {
  if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
    return tile.getEncoding();
  return cast<MemRefType>(value.getType()).getMemorySpace();
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// Columns of a block of a tile in shared memory.
static int64_t getBlockCols(Value value) {
  return 8 * SmemAttr::kBlockBytes /
         getStorageBits(getElementTypeOrSelf(value));
}

//===----------------------------------------------------------------------===//
// Parts of tiles
//===----------------------------------------------------------------------===//

LogicalResult ColumnsOp::verify() {
  // columns-C1
  if (!isa_and_nonnull<SmemAttr>(getLayout(getSource())) ||
      getLayout(getSource()) != getLayout(getResult()) ||
      getElementTypeOrSelf(getSource()) != getElementTypeOrSelf(getResult()) ||
      getShape(getSource())[0] != getShape(getResult())[0] ||
      isa<MemRefType>(getSource().getType()) !=
          isa<MemRefType>(getResult().getType()))
    return emitOpError() << "expected columns of a tile in shared memory, with "
                            "its rows, layout and element type, "
                         << getSource().getType() << ", but got "
                         << getResult().getType();
  // columns-C2
  const int64_t offset = getOffsetAttr().getInt(),
                cols = getShape(getResult())[1],
                block = getBlockCols(getSource());
  if (offset % block || cols % block || offset < 0 ||
      offset + cols > getShape(getSource())[1])
    return emitOpError() << "expected multiples of " << block
                         << " columns (blocks of 128 bytes) of "
                         << getSource().getType() << ", but got " << cols
                         << " from " << offset << " on";
  return success();
}

LogicalResult ConcatOp::verify() {
  if (getParts().empty())
    return emitOpError("expected at least one part, but got none");
  // concat-C1
  Value part = getParts().front();
  const int64_t cols = getShape(part)[1], parts = getParts().size();
  auto type = cast<RankedTensorType>(part.getType());
  auto whole = RankedTensorType::get({type.getDimSize(0), parts * cols},
                                     type.getElementType(), type.getEncoding());
  if (getType() != whole || !isa_and_nonnull<SmemAttr>(type.getEncoding()))
    return emitOpError() << "expected the result to be the parts' columns in "
                            "shared memory, "
                         << whole << ", but got " << getType();
  // concat-C2
  if (cols % getBlockCols(part))
    return emitOpError() << "expected parts with a multiple of "
                         << getBlockCols(part)
                         << " columns (blocks of 128 bytes), but got " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

// groups-C1
LogicalResult GroupsOp::verifyRegions() {
  auto kernel = (*this)->getParentOfType<gpu::GPUFuncOp>();
  DenseI32ArrayAttr block =
      kernel ? kernel.getKnownBlockSizeAttr() : DenseI32ArrayAttr();
  const int64_t expected = kThreads * getGroups().size();
  if (block && block[0] != expected)
    return emitOpError() << "expected a kernel of " << expected
                         << " threads (four warps for each of "
                         << getGroups().size() << " groups), but got "
                         << block[0];
  return success();
}

//===----------------------------------------------------------------------===//
// Asynchronous products
//===----------------------------------------------------------------------===//

LogicalResult DotAsyncOp::verify() {
  // dot_async-C1
  if (failed(verifyProduct(*this)))
    return failure();
  // dot_async-C2
  Type type = getElementTypeOrSelf(getLhs());
  if (type != getElementTypeOrSelf(getRhs()) ||
      !(type.isBF16() || type.isF16()) ||
      !getElementTypeOrSelf(getAcc()).isF32())
    return emitOpError() << "expected operands of bf16 or f16, both the same, "
                            "and acc of f32, but got "
                         << getLhs().getType() << ", " << getRhs().getType()
                         << " and " << getAcc().getType();
  // dot_async-C3
  RankedTensorType acc = getAcc().getType();
  auto frag = dyn_cast_or_null<FragAttr>(acc.getEncoding());
  constexpr int64_t kRows = 16 * GroupsOp::kWarps, kMostCols = 256;
  if (!frag || frag.getRowWarps() != GroupsOp::kWarps ||
      frag.getColWarps() != 1 ||
      frag.getStored(acc.getShape()).first != kRows ||
      frag.getStored(acc.getShape()).second > kMostCols)
    return emitOpError()
           << "expected acc to be a fragment of 4x1 warps, stored "
              "as "
           << kRows << " rows of at most " << kMostCols
           << " columns (one instruction's), but got " << acc;
  const bool isRhsA = frag.getTransposed();
  Value a = isRhsA ? getRhs() : getLhs(), b = isRhsA ? getLhs() : getRhs();
  const bool isTransposedAsA = isRhsA ? !getTransposeRhs() : getTransposeLhs();
  // dot_async-C4
  for (Value operand : {a, b}) {
    auto smem = dyn_cast_or_null<SmemAttr>(getLayout(operand));
    if (smem &&
        smem.getStored(getShape(operand)).second < getBlockCols(operand))
      return emitOpError() << "expected operands in shared memory to be stored "
                              "in rows of at least 128 bytes (the swizzle's), "
                              "but got "
                           << operand.getType();
  }
  // dot_async-C5
  if (!isa_and_nonnull<SmemAttr>(getLayout(b)))
    return emitOpError() << "expected the B operand in shared memory, but got "
                         << b.getType();
  if (auto stored = dyn_cast_or_null<FragAttr>(getLayout(a));
      stored &&
      (stored.getRowWarps() != GroupsOp::kWarps || stored.getColWarps() != 1 ||
       stored.getTransposed() != isTransposedAsA))
    return emitOpError() << "expected an A operand in registers to be stored "
                            "as it is read, by 4x1 warps, but got "
                         << a.getType();
  return success();
}

LogicalResult DotFenceOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

LogicalResult DotWaitOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          ValueRange operands, DictionaryAttr,
                                          OpaqueProperties, RegionRange,
                                          SmallVectorImpl<Type> &types) {
  llvm::append_range(types, operands.getTypes());
  return success();
}

// dot_wait-C1
LogicalResult DotWaitOp::verify() {
  const int64_t pending = getPendingAttr().getInt();
  if (pending < 0 || pending > 7)
    return emitOpError() << "expected pending to be from 0 to 7, but got "
                         << pending;
  return success();
}

//===----------------------------------------------------------------------===//
// Copies of boxes
//===----------------------------------------------------------------------===//

LogicalResult TensorMapOp::verify() {
  MemRefType tensor = getTensor().getType();
  TensorMapType map = getMap().getType();
  // tensor_map-C1
  if (tensor.getElementType() != map.getElementType() ||
      tensor.getRank() != static_cast<int64_t>(map.getBox().size()))
    return emitOpError() << "expected a box of the tensor's rank and element "
                            "type, "
                         << tensor << ", but got " << map;
  // tensor_map-C2
  const int64_t cols = tensor.getShape().back();
  if (ShapedType::isDynamic(cols) || cols % TensorMapType::kBlockCols)
    return emitOpError() << "expected rows of a multiple of "
                         << TensorMapType::kBlockCols
                         << " elements (128 bytes are swizzled), but got "
                         << tensor;
  return success();
}

LogicalResult SignalsOp::verify() {
  // signals-C1
  const int64_t offset = getOffsetAttr().getInt();
  if (offset < 0 || offset % 8)
    return emitOpError()
           << "expected the offset to be a multiple of 8, but got " << offset;
  // signals-C2
  if (getArrivalsAttr().getInt() < 1)
    return emitOpError() << "expected at least one arrival a phase, but got "
                         << getArrivalsAttr().getInt();
  return success();
}

static LogicalResult verifyBox(Operation *op, TensorMapType map,
                               ValueRange indices, Value buffer) {
  // tensor_load-C1
  if (indices.size() != map.getBox().size())
    return op->emitOpError() << "expected " << map.getBox().size()
                             << " indices (the dimensions of " << map
                             << "), but got " << indices.size();
  // tensor_load-C2
  const int64_t rows = map.getBox()[map.getRowDim()],
                cols = map.getBox().back();
  if (getShape(buffer) != ArrayRef({rows, cols}) ||
      getElementTypeOrSelf(buffer) != map.getElementType() ||
      cast<SmemAttr>(getLayout(buffer)).getOrder() != Order::Row)
    return op->emitOpError()
           << "expected a buffer of the box, " << rows << "x" << cols << "x"
           << map.getElementType() << ", stored by rows, but got "
           << buffer.getType();
  return success();
}

LogicalResult TensorLoadOp::verify() {
  return verifyBox(*this, getMap().getType(), getIndices(), getBuffer());
}

LogicalResult TensorStoreOp::verify() {
  return verifyBox(*this, getMap().getType(), getIndices(), getBuffer());
}
