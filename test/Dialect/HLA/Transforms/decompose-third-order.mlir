// Every third-order operator as scans, with its states.

// RUN: hla-opt %s --hla-decompose-operators | FileCheck %s

!S = tensor<?x?x?x8xbf16>
!V = tensor<?x?x?x4xbf16>
!SS = tensor<?x?x8x8xf32>
!SV = tensor<?x?x8x4xf32>
!S1 = tensor<?x?x8x1xf32>

// u = scan(q, k, k), r = scan(q, k, v), o = scan(q, u + λ q, r).
// CHECK-LABEL: func @masked
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[F:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]:
// CHECK:         %[[U:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[S]] : {{.*}}) outs(%{{.*}}, %[[S]] :
// CHECK:         %[[UR:.*]] = hla.fused_scan ins(%[[U]]#0, %[[Q]] :
// CHECK:         %[[R:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] : {{.*}}) outs(%{{.*}}, %[[P]] :
// CHECK:         %[[O:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[UR]], %[[R]]#0 : {{.*}}) carry(%[[F]] : {{.*}}) outs(%[[E]], %[[F]] :
// CHECK-NEXT:    return %[[O]]#0, %[[U]]#1, %[[R]]#1, %[[O]]#1
func.func @masked(%s: !SS, %p: !SV, %f: !SV, %q: !S, %k: !S, %v: !V, %e: !V) -> (!V, !SS, !SV, !SV) {
  %o:4 = hla.third_order ridge(0.5) decay(0.5) ins(%q, %k, %v : !S, !S, !V) carry(%s, %p, %f : !SS, !SV, !SV) outs(%e, %s, %p, %f : !V, !SS, !SV, !SV) -> !V, !SS, !SV, !SV
  return %o#0, %o#1, %o#2, %o#3 : !V, !SS, !SV, !SV
}

