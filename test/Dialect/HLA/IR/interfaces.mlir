// Shapes of results, and effects: what is pure may be erased, merged and moved.

// RUN: hla-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize | FileCheck %s --check-prefix=SHAPE
// RUN: hla-opt %s --cse --canonicalize | FileCheck %s --check-prefix=EFFECT
// RUN: hla-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=HOIST

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>
!M = memref<?x?x?x8xf32>

//===----------------------------------------------------------------------===//
// Shapes: those of the destinations
//===----------------------------------------------------------------------===//

// SHAPE-LABEL: func @shape_of_second_order
// SHAPE-SAME:    %[[Q:.*]]: tensor<?x?x?x8xf32>, %[[E:.*]]: tensor<?x?x?x8xf32>
// SHAPE-DAG:     %[[C1:.*]] = arith.constant 1 : index
// SHAPE-DAG:     %[[C8:.*]] = arith.constant 8 : index
// SHAPE-NEXT:    %[[T:.*]] = tensor.dim %[[E]], %[[C1]]
// SHAPE-NEXT:    return %[[T]], %[[C8]]
func.func @shape_of_second_order(%q: !S, %e: !S) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %T = tensor.dim %o, %c1 : !S
  %d = tensor.dim %o, %c3 : !S
  return %T, %d : index, index
}

// Every operator's results have the shapes of its destinations, states too.
// SHAPE-LABEL: func @shape_of_operators
// SHAPE-SAME:    %{{.*}}: tensor<?x?x?x8xf32>, %[[E:.*]]: tensor<?x?x?x8xf32>, %[[F:.*]]: tensor<?x?x8x8xf32>
// SHAPE-NOT:     hla.
// SHAPE:         %[[A:.*]] = tensor.dim %[[F]]
// SHAPE:         %[[B:.*]] = tensor.dim %[[E]]
// SHAPE:         %[[C:.*]] = tensor.dim %[[F]]
// SHAPE:         return %[[A]], %[[B]], %[[C]]
func.func @shape_of_operators(%q: !S, %e: !S, %f: !State) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a:2 = hla.linear ins(%q, %q, %q : !S, !S, !S) outs(%e, %f : !S, !State) -> !S, !State
  %b = hla.asymmetric ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %c:4 = hla.third_order ins(%q, %q, %q : !S, !S, !S) outs(%e, %f, %f, %f : !S, !State, !State, !State) -> !S, !State, !State, !State
  %x = tensor.dim %a#1, %c0 : !State
  %y = tensor.dim %b, %c1 : !S
  %z = tensor.dim %c#3, %c1 : !State
  return %x, %y, %z : index, index, index
}

// SHAPE-LABEL: func @shape_of_scan
// SHAPE-SAME:    %{{.*}}: tensor<?x?x?x8xf32>, %[[E:.*]]: tensor<?x?x?x8xf32>, %[[F:.*]]: tensor<?x?x8x8xf32>
// SHAPE:         %[[B:.*]] = tensor.dim %[[E]]
// SHAPE:         %[[H:.*]] = tensor.dim %[[F]]
// SHAPE:         return %[[B]], %[[H]]
func.func @shape_of_scan(%q: !S, %e: !S, %f: !State) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %o:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e, %f : !S, !State) -> !S, !State
  %B = tensor.dim %o#0, %c0 : !S
  %H = tensor.dim %o#1, %c1 : !State
  return %B, %H : index, index
}

// SHAPE-LABEL: func @shape_of_fused_scan
// SHAPE-SAME:    %{{.*}}: tensor<?x?x?x8xf32>, %[[E:.*]]: tensor<?x?x?x8xf32>
// SHAPE-NOT:     hla.fused_scan
// SHAPE:         %[[H:.*]] = tensor.dim %[[E]]
// SHAPE-NEXT:    return %[[H]]
func.func @shape_of_fused_scan(%q: !S, %e: !S) -> index {
  %c2 = arith.constant 2 : index
  %o = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  } -> !S
  %H = tensor.dim %o, %c2 : !S
  return %H : index
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

// On tensors all are pure: an unused one goes.
// EFFECT-LABEL: func @unused
// EFFECT-NEXT:    return
func.func @unused(%q: !S, %e: !S, %f: !State) {
  %l = hla.linear ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %m = hla.asymmetric ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %t = hla.third_order variant(paper) ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %y:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e, %f : !S, !State) -> !S, !State
  %z = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %row = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %row, %S1 : !r, !s
  } -> !S
  return
}

// Two equal ones are one; a different one is not.
// EFFECT-LABEL: func @equal
// EFFECT:         %[[A:.*]] = hla.scan ins
// EFFECT:         %[[B:.*]] = hla.scan exclusive ins
// EFFECT-NEXT:    return %[[A]], %[[A]], %[[B]]
func.func @equal(%q: !S, %e: !S) -> (!S, !S, !S) {
  %a = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %b = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %c = hla.scan exclusive ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %a, %b, %c : !S, !S, !S
}

// So of operators: one option or operand apart, they are two.
// EFFECT-LABEL: func @equal_operators
// EFFECT:         %[[A:.*]] = hla.second_order ins
// EFFECT:         %[[B:.*]] = hla.second_order ridge
// EFFECT:         %[[C:.*]] = hla.second_order ins({{.*}}) log_decay
// EFFECT-NEXT:    return %[[A]], %[[A]], %[[B]], %[[C]]
func.func @equal_operators(%q: !S, %e: !S, %g: tensor<?xf32>) -> (!S, !S, !S, !S) {
  %a = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %b = hla.second_order variant(masked) decay(1.0) ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %c = hla.second_order ridge(0.5) ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %d = hla.second_order ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?xf32>) outs(%e : !S) -> !S
  return %a, %b, %c, %d : !S, !S, !S, !S
}

// Steps too; a body has no other effects.
// EFFECT-LABEL: func @equal_steps
// EFFECT:         hla.step
// EFFECT-NOT:     hla.step
// EFFECT:         hla.yield
func.func @equal_steps(%q: !S, %e: !S) -> !S {
  %z = hla.fused_scan ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %row1 = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    %S2, %row2 = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %row1, %S2 : !r, !s
  } -> !S
  return %z : !S
}

// In memory a loop writes its outputs: neither unused nor equal to another.
// EFFECT-LABEL: func @in_memory
// EFFECT-COUNT-2: hla.fused_scan
func.func @in_memory(%q: !M, %o: !M) {
  hla.fused_scan ins(%q : !M) outs(%o : !M) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  }
  hla.fused_scan ins(%q : !M) outs(%o : !M) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  }
  return
}

// It reads its inputs: a load of what it wrote is not the load from before.
// EFFECT-LABEL: func @written
// EFFECT:         memref.load
// EFFECT:         hla.fused_scan
// EFFECT:         memref.load
func.func @written(%q: !M, %o: !M, %i: index) -> (f32, f32) {
  %x = memref.load %o[%i, %i, %i, %i] : !M
  hla.fused_scan ins(%q : !M) outs(%o : !M) carry_in [false] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    %S1, %y = hla.step ins(%a, %a, %a : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  }
  %z = memref.load %o[%i, %i, %i, %i] : !M
  return %x, %z : f32, f32
}

// An operator that a loop does not change is not known to run: it may not be
// speculated, so it stays.
// HOIST-LABEL: func @in_a_loop
// HOIST:         scf.for
// HOIST:           hla.second_order
func.func @in_a_loop(%q: !S, %e: !S, %n: index) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %e) -> !S {
    %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
    scf.yield %o : !S
  }
  return %r : !S
}
