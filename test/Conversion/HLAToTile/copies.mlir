// Copies of sequences and states, which a launcher cannot make.

// RUN: hla-opt %s --split-input-file --convert-hla-to-tile --canonicalize | FileCheck %s

!S = memref<?x?x64x48xf32, strided<[?, ?, ?, 1]>>
!Q = memref<?x?x?x64xbf16, strided<[?, ?, ?, 1]>>
module attributes {hla.target = #hla.target<"sm_80">} {

// Of a state, the rows, as the tokens of a loop would be.
// CHECK-LABEL: func @state
// CHECK-SAME:    %[[FROM:[a-z0-9]+]]: memref<?x?x64x48xf32>
// CHECK-DAG:     %[[B:.*]] = memref.dim %[[FROM]], %c0
// CHECK:         hla_tile.launch (%{{.*}}, %{{.*}}) in (%[[B]], %c64)
// CHECK:           %[[ROWS:.*]] = hla_tile.load {{.*}} : memref<?x48xf32, {{.*}} -> tensor<32x64xf32>
// CHECK:           hla_tile.store %[[ROWS]]
// CHECK-NOT:     memref.copy
func.func @state(%from: memref<?x?x64x48xf32>, %to: !S) {
  memref.copy %from, %to : memref<?x?x64x48xf32> to !S
  return
}

// What has no rows stays.
// CHECK-LABEL: func @numbers
// CHECK:         memref.copy
func.func @numbers(%from: memref<?xf32>, %to: memref<?xf32>) {
  memref.copy %from, %to : memref<?xf32> to memref<?xf32>
  return
}

// So do rows that are wider than tiles.
// CHECK-LABEL: func @wide
// CHECK:         memref.copy
func.func @wide(%from: memref<?x?x?x1024xf32>, %to: memref<?x?x?x1024xf32>) {
  memref.copy %from, %to : memref<?x?x?x1024xf32> to memref<?x?x?x1024xf32>
  return
}

// Of a sequence, the tokens: as the other loops have them.
// CHECK-LABEL: func @sequence
// CHECK-SAME:    %[[FROM:[a-z0-9]+]]: memref
// CHECK-DAG:     %[[B:.*]] = memref.dim %[[FROM]], %c0
// CHECK-DAG:     %[[H:.*]] = memref.dim %[[FROM]], %c2
// CHECK:         hla_tile.launch (%{{.*}}, %{{.*}}) in (%[[B]], %[[H]])
func.func @sequence(%from: !Q, %to: !Q, %o: !Q) {
  memref.copy %from, %to : !Q to !Q
  hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 1, precision = bf16>)
      ins(%from : !Q) outs(%o : !Q) carry_in [] carry_out [] {
  ^bb0(%q: vector<64xbf16>):
    hla.yield %q : vector<64xbf16>
  }
  return
}

}

// -----

// A CPU copies.
// CHECK-LABEL: func @cpu
// CHECK:         memref.copy
func.func @cpu(%from: memref<?x?x64x48xf32>, %to: memref<?x?x64x48xf32>) {
  memref.copy %from, %to : memref<?x?x64x48xf32> to memref<?x?x64x48xf32>
  return
}
