//===- HLAAttrs.td - attributes of the hla dialect ---------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLAATTRS_TD
#define HLA_DIALECT_HLA_IR_HLAATTRS_TD

include "hla/Dialect/HLA/IR/HLAEnums.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Target and schedule
//===----------------------------------------------------------------------===//

def HLA_TargetAttr : AttrDef<HLA_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "The machine that a module is compiled for";
  let description = [{
    `arch` is `cpu` or an NVIDIA architecture: `sm_80`, `sm_86`, `sm_89`,
    `sm_90a`, `sm_100a`, `sm_120a`. Its limits (registers, shared memory,
    instructions) are those of `hla::TargetInfo`; the attribute stands on the
    module, as `hla.target`.

    Example: `module attributes {hla.target = #hla.target<"sm_90a">} { ... }`
  }];
  let parameters = (ins StringRefParameter<"architecture">:$arch);
  let assemblyFormat = "`<` $arch `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The attribute's name on a module.
    static constexpr ::llvm::StringLiteral kModuleAttrName = "hla.target";
    /// The limits of the target.
    const TargetInfo &getInfo() const;
    /// The target of the module that is or has `op`, or null.
    static TargetAttr lookup(Operation *op);
  }];
}

def HLA_ScheduleAttr : AttrDef<HLA_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a fused scan is cut into chunks and spread over a machine";
  let description = [{
    - `chunk`: tokens a chunk, `C`: a power of two from 16 to 256. One iteration
      of the kernel's loop takes `C` tokens; scores are `C×C`.
    - `warps`: warps of a thread block (GPU), a power of two up to 16; 1 on a CPU.
    - `stages`: chunks of every loaded tensor that shared memory holds at a time
      (GPU); `stages - 1` are in flight while one is used. 1 on a CPU.
    - `slices`: thread blocks (GPU) that share a head, a power of two up to 8,
      by default 1: each has a part of the columns of values, states and outputs,
      of all that are not summed over again in the loop. 1 on a CPU.
    - `groups`: groups of four warps (GPU) to which the loop's scans are dealt, each
      with the states of its own in its registers, 1 to 4; by default 0: there are
      none, and all warps share every product. `warps` is then 4 for each.
    - `blocks`: thread blocks (GPU) that a multiprocessor is to hold at a time, 1 to 8,
      by default 1: they share its registers and shared memory.
    - `precision`: what operands of matrix products are rounded to, once for
      each product; sums and states are in `f32`, or `f64` where `precision` is
      `f64`. An operand that is narrower is taken as it is.

    | precision | operands | error, at most | instructions on a GPU |
    |---|---|---|---|
    | `bf16` | bf16 | 2^-8 of an operand | 1 of bf16 |
    | `f16` | f16 where both come so, else tf32 | 2^-11 of an operand | 1 of f16, or 2 of tf32 |
    | `tf32` | f32 with 10 bits of mantissa | 2^-11 of an operand | 2 of tf32 |
    | `bf16x3` | the sum of two bf16 | 2^-15 of a product | 3 of bf16 |
    | `f32` | f32; on a GPU the sum of two tf32 | 2^-21 of a product | 6 of tf32 |
    | `f64` | f64 | | none |

    tf32 and bf16 have the range of f32: what f32 holds does not overflow.
    Instructions are those of 16×8×16 multiply-adds; one of tf32 takes as long as
    one of 16 bits, for half of them.

    Whether a target can hold the schedule is verified where a schedule meets an
    operation and a target, in `hla-assign-schedule`.

    Example: `#hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16>`
  }];
  let parameters = (ins "int64_t":$chunk, "int64_t":$warps, "int64_t":$stages,
      EnumParameter<HLA_PrecisionEnum>:$precision,
      DefaultValuedParameter<"int64_t", "1">:$slices,
      DefaultValuedParameter<"int64_t", "0">:$groups,
      DefaultValuedParameter<"int64_t", "1">:$blocks);
  let builders = [AttrBuilder<
      (ins "int64_t":$chunk, "int64_t":$warps, "int64_t":$stages,
           "::mlir::hla::Precision":$precision),
      "return $_get($_ctxt, chunk, warps, stages, precision, /*slices=*/1, "
      "/*groups=*/0, /*blocks=*/1);">];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The most slices: columns of a tile are at most 256, of a slice at least 32.
    static constexpr int64_t kMaxSlices = 8;
    static constexpr int64_t kMaxGroups = 4, kWarpsOfGroup = 4, kMaxBlocks = 8;
    /// The type that a chunk's values are rounded to before they are operands
    /// of matrix products.
    FloatType getOperandType() const;
    /// The type of sums and states.
    FloatType getAccumulatorType() const;
  }];
}

#endif // HLA_DIALECT_HLA_IR_HLAATTRS_TD
