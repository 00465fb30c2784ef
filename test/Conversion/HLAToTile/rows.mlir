// What a body does with rows and numbers, besides steps.

// RUN: hla-opt %s --convert-hla-to-tile --canonicalize --cse | FileCheck %s

!Q = memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>
!B = memref<?x?x?x8xbf16, strided<[?, ?, ?, 1]>>
!N = memref<?x?x?xf32, strided<[?, ?, 1]>>
!q = vector<8xf32>
!b = vector<8xbf16>
!n = vector<1xf32>
!s = vector<8x8xf32>
!z = vector<8x1xf32>

// Each operation is one on tiles; without a state, the loop carries none.
// CHECK-LABEL: func @row_map
// CHECK:         scf.for %{{[^ ]*}} = %c0 to %{{[^ ]*}} step %c16 {
// CHECK-DAG:       %[[X:.*]] = hla_tile.load {{.*}} -> tensor<16x8xf32>
// CHECK-DAG:       %[[C:.*]] = hla_tile.load {{.*}} : memref<?xf32, strided<[?], offset: ?>> -> tensor<16x1xf32>
// CHECK-DAG:       %[[SUM:.*]] = hla_tile.sum_rows %[[X]] : tensor<16x8xf32> -> tensor<16x1xf32>
// CHECK-DAG:       %[[D:.*]] = arith.divf %[[C]], %[[SUM]] : tensor<16x1xf32>
// CHECK-DAG:       %[[E:.*]] = math.exp %[[D]] : tensor<16x1xf32>
// CHECK-DAG:       %[[W:.*]] = hla_tile.broadcast %[[E]] : tensor<16x1xf32> -> tensor<16x8xf32>
// CHECK-DAG:       %[[LESS:.*]] = arith.cmpf olt, %[[X]], %[[W]] : tensor<16x8xf32>
// CHECK-DAG:       %[[Y:.*]] = arith.select %[[LESS]], %[[X]], %[[W]] : tensor<16x8xi1>, tensor<16x8xf32>
// CHECK-DAG:       hla_tile.store %[[Y]],
// CHECK-DAG:       hla_tile.store %[[E]], {{.*}} : tensor<16x1xf32>, memref<?xf32, strided<[?], offset: ?>>
// CHECK-NOT:       scf.yield
func.func @row_map(%Q: !Q, %N: !N, %O: !Q, %P: !N) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %N : !Q, !N) outs(%O, %P : !Q, !N) carry_in [] carry_out [] {
  ^bb0(%x: !q, %c: !n):
    %sum = hla.row_sum %x : !q -> !n
    %d = arith.divf %c, %sum : !n
    %e = math.exp %d : !n
    %w = vector.broadcast %e : !n to !q
    %less = arith.cmpf olt, %x, %w : !q
    %y = arith.select %less, %x, %w : vector<8xi1>, !q
    hla.yield %y, %e : !q, !n
  }
  return
}

// Numbers of 16 bits are added in f32; each result is rounded.
// CHECK-LABEL: func @narrow
// CHECK:         %[[X:.*]] = hla_tile.load {{.*}} -> tensor<16x8xbf16>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[X]] : tensor<16x8xbf16> to tensor<16x8xf32>
// CHECK:         %[[SUM:.*]] = arith.addf %[[WIDE]], %[[WIDE]] : tensor<16x8xf32>
// CHECK:         %[[Y:.*]] = arith.truncf %[[SUM]] : tensor<16x8xf32> to tensor<16x8xbf16>
// CHECK:         hla_tile.store %[[Y]]
func.func @narrow(%Q: !B, %O: !B) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = bf16>)
      ins(%Q : !B) outs(%O : !B) carry_in [] carry_out [] {
  ^bb0(%x: !b):
    %y = arith.addf %x, %x : !b
    hla.yield %y : !b
  }
  return
}

// What is the same for all tokens is a scalar, read once a head.
// CHECK-LABEL: func @number_of_head
// CHECK-SAME:    %[[N:[^ ]*]]: memref<?xf32, strided<[1]>>
// CHECK:         hla_tile.launch (%{{.*}}, %[[h:.*]]) in
// CHECK:           %[[X:.*]] = memref.load %[[N]][%[[h]]]
// CHECK:           scf.for
// CHECK-DAG:         %[[XX:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-DAG:         %[[W:.*]] = tensor.splat %[[XX]] : tensor<16x8xf32>
// CHECK-DAG:         %[[C:.*]] = tensor.splat %[[X]] : tensor<16x1xf32>
// CHECK-DAG:         arith.mulf %{{.*}}, %[[W]] : tensor<16x8xf32>
// CHECK-DAG:         hla_tile.store %[[C]],
func.func @number_of_head(%N: memref<?xf32, strided<[1]>>, %Q: !Q, %O: !Q, %P: !N) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %N : !Q, memref<?xf32, strided<[1]>>) outs(%O, %P : !Q, !N) carry_in [] carry_out [] {
  ^bb0(%q: !q, %x: !n):
    %xx = arith.mulf %x, %x : !n
    %w = vector.broadcast %xx : !n to !q
    %y = arith.mulf %q, %w : !q
    hla.yield %y, %x : !q, !n
  }
  return
}