// S is the denominator's too; m and f are its own. The scale's power is three.
// CHECK-LABEL: func @masked_normalized
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[F:[^ ]*]]: {{[^,]*}}, %[[M:[^ ]*]]: {{[^,]*}}, %[[F1:[^ ]*]]: {{[^,]*}},
// CHECK:         %[[U:.*]] = hla.scan {{.*}} carry(%[[S]] :
// CHECK:         %[[ONES:.*]] = hla.fused_scan
// CHECK:         %[[R:.*]] = hla.scan ins({{.*}}, %[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         %[[DEN:.*]] = hla.scan ins(%{{[^,]*}}, %[[U]], %[[R]] : {{.*}}) carry(%[[F1]] :
// CHECK:         hla.scan {{.*}} carry(%[[P]] :
// CHECK:         %[[NUM:.*]] = hla.scan {{.*}} carry(%[[F]] :
// CHECK:         hla.fused_scan ins(%[[NUM]], %[[DEN]] :
// CHECK:           arith.constant dense<8.000000e+00> : vector<4xf32>
func.func @masked_normalized(%s: !SS, %p: !SV, %f: !SV, %m: !S1, %f1: !S1, %q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.third_order scale(2.0) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V) carry(%s, %p, %f, %m, %f1 : !SS, !SV, !SV, !S1, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// u, s and p are of the tokens before: with κ = q·k and σ = k·s, the rest is
// scan(q, κ u + (σ + κ²) k, v) + scan(q, k, κ p).
// CHECK-LABEL: func @paper
// CHECK-SAME:    %[[SK:[^ ]*]]: {{[^,]*}}, %[[SQ:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[A:[^ ]*]]: {{[^,]*}}, %[[R:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]:
// CHECK:         %[[U:.*]]:2 = hla.scan exclusive ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[SK]] : {{.*}}) outs(%{{.*}}, %[[SK]] :
// CHECK:         %[[S:.*]]:2 = hla.scan exclusive ins(%[[K]], %[[Q]], %[[Q]] : {{.*}}) carry(%[[SQ]] : {{.*}}) outs(%{{.*}}, %[[SQ]] :
// CHECK:         %[[PT:.*]]:2 = hla.scan exclusive ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] : {{.*}}) outs(%{{.*}}, %[[P]] :
// CHECK:         %[[KAPPA:.*]] = hla.fused_scan ins(%[[Q]], %[[K]] : {{.*}}) outs(%{{.*}} : tensor<?x?x?x1xf32>)
// CHECK:           %[[PROD:.*]] = arith.mulf
// CHECK-NEXT:      %[[SUM:.*]] = hla.row_sum %[[PROD]] : vector<8xf32> -> vector<1xf32>
// CHECK-NEXT:      hla.yield %[[SUM]]
// CHECK:         %[[SIGMA:.*]] = hla.fused_scan ins(%[[K]], %[[S]]#0 : {{.*}}) outs(%{{.*}} : tensor<?x?x?x1xf32>)
// CHECK:         %[[ROWS:.*]] = hla.fused_scan ins(%[[KAPPA]], %[[U]]#0, %[[SIGMA]], %[[K]] : {{.*}}) outs(%{{.*}} : tensor<?x?x?x8xf32>)
// CHECK-NEXT:    ^bb0(%[[K1:.*]]: vector<1xf32>, %[[U1:.*]]: vector<8xf32>, %[[S1:.*]]: vector<1xf32>, %[[KEY:.*]]: vector<8xbf16>):
// CHECK-DAG:       %[[KEY32:.*]] = arith.extf %[[KEY]]
// CHECK-DAG:       %[[KB:.*]] = vector.broadcast %[[K1]] : vector<1xf32> to vector<8xf32>
// CHECK-DAG:       %[[KU:.*]] = arith.mulf %[[KB]], %[[U1]]
// CHECK-DAG:       %[[KK:.*]] = arith.mulf %[[K1]], %[[K1]]
// CHECK-DAG:       %[[SKK:.*]] = arith.addf %[[S1]], %[[KK]]
// CHECK-DAG:       %[[SB:.*]] = vector.broadcast %[[SKK]] : vector<1xf32> to vector<8xf32>
// CHECK-DAG:       %[[SKEY:.*]] = arith.mulf %[[SB]], %[[KEY32]]
// CHECK:           %[[ROW:.*]] = arith.addf %[[KU]], %[[SKEY]]
// CHECK-NEXT:      hla.yield %[[ROW]]
// CHECK:         %[[KP:.*]] = hla.fused_scan ins(%[[KAPPA]], %[[PT]]#0 : {{.*}}) outs(%{{.*}} : tensor<?x?x?x4xf32>)
// CHECK:         %[[X:.*]]:2 = hla.scan ins(%[[Q]], %[[ROWS]], %[[V]] : {{.*}}) carry(%[[A]] : {{.*}}) outs(%{{.*}}, %[[A]] :
// CHECK:         %[[Y:.*]]:2 = hla.scan ins(%[[Q]], %[[K]], %[[KP]] : {{.*}}) carry(%[[R]] : {{.*}}) outs(%{{.*}}, %[[R]] :
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[X]]#0, %[[Y]]#0 : {{.*}}) outs(%[[E]] :
// CHECK:           arith.addf
// CHECK:         return %[[O]], %[[U]]#1, %[[S]]#1, %[[PT]]#1, %[[X]]#1, %[[Y]]#1
func.func @paper(%sk: !SS, %sq: !SS, %p: !SV, %a: !SV, %r: !SV, %q: !S, %k: !S, %v: !V, %e: !V) -> (!V, !SS, !SS, !SV, !SV, !SV) {
  %o:6 = hla.third_order variant(paper) ins(%q, %k, %v : !S, !S, !V) carry(%sk, %sq, %p, %a, %r : !SS, !SS, !SV, !SV, !SV) outs(%e, %sk, %sq, %p, %a, %r : !V, !SS, !SS, !SV, !SV, !SV) -> !V, !SS, !SS, !SV, !SV, !SV
  return %o#0, %o#1, %o#2, %o#3, %o#4, %o#5 : !V, !SS, !SS, !SV, !SV, !SV
}

