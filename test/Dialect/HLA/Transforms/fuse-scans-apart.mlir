// Scans that must stay in loops of their own, and those that only seem so.

// RUN: hla-opt %s --hla-fuse-scans | FileCheck %s

!U = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>

// They walk in opposite directions.
// CHECK-LABEL: func @directions
// CHECK:         %[[A:.*]] = hla.fused_scan ins
// CHECK:         hla.fused_scan reverse ins(%[[A]],
func.func @directions(%q: !U, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %b = hla.scan reverse ins(%a, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %b : !U
}

// One takes for heads what the other takes for tokens.
// CHECK-LABEL: func @layouts
// CHECK:         hla.fused_scan ins
// CHECK:         hla.fused_scan layout(bhtd) ins
func.func @layouts(%q: !U, %e: !U) -> (!U, !U) {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %b = hla.scan layout(bhtd) ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %a, %b : !U, !U
}

// They share nothing: extents may differ.
// CHECK-LABEL: func @unrelated
// CHECK-COUNT-2: hla.fused_scan
func.func @unrelated(%q: !U, %k: !U, %e1: !U, %e2: !U) -> (!U, !U) {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e1 : !U) -> !U
  %b = hla.scan ins(%k, %k, %k : !U, !U, !U) outs(%e2 : !U) -> !U
  return %a, %b : !U, !U
}

// A destination is not read: it ties nothing together.
// CHECK-LABEL: func @destination
// CHECK-COUNT-2: hla.fused_scan
func.func @destination(%q: !U, %k: !U, %e: !U) -> (!U, !U) {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %b = hla.scan ins(%k, %k, %k : !U, !U, !U) outs(%e : !U) -> !U
  return %a, %b : !U, !U
}

// The carry of the second is what the first ends with.
// CHECK-LABEL: func @final_as_carry
// CHECK:         %[[A:.*]]:2 = hla.fused_scan ins
// CHECK:         hla.fused_scan ins({{.*}}) carries(%[[A]]#1
func.func @final_as_carry(%q: !U, %e: !U, %f: !State) -> (!U, !U) {
  %a:2 = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e, %f : !U, !State) -> !U, !State
  %b = hla.scan ins(%q, %q, %q : !U, !U, !U) carry(%a#1 : !State) outs(%e : !U) -> !U
  return %a#0, %b : !U, !U
}

// A final state, as a sequence: known after the last token only.
// CHECK-LABEL: func @final_as_sequence
// CHECK:         %[[A:.*]]:2 = hla.fused_scan
// CHECK:         hla.fused_scan ins(%[[A]]#1
func.func @final_as_sequence(%q: !U, %e: !U, %f: !State, %g: !State) -> (!U, !State) {
  %a:2 = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e, %f : !U, !State) -> !U, !State
  %b = hla.scan ins(%a#1, %a#1, %a#1 : !State, !State, !State) outs(%g : !State) -> !State
  return %a#0, %b : !U, !State
}

// The second overwrites what the first has written.
// CHECK-LABEL: func @result_as_destination
// CHECK:         %[[A:.*]] = hla.fused_scan
// CHECK:         hla.fused_scan ins({{.*}}) outs(%[[A]] :
func.func @result_as_destination(%q: !U, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %b = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%a : !U) -> !U
  return %b : !U
}

// What comes between needs all of the first.
// CHECK-LABEL: func @between
// CHECK:         %[[A:.*]] = hla.fused_scan
// CHECK:         %[[X:.*]] = arith.negf %[[A]]
// CHECK:         hla.fused_scan ins(%[[X]], %[[A]]
func.func @between(%q: !U, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %x = arith.negf %a : !U
  %b = hla.scan ins(%x, %a, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %b : !U
}

// Also inside of a region, and if the second does not use it.
// CHECK-LABEL: func @between_in_region
// CHECK:         hla.fused_scan
// CHECK:         scf.if
// CHECK:         hla.fused_scan
func.func @between_in_region(%c: i1, %i: index, %q: !U, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  scf.if %c {
    %x = tensor.extract %a[%i, %i, %i, %i] : !U
    vector.print %x : f32
  }
  %b = hla.scan ins(%a, %a, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %b : !U
}

// A scan that no loop before can take in starts one that later scans may join.
// CHECK-LABEL: func @two_loops
// CHECK:         %[[A:.*]] = hla.fused_scan ins(%[[Q:[^ ]*]] : {{.*}}) outs({{.*}}) carry_in [false] carry_out [false]
// CHECK:         hla.fused_scan reverse ins(%[[A]], %[[Q]] : {{.*}}) outs({{.*}}) carry_in [false, false] carry_out [false, false]
// CHECK:           %{{.*}}, %[[B:.*]] = hla.step
// CHECK:           hla.step ins(%[[B]],
func.func @two_loops(%q: !U, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %b = hla.scan reverse ins(%a, %q, %q : !U, !U, !U) outs(%e : !U) -> !U
  %c = hla.scan reverse ins(%b, %a, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %c : !U
}

// Two loops of one tensor interleave: each is at the place of its last scan.
// CHECK-LABEL: func @interleaved
// CHECK:         %[[F:.*]] = hla.fused_scan ins({{.*}}) outs({{.*}}) carry_in [false, false]
// CHECK:         %[[R:.*]] = hla.fused_scan reverse ins({{.*}}) outs({{.*}}) carry_in [false, false]
// CHECK:         return %[[F]], %[[R]]
func.func @interleaved(%q: !U, %e1: !U, %e2: !U) -> (!U, !U) {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) outs(%e1 : !U) -> !U
  %b = hla.scan reverse ins(%q, %q, %q : !U, !U, !U) outs(%e2 : !U) -> !U
  %c = hla.scan ins(%q, %a, %q : !U, !U, !U) outs(%e1 : !U) -> !U
  %d = hla.scan reverse ins(%q, %b, %q : !U, !U, !U) outs(%e2 : !U) -> !U
  return %c, %d : !U, !U
}
