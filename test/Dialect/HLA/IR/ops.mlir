// Scans, loops and attributes with every option, in their own and in the generic
// form: what is printed is parsed to the same again. Operators are in
// operators.mlir.

// RUN: hla-opt %s | FileCheck %s
// RUN: hla-opt %s | hla-opt | FileCheck %s
// RUN: hla-opt %s --mlir-print-op-generic | hla-opt | FileCheck %s
// RUN: hla-opt %s --emit-bytecode | hla-opt | FileCheck %s
// RUN: hla-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

!S = tensor<?x?x?x64xbf16>
!V = tensor<?x?x?x128xbf16>
!U = tensor<?x?x?x64xf32>
!State = tensor<?x?x64x128xf32>

// CHECK: module attributes {hla.target = #hla.target<"sm_90a">}
module attributes {hla.target = #hla.target<"sm_90a">} {

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @scan
// CHECK:         hla.scan ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
// GENERIC-LABEL: "func.func"() <{{.*}}sym_name = "scan"
// GENERIC:       "hla.scan"
// GENERIC-SAME:    decay = 1.000000e+00 : f64
// GENERIC-SAME:    layout = #hla.layout<bthd>
// GENERIC-SAME:    operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>
func.func @scan(%q: !S, %k: !U, %v: !V, %e: !V) -> !V {
  %y = hla.scan ins(%q, %k, %v : !S, !U, !V) outs(%e : !V) -> !V
  return %y : !V
}

// CHECK-LABEL: func @scan_options
// CHECK:         hla.scan exclusive reverse decay(5.000000e-01) layout(bhtd) {tag} ins({{.*}}) carry(%{{.*}} : tensor<?x?x64x128xf32>)
// CHECK-SAME:      outs(%{{.*}}, %{{.*}} : tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>) -> tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>
func.func @scan_options(%q: !S, %v: !V, %s: !State, %e: !V, %f: !State) -> (!V, !State) {
  %y:2 = hla.scan exclusive reverse decay(0.5) layout(bhtd) {tag} ins(%q, %q, %v : !S, !S, !V)
                  carry(%s : !State) outs(%e, %f : !V, !State) -> !V, !State
  return %y#0, %y#1 : !V, !State
}

// One f64 operand makes the state f64.
// CHECK-LABEL: func @scan_f64
// CHECK:         carry(%{{.*}} : tensor<1x1x2x3xf64>)
func.func @scan_f64(%q: tensor<1x?x1x2xf16>, %v: tensor<1x?x1x3xf64>, %s: tensor<1x1x2x3xf64>, %e: tensor<1x?x1x3xf32>) -> tensor<1x?x1x3xf32> {
  %y = hla.scan ins(%q, %q, %v : tensor<1x?x1x2xf16>, tensor<1x?x1x2xf16>, tensor<1x?x1x3xf64>)
                carry(%s : tensor<1x1x2x3xf64>) outs(%e : tensor<1x?x1x3xf32>) -> tensor<1x?x1x3xf32>
  return %y : tensor<1x?x1x3xf32>
}

// CHECK-LABEL: func @scan_operands
// CHECK:         hla.scan reverse groups([4, 2, 1]) ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<1x?x2x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x8x8xf32>) log_decay(%{{.*}} : tensor<1x?x8xf32>)
// CHECK-SAME:      lengths(%{{.*}} : tensor<?xi32>) slots(%{{.*}} : tensor<?xi32>) carry(%{{.*}} : tensor<?x8x8x8xf32>) outs(
// GENERIC-LABEL: sym_name = "scan_operands"
// GENERIC:       "hla.scan"
// GENERIC-SAME:    groups = array<i64: 4, 2, 1>
// GENERIC-SAME:    operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1>
func.func @scan_operands(%q: tensor<1x?x2x8xf32>, %k: tensor<1x?x4x8xf32>, %v: tensor<1x?x8x8xf32>, %g: tensor<1x?x8xf32>, %c: tensor<?xi32>, %n: tensor<?xi32>, %s: tensor<?x8x8x8xf32>) -> tensor<1x?x8x8xf32> {
  %y = hla.scan reverse groups([4, 2, 1]) ins(%q, %k, %v : tensor<1x?x2x8xf32>, tensor<1x?x4x8xf32>, tensor<1x?x8x8xf32>)
                log_decay(%g : tensor<1x?x8xf32>) lengths(%c : tensor<?xi32>) slots(%n : tensor<?xi32>) carry(%s : tensor<?x8x8x8xf32>) outs(%v : tensor<1x?x8x8xf32>) -> tensor<1x?x8x8xf32>
  return %y : tensor<1x?x8x8xf32>
}

// CHECK-LABEL: func @scan_head_decay
// CHECK:         hla.scan ins({{.*}}) log_decay(%{{.*}} : tensor<?xf32>) outs
func.func @scan_head_decay(%q: !S, %g: tensor<?xf32>) -> !S {
  %y = hla.scan ins(%q, %q, %q : !S, !S, !S) log_decay(%g : tensor<?xf32>) outs(%q : !S) -> !S
  return %y : !S
}

//===----------------------------------------------------------------------===//
// fused_scan, step, row_sum and yield
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @fused_scan
// CHECK:         hla.fused_scan reverse layout(bhtd) schedule(<chunk = 64, warps = 8, stages = 2, precision = bf16>)
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>)
// CHECK-SAME:      carries(%{{.*}} : tensor<?x?x64x128xf32>)
// CHECK-SAME:      outs(%{{.*}}, %{{.*}} : tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>)
// CHECK-SAME:      carry_in [false, true] carry_out [true, false] attributes {tag}
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: vector<64xbf16>, %[[V:.*]]: vector<128xbf16>, %[[S:.*]]: vector<64x128xf32>, %[[F:.*]]: vector<64x128xf32>):
// CHECK-NEXT:      %[[S1:.*]], %[[Y:.*]] = hla.step ins(%[[Q]], %[[Q]], %[[V]] : vector<64xbf16>, vector<64xbf16>, vector<128xbf16>) state(%[[S]] : vector<64x128xf32>) -> vector<128xf32>
// CHECK-NEXT:      %[[F1:.*]], %[[Z:.*]] = hla.step exclusive decay(5.000000e-01) {tag} ins(%[[Q]], %[[Q]], %[[Y]] : {{.*}}) state(%[[F]] : {{.*}}) -> vector<128xbf16>
// CHECK-NEXT:      hla.yield %[[Z]], %[[S1]], %[[F1]] : vector<128xbf16>, vector<64x128xf32>, vector<64x128xf32>
// CHECK-NEXT:    } -> tensor<?x?x?x128xbf16>, tensor<?x?x64x128xf32>
func.func @fused_scan(%q: !S, %v: !V, %s: !State, %e: !V, %f: !State) -> (!V, !State) {
  %y:2 = hla.fused_scan reverse layout(bhtd) schedule(<chunk = 64, warps = 8, stages = 2, precision = bf16>)
      ins(%q, %v : !S, !V) carries(%s : !State) outs(%e, %f : !V, !State)
      carry_in [false, true] carry_out [true, false] attributes {tag} {
  ^bb0(%qt: vector<64xbf16>, %vt: vector<128xbf16>, %S: vector<64x128xf32>, %F: vector<64x128xf32>):
    %S1, %yt = hla.step ins(%qt, %qt, %vt : vector<64xbf16>, vector<64xbf16>, vector<128xbf16>) state(%S : vector<64x128xf32>) -> vector<128xf32>
    %F1, %zt = hla.step exclusive decay(0.5) {tag} ins(%qt, %qt, %yt : vector<64xbf16>, vector<64xbf16>, vector<128xf32>) state(%F : vector<64x128xf32>) -> vector<128xbf16>
    hla.yield %zt, %S1, %F1 : vector<128xbf16>, vector<64x128xf32>, vector<64x128xf32>
  } -> !V, !State
  return %y#0, %y#1 : !V, !State
}

