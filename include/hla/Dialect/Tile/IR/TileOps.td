//===- TileOps.td - operations of the hla_tile dialect -----*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILEOPS_TD
#define HLA_DIALECT_TILE_IR_TILEOPS_TD

include "hla/Dialect/Tile/IR/TileBase.td"
include "hla/Dialect/Tile/IR/TileGroupOps.td"
include "hla/Dialect/Tile/IR/TileScheduledOps.td"

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

def HLATile_LaunchOp : HLATile_Op<"launch", [
    RecursiveMemoryEffects, SingleBlock,
    SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "Runs a tile program for every head";
  let description = [{
    Runs the region once for every `(b, h)` with `0 ≤ b < batches` and
    `0 ≤ h < heads`, in any order or at once. A third bound, `parts`, and `slices` of
    the schedule, where it has several, each add an index: the part of a head's
    work, such as a segment of its tokens, and the slice. The region reads and writes device
    memory through views of the memrefs around it. On a GPU a run is a thread
    block; on a CPU, an iteration of a parallel loop.

    Example:

    ```mlir
    hla_tile.launch (%b, %h) in (%B, %H) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
      %seq = memref.subview %q[%b, 0, %h, 0] [1, %T, 1, 64] [1, 1, 1, 1] : memref<?x?x?x64xbf16> to memref<?x64xbf16, strided<[?, 1], offset: ?>>
      ...
    }
    ```
  }];
  let arguments = (ins Index:$batches, Index:$heads, Optional<Index>:$parts,
                       HLA_ScheduleAttr:$schedule);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "Value":$batches, "Value":$heads,
                                 "Value":$parts, "ScheduleAttr":$schedule)>];
  let extraClassDeclaration = [{
    BlockArgument getBatch() { return getBody().getArgument(0); }
    BlockArgument getHead() { return getBody().getArgument(1); }
    /// The part, or null without parts.
    BlockArgument getPart() {
      return getParts() ? getBody().getArgument(2) : BlockArgument();
    }
    /// The slice, or null without slices.
    BlockArgument getSlice() {
      return getSchedule().getSlices() != 1 ? getBody().getArguments().back()
                                            : BlockArgument();
    }
  }];
  let hasRegionVerifier = 1;
}

def HLATile_ReturnOp : HLATile_Op<"return", [
    Pure, Terminator, ParentOneOf<["LaunchOp"]>]> {
  let summary = "Ends a tile program";
  let description = "Example: `hla_tile.return`";
  let assemblyFormat = "attr-dict";
}

