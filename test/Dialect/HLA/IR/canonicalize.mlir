// Simplification of scans; of loops, in canonicalize-fused-scan.mlir.

// RUN: hla-opt %s --canonicalize --split-input-file | FileCheck %s

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>

// A carry of zeros is no carry, whatever their sign.
// CHECK-LABEL: func @zero_carry
// CHECK:         hla.scan exclusive decay(5.000000e-01) ins({{.*}}) outs
func.func @zero_carry(%q: tensor<1x?x2x8xf32>, %e: tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32> {
  %zero = arith.constant dense<-0.0> : tensor<1x2x8x8xf32>
  %y = hla.scan exclusive decay(0.5) ins(%q, %q, %q : tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>)
                carry(%zero : tensor<1x2x8x8xf32>) outs(%e : tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  return %y : tensor<1x?x2x8xf32>
}

// CHECK-LABEL: func @other_carry
// CHECK:         hla.scan ins({{.*}}) carry(%{{.*}} : tensor<1x2x8x8xf32>) outs
func.func @other_carry(%q: tensor<1x?x2x8xf32>, %e: tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32> {
  %one = arith.constant dense<1.0> : tensor<1x2x8x8xf32>
  %y = hla.scan ins(%q, %q, %q : tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>)
                carry(%one : tensor<1x2x8x8xf32>) outs(%e : tensor<1x?x2x8xf32>) -> tensor<1x?x2x8xf32>
  return %y : tensor<1x?x2x8xf32>
}

// -----

// A log-decay of zeros decays nothing, whatever their sign; another does.
// CHECK-LABEL: func @zero_log_decay
// CHECK-SAME:    %[[Q:[^ ]*]]: tensor<1x5x2x8xf32>, %[[G:[^ ]*]]: tensor<2xf32>
// CHECK-NOT:     log_decay
// CHECK:         hla.scan groups([1, 1, 1]) ins({{.*}}) outs
// CHECK:         hla.scan ins({{.*}}) outs
// CHECK:         hla.scan ins({{.*}}) log_decay(%[[G]] : tensor<2xf32>) outs
func.func @zero_log_decay(%q: tensor<1x5x2x8xf32>, %g: tensor<2xf32>, %e: tensor<1x5x2x8xf32>) -> (tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>) {
  %zero = arith.constant dense<0.0> : tensor<1x5x2xf32>
  %minus = arith.constant dense<-0.0> : tensor<2xf64>
  %a = hla.scan groups([1, 1, 1]) ins(%q, %q, %q : tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>)
                log_decay(%zero : tensor<1x5x2xf32>) outs(%e : tensor<1x5x2x8xf32>) -> tensor<1x5x2x8xf32>
  %b = hla.scan ins(%q, %q, %q : tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>)
                log_decay(%minus : tensor<2xf64>) outs(%e : tensor<1x5x2x8xf32>) -> tensor<1x5x2x8xf32>
  %c = hla.scan ins(%q, %q, %q : tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>)
                log_decay(%g : tensor<2xf32>) outs(%e : tensor<1x5x2x8xf32>) -> tensor<1x5x2x8xf32>
  return %a, %b, %c : tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>, tensor<1x5x2x8xf32>
}

// -----

!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>

// A final state that nobody reads is not computed; all else stays as it was.
// CHECK-LABEL: func @unused_final
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x?x8xf32>, %[[S:.*]]: tensor<?x?x8x8xf32>, %[[E:.*]]: tensor<?x?x?x8xf32>,
// CHECK:         %[[Y:.*]] = hla.scan exclusive reverse decay(5.000000e-01) layout(bhtd) ins(%[[Q]], %[[Q]], %[[Q]] : {{.*}}) carry(%[[S]] : {{.*}}) outs(%[[E]] : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @unused_final(%q: !S, %s: !State, %e: !S, %f: !State) -> !S {
  %y:2 = hla.scan exclusive reverse decay(0.5) layout(bhtd) ins(%q, %q, %q : !S, !S, !S)
                  carry(%s : !State) outs(%e, %f : !S, !State) -> !S, !State
  return %y#0 : !S
}

// Also of sequences, with a decay of tokens and groups.
// CHECK-LABEL: func @unused_final_options
// CHECK:         hla.scan groups([2, 1, 1]) ins({{.*}}) log_decay({{.*}}) lengths({{.*}}) carry({{.*}}) outs(%{{[^,]*}} : tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32>
func.func @unused_final_options(%q: tensor<1x?x?x8xf32>, %g: tensor<1x?x?xf32>, %c: tensor<?xi32>, %s: !State, %f: !State) -> tensor<1x?x?x8xf32> {
  %y:2 = hla.scan groups([2, 1, 1]) ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) log_decay(%g : tensor<1x?x?xf32>) lengths(%c : tensor<?xi32>)
                  carry(%s : !State) outs(%q, %f : tensor<1x?x?x8xf32>, !State) -> tensor<1x?x?x8xf32>, !State
  return %y#0 : tensor<1x?x?x8xf32>
}

// The result is always written: a state has no place of its own.
// CHECK-LABEL: func @unused_result
// CHECK:         %[[Y:.*]]:2 = hla.scan
// CHECK-NEXT:    return %[[Y]]#1
func.func @unused_result(%q: !S, %e: !S, %f: !State) -> !State {
  %y:2 = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e, %f : !S, !State) -> !S, !State
  return %y#1 : !State
}

// -----

// What is minimal stays as it is.
!S = tensor<?x?x?x8xf32>

// CHECK-LABEL: func @stable
// CHECK:         hla.scan ins(%[[Q:.*]], %[[Q]], %[[Q]] : {{.*}}) outs(%{{.*}}) -> tensor<?x?x?x8xf32>
func.func @stable(%q: !S, %e: !S) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %y : !S
}
