//===- TileAttrs.td - layouts of tiles ---------------------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILEATTRS_TD
#define HLA_DIALECT_TILE_IR_TILEATTRS_TD

include "hla/Dialect/Tile/IR/TileEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def HLATile_FragAttr : AttrDef<HLATile_Dialect, "Frag",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "frag";
  let summary = "A tile spread over the registers of a thread block";
  let description = [{
    The accumulator layout of the tensor cores. Let the *stored* tile be the
    tile, or with `transposed` its transpose: `P×R`. `rowWarps × colWarps` warps
    cut it into equal blocks, warp `w` owning row block `w / colWarps` and
    column block `w mod colWarps`. Inside a warp's block, every 16×8 piece is an
    `m16n8` accumulator: lane `l = 4g + c` holds the elements

    ```
    (g, 2c)  (g, 2c+1)  (g+8, 2c)  (g+8, 2c+1)
    ```

    in that order; pieces are ordered by rows, then columns. The accumulator of
    a warp of `wgmma.m64nN` has the same order for its 16 rows. Two neighbouring
    pieces, columns `16k … 16k+15`, rounded to 16 bits and packed in pairs, are
    the A operand of `mma.m16n8k16`: a 16-bit fragment *is* an A operand. One
    piece of 32-bit elements is that of `mma.m16n8k8`, if its columns 2c and 2c+1
    are taken for the instruction's c and c+4, as are the rows of B.

    Registers a thread: `P·R / (32·rowWarps·colWarps)` of 32 bits, half of that
    for 16-bit elements. An element of tf32 is an f32.

    Constraints:

    - (C1) `rowWarps` and `colWarps` are powers of two;
    - (C2) the tile is a matrix;
    - (C3) `P` is a multiple of `16·rowWarps`, `R` of `8·colWarps`.

    Example: `tensor<64x128xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1, transposed = true>>`
  }];
  let parameters = (ins "int64_t":$rowWarps, "int64_t":$colWarps,
      DefaultValuedParameter<"bool", "false">:$transposed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getWarps() const { return getRowWarps() * getColWarps(); }
    /// Rows and columns of the stored tile, for a tile of this shape.
    std::pair<int64_t, int64_t> getStored(::llvm::ArrayRef<int64_t> shape) const;
    /// 32-bit registers that a thread needs for a tile of this type.
    static int64_t getRegisters(::mlir::RankedTensorType type);
  }];
}

def HLATile_SmemAttr : AttrDef<HLATile_Dialect, "Smem",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "smem";
  let summary = "A tile in shared memory, swizzled";
  let description = [{
    A tile stored by rows (`order = row`: columns are contiguous) or by columns. Rows of
    more than 128 bytes are cut into blocks of 128: the first blocks of all rows, then
    the second ones, and so on. A row of a block has `n` pieces of 8 elements; piece `p`
    of row `r` lies at place `p xor s(r)`. So 16-bit tiles are what the copy engine and
    `wgmma` of sm_90 know as swizzled by 128 bytes.

    16-bit elements, pieces of 16 bytes: for rows of 128 bytes
    `s(r) = r mod 8`, and for shorter ones `s(r) = ⌊r·n/8⌋ mod n`. Eight stored rows
    read at one column (`ldmatrix`) then touch all 32 banks once.

    32-bit elements (f32 and tf32), pieces of 32 bytes: for rows of 128 bytes,
    with r's bits r₀, r₁, r₂, `s(r) = 2·r₁ + (r₀ xor r₂)`, and for shorter ones
    `s(r) = r₁`. Four rows in sequence, and four at distances of two, read at one
    piece then touch all banks once: rows whose columns, or columns whose rows,
    are multiplied with `mma.m16n8k8`.

    Used as the encoding of a tile, and, after the schedule pass, as the memory
    space of a buffer.

    Constraints:

    - (C1) the tile is a matrix;
    - (C2) its elements have 16 or 32 bits;
    - (C3) rows and columns as stored are powers of two, at least 8 and 16.

    Example: `tensor<64x128xbf16, #hla_tile.smem<order = row>>`,
    `memref<2x64x128xbf16, #hla_tile.smem<order = row>>`
  }];
  let parameters = (ins EnumParameter<HLATile_OrderEnum>:$order);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Bytes of a row of a block.
    static constexpr int64_t kBlockBytes = 128;
    /// Rows and columns as stored, for a tile of this shape.
    std::pair<int64_t, int64_t> getStored(::llvm::ArrayRef<int64_t> shape) const;
  }];
}

def HLATile_LaneAttr : AttrDef<HLATile_Dialect, "Lane",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let mnemonic = "lane";
  let summary = "A column in the lanes of every warp";
  let description = [{
    Number `i` of the column is in register `⌊i/32⌋` of lane `i mod 32`, of every
    warp: all warps have all of it, and any lane gets any number by a shuffle. Of
    a column that is no multiple of 32, nobody asks the lanes that are left.

    Constraints: (C1) the tile has one column.

    Example: `tensor<64x1xf32, #hla_tile.lane>`
  }];
  let assemblyFormat = "";
  let extraClassDeclaration = [{
    /// Registers of a lane for a column of this shape.
    static int64_t getRegisters(::llvm::ArrayRef<int64_t> shape) {
      return (shape[0] + 31) / 32;
    }
  }];
}

#endif // HLA_DIALECT_TILE_IR_TILEATTRS_TD
