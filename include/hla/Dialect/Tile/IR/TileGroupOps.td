//===- TileGroupOps.td - groups of warps with roles --------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILEGROUPOPS_TD
#define HLA_DIALECT_TILE_IR_TILEGROUPOPS_TD

include "hla/Dialect/Tile/IR/TileBase.td"

def HLATile_TensorMap : Type<
    CPred<"::llvm::isa<::mlir::hla::tile::TensorMapType>($_self)">,
    "tensor map", "::mlir::hla::tile::TensorMapType">;
def HLATile_Signals : Type<
    CPred<"::llvm::isa<::mlir::hla::tile::SignalsType>($_self)">,
    "signals", "::mlir::hla::tile::SignalsType">;

//===----------------------------------------------------------------------===//
// Parts of tiles
//===----------------------------------------------------------------------===//

def HLATile_ColumnsOp : HLATile_Op<"columns", [Pure]> {
  let summary = "Some columns of a tile in shared memory";
  let description = [{
    `y_ij = x_i,(offset + j)`. A part of the same memory: nothing moves.

    Constraints: (C1) source and result are in shared memory, in one layout, with
    one element type and number of rows; (C2) `offset` and the result's columns are
    multiples of those that are 128 bytes, and within the source.

    Example: `%y = hla_tile.columns %x[64] : tensor<64x128xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>`
  }];
  let arguments = (ins HLATile_TileOrBuffer:$source, I64Attr:$offset);
  let results = (outs HLATile_TileOrBuffer:$result);
  let assemblyFormat = "$source `[` $offset `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def HLATile_ConcatOp : HLATile_Op<"concat", [Pure, SameTypeOperands]> {
  let summary = "A tile in shared memory, of its columns";
  let description = [{
    The columns of the first part, then those of the next, and so on.

    Constraints: (C1) the result has the parts' rows, layout and element type, and
    as many columns as they have together; (C2) parts have multiples of the columns
    that are 128 bytes.

    Example: `%y = hla_tile.concat %a, %b : tensor<64x64xbf16, #hla_tile.smem<order = col>> -> tensor<64x128xbf16, #hla_tile.smem<order = col>>`
  }];
  let arguments = (ins Variadic<HLATile_Tile>:$parts);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = "$parts attr-dict `:` type($parts) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

def HLATile_GroupsOp : HLATile_Op<"groups", [
    RecursiveMemoryEffects, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "What each group of warps does";
  let description = [{
    Region `g` is executed by group `g`: the threads of four warps, of which a
    fragment inside of it is spread over all. Groups run side by side; they meet at
    `sync`, `arrive` and signals, and nowhere else.

    Constraints: (C1) the kernel has four warps for each region.

    Example:

    ```mlir
    hla_tile.groups {
      // The first scan.
    }, {
      // The second.
    }
    ```
  }];
  let regions = (region VariadicRegion<SizedRegion<1>>:$groups);
  let assemblyFormat = "$groups attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Warps of a group: those that execute a `wgmma`.
    static constexpr int64_t kWarps = 4;
    static constexpr int64_t kThreads = 32 * kWarps;
  }];
}

def HLATile_SyncOp : HLATile_Op<"sync"> {
  let summary = "Arrives at a named barrier, and waits for it";
  let description = [{
    Waits until `threads` threads have arrived at barrier `id`; what they wrote to
    shared memory before is seen then. Barrier 0 is the thread block's.

    Example: `hla_tile.sync %id of 128`
  }];
  let arguments = (ins Index:$id, I64Attr:$threads);
  let assemblyFormat = "$id `of` $threads attr-dict";
}

def HLATile_ArriveOp : HLATile_Op<"arrive"> {
  let summary = "Arrives at a named barrier, and goes on";
  let description = [{
    What the thread wrote to shared memory before is seen by those that wait for
    the barrier (`sync`).

    Example: `hla_tile.arrive %id of 256`
  }];
  let arguments = (ins Index:$id, I64Attr:$threads);
  let assemblyFormat = "$id `of` $threads attr-dict";
}

