//===- TileDialect.td - the hla_tile dialect ---------------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_TILE_IR_TILEDIALECT_TD
#define HLA_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/DialectBase.td"

def HLATile_Dialect : Dialect {
  let name = "hla_tile";
  let cppNamespace = "::mlir::hla::tile";
  let summary = "The inside of a kernel, as a program of tiles";
  let description = [{
    One kernel is an `hla_tile.launch`: a program for one head, in which tiles
    are SSA values of type `tensor<MxNxT>`, states are tiles that `scf.for`
    carries from chunk to chunk, and elementwise arithmetic is `arith` on tiles.
    The same program runs on every target.

    **Program operations** (`launch`, `load`, `store`, `dot`, `causal`, `decay`,
    `prefix_sum`, `ramp`, `mask`, `sum_rows`, `broadcast`) say what is computed. On a
    CPU they become `linalg`. A number a token, such as a log-decay, is a column:
    a tile `tensor<Mx1xT>`.

    **Layouts.** For a GPU, `hla-tile-assign-layouts` gives every tile, once, an
    encoding: `#hla_tile.frag` (distributed over the registers of the warps) or
    `#hla_tile.smem` (in shared memory), with `convert_layout` between them.

    **Scheduled operations** (`alloc`, `slot`, `copy_async`, `copy_commit`,
    `copy_wait`, `barrier`, `write`, `read`) are what a schedule pass such as
    `hla-tile-schedule-mma` makes of tiles in shared memory: buffers in place of
    values, and the order in which warps fill and read them. Each is converted
    one to one into instructions.

    **Groups.** For Hopper, `hla-tile-schedule-groups` deals the program to groups of
    four warps (`groups`), whose products run while the group goes on
    (`dot_async`, `dot_fence`, `dot_commit`, `dot_wait`), which hand tiles to each
    other at named barriers (`sync`, `arrive`), and whose tensors are copied in boxes
    (`tensor_map`, `tensor_load`, `tensor_store`) that end with signals.
  }];
  let dependentDialects = ["::mlir::hla::HLADialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// Registers the attributes generated from TileAttrs.td.
    void registerAttributes();
    /// Registers the types generated from TileTypes.td.
    void registerTypes();
  }];
}

#endif // HLA_DIALECT_TILE_IR_TILEDIALECT_TD
