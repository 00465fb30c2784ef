// Simplification of loops: what they read, and what they carry.

// RUN: hla-opt %s --canonicalize --split-input-file | FileCheck %s

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

// A tensor with other heads is another input; groups stay with theirs, and all of
// one are none.
// CHECK-LABEL: func @grouped_inputs
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]:
// CHECK:         hla.fused_scan groups([2, 1]) ins(%[[K]], %[[K]] : {{.*}})
// CHECK-NEXT:    ^bb0(%[[K2:.*]]: vector<8xf32>, %[[K1:.*]]: vector<8xf32>):
// CHECK-NEXT:      arith.addf %[[K2]], %[[K1]]
// CHECK:         hla.fused_scan ins(%[[K]] : {{.*}})
func.func @grouped_inputs(%q: !S, %k: !S, %e: !S) -> (!S, !S) {
  %a = hla.fused_scan groups([3, 2, 1, 2]) ins(%q, %k, %k, %k : !S, !S, !S, !S) outs(%e : !S) carry_in [] carry_out [] {
  ^bb0(%q1: !r, %k1: !r, %k2: !r, %k3: !r):
    %x = arith.addf %k3, %k2 : !r
    hla.yield %x : !r
  } -> !S
  %b = hla.fused_scan groups([3, 1]) ins(%q, %k : !S, !S) outs(%e : !S) carry_in [] carry_out [] {
  ^bb0(%q1: !r, %k1: !r):
    hla.yield %k1 : !r
  } -> !S
  return %a, %b : !S, !S
}

// Numbers of heads have no tokens: a sequence that nobody reads lends its own.
// CHECK-LABEL: func @numbers_of_heads
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[G:[^ ]*]]: tensor<?xf32>, %[[N:[^ ]*]]: tensor<?x?x?xf32>
// CHECK:         hla.fused_scan ins(%[[Q]], %[[G]] : {{.*}})
// CHECK:         hla.fused_scan ins(%[[N]] : {{.*}})
func.func @numbers_of_heads(%q: !S, %g: tensor<?xf32>, %n: tensor<?x?x?xf32>, %e: tensor<?x?x?xf32>) -> (tensor<?x?x?xf32>, tensor<?x?x?xf32>) {
  %a = hla.fused_scan ins(%q, %g : !S, tensor<?xf32>) outs(%e : tensor<?x?x?xf32>) carry_in [] carry_out [] {
  ^bb0(%q1: !r, %g1: vector<1xf32>):
    hla.yield %g1 : vector<1xf32>
  } -> tensor<?x?x?xf32>
  %b = hla.fused_scan ins(%q, %n, %g : !S, tensor<?x?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?x?xf32>) carry_in [] carry_out [] {
  ^bb0(%q1: !r, %n1: vector<1xf32>, %g1: vector<1xf32>):
    hla.yield %n1 : vector<1xf32>
  } -> tensor<?x?x?xf32>
  return %a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>
}

