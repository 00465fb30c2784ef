// The equations of a step, by direction, place of the token and decay. What is
// checked is which value goes where; the order of what is independent is free.

// RUN: hla-opt %s --convert-hla-to-tile --canonicalize --cse | FileCheck %s

!Q = memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>
!V = memref<?x?x?x4xf32, strided<[?, ?, ?, 1]>>
!q = vector<8xf32>
!v = vector<4xf32>
!s = vector<8x4xf32>

// A = causal(q kᵀ), y = q S + A v, S' = S + kᵀ v.
// CHECK-LABEL: func @forward_inclusive
// CHECK-DAG:     %[[ZA:.*]] = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
// CHECK-DAG:     %[[ZY:.*]] = arith.constant dense<0.000000e+00> : tensor<16x4xf32>
// CHECK-DAG:     %[[ZS:.*]] = arith.constant dense<0.000000e+00> : tensor<8x4xf32>
// CHECK:         scf.for %[[ROW:[^ ]*]] = %c0 to %{{.*}} step %c16 iter_args(%[[S:[^ ]*]] = %[[ZS]]) -> (tensor<8x4xf32>)
// CHECK-DAG:       %[[Q:.*]] = hla_tile.load %[[QV:.*]][%[[ROW]]] : memref<?x8xf32, strided<[?, 1], offset: ?>> -> tensor<16x8xf32>
// CHECK-DAG:       %[[K:.*]] = hla_tile.load %[[KV:.*]][%[[ROW]]] : memref<?x8xf32, strided<[?, 1], offset: ?>> -> tensor<16x8xf32>
// CHECK-DAG:       %[[V:.*]] = hla_tile.load %[[VV:.*]][%[[ROW]]] : memref<?x4xf32, strided<[?, 1], offset: ?>> -> tensor<16x4xf32>
// CHECK-DAG:       %[[QK:.*]] = hla_tile.dot %[[Q]], %[[K]], %[[ZA]] transpose_rhs
// CHECK-DAG:       %[[A:.*]] = hla_tile.causal lower %[[QK]]
// CHECK-DAG:       %[[QS:.*]] = hla_tile.dot %[[Q]], %[[S]], %[[ZY]] :
// CHECK-DAG:       %[[Y:.*]] = hla_tile.dot %[[A]], %[[V]], %[[QS]] :
// CHECK-DAG:       %[[S1:.*]] = hla_tile.dot %[[K]], %[[V]], %[[S]] transpose_lhs
// CHECK-DAG:       hla_tile.store %[[Y]], %{{.*}}[%[[ROW]]]
// CHECK:           scf.yield %[[S1]]
func.func @forward_inclusive(%Q: !Q, %K: !Q, %V: !V, %O: !V) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %K, %V : !Q, !Q, !V) outs(%O : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %k: !q, %v: !v, %S: !s):
    %S1, %y = hla.step ins(%q, %k, %v : !q, !q, !v) state(%S : !s) -> !v
    hla.yield %y, %S1 : !v, !s
  }
  return
}

// A token's own score does not count.
// CHECK-LABEL: func @forward_exclusive
// CHECK:         hla_tile.causal lower strict %
// CHECK-NOT:     hla_tile.decay
func.func @forward_exclusive(%Q: !Q, %V: !V, %O: !V) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%O : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %v: !v, %S: !s):
    %S1, %y = hla.step exclusive ins(%q, %q, %v : !q, !q, !v) state(%S : !s) -> !v
    hla.yield %y, %S1 : !v, !s
  }
  return
}

