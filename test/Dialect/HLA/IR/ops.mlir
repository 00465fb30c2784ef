// Every operation, attribute and option, in its own and in the generic form: what
// is printed is parsed to the same again.

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
// second_order
//===----------------------------------------------------------------------===//

// Defaults are not printed; the generic form has them.
// CHECK-LABEL: func @second_order
// CHECK:         hla.second_order ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>)
// CHECK-SAME:      outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
// GENERIC:       "hla.second_order"
// GENERIC-SAME:    layout = #hla.layout<bthd>
// GENERIC-SAME:    variant = #hla.second_order_variant<masked>
func.func @second_order(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// CHECK-LABEL: func @second_order_options
// CHECK:         hla.second_order variant(prefix) layout(bhtd) {tag} ins
// GENERIC:         layout = #hla.layout<bhtd>
// GENERIC-SAME:    variant = #hla.second_order_variant<prefix>
func.func @second_order_options(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {
  %o = hla.second_order variant(prefix) layout(bhtd) {tag} ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

// Static and dynamic extents may meet, and the smallest head dimension is 1.
// CHECK-LABEL: func @second_order_static
// CHECK:         hla.second_order ins({{.*}} : tensor<2x0x?x1xf64>, tensor<?x?x3x1xf64>, tensor<?x0x3x5xf64>)
func.func @second_order_static(%q: tensor<2x0x?x1xf64>, %k: tensor<?x?x3x1xf64>, %v: tensor<?x0x3x5xf64>, %e: tensor<2x0x3x5xf64>) -> tensor<2x0x3x5xf64> {
  %o = hla.second_order ins(%q, %k, %v : tensor<2x0x?x1xf64>, tensor<?x?x3x1xf64>, tensor<?x0x3x5xf64>)
                        outs(%e : tensor<2x0x3x5xf64>) -> tensor<2x0x3x5xf64>
  return %o : tensor<2x0x3x5xf64>
}

// The output's element type is its own.
// CHECK-LABEL: func @second_order_wide_output
// CHECK:         hla.second_order {{.*}} -> tensor<?x?x?x64xf32>
func.func @second_order_wide_output(%q: !S, %e: !U) -> !U {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !U) -> !U
  return %o : !U
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @scan
// CHECK:         hla.scan ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
// GENERIC-LABEL: "func.func"() <{{.*}}sym_name = "scan"
// GENERIC:       "hla.scan"
// GENERIC-SAME:    decay = 1.000000e+00 : f64
// GENERIC-SAME:    layout = #hla.layout<bthd>
// GENERIC-SAME:    operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>
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

//===----------------------------------------------------------------------===//
// fused_scan, step and yield
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
// CHECK-SAME:    precision = [#hla.schedule<chunk = 16, warps = 1, stages = 1, precision = f16>, #hla.schedule<chunk = 256, warps = 16, stages = 8, precision = f32>, #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = f64>]
// CHECK-SAME:    target = [#hla.target<"cpu">, #hla.target<"sm_80">, #hla.target<"sm_86">, #hla.target<"sm_89">, #hla.target<"sm_90a">, #hla.target<"sm_100a">, #hla.target<"sm_120a">]
// CHECK-SAME:    variant = [#hla.second_order_variant<masked>, #hla.second_order_variant<prefix>]
func.func @attributes() attributes {
  layout = [#hla.layout<bthd>, #hla.layout<bhtd>],
  precision = [#hla.schedule<chunk = 16, warps = 1, stages = 1, precision = f16>,
               #hla.schedule<chunk = 256, warps = 16, stages = 8, precision = f32>,
               #hla.schedule<precision = f64, stages = 2, warps = 4, chunk = 64>],
  target = [#hla.target<"cpu">, #hla.target<"sm_80">, #hla.target<"sm_86">, #hla.target<"sm_89">,
            #hla.target<"sm_90a">, #hla.target<"sm_100a">, #hla.target<"sm_120a">],
  variant = [#hla.second_order_variant<masked>, #hla.second_order_variant<prefix>]
} {
  return
}

}
