// Tokens that are known to be one chunk make no loop: a state is loaded where its
// first step is, and stored where its last one was.

// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_80 --hla-bufferize --convert-hla-to-tile --canonicalize | FileCheck %s

!T = tensor<?x4x?x64xbf16>
!S = tensor<?x?x64x64xf32>

// CHECK-LABEL: func @in_place(
// CHECK-SAME:    %[[S:arg[0-9]+]]: memref<?x?x64x64xf32
// CHECK-NOT:     scf.for
// CHECK:         %[[VIEW:.*]] = memref.subview %[[S]][
// CHECK:         %[[STATE:.*]] = hla_tile.load {{.*}} -> tensor<64x64xf32>
// CHECK:         %[[NEXT:.*]] = hla_tile.dot {{.*}}, %[[STATE]] transpose_lhs
// CHECK:         hla_tile.store %[[NEXT]]
// CHECK-NOT:     hla_tile.load {{.*}} -> tensor<64x64xf32>
// CHECK:         hla_tile.store
// CHECK:         hla_tile.return
func.func @in_place(%q: !T, %s: !S, %e: !T) -> (!T, !S) {
  %y, %z = hla.scan ins(%q, %q, %q : !T, !T, !T) carry(%s : !S) outs(%e, %s : !T, !S) -> !T, !S
  return %y, %z : !T, !S
}

// The second state is loaded when the first is stored.
// CHECK-LABEL: func @two_states(
// CHECK:         hla_tile.load {{.*}} -> tensor<64x64xf32>
// CHECK-NOT:     hla_tile.load {{.*}} -> tensor<64x64xf32>
// CHECK:         hla_tile.store {{.*}} : tensor<64x64xf32>
// CHECK:         hla_tile.load {{.*}} -> tensor<64x64xf32>
// CHECK:         hla_tile.store {{.*}} : tensor<64x64xf32>
func.func @two_states(%q: !T, %s: !S, %f: !S, %e: !T) -> (!T, !S, !S) {
  %y:3 = hla.fused_scan ins(%q : !T) carries(%s, %f : !S, !S) outs(%e, %s, %f : !T, !S, !S)
      carry_in [true, true] carry_out [true, true] {
  ^bb0(%a: vector<64xbf16>, %S: vector<64x64xf32>, %F: vector<64x64xf32>):
    %S1, %u = hla.step ins(%a, %a, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    %F1, %o = hla.step ins(%a, %u, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%F : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %o, %S1, %F1 : vector<64xbf16>, vector<64x64xf32>, vector<64x64xf32>
  } -> !T, !S, !S
  return %y#0, %y#1, %y#2 : !T, !S, !S
}

// A state that no step reads stays what it was.
// CHECK-LABEL: func @untouched(
// CHECK:         %[[OTHER:.*]] = hla_tile.load {{.*}} -> tensor<64x64xf32>
// CHECK-NEXT:    hla_tile.store %[[OTHER]]
func.func @untouched(%q: !T, %f: !S, %e: !T, %g: !S) -> (!T, !S) {
  %y:2 = hla.fused_scan ins(%q : !T) carries(%f : !S) outs(%e, %g : !T, !S)
      carry_in [true] carry_out [true] {
  ^bb0(%a: vector<64xbf16>, %F: vector<64x64xf32>):
    hla.yield %a, %F : vector<64xbf16>, vector<64x64xf32>
  } -> !T, !S
  return %y#0, %y#1 : !T, !S
}

// In reverse the chunk is the same.
// CHECK-LABEL: func @reverse(
// CHECK-NOT:     scf.for
// CHECK:         hla_tile.causal upper
func.func @reverse(%q: !T, %e: !T) -> !T {
  %y = hla.scan reverse ins(%q, %q, %q : !T, !T, !T) outs(%e : !T) -> !T
  return %y : !T
}

// More tokens than a chunk has, or none, or of sequences of lengths, are a loop.
// CHECK-LABEL: func @more(
// CHECK:         scf.for
func.func @more(%q: tensor<?x33x?x64xbf16>, %e: tensor<?x33x?x64xbf16>) -> tensor<?x33x?x64xbf16> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x33x?x64xbf16>, tensor<?x33x?x64xbf16>, tensor<?x33x?x64xbf16>) outs(%e : tensor<?x33x?x64xbf16>) -> tensor<?x33x?x64xbf16>
  return %y : tensor<?x33x?x64xbf16>
}
