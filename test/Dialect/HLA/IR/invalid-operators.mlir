// One case for each constraint of operations on tensors; what a fused scan and
// its body must be is in invalid-fused-scan.mlir, attributes in
// invalid-attributes.mlir.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// second_order
//===----------------------------------------------------------------------===//

// second_order-C1
func.func @rank(%q: tensor<?x?x64xf32>, %v: tensor<?x?x?x64xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected query to have rank 4 (batch, token, head and feature), but got 'tensor<?x?x64xf32>'}}
  hla.second_order ins(%q, %v, %v : tensor<?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) outs(%v : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return
}

// -----

// second_order-C1
func.func @unranked(%q: tensor<?x?x?x64xf32>, %k: tensor<*xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected key to have rank 4 (batch, token, head and feature), but got 'tensor<*xf32>'}}
  hla.second_order ins(%q, %k, %q : tensor<?x?x?x64xf32>, tensor<*xf32>, tensor<?x?x?x64xf32>) outs(%q : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return
}

// -----

// second_order-C1
func.func @dynamic_head(%q: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x?xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected value to have a static, positive last dimension (kernels are compiled for a head dimension), but got 'tensor<?x?x?x?xf32>'}}
  hla.second_order ins(%q, %q, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x?xf32>) outs(%v : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  return
}

// -----

// second_order-C1
func.func @empty_head(%q: tensor<?x?x?x64xf32>, %o: tensor<?x?x?x0xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected output to have a static, positive last dimension (kernels are compiled for a head dimension), but got 'tensor<?x?x?x0xf32>'}}
  hla.second_order ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) outs(%o : tensor<?x?x?x0xf32>) -> tensor<?x?x?x0xf32>
  return
}

// -----

// second_order-C2
func.func @element_types(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @+1 {{'hla.second_order' op expected value to have the element type of query, 'bf16' (a kernel has one input type), but got 'tensor<?x?x?x64xf16>'}}
  hla.second_order ins(%q, %q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xf16>) outs(%v : tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16>
  return
}

// -----

// second_order-C3
func.func @key_head(%q: tensor<?x?x?x64xf32>, %k: tensor<?x?x?x32xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected key to have the shape of query, 'tensor<?x?x?x64xf32>' (scores are q·k), but got 'tensor<?x?x?x32xf32>'}}
  hla.second_order ins(%q, %k, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x64xf32>) outs(%q : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return
}

// -----

// second_order-C4
func.func @value_tokens(%q: tensor<2x7x?x64xf32>, %v: tensor<2x8x?x32xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected value to have the batch, token and head of query, 'tensor<2x7x?x64xf32>' (every token has one), but got 'tensor<2x8x?x32xf32>'}}
  hla.second_order ins(%q, %q, %v : tensor<2x7x?x64xf32>, tensor<2x7x?x64xf32>, tensor<2x8x?x32xf32>) outs(%v : tensor<2x8x?x32xf32>) -> tensor<2x8x?x32xf32>
  return
}

// -----

// second_order-C5
func.func @output_shape(%q: tensor<?x?x?x64xf32>, %v: tensor<?x?x?x32xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected output to have the shape of value, 'tensor<?x?x?x32xf32>' (the output is a sum of values), but got 'tensor<?x?x?x64xf32>'}}
  hla.second_order ins(%q, %q, %v : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x32xf32>) outs(%q : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return
}

// -----

// A result is its destination, updated.
func.func @result_type(%q: tensor<?x?x?x64xf32>) {
  // expected-error @+1 {{'hla.second_order' op expected type of operand #3 ('tensor<?x?x?x64xf32>') to match type of corresponding result ('tensor<2x?x?x64xf32>')}}
  hla.second_order ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) outs(%q : tensor<?x?x?x64xf32>) -> tensor<2x?x?x64xf32>
  return
}

// -----

