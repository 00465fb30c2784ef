//===- Passes.td - transformations of the hla dialect ------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_TRANSFORMS_PASSES_TD
#define HLA_DIALECT_HLA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def HLADecomposeOperators : Pass<"hla-decompose-operators"> {
  let summary = "Rewrites operators as scans";
  let description = [{
    Replaces every operator by its DAG of `hla.scan`, which its documentation
    gives. What lies between scans, such as `u + λ q` or a quotient, are loops
    without states (`hla.fused_scan`) from rows to rows. What one hands to the
    next is in `f32` (`f64` where an operand is). Equal scans are built once, and
    a state is the operator's whichever scan reads it.

    Example:

    ```mlir
    %o = hla.second_order ins(%q, %k, %v : ...) outs(%e : ...) -> tensor<?x?x?x64xbf16>
    // becomes
    %u = hla.scan ins(%q, %k, %k : ...) outs(%eu : ...) -> tensor<?x?x?x64xf32>
    %o = hla.scan ins(%q, %u, %v : ...) outs(%e : ...) -> tensor<?x?x?x64xbf16>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"
  ];
}

def HLAFuseScans : Pass<"hla-fuse-scans"> {
  let summary = "Puts scans that walk the same tokens into one loop";
  let description = [{
    Every `hla.scan` becomes an `hla.fused_scan` with one step. Two loops of one
    block, of scans or from rows to rows, that walk the same tokens in the same
    direction and layout are put into one where one reads what the other
    produces, which then is never written to memory, or where both read one
    tensor; as far as the target's registers hold the states, and its shared
    memory the tiles, of both, in no more slices than one of them needs alone.
    What does not fit into one loop is handed on in memory. Nothing else may need
    the first before the second. A loop that has a schedule is left alone.

    Example: the two scans of a masked second order become the loop shown at
    `hla.fused_scan`.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Architecture whose registers and shared memory bound what is put "
           "together: cpu (no bound) or as in hla-assign-schedule">,
    Option<"precision", "precision", "std::string", /*default=*/"\"\"",
           "Precision of products that hla-assign-schedule will be asked for">
  ];
  let statistics = [
    Statistic<"numLoops", "loops", "Number of loops made">,
    Statistic<"numScans", "scans", "Number of scans put into loops">
  ];
}

def HLAAssignSchedule : Pass<"hla-assign-schedule", "::mlir::ModuleOp"> {
  let summary = "Gives every fused scan a schedule for the target";
  let description = [{
    Writes the target on the module (`hla.target`) and a `#hla.schedule` on every
    `hla.fused_scan` that has none. On a GPU: 32 tokens a chunk, two stages (one
    where shared memory holds no more), one warp for every 16 rows or columns of
    the largest state, but four to eight, as few slices as states fit in, products
    in the inputs' own precision; 16 tokens and two warps where nothing else fits.
    On a CPU: 16 tokens a chunk, products in `f32`, or `f64` where an operand is.
    The option `precision` asks for another one. A schedule that is there already is kept. Either way it is
    verified against the target's limits; what the target cannot hold is an
    error.

    Example: `hla-opt --hla-assign-schedule="target=sm_90a precision=tf32"`
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Architecture: cpu, sm_80, sm_86, sm_89, sm_90a, sm_100a or sm_120a">,
    Option<"precision", "precision", "std::string", /*default=*/"\"\"",
           "Precision of products: bf16, f16, tf32, bf16x3, f32 or f64; by default "
           "what the inputs' types say">
  ];
}

def HLASplitSegments : Pass<"hla-split-segments"> {
  let summary = "Lets segments of long sequences be walked at once";
  let description = [{
    Where few heads have long sequences, a loop over the tokens of each head leaves
    most of a card idle. Then the tokens are cut into `N` segments of each head. What
    a segment begins with, its entry, is found level by level of the graph of
    scans: a state's level is 0 where keys and values are inputs, else one more
    than that of the states that they are read from. For each level, from 0 on,

    1. a loop over all segments but the last sums up what each adds to the level's
       states (`summary`), from the entries of the levels before; or one loop for each
       state, where the target does not hold all;
    2. `hla.combine_segments` makes entries of these sums; with a log-decay a token,
       of what `hla.sum_segments` adds up.

    Then the loop itself walks all segments, each from its entries. A loop without
    states has no levels, and one with lengths, or with keys that the same state's
    rows make, stays as it is, as does one whose sums the target does not hold.

    `segments` is the number `N`, or `auto`: as many as make thread blocks for all
    multiprocessors of the target, if that is more than there are levels (each level
    walks the tokens once more), of at least 512 tokens. A number is computed by the
    program from the extents. With one segment what comes before the loop has
    nothing to do: extents of 0. A segment has a multiple of 64 tokens, which chunks
    divide.

    Example: masked second order.

    ```mlir
    %o = hla.fused_scan ins(%q, %k, %v : ...) ...
    // becomes
    %s0 = hla.fused_scan ins(%k : ...) segments(%l) summary outs(%e : ...) carry_in [false] carry_out [true] {...}
    %s = hla.combine_segments segments(%l) outs(%s0 : ...)
    %f0 = hla.fused_scan ins(%q, %k, %v : ...) segments(%l) summary entries(%s : ...) outs(%e : ...)
          carry_in [false, false] carry_out [false, true] entry_in [true, false] {...}
    %f = hla.combine_segments segments(%l) outs(%f0 : ...)
    %o = hla.fused_scan ins(%q, %k, %v : ...) segments(%l) entries(%s, %f : ...) ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Architecture whose multiprocessors are to have thread blocks: cpu "
           "(none) or as in hla-assign-schedule">,
    Option<"segments", "segments", "std::string", /*default=*/"\"auto\"",
           "Segments of a sequence: a number, or auto">,
    Option<"precision", "precision", "std::string", /*default=*/"\"\"",
           "Precision of products that hla-assign-schedule will be asked for">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"
  ];
  let statistics = [
    Statistic<"numLoops", "loops", "Number of loops cut into segments">
  ];
}

def HLABufferize : Pass<"hla-bufferize", "::mlir::ModuleOp"> {
  let summary = "Puts the tensors of entry functions into memory";
  let description = [{
    Turns the tensors of functions into strided memrefs with contiguous rows,
    `strided<[?, ?, ?, 1]>`. Results that are not destinations passed as
    arguments become arguments, appended in order; the functions return nothing.
    That is for public functions, which therefore may not be called; private ones
    keep their results.
    Intermediate tensors become allocations.

    Example:

    ```mlir
    func.func @f(%q: tensor<?x?x?x64xf32>, ...) -> tensor<?x?x?x64xf32>
    // becomes
    func.func @f(%q: memref<?x?x?x64xf32, strided<[?, ?, ?, 1]>>, ..., %result: memref<?x?x?x64xf32, strided<[?, ?, ?, 1]>>)
    ```
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect"
  ];
}

#endif // HLA_DIALECT_HLA_TRANSFORMS_PASSES_TD
