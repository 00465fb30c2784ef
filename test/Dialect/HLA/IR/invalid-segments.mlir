// One case for each constraint of segments.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x8xf32>
!Entry = tensor<?x?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C10
func.func @no_segments(%k: !S, %e: !Entry) {
  // expected-error @+1 {{'hla.fused_scan' op expected segments, of so many tokens, where there are entries or a summary (these are of segments), but got none}}
  %y = hla.fused_scan ins(%k : !S) summary outs(%e : !Entry) carry_in [false] carry_out [true] {
  ^bb0(%kt: !r, %S: !s):
    %S1, %u = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %S1 : !s
  } -> !Entry
  return
}

// -----

!S = tensor<1x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C10
func.func @lengths(%k: !S, %c: tensor<?xi32>, %l: index, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected no lengths of a loop in segments (these have one length), but got both}}
  %y = hla.fused_scan ins(%k : !S) lengths(%c : tensor<?xi32>) segments(%l) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%kt: !r, %S: !s):
    %S1, %u = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %u, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C11
func.func @entry_in(%k: !S, %l: index, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected entry_in to have 1 entries, as carry_in has (one a state), but got 2}}
  %y = hla.fused_scan ins(%k : !S) segments(%l) outs(%e : !S) carry_in [false] carry_out [false] entry_in [false, false] {
  ^bb0(%kt: !r, %S: !s):
    %S1, %u = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %u, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C11
func.func @no_entry(%k: !S, %l: index, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected 1 entries, as entry_in has true ones (one a state whose segments begin with one), but got 0}}
  %y = hla.fused_scan ins(%k : !S) segments(%l) outs(%e : !S) carry_in [false] carry_out [false] entry_in [true] {
  ^bb0(%kt: !r, %S: !s):
    %S1, %u = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %u, %S1 : !r, !s
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C12
func.func @entry_shape(%k: !S, %l: index, %a: tensor<?x?x8x8xf32>, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected the entry of state #0 to have the shape [N-1,B,H,8,8] of 'f32' (one state a segment, batch and head), but got 'tensor<?x?x8x8xf32>'}}
  %y = hla.fused_scan ins(%k : !S) segments(%l) entries(%a : tensor<?x?x8x8xf32>) outs(%e : !S) carry_in [false] carry_out [false] entry_in [true] {
  ^bb0(%kt: !r, %S: !s):
    %S1, %u = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %u, %S1 : !r, !s
  } -> !S
  return
}

// -----

// combine_segments-C1
func.func @combine_rank(%a: tensor<?x?x8x8xf32>, %l: index) {
  // expected-error @+1 {{'hla.combine_segments' op expected outs to be one [M,B,H,d,dv] of f32 or f64, but got 'tensor<?x?x8x8xf32>'}}
  %0 = hla.combine_segments segments(%l) outs(%a : tensor<?x?x8x8xf32>) -> tensor<?x?x8x8xf32>
  return
}

// -----

// combine_segments-C1
func.func @combine_dynamic(%a: tensor<?x?x?x8x?xf32>, %l: index) {
  // expected-error @+1 {{'hla.combine_segments' op expected states of static d and dv (kernels are compiled for a head dimension), but got 'tensor<?x?x?x8x?xf32>'}}
  %0 = hla.combine_segments segments(%l) outs(%a : tensor<?x?x?x8x?xf32>) -> tensor<?x?x?x8x?xf32>
  return
}

// -----

// combine_segments-C2
func.func @combine_log_decay(%a: tensor<?x?x4x8x8xf32>, %g: tensor<3xf32>, %l: index) {
  // expected-error @+1 {{'hla.combine_segments' op expected log_decay to be [H], or [M,B,H], of f32 or f64 (one a head, or one a segment, batch and head of 'tensor<?x?x4x8x8xf32>'), but got 'tensor<3xf32>'}}
  %0 = hla.combine_segments segments(%l) log_decay(%g : tensor<3xf32>) outs(%a : tensor<?x?x4x8x8xf32>) -> tensor<?x?x4x8x8xf32>
  return
}

// -----

// combine_segments-C3
func.func @combine_decay(%a: tensor<?x?x?x8x8xf32>, %l: index) {
  // expected-error @+1 {{expected decay to be in (0, 1]}}
  %0 = hla.combine_segments decay(2.0) segments(%l) outs(%a : tensor<?x?x?x8x8xf32>) -> tensor<?x?x?x8x8xf32>
  return
}

// -----

// combine_segments-C4
func.func @combine_result(%a: tensor<?x?x?x8x8xf32>, %l: index) {
  // expected-error @+1 {{'hla.combine_segments' op expected a result for a tensor, of its type, but got () for 'tensor<?x?x?x8x8xf32>'}}
  hla.combine_segments segments(%l) outs(%a : tensor<?x?x?x8x8xf32>)
  return
}

// -----

// sum_segments-C1
func.func @sum_types(%g: tensor<?x?x?xf32>, %l: index, %e: tensor<?x?x?xf64>) {
  // expected-error @+1 {{'hla.sum_segments' op expected numbers to be [B,T,H] or [B,H,T] of 'f64' (as their sums are), but got 'tensor<?x?x?xf32>'}}
  %0 = hla.sum_segments ins(%g : tensor<?x?x?xf32>) segments(%l) outs(%e : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return
}

// -----

// sum_segments-C2
func.func @sum_result(%g: tensor<?x?x?xf32>, %l: index, %e: tensor<?x?x?xf32>) {
  // expected-error @+1 {{'hla.sum_segments' op expected a result for a tensor, of its type, but got () for 'tensor<?x?x?xf32>'}}
  hla.sum_segments ins(%g : tensor<?x?x?xf32>) segments(%l) outs(%e : tensor<?x?x?xf32>)
  return
}
