//===- HLAEnums.td - enumerations of the hla dialect -------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLAENUMS_TD
#define HLA_DIALECT_HLA_IR_HLAENUMS_TD

include "hla/Dialect/HLA/IR/HLADialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def HLA_HeadLayoutEnum : I32Enum<"HeadLayout",
    "order of the dimensions of a sequence", [
      I32EnumCase<"BTHD", 0, "bthd">,
      I32EnumCase<"BHTD", 1, "bhtd">]> {
  let cppNamespace = "::mlir::hla";
}

def HLA_HeadLayoutAttr : EnumAttr<HLA_Dialect, HLA_HeadLayoutEnum, "layout"> {
  let summary = "Order of the dimensions of a sequence";
  let description = [{
    `bthd` is `[B,T,H,D]` (batch, token, head, feature), `bhtd` is `[B,H,T,D]`.
    All sequences of one operation have the same layout; states are always
    `[B,H,d,dv]`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def HLA_SecondOrderVariantEnum : I32Enum<"SecondOrderVariant",
    "which second-order operator", [
      I32EnumCase<"Masked", 0, "masked">,
      I32EnumCase<"Prefix", 1, "prefix">,
      I32EnumCase<"Paper", 2, "paper">]> {
  let cppNamespace = "::mlir::hla";
}

def HLA_SecondOrderVariantAttr : EnumAttr<HLA_Dialect,
    HLA_SecondOrderVariantEnum, "second_order_variant"> {
  let summary = "Which second-order operator";
  let description = [{
    `masked` is `((A Aᵀ) ⊙ L) V`: no pair of tokens later than `t` and no pair in
    the wrong order reaches the output. `prefix` is `q_tᵀ S_t C_t` (equation 3.1
    of the paper), without the mask's correction. `paper` is the serial
    recurrence of the paper's Algorithm 1, which without decay is `masked`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def HLA_ThirdOrderVariantEnum : I32Enum<"ThirdOrderVariant",
    "which third-order operator", [
      I32EnumCase<"Masked", 0, "masked">,
      I32EnumCase<"Paper", 1, "paper">]> {
  let cppNamespace = "::mlir::hla";
}

def HLA_ThirdOrderVariantAttr : EnumAttr<HLA_Dialect,
    HLA_ThirdOrderVariantEnum, "third_order_variant"> {
  let summary = "Which third-order operator";
  let description = [{
    `masked` is `(((A Aᵀ) A) ⊙ L) V`. `paper` is the paper's Algorithm 3, which
    sums over the triples of tokens whose largest index occurs at least twice:
    another operator (docs/Operators.md).
  }];
  let assemblyFormat = "`<` $value `>`";
}

def HLA_DecayReadingEnum : I32Enum<"DecayReading",
    "how a decay acts on the masked second order", [
      I32EnumCase<"Causal", 0, "causal">,
      I32EnumCase<"Squared", 1, "squared">]> {
  let cppNamespace = "::mlir::hla";
}

def HLA_DecayReadingAttr : EnumAttr<HLA_Dialect, HLA_DecayReadingEnum,
    "decay_reading"> {
  let summary = "How a decay acts on the masked second order";
  let description = [{
    With a constant γ, `causal` weights the pair `(i ≤ j ≤ t)` by `γ^{t-i}`: both
    scans are decayed by γ. `squared` weights it by `γ^{2t-i-j}`, which is what
    masking the decayed product `S_t C_t` gives: the second scan is decayed by
    γ².
  }];
  let assemblyFormat = "`<` $value `>`";
}

def HLA_NormalizerEnum : I32Enum<"Normalizer",
    "what an output is divided by", [
      I32EnumCase<"None", 0, "none">,
      I32EnumCase<"Add", 1, "add">,
      I32EnumCase<"Clamp", 2, "clamp">]> {
  let cppNamespace = "::mlir::hla";
}

def HLA_NormalizerAttr : EnumAttr<HLA_Dialect, HLA_NormalizerEnum,
    "normalizer"> {
  let summary = "What an output is divided by";
  let description = [{
    With `n_t` the same operator applied to `v ≡ 1`: `none` divides by nothing,
    `add` by `n_t + ε`, `clamp` by `max(n_t, ε)` where `n_t ≥ 0`, else by
    `min(n_t, -ε)`, which keeps the sign of a normaliser that may be negative.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def HLA_PrecisionEnum : I32Enum<"Precision",
    "how exact the operands of a kernel's matrix products are", [
      I32EnumCase<"BF16", 0, "bf16">, I32EnumCase<"F16", 1, "f16">,
      I32EnumCase<"F32", 2, "f32">, I32EnumCase<"F64", 3, "f64">,
      I32EnumCase<"TF32", 4, "tf32">, I32EnumCase<"BF16x3", 5, "bf16x3">]> {
  let cppNamespace = "::mlir::hla";
}

#endif // HLA_DIALECT_HLA_IR_HLAENUMS_TD
