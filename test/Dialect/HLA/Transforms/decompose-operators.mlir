// What every operator's scans have of it. Which they are, and which states, is in
// decompose-first-order.mlir, -second-order.mlir and -third-order.mlir.

// RUN: hla-opt %s --hla-decompose-operators | FileCheck %s

!S = tensor<?x?x?x64xbf16>
!V = tensor<?x?x?x32xbf16>

// u = scan(q, k, k) in f32, o = scan(q, u, v).
// CHECK-LABEL: func @masked
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x32xbf16>, %[[E:.*]]: tensor<?x?x?x32xbf16>
// CHECK-DAG:     %[[B:.*]] = tensor.dim %[[E]], %c0
// CHECK-DAG:     %[[T:.*]] = tensor.dim %[[E]], %c1
// CHECK-DAG:     %[[H:.*]] = tensor.dim %[[E]], %c2
// CHECK:         %[[EU:.*]] = tensor.empty(%[[B]], %[[T]], %[[H]]) : tensor<?x?x?x64xf32>
// CHECK:         %[[U:.*]] = hla.scan ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) outs(%[[EU]] : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
// CHECK:         %[[O:.*]] = hla.scan ins(%[[Q]], %[[U]], %[[V]] : {{.*}}) outs(%[[E]] : tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16>
// CHECK:         return %[[O]]
func.func @masked(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// u = scan(q, k, k), o = scan(u, q, v).
// CHECK-LABEL: func @prefix
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x64xbf16>, %[[K:.*]]: tensor<?x?x?x64xbf16>, %[[V:.*]]: tensor<?x?x?x32xbf16>, %[[E:.*]]: tensor<?x?x?x32xbf16>
// CHECK:         %[[U:.*]] = hla.scan ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) outs({{.*}}) -> tensor<?x?x?x64xf32>
// CHECK:         %[[O:.*]] = hla.scan ins(%[[U]], %[[Q]], %[[V]] : {{.*}}) outs(%[[E]] : {{.*}})
// CHECK:         return %[[O]]
func.func @prefix(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order variant(prefix) ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// Both scans have the operator's layout; static extents stay static.
// CHECK-LABEL: func @layout
// CHECK:         tensor.empty(%{{[^,]*}}) : tensor<2x4x?x64xf32>
// CHECK:         hla.scan layout(bhtd) {{.*}} -> tensor<2x4x?x64xf32>
// CHECK:         hla.scan layout(bhtd) {{.*}} -> tensor<2x4x?x64xf16>
func.func @layout(%q: tensor<2x4x?x64xf16>, %e: tensor<2x4x?x64xf16>) -> tensor<2x4x?x64xf16> {
  %o = hla.second_order layout(bhtd) ins(%q, %q, %q : tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>)
                        outs(%e : tensor<2x4x?x64xf16>) -> tensor<2x4x?x64xf16>
  return %o : tensor<2x4x?x64xf16>
}

// What is handed over is f64 where the operands are.
// CHECK-LABEL: func @f64
// CHECK:         hla.scan {{.*}} -> tensor<1x2x3x4xf64>
// CHECK:         hla.scan {{.*}} -> tensor<1x2x3x4xf64>
func.func @f64(%q: tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf64> {
  %o = hla.second_order ins(%q, %q, %q : tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>, tensor<1x2x3x4xf64>)
                        outs(%q : tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf64>
  return %o : tensor<1x2x3x4xf64>
}

// Wherever an operator is, its scans are.
// CHECK-LABEL: func @nested
// CHECK:         scf.if
// CHECK-COUNT-2:   hla.scan
// CHECK:         } else {
// CHECK-NOT:       hla.second_order
func.func @nested(%c: i1, %q: !S, %e: !S) -> !S {
  %r = scf.if %c -> !S {
    %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
    scf.yield %o : !S
  } else {
    scf.yield %e : !S
  }
  return %r : !S
}

// A scan is what it is.
// CHECK-LABEL: func @scan
// CHECK-NEXT:    hla.scan exclusive reverse decay(5.000000e-01)
// CHECK-NEXT:    return
func.func @scan(%q: !S, %e: !S) -> !S {
  %y = hla.scan exclusive reverse decay(0.5) ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y : !S
}
