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
    /// The target of the module around `op`, or null.
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
    - `precision`: the element type that operands of matrix products are rounded
      to; sums and states are in `f32`, or `f64` where `precision` is `f64`.

    Whether a target can hold the schedule is verified where a schedule meets an
    operation and a target, in `hla-assign-schedule`.

    Example: `#hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16>`
  }];
  let parameters = (ins "int64_t":$chunk, "int64_t":$warps, "int64_t":$stages,
      EnumParameter<HLA_PrecisionEnum>:$precision);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type that operands of matrix products have.
    FloatType getOperandType() const;
    /// The type of sums and states.
    FloatType getAccumulatorType() const;
  }];
}

#endif // HLA_DIALECT_HLA_IR_HLAATTRS_TD
