// RUN: hla-opt %s --hla-fuse-scans --hla-bufferize | FileCheck %s

!S = tensor<?x?x?x8xbf16>
!State = tensor<?x?x8x8xf32>

// Arguments have any strides, but rows are contiguous. A result that is written
// to no argument becomes one, at the end; a `tensor.empty` is no memory of its own.
// CHECK-LABEL: func @result
// CHECK-SAME:    (%[[Q:[^:]*]]: memref<?x?x?x8xbf16, strided<[?, ?, ?, 1]>>, %{{.*}}: index, %[[O:[^:]*]]: memref<?x?x?x8xbf16, strided<[?, ?, ?, 1]>>) {
// CHECK-NOT:     memref.alloc
// CHECK:         hla.fused_scan ins(%[[Q]] : {{.*}}) outs(%[[O]] :
// CHECK-NOT:     memref.copy
// CHECK:         return{{$}}
func.func @result(%q: !S, %n: index) -> !S {
  %e = tensor.empty(%n, %n, %n) : !S
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y : !S
}

// A destination that is an argument is written in place.
// CHECK-LABEL: func @destination
// CHECK-SAME:    (%[[Q:[^:]*]]: memref<{{[^>]*}}>>, %[[E:[^:]*]]: memref<{{[^>]*}}>>) {
// CHECK-NEXT:    hla.fused_scan ins(%[[Q]] : {{.*}}) outs(%[[E]] :
// CHECK:         }
// CHECK-NEXT:    return{{$}}
func.func @destination(%q: !S, %e: !S) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y : !S
}

// Several results: in order, those without a place of their own at the end.
// CHECK-LABEL: func @several
// CHECK-SAME:    (%[[Q:[^:]*]]: memref<{{[^>]*}}>>, %[[F:[^:]*]]: memref<?x?x8x8xf32, strided<[?, ?, ?, 1]>>, %{{[^:]*}}: index, %[[A:[^:]*]]: memref<{{[^>]*}}>>, %[[B:[^:]*]]: memref<{{[^>]*}}>>) {
// CHECK:         hla.fused_scan ins(%[[Q]] : {{.*}}) outs(%[[A]], %[[B]], %[[F]] :
// CHECK:         return{{$}}
func.func @several(%q: !S, %f: !State, %n: index) -> (!S, !State, !S) {
  %e = tensor.empty(%n, %n, %n) : !S
  %a:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e, %f : !S, !State) -> !S, !State
  %b = hla.scan exclusive ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %a#0, %a#1, %b : !S, !State, !S
}

// A carry may be updated in place: a head's is read before it is written.
// CHECK-LABEL: func @carry_in_place
// CHECK-SAME:    (%{{[^:]*}}: memref<{{[^>]*}}>>, %[[S:[^:]*]]: memref<?x?x8x8xf32, strided<[?, ?, ?, 1]>>, %[[E:[^:]*]]: memref<{{[^>]*}}>>) {
// CHECK-NEXT:    hla.fused_scan ins({{.*}}) carries(%[[S]] : {{.*}}) outs(%[[E]], %[[S]] :
// CHECK:         }
// CHECK-NEXT:    return{{$}}
func.func @carry_in_place(%q: !S, %s: !State, %e: !S) -> (!S, !State) {
  %y:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) carry(%s : !State) outs(%e, %s : !S, !State) -> !S, !State
  return %y#0, %y#1 : !S, !State
}

// Not so the state of another scan: it could be read after it is written.
// CHECK-LABEL: func @carry_of_another
// CHECK-SAME:    (%{{[^:]*}}: memref<{{[^>]*}}>>, %[[S:[^:]*]]: memref<{{[^>]*}}>>, %[[T:[^:]*]]: memref<
// CHECK:         %[[COPY:.*]] = memref.alloc
// CHECK:         hla.fused_scan ins({{.*}}) carries(%[[S]], %[[T]] : {{.*}}) outs(%{{.*}}, %{{.*}}, %[[COPY]], %{{.*}} :
func.func @carry_of_another(%q: !S, %s: !State, %t: !State, %e1: !S, %e2: !S) -> (!S, !S, !State, !State) {
  %a:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) carry(%s : !State) outs(%e1, %t : !S, !State) -> !S, !State
  %b:2 = hla.scan exclusive ins(%q, %q, %q : !S, !S, !S) carry(%t : !State) outs(%e2, %s : !S, !State) -> !S, !State
  return %a#0, %b#0, %a#1, %b#1 : !S, !S, !State, !State
}

