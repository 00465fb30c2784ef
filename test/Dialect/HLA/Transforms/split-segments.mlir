// Loops cut into segments, whose entries are found level by level.

// RUN: hla-opt %s --hla-fuse-scans --hla-split-segments=segments=4 --canonicalize --cse | FileCheck %s
// RUN: hla-opt %s --hla-fuse-scans --hla-split-segments=target=sm_90a --canonicalize --cse | FileCheck %s --check-prefix=AUTO
// RUN: hla-opt %s --hla-fuse-scans --hla-split-segments --canonicalize --cse | FileCheck %s --check-prefix=CPU
// RUN: not hla-opt %s --hla-split-segments=target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not hla-opt %s --hla-split-segments=segments=0 2>&1 | FileCheck %s --check-prefix=COUNT
// TARGET: hla-split-segments: expected a known target (one of cpu, {{.*}}), but got 'sm_1'
// COUNT: hla-split-segments: expected segments to be auto, or a number from 1 to 4096 (a part of the largest grid), but got '0'

// A CPU has no number of heads that fills it.
// CPU-NOT: segments

!S = tensor<?x?x?x8xbf16>
!U = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>

// A segment has a multiple of 64 tokens. The first state is summed from keys
// alone; the second, in another loop, from what queries read of the first.
// CHECK-LABEL: func @second_order
// CHECK-SAME:    %[[Q:[^ ,:)]*]]: tensor<?x?x?x8xbf16>, %[[K:[^ ,:)]*]]: tensor<?x?x?x8xbf16>, %[[V:[^ ,:)]*]]: tensor<?x?x?x8xbf16>, %{{.*}}, %[[E:[^ ,:)]*]]: tensor<?x?x?x8xbf16>
// CHECK-DAG:     %[[B:[^ ,:)]*]] = tensor.dim %[[Q]], %c0
// CHECK-DAG:     %[[T:[^ ,:)]*]] = tensor.dim %[[Q]], %c1
// CHECK-DAG:     %[[H:[^ ,:)]*]] = tensor.dim %[[Q]], %c2
// CHECK:         %[[PARTS:[^ ,:)]*]] = arith.ceildivsi %[[T]], %c256
// CHECK:         %[[MULTIPLE:[^ ,:)]*]] = arith.muli %[[PARTS]], %c64
// CHECK:         %[[L:[^ ,:)]*]] = arith.maxsi %[[MULTIPLE]], %c64
// CHECK:         %[[ALL:[^ ,:)]*]] = arith.ceildivsi %[[T]], %[[L]]
// CHECK:         %[[N:[^ ,:)]*]] = arith.maxsi %[[ALL]], %c1
// CHECK:         %[[M:[^ ,:)]*]] = arith.subi %[[N]], %c1
// CHECK:         %[[EMPTY:[^ ,:)]*]] = tensor.empty(%[[M]], %[[B]], %[[H]]) : tensor<?x?x?x8x8xf32>
// CHECK:         %[[S0:[^ ,:)]*]] = hla.fused_scan ins(%[[K]] : {{.*}}) segments(%[[L]]) summary outs(%[[EMPTY]] : {{.*}}) carry_in [false] carry_out [true] {
// CHECK-NEXT:    ^bb0(%[[k:[^ ,:)]*]]: vector<8xbf16>, %[[s:[^ ,:)]*]]: vector<8x8xf32>):
// CHECK-NEXT:      %[[s1:[^ ,:)]*]], %{{.*}} = hla.step ins(%[[k]], %[[k]], %[[k]] :
// CHECK-NEXT:      hla.yield %[[s1]]
// CHECK:         %[[S1:[^ ,:)]*]] = hla.combine_segments segments(%[[L]]) outs(%[[S0]] :
// CHECK:         %[[F0:[^ ,:)]*]] = hla.fused_scan ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) segments(%[[L]]) summary entries(%[[S1]] : {{.*}}) outs({{.*}}) carry_in [false, false] carry_out [false, true] entry_in [true, false] {
// CHECK-NEXT:    ^bb0(%[[q:[^ ,:)]*]]: vector<8xbf16>, %[[k:[^ ,:)]*]]: vector<8xbf16>, %[[v:[^ ,:)]*]]: vector<8xbf16>, %[[s:[^ ,:)]*]]: vector<8x8xf32>, %[[f:[^ ,:)]*]]: vector<8x8xf32>):
// CHECK-NEXT:      %[[s1:[^ ,:)]*]], %[[u:[^ ,:)]*]] = hla.step ins(%[[q]], %[[k]], %[[k]] : {{.*}}) state(%[[s]] :
// CHECK-NEXT:      %[[f1:[^ ,:)]*]], %{{.*}} = hla.step ins(%[[u]], %[[u]], %[[v]] : {{.*}}) state(%[[f]] :
// CHECK-NEXT:      hla.yield %[[s1]], %[[f1]]
// CHECK:         %[[F1:[^ ,:)]*]] = hla.combine_segments segments(%[[L]]) outs(%[[F0]] :
// CHECK:         %[[O:[^ ,:)]*]] = hla.fused_scan ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) segments(%[[L]]) entries(%[[S1]], %[[F1]] : {{.*}}) outs(%[[E]] : {{.*}}) carry_in [false, false] carry_out [false, false] entry_in [true, true] {
// CHECK:         return %[[O]]

