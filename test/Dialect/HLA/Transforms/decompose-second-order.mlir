// Every second-order operator as scans, with its states, ridge and decays.

// RUN: hla-opt %s --hla-decompose-operators | FileCheck %s

!S = tensor<?x?x?x8xbf16>
!V = tensor<?x?x?x4xbf16>
!SS = tensor<?x?x8x8xf32>
!SV = tensor<?x?x8x4xf32>
!S1 = tensor<?x?x8x1xf32>

// u = scan(q, k, k) has S, o = scan(q, u, v) has F.
// CHECK-LABEL: func @masked
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[F:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]: {{[^,]*}}, %[[ES:[^ ]*]]: {{[^,]*}}, %[[EF:[^ ]*]]: {{.*}}) ->
// CHECK:         %[[U:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[S]] : {{.*}}) outs(%{{.*}}, %[[ES]] : tensor<?x?x?x8xf32>, {{.*}})
// CHECK-NEXT:    %[[O:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[U]]#0, %[[V]] : {{.*}}) carry(%[[F]] : {{.*}}) outs(%[[E]], %[[EF]] :
// CHECK-NEXT:    return %[[O]]#0, %[[U]]#1, %[[O]]#1
func.func @masked(%s: !SS, %f: !SV, %q: !S, %k: !S, %v: !V, %e: !V, %es: !SS, %ef: !SV) -> (!V, !SS, !SV) {
  %o:3 = hla.second_order decay(0.5) ins(%q, %k, %v : !S, !S, !V) carry(%s, %f : !SS, !SV) outs(%e, %es, %ef : !V, !SS, !SV) -> !V, !SS, !SV
  return %o#0, %o#1, %o#2 : !V, !SS, !SV
}

