// Every operator with every option, in its own and in the generic form: what is
// printed is parsed to the same again. Scans and loops are in ops.mlir.

// RUN: hla-opt %s | FileCheck %s
// RUN: hla-opt %s | hla-opt | FileCheck %s
// RUN: hla-opt %s --mlir-print-op-generic | hla-opt | FileCheck %s
// RUN: hla-opt %s --emit-bytecode | hla-opt | FileCheck %s
// RUN: hla-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

!S = tensor<?x?x?x64xbf16>
!V = tensor<?x?x?x128xbf16>
!U = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>
!SV = tensor<?x?x64x128xf32>
!S1 = tensor<?x?x64x1xf32>

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

// Defaults are not printed; the generic form has them.
// CHECK-LABEL: func @linear
// CHECK:         hla.linear ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>)
// CHECK-SAME:      outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
// GENERIC-LABEL: sym_name = "linear"
// GENERIC:       "hla.linear"
// GENERIC-SAME:    decay = 1.000000e+00 : f64
// GENERIC-SAME:    epsilon = 0.000000e+00 : f64
// GENERIC-SAME:    layout = #hla.layout<bthd>
// GENERIC-SAME:    normalizer = #hla.normalizer<none>
// GENERIC-SAME:    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>
// GENERIC-SAME:    scale = 1.000000e+00 : f64
func.func @linear(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.linear ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// Every option, with a constant decay.
// CHECK-LABEL: func @linear_options
// CHECK:         hla.linear decay(5.000000e-01) scale(1.250000e-01) normalize(add, 9.9999999999999995E-7) reverse layout(bhtd) groups([4, 2]) {tag}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) carry(%{{.*}}, %{{.*}} : tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>)
// CHECK-SAME:      outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>) -> tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>
// GENERIC-LABEL: sym_name = "linear_options"
// GENERIC:       "hla.linear"
// GENERIC-SAME:    decay = 5.000000e-01 : f64
// GENERIC-SAME:    epsilon = 9.9999999999999995E-7 : f64
// GENERIC-SAME:    groups = array<i64: 4, 2>
// GENERIC-SAME:    layout = #hla.layout<bhtd>
// GENERIC-SAME:    normalizer = #hla.normalizer<add>
// GENERIC-SAME:    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 2, 3>
// GENERIC-SAME:    reverse
// GENERIC-SAME:    scale = 1.250000e-01 : f64
func.func @linear_options(%q: !S, %k: !S, %v: !V, %p: !SV, %m: !S1, %e: !V) -> (!V, !SV, !S1) {
  %o:3 = hla.linear decay(0.5) scale(0.125) normalize(add, 1.0e-6) reverse layout(bhtd) groups([4, 2]) {tag}
                    ins(%q, %k, %v : !S, !S, !V) carry(%p, %m : !SV, !S1)
                    outs(%e, %p, %m : !V, !SV, !S1) -> !V, !SV, !S1
  return %o#0, %o#1, %o#2 : !V, !SV, !S1
}

// Every operand: states are of sequences here, not of batches.
// CHECK-LABEL: func @linear_operands
// CHECK:         hla.linear normalize(clamp, 1.000000e+00) ins({{.*}}) log_decay(%{{.*}} : tensor<1x?x8xf32>) lengths(%{{.*}} : tensor<4xi32>)
// CHECK-SAME:      carry(%{{.*}}, %{{.*}} : tensor<3x8x2x3xf32>, tensor<?x?x2x1xf32>) outs(%{{.*}} : tensor<1x?x8x3xf32>) -> tensor<1x?x8x3xf32>
func.func @linear_operands(%q: tensor<1x?x8x2xf16>, %v: tensor<1x?x8x3xf16>, %g: tensor<1x?x8xf32>, %c: tensor<4xi32>,
                           %p: tensor<3x8x2x3xf32>, %m: tensor<?x?x2x1xf32>, %e: tensor<1x?x8x3xf32>) -> tensor<1x?x8x3xf32> {
  %o = hla.linear normalize(clamp, 1.0) ins(%q, %q, %v : tensor<1x?x8x2xf16>, tensor<1x?x8x2xf16>, tensor<1x?x8x3xf16>)
                  log_decay(%g : tensor<1x?x8xf32>) lengths(%c : tensor<4xi32>)
                  carry(%p, %m : tensor<3x8x2x3xf32>, tensor<?x?x2x1xf32>) outs(%e : tensor<1x?x8x3xf32>) -> tensor<1x?x8x3xf32>
  return %o : tensor<1x?x8x3xf32>
}

// A decay of heads, in f64, of f64 sequences: states are f64 too.
// CHECK-LABEL: func @linear_f64
// CHECK:         hla.linear ins({{.*}}) log_decay(%{{.*}} : tensor<?xf64>) outs(%{{.*}}, %{{.*}} : tensor<?x?x?x4xf64>, tensor<?x?x4x4xf64>)
func.func @linear_f64(%q: tensor<?x?x?x4xf64>, %g: tensor<?xf64>, %p: tensor<?x?x4x4xf64>) -> tensor<?x?x?x4xf64> {
  %o:2 = hla.linear ins(%q, %q, %q : tensor<?x?x?x4xf64>, tensor<?x?x?x4xf64>, tensor<?x?x?x4xf64>)
                    log_decay(%g : tensor<?xf64>) outs(%q, %p : tensor<?x?x?x4xf64>, tensor<?x?x4x4xf64>) -> tensor<?x?x?x4xf64>, tensor<?x?x4x4xf64>
  return %o#0 : tensor<?x?x?x4xf64>
}

// An output of f64 makes the states f64.
// CHECK-LABEL: func @linear_f64_output
// CHECK:         hla.linear {{.*}} carry(%{{.*}} : tensor<?x?x4x4xf64>)
func.func @linear_f64_output(%q: tensor<?x?x?x4xf32>, %p: tensor<?x?x4x4xf64>, %e: tensor<?x?x?x4xf64>) -> tensor<?x?x?x4xf64> {
  %o = hla.linear ins(%q, %q, %q : tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>)
                  carry(%p : tensor<?x?x4x4xf64>) outs(%e : tensor<?x?x?x4xf64>) -> tensor<?x?x?x4xf64>
  return %o : tensor<?x?x?x4xf64>
}

//===----------------------------------------------------------------------===//
// second_order
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @second_order
// CHECK:         hla.second_order ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>)
// CHECK-SAME:      outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
// GENERIC-LABEL: sym_name = "second_order"
// GENERIC:       "hla.second_order"
// GENERIC-SAME:    layout = #hla.layout<bthd>
// GENERIC-SAME:    reading = #hla.decay_reading<causal>
// GENERIC-SAME:    ridge = 0.000000e+00 : f64
// GENERIC-SAME:    variant = #hla.second_order_variant<masked>
func.func @second_order(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// CHECK-LABEL: func @second_order_options
// CHECK:         hla.second_order reading(squared) ridge(1.000000e-01) decay(9.000000e-01) scale(-2.000000e+00) normalize(clamp, 1.000000e+00) reverse layout(bhtd) groups([1, 4]) {tag}
// CHECK-SAME:      ins({{.*}}) carry(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>) outs({{.*}}) -> tensor<?x?x?x128xbf16>, tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>
// GENERIC-LABEL: sym_name = "second_order_options"
// GENERIC:         layout = #hla.layout<bhtd>
// GENERIC-SAME:    reading = #hla.decay_reading<squared>
// GENERIC-SAME:    ridge = 1.000000e-01 : f64
func.func @second_order_options(%q: !S, %k: !S, %v: !V, %s: !SS, %f: !SV, %n: !S1, %e: !V) -> (!V, !SS, !SV, !S1) {
  %o:4 = hla.second_order variant(masked) reading(squared) ridge(0.1) decay(0.9) scale(-2.0) normalize(clamp, 1.0) reverse layout(bhtd) groups([1, 4]) {tag}
             ins(%q, %k, %v : !S, !S, !V) carry(%s, %f, %n : !SS, !SV, !S1) outs(%e, %s, %f, %n : !V, !SS, !SV, !S1) -> !V, !SS, !SV, !S1
  return %o#0, %o#1, %o#2, %o#3 : !V, !SS, !SV, !S1
}

// CHECK-LABEL: func @second_order_prefix
// CHECK:         hla.second_order variant(prefix) ridge(1.000000e+00) normalize(add, 0.000000e+00) ins({{.*}}) log_decay(%{{.*}} : tensor<?xf32>)
// CHECK-SAME:      carry(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>) outs
func.func @second_order_prefix(%q: !S, %k: !S, %v: !V, %g: tensor<?xf32>, %s: !SS, %f: !SV, %m: !S1, %e: !V) -> !V {
  %o = hla.second_order variant(prefix) ridge(1.0) normalize(add, 0.0) ins(%q, %k, %v : !S, !S, !V) log_decay(%g : tensor<?xf32>)
                        carry(%s, %f, %m : !SS, !SV, !S1) outs(%e : !V) -> !V
  return %o : !V
}

// CHECK-LABEL: func @second_order_paper
// CHECK:         hla.second_order variant(paper) normalize(add, 1.000000e+00) ins({{.*}}) lengths(%{{.*}} : tensor<?xi32>)
// CHECK-SAME:      carry(%{{.*}} : tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>) outs
func.func @second_order_paper(%q: tensor<1x?x?x64xbf16>, %v: tensor<1x?x?x128xbf16>, %c: tensor<?xi32>, %s: !SS, %f: !SV, %m: !S1) -> tensor<1x?x?x128xbf16> {
  %o = hla.second_order variant(paper) normalize(add, 1.0) ins(%q, %q, %v : tensor<1x?x?x64xbf16>, tensor<1x?x?x64xbf16>, tensor<1x?x?x128xbf16>)
                        lengths(%c : tensor<?xi32>) carry(%s, %f, %f, %m, %m : !SS, !SV, !SV, !S1, !S1)
                        outs(%v : tensor<1x?x?x128xbf16>) -> tensor<1x?x?x128xbf16>
  return %o : tensor<1x?x?x128xbf16>
}

// Static and dynamic extents may meet, and the smallest head dimension is 1.
// CHECK-LABEL: func @second_order_static
// CHECK:         hla.second_order ins({{.*}} : tensor<2x0x?x1xf64>, tensor<?x?x3x1xf64>, tensor<?x0x3x5xf64>)
func.func @second_order_static(%q: tensor<2x0x?x1xf64>, %k: tensor<?x?x3x1xf64>, %v: tensor<?x0x3x5xf64>, %e: tensor<2x0x3x5xf64>) -> tensor<2x0x3x5xf64> {
  %o = hla.second_order ins(%q, %k, %v : tensor<2x0x?x1xf64>, tensor<?x?x3x1xf64>, tensor<?x0x3x5xf64>)
                        outs(%e : tensor<2x0x3x5xf64>) -> tensor<2x0x3x5xf64>
  return %o : tensor<2x0x3x5xf64>
}

// Heads are those of the output: 2 of the query times 6, 4 of the key times 3.
// CHECK-LABEL: func @second_order_groups
// CHECK:         hla.second_order groups([6, 3]) ins({{.*}} : tensor<?x?x2x1xf32>, tensor<?x?x4x1xf32>, tensor<?x?x?x1xf32>)
func.func @second_order_groups(%q: tensor<?x?x2x1xf32>, %k: tensor<?x?x4x1xf32>, %v: tensor<?x?x?x1xf32>, %e: tensor<?x?x12x1xf32>) -> tensor<?x?x12x1xf32> {
  %o = hla.second_order groups([6, 3]) ins(%q, %k, %v : tensor<?x?x2x1xf32>, tensor<?x?x4x1xf32>, tensor<?x?x?x1xf32>)
                        outs(%e : tensor<?x?x12x1xf32>) -> tensor<?x?x12x1xf32>
  return %o : tensor<?x?x12x1xf32>
}

// The output's element type is its own.
// CHECK-LABEL: func @second_order_wide_output
// CHECK:         hla.second_order {{.*}} -> tensor<?x?x?x64xf32>
func.func @second_order_wide_output(%q: !S, %e: !U) -> !U {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !U) -> !U
  return %o : !U
}

//===----------------------------------------------------------------------===//
// asymmetric
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @asymmetric
// CHECK:         hla.asymmetric ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
func.func @asymmetric(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.asymmetric ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// CHECK-LABEL: func @asymmetric_options
// CHECK:         hla.asymmetric decay(9.000000e-01) scale(0.000000e+00) normalize(add, 1.000000e+00) reverse layout(bhtd) groups([2, 2]) {tag}
// CHECK-SAME:      ins({{.*}}) carry(%{{.*}} : tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>) outs(%{{.*}} : tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>)
func.func @asymmetric_options(%q: !S, %k: !S, %v: !V, %p: !SV, %m: !S1, %e: !V) -> !V {
  %o:5 = hla.asymmetric decay(0.9) scale(0.0) normalize(add, 1.0) reverse layout(bhtd) groups([2, 2]) {tag} ins(%q, %k, %v : !S, !S, !V)
                        carry(%p, %p, %m, %m : !SV, !SV, !S1, !S1) outs(%e, %p, %p, %m, %m : !V, !SV, !SV, !S1, !S1) -> !V, !SV, !SV, !S1, !S1
  return %o#0 : !V
}

// In layout(bhtd) a log-decay is [B,H,T], here of three heads.
// CHECK-LABEL: func @asymmetric_operands
// CHECK:         hla.asymmetric layout(bhtd) ins({{.*}}) log_decay(%{{.*}} : tensor<1x3x?xf32>) lengths(%{{.*}} : tensor<1xi32>) outs
func.func @asymmetric_operands(%q: tensor<1x3x7x2xf32>, %g: tensor<1x3x?xf32>, %c: tensor<1xi32>) -> tensor<1x3x7x2xf32> {
  %o = hla.asymmetric layout(bhtd) ins(%q, %q, %q : tensor<1x3x7x2xf32>, tensor<1x3x7x2xf32>, tensor<1x3x7x2xf32>)
                      log_decay(%g : tensor<1x3x?xf32>) lengths(%c : tensor<1xi32>) outs(%q : tensor<1x3x7x2xf32>) -> tensor<1x3x7x2xf32>
  return %o : tensor<1x3x7x2xf32>
}

//===----------------------------------------------------------------------===//
// third_order
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @third_order
// CHECK:         hla.third_order ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
// GENERIC-LABEL: sym_name = "third_order"
// GENERIC:       "hla.third_order"
// GENERIC-SAME:    ridge = 0.000000e+00 : f64
// GENERIC-SAME:    variant = #hla.third_order_variant<masked>
func.func @third_order(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.third_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// CHECK-LABEL: func @third_order_options
// CHECK:         hla.third_order ridge(5.000000e-01) decay(9.000000e-01) scale(2.000000e+00) normalize(add, 1.000000e+00) reverse layout(bhtd) groups([8, 1]) {tag}
// CHECK-SAME:      ins({{.*}}) carry(%{{.*}} : tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>) outs
func.func @third_order_options(%q: !S, %k: !S, %v: !V, %s: !SS, %p: !SV, %m: !S1, %e: !V) -> !V {
  %o:6 = hla.third_order ridge(0.5) decay(0.9) scale(2.0) normalize(add, 1.0) reverse layout(bhtd) groups([8, 1]) {tag} ins(%q, %k, %v : !S, !S, !V)
                         carry(%s, %p, %p, %m, %m : !SS, !SV, !SV, !S1, !S1) outs(%e, %s, %p, %p, %m, %m : !V, !SS, !SV, !SV, !S1, !S1) -> !V, !SS, !SV, !SV, !S1, !S1
  return %o#0 : !V
}

// The paper's operator has other states with a decay than without.
// CHECK-LABEL: func @third_order_paper
// CHECK:         hla.third_order variant(paper) normalize(add, 1.000000e+00) ins({{.*}}) carry(
// CHECK-SAME:      : tensor<?x?x64x64xf32>, tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>) outs
// CHECK:         hla.third_order variant(paper) decay(5.000000e-01) ins({{.*}}) carry(
// CHECK-SAME:      : tensor<?x?x64x64xf32>, tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>) outs
// CHECK:         hla.third_order variant(paper) normalize(add, 1.000000e+00) ins({{.*}}) log_decay(%{{.*}} : tensor<?x?x?xf32>) carry(
// CHECK-SAME:      : tensor<?x?x64x64xf32>, tensor<?x?x64x64xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x128xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>, tensor<?x?x64x1xf32>) outs
func.func @third_order_paper(%q: !S, %k: !S, %v: !V, %g: tensor<?x?x?xf32>, %s: !SS, %p: !SV, %m: !S1, %e: !V) -> (!V, !V, !V) {
  %a = hla.third_order variant(paper) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V)
           carry(%s, %s, %p, %p, %p, %m, %m, %m : !SS, !SS, !SV, !SV, !SV, !S1, !S1, !S1) outs(%e : !V) -> !V
  %b = hla.third_order variant(paper) decay(0.5) ins(%q, %k, %v : !S, !S, !V)
           carry(%s, %s, %p, %p, %p, %p : !SS, !SS, !SV, !SV, !SV, !SV) outs(%e : !V) -> !V
  %c = hla.third_order variant(paper) normalize(add, 1.0) ins(%q, %k, %v : !S, !S, !V) log_decay(%g : tensor<?x?x?xf32>)
           carry(%s, %s, %p, %p, %p, %p, %m, %m, %m, %m : !SS, !SS, !SV, !SV, !SV, !SV, !S1, !S1, !S1, !S1) outs(%e : !V) -> !V
  return %a, %b, %c : !V, !V, !V
}

// Sequences have the states that slots number.
// CHECK-LABEL: func @slots
// CHECK:         hla.linear ins({{.*}}) lengths(%{{.*}} : tensor<4xi32>) slots(%{{.*}} : tensor<3xi32>)
// CHECK-SAME:      carry(%{{.*}} : tensor<9x?x8x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<1x?x?x8xf32>, tensor<9x?x8x8xf32>)
func.func @slots(%q: tensor<1x?x?x8xf32>, %c: tensor<4xi32>, %n: tensor<3xi32>, %p: tensor<9x?x8x8xf32>) -> tensor<9x?x8x8xf32> {
  %o:2 = hla.linear ins(%q, %q, %q : tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>, tensor<1x?x?x8xf32>) lengths(%c : tensor<4xi32>) slots(%n : tensor<3xi32>)
                    carry(%p : tensor<9x?x8x8xf32>) outs(%q, %p : tensor<1x?x?x8xf32>, tensor<9x?x8x8xf32>) -> tensor<1x?x?x8xf32>, tensor<9x?x8x8xf32>
  return %o#1 : tensor<9x?x8x8xf32>
}
