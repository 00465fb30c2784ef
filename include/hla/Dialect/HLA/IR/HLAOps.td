//===- HLAOps.td - operations of the hla dialect -----------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLAOPS_TD
#define HLA_DIALECT_HLA_IR_HLAOPS_TD

include "hla/Dialect/HLA/IR/HLAAttrs.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HLA_Float : TypeConstraint<
    Or<[BF16.predicate, F16.predicate, F32.predicate, F64.predicate]>,
    "bf16, f16, f32 or f64">;

/// A sequence, `[B,T,H,D]` or `[B,H,T,D]`.
def HLA_Sequence : TensorOf<[BF16, F16, F32, F64]>;
/// The states of every head, `[B,H,d,dv]`.
def HLA_States : TensorOf<[F32, F64]>;
/// A sequence or states, before or after bufferization.
def HLA_Shaped : AnyTypeOf<[
    TensorOf<[BF16, F16, F32, F64]>, StridedMemRefRankOf<[BF16, F16, F32, F64], [4]>]>;
/// The row of one token: `vector<d x T>`.
def HLA_Row : VectorOfRankAndType<[1], [BF16, F16, F32, F64]>;
/// The state of one head: `vector<d x dv x f32>`.
def HLA_State : VectorOfRankAndType<[2], [F32, F64]>;

class HLA_Op<string mnemonic, list<Trait> traits = []>
    : Op<HLA_Dialect, mnemonic, traits>;

/// An operation that writes its results to `outs` and knows their shapes.
class HLA_StructuredOp<string mnemonic, list<Trait> traits = []>
    : HLA_Op<mnemonic, traits # [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>]>;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