// With a ridge, the second scan's key is u + λ q.
// CHECK-LABEL: func @masked_ridge
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]:
// CHECK:         %[[U:.*]] = hla.scan groups([2, 4, 4]) ins(%[[Q]], %[[K]], %[[K]] :
// CHECK:         %[[UR:.*]] = hla.fused_scan groups([1, 2]) ins(%[[U]], %[[Q]] : tensor<?x?x?x8xf32>, tensor<?x?x?x8xbf16>) outs(%{{.*}} : tensor<?x?x?x8xf32>) carry_in [] carry_out [] {
// CHECK-NEXT:    ^bb0(%[[U1:.*]]: vector<8xf32>, %[[Q1:.*]]: vector<8xbf16>):
// CHECK-NEXT:      %[[C:.*]] = arith.constant dense<2.500000e-01> : vector<8xf32>
// CHECK-NEXT:      %[[Q2:.*]] = arith.extf %[[Q1]] : vector<8xbf16> to vector<8xf32>
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[Q2]], %[[C]]
// CHECK-NEXT:      %[[A:.*]] = arith.addf %[[U1]], %[[M]]
// CHECK-NEXT:      hla.yield %[[A]]
// CHECK:         hla.scan groups([2, 1, 4]) ins(%[[Q]], %[[UR]], %[[V]] :
func.func @masked_ridge(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order ridge(0.25) groups([2, 4]) ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// A constant, squared for the second scan; so also in the denominator, which has
// the first scan in common with the numerator.
// CHECK-LABEL: func @squared_constant
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[F:[^ ]*]]: {{[^,]*}}, %[[F1:[^ ]*]]: {{[^,]*}},
// CHECK:         %[[U:.*]] = hla.scan decay(5.000000e-01) ins({{.*}}) carry(%[[S]] :
// CHECK:         %[[ONES:.*]] = hla.fused_scan
// CHECK:         hla.scan decay(2.500000e-01) ins(%[[Q:[^,]*]], %[[U]], %[[ONES]] : {{.*}}) carry(%[[F1]] :
// CHECK:         hla.scan decay(2.500000e-01) ins(%[[Q]], %[[U]], %{{.*}}) carry(%[[F]] :
// CHECK-NOT:     hla.scan
// CHECK:         return
func.func @squared_constant(%s: !SS, %f: !SV, %f1: !S1, %q: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order reading(squared) decay(0.5) normalize(add, 1.0) ins(%q, %q, %v : !S, !S, !V) carry(%s, %f, %f1 : !SS, !SV, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// A decay of tokens: exp(g)² = exp(g + g), once for both scans that it decays.
// CHECK-LABEL: func @squared_of_tokens
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<?x?x?xf32>, %[[Q:[^ ]*]]:
// CHECK:         %[[U:.*]] = hla.scan layout(bhtd) groups([3, 1, 1]) ins({{.*}}) log_decay(%[[G]] : {{.*}}) outs
// CHECK:         %[[G2:.*]] = hla.fused_scan layout(bhtd) groups([3, 1]) ins(%[[Q]], %[[G]] : {{.*}}, tensor<?x?x?xf32>) outs(%{{.*}} : tensor<?x?x?xf32>) carry_in [] carry_out [] {
// CHECK-NEXT:    ^bb0(%{{.*}}: vector<8xbf16>, %[[GT:.*]]: vector<1xf32>):
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[GT]], %[[GT]]
// CHECK-NEXT:      hla.yield %[[SUM]]
// CHECK:         hla.scan layout(bhtd) groups([3, 1, 1]) ins(%[[Q]], %[[U]], %{{.*}}) log_decay(%[[G2]] : tensor<?x?x?xf32>) outs
// CHECK:         hla.scan layout(bhtd) groups([3, 1, 1]) ins(%[[Q]], %[[U]], %{{.*}}) log_decay(%[[G2]] : tensor<?x?x?xf32>) outs
func.func @squared_of_tokens(%g: tensor<?x?x?xf32>, %q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order reading(squared) normalize(add, 1.0) layout(bhtd) groups([3, 1]) ins(%q, %k, %v : !S, !S, !V) log_decay(%g : tensor<?x?x?xf32>) outs(%e : !V) -> !V
  return %o : !V
}

// A decay of heads, in f64, has no tokens: it gets those of the query.
// CHECK-LABEL: func @squared_of_heads
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<?xf64>, %[[Q:[^ ]*]]:
// CHECK:         hla.scan ins({{.*}}) log_decay(%[[G]] : tensor<?xf64>) lengths
// CHECK:         %[[G2:.*]] = hla.fused_scan ins(%[[Q]], %[[G]] : tensor<1x?x?x8xf32>, tensor<?xf64>) lengths(%{{.*}} : tensor<?xi32>) outs(%{{.*}} : tensor<1x?x?xf32>)
// CHECK:           arith.truncf %{{.*}} : vector<1xf64> to vector<1xf32>
// CHECK:         hla.scan ins({{.*}}) log_decay(%[[G2]] : tensor<1x?x?xf32>) lengths
func.func @squared_of_heads(%g: tensor<?xf64>, %q: tensor<1x?x?x8xf32>, %c: tensor<?xi32>) -> tensor<1x?x?x8xf32> {
  %o = hla.second_order reading(squared) ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) log_decay(%g : tensor<?xf64>)
                        lengths(%c : tensor<?xi32>) outs(%q : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
  return %o : tensor<1x?x?x8xf32>
}

// Zeros, squared, are zeros.
// CHECK-LABEL: func @squared_zeros
// CHECK-NOT:     fused_scan
// CHECK-COUNT-2: hla.scan ins({{[^)]*}}) outs
func.func @squared_zeros(%q: tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %o = hla.second_order reading(squared) ins(%q, %q, %q : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) log_decay(%zero : tensor<2xf32>) outs(%q : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %o : tensor<?x?x2x8xf32>
}

// u = scan(q, k, k) has S, o = scan(u, q, v) has C; with v = 1, it has m.
// CHECK-LABEL: func @prefix
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[C:[^ ]*]]: {{[^,]*}}, %[[M:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]:
// CHECK:         %[[U:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[S]] :
// CHECK:         %[[ONES:.*]] = hla.fused_scan
// CHECK:         %[[D:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[U]]#0, %[[Q]], %[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         %[[N:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[U]]#0, %[[Q]], %[[V]] : {{.*}}) carry(%[[C]] :
// CHECK-NOT:     hla.scan
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[N]]#0, %[[D]]#0 :
// CHECK:         return %[[O]], %[[U]]#1, %[[N]]#1, %[[D]]#1
func.func @prefix(%s: !SS, %c: !SV, %m: !S1, %q: !S, %k: !S, %v: !V, %e: !V) -> (!V, !SS, !SV, !S1) {
  %o:4 = hla.second_order variant(prefix) decay(0.5) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V) carry(%s, %c, %m : !SS, !SV, !S1) outs(%e, %s, %c, %m : !V, !SS, !SV, !S1) -> !V, !SS, !SV, !S1
  return %o#0, %o#1, %o#2, %o#3 : !V, !SS, !SV, !S1
}

// u = scan(q, k, k) has S; w, before the token, and scan(u, q, v) both read C, and
// one says what it is at the end; scan(q, k, w) has G.
// CHECK-LABEL: func @paper
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[C:[^ ]*]]: {{[^,]*}}, %[[G:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]:
// CHECK:         %[[U:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[K]] : {{.*}}) carry(%[[S]] :
// CHECK:         %[[W:.*]]:2 = hla.scan exclusive decay(5.000000e-01) ins(%[[K]], %[[Q]], %[[V]] : {{.*}}) carry(%[[C]] :
// CHECK:         %[[ALL:.*]] = hla.scan decay(5.000000e-01) ins(%[[U]]#0, %[[Q]], %[[V]] : {{.*}}) carry(%[[C]] : {{.*}}) outs(%{{[^,]*}} : tensor<?x?x?x4xf32>)
// CHECK:         %[[LESS:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[W]]#0 : {{.*}}) carry(%[[G]] :
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[ALL]], %[[LESS]]#0 : {{.*}}) outs(%[[E]] : {{.*}}) carry_in [] carry_out [] {
// CHECK-NEXT:    ^bb0(%[[A1:.*]]: vector<4xf32>, %[[L1:.*]]: vector<4xf32>):
// CHECK-NEXT:      arith.subf %[[A1]], %[[L1]]
// CHECK:         return %[[O]], %[[U]]#1, %[[W]]#1, %[[LESS]]#1
func.func @paper(%s: !SS, %c: !SV, %g: !SV, %q: !S, %k: !S, %v: !V, %e: !V) -> (!V, !SS, !SV, !SV) {
  %o:4 = hla.second_order variant(paper) decay(0.5) ins(%q, %k, %v : !S, !S, !V) carry(%s, %c, %g : !SS, !SV, !SV) outs(%e, %s, %c, %g : !V, !SS, !SV, !SV) -> !V, !SS, !SV, !SV
  return %o#0, %o#1, %o#2, %o#3 : !V, !SS, !SV, !SV
}