// The denominator reads u and s of the numerator; m, a and r are its own.
// CHECK-LABEL: func @paper_normalized
// CHECK-SAME:    %[[M:[^ ]*]]: tensor<?x?x8x1xf32>, %[[A1:[^ ]*]]: tensor<?x?x8x1xf32>, %[[R1:[^ ]*]]: tensor<?x?x8x1xf32>
// CHECK-COUNT-2: hla.scan
// CHECK:         %[[ONES:.*]] = hla.fused_scan ins(%{{[^,]*}} : {{[^,]*}}) outs(%{{.*}} : tensor<?x?x?x1xf32>)
// CHECK:         hla.scan exclusive ins(%{{[^,]*}}, %{{[^,]*}}, %[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         hla.scan ins(%{{[^,]*}}, %{{[^,]*}}, %[[ONES]] : {{.*}}) carry(%[[A1]] :
// CHECK:         hla.scan ins({{.*}}) carry(%[[R1]] :
// CHECK-COUNT-3: hla.scan
// CHECK-NOT:     hla.scan
// CHECK:         return
func.func @paper_normalized(%m: !S1, %a1: !S1, %r1: !S1, %sk: !SS, %sq: !SS, %p: !SV, %a: !SV, %r: !SV, %q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.third_order variant(paper) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V) carry(%sk, %sq, %p, %a, %r, %m, %a1, %r1 : !SS, !SS, !SV, !SV, !SV, !S1, !S1, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// With a decay: z = scan(scan(q, k, k), q, q) and w = scanₓ(k, q, q); scan(z, k, v)
// less G1: scan(q, k, scanₓ(w, k, v)), G2: scan(q, scanₓ(q, k, k), scanₓ(q, k, v))
// and G3: scan(q, scanₓ(w, k, k), v).
// CHECK-LABEL: func @paper_decayed
// CHECK-SAME:    %[[SK:[^ ]*]]: {{[^,]*}}, %[[SQ:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[G1:[^ ]*]]: {{[^,]*}}, %[[G2:[^ ]*]]: {{[^,]*}}, %[[G3:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]:
// CHECK:         %[[Y:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[SK]] : {{.*}}) outs(%{{.*}}, %[[SK]] :
// CHECK:         %[[Z:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Y]]#0, %[[Q]], %[[Q]] : {{.*}}) carry(%[[SQ]] : {{.*}}) outs(%{{.*}}, %[[SQ]] :
// CHECK:         %[[W:.*]] = hla.scan exclusive decay(5.000000e-01) ins(%[[K]], %[[Q]], %[[Q]] : {{.*}}) carry(%[[SQ]] :
// CHECK:         %[[ALL:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Z]]#0, %[[K]], %[[V]] : {{.*}}) carry(%[[P]] : {{.*}}) outs(%{{.*}}, %[[P]] :
// CHECK:         %[[WV:.*]] = hla.scan exclusive decay(5.000000e-01) ins(%[[W]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] :
// CHECK:         %[[X1:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[WV]] : {{.*}}) carry(%[[G1]] : {{.*}}) outs(%{{.*}}, %[[G1]] :
// CHECK:         %[[UX:.*]] = hla.scan exclusive decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[SK]] :
// CHECK:         %[[PX:.*]] = hla.scan exclusive decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] :
// CHECK:         %[[X2:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[UX]], %[[PX]] : {{.*}}) carry(%[[G2]] : {{.*}}) outs(%{{.*}}, %[[G2]] :
// CHECK:         %[[WK:.*]] = hla.scan exclusive decay(5.000000e-01) ins(%[[W]], %[[K]], %[[K]] : {{.*}}) carry(%[[SK]] :
// CHECK:         %[[X3:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[WK]], %[[V]] : {{.*}}) carry(%[[G3]] : {{.*}}) outs(%{{.*}}, %[[G3]] :
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[ALL]]#0, %[[X1]]#0, %[[X2]]#0, %[[X3]]#0 : {{.*}}) outs(%[[E]] : {{.*}}) carry_in [] carry_out [] {
// CHECK-NEXT:    ^bb0(%[[B0:.*]]: vector<4xf32>, %[[B1:.*]]: vector<4xf32>, %[[B2:.*]]: vector<4xf32>, %[[B3:.*]]: vector<4xf32>):
// CHECK-NEXT:      %[[C23:.*]] = arith.addf %[[B2]], %[[B3]]
// CHECK-NEXT:      %[[C:.*]] = arith.addf %[[B1]], %[[C23]]
// CHECK-NEXT:      arith.subf %[[B0]], %[[C]]
// CHECK:         return %[[O]], %[[Y]]#1, %[[Z]]#1, %[[ALL]]#1, %[[X1]]#1, %[[X2]]#1, %[[X3]]#1
func.func @paper_decayed(%sk: !SS, %sq: !SS, %p: !SV, %g1: !SV, %g2: !SV, %g3: !SV, %q: !S, %k: !S, %v: !V, %e: !V) -> (!V, !SS, !SS, !SV, !SV, !SV, !SV) {
  %o:7 = hla.third_order variant(paper) decay(0.5) ins(%q, %k, %v : !S, !S, !V) carry(%sk, %sq, %p, %g1, %g2, %g3 : !SS, !SS, !SV, !SV, !SV, !SV) outs(%e, %sk, %sq, %p, %g1, %g2, %g3 : !V, !SS, !SS, !SV, !SV, !SV, !SV) -> !V, !SS, !SS, !SV, !SV, !SV, !SV
  return %o#0, %o#1, %o#2, %o#3, %o#4, %o#5, %o#6 : !V, !SS, !SS, !SV, !SV, !SV, !SV
}

