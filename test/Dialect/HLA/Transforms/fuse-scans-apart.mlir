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

// One has sequences that the other does not know of.
// CHECK-LABEL: func @lengths
// CHECK:         hla.fused_scan ins({{.*}}) lengths(%[[C:.*]] : {{.*}}) outs({{.*}}) carry_in [false, false]
// CHECK:         hla.fused_scan ins({{.*}}) outs({{.*}}) carry_in [false]
// CHECK:         hla.fused_scan ins({{.*}}) lengths(%[[D:.*]] : {{.*}}) outs({{.*}}) carry_in [false]
func.func @lengths(%q: tensor<1x?x?x8xf32>, %c: tensor<?xi32>, %d: tensor<?xi32>, %e: tensor<1x?x?x8xf32>) -> (tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) {
  %0 = hla.scan ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%c : tensor<?xi32>) outs(%e : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  %1 = hla.scan exclusive ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%c : tensor<?xi32>) outs(%e : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  %2 = hla.scan ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) outs(%e : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  %3 = hla.scan ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%d : tensor<?xi32>) outs(%e : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  return %0, %1, %2, %3 : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>
}

// A head of %k is read by two heads of one, and by one of the other: they have
// other heads. In one loop it would be walked with two meanings.
// CHECK-LABEL: func @heads
// CHECK:         hla.fused_scan groups([1, 2]) ins(%[[Q:[^,]*]], %[[K:[^ ]*]] :
// CHECK:         hla.fused_scan ins(%[[K]] :
func.func @heads(%q: !U, %k: !U, %e1: !U, %e2: !U) -> (!U, !U) {
  %a = hla.scan groups([1, 2, 2]) ins(%q, %k, %k : !U, !U, !U) outs(%e1 : !U) -> !U
  %b = hla.scan ins(%k, %k, %k : !U, !U, !U) outs(%e2 : !U) -> !U
  return %a, %b : !U, !U
}

// A row that is handed over is of one head.
// CHECK-LABEL: func @grouped_result
// CHECK:         %[[A:.*]] = hla.fused_scan ins
// CHECK:         hla.fused_scan groups([1, 2]) ins(%{{.*}}, %[[A]] :
func.func @grouped_result(%q: !U, %k: !U, %e1: !U, %e2: !U) -> !U {
  %a = hla.scan ins(%k, %k, %k : !U, !U, !U) outs(%e1 : !U) -> !U
  %b = hla.scan groups([1, 2, 2]) ins(%q, %a, %a : !U, !U, !U) outs(%e2 : !U) -> !U
  return %b : !U
}

// A decay of heads says nothing of the tokens: these may be others.
// CHECK-LABEL: func @decay_of_heads
// CHECK-COUNT-2: hla.fused_scan
func.func @decay_of_heads(%q: tensor<1x5x2x8xf32>, %k: tensor<1x7x2x8xf32>, %g: tensor<2xf32>) -> (tensor<1x5x2x8xf32>, tensor<1x7x2x8xf32>) {
  %a = hla.scan ins(%q, %q, %q : tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>) log_decay(%g : tensor<2xf32>) outs(%q : tensor<1x5x2x8xf32>) -> tensor<1x5x2x8xf32>
  %b = hla.scan ins(%k, %k, %k : tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>) log_decay(%g : tensor<2xf32>) outs(%k : tensor<1x7x2x8xf32>) -> tensor<1x7x2x8xf32>
  return %a, %b : tensor<1x5x2x8xf32>, tensor<1x7x2x8xf32>
}

// The lengths of the second are made of what the first has computed.
// CHECK-LABEL: func @computed_lengths
// CHECK:         %[[A:.*]] = hla.fused_scan
// CHECK:         %[[C:.*]] = tensor.from_elements
// CHECK:         hla.fused_scan ins(%{{.*}}, %[[A]] : {{.*}}) lengths(%[[C]] :
func.func @computed_lengths(%q: tensor<1x?x?x8xf32>, %c: tensor<2xi32>, %i: index) -> tensor<1x?x?x8xf32> {
  %a = hla.scan ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%c : tensor<2xi32>) outs(%q : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  %x = tensor.extract %a[%i, %i, %i, %i] : tensor<1x?x?x8xf32>
  %n = arith.fptosi %x : f32 to i32
  %d = tensor.from_elements %n, %n : tensor<2xi32>
  %b = hla.scan ins(%q, %a, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%d : tensor<2xi32>) outs(%q : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  return %b : tensor<1x?x?x8xf32>
}

// A loop that has a schedule is done.
// CHECK-LABEL: func @scheduled
// CHECK:         %[[A:.*]] = hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>) ins
// CHECK:         hla.fused_scan ins(%{{.*}}, %[[A]] :
func.func @scheduled(%q: !U, %e: !U) -> !U {
  %a = hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>) ins(%q : !U) outs(%e : !U) carry_in [] carry_out [] {
  ^bb0(%x: vector<8xf32>):
    hla.yield %x : vector<8xf32>
  } -> !U
  %b = hla.scan ins(%q, %a, %q : !U, !U, !U) outs(%e : !U) -> !U
  return %b : !U
}

// In memory, what is written between is not seen in operands.
// CHECK-LABEL: func @in_memory
// CHECK:         hla.fused_scan
// CHECK:         memref.store
// CHECK:         hla.fused_scan
func.func @in_memory(%q: memref<?x?x?x8xf32>, %o: memref<?x?x?x8xf32>, %i: index, %x: f32) {
  hla.fused_scan ins(%q : memref<?x?x?x8xf32>) outs(%o : memref<?x?x?x8xf32>) carry_in [] carry_out [] {
  ^bb0(%a: vector<8xf32>):
    hla.yield %a : vector<8xf32>
  }
  memref.store %x, %q[%i, %i, %i, %i] : memref<?x?x?x8xf32>
  hla.fused_scan ins(%q : memref<?x?x?x8xf32>) outs(%o : memref<?x?x?x8xf32>) carry_in [] carry_out [] {
  ^bb0(%a: vector<8xf32>):
    hla.yield %a : vector<8xf32>
  }
  return
}

// The states of one are numbered by others.
// CHECK-LABEL: func @slots
// CHECK:         hla.fused_scan ins({{.*}}) slots(%arg1 : tensor<?xi32>) carries
// CHECK:         hla.fused_scan ins({{.*}}) slots(%arg2 : tensor<?xi32>) carries
func.func @slots(%q: !U, %n: tensor<?xi32>, %m: tensor<?xi32>, %s: !State, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) slots(%n : tensor<?xi32>) carry(%s : !State) outs(%e : !U) -> !U
  %b = hla.scan ins(%a, %q, %q : !U, !U, !U) slots(%m : tensor<?xi32>) carry(%s : !State) outs(%e : !U) -> !U
  return %b : !U
}

// And here by the same: one loop.
// CHECK-LABEL: func @same_slots
// CHECK:         hla.fused_scan ins({{.*}}) slots(%arg1 : tensor<?xi32>) carries(%arg2, %arg2 :
// CHECK-NOT:     hla.fused_scan
func.func @same_slots(%q: !U, %n: tensor<?xi32>, %s: !State, %e: !U) -> !U {
  %a = hla.scan ins(%q, %q, %q : !U, !U, !U) slots(%n : tensor<?xi32>) carry(%s : !State) outs(%e : !U) -> !U
  %b = hla.scan ins(%a, %q, %q : !U, !U, !U) slots(%n : tensor<?xi32>) carry(%s : !State) outs(%e : !U) -> !U
  return %b : !U
}
