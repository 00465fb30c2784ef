//===- HLAOperators.td - operators of the hla dialect ------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLAOPERATORS_TD
#define HLA_DIALECT_HLA_IR_HLAOPERATORS_TD

include "hla/Dialect/HLA/IR/HLABase.td"
include "hla/Dialect/HLA/IR/HLAInterfaces.td"

/// What all operators take, and how it is written. `own` are the attributes of
/// one operator, `ownFormat` their syntax.
class HLA_OperatorOp<string mnemonic, dag own, string ownFormat>
    : HLA_StructuredOp<mnemonic, [
        DeclareOpInterfaceMethods<HLA_OperatorInterface, [
          "getRidgeValue", "getOrder", "getStates"]>]> {
  string commonDescription = [{
    Options, the same on every operator:

    - `decay(γ)`, a constant in (0, 1], or the operand `log_decay`, `g ≤ 0` with
      `γ = exp g`, of every token (`[B,T,H]`, or `[B,H,T]` in `layout(bhtd)`) or of
      every head (`[H]`); `g = -∞` forgets everything. Every scan of the operator
      is decayed.
    - `scale(σ)` multiplies `q·k` in each score: the output, and the normaliser,
      by `σ` to the power of the order. States are unscaled.
    - `normalize(kind, ε)` divides by the same operator on `v ≡ 1`
      (`#hla.normalizer`).
    - `reverse` walks from the last token to the first.
    - `layout`: see `#hla.layout`.
    - `groups([gq, gkv])`: `query` has `H/gq` heads, `key` and `value` `H/gkv`; each
      is read by that many heads in a row. `H` is the number of heads of the
      output.
    - `lengths`: the cumulative lengths `c_0 ≤ … ≤ c_N` of `N` sequences that lie one
      after the other along `T`, where `B` is 1: sequence `n` is the tokens from
      `c_n` to `c_{n+1}`, the last not included. Tokens of no sequence keep what
      `outs` held. States have `N` in place of `B`.
    - `slots`: the states of batch (with `lengths`, sequence) `b` are those numbered
      `slots[b]` of `carry` and `outs`, which have `S` of them in place of `B` or `N`.
      Other states keep what `outs` held. A number below 0, or of `S` or more, is no
      state: the initial state is zero and the final state goes nowhere. A state that
      two have is both's initial state; as a final state it is undefined.
    - `carry`: initial states, all that the table above has, in order, or none.
      `outs`: the output, then all final states or none.

    | operand | layout(bthd) | layout(bhtd) |
    |---|---|---|
    | `query`, `key` | `[B,T,H,d]` | `[B,H,T,d]` |
    | `value`, output | `[B,T,H,dv]` | `[B,H,T,dv]` |
    | `log_decay` | `[B,T,H]` or `[H]` | `[B,H,T]` or `[H]` |
    | `lengths` | `[N+1]` | `[N+1]` |
    | `slots` | `[B]` or `[N]` | `[B]` or `[N]` |

    Constraints of every operator:

    - (C1) sequences have rank 4, and static, positive `d` and `dv`;
    - (C2) `query`, `key` and `value` have one element type;
    - (C3) `key` has the `B`, `T` and `d` of `query`, and, times its group, its heads;
    - (C4) `value` has the `B`, `T` and heads of `key`;
    - (C5) the output has the `B` and `T` of `query`, `H` heads, and the `dv` of
      `value`;
    - (C6) `decay` is in (0, 1], and 1 where `log_decay` is given;
    - (C7) `log_decay` has the shape above;
    - (C8) with `lengths`, every sequence has a static `B` of 1; `slots` are one a
      batch or sequence, where there are `carry` or final states;
    - (C9) `carry`, and `outs` after the output, have as many states as the
      operator, or none, each `[B,H]` (`[N,H]` with `lengths`, `[S,H]` with `slots`)
      and the state's own shape, `f64` where an operand is, else `f32`;
    - (C10) `groups` are two positive numbers;
    - (C11) `scale` to the power of the order is finite, `ε` is 0 or positive and
      finite, in the type of sums, and 0 without `normalize`.
  }];
  let arguments = !con(own, (ins
      DefaultValuedAttr<F64Attr, "1.0">:$decay,
      DefaultValuedAttr<F64Attr, "1.0">:$scale,
      DefaultValuedAttr<HLA_NormalizerAttr, "Normalizer::None">:$normalizer,
      DefaultValuedAttr<F64Attr, "0.0">:$epsilon,
      UnitAttr:$reverse,
      DefaultValuedAttr<HLA_HeadLayoutAttr, "HeadLayout::BTHD">:$layout,
      OptionalAttr<DenseI64ArrayAttr>:$groups,
      HLA_Sequence<"query">:$query, HLA_Sequence<"key">:$key,
      HLA_Sequence<"value">:$value,
      Optional<HLA_LogDecay>:$log_decay, Optional<HLA_Lengths>:$lengths,
      Optional<HLA_Slots>:$slots,
      Variadic<HLA_States<"carry">>:$carries, Variadic<HLA_Output>:$outputs));
  let results = (outs Variadic<HLA_Output>:$results);
  let assemblyFormat = ownFormat # [{
    (`decay` `(` $decay^ `)`)? (`scale` `(` $scale^ `)`)?
    (`normalize` `(` custom<Enum>($normalizer)^ `,` $epsilon `)`)?
    (`reverse` $reverse^)? (`layout` `(` custom<Enum>($layout)^ `)`)?
    (`groups` `(` $groups^ `)`)? attr-dict
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    (`log_decay` `(` $log_decay^ `:` type($log_decay) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slots` `(` $slots^ `:` type($slots) `)`)?
    (`carry` `(` $carries^ `:` type($carries) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `->` type($results)
  }];
  let extraClassDeclaration = structuredDeclaration;
  let hasVerifier = 1;
}

def HLA_LinearOp : HLA_OperatorOp<"linear", (ins), ""> {
  let summary = "First-order linear attention";
  let description = [{
    With `L` lower triangular, the diagonal included:

    ```
    o = ((Q Kᵀ) ⊙ L) V        o_t = Σ_{j≤t} (q_t·k_j) v_j
    ```

    One scan: `o = scan(q,k,v)`.

    | state | what it is | shape |
    |---|---|---|
    | `P` | `Σ k vᵀ` | `[B,H,d,dv]` |
    | `m`, normalised | `Σ k` | `[B,H,d,1]` |
  }] # commonDescription # [{
    Example:

    ```mlir
    %o = hla.linear normalize(add, 1.0e-6) ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
                    outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
    ```
  }];
}

def HLA_SecondOrderOp : HLA_OperatorOp<"second_order", (ins
      DefaultValuedAttr<HLA_SecondOrderVariantAttr, "SecondOrderVariant::Masked">:$variant,
      DefaultValuedAttr<HLA_DecayReadingAttr, "DecayReading::Causal">:$reading,
      DefaultValuedAttr<F64Attr, "0.0">:$ridge), [{
    (`variant` `(` custom<Enum>($variant)^ `)`)? (`reading` `(` custom<Enum>($reading)^ `)`)?
    (`ridge` `(` $ridge^ `)`)?
  }]> {
  let summary = "Second-order linear attention";
  let description = [{
    With `A_ij = q_i · k_j` for `j ≤ i`, else 0, and `L` lower triangular, the
    diagonal included:

    ```
    masked (the default)   o = ((A Aᵀ) ⊙ L) V
                           o_t = Σ_{j≤t} Σ_{i≤j} (q_t·k_i)(q_j·k_i) v_j
    prefix                 o_t = q_tᵀ S_t C_t,  S_t = Σ_{i≤t} k_i k_iᵀ,  C_t = Σ_{j≤t} q_j v_jᵀ
    paper                  o_t = q_tᵀ (S_t C_t − G_t),  G_t = γ G_{t-1} + k_t (k_tᵀ C_{t-1})
    ```

    As scans, `scanₓ` exclusive, with `u = scan(q,k,k)` and `u' = u + λ q`:

    ```
    masked   o = scan(q,u',v)                 its decay squared with reading(squared)
    prefix   o = scan(u',q,v)
    paper    o = scan(u',q,v) − scan(q,k,w),  w = scanₓ(k,q,v)
    ```

    `ridge(λ)` adds `λ I` to `S`. Without decay `paper` is `masked`, and is computed
    as `masked` where no state is asked for.

    | state | of | what it is | shape |
    |---|---|---|---|
    | `S` | all | `Σ k kᵀ` | `[B,H,d,d]` |
    | `F` | masked | `Σ u' vᵀ = S C − G` for `λ = 0` | `[B,H,d,dv]` |
    | `C` | prefix, paper | `Σ q vᵀ` | `[B,H,d,dv]` |
    | `G` | paper | as above | `[B,H,d,dv]` |
    | `f`, normalised | masked | `Σ u'` | `[B,H,d,1]` |
    | `m`, normalised | prefix, paper | `Σ q` | `[B,H,d,1]` |
    | `h`, normalised | paper | `G` for `v ≡ 1` | `[B,H,d,1]` |
  }] # commonDescription # [{
    Constraints of this operator:

    - (C12) `ridge` is 0 or positive and finite in the type of sums;
    - (C13) `reading(squared)` is `masked`'s.

    Example:

    ```mlir
    %o = hla.second_order ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>)
                          outs(%e : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
    %p, %s1, %c1 = hla.second_order variant(prefix) decay(0.99) layout(bhtd)
                          ins(%q, %k, %v : tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>)
                          carry(%s, %c : tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
                          outs(%e, %es, %ec : tensor<2x4x?x64xf32>, tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>)
                          -> tensor<2x4x?x64xf32>, tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>
    ```
  }];
}

