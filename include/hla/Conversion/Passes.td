//===- Passes.td - conversions between dialects ------------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_CONVERSION_PASSES_TD
#define HLA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertHLAToTile : Pass<"convert-hla-to-tile"> {
  let summary = "Executes fused scans chunk by chunk, as tile programs";
  let description = [{
    Every `hla.fused_scan` on memrefs becomes an `hla_tile.launch`: a loop over
    chunks of `C` tokens, which the schedule says, with the states carried as
    tiles. With `G_i = Σ_{l≤i} log γ_l` the sums of the chunk's log-decays, a step of
    rows `q, k, v` and state `S` becomes, for a chunk of `n ≤ C` tokens,

    ```
    A  = causal(q kᵀ)          A_ij = exp(G_i - G_j) q_i·k_j for j ≤ i, else 0
    y  = A v + D q S           D_i = exp(G_i)
    S' = exp(G_{n-1}) S + kᵀ W v       W_j = exp(G_{n-1} - G_j)
    ```

    An exclusive one is strict, with `G_{i-1}` for `G_i` in `A` and `D`; a reverse one
    is its mirror image. Exponents are relative to a chunk's ends, so none is
    positive. The sums of a log-decay a token are an `hla_tile.prefix_sum`, those
    of a constant decay, or one a head, an `hla_tile.ramp`.

    Rows become tiles, one number a token a column, what is the same for all
    tokens a scalar. Rows after the last token are zero and add nothing; computed
    ones that need not be zero are masked where they are keys, values or
    log-decays. Of steps that read one state, only the one that makes the next
    state has an update.

    A head reads those heads that its group says. With lengths there is a run a
    sequence, whose views begin at its first token; lengths are clamped, so that
    wrong ones lead nowhere else.

    In segments there is a run a segment, with views up to its last token. The first
    one's initial state is in the carry, that of others in the entries, and the
    last one's final state alone has a place: the view of what is not there has no
    rows. Combinations of states are runs of 32 rows, and sums runs of segments.

    Tiles are as wide as the target wants them (`hla.target`): zero in the columns
    that a row has not, where they are operands. With slices a run has its part of
    the columns of values, and of what comes of them. For a GPU, copies of
    sequences and states are loops as well.

    Operands of products are rounded to the schedule's precision: where a chunk
    computes them, where a product reads a state, and where inputs of f32 are
    loaded. Narrower ones stay as they are. Numbers of 16 bits are computed
    with in `f32`.

    Example: `hla-opt --hla-fuse-scans --hla-assign-schedule --hla-bufferize --convert-hla-to-tile`
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::hla::tile::HLATileDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// CPU
//===----------------------------------------------------------------------===//

def ConvertHLATileToLinalg : Pass<"convert-hla-tile-to-linalg"> {
  let summary = "Turns tile programs into linalg on tensors, for a CPU";
  let description = [{
    A launch becomes an `scf.parallel` over batches, heads and slices. Tiles stay values
    of their tensor types, tf32 as f32: loads are copies into a buffer, zero
    outside of the view; dots are `linalg.matmul` on operands extended to the
    accumulator's type, three with `bf16x3`; `causal` and `decay` are
    `linalg.generic`, with exponents computed in `f64`. Columns are filled number
    by number. A program is executed with the roundings that it says, so that what a
    GPU's program computes can be checked on a CPU.

    Programs with layouts or scheduled operations are refused.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

def HLABufferizeTiles : Pass<"hla-bufferize-tiles", "::mlir::ModuleOp"> {
  let summary = "Gives the tiles of a CPU program their buffers";
  let description = [{
    One-shot bufferization of what `convert-hla-tile-to-linalg` writes, such that
    states are updated in place, without a copy in the loop over chunks. Buffers
    are allocated once a head, at the start of its iteration, and freed at its
    end.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def HLAVectorizeTiles : Pass<"hla-vectorize-tiles"> {
  let summary = "Turns linalg on tiles into loops of vector operations";
  let description = [{
    Products become register-blocked loops of multiply-adds, all else loops over
    the vectors of a row. Widths that are no multiple of a vector end in narrower
    ones.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "128",
           "Bits of a vector register: 128, 256 or 512">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def ConvertHLATileToNVVM : Pass<"convert-hla-tile-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Converts scheduled tile programs to mma.sync kernels";
  let description = [{
    One to one, operation by operation, after `hla-tile-schedule-mma`:

    | tile | instructions |
    |---|---|
    | `dot` | `ldmatrix` of 16-bit operands, loads of 32-bit ones; `mma.sync.m16n8k16` of bf16 and f16, `.m16n8k8` of tf32 |
    | `write`, `read` | of 16 bits `stmatrix` (or `movmatrix` and stores, before sm_90) and `ldmatrix`, of 32 bits stores and loads |
    | `copy_async`, `copy_commit`, `copy_wait` | `cp.async` of 16 bytes, or of 8 or 4 that divide a row, zero-filled; of 2, loads and stores |
    | `round` | `cvt.rna.tf32.f32` |
    | `store` | stores of 16 bytes, or what divides a row, from shared memory, of 4 from registers |
    | `barrier` | `bar.sync` |

    Fragments become scalars (`vector<2xT>` of 16-bit elements). A kernel's memrefs
    become a pointer and all strides but the last (`i64`), its indices `i32`, in
    which a kernel counts tokens; addresses in device memory are 64-bit.

    Example: see the pipeline `hla-to-nvvm-pipeline`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::DLTIDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"
  ];
}

#endif // HLA_CONVERSION_PASSES_TD
