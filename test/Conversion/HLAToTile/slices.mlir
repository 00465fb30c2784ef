// What is whole in every thread block, and what blocks share out.

// RUN: hla-opt %s --convert-hla-to-tile --canonicalize --cse | FileCheck %s

!Q = memref<?x?x?x64xf32, strided<[?, ?, ?, 1]>>
!V = memref<?x?x?x160xf32, strided<[?, ?, ?, 1]>>
!S = memref<?x?x64x160xf32, strided<[?, ?, ?, 1]>>
!q = vector<64xf32>
!v = vector<160xf32>
!n = vector<1xf32>
!u = vector<64x64xf32>
!s = vector<64x160xf32>

module attributes {hla.target = #hla.target<"sm_80">} {

// The row of the first step is a key of the second: each block has all of it, and half
// of the value, the state and the result. A constant that is added to a slice is set to
// zero after column 160, the 32nd of the second slice.
// CHECK-LABEL: func @key_and_value
// CHECK:       hla_tile.launch (%{{.*}}, %{{.*}}, %[[Z:.*]]) in {{.*}} slices = 2
// CHECK-DAG:     %[[S:.*]] = hla_tile.load %{{.*}}[%c0] slice %[[Z]] : memref<64x160xf32, {{.*}} -> tensor<64x128xf32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[S]]) -> (tensor<64x64xf32>, tensor<64x128xf32>)
// CHECK-DAG:       hla_tile.load %{{.*}}[%{{[^]]*}}] : memref<?x64xf32, {{.*}} -> tensor<32x64xf32>
// CHECK-DAG:       %[[V:.*]] = hla_tile.load %{{.*}} slice %[[Z]] : memref<?x160xf32, {{.*}} -> tensor<32x128xf32>
// CHECK:           %[[SUM:.*]] = arith.addf %[[V]], %{{.*}} : tensor<32x128xf32>
// CHECK-DAG:       %[[BEGIN:.*]] = arith.muli %[[Z]], %c128
// CHECK-DAG:       %[[COUNT:.*]] = arith.subi %c160, %[[BEGIN]]
// CHECK:           hla_tile.mask cols %{{.*}}[%[[COUNT]]] : tensor<32x128xf32>
// CHECK:           hla_tile.store %{{.*}} slice %[[Z]] : tensor<32x128xf32>, memref<?x160xf32,
// CHECK:         hla_tile.store %{{.*}}[%c0] slice %[[Z]] : tensor<64x128xf32>, memref<64x160xf32,
func.func @key_and_value(%Q: !Q, %V: !V, %Y: !V, %C: !S, %F: !S) {
  hla.fused_scan schedule(<chunk = 32, warps = 8, stages = 1, precision = f32, slices = 2>)
      ins(%Q, %V : !Q, !V) carries(%C : !S) outs(%Y, %F : !V, !S) carry_in [false, true] carry_out [false, true] {
  ^bb0(%q: !q, %x: !v, %sum: !u, %state: !s):
    %one = arith.constant dense<1.0> : !v
    %value = arith.addf %x, %one : !v
    %sums, %key = hla.step ins(%q, %q, %q : !q, !q, !q) state(%sum : !u) -> !q
    %next, %y = hla.step ins(%q, %key, %value : !q, !q, !v) state(%state : !s) -> !v
    hla.yield %y, %sums, %next : !v, !u, !s
  }
  return
}

// An input that is a key and a value is loaded whole and as a slice; one number as a row
// is made whole and as a slice.
// CHECK-LABEL: func @both
// CHECK-DAG:       %[[WHOLE:.*]] = hla_tile.load %[[K:[a-z0-9_]+]][%[[ROW:[a-z0-9_]+]]] : memref<?x160xf32, {{.*}} -> tensor<32x256xf32>
// CHECK-DAG:       %[[SLICE:.*]] = hla_tile.load %[[K]][%[[ROW]]] slice %{{.*}} : memref<?x160xf32, {{.*}} -> tensor<32x128xf32>
// CHECK-DAG:       %[[N:.*]] = hla_tile.sum_rows %[[WHOLE]]
// CHECK-DAG:       %[[ROWS:.*]] = hla_tile.broadcast %[[N]] : tensor<32x1xf32> -> tensor<32x256xf32>
// CHECK-DAG:       %[[ROWSLICE:.*]] = hla_tile.broadcast %[[N]] : tensor<32x1xf32> -> tensor<32x128xf32>
// CHECK-DAG:       arith.mulf %[[ROWS]], %[[WHOLE]] : tensor<32x256xf32>
// CHECK-DAG:       arith.mulf %[[ROWSLICE]], %{{.*}} : tensor<32x128xf32>
func.func @both(%K: !V, %Y: !V) {
  hla.fused_scan schedule(<chunk = 32, warps = 8, stages = 1, precision = f32, slices = 2>)
      ins(%K : !V) outs(%Y : !V) carry_in [false] carry_out [false] {
  ^bb0(%k: !v, %state: vector<160x160xf32>):
    %n = hla.row_sum %k : !v -> !n
    %rows = vector.broadcast %n : !n to !v
    %key = arith.mulf %rows, %k : !v
    %next, %y = hla.step ins(%k, %key, %k : !v, !v, !v) state(%state : vector<160x160xf32>) -> !v
    %z = arith.mulf %rows, %y : !v
    hla.yield %z, %next : !v, vector<160x160xf32>
  }
  return
}

}