// Its denominator has m, g1, g2 and g3, in this order.
// CHECK-LABEL: func @paper_decayed_normalized
// CHECK-SAME:    %[[M:[^ ]*]]: tensor<?x?x8x1xf32>, %[[G1:[^ ]*]]: tensor<?x?x8x1xf32>, %[[G2:[^ ]*]]: tensor<?x?x8x1xf32>, %[[G3:[^ ]*]]: tensor<?x?x8x1xf32>
// CHECK:         %[[ONES:.*]] = hla.fused_scan ins(%{{[^,]*}} : {{[^,]*}}) outs(%{{.*}} : tensor<?x?x?x1xf32>)
// CHECK:         hla.scan ins(%{{[^,]*}}, %[[K:[^,]*]], %[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         %[[WV:.*]] = hla.scan exclusive ins(%{{[^,]*}}, %[[K]], %[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         hla.scan ins(%{{[^,]*}}, %[[K]], %[[WV]] : {{.*}}) carry(%[[G1]] :
// CHECK:         %[[PX:.*]] = hla.scan exclusive ins(%{{[^,]*}}, %[[K]], %[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         hla.scan ins(%{{[^,]*}}, %{{[^,]*}}, %[[PX]] : {{.*}}) carry(%[[G2]] :
// CHECK:         hla.scan ins(%{{[^,]*}}, %{{[^,]*}}, %[[ONES]] : {{.*}}) carry(%[[G3]] :
// CHECK-COUNT-6: hla.scan
// CHECK-NOT:     hla.scan
// CHECK:         return
func.func @paper_decayed_normalized(%m: !S1, %n1: !S1, %n2: !S1, %n3: !S1, %sk: !SS, %sq: !SS, %p: !SV, %g1: !SV, %g2: !SV, %g3: !SV, %q: !S, %k: !S, %v: !V, %g: tensor<?x?x?xf32>, %e: !V) -> !V {
  %o = hla.third_order variant(paper) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V) log_decay(%g : tensor<?x?x?xf32>) carry(%sk, %sq, %p, %g1, %g2, %g3, %m, %n1, %n2, %n3 : !SS, !SS, !SV, !SV, !SV, !SV, !S1, !S1, !S1, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// A log-decay of zeros is none, but for the states that are asked for.
// CHECK-LABEL: func @unit_decay
// CHECK-COUNT-5: hla.scan {{.*}} : {{[^)]*}}) outs
// CHECK:         hla.scan {{.*}} log_decay
func.func @unit_decay(%sk: !SS, %p: !SV, %q: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x4xbf16>) -> (tensor<?x?x2x4xbf16>, tensor<?x?x2x4xbf16>) {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %a = hla.third_order variant(paper) ins(%q, %q, %v : tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x4xbf16>) log_decay(%zero : tensor<2xf32>) outs(%v : tensor<?x?x2x4xbf16>) -> tensor<?x?x2x4xbf16>
  %b = hla.third_order variant(paper) ins(%q, %q, %v : tensor<?x?x2x8xbf16>, tensor<?x?x2x8xbf16>, tensor<?x?x2x4xbf16>) log_decay(%zero : tensor<2xf32>) carry(%sk, %sk, %p, %p, %p, %p : !SS, !SS, !SV, !SV, !SV, !SV) outs(%v : tensor<?x?x2x4xbf16>) -> tensor<?x?x2x4xbf16>
  return %a, %b : tensor<?x?x2x4xbf16>, tensor<?x?x2x4xbf16>
}
