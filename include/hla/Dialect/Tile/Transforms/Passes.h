//===- Passes.h - transformations of tile programs --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_TRANSFORMS_PASSES_H
#define HLA_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;

namespace hla::tile {

/// The attribute of a kernel that holds its `#hla.schedule`.
constexpr llvm::StringLiteral kScheduleAttrName = "hla_tile.schedule";
/// The attribute of a kernel that holds the bytes of dynamic shared memory.
constexpr llvm::StringLiteral kSharedMemoryAttrName = "hla_tile.shared_memory";

#define GEN_PASS_DECL
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"

} // namespace hla::tile
} // namespace mlir

#endif // HLA_DIALECT_TILE_TRANSFORMS_PASSES_H
