// What becomes one loop, and how. What must not is in fuse-scans-apart.mlir.

// RUN: hla-opt %s --hla-fuse-scans | FileCheck %s

!S = tensor<?x?x?x64xbf16>
!U = tensor<?x?x?x64xf32>
!V = tensor<?x?x?x32xbf16>
!State = tensor<?x?x64x32xf32>

// A scan alone is a loop with one state.
// CHECK-LABEL: func @one
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x32xbf16>, %[[C:.*]]: tensor<?x?x64x32xf32>, %[[E:.*]]: tensor<?x?x?x32xbf16>, %[[F:.*]]: tensor<?x?x64x32xf32>
// CHECK:         %[[Y:.*]]:2 = hla.fused_scan reverse layout(bhtd) ins(%[[Q]], %[[V]] : {{.*}}) carries(%[[C]] : {{.*}}) outs(%[[E]], %[[F]] : {{.*}}) carry_in [true] carry_out [true] {
// CHECK-NEXT:    ^bb0(%[[q:.*]]: vector<64xbf16>, %[[v:.*]]: vector<32xbf16>, %[[s:.*]]: vector<64x32xf32>):
// CHECK-NEXT:      %[[s1:.*]], %[[y:.*]] = hla.step exclusive decay(5.000000e-01) ins(%[[q]], %[[q]], %[[v]] : {{.*}}) state(%[[s]] : {{.*}}) -> vector<32xbf16>
// CHECK-NEXT:      hla.yield %[[y]], %[[s1]]
// CHECK:         return %[[Y]]#0, %[[Y]]#1
func.func @one(%q: !S, %v: !V, %c: !State, %e: !V, %f: !State) -> (!V, !State) {
  %y:2 = hla.scan exclusive reverse decay(0.5) layout(bhtd) ins(%q, %q, %v : !S, !S, !V) carry(%c : !State) outs(%e, %f : !V, !State) -> !V, !State
  return %y#0, %y#1 : !V, !State
}

// What one scan hands to the next stays in the loop: there is no output for it.
// CHECK-LABEL: func @producer
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x32xbf16>, %{{.*}}: tensor<?x?x?x64xf32>, %[[E:.*]]: tensor<?x?x?x32xbf16>
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) outs(%[[E]] : {{.*}}) carry_in [false, false] carry_out [false, false] {
// CHECK-NEXT:    ^bb0(%[[q:.*]]: vector<64xbf16>, %[[k:.*]]: vector<64xbf16>, %[[v:.*]]: vector<32xbf16>, %[[s:.*]]: vector<64x64xf32>, %[[f:.*]]: vector<64x32xf32>):
// CHECK-NEXT:      %[[s1:.*]], %[[u:.*]] = hla.step ins(%[[q]], %[[k]], %[[k]] : {{.*}}) state(%[[s]] : {{.*}}) -> vector<64xf32>
// CHECK-NEXT:      %[[f1:.*]], %[[y:.*]] = hla.step ins(%[[q]], %[[u]], %[[v]] : {{.*}}) state(%[[f]] : {{.*}}) -> vector<32xbf16>
// CHECK-NEXT:      hla.yield %[[y]], %[[s1]], %[[f1]]
// CHECK:         return %[[O]]
func.func @producer(%q: !S, %k: !S, %v: !V, %eu: !U, %e: !V) -> !V {
  %u = hla.scan ins(%q, %k, %k : !S, !S, !S) outs(%eu : !U) -> !U
  %o = hla.scan ins(%q, %u, %v : !S, !U, !V) outs(%e : !V) -> !V
  return %o : !V
}

// What others read too is written as well.
// CHECK-LABEL: func @escaping_producer
// CHECK:         %[[O:.*]]:2 = hla.fused_scan {{.*}} outs({{.*}} : tensor<?x?x?x64xf32>, tensor<?x?x?x32xbf16>)
// CHECK:           %[[s1:.*]], %[[u:.*]] = hla.step
// CHECK:           %[[f1:.*]], %[[y:.*]] = hla.step
// CHECK:           hla.yield %[[u]], %[[y]], %[[s1]], %[[f1]]
// CHECK:         return %[[O]]#1, %[[O]]#0
func.func @escaping_producer(%q: !S, %v: !V, %eu: !U, %e: !V) -> (!V, !U) {
  %u = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%eu : !U) -> !U
  %o = hla.scan ins(%q, %u, %v : !S, !U, !V) outs(%e : !V) -> !V
  return %o, %u : !V, !U
}

// Two scans that read one tensor walk it once, each in its own way.
// CHECK-LABEL: func @siblings
// CHECK:         %[[O:.*]]:2 = hla.fused_scan ins(%{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>)
// CHECK:           hla.step exclusive ins
// CHECK:           hla.step decay(2.500000e-01) ins
// CHECK:         return %[[O]]#0, %[[O]]#1
func.func @siblings(%q: !S, %v: !V, %e1: !V, %e2: !S) -> (!V, !S) {
  %a = hla.scan exclusive ins(%q, %q, %v : !S, !S, !V) outs(%e1 : !V) -> !V
  %b = hla.scan decay(0.25) ins(%q, %q, %q : !S, !S, !S) outs(%e2 : !S) -> !S
  return %a, %b : !V, !S
}