// As many as make 132 blocks, of 512 tokens at least; one if that is not more
// than two levels.
// AUTO-LABEL: func @second_order
// AUTO:         %[[HEADS:[^ ,:)]*]] = arith.muli %{{.*}}, %{{.*}}
// AUTO-DAG:     %[[SOME:[^ ,:)]*]] = arith.maxsi %[[HEADS]], %c1
// AUTO-DAG:     %[[LONG:[^ ,:)]*]] = arith.floordivsi %{{.*}}, %c512
// AUTO-DAG:     %[[FILL:[^ ,:)]*]] = arith.floordivsi %c132, %[[SOME]]
// AUTO:         %[[WANTED:[^ ,:)]*]] = arith.minsi %[[FILL]], %[[LONG]]
// AUTO:         %[[ENOUGH:[^ ,:)]*]] = arith.floordivsi %[[WANTED]], %c3
// AUTO:         %[[USEFUL:[^ ,:)]*]] = arith.minsi %[[ENOUGH]], %c1
// AUTO:         %[[MORE:[^ ,:)]*]] = arith.subi %[[WANTED]], %c1
// AUTO:         arith.muli %[[MORE]], %[[USEFUL]]
func.func @second_order(%q: !S, %k: !S, %v: !S, %eu: !U, %e: !S) -> !S {
  %u = hla.scan ins(%q, %k, %k : !S, !S, !S) outs(%eu : !U) -> !U
  %o = hla.scan ins(%q, %u, %v : !S, !U, !S) outs(%e : !S) -> !S
  return %o : !S
}

// The carry is the first segment's, in all loops; what decays is said.
// CHECK-LABEL: func @carry
// CHECK-SAME:    %[[C:[^ ,:)]*]]: tensor<?x?x8x8xf32>
// CHECK:         %[[S0:[^ ,:)]*]] = hla.fused_scan reverse ins({{.*}}) segments({{.*}}) summary carries(%[[C]] : {{.*}}) outs({{.*}}) carry_in [true] carry_out [true] {
// CHECK:         %[[S1:[^ ,:)]*]] = hla.combine_segments decay(9.000000e-01) segments({{.*}}) outs(%[[S0]] :
// CHECK:         hla.fused_scan reverse ins({{.*}}) segments({{.*}}) carries(%[[C]] : {{.*}}) entries(%[[S1]] : {{.*}}) outs({{.*}}) carry_in [true] carry_out [true] entry_in [true] {
func.func @carry(%q: !S, %k: !S, %c: !State, %e: !S, %f: !State) -> (!S, !State) {
  %y:2 = hla.scan reverse decay(0.9) ins(%q, %k, %k : !S, !S, !S) carry(%c : !State) outs(%e, %f : !S, !State) -> !S, !State
  return %y#0, %y#1 : !S, !State
}

// A number a head decays every token of a segment.
// CHECK-LABEL: func @of_heads
// CHECK-SAME:    %[[G:[^ ,:)]*]]: tensor<?xf32>
// CHECK:         hla.combine_segments segments({{.*}}) log_decay(%[[G]] : tensor<?xf32>)
func.func @of_heads(%q: !S, %g: tensor<?xf32>, %e: !S) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?xf32>) outs(%e : !S) -> !S
  return %y : !S
}