def HLATile_AsyncFenceOp : HLATile_Op<"async_fence"> {
  let summary = "Shows writes to products and copies";
  let description = [{
    What the thread wrote to shared memory before is seen by asynchronous reads,
    those of `dot_async` and `tensor_store`, that begin after a barrier that follows.

    Example: `hla_tile.async_fence`
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Asynchronous products
//===----------------------------------------------------------------------===//

def HLATile_DotAsyncOp : HLATile_Op<"dot_async", [
    AllTypesMatch<["acc", "result"]>]> {
  let summary = "Begins a product (`wgmma`)";
  let description = [{
    `dot` of a group of warps, in flight: its result may be the `acc` of another
    `dot_async`, and is for nothing else before a `dot_wait` has handed it out. Its
    operands must not change before.

    `64×N` of the stored result, `N ≤ 256`, are one instruction for every 16 columns
    of the A operand.

    Constraints: (C1) shapes are those of a `dot`; (C2) operands are both bf16, or
    both f16; (C3) the result is a fragment of four warps by one, of 64 stored rows;
    (C4) an operand in shared memory is stored in rows of at least 128 bytes; (C5)
    the B operand is in shared memory, and an A operand in registers is stored as
    it is read.

    Example:

    ```mlir
    %a = hla_tile.dot_async %q, %k, %zero transpose_rhs : memref<64x64xbf16, #hla_tile.smem<order = row>>, memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
    ```
  }];
  let arguments = (ins HLATile_TileOrBuffer:$lhs, HLATile_TileOrBuffer:$rhs,
      HLATile_Tile:$acc, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs HLATile_Tile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $acc (`transpose_lhs` $transpose_lhs^)?
    (`transpose_rhs` $transpose_rhs^)? attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

def HLATile_DotFenceOp : HLATile_Op<"dot_fence", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Shows registers to products that follow";
  let description = [{
    Stands between the last change of registers that products read or add to, those
    of its tiles, and the first of them.

    Example: `%s = hla_tile.dot_fence of %a : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>`
  }];
  let arguments = (ins Variadic<HLATile_Tile>:$tiles);
  let results = (outs Variadic<HLATile_Tile>:$results);
  let assemblyFormat = "(`of` $tiles^ `:` type($tiles))? attr-dict";
}

def HLATile_DotCommitOp : HLATile_Op<"dot_commit"> {
  let summary = "Ends a batch of products";
  let description = [{
    The products begun since the last `dot_commit` are a batch; batches end in order.

    Example: `hla_tile.dot_commit`
  }];
  let assemblyFormat = "attr-dict";
}

def HLATile_DotWaitOp : HLATile_Op<"dot_wait", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Waits for products";
  let description = [{
    Waits until at most `pending` batches, the newest, are in flight, and hands out
    results of those that are not.

    Constraints: (C1) `pending` is from 0 to 7; (C2) results have the types of the
    tiles.

    Example: `%b = hla_tile.dot_wait 1 of %a : tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>`
  }];
  let arguments = (ins I64Attr:$pending, Variadic<HLATile_Tile>:$tiles);
  let results = (outs Variadic<HLATile_Tile>:$results);
  let assemblyFormat = "$pending (`of` $tiles^ `:` type($tiles))? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies of boxes
//===----------------------------------------------------------------------===//

def HLATile_TensorMapOp : HLATile_Op<"tensor_map", [Pure]> {
  let summary = "A tensor in boxes";
  let description = [{
    In the function around a kernel's launch: what a launcher is to make.

    Constraints: (C1) tensor and box have one element type and rank; (C2) the last
    extent of the tensor is known, and a multiple of 128 bytes.

    Example: `%map = hla_tile.tensor_map %q : memref<?x?x?x128xbf16> -> !hla_tile.tensor_map<1x64x1x128xbf16>`
  }];
  let arguments = (ins StridedMemRefRankOf<[BF16, F16], [2, 3, 4]>:$tensor);
  let results = (outs HLATile_TensorMap:$map);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) `->` type($map)";
  let hasVerifier = 1;
}

def HLATile_SignalsOp : HLATile_Op<"signals"> {
  let summary = "Makes signals";
  let description = [{
    At byte `offset` of the kernel's dynamic shared memory, each expecting `arrivals`
    in a phase. A `barrier` follows before their first use.

    Constraints: (C1) `offset` is a multiple of 8; (C2) `arrivals` is positive.

    Example: `%full = hla_tile.signals 1 at 65536 : !hla_tile.signals<2>`
  }];
  let arguments = (ins I64Attr:$arrivals, I64Attr:$offset);
  let results = (outs HLATile_Signals:$signals);
  let assemblyFormat = "$arrivals `at` $offset attr-dict `:` type($signals)";
  let hasVerifier = 1;
}

def HLATile_SignalWaitOp : HLATile_Op<"signal_wait"> {
  let summary = "Waits for a signal";
  let description = [{
    Waits for the end of the signal's phase of this parity; what copies brought in it
    is seen then.

    Example: `hla_tile.signal_wait %full[%slot] parity %p : !hla_tile.signals<2>`
  }];
  let arguments = (ins HLATile_Signals:$signals, Index:$slot, Index:$parity);
  let assemblyFormat = "$signals `[` $slot `]` `parity` $parity attr-dict `:` type($signals)";
}

def HLATile_SignalArriveOp : HLATile_Op<"signal_arrive"> {
  let summary = "Each warp arrives at a signal";
  let description = [{
    After all that the warp's threads did before.

    Example: `hla_tile.signal_arrive %vacant[%slot] : !hla_tile.signals<2>`
  }];
  let arguments = (ins HLATile_Signals:$signals, Index:$slot);
  let assemblyFormat = "$signals `[` $slot `]` attr-dict `:` type($signals)";
}

def HLATile_TensorLoadOp : HLATile_Op<"tensor_load"> {
  let summary = "Begins to copy a box into shared memory";
  let description = [{
    If `condition` holds, the group's first thread begins the copy and arrives at the
    signal, whose phase then also waits for the copy's bytes.

    Constraints: (C1) there is an index for each dimension; (C2) the buffer is the
    box's tile, stored by rows.

    Example:

    ```mlir
    hla_tile.tensor_load %map[%b, %row, %h, %c0], %buffer, %full[%slot] if %more : !hla_tile.tensor_map<1x64x1x64xbf16>, memref<64x64xbf16, #hla_tile.smem<order = row>>, !hla_tile.signals<2>
    ```
  }];
  let arguments = (ins Arg<HLATile_TensorMap, "", [MemRead]>:$map,
      Variadic<Index>:$indices, Arg<HLATile_Buffer, "", [MemWrite]>:$buffer, HLATile_Signals:$signals,
      Index:$slot, I1:$condition);
  let assemblyFormat = [{
    $map `[` $indices `]` `,` $buffer `,` $signals `[` $slot `]` `if` $condition attr-dict
    `:` type($map) `,` type($buffer) `,` type($signals)
  }];
  let hasVerifier = 1;
}

def HLATile_TensorStoreOp : HLATile_Op<"tensor_store"> {
  let summary = "Begins to copy a box from shared memory";
  let description = [{
    The group's first thread begins the copy.

    Constraints: those of `tensor_load`.

    Example:

    ```mlir
    hla_tile.tensor_store %buffer, %map[%b, %row, %h, %c0] : memref<64x64xbf16, #hla_tile.smem<order = row>>, !hla_tile.tensor_map<1x64x1x64xbf16>
    ```
  }];
  let arguments = (ins Arg<HLATile_Buffer, "", [MemRead]>:$buffer,
      Arg<HLATile_TensorMap, "", [MemWrite]>:$map, Variadic<Index>:$indices);
  let assemblyFormat = "$buffer `,` $map `[` $indices `]` attr-dict `:` type($buffer) `,` type($map)";
  let hasVerifier = 1;
}

def HLATile_TensorStoreWaitOp : HLATile_Op<"tensor_store_wait"> {
  let summary = "Waits for copies from shared memory";
  let description = [{
    The thread waits for all copies that it began by `tensor_store`: with `reads`,
    until they have read their buffers.

    Example: `hla_tile.tensor_store_wait reads`
  }];
  let arguments = (ins UnitAttr:$reads);
  let assemblyFormat = "(`reads` $reads^)? attr-dict";
}

#endif // HLA_DIALECT_TILE_IR_TILEGROUPOPS_TD