// States are carried in and out each for itself, in the order of the scans.
// CHECK-LABEL: func @states
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x32xbf16>, %[[C:.*]]: tensor<?x?x64x32xf32>, %[[E:.*]]: tensor<?x?x?x32xbf16>, %[[F:.*]]: tensor<?x?x64x32xf32>
// CHECK:         %[[O:.*]]:3 = hla.fused_scan ins({{.*}}) carries(%[[C]] : {{.*}}) outs(%[[E]], %[[E]], %[[F]] : {{.*}}) carry_in [false, true] carry_out [true, false]
// CHECK:         return %[[O]]#0, %[[O]]#2, %[[O]]#1
func.func @states(%q: !S, %v: !V, %c: !State, %e: !V, %f: !State) -> (!V, !State, !V) {
  %a:2 = hla.scan ins(%q, %q, %v : !S, !S, !V) outs(%e, %f : !V, !State) -> !V, !State
  %b:2 = hla.scan exclusive ins(%q, %q, %v : !S, !S, !V) carry(%c : !State) outs(%e, %f : !V, !State) -> !V, !State
  return %a#0, %a#1, %b#0 : !V, !State, !V
}

// One tensor in every place, and a result in every place.
// CHECK-LABEL: func @same_operand
// CHECK:         hla.fused_scan ins(%{{.*}} : tensor<?x?x?x64xf32>) outs(%{{.*}} : tensor<?x?x?x64xf32>)
// CHECK-NEXT:    ^bb0(%[[q:.*]]: vector<64xf32>, %[[s:.*]]: vector<64x64xf32>, %[[f:.*]]: vector<64x64xf32>):
// CHECK-NEXT:      %{{.*}}, %[[u:.*]] = hla.step ins(%[[q]], %[[q]], %[[q]] : {{.*}}) state(%[[s]]
// CHECK-NEXT:      hla.step ins(%[[u]], %[[u]], %[[u]] : {{.*}}) state(%[[f]]
func.func @same_operand(%q: !U, %e: !U) -> !U {
  %u = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %o = hla.scan ins(%u, %u, %u : !U, !U, !U) outs(%e : !U) -> !U
  return %o : !U
}

// A chain of any length is one loop, at the place of its last scan; what stands
// between and needs none of it stays before.
// CHECK-LABEL: func @chain
// CHECK:         tensor.empty
// CHECK:         hla.fused_scan {{.*}} carry_in [false, false, false]
// CHECK-COUNT-3:   hla.step
// CHECK-NOT:     hla.fused_scan
// CHECK:         return
func.func @chain(%q: !U, %B: index, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %b = hla.scan ins(%q, %a, %q : !U, !U, !U) outs(%e : !U) -> !U
  %e2 = tensor.empty(%B, %B, %B) : !U
  %c = hla.scan ins(%q, %b, %a : !U, !U, !U) outs(%e2 : !U) -> !U
  return %c : !U
}

// Blocks are apart from each other; a scan in a region is a loop there.
// CHECK-LABEL: func @region
// CHECK:         %[[U:.*]] = hla.fused_scan
// CHECK:         scf.if
// CHECK:           hla.fused_scan ins(%[[U]]
// CHECK:         } else {
func.func @region(%c: i1, %q: !U, %e: !U) -> !U {
  %u = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %r = scf.if %c -> !U {
    %o = hla.scan ins(%u, %u, %q : !U, !U, !U) outs(%e : !U) -> !U
    scf.yield %o : !U
  } else {
    scf.yield %u : !U
  }
  return %r : !U
}

// A loop that maps rows joins those that it reads of, and those that read of it;
// what is a sequence without a dimension of its own too.
// CHECK-LABEL: func @rows
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[G:[^ ]*]]: tensor<?xf32>
// CHECK-NOT:     hla.fused_scan {{.*}} carry_in []
// CHECK:         hla.fused_scan ins(%[[Q]], %[[G]] : {{.*}}) outs(%{{[^,]*}} : {{.*}}) carry_in [false, false] carry_out [false, false] {
// CHECK-NEXT:    ^bb0(%[[q:.*]]: vector<64xf32>, %[[g:.*]]: vector<1xf32>, %{{.*}}: vector<64x64xf32>, %{{.*}}: vector<64x64xf32>):
// CHECK-NEXT:      %{{.*}}, %[[U:.*]] = hla.step ins(%[[q]], %[[q]], %[[q]] : {{.*}}) log_decay(%[[g]] :
// CHECK-NEXT:      %[[G2:.*]] = arith.addf %[[g]], %[[g]]
// CHECK-NEXT:      %[[V:.*]] = arith.addf %[[U]], %[[q]]
// CHECK-NEXT:      hla.step ins(%[[q]], %[[V]], %[[q]] : {{.*}}) log_decay(%[[G2]] :
// CHECK-NOT:     hla.fused_scan
func.func @rows(%q: !U, %g: tensor<?xf32>, %eg: tensor<?x?x?xf32>, %e: !U) -> !U {
  %u = hla.scan ins(%q, %q, %q : !U, !U, !U) log_decay(%g : tensor<?xf32>) outs(%e : !U) -> !U
  %g2 = hla.fused_scan ins(%q, %g : !U, tensor<?xf32>) outs(%eg : tensor<?x?x?xf32>) carry_in [] carry_out [] {
  ^bb0(%qt: vector<64xf32>, %gt: vector<1xf32>):
    %s = arith.addf %gt, %gt : vector<1xf32>
    hla.yield %s : vector<1xf32>
  } -> tensor<?x?x?xf32>
  %v = hla.fused_scan ins(%u, %q : !U, !U) outs(%e : !U) carry_in [] carry_out [] {
  ^bb0(%ut: vector<64xf32>, %qt: vector<64xf32>):
    %s = arith.addf %ut, %qt : vector<64xf32>
    hla.yield %s : vector<64xf32>
  } -> !U
  %o = hla.scan ins(%q, %v, %q : !U, !U, !U) log_decay(%g2 : tensor<?x?x?xf32>) outs(%e : !U) -> !U
  return %o : !U
}

