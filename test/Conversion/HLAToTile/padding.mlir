// Tiles of a GPU that are wider than rows and states: what is loaded is zero in the
// columns that they have more, and what is computed is set to zero where it may not be.

// RUN: hla-opt %s --convert-hla-to-tile --canonicalize --cse | FileCheck %s

!Q = memref<?x?x?x20xf32, strided<[?, ?, ?, 1]>>
!V = memref<?x?x?x40xf32, strided<[?, ?, ?, 1]>>
!O = memref<?x?x?x1xf32, strided<[?, ?, ?, 1]>>
!S = memref<?x?x20x40xf32, strided<[?, ?, ?, 1]>>
!q = vector<20xf32>
!v = vector<40xf32>
!n = vector<1xf32>
!s = vector<20x40xf32>
!z = vector<20x1xf32>

module attributes {hla.target = #hla.target<"sm_80">} {

// CHECK-LABEL: func @state
// CHECK:         %[[S:.*]] = hla_tile.load {{.*}} : memref<20x40xf32, {{.*}} -> tensor<32x64xf32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[S]]) -> (tensor<32x64xf32>)
// CHECK-DAG:       hla_tile.load {{.*}} : memref<?x20xf32, {{.*}} -> tensor<32x32xf32>
// CHECK-DAG:       hla_tile.load {{.*}} : memref<?x40xf32, {{.*}} -> tensor<32x64xf32>
// CHECK-NOT:       hla_tile.mask
// CHECK:           hla_tile.store {{.*}} : tensor<32x64xf32>, memref<?x40xf32,
// CHECK:         hla_tile.store {{.*}} : tensor<32x64xf32>, memref<20x40xf32,
func.func @state(%Q: !Q, %V: !V, %Y: !V, %C: !S, %F: !S) {
  hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) carries(%C : !S) outs(%Y, %F : !V, !S) carry_in [true] carry_out [true] {
  ^bb0(%q: !q, %x: !v, %state: !s):
    %next, %y = hla.step ins(%q, %q, %x : !q, !q, !v) state(%state : !s) -> !v
    hla.yield %y, %next : !v, !s
  }
  return
}

// A constant is not zero in the columns that there are not, a sum of two rows is.
// CHECK-LABEL: func @computed
// CHECK-DAG:     %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<32x32xf32>
// CHECK:         scf.for
// CHECK:           %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<32x32xf32>
// CHECK:           %[[TWICE:.*]] = arith.addf %[[Q]], %[[Q]]
// CHECK:           %[[SUM:.*]] = arith.addf %[[Q]], %[[ONE]]
// CHECK:           %[[KEY:.*]] = hla_tile.mask cols %{{.*}}[%c20] : tensor<32x32xf32>
// CHECK:           hla_tile.dot %[[TWICE]], %[[KEY]], {{.*}} transpose_rhs
func.func @computed(%Q: !Q, %V: !V, %Y: !V) {
  hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%Y : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %x: !v, %state: !s):
    %ones = arith.constant dense<1.0> : !q
    %twice = arith.addf %q, %q : !q
    %key = arith.addf %q, %ones : !q
    %next, %y = hla.step ins(%twice, %key, %x : !q, !q, !v) state(%state : !s) -> !v
    hla.yield %y, %next : !v, !s
  }
  return
}

// One number a token is a column, and column 0 of an operand.
// CHECK-LABEL: func @column
// CHECK:         scf.for {{.*}} -> (tensor<32x32xf32>)
// CHECK-DAG:       %[[C:.*]] = hla_tile.load {{.*}} : memref<?xf32, strided<[?], offset: ?>> -> tensor<32x1xf32>
// CHECK:           %[[WIDE:.*]] = hla_tile.broadcast %[[C]] : tensor<32x1xf32> -> tensor<32x32xf32>
// CHECK:           %[[VALUE:.*]] = hla_tile.mask cols %[[WIDE]][%c1]
// CHECK:           %[[Y:.*]] = hla_tile.dot %{{.*}}, %[[VALUE]], %{{.*}} -> tensor<32x32xf32>
// CHECK:           %[[SUM:.*]] = hla_tile.sum_rows %[[Y]] : tensor<32x32xf32> -> tensor<32x1xf32>
// CHECK:           hla_tile.store %[[SUM]], {{.*}} : tensor<32x1xf32>, memref<?xf32, strided<[?], offset: ?>>
func.func @column(%Q: !Q, %V: !O, %Y: !O) {
  hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !O) outs(%Y : !O) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %x: !n, %state: !z):
    %next, %y = hla.step ins(%q, %q, %x : !q, !q, !n) state(%state : !z) -> !n
    hla.yield %y, %next : !n, !z
  }
  return
}

}