// Numbers of tokens are added up.
// CHECK-LABEL: func @of_tokens
// CHECK-SAME:    %[[G:[^ ,:)]*]]: tensor<?x?x?xf32>
// CHECK:         %[[SUMS:[^ ,:)]*]] = hla.sum_segments layout(bhtd) ins(%[[G]] : {{.*}}) segments(%{{.*}}) outs
// CHECK:         hla.combine_segments segments({{.*}}) log_decay(%[[SUMS]] : tensor<?x?x?xf32>)
func.func @of_tokens(%q: !S, %g: tensor<?x?x?xf32>, %e: !S) -> !S {
  %y = hla.scan layout(bhtd) ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?x?x?xf32>) outs(%e : !S) -> !S
  return %y : !S
}

// Computed ones are computed, by a loop of the same segments; as far as they are
// read, so that one segment costs nothing.
// CHECK-LABEL: func @computed
// CHECK:         %[[G2:[^ ,:)]*]] = hla.fused_scan ins(%{{.*}} : tensor<?x?x?xf32>) segments(%{{.*}}) summary outs(%{{.*}} : tensor<?x?x?xf32>) carry_in [] carry_out [] {
// CHECK:           %[[g2:[^ ,:)]*]] = arith.addf
// CHECK-NEXT:      hla.yield %[[g2]]
// CHECK:         hla.sum_segments ins(%[[G2]] :
func.func @computed(%q: !S, %g: tensor<?x?x?xf32>, %e: !S) -> !S {
  %y = hla.fused_scan ins(%q, %g : !S, tensor<?x?x?xf32>) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<8xbf16>, %b: vector<1xf32>, %S: vector<8x8xf32>):
    %c = arith.addf %b, %b : vector<1xf32>
    %S1, %r = hla.step ins(%a, %a, %a : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) log_decay(%c : vector<1xf32>) state(%S : vector<8x8xf32>) -> vector<8xbf16>
    hla.yield %r, %S1 : vector<8xbf16>, vector<8x8xf32>
  } -> !S
  return %y : !S
}

// A loop without states has nothing to begin with.
// CHECK-LABEL: func @rows
// CHECK:         hla.fused_scan ins(%{{.*}} : {{.*}}) segments(%{{.*}}) outs
// CHECK-NOT:     hla.
// CHECK:         hla.yield
func.func @rows(%q: !S, %e: !S) -> !S {
  %y = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [] carry_out [] {
  ^bb0(%a: vector<8xbf16>):
    hla.yield %a : vector<8xbf16>
  } -> !S
  return %y : !S
}

// What stays as it is: sequences of lengths, short ones, and a state that its own
// rows change, which is not linear in what it begins with.
// CHECK-LABEL: func @lengths
// CHECK-NOT:     segments
// CHECK-LABEL: func @short
// CHECK-NOT:     segments
// CHECK-LABEL: func @own_rows
// CHECK-NOT:     segments
// CHECK:         return
func.func @lengths(%q: tensor<1x?x?x8xbf16>, %c: tensor<?xi32>, %e: tensor<1x?x?x8xbf16>) -> tensor<1x?x?x8xbf16> {
  %y = hla.scan ins(%q, %q, %q : tensor<1x?x?x8xbf16>, tensor<1x?x?x8xbf16>, tensor<1x?x?x8xbf16>) lengths(%c : tensor<?xi32>) outs(%e : tensor<1x?x?x8xbf16>) -> tensor<1x?x?x8xbf16>
  return %y : tensor<1x?x?x8xbf16>
}
func.func @short(%q: tensor<?x64x?x8xbf16>, %e: tensor<?x64x?x8xbf16>) -> tensor<?x64x?x8xbf16> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x64x?x8xbf16>, tensor<?x64x?x8xbf16>, tensor<?x64x?x8xbf16>) outs(%e : tensor<?x64x?x8xbf16>) -> tensor<?x64x?x8xbf16>
  return %y : tensor<?x64x?x8xbf16>
}
func.func @own_rows(%q: !S, %e: !S) -> !S {
  %y = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<8xbf16>, %S: vector<8x8xf32>):
    %S0, %p = hla.step exclusive ins(%a, %a, %a : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) state(%S : vector<8x8xf32>) -> vector<8xbf16>
    %S1, %r = hla.step ins(%a, %a, %p : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) state(%S : vector<8x8xf32>) -> vector<8xbf16>
    hla.yield %r, %S1 : vector<8xbf16>, vector<8x8xf32>
  } -> !S
  return %y : !S
}
