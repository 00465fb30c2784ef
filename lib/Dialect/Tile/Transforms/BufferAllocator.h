//===- BufferAllocator.h - the shared memory of a kernel --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_TILE_TRANSFORMS_BUFFERALLOCATOR_H
#define HLA_LIB_DIALECT_TILE_TRANSFORMS_BUFFERALLOCATOR_H

#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::hla::tile {

/// Hands out the dynamic shared memory of a kernel and makes its buffers.
class BufferAllocator {
public:
  /// Rings begin at multiples of `alignment` bytes.
  explicit BufferAllocator(gpu::GPUFuncOp kernel, int64_t alignment = 128)
      : kernel(kernel), alignment(alignment) {}

  /// A ring of buffers for a tile of a type in shared memory.
  Value allocate(Location loc, RankedTensorType tile, int64_t slots);
  /// Where so many bytes are that no buffer has.
  int64_t reserve(int64_t size);

  /// Writes the kernel's `hla_tile.shared_memory`; fails, with an error, if the
  /// target has less for each of the blocks that it is to hold.
  LogicalResult finish();

private:
  gpu::GPUFuncOp kernel;
  int64_t alignment;
  AllocOp last;
  int64_t bytes = 0;
};

/// One buffer of a ring.
Value getSlot(OpBuilder &b, Location loc, Value ring, Value index);

} // namespace mlir::hla::tile

#endif // HLA_LIB_DIALECT_TILE_TRANSFORMS_BUFFERALLOCATOR_H