def HLA_SecondOrderOp : HLA_StructuredOp<"second_order"> {
  let summary = "Second-order linear attention";
  let description = [{
    With `A_ij = q_i · k_j` and `L` lower triangular, the diagonal included:

    ```
    masked (the default)   o = ((A Aᵀ) ⊙ L) v with A ← A ⊙ L
                           o_t = Σ_{j≤t} Σ_{i≤j} (q_t·k_i)(q_j·k_i) v_j
    prefix                 o_t = q_tᵀ S_t C_t,  S_t = Σ_{i≤t} k_i k_iᵀ,  C_t = Σ_{j≤t} q_j v_jᵀ
    ```

    As scans (`hla.scan`): `u = scan(q,k,k)`, then `o = scan(q,u,v)` masked, and
    `o = scan(u,q,v)` prefix.

    | operand | layout(bthd) | layout(bhtd) |
    |---|---|---|
    | `query`, `key` | `[B,T,H,d]` | `[B,H,T,d]` |
    | `value`, `output` | `[B,T,H,dv]` | `[B,H,T,dv]` |

    Constraints:

    - (C1) operands have rank 4, and static, positive `d` and `dv`;
    - (C2) `query`, `key` and `value` have one element type;
    - (C3) `key` has the shape of `query`;
    - (C4) `value` has the `B`, `T` and `H` of `query`;
    - (C5) `output` has the shape of `value`.

    Example:

    ```mlir
    %o = hla.second_order ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>)
                          outs(%e : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
    %p = hla.second_order variant(prefix) layout(bhtd)
                          ins(%q, %k, %v : tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>)
                          outs(%e : tensor<2x4x?x64xf32>) -> tensor<2x4x?x64xf32>
    ```
  }];
  let arguments = (ins
      DefaultValuedAttr<HLA_SecondOrderVariantAttr, "SecondOrderVariant::Masked">:$variant,
      DefaultValuedAttr<HLA_HeadLayoutAttr, "HeadLayout::BTHD">:$layout,
      HLA_Sequence:$query, HLA_Sequence:$key, HLA_Sequence:$value,
      HLA_Sequence:$output);
  let results = (outs HLA_Sequence:$result);
  let assemblyFormat = [{
    (`variant` `(` custom<Enum>($variant)^ `)`)? (`layout` `(` custom<Enum>($layout)^ `)`)? attr-dict
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    `outs` `(` $output `:` type($output) `)` `->` type($result)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputMutable(); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The primitive
//===----------------------------------------------------------------------===//

def HLA_ScanOp : HLA_StructuredOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "First-order causal scan with a carried state";
  let description = [{
    For every head, from the first token to the last (`reverse`: from the last to
    the first), with `S` the state before the token:

    ```
    inclusive (the default)   S' = γ S + k_t v_tᵀ      y_t = S'ᵀ q_t
    exclusive                 y_t = Sᵀ q_t             S' = γ S + k_t v_tᵀ
    ```

    `S` begins as `carry`, zero without one. Two results: `y`, and, where `outs`
    has a second operand, the state after the last token walked. `γ` is `decay`,
    in (0, 1]. A sequence with `T = 0` yields the carry as its final state, so
    that the scan of a concatenation is the scan of its second part carried on
    from the first.

    | operand | shape, layout(bthd) |
    |---|---|
    | `query`, `key` | `[B,T,H,d]` |
    | `value`, first of `outs` | `[B,T,H,dv]` |
    | `carry`, second of `outs` | `[B,H,d,dv]`, `f32` (`f64` where an operand is `f64`) |

    Element types of `query`, `key`, `value` and the result may differ: a scan
    takes what another has produced.

    Constraints:

    - (C1) sequences have rank 4, and static, positive `d` and `dv`;
    - (C2) `key` has the shape of `query`;
    - (C3) `value` has the `B`, `T` and `H` of `query`;
    - (C4) the first of `outs` has the shape of `value`;
    - (C5) `carry` and the final state are `[B,H,d,dv]`;
    - (C6) `carry` and the final state have element type `f64` where an operand
      has it, else `f32`;
    - (C7) `decay` is in (0, 1];
    - (C8) `outs` has one or two operands.

    Example:

    ```mlir
    %y, %s1 = hla.scan decay(0.99) ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>)
                       carry(%s0 : tensor<?x?x64x64xf32>)
                       outs(%e, %f : tensor<?x?x?x64xbf16>, tensor<?x?x64x64xf32>) -> tensor<?x?x?x64xbf16>, tensor<?x?x64x64xf32>
    ```
  }];
  let arguments = (ins
      UnitAttr:$exclusive, UnitAttr:$reverse,
      DefaultValuedAttr<F64Attr, "1.0">:$decay,
      DefaultValuedAttr<HLA_HeadLayoutAttr, "HeadLayout::BTHD">:$layout,
      HLA_Sequence:$query, HLA_Sequence:$key, HLA_Sequence:$value,
      Optional<HLA_States>:$carry,
      Variadic<HLA_Sequence>:$outputs);
  let results = (outs Variadic<HLA_Sequence>:$results);
  let assemblyFormat = [{
    (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    (`decay` `(` $decay^ `)`)? (`layout` `(` custom<Enum>($layout)^ `)`)? attr-dict
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    (`carry` `(` $carry^ `:` type($carry) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `->` type($results)
  }];
  let builders = [
    OpBuilder<(ins "HeadLayout":$layout, "Value":$query, "Value":$key,
                   "Value":$value, "Value":$output)>
  ];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    /// Where the final state goes, or null.
    Value getFinalInit() { return getOutputs().size() > 1 ? getOutputs()[1] : Value(); }
    /// The final state, or null.
    Value getFinal() { return getResults().size() > 1 ? getResults()[1] : Value(); }
    /// The state of one head: `vector<d x dv x f32>`, or f64.
    VectorType getStateType();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Fused scans
//===----------------------------------------------------------------------===//

def HLA_FusedScanOp : HLA_StructuredOp<"fused_scan", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock]> {
  let summary = "Scans that walk the same tokens in one loop";
  let description = [{
    A loop over the tokens of every head, with the states of several scans
    carried from token to token. The region is the body for one token: its
    arguments are the rows of the `inputs` and the states before the token; it
    yields the rows of the outputs and the states after the token. Everything
    between is explicit: which step reads what, and what never leaves the loop.
    A body is what a decode kernel executes once, and what
    `convert-hla-to-tile` executes on `chunk` tokens at a time.

    - `inputs`: sequences, `[B,T,H,D]` in the layout given;
    - `carries`: initial states, `[B,H,d,dv]`, one for every true entry of
      `carry_in`, in order; a state without one begins as zero;
    - `outputs`: destinations: first the sequences that the body yields, then
      final states, one for every true entry of `carry_out`, in order.

    `carry_in` and `carry_out` have one entry a state. `reverse` walks from the
    last token to the first. Operands are tensors, or memrefs after
    bufferization. `schedule` says how the loop is executed; it has no meaning
    for the values.

    Constraints:

    - (C1) sequences have rank 4, and a static, positive last dimension;
    - (C2) all sequences have the same `B`, `T` and `H`;
    - (C3) the body's arguments are the inputs' rows, then the states;
    - (C4) `carry_in` and `carry_out` have one entry a state, and as many true
      ones as there are `carries` and final states;
    - (C5) a carry and a final state are `[B,H]` followed by its state's shape,
      of its element type;
    - (C6) the body yields the outputs' rows, then the states;
    - (C7) there are as many results as tensor `outputs`, of the same types.

    Example: the masked second order.

    ```mlir
    %o = hla.fused_scan ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>)
        outs(%e : tensor<?x?x?x32xbf16>) carry_in [false, false] carry_out [false, false] {
    ^bb0(%qt: vector<64xbf16>, %kt: vector<64xbf16>, %vt: vector<32xbf16>, %S: vector<64x64xf32>, %F: vector<64x32xf32>):
      %S1, %u = hla.step ins(%qt, %kt, %kt : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xf32>
      %F1, %y = hla.step ins(%qt, %u, %vt : vector<64xbf16>, vector<64xf32>, vector<32xbf16>) state(%F : vector<64x32xf32>) -> vector<32xbf16>
      hla.yield %y, %S1, %F1 : vector<32xbf16>, vector<64x64xf32>, vector<64x32xf32>
    } -> tensor<?x?x?x32xbf16>
    ```
  }];
  let arguments = (ins
      UnitAttr:$reverse,
      DefaultValuedAttr<HLA_HeadLayoutAttr, "HeadLayout::BTHD">:$layout,
      DenseBoolArrayAttr:$carry_in, DenseBoolArrayAttr:$carry_out,
      OptionalAttr<HLA_ScheduleAttr>:$schedule,
      Variadic<HLA_Shaped>:$inputs, Variadic<HLA_Shaped>:$carries,
      Variadic<HLA_Shaped>:$outputs);
  let results = (outs Variadic<HLA_Sequence>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`reverse` $reverse^)? (`layout` `(` custom<Enum>($layout)^ `)`)?
    (`schedule` `(` $schedule^ `)`)?
    `ins` `(` $inputs `:` type($inputs) `)`
    (`carries` `(` $carries^ `:` type($carries) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    `carry_in` $carry_in `carry_out` $carry_out
    attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
    unsigned getNumStates() { return getCarryIn().size(); }
    /// The body's arguments that are states.
    Block::BlockArgListType getStateArguments();
    /// The outputs that are sequences, and those that are final states.
    OperandRange getSequenceOutputs();
    OperandRange getFinalOutputs();
    /// The dimension of a sequence that `B`, `T`, `H` are.
    static unsigned getBatchDim() { return 0; }
    unsigned getTokenDim() { return getLayout() == HeadLayout::BTHD ? 1 : 2; }
    unsigned getHeadDim() { return getLayout() == HeadLayout::BTHD ? 2 : 1; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def HLA_StepOp : HLA_Op<"step", [
    Pure, ParentOneOf<["FusedScanOp"]>,
    AllTypesMatch<["state", "next"]>]> {
  let summary = "One token of a scan";
  let description = [{
    With `S` the state before the token and `γ` the `decay`:

    ```
    S' = γ S + k vᵀ        y = S'ᵀ q (inclusive) or Sᵀ q (exclusive)
    ```

    Constraints:

    - (C1) `query` and `key` have `d` elements, `value` and the row of the result
      `dv`, for a state of `d×dv`;
    - (C2) `decay` is in (0, 1].

    Example:

    ```mlir
    %S1, %u = hla.step exclusive decay(0.5) ins(%q, %k, %v : vector<64xbf16>, vector<64xbf16>, vector<32xbf16>)
                       state(%S : vector<64x32xf32>) -> vector<32xf32>
    ```
  }];
  let arguments = (ins
      UnitAttr:$exclusive, DefaultValuedAttr<F64Attr, "1.0">:$decay,
      HLA_Row:$query, HLA_Row:$key, HLA_Row:$value, HLA_State:$state);
  let results = (outs HLA_State:$next, HLA_Row:$row);
  let assemblyFormat = [{
    (`exclusive` $exclusive^)? (`decay` `(` $decay^ `)`)? attr-dict
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    `state` `(` $state `:` type($state) `)` `->` type($row)
  }];
  let hasVerifier = 1;
}

def HLA_YieldOp : HLA_Op<"yield", [
    Pure, Terminator, ReturnLike, ParentOneOf<["FusedScanOp"]>]> {
  let summary = "Ends the body of a fused scan";
  let description = [{
    Yields the rows of the outputs, then the states after the token.

    Example: `hla.yield %y, %S1 : vector<32xbf16>, vector<64x32xf32>`
  }];
  let arguments = (ins Variadic<AnyVectorOfNonZeroRank>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // HLA_DIALECT_HLA_IR_HLAOPS_TD
