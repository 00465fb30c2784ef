// RUN: hla-opt %s --canonicalize --split-input-file | FileCheck %s

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>

// A carry of zeros is no carry, whatever their sign.
// CHECK-LABEL: func @zero_carry
// CHECK:         hla.scan exclusive decay(5.000000e-01) ins({{.*}}) outs
func.func @zero_carry(%q: tensor<1x?x2x8xf32>, %e: tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32> {
  %zero = arith.constant dense<-0.0> : tensor<1x2x8x8xf32>
  %y = hla.scan exclusive decay(0.5) ins(%q, %q, %q : tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>)
                carry(%zero : tensor<1x2x8x8xf32>) outs(%e : tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  return %y : tensor<1x?x2x8xf32>
}

// CHECK-LABEL: func @other_carry
// CHECK:         hla.scan ins({{.*}}) carry(%{{.*}} : tensor<1x2x8x8xf32>) outs
func.func @other_carry(%q: tensor<1x?x2x8xf32>, %e: tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32> {
  %one = arith.constant dense<1.0> : tensor<1x2x8x8xf32>
  %y = hla.scan ins(%q, %q, %q : tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>)
                carry(%one : tensor<1x2x8x8xf32>) outs(%e : tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  return %y : tensor<1x?x2x8xf32>
}

// -----

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>

// A final state that nobody reads is not computed; all else stays as it was.
// CHECK-LABEL: func @unused_final
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x8xf32>, %[[S:.*]]: tensor<?x?x8x8xf32>, %[[E:.*]]: tensor<?x?x?x8xf32>,
// CHECK:         %[[Y:.*]] = hla.scan exclusive reverse decay(5.000000e-01) layout(bhtd) ins(%[[Q]], %[[Q]], %[[Q]] : {{.*}}) carry(%[[S]] : {{.*}}) outs(%[[E]] : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @unused_final(%q: !S, %s: !State, %e: !S, %f: !State) -> !S {
  %y:2 = hla.scan exclusive reverse decay(0.5) layout(bhtd) ins(%q, %q, %q : !S, !S, !S)
                  carry(%s : !State) outs(%e, %f : !S, !State) -> !S, !State
  return %y#0 : !S
}

// The result is always written: a state has no place of its own.
// CHECK-LABEL: func @unused_result
// CHECK:         %[[Y:.*]]:2 = hla.scan
// CHECK-NEXT:    return %[[Y]]#1
func.func @unused_result(%q: !S, %e: !S, %f: !State) -> !State {
  %y:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e, %f : !S, !State) -> !S, !State
  return %y#1 : !State
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// A tensor is walked once, and only if the body reads it.
// CHECK-LABEL: func @redundant_inputs
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x8xf32>, %[[K:[^ ]*]]: tensor<?x?x?x8xf32>, %{{.*}}: tensor<?x?x?x8xf32>,
// CHECK:         hla.fused_scan ins(%[[Q]], %[[K]] : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>)
// CHECK-NEXT:    ^bb0(%[[q:.*]]: vector<8xf32>, %[[k:.*]]: vector<8xf32>, %[[s:.*]]: vector<8x8xf32>):
// CHECK-NEXT:      hla.step ins(%[[q]], %[[k]], %[[q]] : {{.*}}) state(%[[s]]
func.func @redundant_inputs(%q: !S, %k: !S, %unread: !S, %e: !S) -> !S {
  %o = hla.fused_scan ins(%q, %unread, %k, %q : !S, !S, !S, !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%qt: !r, %ut: !r, %kt: !r, %qt2: !r, %S: !s):
    %S1, %y = hla.step ins(%qt, %kt, %qt2 : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  return %o : !S
}

// Without an input there would be no tokens: one stays.
// CHECK-LABEL: func @last_input
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x8xf32>, %{{.*}}: tensor<?x?x?x8xf32>,
// CHECK:         hla.fused_scan ins(%[[Q]] : tensor<?x?x?x8xf32>)
// CHECK-NEXT:    ^bb0(%{{.*}}: vector<8xf32>, %[[S:.*]]: vector<8x8xf32>):
// CHECK-NEXT:      %[[Y:.*]] = vector.extract %[[S]][0]
// CHECK-NEXT:      hla.yield %[[Y]], %[[S]]
func.func @last_input(%q: !S, %k: !S, %e: !S) -> !S {
  %o = hla.fused_scan ins(%q, %k : !S, !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%qt: !r, %kt: !r, %S: !s):
    %y = vector.extract %S[0] : !r from !s
    hla.yield %y, %S : !r, !s
  } -> !S
  return %o : !S
}

// -----

// What is minimal stays as it is.
!S = tensor<?x?x?x8xf32>

// CHECK-LABEL: func @stable
// CHECK:         hla.scan ins(%[[Q:.*]], %[[Q]], %[[Q]] : {{.*}}) outs(%{{.*}}) -> tensor<?x?x?x8xf32>
func.func @stable(%q: !S, %e: !S) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y : !S
}
