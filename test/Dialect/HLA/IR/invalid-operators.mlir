// What operators are given: one case for each constraint of sequences and decays.
// Lengths and states are in invalid-operator-states.mlir, options in
// invalid-operator-options.mlir, scans in invalid-scan.mlir, loops in invalid-fused-scan.mlir and invalid-step.mlir,
// attributes and syntax in invalid-attributes.mlir.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C1
func.func @rank(%q: !S, %k: tensor<?x?x64xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected query to have rank 4 (batch, token, head and feature), but got 'tensor<?x?x64xf32>'}}
  hla.second_order ins(%k, %q, %q : tensor<?x?x64xf32>, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C1
func.func @unranked(%q: !S, %k: tensor<*xf32>) {
  // expected-error @+1 {{'hla.second_order' op operand #1 must be key (a ranked tensor of bf16, f16, f32 or f64), but got 'tensor<*xf32>'}}
  hla.second_order ins(%q, %k, %q : !S, tensor<*xf32>, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C1
func.func @unranked_output(%q: !S, %k: tensor<*xf32>) {
  // expected-error @+1 {{'hla.second_order' op operand #3 must be variadic of sequence or states (a ranked tensor of bf16, f16, f32 or f64), but got 'tensor<*xf32>'}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%k : tensor<*xf32>) -> tensor<*xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C1
func.func @dynamic_head(%q: !S, %v: tensor<?x?x?x?xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected value to have a static, positive last dimension (kernels are compiled for a head dimension), but got 'tensor<?x?x?x?xf32>'}}
  hla.second_order ins(%q, %q, %v : !S, !S, tensor<?x?x?x?xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C1
func.func @empty_head(%q: !S, %o: tensor<?x?x?x0xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected output to have a static, positive last dimension (kernels are compiled for a head dimension), but got 'tensor<?x?x?x0xf32>'}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%o : tensor<?x?x?x0xf32>) -> tensor<?x?x?x0xf32>
  return
}

// -----

// operator-C1
func.func @integers(%q: tensor<?x?x?x64xi8>) {
  // expected-error @+1 {{'hla.second_order' op operand #0 must be query (a ranked tensor of bf16, f16, f32 or f64), but got 'tensor<?x?x?x64xi8>'}}
  hla.second_order ins(%q, %q, %q : tensor<?x?x?x64xi8>, tensor<?x?x?x64xi8>, tensor<?x?x?x64xi8>) outs(%q : tensor<?x?x?x64xi8>) -> tensor<?x?x?x64xi8>
  return
}

// -----

// operator-C2
func.func @element_type_of_key(%q: tensor<?x?x?x64xf64>, %k: tensor<?x?x?x64xf32>) {
  // expected-error @+1 {{'hla.linear' op expected key to have the element type of query, 'f64' (a kernel has one input type), but got 'tensor<?x?x?x64xf32>'}}
  hla.linear ins(%q, %k, %q : tensor<?x?x?x64xf64>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf64>) outs(%q : tensor<?x?x?x64xf64>) -> tensor<?x?x?x64xf64>
  return
}

// -----

// operator-C2
func.func @element_type_of_value(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @+1 {{'hla.second_order' op expected value to have the element type of query, 'bf16' (a kernel has one input type), but got 'tensor<?x?x?x64xf16>'}}
  hla.second_order ins(%q, %q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xf16>) outs(%v : tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C3
func.func @key_width(%q: !S, %k: tensor<?x?x?x32xf32>) {
  // expected-error @+1 {{'hla.asymmetric' op expected key to have a last dimension of 64, as query has, 'tensor<?x?x?x64xf32>' (scores are q·k), but got 'tensor<?x?x?x32xf32>'}}
  hla.asymmetric ins(%q, %k, %q : !S, tensor<?x?x?x32xf32>, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C3: heads are compared times their group.
func.func @key_heads(%q: tensor<?x?x3x64xf32>, %k: tensor<?x?x4x64xf32>, %e: !S) {
  // expected-error @+1 {{'hla.linear' op expected key in groups of 2 to be of 9 heads, as query in groups of 3 is, 'tensor<?x?x3x64xf32>' (one loop walks all), but got 'tensor<?x?x4x64xf32>'}}
  hla.linear groups([3, 2]) ins(%q, %k, %k : tensor<?x?x3x64xf32>, tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>) outs(%e : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C3: and their product is a number.
func.func @many_heads(%q: tensor<?x?x3x64xf32>, %e: !S) {
  // expected-error @+1 {{'hla.linear' op expected query to have at most 1 heads in groups of 9223372036854775807 (heads are counted in 64 bits), but got 'tensor<?x?x3x64xf32>'}}
  hla.linear groups([9223372036854775807, 1]) ins(%q, %e, %e : tensor<?x?x3x64xf32>, !S, !S) outs(%e : !S) -> !S
  return
}

// -----

// operator-C4
func.func @value_tokens(%q: tensor<2x7x?x64xf32>, %v: tensor<2x8x?x32xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected value to be of 7 tokens, as query is, 'tensor<2x7x?x64xf32>' (one loop walks all), but got 'tensor<2x8x?x32xf32>'}}
  hla.second_order ins(%q, %q, %v : tensor<2x7x?x64xf32>, tensor<2x7x?x64xf32>, tensor<2x8x?x32xf32>) outs(%v : tensor<2x8x?x32xf32>) -> tensor<2x8x?x32xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C4
func.func @value_batches(%q: !S, %v: tensor<2x8x?x32xf32>, %e: tensor<3x?x?x32xf32>) {
  // expected-error @+1 {{'hla.third_order' op expected output to be of 2 batches, as value is, 'tensor<2x8x?x32xf32>' (one loop walks all), but got 'tensor<3x?x?x32xf32>'}}
  hla.third_order ins(%q, %q, %v : !S, !S, tensor<2x8x?x32xf32>) outs(%e : tensor<3x?x?x32xf32>) -> tensor<3x?x?x32xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C5
func.func @output_width(%q: !S, %v: tensor<?x?x?x32xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected output to have a last dimension of 32, as value has, 'tensor<?x?x?x32xf32>' (the output is a sum of values), but got 'tensor<?x?x?x64xf32>'}}
  hla.second_order ins(%q, %q, %v : !S, !S, tensor<?x?x?x32xf32>) outs(%q : !S) -> !S
  return
}

// -----

// operator-C5: the heads of layout(bhtd) are the second dimension.
func.func @output_heads(%q: tensor<1x4x8x64xf32>, %o: tensor<1x8x8x64xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected output to be of 4 heads, as query is, 'tensor<1x4x8x64xf32>' (one loop walks all), but got 'tensor<1x8x8x64xf32>'}}
  hla.second_order layout(bhtd) ins(%q, %q, %q : tensor<1x4x8x64xf32>, tensor<1x4x8x64xf32>, tensor<1x4x8x64xf32>) outs(%o : tensor<1x8x8x64xf32>) -> tensor<1x8x8x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C6
func.func @decay_zero(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got 0.000000e+00}}
  hla.linear decay(0.0) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C6
func.func @decay_above(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got 1.500000e+00}}
  hla.second_order decay(1.5) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C6
func.func @decay_negative(%q: !S) {
  // expected-error @+1 {{'hla.asymmetric' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got -5.000000e-01}}
  hla.asymmetric decay(-0.5) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C6
func.func @decay_nan(%q: !S) {
  // expected-error @+1 {{'hla.third_order' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got nan}}
  hla.third_order decay(0x7FF8000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C6
func.func @decay_infinite(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got INF}}
  hla.linear decay(0x7FF0000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C6
func.func @two_decays(%q: !S, %g: tensor<?xf32>) {
  // expected-error @+1 {{'hla.linear' op expected decay to be 1 where log_decay is given (one of them decays), but got 5.000000e-01}}
  hla.linear decay(0.5) ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C7
func.func @log_decay_rank(%q: !S, %g: tensor<?x?xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected log_decay to have rank 3 (batch, token and head) or 1 (head), but got 'tensor<?x?xf32>'}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?x?xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C7: it is not a sequence.
func.func @log_decay_sequence(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected log_decay to have rank 3 (batch, token and head) or 1 (head), but got 'tensor<?x?x?x64xf32>'}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) log_decay(%q : !S) outs(%q : !S) -> !S
  return
}

// -----

// operator-C7: heads are those of the output, not of a grouped key.
func.func @log_decay_heads(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{'hla.linear' op expected log_decay to be of 8 heads, as query is, 'tensor<?x?x8x64xf32>' (one loop walks all), but got 'tensor<2xf32>'}}
  hla.linear groups([1, 4]) ins(%q, %k, %k : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>) log_decay(%g : tensor<2xf32>) outs(%q : tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32>
  return
}

// -----

// operator-C7: it has the layout of sequences.
func.func @log_decay_layout(%q: tensor<1x2x5x64xf32>, %g: tensor<1x5x2xf32>) {
  // expected-error @+1 {{'hla.linear' op expected log_decay to be of 5 tokens, as query is, 'tensor<1x2x5x64xf32>' (one loop walks all), but got 'tensor<1x5x2xf32>'}}
  hla.linear layout(bhtd) ins(%q, %q, %q : tensor<1x2x5x64xf32>, tensor<1x2x5x64xf32>, tensor<1x2x5x64xf32>) log_decay(%g : tensor<1x5x2xf32>) outs(%q : tensor<1x2x5x64xf32>) -> tensor<1x2x5x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C7
func.func @log_decay_type(%q: !S, %g: tensor<?x?x?xf16>) {
  // expected-error @+1 {{'hla.second_order' op operand #3 must be log_decay (a ranked tensor of f32 or f64), but got 'tensor<?x?x?xf16>'}}
  hla.second_order ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?x?x?xf16>) outs(%q : !S) -> !S
  return
}
