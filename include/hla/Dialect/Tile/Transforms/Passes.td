//===- Passes.td - transformations of tile programs --------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define HLA_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HLATileOutlineKernels : Pass<"hla-tile-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Moves tile programs into GPU kernels";
  let description = [{
    Every `hla_tile.launch` becomes a `gpu.func`, in the `gpu.module` of its
    function's kernels, and a `gpu.launch_func` with one thread block a head and
    slice: block `(b, h, s)` is slice `s` of head `h` of batch `b`. What the program uses from around it
    becomes an argument; constants move along. The kernel keeps the
    schedule, as `hla_tile.schedule`.

    Example:

    ```mlir
    gpu.launch_func @masked_kernels::@masked_kernel blocks in (%B, %H, %c1) threads in (%c128, %c1, %c1) args(%q : memref<...>, ..., %T : index)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect"
  ];
}

def HLATileAssignLayouts : Pass<"hla-tile-assign-layouts",
                                "::mlir::gpu::GPUFuncOp"> {
  let summary = "Gives every tile of a kernel a layout";
  let description = [{
    Assigns, once, `#hla_tile.frag` or `#hla_tile.smem` to every tile, from how it
    is used and nothing else:

    - A state is a fragment, stored so that the product that reads it takes it
      from registers: `q S` is computed as `(Sᵀ qᵀ)ᵀ` with `Sᵀ` the A operand.
    - A product is stored the way its accumulator is, or such that an operand in
      registers can stay there; else by rows.
    - B operands are in shared memory, as are A operands that are not in registers.
    - Rows of a chunk that products read, and all 16-bit tiles, are loaded into
      shared memory, others into registers; 16-bit tiles are stored from shared
      memory, wider ones from registers.

    `convert_layout` stands where a tile is needed otherwise than it is.

    Example: see `hla_tile.convert_layout`.
  }];
  let dependentDialects = ["::mlir::hla::tile::HLATileDialect"];
}

def HLATileSplitFragments : Pass<"hla-tile-split-fragments",
                                 "::mlir::gpu::GPUFuncOp"> {
  let summary = "Cuts fragments into those of one instruction";
  let description = [{
    In kernels whose schedule has `groups`, a fragment of more than 64 stored rows,
    those of a `wgmma`, becomes one for each 64 of them: of a fragment that is stored
    transposed, columns. So the products of each, and its conversions, are operations
    that can be ordered. Where the whole tile is in shared memory, its parts are
    `columns` of it, or a `concat` of theirs.

    Example: `S : tensor<128x128xf32, #frag<…, transposed = true>>` becomes two of
    `tensor<128x64xf32, …>`, and `q S` two products.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

def HLATileScheduleMMA : Pass<"hla-tile-schedule-mma", "::mlir::gpu::GPUFuncOp"> {
  let summary = "Puts tiles into shared memory buffers, for mma.sync kernels";
  let description = [{
    Decides where and when tiles are in shared memory:

    - Loads of a chunk loop become copies into rings of `stages` buffers, begun
      `stages - 1` chunks ahead. One barrier at the head of the loop says both
      that a chunk has arrived and that the last one has been read. What a load
      rounds, each thread rounds before that barrier where its copies put it.
    - Loads outside of a loop, of a sequence that is known to be one chunk, are
      begun where they stand and waited for at the first use.
    - What warps exchange has a buffer of its own; barriers separate writes from
      reads and reads from the next writes, and stand nowhere else.

    Writes the kernel's `hla_tile.shared_memory`, in bytes, and fails if the
    module's target (`hla.target`) has less.

    Example: see `hla_tile.alloc`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numBarriers", "barriers", "Number of barriers inserted">
  ];
}

def HLATileScheduleGroups : Pass<"hla-tile-schedule-groups", "::mlir::ModuleOp"> {
  let summary = "Deals a kernel to groups of warps that run side by side";
  let description = [{
    For kernels whose schedule has `groups`: splits the chunk loop by its *states*.
    A group owns some of the loop's scans, keeps their states in its registers, and
    walks all chunks. Groups share tiles in shared memory alone:

    - Loaded tiles have a ring of `stages` buffers each, which the copy engine fills
      in boxes. The last group that reads a ring begins the copy of a chunk once the
      one that was there has been read by all; a signal says that it has come.
    - What one group computes and another reads has two buffers, and two named
      barriers each: written, and read. So a group runs up to two chunks ahead of its
      readers.
    - What a group writes for itself has one buffer; its warps meet in between.
    - 16-bit outputs are copied from shared memory in boxes.

    Products are begun and not waited for. Where a group needs the result of one, it
    first begins what else is ready and has room in registers: updates of states run
    while tiles are handed over.

    Each tensor that is copied in boxes is an argument more of the kernel, a
    `tensor_map`, made in the function around the launch. Writes the kernel's
    `hla_tile.shared_memory`, in bytes, and fails if the target has less.

    Example: see `hla_tile.groups`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::hla::tile::HLATileDialect",
    "::mlir::scf::SCFDialect"
  ];
}

#endif // HLA_DIALECT_TILE_TRANSFORMS_PASSES_TD
