//===- Tile.h - the hla_tile dialect ----------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILE_H
#define HLA_DIALECT_TILE_IR_TILE_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <numeric>

#include "hla/Dialect/Tile/IR/TileDialect.h.inc"
#include "hla/Dialect/Tile/IR/TileEnums.h.inc"

namespace mlir::hla::tile {
/// What a log-decay is at least, where decays are summed (`prefix_sum`).
constexpr double kLeastLogDecay = -1000.0;
} // namespace mlir::hla::tile

#define GET_ATTRDEF_CLASSES
#include "hla/Dialect/Tile/IR/TileAttrs.h.inc"

namespace mlir::hla::tile {
/// Bits of an element of this type in registers and in memory: tf32 is an f32
/// whose last 13 bits of mantissa are zero.
inline int64_t getStorageBits(Type elementType) {
  return elementType.isTF32() ? 32 : elementType.getIntOrFloatBitWidth();
}

/// The bytes of device memory that are accessed at once in rows of `cols`
/// elements: 16, or what divides a row. Rows are at multiples of them.
inline int64_t getAccessBytes(int64_t cols, Type elementType) {
  constexpr int64_t kMost = 16;
  return std::gcd(cols * getStorageBits(elementType) / 8, kMost);
}
} // namespace mlir::hla::tile

#define GET_TYPEDEF_CLASSES
#include "hla/Dialect/Tile/IR/TileTypes.h.inc"

#define GET_OP_CLASSES
#include "hla/Dialect/Tile/IR/TileOps.h.inc"

#endif // HLA_DIALECT_TILE_IR_TILE_H