// -----

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// States that begin alike and take the same steps are one, whoever reads it, and
// before or after the token.
// CHECK-LABEL: func @shared
// CHECK:         hla.fused_scan ins(%{{.*}}, %{{.*}} : {{.*}}) outs({{.*}}) carry_in [false] carry_out [false] {
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: vector<8xf32>, %[[K:.*]]: vector<8xf32>, %[[S:.*]]: vector<8x8xf32>):
// CHECK-NEXT:      %[[S1:.*]], %[[X:.*]] = hla.step ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) state(%[[S]] :
// CHECK-NEXT:      %{{.*}}, %[[Y:.*]] = hla.step exclusive ins(%[[X]], %[[K]], %[[K]] : {{.*}}) state(%[[S]] :
// CHECK-NEXT:      hla.yield %[[X]], %[[Y]], %[[S1]]
func.func @shared(%q: !S, %k: !S, %e: !S) -> (!S, !S) {
  %o:2 = hla.fused_scan ins(%q, %k : !S, !S) outs(%e, %e : !S, !S) carry_in [false, false] carry_out [false, false] {
  ^bb0(%qt: !r, %kt: !r, %S: !s, %T: !s):
    %S1, %x = hla.step ins(%qt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step exclusive ins(%x, %kt, %kt : !r, !r, !r) state(%T : !s) -> !r
    hla.yield %x, %y, %S1, %T1 : !r, !r, !s, !s
  } -> !S, !S
  return %o#0, %o#1 : !S, !S
}

// They begin alike with one carry, not with two, or with one and none.
// CHECK-LABEL: func @shared_carries
// CHECK-SAME:    %[[A:[^ ]*]]: tensor<?x?x8x8xf32>, %[[B:[^ ]*]]: tensor<?x?x8x8xf32>
// CHECK:         hla.fused_scan ins({{.*}}) carries(%[[A]], %[[B]] : {{.*}}) outs({{.*}}) carry_in [true, true, false] carry_out [false, false, false]
// CHECK-COUNT-4:   hla.step
// CHECK:           hla.yield
func.func @shared_carries(%a: !State, %b: !State, %q: !S, %e: !S) -> (!S, !S, !S, !S) {
  %o:4 = hla.fused_scan ins(%q : !S) carries(%a, %a, %b : !State, !State, !State) outs(%e, %e, %e, %e : !S, !S, !S, !S) carry_in [true, true, true, false] carry_out [false, false, false, false] {
  ^bb0(%qt: !r, %S: !s, %T: !s, %U: !s, %V: !s):
    %S1, %x = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step ins(%x, %qt, %qt : !r, !r, !r) state(%T : !s) -> !r
    %U1, %z = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%U : !s) -> !r
    %V1, %w = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%V : !s) -> !r
    hla.yield %x, %y, %z, %w, %S1, %T1, %U1, %V1 : !r, !r, !r, !r, !s, !s, !s, !s
  } -> !S, !S, !S, !S
  return %o#0, %o#1, %o#2, %o#3 : !S, !S, !S, !S
}

// The one with a final value stays, wherever it is.
// CHECK-LABEL: func @shared_finals
// CHECK-COUNT-2: hla.fused_scan ins({{.*}}) outs({{.*}}) carry_in [false] carry_out [true] {
// CHECK:         hla.fused_scan ins({{.*}}) outs({{.*}}) carry_in [false, false] carry_out [true, true] {
func.func @shared_finals(%q: !S, %e: !S, %f: !State) -> (!S, !S, !State, !S, !S, !State, !State, !State) {
  %a:3 = hla.fused_scan ins(%q : !S) outs(%e, %e, %f : !S, !S, !State) carry_in [false, false] carry_out [true, false] {
  ^bb0(%qt: !r, %S: !s, %T: !s):
    %S1, %x = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step ins(%x, %qt, %qt : !r, !r, !r) state(%T : !s) -> !r
    hla.yield %x, %y, %S1, %T1 : !r, !r, !s, !s
  } -> !S, !S, !State
  %b:3 = hla.fused_scan ins(%q : !S) outs(%e, %e, %f : !S, !S, !State) carry_in [false, false] carry_out [false, true] {
  ^bb0(%qt: !r, %S: !s, %T: !s):
    %S1, %x = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step exclusive ins(%x, %qt, %qt : !r, !r, !r) state(%T : !s) -> !r
    hla.yield %x, %y, %S1, %T1 : !r, !r, !s, !s
  } -> !S, !S, !State
  %c:2 = hla.fused_scan ins(%q : !S) outs(%f, %f : !State, !State) carry_in [false, false] carry_out [true, true] {
  ^bb0(%qt: !r, %S: !s, %T: !s):
    %S1, %x = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step ins(%x, %qt, %qt : !r, !r, !r) state(%T : !s) -> !r
    hla.yield %S1, %T1 : !s, !s
  } -> !State, !State
  return %a#0, %a#1, %a#2, %b#0, %b#1, %b#2, %c#0, %c#1 : !S, !S, !State, !S, !S, !State, !State, !State
}

