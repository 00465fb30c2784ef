// The linear and the asymmetric operator as scans, and what all operators have:
// scale, normalisers, groups, lengths and direction.

// RUN: hla-opt %s --hla-decompose-operators | FileCheck %s

!S = tensor<?x?x?x8xbf16>
!V = tensor<?x?x?x4xbf16>
!SV = tensor<?x?x8x4xf32>
!S1 = tensor<?x?x8x1xf32>

// o = scan(q, k, v), written where the operator writes.
// CHECK-LABEL: func @linear
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]: {{[^,]*}}, %[[EP:[^ ]*]]:
// CHECK-NEXT:    %[[O:.*]]:2 = hla.scan reverse decay(5.000000e-01) layout(bhtd) ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] : {{.*}}) outs(%[[E]], %[[EP]] : {{.*}})
// CHECK-NEXT:    return %[[O]]#0, %[[O]]#1
func.func @linear(%q: !S, %k: !S, %v: !V, %p: !SV, %e: !V, %ep: !SV) -> (!V, !SV) {
  %o:2 = hla.linear decay(0.5) reverse layout(bhtd) ins(%q, %k, %v : !S, !S, !V) carry(%p : !SV) outs(%e, %ep : !V, !SV) -> !V, !SV
  return %o#0, %o#1 : !V, !SV
}

// A carry without a final state, and a final state without a carry.
// CHECK-LABEL: func @linear_states
// CHECK-SAME:    %{{[^ ]*}}: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]:
// CHECK-NEXT:    %[[A:.*]] = hla.scan ins({{.*}}) carry(%[[P]] : {{.*}}) outs(%[[E]] : {{.*}}) -> tensor<?x?x?x4xbf16>{{$}}
// CHECK-NEXT:    %[[B:.*]]:2 = hla.scan ins({{[^)]*}}) outs(%[[E]], %[[P]] : {{.*}})
// CHECK-NEXT:    return %[[A]], %[[B]]#0, %[[B]]#1
func.func @linear_states(%q: !S, %v: !V, %p: !SV, %e: !V) -> (!V, !V, !SV) {
  %a = hla.linear ins(%q, %q, %v : !S, !S, !V) carry(%p : !SV) outs(%e : !V) -> !V
  %b:2 = hla.linear ins(%q, %q, %v : !S, !S, !V) outs(%e, %p : !V, !SV) -> !V, !SV
  return %a, %b#0, %b#1 : !V, !V, !SV
}

// r = scan(q, k, v), o = scan(q, k, r): P and E are carried in and out in order.
// CHECK-LABEL: func @asymmetric
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[C:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]: {{[^,]*}}, %[[EP:[^ ]*]]: {{[^,]*}}, %[[EE:[^ ]*]]: {{.*}}) ->
// CHECK:         %[[R:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] : {{.*}}) outs(%{{.*}}, %[[EP]] : tensor<?x?x?x4xf32>, {{.*}})
// CHECK:         %[[O:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[R]]#0 : {{.*}}) carry(%[[C]] : {{.*}}) outs(%[[E]], %[[EE]] : tensor<?x?x?x4xbf16>, {{.*}})
// CHECK-NEXT:    return %[[O]]#0, %[[R]]#1, %[[O]]#1
func.func @asymmetric(%q: !S, %k: !S, %v: !V, %p: !SV, %c: !SV, %e: !V, %ep: !SV, %ee: !SV) -> (!V, !SV, !SV) {
  %o:3 = hla.asymmetric decay(0.5) ins(%q, %k, %v : !S, !S, !V) carry(%p, %c : !SV, !SV) outs(%e, %ep, %ee : !V, !SV, !SV) -> !V, !SV, !SV
  return %o#0, %o#1, %o#2 : !V, !SV, !SV
}