// Numbers of tokens and heads are rows of one; here heads of k are two of the
// loop's.
// CHECK-LABEL: func @fused_scan_numbers
// CHECK:         hla.fused_scan groups([1, 2, 1, 1]) ins(%{{.*}} : tensor<1x?x4x8xf32>, tensor<1x?x2x8xf16>, tensor<1x?x4xf32>, tensor<4xf64>)
// CHECK-SAME:      lengths(%{{.*}} : tensor<?xi32>) carries(%{{.*}} : tensor<?x4x8x8xf32>) outs(%{{.*}} : tensor<1x?x4xf32>) carry_in [true] carry_out [false] {
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: vector<8xf32>, %[[K:.*]]: vector<8xf16>, %[[G:.*]]: vector<1xf32>, %[[H:.*]]: vector<1xf64>, %[[S:.*]]: vector<8x8xf32>):
// CHECK-NEXT:      %[[S1:.*]], %[[Y:.*]] = hla.step ins({{.*}}) log_decay(%[[G]] : vector<1xf32>) state(%[[S]] : vector<8x8xf32>) -> vector<8xf16>
// CHECK-NEXT:      %{{.*}}, %{{.*}} = hla.step ins({{.*}}) log_decay(%[[H]] : vector<1xf64>) state(%[[S]] : {{.*}})
// CHECK-NEXT:      %[[N:.*]] = hla.row_sum %[[Y]] {tag} : vector<8xf16> -> vector<1xf32>
// CHECK-NEXT:      hla.row_sum %[[Q]] : vector<8xf32> -> vector<1xf64>
// CHECK-NEXT:      hla.yield %[[N]], %[[S1]]
func.func @fused_scan_numbers(%q: tensor<1x?x4x8xf32>, %k: tensor<1x?x2x8xf16>, %g: tensor<1x?x4xf32>, %h: tensor<4xf64>, %c: tensor<?xi32>, %s: tensor<?x4x8x8xf32>, %e: tensor<1x?x4xf32>) -> tensor<1x?x4xf32> {
  %n = hla.fused_scan groups([1, 2, 1, 1]) ins(%q, %k, %g, %h : tensor<1x?x4x8xf32>, tensor<1x?x2x8xf16>, tensor<1x?x4xf32>, tensor<4xf64>)
      lengths(%c : tensor<?xi32>) carries(%s : tensor<?x4x8x8xf32>) outs(%e : tensor<1x?x4xf32>) carry_in [true] carry_out [false] {
  ^bb0(%qt: vector<8xf32>, %kt: vector<8xf16>, %gt: vector<1xf32>, %ht: vector<1xf64>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%qt, %kt, %kt : vector<8xf32>, vector<8xf16>, vector<8xf16>) log_decay(%gt : vector<1xf32>) state(%S : vector<8x8xf32>) -> vector<8xf16>
    %S2, %z = hla.step ins(%kt, %kt, %kt : vector<8xf16>, vector<8xf16>, vector<8xf16>) log_decay(%ht : vector<1xf64>) state(%S : vector<8x8xf32>) -> vector<8xf16>
    %nt = hla.row_sum %y {tag} : vector<8xf16> -> vector<1xf32>
    %wide = hla.row_sum %qt : vector<8xf32> -> vector<1xf64>
    hla.yield %nt, %S1 : vector<1xf32>, vector<8x8xf32>
  } -> tensor<1x?x4xf32>
  return %n : tensor<1x?x4xf32>
}

