// One case for each constraint of hla.step and hla.row_sum, and where they and
// hla.yield may stand.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step-C1
func.func @step_query(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %c = vector.extract_strided_slice %a {offsets = [0], sizes = [4], strides = [1]} : !r to vector<4xf32>
    // expected-error @+1 {{'hla.step' op expected query to have 8 elements (the state is 'vector<8x8xf32>'), but got 'vector<4xf32>'}}
    %S1, %y = hla.step ins(%c, %a, %a : vector<4xf32>, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step-C1
func.func @step_key(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %c = vector.extract_strided_slice %a {offsets = [0], sizes = [4], strides = [1]} : !r to vector<4xf32>
    // expected-error @+1 {{'hla.step' op expected key to have 8 elements (the state is 'vector<8x8xf32>'), but got 'vector<4xf32>'}}
    %S1, %y = hla.step ins(%a, %c, %a : !r, vector<4xf32>, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step-C1
func.func @step_value(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %c = vector.extract_strided_slice %a {offsets = [0], sizes = [4], strides = [1]} : !r to vector<4xf32>
    // expected-error @+1 {{'hla.step' op expected value to have 8 elements (the state is 'vector<8x8xf32>'), but got 'vector<4xf32>'}}
    %S1, %y = hla.step ins(%a, %a, %c : !r, !r, vector<4xf32>) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step-C1
func.func @step_result(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    // expected-error @+1 {{'hla.step' op expected the row of the result to have 8 elements (the state is 'vector<8x8xf32>'), but got 'vector<4xf32>'}}
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> vector<4xf32>
    hla.yield %a, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step-C2
func.func @step_decay(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    // expected-error @+1 {{'hla.step' op expected decay to be in (0, 1] (a prefix is forgotten, never amplified), but got -5.000000e-01}}
    %S1, %y = hla.step decay(-0.5) ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!r = vector<8xf32>
!s = vector<8x8xf32>

// step is a part of a loop.
func.func @step_alone(%a: !r, %S: !s) {
  // expected-error @+1 {{'hla.step' op expects parent op 'hla.fused_scan'}}
  %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
  return
}

// -----

!r = vector<8xf32>
!s = vector<8x8xf32>

// yield ends a loop's body.
func.func @yield_alone(%a: !r) {
  // expected-error @+1 {{'hla.yield' op expects parent op 'hla.fused_scan'}}
  hla.yield %a : !r
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step-C2
func.func @step_two_decays(%q: !S, %g: tensor<?xf32>, %e: !S) {
  %o = hla.fused_scan ins(%q, %g : !S, tensor<?xf32>) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %b: vector<1xf32>, %S: !s):
    // expected-error @+1 {{'hla.step' op expected decay to be 1 where log_decay is given (one of them decays), but got 5.000000e-01}}
    %S1, %y = hla.step decay(0.5) ins(%a, %a, %a : !r, !r, !r) log_decay(%b : vector<1xf32>) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// step: a token has one decay, not one a feature.
func.func @step_log_decay(%q: !S, %e: !S) {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    // expected-error @+1 {{'hla.step' op operand #3 must be log_decay (a vector<1xf32> or vector<1xf64>), but got 'vector<8xf32>'}}
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) log_decay(%a : !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf64>
!r = vector<8xf64>

// row_sum-C1
func.func @row_sum(%q: !S) {
  hla.fused_scan ins(%q : !S) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    // expected-error @+1 {{'hla.row_sum' op expected the sum to be at least as wide as 'f64', the row's element type (a row is summed in the type of its sum), but got 'vector<1xf32>'}}
    %n = hla.row_sum %a : !r -> vector<1xf32>
    hla.yield
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// row_sum: one number a token.
func.func @row_sum_wide(%q: !S) {
  hla.fused_scan ins(%q : !S) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    // expected-error @+1 {{'hla.row_sum' op result #0 must be sum (a vector<1xf32> or vector<1xf64>), but got 'vector<8xf32>'}}
    %n = hla.row_sum %a : !r -> !r
    hla.yield
  }
  return
}

// -----

// row_sum is a part of a loop.
func.func @row_sum_alone(%a: vector<8xf32>) {
  // expected-error @+1 {{'hla.row_sum' op expects parent op 'hla.fused_scan'}}
  %n = hla.row_sum %a : vector<8xf32> -> vector<1xf32>
  return
}
