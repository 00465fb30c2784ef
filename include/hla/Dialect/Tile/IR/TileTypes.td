//===- TileTypes.td - types of the hla_tile dialect --------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILETYPES_TD
#define HLA_DIALECT_TILE_IR_TILETYPES_TD

include "hla/Dialect/Tile/IR/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

def HLATile_TensorMapType : TypeDef<HLATile_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "A tensor in device memory, in boxes of one shape";
  let description = [{
    What the copy engine (TMA) of sm_90 and later knows of a tensor: where it is,
    its extents and strides, and the shape of the `box` that one copy moves, an
    extent for each of its dimensions. Elements of a box outside of the tensor are
    zeros when they are loaded, and are left out when they are stored. In shared
    memory, a box is a tile as `#hla_tile.smem<order = row>` describes it, whose rows
    are the box's only other dimension above 1.

    A launcher makes it of an argument, for each launch.

    Constraints: (C1) a box has two to four dimensions; (C2) its last one has a
    multiple of 128 bytes, of bf16 or f16; (C3) at most one other is above 1.

    Example: `!hla_tile.tensor_map<1x64x1x128xbf16>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The dimension that is the rows of a box's tile.
    unsigned getRowDim() const;
    /// Columns of a box that are next to each other in shared memory: 128 bytes.
    static constexpr int64_t kBlockCols = 64;
  }];
}

def HLATile_SignalsType : TypeDef<HLATile_Dialect, "Signals"> {
  let mnemonic = "signals";
  let summary = "Signals of the slots of a ring";
  let description = [{
    `count` barriers in shared memory (`mbarrier`), one for each slot of a ring. A
    signal counts arrivals and bytes of copies; when all that it expects have come,
    its phase ends, and the next begins. Waiting is for the end of a phase, of
    which two in succession differ in their parity: 0 is the first.

    Constraints: (C1) `count` is positive.

    Example: `!hla_tile.signals<4>`
  }];
  let parameters = (ins "int64_t":$count);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` $count `>`";
}

#endif // HLA_DIALECT_TILE_IR_TILETYPES_TD