// Also in memory.
// CHECK-LABEL: func @fused_scan_lengths_in_memory
// CHECK:         hla.fused_scan ins(%{{.*}} : memref<1x?x?x8xf32>, memref<?xf32>) lengths(%{{.*}} : memref<?xi32, strided<[?]>>) outs(%{{.*}} : memref<1x?x?xf32, strided<[?, ?, ?]>>)
func.func @fused_scan_lengths_in_memory(%q: memref<1x?x?x8xf32>, %g: memref<?xf32>, %c: memref<?xi32, strided<[?]>>, %o: memref<1x?x?xf32, strided<[?, ?, ?]>>) {
  hla.fused_scan ins(%q, %g : memref<1x?x?x8xf32>, memref<?xf32>) lengths(%c : memref<?xi32, strided<[?]>>) outs(%o : memref<1x?x?xf32, strided<[?, ?, ?]>>) carry_in [] carry_out [] {
  ^bb0(%qt: vector<8xf32>, %gt: vector<1xf32>):
    hla.yield %gt : vector<1xf32>
  }
  return
}

// Slots are of batches, and number the states of carries and final states.
// CHECK-LABEL: func @fused_scan_slots
// CHECK:         hla.fused_scan ins(%{{.*}} : memref<3x?x?x8xf32>) slots(%{{.*}} : memref<3xi32, strided<[?]>>) carries(%{{[^ ]*}} : memref<7x?x8x8xf32>)
// CHECK-SAME:      outs(%{{.*}} : memref<7x?x8x8xf32>) carry_in [true] carry_out [true]
func.func @fused_scan_slots(%q: memref<3x?x?x8xf32>, %n: memref<3xi32, strided<[?]>>, %s: memref<7x?x8x8xf32>) {
  hla.fused_scan ins(%q : memref<3x?x?x8xf32>) slots(%n : memref<3xi32, strided<[?]>>) carries(%s : memref<7x?x8x8xf32>)
      outs(%s : memref<7x?x8x8xf32>) carry_in [true] carry_out [true] {
  ^bb0(%qt: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%qt, %qt, %qt : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %S1 : vector<8x8xf32>
  }
  return
}

// In memory there are no results, with any strides.
// CHECK-LABEL: func @fused_scan_in_memory
// CHECK:         hla.fused_scan ins(%{{.*}} : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) outs(%{{.*}} : memref<1x2x3x8xf32>) carry_in [false] carry_out [false] {
// CHECK:         }{{$}}
func.func @fused_scan_in_memory(%q: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %o: memref<1x2x3x8xf32>) {
  hla.fused_scan ins(%q : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) outs(%o : memref<1x2x3x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%qt: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %yt = hla.step ins(%qt, %qt, %qt : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %yt, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// A loop may produce nothing.
// CHECK-LABEL: func @fused_scan_no_outputs
// CHECK:         hla.fused_scan ins(%{{.*}} : tensor<?x?x?x64xf32>) carry_in [] carry_out [] {
// CHECK:           hla.yield{{$}}
func.func @fused_scan_no_outputs(%q: !U) {
  hla.fused_scan ins(%q : !U) carry_in [] carry_out [] {
  ^bb0(%qt: vector<64xf32>):
    hla.yield
  }
  return
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @attributes()
// CHECK-SAME:    layout = [#hla.layout<bthd>, #hla.layout<bhtd>]
// CHECK-SAME:    normalizer = [#hla.normalizer<none>, #hla.normalizer<add>, #hla.normalizer<clamp>]
// CHECK-SAME:    precision = [#hla.schedule<chunk = 16, warps = 1, stages = 1, precision = f16>, #hla.schedule<chunk = 256, warps = 16, stages = 8, precision = f32>, #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = f64>]
// CHECK-SAME:    reading = [#hla.decay_reading<causal>, #hla.decay_reading<squared>]
// CHECK-SAME:    target = [#hla.target<"cpu">, #hla.target<"sm_80">, #hla.target<"sm_86">, #hla.target<"sm_89">, #hla.target<"sm_90a">, #hla.target<"sm_100a">, #hla.target<"sm_120a">]
// CHECK-SAME:    third = [#hla.third_order_variant<masked>, #hla.third_order_variant<paper>]
// CHECK-SAME:    variant = [#hla.second_order_variant<masked>, #hla.second_order_variant<prefix>, #hla.second_order_variant<paper>]
func.func @attributes() attributes {
  layout = [#hla.layout<bthd>, #hla.layout<bhtd>],
  normalizer = [#hla.normalizer<none>, #hla.normalizer<add>, #hla.normalizer<clamp>],
  precision = [#hla.schedule<chunk = 16, warps = 1, stages = 1, precision = f16>,
               #hla.schedule<chunk = 256, warps = 16, stages = 8, precision = f32>,
               #hla.schedule<precision = f64, stages = 2, warps = 4, chunk = 64>],
  reading = [#hla.decay_reading<causal>, #hla.decay_reading<squared>],
  target = [#hla.target<"cpu">, #hla.target<"sm_80">, #hla.target<"sm_86">, #hla.target<"sm_89">,
            #hla.target<"sm_90a">, #hla.target<"sm_100a">, #hla.target<"sm_120a">],
  third = [#hla.third_order_variant<masked>, #hla.third_order_variant<paper>],
  variant = [#hla.second_order_variant<masked>, #hla.second_order_variant<prefix>, #hla.second_order_variant<paper>]
} {
  return
}

}