def HLA_AsymmetricOp : HLA_OperatorOp<"asymmetric", (ins), ""> {
  let summary = "Asymmetric second-order linear attention";
  let description = [{
    With `A_ij = q_i · k_j` for `j ≤ i`, else 0 (AHLA in the paper):

    ```
    o = ((A A) ⊙ L) V        o_t = Σ_{i≤t} (q_t·k_i) Σ_{j≤i} (q_i·k_j) v_j
    ```

    As scans: `r = scan(q,k,v)`, then `o = scan(q,k,r)`.

    | state | what it is | shape |
    |---|---|---|
    | `P` | `Σ k vᵀ` | `[B,H,d,dv]` |
    | `E` | `Σ k rᵀ` | `[B,H,d,dv]` |
    | `m`, normalised | `Σ k` | `[B,H,d,1]` |
    | `n`, normalised | `E` for `v ≡ 1` | `[B,H,d,1]` |
  }] # commonDescription # [{
    Example:

    ```mlir
    %o = hla.asymmetric ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
                        log_decay(%g : tensor<?x?x?xf32>)
                        outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
    ```
  }];
}

def HLA_ThirdOrderOp : HLA_OperatorOp<"third_order", (ins
      DefaultValuedAttr<HLA_ThirdOrderVariantAttr, "ThirdOrderVariant::Masked">:$variant,
      DefaultValuedAttr<F64Attr, "0.0">:$ridge), [{
    (`variant` `(` custom<Enum>($variant)^ `)`)? (`ridge` `(` $ridge^ `)`)?
  }]> {
  let summary = "Third-order linear attention";
  let description = [{
    With `A_ij = q_i · k_j` for `j ≤ i`, else 0:

    ```
    masked (the default)   o = (((A Aᵀ) A) ⊙ L) V
    paper                  o_t = q_tᵀ (S^K_t S^Q_t P_t − G¹_t − G²_t − G³_t)   (Algorithm 3)
    ```

    They are two operators: `paper` sums over the triples of tokens whose largest
    index occurs at least twice. As scans, `scanₓ` exclusive:

    ```
    masked   u = scan(q,k,k), r = scan(q,k,v), o = scan(q, u + λ q, r)
    paper, undecayed, with κ_t = q_t·k_t and σ_t = k_t·scanₓ(k,q,q)_t
             u = scanₓ(q,k,k), p = scanₓ(q,k,v)
             o = scan(q, κ u + σ k + κ² k, v) + scan(q, k, κ p)
    paper, decayed
             z = scan(scan(q,k,k), q, q), w = scanₓ(k,q,q)
             o = scan(z,k,v) − scan(q, k, scanₓ(w,k,v)) − scan(q, scanₓ(q,k,k), scanₓ(q,k,v))
               − scan(q, scanₓ(w,k,k), v)
    ```

    The undecayed form has no differences of large sums; the decayed one has, and
    loses about a factor `1/(1-γ)` of precision (at most `T`).

    | state | of | what it is | shape |
    |---|---|---|---|
    | `S` | masked | `Σ k kᵀ` | `[B,H,d,d]` |
    | `P` | all | `Σ k vᵀ`, in `paper` after `SK` and `SQ` | `[B,H,d,dv]` |
    | `F` | masked | `Σ (u + λ q) rᵀ` | `[B,H,d,dv]` |
    | `SK`, `SQ` | paper | `Σ k kᵀ`, `Σ q qᵀ` | `[B,H,d,d]` |
    | `A`, `R` | paper, undecayed | the states of the last two scans; `A + R = S^K S^Q P − G¹ − G² − G³` | `[B,H,d,dv]` |
    | `G1`, `G2`, `G3` | paper, decayed | the states of the last three scans | `[B,H,d,dv]` |
    | `m`, normalised | all | `Σ k` | `[B,H,d,1]` |
    | `f`; `a`, `r`; `g1`, `g2`, `g3`, normalised | as `F`; `A`, `R`; `G1`, `G2`, `G3` | the same for `v ≡ 1` | `[B,H,d,1]` |
  }] # commonDescription # [{
    Constraints of this operator:

    - (C12) `ridge` is 0 or positive and finite in the type of sums;
    - (C13) `ridge` is `masked`'s: `paper` has two second moments.

    Example:

    ```mlir
    %o = hla.third_order ins(%q, %k, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>)
                         outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
    ```
  }];
}

#endif // HLA_DIALECT_HLA_IR_HLAOPERATORS_TD