func.func @integers(%q: tensor<?x?x?x64xi8>) {
  // expected-error @+1 {{'hla.second_order' op operand #0 must be tensor of bfloat16 type or 16-bit float or 32-bit float or 64-bit float values, but got 'tensor<?x?x?x64xi8>'}}
  hla.second_order ins(%q, %q, %q : tensor<?x?x?x64xi8>, tensor<?x?x?x64xi8>, tensor<?x?x?x64xi8>) outs(%q : tensor<?x?x?x64xi8>) -> tensor<?x?x?x64xi8>
  return
}

// -----

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

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
  // expected-error @+1 {{'hla.scan' op expected key to have the shape of query, 'tensor<?x?x?x64xf32>' (scores are q·k), but got 'tensor<?x?x?x65xf32>'}}
  hla.scan ins(%q, %k, %q : !S, tensor<?x?x?x65xf32>, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x2x64xf32>

// scan-C3
func.func @scan_value(%q: !S, %v: tensor<?x?x3x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected value to have the batch, token and head of query, 'tensor<?x?x2x64xf32>' (every token has one), but got 'tensor<?x?x3x64xf32>'}}
  hla.scan ins(%q, %q, %v : !S, !S, tensor<?x?x3x64xf32>) outs(%v : tensor<?x?x3x64xf32>) -> tensor<?x?x3x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xf32>

// scan-C4
func.func @scan_output(%q: !S, %e: tensor<?x?x?x32xf32>) {
  // expected-error @+1 {{'hla.scan' op expected output to have the shape of value, 'tensor<?x?x?x64xf32>' (the result is a sum of values), but got 'tensor<?x?x?x32xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : tensor<?x?x?x32xf32>) -> tensor<?x?x?x32xf32>
  return
}

// -----

!S = tensor<2x?x3x64xf32>
!V = tensor<2x?x3x32xf32>

// scan-C5: d×dv, not dv×d.
func.func @scan_carry(%q: !S, %v: !V, %s: tensor<2x3x32x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have the shape 'tensor<2x3x64x32xf32>' (one state a head), but got 'tensor<2x3x32x64xf32>'}}
  hla.scan ins(%q, %q, %v : !S, !S, !V) carry(%s : tensor<2x3x32x64xf32>) outs(%v : !V) -> !V
  return
}

// -----

!S = tensor<2x4x?x64xf32>

// scan-C5: the head is the second dimension of layout(bhtd).
func.func @scan_final(%q: !S, %f: tensor<2x5x64x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected the final state to have the shape 'tensor<2x4x64x64xf32>' (one state a head), but got 'tensor<2x5x64x64xf32>'}}
  hla.scan layout(bhtd) ins(%q, %q, %q : !S, !S, !S) outs(%q, %f : !S, tensor<2x5x64x64xf32>) -> !S, tensor<2x5x64x64xf32>
  return
}

// -----

!S = tensor<?x?x?x64xbf16>

// scan-C5: the dimensions of a state are static.
func.func @scan_dynamic_state(%q: !S, %s: tensor<?x?x?x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have the shape 'tensor<?x?x64x64xf32>' (one state a head), but got 'tensor<?x?x?x64xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) carry(%s : tensor<?x?x?x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf64>

// scan-C6
func.func @scan_state_type(%q: !S, %s: tensor<?x?x64x64xf32>) {
  // expected-error @+1 {{'hla.scan' op expected carry to have element type 'f64' (states are f64 where an operand is, else f32), but got 'tensor<?x?x64x64xf32>'}}
  hla.scan ins(%q, %q, %q : !S, !S, !S) carry(%s : tensor<?x?x64x64xf32>) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xbf16>

// scan-C6
func.func @scan_final_type(%q: !S, %s: tensor<?x?x64x64xbf16>) {
  // expected-error @+1 {{'hla.scan' op expected the final state to have element type 'f32' (states are f64 where an operand is, else f32), but got 'tensor<?x?x64x64xbf16>'}}
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
  "hla.scan"(%q, %q, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (!S, !S, !S) -> ()
  return
}
