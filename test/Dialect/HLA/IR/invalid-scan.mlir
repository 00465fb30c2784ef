// One case for each constraint of hla.scan.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x64xf32>

// scan-C1
func.func @scan_rank(%q: !S, %k: tensor<?x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected key to have rank 4 (batch, token, head and feature), but got 'tensor<?x64xf32>'}}
  hla.scan ins(%q, %k, %q : !S, tensor<?x64xf32>, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C2
func.func @scan_key(%q: !S, %k: tensor<?x?x?x65xf32>) {
  // expected-error @+1 {{'hla.scan' op expected key to have a last dimension of 64, as query has, 'tensor<?x?x?x64xf32>' (scores are q·k), but got 'tensor<?x?x?x65xf32>'}}
  hla.scan ins(%q, %k, %q : !S, tensor<?x?x?x65xf32>, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x2x64xf32>

// scan-C3
func.func @scan_value(%q: !S, %v: tensor<?x?x3x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected value to be of 2 heads, as query is, 'tensor<?x?x2x64xf32>' (one loop walks all), but got 'tensor<?x?x3x64xf32>'}}
  hla.scan ins(%q, %q, %v : !S, !S, tensor<?x?x3x64xf32>) outs(%v : tensor<?x?x3x64xf32>) -> tensor<?x?x3x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C4
func.func @scan_output(%q: !S, %e: tensor<?x?x?x32xf32>) {
  // expected-error @+1 {{'hla.scan' op expected output to have a last dimension of 64, as value has, 'tensor<?x?x?x64xf32>' (the result is a sum of values), but got 'tensor<?x?x?x32xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32>
  return
}

// -----

!S = tensor<2x?x3x64xf32>
!V = tensor<2x?x3x32xf32>

// scan-C5: d×dv, not dv×d.
func.func @scan_carry(%q: !S, %v: !V, %s: tensor<2x3x32x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have the shape [B,H,64,32] (one state a batch and head), but got 'tensor<2x3x32x64xf32>'}}
  hla.scan ins(%q, %q, %v : !S, !S, !V) carry(%s : tensor<2x3x32x64xf32>) outs(%v : !V) -> !V
  return
}

// -----

!S = tensor<2x4x?x64xf32>

// scan-C5: the head is the second dimension of layout(bhtd).
func.func @scan_final(%q: !S, %f: tensor<2x5x64x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected the final state to be of 4 heads, as query is, 'tensor<2x4x?x64xf32>' (one loop walks all), but got 'tensor<2x5x64x64xf32>'}}
  hla.scan layout(bhtd) ins(%q, %q, %q : !S, !S, !S) outs(%q, %f : !S, tensor<2x5x64x64xf32>) -> !S, tensor<2x5x64x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xbf16>

// scan-C5: the dimensions of a state are static.
func.func @scan_dynamic_state(%q: !S, %s: tensor<?x?x?x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have the shape [B,H,64,64] (one state a batch and head), but got 'tensor<?x?x?x64xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) carry(%s : tensor<?x?x?x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf64>

// scan-C6
func.func @scan_state_type(%q: !S, %s: tensor<?x?x64x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have element type 'f64' (states are f64 where a sequence is, else f32), but got 'tensor<?x?x64x64xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) carry(%s : tensor<?x?x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xbf16>

// scan-C6
func.func @scan_final_type(%q: !S, %s: tensor<?x?x64x64xbf16>) {
  // expected-error @+1 {{'hla.scan' op expected the final state to have element type 'f32' (states are f64 where a sequence is, else f32), but got 'tensor<?x?x64x64xbf16>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%q, %s : !S, tensor<?x?x64x64xbf16>) -> !S, tensor<?x?x64x64xbf16>
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C7
func.func @scan_decay_zero(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got 0}}
  hla.scan decay(0.0) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C7
func.func @scan_decay_above(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got 1.5}}
  hla.scan decay(1.5) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C7: not a number is no decay.
func.func @scan_decay_nan(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got}}
  hla.scan decay(0x7FF8000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!State = tensor<?x?x64x64xf32>

// scan-C8
func.func @scan_outs(%q: !S, %s: !State) {
  // expected-error @+1 {{'hla.scan' op expected outs to have one or two operands (the result, and the final state), but got 3}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%q, %s, %s : !S, !State, !State) -> !S, !State, !State
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C8
func.func @scan_no_outs(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected outs to have one or two operands (the result, and the final state), but got 0}}
  "hla.scan"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>}> : (!S, !S, !S) -> ()
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C7
func.func @scan_two_decays(%q: !S, %g: tensor<?xf32>) {
  // expected-error @+1 {{'hla.scan' op expected decay to be 1 where log_decay is given (one of them decays), but got 5.000000e-01}}
  hla.scan decay(0.5) ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x3x64xf32>

// scan-C9
func.func @scan_log_decay_heads(%q: !S, %g: tensor<?x?x4xf64>) {
  // expected-error @+1 {{'hla.scan' op expected log_decay to be of 3 heads, as query is, 'tensor<?x?x3x64xf32>' (one loop walks all), but got 'tensor<?x?x4xf64>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?x?x4xf64>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C9
func.func @scan_log_decay_rank(%q: !S, %g: tensor<f32>) {
  // expected-error @+1 {{'hla.scan' op expected log_decay to have rank 3 (batch, token and head) or 1 (head), but got 'tensor<f32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<f32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C10
func.func @scan_lengths(%q: !S, %c: tensor<?xi32>) {
  // expected-error @+1 {{'hla.scan' op expected query to have a static batch of 1 (lengths cut the tokens of one batch), but got 'tensor<?x?x?x64xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<?xi32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// scan-C5: one state a sequence.
func.func @scan_sequences(%q: !S, %c: tensor<2xi32>, %s: tensor<2x?x64x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected lengths to be of 2 sequences, as carry is, 'tensor<2x?x64x64xf32>' (one loop walks all), but got 'tensor<2xi32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<2xi32>) carry(%s : tensor<2x?x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// scan-C5
func.func @scan_state_of_sequence(%q: !S, %c: tensor<?xi32>, %s: tensor<2x64x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have the shape [N,H,64,64] (one state a sequence and head), but got 'tensor<2x64x64xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<?xi32>) carry(%s : tensor<2x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C11
func.func @scan_groups(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected groups to have 3 numbers (of query, key and value), but got 2}}
  hla.scan groups([1, 2]) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C11
func.func @scan_groups_negative(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected groups to be positive (so many heads read one), but got -2}}
  hla.scan groups([1, 2, -2]) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}