// Nor a shifted part of what is read: a head would write the carry of the next,
// so that carries are copied first.
// CHECK-LABEL: func @carry_of_other_heads
// CHECK:         %[[COPY:.*]] = memref.alloc
// CHECK:         hla.fused_scan ins({{.*}}) carries(%[[COPY]] : {{.*}}) outs(
!Q = tensor<1x?x4x8xf32>
!Heads = tensor<1x4x8x8xf32>
func.func @carry_of_other_heads(%q: !Q, %s: tensor<1x5x8x8xf32>, %e: !Q) -> (!Q, tensor<1x5x8x8xf32>) {
  %carry = tensor.extract_slice %s[0, 0, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : tensor<1x5x8x8xf32> to !Heads
  %final = tensor.extract_slice %s[0, 1, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : tensor<1x5x8x8xf32> to !Heads
  %y:2 = hla.scan ins(%q, %q, %q : !Q, !Q, !Q) carry(%carry : !Heads) outs(%e, %final : !Q, !Heads) -> !Q, !Heads
  %r = tensor.insert_slice %y#1 into %s[0, 1, 0, 0] [1, 4, 8, 8] [1, 1, 1, 1] : !Heads into tensor<1x5x8x8xf32>
  return %y#0, %r : !Q, tensor<1x5x8x8xf32>
}

// Inputs are read until the last token: a destination that is one is written
// elsewhere first.
// CHECK-LABEL: func @input_as_destination
// CHECK-SAME:    (%[[Q:[^:]*]]: memref<
// CHECK:         %[[COPY:.*]] = memref.alloc
// CHECK:         hla.fused_scan ins(%[[Q]] : {{.*}}) outs(%[[COPY]] :
// CHECK:         memref.copy %[[COPY]], %[[Q]]
func.func @input_as_destination(%q: !S) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return %y : !S
}

// What a loop hands to one that walks back is in memory between them.
// CHECK-LABEL: func @intermediate
// CHECK-SAME:    %[[O:[^:]*]]: memref<{{[^>]*}}>>) {
// CHECK:         %[[U:.*]] = memref.alloc(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : memref<?x?x?x8xbf16>
// CHECK:         hla.fused_scan ins({{.*}}) outs(%[[U]] :
// CHECK:         hla.fused_scan reverse ins(%{{.*}}, %[[U]] : {{.*}}) outs(%[[O]] :
func.func @intermediate(%q: !S, %n: index) -> !S {
  %e = tensor.empty(%n, %n, %n) : !S
  %u = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %o = hla.scan reverse ins(%q, %u, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
}

// The same result twice is written twice; an argument returned is copied.
// CHECK-LABEL: func @copies
// CHECK-SAME:    (%[[Q:[^:]*]]: memref<{{[^>]*}}>>, %[[E:[^:]*]]: memref<{{[^>]*}}>>, %[[R1:[^:]*]]: memref<{{[^>]*}}>>, %[[R2:[^:]*]]: memref<
// CHECK:         hla.fused_scan {{.*}} outs(%[[E]] :
// CHECK-DAG:     memref.copy %[[E]], %[[R1]]
// CHECK-DAG:     memref.copy %[[Q]], %[[R2]]
func.func @copies(%q: !S, %e: !S) -> (!S, !S, !S) {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y, %y, %q : !S, !S, !S
}

// The schedule, the layout and the direction stay.
// CHECK-LABEL: func @attributes
// CHECK:         hla.fused_scan reverse layout(bhtd) schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>) ins
// CHECK:           hla.step exclusive decay(5.000000e-01)
func.func @attributes(%q: !S, %e: !S) -> !S {
  %o = hla.fused_scan reverse layout(bhtd) schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<8xbf16>, %s: vector<8x8xf32>):
    %s1, %y = hla.step exclusive decay(0.5) ins(%a, %a, %a : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) state(%s : vector<8x8xf32>) -> vector<8xbf16>
    hla.yield %y, %s1 : vector<8xbf16>, vector<8x8xf32>
  } -> !S
  return %o : !S
}

