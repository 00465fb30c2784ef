// One case for each constraint of operators on lengths and states.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

// operator-C8
func.func @lengths_batch(%q: tensor<2x?x?x64xf32>, %c: tensor<?xi32>) {
  // expected-error @+1 {{'hla.linear' op expected query to have a static batch of 1 (lengths cut the tokens of one batch), but got 'tensor<2x?x?x64xf32>'}}
  hla.linear ins(%q, %q, %q : tensor<2x?x?x64xf32>, tensor<2x?x?x64xf32>, tensor<2x?x?x64xf32>) lengths(%c : tensor<?xi32>) outs(%q : tensor<2x?x?x64xf32>) -> tensor<2x?x?x64xf32>
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C8: static, in every sequence.
func.func @lengths_dynamic_batch(%q: !S, %c: tensor<?xi32>, %e: tensor<?x?x?x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected output to have a static batch of 1 (lengths cut the tokens of one batch), but got 'tensor<?x?x?x64xf32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<?xi32>) outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C8
func.func @lengths_empty(%q: !S, %c: tensor<0xi32>) {
  // expected-error @+1 {{'hla.linear' op expected lengths to have at least one element (where the first sequence begins), but got 'tensor<0xi32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<0xi32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C8
func.func @lengths_type(%q: !S, %c: tensor<?xi64>) {
  // expected-error @+1 {{'hla.linear' op operand #3 must be lengths (a tensor<?xi32>), but got 'tensor<?xi64>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<?xi64>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C8
func.func @lengths_rank(%q: !S, %c: tensor<1x?xi32>) {
  // expected-error @+1 {{'hla.linear' op operand #3 must be lengths (a tensor<?xi32>), but got 'tensor<1x?xi32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<1x?xi32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C8
func.func @lengths_unranked(%q: !S, %c: tensor<*xi32>) {
  // expected-error @+1 {{'hla.linear' op operand #3 must be lengths (a tensor<?xi32>), but got 'tensor<*xi32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<*xi32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9
func.func @states_few(%q: !S, %s: !SS) {
  // expected-error @+1 {{'hla.second_order' op expected carry to be all 2 states (S, F) or none, but got 1}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) carry(%s : !SS) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9
func.func @states_many(%q: !S, %s: !SS) {
  // expected-error @+1 {{'hla.asymmetric' op expected the final state to be all 2 states (P, E) or none, but got 3}}
  hla.asymmetric ins(%q, %q, %q : !S, !S, !S) outs(%q, %s, %s, %s : !S, !SS, !SS, !SS) -> !S, !SS, !SS, !SS
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9: a normaliser's states are carried too.
func.func @states_of_normalizer(%q: !S, %s: !SS) {
  // expected-error @+1 {{'hla.third_order' op expected carry to be all 8 states (SK, SQ, P, A, R, m, a, r) or none, but got 5}}
  hla.third_order variant(paper) normalize(add, 1.0) ins(%q, %q, %q : !S, !S, !S) carry(%s, %s, %s, %s, %s : !SS, !SS, !SS, !SS, !SS) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9: the paper has other states with a decay.
func.func @states_of_decay(%q: !S, %s: !SS) {
  // expected-error @+1 {{'hla.third_order' op expected carry to be all 6 states (SK, SQ, P, G1, G2, G3) or none, but got 5}}
  hla.third_order variant(paper) decay(0.5) ins(%q, %q, %q : !S, !S, !S) carry(%s, %s, %s, %s, %s : !SS, !SS, !SS, !SS, !SS) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9: in their order.
func.func @states_order(%q: !S, %v: tensor<?x?x?x32xf32>, %s: !SS, %f: tensor<?x?x64x32xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected carry S to have the shape [B,H,64,64] (one state a batch and head), but got 'tensor<?x?x64x32xf32>'}}
  hla.second_order ins(%q, %q, %v : !S, !S, tensor<?x?x?x32xf32>) carry(%f, %s : tensor<?x?x64x32xf32>, !SS) outs(%v : tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9
func.func @states_shape(%q: !S, %s: !SS, %m: tensor<?x?x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected the final state m to have the shape [B,H,64,1] (one state a batch and head), but got 'tensor<?x?x64xf32>'}}
  hla.linear normalize(add, 1.0) ins(%q, %q, %q : !S, !S, !S) outs(%q, %s, %m : !S, !SS, tensor<?x?x64xf32>) -> !S, !SS, tensor<?x?x64xf32>
  return
}

// -----

// operator-C9
func.func @states_heads(%q: tensor<?x?x4x64xf32>, %s: tensor<?x5x64x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected carry P to be of 4 heads, as query is, 'tensor<?x?x4x64xf32>' (one loop walks all), but got 'tensor<?x5x64x64xf32>'}}
  hla.linear ins(%q, %q, %q : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) carry(%s : tensor<?x5x64x64xf32>) outs(%q : tensor<?x?x4x64xf32>) -> tensor<?x?x4x64xf32>
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C9: one a sequence.
func.func @states_sequences(%q: !S, %c: tensor<3xi32>, %s: tensor<3x?x64x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected lengths to be of 3 sequences, as carry P is, 'tensor<3x?x64x64xf32>' (one loop walks all), but got 'tensor<3xi32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<3xi32>) carry(%s : tensor<3x?x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

// operator-C9
func.func @states_type(%q: tensor<?x?x?x64xf64>, %s: tensor<?x?x64x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected carry P to have element type 'f64' (states are f64 where a sequence is, else f32), but got 'tensor<?x?x64x64xf32>'}}
  hla.linear ins(%q, %q, %q : tensor<?x?x?x64xf64>, tensor<?x?x?x64xf64>, tensor<?x?x?x64xf64>) carry(%s : tensor<?x?x64x64xf32>) outs(%q : tensor<?x?x?x64xf64>) -> tensor<?x?x?x64xf64>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9
func.func @states_half(%q: !S, %s: tensor<?x?x64x64xbf16>) {
  // expected-error @+1 {{'hla.linear' op operand #3 must be variadic of carry (a ranked tensor of f32 or f64), but got 'tensor<?x?x64x64xbf16>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) carry(%s : tensor<?x?x64x64xbf16>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9
func.func @no_outs(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected outs to begin with the destination of the output (final states come after it), but got none}}
  "hla.linear"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0>}> : (!S, !S, !S) -> ()
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9: a result is its destination, updated.
func.func @result_type(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected type of operand #3 ('tensor<?x?x?x64xf32>') to match type of corresponding result ('tensor<2x?x?x64xf32>')}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> tensor<2x?x?x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C9
func.func @results_few(%q: !S, %s: !SS) {
  // expected-error @+1 {{'hla.linear' op expected the number of tensor results (1) to be equal to the number of output tensors (2)}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) outs(%q, %s : !S, !SS) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// The generic form cannot leave out a key.
func.func @no_key(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected 1 key (a scan is of three sequences), but got 0}}
  %o = "hla.linear"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 1, 0, 2, 0, 0, 0, 0, 1>}> : (!S, !S, !S, !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// Nor have more than one.
func.func @queries(%q: !S) {
  // expected-error @+1 {{'hla.scan' op expected 1 query (a scan is of three sequences), but got 4}}
  %o = "hla.scan"(%q, %q, %q, %q) <{operandSegmentSizes = array<i32: 4, 0, 0, 0, 0, 0, 0, 0>}> : (!S, !S, !S, !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// operator-C8
func.func @slots_type(%q: !S, %n: tensor<?xi64>) {
  // expected-error @+1 {{'hla.linear' op operand #3 must be slots (a tensor<?xi32>), but got 'tensor<?xi64>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<?xi64>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// operator-C8
func.func @slots_of_nothing(%q: !S, %n: tensor<?xi32>) {
  // expected-error @+1 {{'hla.linear' op expected carry or final states where slots are given (these are their numbers), but got none}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<?xi32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<2x?x?x64xf32>

// operator-C8: one a batch.
func.func @slots_batches(%q: !S, %n: tensor<3xi32>, %s: tensor<9x?x64x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected slots to be of 2 batches, as query is, 'tensor<2x?x?x64xf32>' (one loop walks all), but got 'tensor<3xi32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<3xi32>) carry(%s : tensor<9x?x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<1x?x?x64xf32>

// operator-C8: one a sequence.
func.func @slots_sequences(%q: !S, %c: tensor<3xi32>, %n: tensor<3xi32>, %s: tensor<9x?x64x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected lengths to be of 3 sequences, as slots is, 'tensor<3xi32>' (one loop walks all), but got 'tensor<3xi32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<3xi32>) slots(%n : tensor<3xi32>) carry(%s : tensor<9x?x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<2x?x?x64xf32>

// operator-C9: carries and final states have the same slots.
func.func @slots_states(%q: !S, %n: tensor<2xi32>, %s: tensor<9x?x64x64xf32>, %f: tensor<8x?x64x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected the final state P to be of 9 slots, as carry P is, 'tensor<9x?x64x64xf32>' (one loop walks all), but got 'tensor<8x?x64x64xf32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<2xi32>) carry(%s : tensor<9x?x64x64xf32>) outs(%q, %f : !S, tensor<8x?x64x64xf32>) -> !S, tensor<8x?x64x64xf32>
  return
}

// -----

!S = tensor<2x?x?x64xf32>

// operator-C9
func.func @slots_shape(%q: !S, %n: tensor<2xi32>, %s: tensor<9x?x64x32xf32>) {
  // expected-error @+1 {{'hla.linear' op expected carry P to have the shape [S,H,64,64] (one state a slot and head), but got 'tensor<9x?x64x32xf32>'}}
  hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<2xi32>) carry(%s : tensor<9x?x64x32xf32>) outs(%q : !S) -> !S
  return
}
