//===- TileBase.td - types of operands of hla_tile ------------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILEBASE_TD
#define HLA_DIALECT_TILE_IR_TILEBASE_TD

include "hla/Dialect/HLA/IR/HLAAttrs.td"
include "hla/Dialect/Tile/IR/TileAttrs.td"
include "hla/Dialect/Tile/IR/TileTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HLATile_IsTile : CPred<
    "::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">;
/// A tile: a static matrix.
def HLATile_Tile : ConfinedType<TensorRankOf<[BF16, F16, TF32, F32, F64], [2]>,
    [HLATile_IsTile], "static 2D tensor of bf16, f16, tf32, f32 or f64">;
def HLATile_IsColumn : CPred<
    "::llvm::cast<::mlir::RankedTensorType>($_self).getDimSize(1) == 1">;
/// One number a token.
def HLATile_Column : ConfinedType<HLATile_Tile, [HLATile_IsColumn],
    "static tensor of bf16, f16, f32 or f64 with one column">;
/// Logarithms of decays, one a token.
def HLATile_LogDecays : ConfinedType<TensorRankOf<[F32, F64], [2]>,
    [HLATile_IsTile, HLATile_IsColumn], "static tensor of f32 or f64 with one column">;
/// Their sums over the tokens up to each.
def HLATile_Sums : ConfinedType<TensorRankOf<[F64], [2]>,
    [HLATile_IsTile, HLATile_IsColumn], "static tensor of f64 with one column">;
/// A matrix in device memory, with contiguous rows, or a column, one number a
/// row.
def HLATile_View : ConfinedType<
    StridedMemRefRankOf<[BF16, F16, F32, F64], [1, 2]>,
    [CPred<"::llvm::cast<::mlir::MemRefType>($_self).getRank() == 1 || "
           "::llvm::cast<::mlir::MemRefType>($_self).isLastDimUnitStride()">],
    "2D memref of bf16, f16, f32 or f64 with contiguous rows, or a 1D one">;
/// A matrix alone.
def HLATile_Matrix : ConfinedType<
    StridedMemRefRankOf<[BF16, F16, F32, F64], [2]>,
    [CPred<"::llvm::cast<::mlir::MemRefType>($_self).isLastDimUnitStride()">],
    "2D memref of bf16, f16, f32 or f64 with contiguous rows">;
/// A buffer in shared memory.
def HLATile_Buffer : ConfinedType<MemRefRankOf<[BF16, F16, TF32, F32], [2]>, [CPred<
    "::llvm::isa_and_nonnull<::mlir::hla::tile::SmemAttr>("
    "::llvm::cast<::mlir::MemRefType>($_self).getMemorySpace())">],
    "2D memref of bf16, f16, tf32 or f32 in an #hla_tile.smem space">;
def HLATile_Ring : ConfinedType<MemRefRankOf<[BF16, F16, TF32, F32], [3]>, [CPred<
    "::llvm::isa_and_nonnull<::mlir::hla::tile::SmemAttr>("
    "::llvm::cast<::mlir::MemRefType>($_self).getMemorySpace())">],
    "3D memref of bf16, f16, tf32 or f32 in an #hla_tile.smem space">;
def HLATile_TileOrBuffer : AnyTypeOf<[HLATile_Tile, HLATile_Buffer]>;

class HLATile_Op<string mnemonic, list<Trait> traits = []>
    : Op<HLATile_Dialect, mnemonic, traits>;

/// An operation that reads a buffer where an operand is one, and is pure
/// otherwise.
class HLATile_MaybeReadsOp<string mnemonic, list<Trait> traits = []>
    : HLATile_Op<mnemonic, traits # [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ConditionallySpeculatable>]>;

#endif // HLA_DIALECT_TILE_IR_TILEBASE_TD