// A private function keeps its results: its callers are here.
// CHECK-LABEL: func private @callee
// CHECK-SAME:    -> memref<?x?x?x8xbf16
func.func private @callee(%q: !S, %e: !S) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y : !S
}

// CHECK-LABEL: func @caller
// CHECK:         %[[Y:.*]] = call @callee
// CHECK:         return{{$}}
func.func @caller(%q: !S, %e: !S) -> !S {
  %y = call @callee(%q, %e) : (!S, !S) -> !S
  return %y : !S
}

// States of segments are combined where they are. Segments are walked at once, so
// that a carry is not overwritten by the final state: it is copied first.
// CHECK-LABEL: func @segments
// CHECK-SAME:    (%[[Q:[^:]*]]: memref<{{[^>]*}}>>, %[[C:[^:]*]]: memref<{{[^>]*}}>>, %[[L:[^:]*]]: index
// CHECK:         %[[SUMS:.*]] = memref.alloc({{.*}}) {{.*}} : memref<?x?x?x8x8xf32>
// CHECK:         hla.fused_scan ins(%[[Q]] : {{.*}}) segments(%[[L]]) summary carries(%[[C]] : {{.*}}) outs(%[[SUMS]] : memref<?x?x?x8x8xf32>)
// CHECK:         hla.combine_segments decay(5.000000e-01) segments(%[[L]]) outs(%[[SUMS]] : memref<?x?x?x8x8xf32>)
// CHECK:         %[[COPY:.*]] = memref.alloc({{.*}}) {{.*}} : memref<?x?x8x8xf32>
// CHECK:         hla.fused_scan ins(%[[Q]] : {{.*}}) segments(%[[L]]) carries(%{{.*}} : {{.*}}) entries(%[[SUMS]] : memref<?x?x?x8x8xf32>) outs(%{{.*}} : {{.*}}) carry_in [true] carry_out [true] entry_in [true]
func.func @segments(%q: !S, %c: !State, %l: index, %n: index) -> !State {
  %e = tensor.empty(%n, %n, %n) : tensor<?x?x?x8x8xf32>
  %sums = hla.fused_scan ins(%q : !S) segments(%l) summary carries(%c : !State) outs(%e : tensor<?x?x?x8x8xf32>) carry_in [true] carry_out [true] {
  ^bb0(%x: vector<8xbf16>, %s: vector<8x8xf32>):
    %s1, %y = hla.step decay(0.5) ins(%x, %x, %x : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) state(%s : vector<8x8xf32>) -> vector<8xbf16>
    hla.yield %s1 : vector<8x8xf32>
  } -> tensor<?x?x?x8x8xf32>
  %entries = hla.combine_segments decay(0.5) segments(%l) outs(%sums : tensor<?x?x?x8x8xf32>) -> tensor<?x?x?x8x8xf32>
  %f = hla.fused_scan ins(%q : !S) segments(%l) carries(%c : !State) entries(%entries : tensor<?x?x?x8x8xf32>) outs(%c : !State) carry_in [true] carry_out [true] entry_in [true] {
  ^bb0(%x: vector<8xbf16>, %s: vector<8x8xf32>):
    %s1, %y = hla.step decay(0.5) ins(%x, %x, %x : vector<8xbf16>, vector<8xbf16>, vector<8xbf16>) state(%s : vector<8x8xf32>) -> vector<8xbf16>
    hla.yield %s1 : vector<8x8xf32>
  } -> !State
  return %f : !State
}
