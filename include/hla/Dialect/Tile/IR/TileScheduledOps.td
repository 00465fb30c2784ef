//===- TileScheduledOps.td - buffers, copies, barriers --------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILESCHEDULEDOPS_TD
#define HLA_DIALECT_TILE_IR_TILESCHEDULEDOPS_TD

include "hla/Dialect/Tile/IR/TileBase.td"

def HLATile_AllocOp : HLATile_Op<"alloc", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A ring of buffers in shared memory";
  let description = [{
    `slots` buffers, one after the other, from byte `offset` of the kernel's
    dynamic shared memory. Allocations whose lifetimes overlap do not overlap.

    Constraints: (C1) `offset` is a multiple of 128; (C2) a slot is a tile that
    `#hla_tile.smem` can store.

    Example: `%ring = hla_tile.alloc at 0 : memref<2x64x128xbf16, #hla_tile.smem<order = row>>`
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs HLATile_Ring:$ring);
  let assemblyFormat = "`at` $offset attr-dict `:` type($ring)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of one buffer, and of all.
    int64_t getSlotBytes();
    int64_t getBytes() { return getSlotBytes() * getRing().getType().getDimSize(0); }
  }];
}

def HLATile_SlotOp : HLATile_Op<"slot", [Pure]> {
  let summary = "One buffer of a ring";
  let description = [{
    Constraints: (C1) the result is the ring's type without its first dimension.

    Example: `%k = hla_tile.slot %ring[%i] : memref<2x64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x128xbf16, #hla_tile.smem<order = row>>`
  }];
  let arguments = (ins HLATile_Ring:$ring, Index:$index);
  let results = (outs HLATile_Buffer:$buffer);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring) `->` type($buffer)";
  let hasVerifier = 1;
}

def HLATile_CopyAsyncOp : HLATile_Op<"copy_async"> {
  let summary = "Begins to copy a tile of a matrix into shared memory";
  let description = [{
    The tile that `hla_tile.load` would load from the same view, row and slice, but
    for what that rounds (`round`). Complete once a `copy_wait` has waited for the
    group that it belongs to.

    Constraints: (C1) view and buffer have one element type, or f32 and tf32; (C2)
    the buffer is stored by rows.

    Example:

    ```mlir
    hla_tile.copy_async %q[%row], %buffer : memref<?x64xbf16, strided<[?, 1], offset: ?>>, memref<64x64xbf16, #hla_tile.smem<order = row>>
    ```
  }];
  let arguments = (ins Arg<HLATile_Matrix, "", [MemRead]>:$view, Index:$row,
                       Arg<HLATile_Buffer, "", [MemWrite]>:$buffer,
                       Optional<Index>:$slice);
  let assemblyFormat = "$view `[` $row `]` (`slice` $slice^)? `,` $buffer attr-dict `:` type($view) `,` type($buffer)";
  let hasVerifier = 1;
}

def HLATile_CopyCommitOp : HLATile_Op<"copy_commit"> {
  let summary = "Ends a group of copies";
  let description = [{
    The copies begun since the last `copy_commit` form a group, which may be empty.

    Example: `hla_tile.copy_commit`
  }];
  let assemblyFormat = "attr-dict";
}

def HLATile_CopyWaitOp : HLATile_Op<"copy_wait"> {
  let summary = "Waits for copies";
  let description = [{
    Waits until at most `pending` groups of this thread, the newest, are not
    complete. Other threads' copies are seen after a `barrier`.

    Constraints: (C1) `pending` is not negative.

    Example: `hla_tile.copy_wait 1`
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

def HLATile_RoundOp : HLATile_Op<"round"> {
  let summary = "Rounds what copies brought to tf32";
  let description = [{
    Every thread rounds, in place, the elements of the buffer that its own copies
    (`copy_async`) have brought: after a `copy_wait`, and before the `barrier` that
    shows the buffer to other threads.

    Constraints: (C1) the buffer is one of tf32, stored by rows.

    Example: `hla_tile.round %buffer : memref<32x64xtf32, #hla_tile.smem<order = row>>`
  }];
  let arguments = (ins Arg<HLATile_Buffer, "", [MemRead, MemWrite]>:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def HLATile_BarrierOp : HLATile_Op<"barrier"> {
  let summary = "Waits for all threads of the block";
  let description = [{
    What any thread wrote to shared memory before it is seen by all after it.

    Example: `hla_tile.barrier`
  }];
  let assemblyFormat = "attr-dict";
}

def HLATile_WriteOp : HLATile_Op<"write"> {
  let summary = "Writes a fragment into shared memory";
  let description = [{
    With `once`, the kernel has more warps than the layout: every further one
    holds what one of the layout's does, and writes nothing.

    Constraints: (C1) the tile has an `#hla_tile.frag` layout, and the shape and
    element type of the buffer.

    Example:

    ```mlir
    hla_tile.write %t, %buffer : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>, memref<64x64xbf16, #hla_tile.smem<order = row>>
    ```
  }];
  let arguments = (ins HLATile_Tile:$tile,
                       Arg<HLATile_Buffer, "", [MemWrite]>:$buffer,
                       UnitAttr:$once);
  let assemblyFormat = "$tile `,` $buffer (`once` $once^)? attr-dict `:` type($tile) `,` type($buffer)";
  let hasVerifier = 1;
}

def HLATile_ReadOp : HLATile_Op<"read"> {
  let summary = "Reads a fragment from shared memory";
  let description = [{
    Constraints: (C1) the tile has an `#hla_tile.frag` layout, and the shape and
    element type of the buffer.

    Example:

    ```mlir
    %t = hla_tile.read %buffer : memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
    ```
  }];
  let arguments = (ins Arg<HLATile_Buffer, "", [MemRead]>:$buffer);
  let results = (outs HLATile_Tile:$tile);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($tile)";
  let hasVerifier = 1;
}

#endif // HLA_DIALECT_TILE_IR_TILESCHEDULEDOPS_TD