// Its denominator has m and h, after S, C and G; a ridge is in u for both.
// CHECK-LABEL: func @paper_normalized
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[C:[^ ]*]]: {{[^,]*}}, %[[G:[^ ]*]]: {{[^,]*}}, %[[M:[^ ]*]]: {{[^,]*}}, %[[H:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}},
// CHECK:         %[[U:.*]] = hla.scan ins({{.*}}) log_decay({{.*}}) carry(%[[S]] :
// CHECK:         %[[ONES:.*]] = hla.fused_scan ins(%[[Q]] :
// CHECK:         %[[UR1:.*]] = hla.fused_scan ins(%[[U]], %[[Q]] :
// CHECK:         %[[W:.*]] = hla.scan exclusive ins(%[[K]], %[[Q]], %[[ONES]] : {{.*}}) {{.*}} carry(%[[M]] :
// CHECK:         hla.scan ins(%[[UR1]], %[[Q]], %[[ONES]] : {{.*}}) {{.*}} carry(%[[M]] :
// CHECK:         hla.scan ins(%[[Q]], %[[K]], %[[W]] : {{.*}}) {{.*}} carry(%[[H]] :
// CHECK:         %[[UR:.*]] = hla.fused_scan ins(%[[U]], %[[Q]] :
// CHECK:         hla.scan exclusive {{.*}} carry(%[[C]] :
// CHECK:         hla.scan ins(%[[UR]], {{.*}} carry(%[[C]] :
// CHECK:         hla.scan {{.*}} carry(%[[G]] :
func.func @paper_normalized(%s: !SS, %c: !SV, %g: !SV, %m: !S1, %h: !S1, %q: !S, %k: !S, %v: !V, %gamma: tensor<?xf32>, %e: !V) -> !V {
  %o = hla.second_order variant(paper) ridge(0.5) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V) log_decay(%gamma : tensor<?xf32>) carry(%s, %c, %g, %m, %h : !SS, !SV, !SV, !S1, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// Without a decay and states it is the masked operator; with states it has its own.
// CHECK-LABEL: func @paper_undecayed
// CHECK:         %[[U:.*]] = hla.scan ins(
// CHECK:         hla.scan ins(%{{[^,]*}}, %[[U]], %{{.*}})
// CHECK:         hla.scan ins
// CHECK:         hla.scan exclusive ins
// CHECK:         hla.scan ins
// CHECK:         hla.scan ins
func.func @paper_undecayed(%s: !SS, %c: !SV, %q: !S, %v: !V, %e: !V) -> (!V, !V) {
  %a = hla.second_order variant(paper) ins(%q, %q, %v : !S, !S, !V) outs(%e : !V) -> !V
  %b = hla.second_order variant(paper) ins(%q, %q, %v : !S, !S, !V) carry(%s, %c, %c : !SS, !SV, !SV) outs(%e : !V) -> !V
  return %a, %b : !V, !V
}

// One tensor in several places: S and C are two states all the same.
// CHECK-LABEL: func @same_operands
// CHECK-SAME:    %[[S:[^ ]*]]: {{[^,]*}}, %[[C:[^ ]*]]: {{[^,]*}}, %[[Q:[^ ]*]]: tensor<?x?x?x8xbf16>
// CHECK:         %[[U:.*]]:2 = hla.scan ins(%[[Q]], %[[Q]], %[[Q]] : {{.*}}) carry(%[[S]] : {{.*}}) outs(%{{.*}}, %[[S]] :
// CHECK:         %[[O:.*]]:2 = hla.scan ins(%[[U]]#0, %[[Q]], %[[Q]] : {{.*}}) carry(%[[C]] : {{.*}}) outs(%{{.*}}, %[[C]] :
// CHECK:         return %[[O]]#0, %[[U]]#1, %[[O]]#1
func.func @same_operands(%s: !SS, %c: !SS, %q: !S, %e: !S) -> (!S, !SS, !SS) {
  %o:3 = hla.second_order variant(prefix) ins(%q, %q, %q : !S, !S, !S) carry(%s, %c : !SS, !SS) outs(%e, %s, %c : !S, !SS, !SS) -> !S, !SS, !SS
  return %o#0, %o#1, %o#2 : !S, !SS, !SS
}