// A log-decay of every token is summed; one of a head is a ramp, as a constant is.
// CHECK-LABEL: func @log_decay
// CHECK:         %[[X:.*]] = memref.load
// CHECK:         scf.for
// CHECK-DAG:       %[[G:.*]] = hla_tile.load {{.*}} -> tensor<16x1xf32>
// CHECK-DAG:       %[[SUMS:.*]] = hla_tile.prefix_sum %[[G]] : tensor<16x1xf32> -> tensor<16x1xf64>
// CHECK-DAG:       hla_tile.causal lower %{{.*}} by %[[SUMS]]
// CHECK-DAG:       %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK-DAG:       %[[RAMP:.*]] = hla_tile.ramp %[[WIDE]]
// CHECK-DAG:       hla_tile.causal lower %{{.*}} by %[[RAMP]]
func.func @log_decay(%N: memref<?xf32, strided<[1]>>, %G: !N, %Q: !Q, %O: !Q, %P: !Q) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %G, %N : !Q, !N, memref<?xf32, strided<[1]>>) outs(%O, %P : !Q, !Q) carry_in [false, false] carry_out [false, false] {
  ^bb0(%q: !q, %g: !n, %x: !n, %S: !s, %F: !s):
    %S1, %y = hla.step ins(%q, %q, %q : !q, !q, !q) log_decay(%g : !n) state(%S : !s) -> !q
    %F1, %z = hla.step ins(%q, %q, %q : !q, !q, !q) log_decay(%x : !n) state(%F : !s) -> !q
    hla.yield %y, %z, %S1, %F1 : !q, !q, !s, !s
  }
  return
}

// After the last token, rows that are not zero by themselves are made so, where
// they are keys, values or log-decays; not what is zero anyhow, nor a constant
// next to it.
// CHECK-LABEL: func @masked
// CHECK-DAG:       %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<16x8xf32>
// CHECK:         scf.for
// CHECK-DAG:       %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<16x8xf32>
// CHECK-DAG:       %[[P:.*]] = arith.addf %[[Q]], %[[ONE]]
// CHECK-DAG:       %[[D:.*]] = hla_tile.sum_rows %[[P]]
// CHECK-DAG:       %[[K:.*]] = hla_tile.mask rows %[[P]][%[[N:.*]]] : tensor<16x8xf32>
// CHECK-DAG:       %[[G:.*]] = hla_tile.mask rows %[[D]][%[[N]]] : tensor<16x1xf32>
// CHECK-DAG:       %[[SUMS:.*]] = hla_tile.prefix_sum %[[G]]
// CHECK-DAG:       hla_tile.dot %[[P]], %[[K]], %{{.*}} transpose_rhs
// CHECK-NOT:       hla_tile.mask
// CHECK:           scf.yield
func.func @masked(%Q: !Q, %O: !Q) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q : !Q) outs(%O : !Q) carry_in [false, false] carry_out [false, false] {
  ^bb0(%q: !q, %S: !s, %F: !s):
    %one = arith.constant dense<1.0> : !q
    %p = arith.addf %q, %one : !q
    %g = hla.row_sum %p : !q -> !n
    %S1, %y = hla.step ins(%p, %p, %one : !q, !q, !q) log_decay(%g : !n) state(%S : !s) -> !q
    %F1, %z = hla.step ins(%q, %q, %one : !q, !q, !q) state(%F : !s) -> !q
    %o = arith.addf %y, %z : !q
    hla.yield %o, %S1, %F1 : !q, !s, !s
  }
  return
}

// Two queries on one state: it is updated once.
// CHECK-LABEL: func @shared_state
// CHECK:         scf.for {{.*}} iter_args(%[[S:[^ ]*]] = %{{[^,]*}}) -> (tensor<8x8xf32>)
// CHECK-COUNT-1:   hla_tile.dot %{{.*}}, %{{.*}}, %[[S]] transpose_lhs
// CHECK-NOT:       transpose_lhs
// CHECK:           scf.yield
func.func @shared_state(%Q: !Q, %K: !Q, %O: !Q, %P: !Q) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %K : !Q, !Q) outs(%O, %P : !Q, !Q) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %k: !q, %S: !s):
    %S1, %y = hla.step ins(%q, %k, %q : !q, !q, !q) state(%S : !s) -> !q
    %S2, %z = hla.step exclusive ins(%k, %k, %q : !q, !q, !q) state(%S : !s) -> !q
    hla.yield %y, %z, %S1 : !q, !q, !s
  }
  return
}

// A quotient of two scans: scores are computed once, inputs loaded once.
// CHECK-LABEL: func @normalised
// CHECK:         scf.for
// CHECK-COUNT-2:   hla_tile.load
// CHECK-NOT:       hla_tile.load
// CHECK:           %[[SCORES:.*]] = hla_tile.dot {{.*}} transpose_rhs
// CHECK-NOT:       transpose_rhs
// CHECK:           %[[A:.*]] = hla_tile.causal lower %[[SCORES]]
// CHECK-NOT:       hla_tile.causal
// CHECK:           %[[NUM:.*]] = hla_tile.dot %[[A]], %{{.*}} -> tensor<16x8xf32>
// CHECK:           %[[DEN:.*]] = hla_tile.dot %[[A]], %{{.*}} -> tensor<16x1xf32>
// CHECK:           %[[W:.*]] = hla_tile.broadcast %[[DEN]]
// CHECK:           arith.divf %[[NUM]], %[[W]]
func.func @normalised(%Q: !Q, %K: !Q, %O: !Q) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %K : !Q, !Q) outs(%O : !Q) carry_in [false, false] carry_out [false, false] {
  ^bb0(%q: !q, %k: !q, %S: !s, %m: !z):
    %one = arith.constant dense<1.0> : !n
    %S1, %num = hla.step ins(%q, %k, %k : !q, !q, !q) state(%S : !s) -> !q
    %m1, %den = hla.step ins(%q, %k, %one : !q, !q, !n) state(%m : !z) -> !n
    %w = vector.broadcast %den : !n to !q
    %o = arith.divf %num, %w : !q
    hla.yield %o, %S1, %m1 : !q, !s, !z
  }
  return
}
