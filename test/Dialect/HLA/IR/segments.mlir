// Loops in segments, and what lies between them: printed as parsed, and shared or
// dropped with their entries.

// RUN: hla-opt %s | hla-opt | FileCheck %s
// RUN: hla-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>
!Entry = tensor<?x?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// CHECK-LABEL: func @summary
// CHECK:         hla.fused_scan reverse ins(%{{.*}} : tensor<?x?x?x8xf32>) segments(%{{.*}}) summary carries(%{{.*}} : tensor<?x?x8x8xf32>) outs(%{{.*}} : tensor<?x?x?x8x8xf32>) carry_in [true] carry_out [true] {
func.func @summary(%k: !S, %l: index, %c: !State, %e: !Entry) -> !Entry {
  %sums = hla.fused_scan reverse ins(%k : !S) segments(%l) summary carries(%c : !State) outs(%e : !Entry) carry_in [true] carry_out [true] {
  ^bb0(%kt: !r, %S: !s):
    %S1, %u = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %S1 : !s
  } -> !Entry
  return %sums : !Entry
}

// Of two states with one update the second stays where entries differ.
// CHECK-LABEL: func @entries
// CHECK:         hla.fused_scan ins(%{{.*}}, %{{.*}} : {{.*}}) segments(%{{.*}}) entries(%[[A:.*]], %[[B:.*]] : tensor<?x?x?x8x8xf32>, tensor<?x?x?x8x8xf32>) outs(%{{.*}} : {{.*}}) carry_in [false, false] carry_out [false, false] entry_in [true, true] {
// CANONICAL-LABEL: func @entries
// CANONICAL:         entry_in [true, true] {
func.func @entries(%q: !S, %k: !S, %l: index, %a: !Entry, %b: !Entry, %e: !S, %f: !S) -> (!S, !S) {
  %y:2 = hla.fused_scan ins(%q, %k : !S, !S) segments(%l) entries(%a, %b : !Entry, !Entry) outs(%e, %f : !S, !S)
      carry_in [false, false] carry_out [false, false] entry_in [true, true] {
  ^bb0(%qt: !r, %kt: !r, %S: !s, %R: !s):
    %S1, %u = hla.step ins(%qt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    %R1, %w = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%R : !s) -> !r
    hla.yield %u, %w, %S1, %R1 : !r, !r, !s, !s
  } -> !S, !S
  return %y#0, %y#1 : !S, !S
}

// CANONICAL-LABEL: func @shared_entries
// CANONICAL:         entries(%{{.*}} : tensor<?x?x?x8x8xf32>) {{.*}} carry_in [false] carry_out [false] entry_in [true] {
func.func @shared_entries(%q: !S, %k: !S, %l: index, %a: !Entry, %e: !S, %f: !S) -> (!S, !S) {
  %y:2 = hla.fused_scan ins(%q, %k : !S, !S) segments(%l) entries(%a, %a : !Entry, !Entry) outs(%e, %f : !S, !S)
      carry_in [false, false] carry_out [false, false] entry_in [true, true] {
  ^bb0(%qt: !r, %kt: !r, %S: !s, %R: !s):
    %S1, %u = hla.step ins(%qt, %kt, %kt : !r, !r, !r) state(%S : !s) -> !r
    %R1, %w = hla.step ins(%kt, %kt, %kt : !r, !r, !r) state(%R : !s) -> !r
    hla.yield %u, %w, %S1, %R1 : !r, !r, !s, !s
  } -> !S, !S
  return %y#0, %y#1 : !S, !S
}

// CHECK-LABEL: func @between
// CHECK:         hla.combine_segments segments(%{{.*}}) outs(%{{.*}} : tensor<?x?x?x8x8xf32>) -> tensor<?x?x?x8x8xf32>
// CHECK:         hla.combine_segments decay(5.000000e-01) segments
// CHECK:         hla.combine_segments segments(%{{.*}}) log_decay(%{{.*}} : tensor<?xf32>) outs
// CHECK:         %[[G:.*]] = hla.sum_segments reverse layout(bhtd) ins(%{{.*}} : tensor<?x?x?xf32>) segments(%{{.*}}) outs(%{{.*}} : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
// CHECK:         hla.combine_segments segments(%{{.*}}) log_decay(%[[G]] : tensor<?x?x?xf32>) outs
func.func @between(%a: !Entry, %l: index, %h: tensor<?xf32>, %g: tensor<?x?x?xf32>, %e: tensor<?x?x?xf32>) -> !Entry {
  %0 = hla.combine_segments segments(%l) outs(%a : !Entry) -> !Entry
  %1 = hla.combine_segments decay(0.5) segments(%l) outs(%0 : !Entry) -> !Entry
  %2 = hla.combine_segments segments(%l) log_decay(%h : tensor<?xf32>) outs(%1 : !Entry) -> !Entry
  %s = hla.sum_segments reverse layout(bhtd) ins(%g : tensor<?x?x?xf32>) segments(%l) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %3 = hla.combine_segments segments(%l) log_decay(%s : tensor<?x?x?xf32>) outs(%2 : !Entry) -> !Entry
  return %3 : !Entry
}
