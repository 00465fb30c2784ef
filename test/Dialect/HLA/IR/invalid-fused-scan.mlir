// One case for each constraint of hla.fused_scan.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C1
func.func @rank(%q: tensor<?x8xf32>, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected input #0 to have rank 4 (batch, token, head and feature, or 3 or 1 for numbers of tokens or heads), but got 'tensor<?x8xf32>'}}
  %o = hla.fused_scan ins(%q : tensor<?x8xf32>) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C1
func.func @dynamic_head(%q: !S, %e: memref<?x?x?x?xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected output #0 to have a static, positive last dimension (kernels are compiled for a head dimension), but got 'memref<?x?x?x?xf32>'}}
  hla.fused_scan ins(%q : !S) outs(%e : memref<?x?x?x?xf32>) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C2
func.func @tokens(%q: tensor<?x7x?x8xf32>, %k: tensor<?x8x?x8xf32>, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected input #1 to be of 7 tokens, as input #0 is, 'tensor<?x7x?x8xf32>' (one loop walks all), but got 'tensor<?x8x?x8xf32>'}}
  %o = hla.fused_scan ins(%q, %k : tensor<?x7x?x8xf32>, tensor<?x8x?x8xf32>) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %b: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C2: extents agree with one another, not only with the first input's.
func.func @tokens_of_two(%q: !S, %k: tensor<?x7x?x8xf32>, %e: tensor<?x8x?x8xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected output #0 to be of 7 tokens, as input #1 is, 'tensor<?x7x?x8xf32>' (one loop walks all), but got 'tensor<?x8x?x8xf32>'}}
  %o = hla.fused_scan ins(%q, %k : !S, tensor<?x7x?x8xf32>) outs(%e : tensor<?x8x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %b: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> tensor<?x8x?x8xf32>
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C3
func.func @arguments(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected the body to have 2 arguments (rows of the inputs, then states), but got 3}}
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %b: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C3
func.func @row(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected argument #0 of the body to be 'vector<8xf32>' (a row of its input), but got 'vector<8xbf16>'}}
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<8xbf16>, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C3
func.func @state(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected argument #1 of the body to be a 2D vector of f32 or f64 (a state), but got 'vector<8x8xbf16>'}}
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: vector<8x8xbf16>):
    hla.yield %a, %S : !r, vector<8x8xbf16>
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C4
func.func @carry_out(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected carry_out to have 1 entries, as carry_in has (one a state), but got 2}}
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false, false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!St = tensor<?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C4
func.func @carries(%q: !S, %s: !St, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected 0 carries, as carry_in has true entries (one a state that begins with one), but got 1}}
  %o = hla.fused_scan ins(%q : !S) carries(%s : !St) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C4
func.func @finals(%q: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected at least 1 outs, as carry_out has true entries (one a final state), but got 0}}
  hla.fused_scan ins(%q : !S) carry_in [false] carry_out [true] {
  ^bb0(%a: !r, %S: !s):
    hla.yield %S : !s
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C9
func.func @inputs(%e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected the first input to be a sequence or numbers of tokens (these are walked), but got none}}
  %o = "hla.fused_scan"(%e) <{carry_in = array<i1: false>, carry_out = array<i1: false>, operandSegmentSizes = array<i32: 0, 0, 0, 0, 0, 0, 1>}> ({
  ^bb0(%S: !s):
    hla.yield %S : !s
  }) : (!S) -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C5
func.func @carry_shape(%q: !S, %s: tensor<?x?x8x4xf32>, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected the carry of state #0 to have the shape [B,H,8,8] (one state a batch and head), but got 'tensor<?x?x8x4xf32>'}}
  %o = hla.fused_scan ins(%q : !S) carries(%s : tensor<?x?x8x4xf32>) outs(%e : !S) carry_in [true] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C5
func.func @final_type(%q: !S, %e: !S, %f: tensor<?x?x8x8xf64>) {
  // expected-error @+1 {{'hla.fused_scan' op expected the final value of state #0 to have element type 'f32' (states are f64 where a sequence is, else f32), but got 'tensor<?x?x8x8xf64>'}}
  %o:2 = hla.fused_scan ins(%q : !S) outs(%e, %f : !S, tensor<?x?x8x8xf64>) carry_in [false] carry_out [true] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S, tensor<?x?x8x8xf64>
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C6
func.func @yield(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    // expected-error @+1 {{'hla.yield' op expected values of types ('vector<8xf32>', 'vector<8x8xf32>') (rows of the outputs, then states), but got ('vector<8xf32>')}}
    hla.yield %a : !r
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C6
func.func @terminator(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected the body to end with hla.yield (it says what a token leaves), but got func.return}}
  %o = "hla.fused_scan"(%q, %e) <{carry_in = array<i1: false>, carry_out = array<i1: false>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 1>}> ({
  ^bb0(%a: !r, %S: !s):
    func.return
  }) : (!S, !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C6
func.func @empty_body(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expects a non-empty block}}
  %o = "hla.fused_scan"(%q, %e) <{carry_in = array<i1: false>, carry_out = array<i1: false>, operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 1>}> ({
  ^bb0(%a: !r, %S: !s):
  }) : (!S, !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C7
func.func @results(%q: !S, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected results of types ('tensor<?x?x?x8xf32>') (those of the tensor outs), but got ()}}
  hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  }
  return
}

// -----

!r = vector<8xf32>

// fused_scan-C7
func.func @mixed_outs(%q: tensor<?x?x?x8xf32>, %m: memref<?x?x?x8xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected outs to be all tensors or all memrefs (results are updated tensors), but got 'memref<?x?x?x8xf32>', 'tensor<?x?x?x8xf32>'}}
  %o = hla.fused_scan ins(%q : tensor<?x?x?x8xf32>) outs(%m, %q : memref<?x?x?x8xf32>, tensor<?x?x?x8xf32>) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    hla.yield %a, %a : !r, !r
  } -> tensor<?x?x?x8xf32>
  return
}
