// What operators become: one loop that reads every input once, and carries every
// state once.

// RUN: hla-opt %s --hla-decompose-operators --cse --hla-fuse-scans --canonicalize --cse | FileCheck %s
// RUN: hla-opt %s --hla-decompose-operators --canonicalize --cse --hla-fuse-scans --canonicalize --cse | FileCheck %s

!S = tensor<?x?x?x8xbf16>
!V = tensor<?x?x?x4xbf16>
!SS = tensor<?x?x8x8xf32>
!SV = tensor<?x?x8x4xf32>
!S1 = tensor<?x?x8x1xf32>

// Normalised second order: numerator and denominator share u and S.
// CHECK-LABEL: func @normalized
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]:
// CHECK-NOT:     tensor.empty
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) outs(%[[E]] : {{.*}}) carry_in [false, false, false] carry_out [false, false, false] {
// CHECK-NEXT:    ^bb0(%[[q:.*]]: vector<8xbf16>, %[[k:.*]]: vector<8xbf16>, %[[v:.*]]: vector<4xbf16>, %[[S:.*]]: vector<8x8xf32>, %[[f:.*]]: vector<8x1xf32>, %[[F:.*]]: vector<8x4xf32>):
// CHECK-DAG:       %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<1xf32>
// CHECK-DAG:       %[[EPS:.*]] = arith.constant dense<2.500000e-01> : vector<1xf32>
// CHECK:           %[[S1:.*]], %[[U:.*]] = hla.step ins(%[[q]], %[[k]], %[[k]] : {{.*}}) state(%[[S]] :
// CHECK-NEXT:      %[[f1:.*]], %[[DEN:.*]] = hla.step ins(%[[q]], %[[U]], %[[ONE]] : {{.*}}) state(%[[f]] :
// CHECK-NEXT:      %[[F1:.*]], %[[NUM:.*]] = hla.step ins(%[[q]], %[[U]], %[[v]] : {{.*}}) state(%[[F]] :
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[DEN]], %[[EPS]]
// CHECK-NEXT:      %[[ALL:.*]] = vector.broadcast %[[SUM]]
// CHECK-NEXT:      %[[DIV:.*]] = arith.divf %[[NUM]], %[[ALL]]
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[DIV]]
// CHECK-NEXT:      hla.yield %[[R]], %[[S1]], %[[f1]], %[[F1]]
// CHECK:         return %[[O]]
func.func @normalized(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order normalize(add, 0.25) ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// With states, each is carried in and out once.
// CHECK-LABEL: func @normalized_states
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[F:[^ ]*]]: {{[^,]*}}, %[[M:[^ ]*]]: {{[^,]*}},
// CHECK:         %[[O:.*]]:4 = hla.fused_scan {{.*}} carries(%[[S]], %[[M]], %[[F]] : {{.*}}) outs(%{{[^,]*}}, %[[S]], %[[M]], %[[F]] : {{.*}}) carry_in [true, true, true] carry_out [true, true, true]
// CHECK:         return %[[O]]#0, %[[O]]#1, %[[O]]#3, %[[O]]#2
func.func @normalized_states(%s: !SS, %f: !SV, %m: !S1, %q: !S, %k: !S, %v: !V, %e: !V) -> (!V, !SS, !SV, !S1) {
  %o:4 = hla.second_order ridge(0.5) normalize(clamp, 0.25) ins(%q, %k, %v : !S, !S, !V) carry(%s, %f, %m : !SS, !SV, !S1) outs(%e, %s, %f, %m : !V, !SS, !SV, !S1) -> !V, !SS, !SV, !S1
  return %o#0, %o#1, %o#2, %o#3 : !V, !SS, !SV, !S1
}

// The paper's decayed third order: eleven scans read six states, SK, SQ and P
// before and after the token. A ridge and a normaliser add rows, not loops.
// CHECK-LABEL: func @paper
// CHECK:         hla.fused_scan ins(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : {{.*}}) outs({{.*}}) carry_in [false, false, false, false, false, false] carry_out
// CHECK-COUNT-11:  hla.step
// CHECK-NOT:       hla.step
// CHECK:         hla.fused_scan ins(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : {{.*}}) outs({{.*}}) carry_in [false, false, false, false, false, false, false, false, false, false] carry_out
// CHECK-NOT:     hla.fused_scan
func.func @paper(%q: !S, %k: !S, %v: !V, %q2: !S, %k2: !S, %v2: !V, %g: tensor<?x?x?xf32>, %e: !V) -> (!V, !V) {
  %a = hla.third_order variant(paper) decay(0.5) ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  %b = hla.third_order variant(paper) normalize(add, 1.0) ins(%q2, %k2, %v2 : !S, !S, !V) log_decay(%g : tensor<?x?x?xf32>) outs(%e : !V) -> !V
  return %a, %b : !V, !V
}

// Undecayed, and the paper's second order with a decay of tokens, squared.
// CHECK-LABEL: func @others
// CHECK:         hla.fused_scan {{.*}} carry_in [false, false, false, false, false] carry_out
// CHECK:         hla.fused_scan {{.*}} carry_in [false, false] carry_out
// CHECK-NOT:     hla.fused_scan
func.func @others(%q: !S, %k: !S, %v: !V, %q2: !S, %k2: !S, %v2: !V, %g: tensor<?x?x?xf32>, %e: !V) -> (!V, !V) {
  %a = hla.third_order variant(paper) ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  %b = hla.second_order reading(squared) ins(%q2, %k2, %v2 : !S, !S, !V) log_decay(%g : tensor<?x?x?xf32>) outs(%e : !V) -> !V
  return %a, %b : !V, !V
}

// Equal operators are one; those of the same query and key share u and S.
// CHECK-LABEL: func @equal
// CHECK:         %[[O:.*]]:2 = hla.fused_scan {{.*}} carry_in [false, false, false] carry_out
// CHECK-COUNT-3:   hla.step
// CHECK-NOT:       hla.step
// CHECK:         return %[[O]]#0, %[[O]]#0, %[[O]]#1
func.func @equal(%q: !S, %k: !S, %v: !V, %w: !V, %e: !V) -> (!V, !V, !V) {
  %a = hla.second_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  %b = hla.second_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  %c = hla.second_order ins(%q, %k, %w : !S, !S, !V) outs(%e : !V) -> !V
  return %a, %b, %c : !V, !V, !V
}

// One tensor as query and key: S and C sum the same, and are one state.
// CHECK-LABEL: func @same_operands
// CHECK:         hla.fused_scan ins(%{{[^,]*}} : {{.*}}) outs({{.*}}) carry_in [false] carry_out
func.func @same_operands(%q: !S, %e: !S) -> !S {
  %o = hla.second_order variant(prefix) ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
}

// A decay of zeros is none.
// CHECK-LABEL: func @unit_decay
// CHECK-NOT:     log_decay
// CHECK:         hla.fused_scan ins(%{{[^,]*}} : {{.*}}) outs({{.*}}) carry_in [false, false] carry_out
// CHECK-NOT:     log_decay
// CHECK:         return
func.func @unit_decay(%q: tensor<1x5x2x8xf32>) -> tensor<1x5x2x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x5x2xf32>
  %o = hla.second_order reading(squared) ins(%q, %q, %q : tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>) log_decay(%zero : tensor<1x5x2xf32>) outs(%q : tensor<1x5x2x8xf32>) -> tensor<1x5x2x8xf32>
  return %o : tensor<1x5x2x8xf32>
}