// The scale to the power of the order: 1/2 and 1/4; it is not in the state.
// CHECK-LABEL: func @scale
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]:
// CHECK:         %[[Y:.*]]:2 = hla.scan ins(%[[Q]], %[[Q]], %[[V]] : {{.*}}) outs(%{{.*}}, %[[P]] : tensor<?x?x?x4xf32>, {{.*}})
// CHECK-NEXT:    %[[A:.*]] = hla.fused_scan ins(%[[Y]]#0 : tensor<?x?x?x4xf32>) outs(%[[E]] : tensor<?x?x?x4xbf16>) carry_in [] carry_out [] {
// CHECK-NEXT:    ^bb0(%[[Y1:.*]]: vector<4xf32>):
// CHECK-NEXT:      %[[C:.*]] = arith.constant dense<5.000000e-01> : vector<4xf32>
// CHECK-NEXT:      %[[M:.*]] = arith.mulf %[[Y1]], %[[C]] : vector<4xf32>
// CHECK-NEXT:      %[[T:.*]] = arith.truncf %[[M]] : vector<4xf32> to vector<4xbf16>
// CHECK-NEXT:      hla.yield %[[T]] : vector<4xbf16>
// CHECK:         %[[B:.*]] = hla.fused_scan ins
// CHECK:           arith.constant dense<2.500000e-01> : vector<4xf32>
// CHECK:         return %[[A]], %[[Y]]#1, %[[B]]
func.func @scale(%q: !S, %v: !V, %e: !V, %p: !SV) -> (!V, !SV, !V) {
  %a:2 = hla.linear scale(0.5) ins(%q, %q, %v : !S, !S, !V) outs(%e, %p : !V, !SV) -> !V, !SV
  %b = hla.asymmetric scale(-0.5) ins(%q, %q, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %a#0, %a#1, %b : !V, !SV, !V
}

// The denominator is the operator of v = 1, with the state m; both are scaled.
// CHECK-LABEL: func @add
// CHECK-SAME:    %[[Q:[^ ]*]]: {{[^,]*}}, %[[K:[^ ]*]]: {{[^,]*}}, %[[V:[^ ]*]]: {{[^,]*}}, %[[P:[^ ]*]]: {{[^,]*}}, %[[M:[^ ]*]]: {{[^,]*}}, %[[E:[^ ]*]]: {{[^,]*}}, %[[EP:[^ ]*]]: {{[^,]*}}, %[[EM:[^ ]*]]: {{.*}}) ->
// CHECK:         %[[ONES:.*]] = hla.fused_scan ins(%[[Q]] : {{.*}}) outs(%{{.*}} : tensor<?x?x?x1xf32>) carry_in [] carry_out [] {
// CHECK:           %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<1xf32>
// CHECK-NEXT:      hla.yield %[[ONE]]
// CHECK:         %[[D:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[ONES]] : {{.*}}) carry(%[[M]] : {{.*}}) outs(%{{.*}}, %[[EM]] : tensor<?x?x?x1xf32>,
// CHECK:         %[[N:.*]]:2 = hla.scan decay(5.000000e-01) ins(%[[Q]], %[[K]], %[[V]] : {{.*}}) carry(%[[P]] : {{.*}}) outs(%{{.*}}, %[[EP]] :
// CHECK:         %[[O:.*]] = hla.fused_scan ins(%[[N]]#0, %[[D]]#0 : {{.*}}) outs(%[[E]] : {{.*}}) carry_in [] carry_out [] {
// CHECK-NEXT:    ^bb0(%[[N1:.*]]: vector<4xf32>, %[[D1:.*]]: vector<1xf32>):
// CHECK-DAG:       %[[HALF4:.*]] = arith.constant dense<5.000000e-01> : vector<4xf32>
// CHECK-DAG:       %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<1xf32>
// CHECK-DAG:       %[[EPS:.*]] = arith.constant dense<2.500000e-01> : vector<1xf32>
// CHECK-DAG:       %[[DS:.*]] = arith.mulf %[[D1]], %[[HALF]]
// CHECK-DAG:       %[[NS:.*]] = arith.mulf %[[N1]], %[[HALF4]]
// CHECK-DAG:       %[[DE:.*]] = arith.addf %[[DS]], %[[EPS]]
// CHECK:           %[[DB:.*]] = vector.broadcast %[[DE]] : vector<1xf32> to vector<4xf32>
// CHECK-NEXT:      arith.divf %[[NS]], %[[DB]]
// CHECK:         return %[[O]], %[[N]]#1, %[[D]]#1
func.func @add(%q: !S, %k: !S, %v: !V, %p: !SV, %m: !S1, %e: !V, %ep: !SV, %em: !S1) -> (!V, !SV, !S1) {
  %o:3 = hla.linear decay(0.5) scale(0.5) normalize(add, 0.25) ins(%q, %k, %v : !S, !S, !V) carry(%p, %m : !SV, !S1) outs(%e, %ep, %em : !V, !SV, !S1) -> !V, !SV, !S1
  return %o#0, %o#1, %o#2 : !V, !SV, !S1
}

// A clamp keeps the sign: below -1/4 or above 1/4. The denominator's states come
// after the numerator's: P, E, m, n.
// CHECK-LABEL: func @clamp
// CHECK-SAME:    %[[P:[^ ]*]]: tensor<?x?x8x4xf32>, %[[E:[^ ]*]]: tensor<?x?x8x4xf32>, %[[M:[^ ]*]]: tensor<?x?x8x1xf32>, %[[N:[^ ]*]]: tensor<?x?x8x1xf32>
// CHECK:         %[[ONES:.*]] = hla.fused_scan
// CHECK:         %[[R1:.*]] = hla.scan ins({{.*}}%[[ONES]] : {{.*}}) carry(%[[M]] :
// CHECK:         %[[DEN:.*]] = hla.scan ins({{.*}}%[[R1]] : {{.*}}) carry(%[[N]] :
// CHECK:         %[[R:.*]] = hla.scan ins({{.*}}) carry(%[[P]] :
// CHECK:         %[[NUM:.*]] = hla.scan ins({{.*}}%[[R]] : {{.*}}) carry(%[[E]] :
// CHECK:         hla.fused_scan ins(%[[NUM]], %[[DEN]] :
// CHECK-NEXT:    ^bb0(%[[N1:.*]]: vector<4xf32>, %[[D1:.*]]: vector<1xf32>):
// CHECK-DAG:       %[[UP:.*]] = arith.constant dense<2.500000e-01> : vector<1xf32>
// CHECK-DAG:       %[[DOWN:.*]] = arith.constant dense<-2.500000e-01> : vector<1xf32>
// CHECK-DAG:       %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<1xf32>
// CHECK-DAG:       %[[ABOVE:.*]] = arith.maximumf %[[D1]], %[[UP]]
// CHECK-DAG:       %[[BELOW:.*]] = arith.minimumf %[[D1]], %[[DOWN]]
// CHECK-DAG:       %[[SIGN:.*]] = arith.cmpf oge, %[[D1]], %[[ZERO]]
// CHECK:           %[[C:.*]] = arith.select %[[SIGN]], %[[ABOVE]], %[[BELOW]] : vector<1xi1>, vector<1xf32>
// CHECK:           %[[CB:.*]] = vector.broadcast %[[C]] : vector<1xf32> to vector<4xf32>
// CHECK-NEXT:      arith.divf %[[N1]], %[[CB]]
func.func @clamp(%p: !SV, %n: !SV, %m: !S1, %n1: !S1, %q: !S, %v: !V, %e: !V) -> !V {
  %o = hla.asymmetric normalize(clamp, 0.25) ins(%q, %q, %v : !S, !S, !V) carry(%p, %n, %m, %n1 : !SV, !SV, !S1, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// A head of the output reads half a query's, a quarter of a key's and a value's;
// what is computed on the way has all heads. Lengths and direction are of every
// loop, and tokens of no sequence are written by none.
// CHECK-LABEL: func @groups
// CHECK-SAME:    %[[C:[^ ]*]]: tensor<?xi32>
// CHECK:         %[[ONES:.*]] = hla.fused_scan reverse groups([2]) ins({{.*}}) lengths(%[[C]] : {{.*}}) outs(%{{.*}} : tensor<1x?x8x1xf32>)
// CHECK:         hla.scan reverse groups([2, 4, 1]) ins({{.*}}, %[[ONES]] : {{.*}}) log_decay(%[[G:.*]] : tensor<1x?x8xf32>) lengths(%[[C]] :
// CHECK:         %[[DEN:.*]] = hla.scan reverse groups([2, 4, 1])
// CHECK:         %[[R:.*]] = hla.scan reverse groups([2, 4, 4]) ins({{.*}}) log_decay(%[[G]] : {{.*}}) lengths(%[[C]] : {{.*}}) outs(%{{.*}} : tensor<1x?x8x4xf32>)
// CHECK:         %[[NUM:.*]] = hla.scan reverse groups([2, 4, 1]) ins({{.*}}, %[[R]] : {{.*}}) log_decay(%[[G]] : {{.*}}) lengths(%[[C]] : {{.*}}) outs(%{{.*}} : tensor<1x?x8x4xf32>)
// CHECK:         hla.fused_scan reverse ins(%[[NUM]], %[[DEN]] : {{.*}}) lengths(%[[C]] :
func.func @groups(%c: tensor<?xi32>, %q: tensor<1x?x4x8xbf16>, %k: tensor<1x?x2x8xbf16>, %v: tensor<1x?x2x4xbf16>, %g: tensor<1x?x8xf32>, %e: tensor<1x?x8x4xbf16>) -> tensor<1x?x8x4xbf16> {
  %o = hla.asymmetric normalize(add, 1.0) reverse groups([2, 4]) ins(%q, %k, %v : tensor<1x?x4x8xbf16>, tensor<1x?x2x8xbf16>, tensor<1x?x2x4xbf16>)
                      log_decay(%g : tensor<1x?x8xf32>) lengths(%c : tensor<?xi32>) outs(%e : tensor<1x?x8x4xbf16>) -> tensor<1x?x8x4xbf16>
  return %o : tensor<1x?x8x4xbf16>
}

// A log-decay of zeros decays nothing, a decay of heads every scan.
// CHECK-LABEL: func @log_decay
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<2xf32>
// CHECK:         hla.scan ins({{[^)]*}}) outs
// CHECK:         hla.scan ins({{[^)]*}}) log_decay(%[[G]] : tensor<2xf32>) outs
func.func @log_decay(%g: tensor<2xf32>, %q: tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %a = hla.linear ins(%q, %q, %q : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) log_decay(%zero : tensor<2xf32>) outs(%q : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  %b = hla.linear ins(%q, %q, %q : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) log_decay(%g : tensor<2xf32>) outs(%q : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %a, %b : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>
}