// Another key, value or decay is another step.
// CHECK-LABEL: func @different_steps
// CHECK:         carry_in [false, false, false, false, false] carry_out
func.func @different_steps(%q: !S, %k: !S, %g: tensor<?xf32>, %e: !S) -> (!S, !S, !S, !S, !S) {
  %o:5 = hla.fused_scan ins(%q, %k, %g : !S, !S, tensor<?xf32>) outs(%e, %e, %e, %e, %e : !S, !S, !S, !S, !S) carry_in [false, false, false, false, false] carry_out [false, false, false, false, false] {
  ^bb0(%qt: !r, %kt: !r, %gt: vector<1xf32>, %A: !s, %B: !s, %C: !s, %D: !s, %E: !s):
    %A1, %a = hla.step ins(%qt, %kt, %kt : !r, !r, !r) state(%A : !s) -> !r
    %B1, %b = hla.step ins(%qt, %qt, %kt : !r, !r, !r) state(%B : !s) -> !r
    %C1, %c = hla.step ins(%qt, %kt, %qt : !r, !r, !r) state(%C : !s) -> !r
    %D1, %d = hla.step decay(0.5) ins(%qt, %kt, %kt : !r, !r, !r) state(%D : !s) -> !r
    %E1, %f = hla.step ins(%qt, %kt, %kt : !r, !r, !r) log_decay(%gt : vector<1xf32>) state(%E : !s) -> !r
    hla.yield %a, %b, %c, %d, %f, %A1, %B1, %C1, %D1, %E1 : !r, !r, !r, !r, !r, !s, !s, !s, !s, !s
  } -> !S, !S, !S, !S, !S
  return %o#0, %o#1, %o#2, %o#3, %o#4 : !S, !S, !S, !S, !S
}

// -----

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// A state that nobody reads is not carried; its carry goes with it. What reads it
// before the token, or what is final, keeps it.
// CHECK-LABEL: func @dead
// CHECK-SAME:    %{{[^ ]*}}: tensor<?x?x8x8xf32>, %[[B:[^ ]*]]: tensor<?x?x8x8xf32>
// CHECK:         hla.fused_scan ins({{.*}}) carries(%[[B]] : {{.*}}) outs({{.*}}) carry_in [true, false] carry_out [true, false] {
// CHECK-COUNT-2:   hla.step
// CHECK-NOT:       hla.step
func.func @dead(%a: !State, %b: !State, %q: !S, %e: !S) -> (!S, !State) {
  %o:2 = hla.fused_scan ins(%q : !S) carries(%a, %b : !State, !State) outs(%e, %b : !S, !State) carry_in [true, true, false] carry_out [false, true, false] {
  ^bb0(%qt: !r, %S: !s, %T: !s, %U: !s):
    %S1, %x = hla.step decay(0.5) ins(%qt, %qt, %qt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step decay(0.25) ins(%qt, %qt, %qt : !r, !r, !r) state(%T : !s) -> !r
    %U1, %z = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%U : !s) -> !r
    hla.yield %z, %S1, %T1, %U1 : !r, !s, !s, !s
  } -> !S, !State
  return %o#0, %o#1 : !S, !State
}

// So also one that only another dead one reads.
// CHECK-LABEL: func @dead_chain
// CHECK:         hla.fused_scan ins({{.*}}) outs({{.*}}) carry_in [] carry_out [] {
// CHECK-NOT:       hla.step
func.func @dead_chain(%q: !S, %e: !S) -> !S {
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false, false] carry_out [false, false] {
  ^bb0(%qt: !r, %S: !s, %T: !s):
    %S1, %x = hla.step ins(%qt, %qt, %qt : !r, !r, !r) state(%S : !s) -> !r
    %T1, %y = hla.step ins(%qt, %x, %qt : !r, !r, !r) state(%T : !s) -> !r
    hla.yield %qt, %S1, %T1 : !r, !s, !s
  } -> !S
  return %o : !S
}