def HLATile_LoadOp : HLATile_Op<"load"> {
  let summary = "Loads a tile of a matrix, or of a column";
  let description = [{
    `tile[i, j] = view[row + i, j]` where that is inside of the view, else 0; with
    a `slice`, the number of a part of the columns, `view[row + i, slice·n + j]`
    for a tile of `n` columns. A view of rank 1 is a column, a number a token:
    `tile[i, 0] = view[row + i]`.
    So a logarithm of a decay is 0 after the last token, where nothing decays. A
    tile of tf32 has the elements of a view of f32, rounded to nearest, ties away
    from zero.

    Constraints: (C1) tile and view have one element type, or tf32 and f32; (C2)
    the tile of a view of rank 1 has one column and no slice.

    Example:

    ```mlir
    %t = hla_tile.load %q[%row] : memref<?x64xbf16, strided<[?, 1], offset: ?>> -> tensor<64x64xbf16>
    %s = hla_tile.load %v[%row] slice %z : memref<?x160xbf16, strided<[?, 1], offset: ?>> -> tensor<64x128xbf16>
    %g = hla_tile.load %d[%row] : memref<?xf32, strided<[?], offset: ?>> -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins Arg<HLATile_View, "", [MemRead]>:$view, Index:$row,
                       Optional<Index>:$slice);
  let results = (outs HLATile_Tile:$tile);
  let assemblyFormat = "$view `[` $row `]` (`slice` $slice^)? attr-dict `:` type($view) `->` type($tile)";
  let hasVerifier = 1;
}

def HLATile_StoreOp : HLATile_Op<"store"> {
  let summary = "Stores a tile into a matrix, or a column";
  let description = [{
    `view[row + i, j] = tile[i, j]` where that is inside of the view, or with a
    `slice` `view[row + i, slice·n + j]` for a tile of `n` columns; for a view of
    rank 1, a column, `view[row + i] = tile[i, 0]`. The tile is a value, or a
    buffer in shared memory.

    Constraints: (C1) tile and view have one element type; (C2) the tile of a
    view of rank 1 has one column and no slice.

    Example:

    ```mlir
    hla_tile.store %t, %o[%row] : tensor<64x64xbf16>, memref<?x64xbf16, strided<[?, 1], offset: ?>>
    ```
  }];
  let arguments = (ins Arg<HLATile_TileOrBuffer, "", [MemRead]>:$tile,
                       Arg<HLATile_View, "", [MemWrite]>:$view, Index:$row,
                       Optional<Index>:$slice);
  let assemblyFormat = "$tile `,` $view `[` $row `]` (`slice` $slice^)? attr-dict `:` type($tile) `,` type($view)";
  let hasVerifier = 1;
}

def HLATile_DotOp : HLATile_MaybeReadsOp<"dot", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "Matrix product, accumulated";
  let description = [{
    `result = acc + lhs · rhs`, with `lhs` or `rhs` transposed where
    `transpose_lhs` or `transpose_rhs` says so. Products are exact, sums are in
    the element type of `acc`, in any order. A product with zeros is `acc`.

    Operands may have different element types; the narrower one is widened where
    it is read, which is exact. What tensor cores multiply follows from the types:

    | operands | instructions for 16×8×16 multiply-adds |
    |---|---|
    | both bf16, or both f16 | one `m16n8k16` of that type |
    | tf32, bf16, f16, in any other combination | two `m16n8k8` of tf32 |
    | f32 and any | the same for `x = hi + lo`, both tf32, of each f32: hi·hi + hi·lo + lo·hi |

    What that leaves of a product of two f32 is at most 2^-21 of it. With `bf16x3`
    the parts are of bf16, `hi = bf16(x)` and `lo = bf16(x - hi)`, on every target:
    half as many instructions, for an error of 2^-15 at most. Products in parts
    are summed beside `acc` and added to it every 16 terms, since tensor cores
    truncate their sums.

    Constraints:

    - (C1) `lhs` (after transposition) is `M×K`, `rhs` `K×N` and `acc` `M×N`;
    - (C2) `acc` has element type `f32` or `f64`, and no operand a wider one;
    - (C3) with `bf16x3`, `acc` has element type `f32`.

    Example: scores `q kᵀ`.

    ```mlir
    %a = hla_tile.dot %q, %k, %zero transpose_rhs : tensor<64x128xbf16>, tensor<64x128xbf16> -> tensor<64x64xf32>
    ```
  }];
  let arguments = (ins HLATile_TileOrBuffer:$lhs, HLATile_TileOrBuffer:$rhs,
      HLATile_Tile:$acc, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
      UnitAttr:$bf16x3);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = [{
    (`bf16x3` $bf16x3^)? $lhs `,` $rhs `,` $acc (`transpose_lhs` $transpose_lhs^)?
    (`transpose_rhs` $transpose_rhs^)? attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

def HLATile_PrefixSumOp : HLATile_Op<"prefix_sum", [Pure]> {
  let summary = "Sums of a chunk's log-decays";
  let description = [{
    The logarithms of a chunk's decays, summed from its first token on:

    ```
    G_i = Σ_{l≤i} max(g_l, b)        b = -1000
    ```

    What decays between two tokens is then `exp(G_i - G_j)`, computed from a
    difference, never as `exp(G_i) · exp(-G_j)`, whose second factor overflows.

    Sums are `f64` whatever the chunk computes in: a factor's relative error is
    the absolute error of its difference, and an `f32` sum of 100 is off by 4e-6,
    also where two tokens are neighbours and the difference is small. The bound
    `b` keeps `-∞`, a decay of 0, from making `-∞ - (-∞)` of a difference; as
    `exp(x) = 0` in `f64` for `x < -745.2`, it changes no factor. A sum of 256
    numbers is then at least -256000, where neighbouring `f64` are 3e-11 apart.

    Constraints: (C1) the result has the rows of the operand.

    Example: `%G = hla_tile.prefix_sum %g : tensor<64x1xf32> -> tensor<64x1xf64>`
  }];
  let arguments = (ins HLATile_LogDecays:$log_decays);
  let results = (outs HLATile_Sums:$sums);
  let assemblyFormat = "$log_decays attr-dict `:` type($log_decays) `->` type($sums)";
  let hasVerifier = 1;
}

def HLATile_RampOp : HLATile_Op<"ramp", [Pure]> {
  let summary = "Sums of a chunk's log-decays, where all are the same";
  let description = [{
    What `prefix_sum` is for `count` tokens of one log-decay and zeros after them:

    ```
    G_i = max(g, b) · min(i + 1, count)        b = -1000
    ```

    Differences are the log-decay times whole numbers, and are computed so: no
    sum is rounded, and `f32` does.

    Example: `%G = hla_tile.ramp %g[%n] : tensor<64x1xf64>`
  }];
  let arguments = (ins F64:$log_decay, Index:$count);
  let results = (outs HLATile_Sums:$sums);
  let assemblyFormat = "$log_decay `[` $count `]` attr-dict `:` type($sums)";
}

def HLATile_CausalOp : HLATile_Op<"causal", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "Keeps the causal part of scores, decayed between tokens";
  let description = [{
    With `s = 1` if `strict`, else 0, and `G` the sums of log-decays, `G_{-1} = 0`:

    ```
    lower   y_ij = exp(G_{i-s} - G_j)     x_ij  where j + s ≤ i, else 0
    upper   y_ij = exp(G_{j-1} - G_{i-1+s}) x_ij  where i + s ≤ j, else 0
    ```

    Without `by` there is no factor. A pair decays by the tokens after the earlier
    one, up to the later one (`strict`: before it); in an `upper` triangle, where
    tokens are walked from the last, by those before the later one, from the
    earlier one on (`strict`: after it). No exponent is positive.

    Constraints: (C1) the tile is square; (C2) `by` has its rows.

    Example: `%y = hla_tile.causal lower strict %x by %G : tensor<64x64xf32>, tensor<64x1xf64>`
  }];
  let arguments = (ins HLATile_TriangleAttr:$triangle, UnitAttr:$strict,
      HLATile_Tile:$source, Optional<HLATile_Sums>:$by);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = [{
    custom<Enum>($triangle) (`strict` $strict^)? $source (`by` $by^)? attr-dict
    `:` type($source) (`,` type($by)^)?
  }];
  let hasVerifier = 1;
}

def HLATile_DecayOp : HLATile_Op<"decay", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "Scales rows by what a range of tokens decays";
  let description = [{
    `y_ij = f_i x_ij`. With `G` the sums of the chunk's log-decays, `G_{-1} = 0`, and
    `n` their number:

    ```
    through   f_i = exp(G_i)               tokens l ≤ i
    before    f_i = exp(G_{i-1})           tokens l < i
    after     f_i = exp(G_{n-1} - G_i)     tokens l > i
    from      f_i = exp(G_{n-1} - G_{i-1}) tokens l ≥ i
    all       f_i = exp(G_{n-1})           all tokens: of a state
    ```

    No exponent is positive.

    Constraints: (C1) `by` has the rows of the tile, but for `all`.

    Example: rows of `k`, by all that decays them in the chunk.

    ```mlir
    %y = hla_tile.decay after %k by %G : tensor<64x128xf32>, tensor<64x1xf64>
    ```
  }];
  let arguments = (ins HLATile_SpanAttr:$span, HLATile_Tile:$source,
      HLATile_Sums:$by);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = [{
    custom<Enum>($span) $source `by` $by attr-dict `:` type($source) `,` type($by)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

def HLATile_MaskOp : HLATile_Op<"mask", [
    Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "Keeps the rows of tokens, or the columns, that exist";
  let description = [{
    ```
    rows   y_ij = x_ij where i < count, else 0
    cols   y_ij = x_ij where j < count, else 0
    ```

    Rows after the last token, and columns after the last of a tensor that is
    narrower than its tile, are loaded as zeros and add nothing to a product; what
    is computed from them need not be zero (a constant, a quotient), and must not
    add anything either.

    Example: `%y = hla_tile.mask rows %x[%n] : tensor<64x128xf32>`
  }];
  let arguments = (ins HLATile_DimAttr:$dim, HLATile_Tile:$source, Index:$count);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = [{
    custom<Enum>($dim) $source `[` $count `]` attr-dict `:` type($source)
  }];
  let hasFolder = 1;
}

def HLATile_SumRowsOp : HLATile_Op<"sum_rows", [Pure]> {
  let summary = "The sum of every row";
  let description = [{
    `y_i0 = Σ_j x_ij`, summed in the element type of the result, in any order.
    Warps that share a row exchange their parts of its sum from byte `offset` of
    the kernel's shared memory on, once a schedule pass has said where.

    Constraints: (C1) the result has the rows of the tile; (C2) its elements are
    not narrower.

    Example: `%y = hla_tile.sum_rows %x : tensor<64x128xf32> -> tensor<64x1xf32>`
  }];
  let arguments = (ins HLATile_Tile:$source, OptionalAttr<I64Attr>:$offset);
  let results = (outs HLATile_Column:$result);
  let assemblyFormat = "$source (`at` $offset^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def HLATile_BroadcastOp : HLATile_Op<"broadcast", [Pure]> {
  let summary = "A column as every column of a tile";
  let description = [{
    `y_ij = x_i0`.

    Constraints: (C1) the result has the rows and the element type of the column.

    Example: `%y = hla_tile.broadcast %x : tensor<64x1xf32> -> tensor<64x128xf32>`
  }];
  let arguments = (ins HLATile_Column:$source);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

def HLATile_ConvertLayoutOp : HLATile_Op<"convert_layout", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    Constraints: (C1) source and result have one shape and element type.

    Example:

    ```mlir
    %s = hla_tile.convert_layout %t : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 2>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
    ```
  }];
  let arguments = (ins HLATile_Tile:$source);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // HLA_DIALECT_TILE_IR_TILEOPS_TD