// The loop walks the tokens of its first input: a decay of heads is none, wherever
// it came from.
// CHECK-LABEL: func @walked
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[G:[^ ]*]]: tensor<?xf32>, %[[K:[^ ]*]]:
// CHECK:         hla.fused_scan groups([1, 2, 1]) ins(%[[Q]], %[[K]], %[[G]] : {{.*}}) outs
func.func @walked(%q: !U, %g: tensor<?xf32>, %k: !U, %e: !U) -> !U {
  %u = hla.scan ins(%q, %q, %q : !U, !U, !U) log_decay(%g : tensor<?xf32>) outs(%e : !U) -> !U
  %o = hla.scan groups([1, 2, 1]) ins(%u, %k, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %o : !U
}

// A scan of rows of two loops, which share nothing, makes all one; states keep
// their carries and finals.
// CHECK-LABEL: func @two_producers
// CHECK-SAME:    %[[CA:[^ ]*]]: tensor<?x?x64x64xf32>, %[[CO:[^ ]*]]: tensor<?x?x64x64xf32>, %[[FB:[^ ]*]]: tensor<?x?x64x64xf32>
// CHECK:         %[[O:.*]]:2 = hla.fused_scan {{.*}} carries(%[[CA]], %[[CO]] : {{.*}}) outs(%{{.*}}, %[[FB]] : {{.*}}) carry_in [true, false, true] carry_out [false, true, false] {
// CHECK:           %{{.*}}, %[[A:.*]] = hla.step decay(5.000000e-01) ins
// CHECK:           %{{.*}}, %[[B:.*]] = hla.step decay(2.500000e-01) ins
// CHECK:           hla.step ins(%[[A]], %[[B]], %[[B]] :
// CHECK-NOT:     hla.fused_scan
// CHECK:         return %[[O]]#0, %[[O]]#1
func.func @two_producers(%ca: tensor<?x?x64x64xf32>, %co: tensor<?x?x64x64xf32>, %fb: tensor<?x?x64x64xf32>, %q: !U, %k: !U, %e: !U) -> (!U, tensor<?x?x64x64xf32>) {
  %a = hla.scan decay(0.5) ins(%q, %q, %q : !U, !U, !U) carry(%ca : tensor<?x?x64x64xf32>) outs(%e : !U) -> !U
  %b:2 = hla.scan decay(0.25) ins(%k, %k, %k : !U, !U, !U) outs(%e, %fb : !U, tensor<?x?x64x64xf32>) -> !U, tensor<?x?x64x64xf32>
  %o = hla.scan ins(%a, %b#0, %b#0 : !U, !U, !U) carry(%co : tensor<?x?x64x64xf32>) outs(%e : !U) -> !U
  return %o, %b#1 : !U, tensor<?x?x64x64xf32>
}

// A final state that nobody reads is not in the loop.
// CHECK-LABEL: func @unused_final
// CHECK:         hla.fused_scan {{.*}} outs(%{{[^,]*}} : {{.*}}) carry_in [false] carry_out [false]
func.func @unused_final(%q: !S, %v: !V, %e: !V, %f: !State) -> !V {
  %y:2 = hla.scan ins(%q, %q, %v : !S, !S, !V) outs(%e, %f : !V, !State) -> !V, !State
  return %y#0 : !V
}

// Lengths are the loop's.
// CHECK-LABEL: func @lengths
// CHECK-SAME:    %[[C:[^ ]*]]: tensor<?xi32>
// CHECK:         hla.fused_scan ins({{.*}}) lengths(%[[C]] : tensor<?xi32>) outs({{.*}}) carry_in [false, false]
func.func @lengths(%c: tensor<?xi32>, %q: tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32> {
  %u = hla.scan ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%c : tensor<?xi32>) outs(%q : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  %o = hla.scan ins(%q, %u, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%c : tensor<?xi32>) outs(%q : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  return %o : tensor<1x?x?x8xf32>
}
