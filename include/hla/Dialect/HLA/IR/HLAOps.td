//===- HLAOps.td - operations of the hla dialect -----------*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLAOPS_TD
#define HLA_DIALECT_HLA_IR_HLAOPS_TD

include "hla/Dialect/HLA/IR/HLABase.td"
include "hla/Dialect/HLA/IR/HLAOperators.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

//===----------------------------------------------------------------------===//
// The primitive
//===----------------------------------------------------------------------===//

def HLA_ScanOp : HLA_StructuredOp<"scan"> {
  let summary = "First-order causal scan with a carried state";
  let description = [{
    For every head, from the first token to the last (`reverse`: from the last to
    the first), with `S` the state before the token:

    ```
    inclusive (the default)   S' = γ_t S + k_t v_tᵀ      y_t = S'ᵀ q_t
    exclusive                 y_t = Sᵀ q_t               S' = γ_t S + k_t v_tᵀ
    ```

    `S` begins as `carry`, zero without one. Two results: `y`, and, where `outs`
    has a second operand, the state after the last token walked. `γ_t` is `decay`,
    in (0, 1], or `exp(log_decay_t)`, in [0, 1]. A sequence without tokens yields
    the carry as its final state, so that the scan of a concatenation is the scan
    of its second part carried on from the first.

    `groups([gq, gk, gv])`: `query` has `H/gq` heads, `key` `H/gk` and `value` `H/gv`,
    each read by that many heads in a row; 1 without. `lengths`: cumulative
    lengths of sequences along `T`, and `slots`: the numbers of states, as in the
    operators.

    | operand | shape, layout(bthd) |
    |---|---|
    | `query`, `key` | `[B,T,H,d]` |
    | `value`, first of `outs` | `[B,T,H,dv]` |
    | `log_decay` | `[B,T,H]` (`[B,H,T]` in layout(bhtd)), or `[H]` |
    | `lengths` | `[N+1]` |
    | `slots` | `[B]` (`[N]` with `lengths`) |
    | `carry`, second of `outs` | `[B,H,d,dv]` (`[N,H,d,dv]` with `lengths`, `[S,H,d,dv]` with `slots`), `f32` (`f64` where a sequence is `f64`) |

    Element types of `query`, `key`, `value` and the result may differ: a scan
    takes what another has produced.

    Constraints:

    - (C1) sequences have rank 4, and static, positive `d` and `dv`;
    - (C2) `key` has the `B`, `T` and `d` of `query`, and, times its group, its heads;
    - (C3) `value` has the `B`, `T` and, times its group, the heads of `query`;
    - (C4) the first of `outs` has the `B` and `T` of `query`, `H` heads, and the `dv`
      of `value`;
    - (C5) `carry` and the final state are `[B,H,d,dv]`, `[N,H,d,dv]` or
      `[S,H,d,dv]`;
    - (C6) `carry` and the final state have element type `f64` where a sequence
      has it, else `f32`;
    - (C7) `decay` is in (0, 1], and 1 where `log_decay` is given;
    - (C8) `outs` has one or two operands;
    - (C9) `log_decay` has the shape above;
    - (C10) with `lengths`, every sequence has a static `B` of 1; `slots` are one a
      batch or sequence;
    - (C11) `groups` are three positive numbers.

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
      OptionalAttr<DenseI64ArrayAttr>:$groups,
      HLA_Sequence<"query">:$query, HLA_Sequence<"key">:$key,
      HLA_Sequence<"value">:$value,
      Optional<HLA_LogDecay>:$log_decay, Optional<HLA_Lengths>:$lengths,
      Optional<HLA_Slots>:$slots,
      Optional<HLA_States<"carry">>:$carry,
      Variadic<HLA_Output>:$outputs);
  let results = (outs Variadic<HLA_Output>:$results);
  let assemblyFormat = [{
    (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    (`decay` `(` $decay^ `)`)? (`layout` `(` custom<Enum>($layout)^ `)`)?
    (`groups` `(` $groups^ `)`)? attr-dict
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    (`log_decay` `(` $log_decay^ `:` type($log_decay) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slots` `(` $slots^ `:` type($slots) `)`)?
    (`carry` `(` $carry^ `:` type($carry) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` `->` type($results)
  }];
  let builders = [
    OpBuilder<(ins "HeadLayout":$layout, "Value":$query, "Value":$key,
                   "Value":$value, "Value":$output)>
  ];
  let extraClassDeclaration = structuredDeclaration # [{
    /// Where the final state goes, or null.
    Value getFinalInit() { return getOutputs().size() > 1 ? getOutputs()[1] : Value(); }
    /// The final state, or null.
    Value getFinal() { return getResults().size() > 1 ? getResults()[1] : Value(); }
    /// The state of one head: `vector<d x dv x f32>`, or f64.
    VectorType getStateType();
    /// The number of heads that read one of sequence `i`: 0 query, 1 key, 2 value.
    int64_t getGroup(unsigned i) { return getGroups() ? (*getGroups())[i] : 1; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Fused scans
//===----------------------------------------------------------------------===//

def HLA_FusedScanOp : HLA_StructuredOp<"fused_scan", [
    IsolatedFromAbove, SingleBlock]> {
  let summary = "Scans that walk the same tokens in one loop";
  let description = [{
    A loop over the tokens of every head, with the states of several scans
    carried from token to token. The region is the body for one token: its
    arguments are the rows of the `inputs` and the states before the token; it
    yields the rows of the outputs and the states after the token. Everything
    between is explicit: which step reads what, and what never leaves the loop.
    A body is what a decode kernel executes once, and what
    `convert-hla-to-tile` executes on `chunk` tokens at a time.

    - `inputs`: sequences, `[B,T,H,D]` in the layout given, whose rows are
      `vector<DxT>`; numbers of tokens, `[B,T,H]` (`[B,H,T]`), or of heads, `[H]`,
      the same for all tokens, whose rows are `vector<1xT>`;
    - `lengths`: cumulative lengths of sequences along `T`, as in `hla.scan`;
    - `slots`: the numbers of carries and final states, as in `hla.scan`;
    - `segments`: tokens of a segment, `L`; see below;
    - `carries`: initial states, `[B,H,d,dv]`, one for every true entry of
      `carry_in`, in order; a state without one begins as zero;
    - `outputs`: destinations: first the sequences, or numbers of tokens, that
      the body yields, then final states, one for every true entry of
      `carry_out`, in order.

    `carry_in` and `carry_out` have one entry a state. `reverse` walks from the
    last token to the first. `groups` has one number for every input: its head
    is read by so many heads of the loop in a row; all are 1 without it. Operands
    are tensors, or memrefs after bufferization. `schedule` says how the loop is
    executed; it has no meaning for the values. A loop may have no state: then
    its body maps rows to rows.

    With `segments(L)` the `T` tokens are cut into `N = max(⌈T/L⌉, 1)` segments of `L`
    tokens, the last of what is left, which may be walked at once. They are
    numbered as they are walked: 0 is the first, in `reverse` that of the last
    tokens. A carry is the initial state of segment 0, and what a final state is of
    is segment N-1. The others begin with

    - `entries`: initial states of the segments 1 to N-1, `[N-1,B,H,d,dv]`, one for
      every true entry of `entry_in`, in order; without one, with zero.

    A `summary` finds what entries are made of (`hla.combine_segments`): it walks
    the segments 0 to N-2 alone, and its final states are those of each,
    `[N-1,B,H,d,dv]`. Rows of other tokens stay as they are.

    Where the schedule has `groups`, `L` must be a multiple of the chunk: a copy brings
    whole chunks, as far as there are tokens.

    The body consists of `hla.step`, `hla.row_sum`, `vector.broadcast` of a
    `vector<1xT>`, and elementwise `arith` and `math` operations on rows, with
    splat constants.

    Constraints:

    - (C1) sequences have rank 4, and a static, positive last dimension; other
      inputs and outputs have rank 3, and inputs also rank 1;
    - (C2) all have the same `B`, `T` and, times their group, heads; with
      `lengths`, every one has a static `B` of 1;
    - (C3) the body's arguments are the inputs' rows, then the states;
    - (C4) `carry_in` and `carry_out` have one entry a state, and as many true
      ones as there are `carries` and final states;
    - (C5) a carry and a final state are `[B,H]` (`[N,H]` with `lengths`, `[S,H]`
      with `slots`) followed by its state's shape, of its element type; `slots` are
      one a batch or sequence;
    - (C6) the body yields the outputs' rows, then the states;
    - (C7) `outputs` are all tensors or all memrefs; results are as many as
      tensors, of the same types;
    - (C8) `groups` has one positive number for every input;
    - (C9) the first input has rank 3 or 4: its tokens are walked;
    - (C10) there are `segments` where there are entries or a `summary`, and no
      `lengths` then;
    - (C11) `entry_in`, where it is given, has one entry a state, and as many true
      ones as there are `entries`;
    - (C12) an entry, and a final state of a `summary`, is `[N-1,B,H]` followed by its
      state's shape, of its element type.

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

    The sum of `k kᵀ` of each segment but the last:

    ```mlir
    %sums = hla.fused_scan ins(%k : tensor<?x?x?x64xbf16>) segments(%l) summary
        outs(%e : tensor<?x?x?x64x64xf32>) carry_in [false] carry_out [true] {
    ^bb0(%kt: vector<64xbf16>, %S: vector<64x64xf32>):
      %S1, %u = hla.step ins(%kt, %kt, %kt : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xf32>
      hla.yield %S1 : vector<64x64xf32>
    } -> tensor<?x?x?x64x64xf32>
    ```
  }];
  let arguments = (ins
      UnitAttr:$reverse,
      DefaultValuedAttr<HLA_HeadLayoutAttr, "HeadLayout::BTHD">:$layout,
      OptionalAttr<DenseI64ArrayAttr>:$groups, UnitAttr:$summary,
      DenseBoolArrayAttr:$carry_in, DenseBoolArrayAttr:$carry_out,
      OptionalAttr<DenseBoolArrayAttr>:$entry_in,
      OptionalAttr<HLA_ScheduleAttr>:$schedule,
      Variadic<HLA_Shaped>:$inputs, Optional<HLA_ShapedLengths>:$lengths,
      Optional<HLA_ShapedSlots>:$slots,
      Optional<Index>:$segment_length, Variadic<HLA_Shaped>:$carries,
      Variadic<HLA_Shaped>:$entries, Variadic<HLA_Shaped>:$outputs);
  let results = (outs Variadic<HLA_Output>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`reverse` $reverse^)? (`layout` `(` custom<Enum>($layout)^ `)`)?
    (`groups` `(` $groups^ `)`)? (`schedule` `(` $schedule^ `)`)?
    `ins` `(` $inputs `:` type($inputs) `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`slots` `(` $slots^ `:` type($slots) `)`)?
    (`segments` `(` $segment_length^ `)`)? (`summary` $summary^)?
    (`carries` `(` $carries^ `:` type($carries) `)`)?
    (`entries` `(` $entries^ `:` type($entries) `)`)?
    (`outs` `(` $outputs^ `:` type($outputs) `)`)?
    `carry_in` $carry_in `carry_out` $carry_out (`entry_in` $entry_in^)?
    attr-dict-with-keyword $body (`->` type($results)^)?
  }];
  let builders = [
    /// A loop without segments.
    OpBuilder<(ins "TypeRange":$results, "bool":$reverse, "HeadLayout":$layout,
                   "DenseI64ArrayAttr":$groups, "ArrayRef<bool>":$carryIn,
                   "ArrayRef<bool>":$carryOut, "ScheduleAttr":$schedule,
                   "ValueRange":$inputs, "Value":$lengths,
                   "Value":$slots, "ValueRange":$carries, "ValueRange":$outputs), [{
      build($_builder, $_state, results, reverse, layout, groups,
            /*summary=*/false, carryIn, carryOut,
            /*entry_in=*/DenseBoolArrayAttr(), schedule, inputs, lengths, slots,
            /*segment_length=*/Value(), carries, /*entries=*/ValueRange(),
            outputs);
    }]>
  ];
  let extraClassDeclaration = structuredDeclaration # [{
    unsigned getNumStates() { return getCarryIn().size(); }
    /// Whether types say that there are tokens, and no more than one chunk has:
    /// then each state is on chip from its first step to its last alone.
    bool isOneChunk(int64_t chunk);
    /// The initial value of a state, or null for zeros.
    Value getCarry(unsigned state);
    /// That of the segments after the first, or null.
    Value getEntry(unsigned state);
    bool hasEntry(unsigned state) {
      return getEntryIn() && (*getEntryIn())[state];
    }
    /// The body's arguments that are states.
    Block::BlockArgListType getStateArguments();
    /// The outputs that are sequences, and those that are final states.
    OperandRange getSequenceOutputs();
    OperandRange getFinalOutputs();
    /// The number of heads of the loop that read one of input `i`.
    int64_t getGroup(unsigned i) { return getGroups() ? (*getGroups())[i] : 1; }
    /// The row that a body has of an input or output of a type.
    static VectorType getRowType(Type sequence);
    /// The dimension of a sequence that `B`, `T`, `H` are.
    static unsigned getBatchDim() { return 0; }
    unsigned getTokenDim() { return getLayout() == HeadLayout::BTHD ? 1 : 2; }
    unsigned getHeadDim() { return getLayout() == HeadLayout::BTHD ? 2 : 1; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def HLA_CombineSegmentsOp : HLA_StructuredOp<"combine_segments"> {
  let summary = "States of segments as the states of all up to them";
  let description = [{
    Of each head's states `X_j`, `j = 0 … M-1`, that segments `j` of a loop leave when
    they begin with zero (the first: with the loop's carry), makes what they leave
    when each begins with what the one before it leaves:

    ```
    X'_0 = X_0        X'_j = ρ_j X'_{j-1} + X_j
    ```

    which are the entries of the segments `j + 1`. `ρ_j` is what segment `j` decays:
    `decay^L`, with `L = segments` the tokens of a segment; `exp(L · log_decay)` for a
    number a head; or `exp(log_decay_j)`, for one a segment. Sums are taken in
    order, so that they are the same in every run.

    | operand | shape |
    |---|---|
    | `outs` | `[M,B,H,d,dv]`, read and overwritten |
    | `log_decay` | `[H]`, or `[M,B,H]` |

    Operands are tensors, or memrefs after bufferization.

    Constraints:

    - (C1) `outs` has rank 5, static `d` and `dv`, and element type `f32` or `f64`;
    - (C2) `log_decay` has rank 1 or 3, and the shape above;
    - (C3) `decay` is in (0, 1], and 1 where `log_decay` is given;
    - (C4) the result is of the type of `outs` where that is a tensor.

    Example:

    ```mlir
    %entries = hla.combine_segments decay(0.99) segments(%l) outs(%sums : tensor<?x?x?x64x64xf32>) -> tensor<?x?x?x64x64xf32>
    ```
  }];
  let arguments = (ins
      DefaultValuedAttr<F64Attr, "1.0">:$decay, Index:$segment_length,
      Optional<HLA_Shaped>:$log_decay, Variadic<HLA_Shaped>:$outputs);
  let results = (outs Variadic<HLA_Output>:$results);
  let assemblyFormat = [{
    (`decay` `(` $decay^ `)`)? attr-dict `segments` `(` $segment_length `)`
    (`log_decay` `(` $log_decay^ `:` type($log_decay) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)` (`->` type($results)^)?
  }];
  let extraClassDeclaration = structuredDeclaration # [{
    Value getStates() { return getOutputs().front(); }
  }];
  let hasVerifier = 1;
}

def HLA_SumSegmentsOp : HLA_DestinationOp<"sum_segments"> {
  let summary = "Sums of one number a token over each segment";
  let description = [{
    `y_j = Σ_t x_t` over the tokens of segment `j`, for the segments that a `summary`
    walks (`hla.fused_scan`), numbered as there. What a log-decay adds up to is the
    logarithm of what the segment decays.

    | operand | shape, layout(bthd) |
    |---|---|
    | `numbers` | `[B,T,H]` (`[B,H,T]` in layout(bhtd)) |
    | `outs` | `[N-1,B,H]` |

    Operands are tensors, or memrefs after bufferization.

    Constraints:

    - (C1) `numbers` and `outs` have rank 3, and one element type, `f32` or `f64`;
    - (C2) the result is of the type of `outs` where that is a tensor.

    Example:

    ```mlir
    %sums = hla.sum_segments ins(%g : tensor<?x?x?xf32>) segments(%l) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
    ```
  }];
  let arguments = (ins
      UnitAttr:$reverse,
      DefaultValuedAttr<HLA_HeadLayoutAttr, "HeadLayout::BTHD">:$layout,
      HLA_Shaped:$numbers, Index:$segment_length,
      Variadic<HLA_Shaped>:$outputs);
  let results = (outs Variadic<HLA_Output>:$results);
  let assemblyFormat = [{
    (`reverse` $reverse^)? (`layout` `(` custom<Enum>($layout)^ `)`)? attr-dict
    `ins` `(` $numbers `:` type($numbers) `)` `segments` `(` $segment_length `)`
    `outs` `(` $outputs `:` type($outputs) `)` (`->` type($results)^)?
  }];
  let extraClassDeclaration = structuredDeclaration # [{
    Value getSums() { return getOutputs().front(); }
  }];
  let hasVerifier = 1;
}

def HLA_StepOp : HLA_Op<"step", [
    Pure, ParentOneOf<["FusedScanOp"]>,
    AllTypesMatch<["state", "next"]>]> {
  let summary = "One token of a scan";
  let description = [{
    With `S` the state before the token and `γ` the `decay`, or `exp(log_decay)`:

    ```
    S' = γ S + k vᵀ        y = S'ᵀ q (inclusive) or Sᵀ q (exclusive)
    ```

    Steps that differ in their query alone may read one state; the `next` of all
    but one has no use then.

    Constraints:

    - (C1) `query` and `key` have `d` elements, `value` and the row of the result
      `dv`, for a state of `d×dv`;
    - (C2) `decay` is in (0, 1], and 1 where `log_decay` is given.

    Example:

    ```mlir
    %S1, %u = hla.step exclusive decay(0.5) ins(%q, %k, %v : vector<64xbf16>, vector<64xbf16>, vector<32xbf16>)
                       state(%S : vector<64x32xf32>) -> vector<32xf32>
    %S2, %y = hla.step ins(%q, %k, %v : vector<64xbf16>, vector<64xbf16>, vector<32xbf16>) log_decay(%g : vector<1xf32>)
                       state(%S : vector<64x32xf32>) -> vector<32xf32>
    ```
  }];
  let arguments = (ins
      UnitAttr:$exclusive, DefaultValuedAttr<F64Attr, "1.0">:$decay,
      HLA_Row<"query">:$query, HLA_Row<"key">:$key, HLA_Row<"value">:$value,
      Optional<HLA_Scalar<"log_decay">>:$log_decay, HLA_State:$state);
  let results = (outs HLA_State:$next, HLA_Row<"row">:$row);
  let assemblyFormat = [{
    (`exclusive` $exclusive^)? (`decay` `(` $decay^ `)`)? attr-dict
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    (`log_decay` `(` $log_decay^ `:` type($log_decay) `)`)?
    `state` `(` $state `:` type($state) `)` `->` type($row)
  }];
  let hasVerifier = 1;
}

def HLA_RowSumOp : HLA_Op<"row_sum", [Pure, ParentOneOf<["FusedScanOp"]>]> {
  let summary = "The sum of a row";
  let description = [{
    `y = Σ_i x_i`, summed in the element type of the result.

    Constraints: (C1) the result is not narrower than the row.

    Example: `%s = hla.row_sum %x : vector<64xf32> -> vector<1xf32>`
  }];
  let arguments = (ins HLA_Row<"row">:$row);
  let results = (outs HLA_Scalar<"sum">:$sum);
  let assemblyFormat = "$row attr-dict `:` type($row) `->` type($sum)";
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