// With G the sums of log-decays over the n tokens that the chunk has: exp(G_i) on
// rows of q S; exp(G_{n-1}) on the state and exp(G_{n-1} - G_j) on rows of k or v,
// whichever are narrower.
// CHECK-LABEL: func @forward_decay
// CHECK-DAG:     %[[LOG:.*]] = arith.constant -0.693147{{.*}} : f64
// CHECK:         %[[T:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         scf.for %[[ROW:[^ ]*]] = %c0 to %[[T]] step %c16 iter_args(%[[S:[^ ]*]] =
// CHECK-DAG:       %[[LEFT:.*]] = arith.subi %[[T]], %[[ROW]]
// CHECK-DAG:       %[[N:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK-DAG:       %[[G:.*]] = hla_tile.ramp %[[LOG]][%[[N]]] : tensor<16x1xf64>
// CHECK-DAG:       %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<16x8xf32>
// CHECK-DAG:       %[[V:.*]] = hla_tile.load {{.*}} -> tensor<16x4xf32>
// CHECK-DAG:       %[[A:.*]] = hla_tile.causal lower %{{.*}} by %[[G]]
// CHECK-DAG:       %[[QS:.*]] = hla_tile.dot %[[Q]], %[[S]],
// CHECK-DAG:       %[[DQS:.*]] = hla_tile.decay through %[[QS]] by %[[G]]
// CHECK-DAG:       hla_tile.dot %[[A]], %[[V]], %[[DQS]] :
// CHECK-DAG:       %[[DS:.*]] = hla_tile.decay all %[[S]] by %[[G]]
// CHECK-DAG:       %[[DV:.*]] = hla_tile.decay after %[[V]] by %[[G]]
// CHECK-DAG:       %[[S1:.*]] = hla_tile.dot %[[Q]], %[[DV]], %[[DS]] transpose_lhs
// CHECK:           scf.yield %[[S1]]
func.func @forward_decay(%Q: !Q, %V: !V, %O: !V) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%O : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %v: !v, %S: !s):
    %S1, %y = hla.step decay(0.5) ins(%q, %q, %v : !q, !q, !v) state(%S : !s) -> !v
    hla.yield %y, %S1 : !v, !s
  }
  return
}

// The state of before the token.
// CHECK-LABEL: func @forward_exclusive_decay
// CHECK:         scf.for {{.*}} iter_args(%[[S:[^ ]*]] =
// CHECK-DAG:       %[[G:.*]] = hla_tile.ramp
// CHECK-DAG:       hla_tile.causal lower strict %{{.*}} by %[[G]]
// CHECK-DAG:       %[[QS:.*]] = hla_tile.dot %{{.*}}, %[[S]],
// CHECK-DAG:       hla_tile.decay before %[[QS]] by %[[G]]
// CHECK-DAG:       hla_tile.decay all %[[S]] by %[[G]]
// CHECK-DAG:       hla_tile.decay after %{{.*}} by %[[G]]
func.func @forward_exclusive_decay(%Q: !Q, %V: !V, %O: !V) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%O : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %v: !v, %S: !s):
    %S1, %y = hla.step exclusive decay(0.5) ins(%q, %q, %v : !q, !q, !v) state(%S : !s) -> !v
    hla.yield %y, %S1 : !v, !s
  }
  return
}

// The last chunk first; what decays a row is on its other side.
// CHECK-LABEL: func @reverse_decay
// CHECK-DAG:     %[[CHUNKS:.*]] = arith.ceildivsi %[[T:.*]], %c16
// CHECK-DAG:     %[[LASTCHUNK:.*]] = arith.subi %[[CHUNKS]], %c1
// CHECK-DAG:     %[[LASTROW:.*]] = arith.muli %[[LASTCHUNK]], %c16
// CHECK:         scf.for %[[I:[^ ]*]] = %c0 to %[[T]] step %c16 iter_args(%[[S:[^ ]*]] =
// CHECK-DAG:       %[[ROW:.*]] = arith.subi %[[LASTROW]], %[[I]]
// CHECK-DAG:       %[[LEFT:.*]] = arith.subi %[[T]], %[[ROW]]
// CHECK-DAG:       %[[N:.*]] = arith.minsi %[[LEFT]], %c16
// CHECK-DAG:       %[[G:.*]] = hla_tile.ramp %{{.*}}[%[[N]]]
// CHECK-DAG:       %[[Q:.*]] = hla_tile.load %{{.*}}[%[[ROW]]] : {{.*}} -> tensor<16x8xf32>
// CHECK-DAG:       hla_tile.causal upper %{{.*}} by %[[G]]
// CHECK-DAG:       %[[QS:.*]] = hla_tile.dot %[[Q]], %[[S]],
// CHECK-DAG:       hla_tile.decay from %[[QS]] by %[[G]]
// CHECK-DAG:       hla_tile.decay all %[[S]] by %[[G]]
// CHECK-DAG:       hla_tile.decay before %{{.*}} by %[[G]] : tensor<16x4xf32>
func.func @reverse_decay(%Q: !Q, %V: !V, %O: !V) {
  hla.fused_scan reverse schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%O : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %v: !v, %S: !s):
    %S1, %y = hla.step decay(0.5) ins(%q, %q, %v : !q, !q, !v) state(%S : !s) -> !v
    hla.yield %y, %S1 : !v, !s
  }
  return
}

