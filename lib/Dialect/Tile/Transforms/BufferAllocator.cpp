//===- BufferAllocator.cpp - the shared memory of a kernel ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAllocator.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

Value BufferAllocator::allocate(Location loc, RankedTensorType tile,
                                int64_t slots) {
  SmallVector<int64_t> shape = {slots};
  llvm::append_range(shape, tile.getShape());
  auto type = MemRefType::get(shape, tile.getElementType(),
                              MemRefLayoutAttrInterface(), tile.getEncoding());
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (last)
    b.setInsertionPointAfter(last);
  bytes = llvm::alignTo(bytes, alignment);
  last = AllocOp::create(b, loc, type, b.getI64IntegerAttr(bytes));
  bytes += last.getBytes();
  return last;
}

int64_t BufferAllocator::reserve(int64_t size) {
  const int64_t offset = bytes;
  bytes += llvm::alignTo(size, 128);
  return offset;
}

LogicalResult BufferAllocator::finish() {
  kernel->setAttr(
      kSharedMemoryAttrName,
      IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), bytes));
  TargetAttr target = TargetAttr::lookup(kernel);
  if (!target || !target.getInfo().isGPU)
    return success();
  auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  const int64_t most =
      target.getInfo().getSharedMemoryPerBlock(schedule.getBlocks());
  if (bytes <= most)
    return success();
  return kernel.emitOpError()
         << "expected to need at most " << most << " bytes of shared memory ("
         << target.getArch() << " has no more for a thread block), but got "
         << bytes;
}

Value tile::getSlot(OpBuilder &b, Location loc, Value ring, Value index) {
  auto type = cast<MemRefType>(ring.getType());
  auto buffer =
      MemRefType::get(type.getShape().drop_front(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  return SlotOp::create(b, loc, buffer, ring, index);
}