// CHECK-LABEL: func @reverse_exclusive_decay
// CHECK:         scf.for {{.*}} iter_args(%[[S:[^ ]*]] =
// CHECK-DAG:       hla_tile.causal upper strict %{{.*}} by %[[G:.*]] :
// CHECK-DAG:       %[[QS:.*]] = hla_tile.dot %{{.*}}, %[[S]],
// CHECK-DAG:       hla_tile.decay after %[[QS]] by %[[G]]
// CHECK-DAG:       hla_tile.decay all %[[S]] by %[[G]]
// CHECK-DAG:       hla_tile.decay before %{{.*}} by %[[G]]
func.func @reverse_exclusive_decay(%Q: !Q, %V: !V, %O: !V) {
  hla.fused_scan reverse schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%O : !V) carry_in [false] carry_out [false] {
  ^bb0(%q: !q, %v: !v, %S: !s):
    %S1, %y = hla.step exclusive decay(0.5) ins(%q, %q, %v : !q, !q, !v) state(%S : !s) -> !v
    hla.yield %y, %S1 : !v, !s
  }
  return
}

// A step's rows are the next one's operands. Of k and v, what a step has produced
// is decayed: it is in registers.
// CHECK-LABEL: func @chained
// CHECK:         scf.for {{.*}} iter_args(%[[S:[^ ]*]] = {{.*}}, %[[F:.*]] = {{.*}}) -> (tensor<8x4xf32>, tensor<8x4xf32>)
// CHECK-DAG:       %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<16x8xf32>
// CHECK-DAG:       %[[V:.*]] = hla_tile.load {{.*}} -> tensor<16x4xf32>
// CHECK-DAG:       %[[QK:.*]] = hla_tile.dot %[[Q]], %[[Q]], {{.*}} transpose_rhs
// CHECK-DAG:       %[[A:.*]] = hla_tile.causal lower %[[QK]]
// CHECK-DAG:       %[[U:.*]] = hla_tile.dot %[[A]], %[[V]],
// CHECK-DAG:       %[[DU:.*]] = hla_tile.decay after %[[U]] by
// CHECK-DAG:       %[[DF:.*]] = hla_tile.decay all %[[F]] by
// CHECK-DAG:       %[[S1:.*]] = hla_tile.dot %[[Q]], %[[V]], %[[S]] transpose_lhs
// CHECK-DAG:       %[[F1:.*]] = hla_tile.dot %[[Q]], %[[DU]], %[[DF]] transpose_lhs
// CHECK:           scf.yield %[[S1]], %[[F1]]
func.func @chained(%Q: !Q, %V: !V, %O: !V) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %V : !Q, !V) outs(%O : !V) carry_in [false, false] carry_out [false, false] {
  ^bb0(%q: !q, %v: !v, %S: !s, %F: !s):
    %S1, %u = hla.step ins(%q, %q, %v : !q, !q, !v) state(%S : !s) -> !v
    %F1, %y = hla.step decay(0.5) ins(%q, %q, %u : !q, !q, !v) state(%F : !s) -> !v
    hla.yield %y, %S1, %F1 : !v, !s, !s
  }
  return
}
