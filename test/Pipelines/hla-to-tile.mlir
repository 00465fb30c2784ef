// From operators on tensors to one tile program.

// RUN: hla-opt %s --hla-to-tile-pipeline | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: hla-opt %s --hla-to-tile-pipeline=target=sm_90a | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: not hla-opt %s --hla-to-tile-pipeline=target=tpu 2>&1 | FileCheck %s --check-prefix=TARGET

// The pipeline is its passes, one after the other.
// RUN: hla-opt %s --hla-to-tile-pipeline=target=sm_90a > %t.pipeline
// RUN: hla-opt %s --hla-decompose-operators --canonicalize --cse --hla-fuse-scans --canonicalize --cse --hla-assign-schedule=target=sm_90a --hla-bufferize --convert-hla-to-tile --canonicalize --cse > %t.passes
// RUN: diff %t.pipeline %t.passes

// TARGET: error: {{.*}}expected a known target (one of cpu, sm_80, {{.*}}), but got 'tpu'

// One loop, two states, seven products: what the first scan hands to the second is
// never in memory.
// CPU:         module attributes {hla.target = #hla.target<"cpu">}
// GPU:         module attributes {hla.target = #hla.target<"sm_90a">}
// CHECK-LABEL: func @masked
// CHECK-SAME:    %[[O:[^:]*]]: memref<?x?x?x32xbf16, strided<[?, ?, ?, 1]>>) {
// CHECK-NOT:     memref.alloc
// CPU:         hla_tile.launch {{.*}} schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
// GPU:         hla_tile.launch {{.*}} schedule(<chunk = 32, warps = 4, stages = 2, precision = bf16>)
// CHECK:         memref.subview %[[O]]
// CHECK:         scf.for {{.*}} -> (tensor<64x64xf32>, tensor<64x32xf32>) {
// CPU-COUNT-2:     hla_tile.dot {{.*}} : tensor<{{.*}}xbf16>, tensor<{{.*}}x{{bf16|f32}}> ->
// CPU-NOT:         to tensor<{{.*}}xbf16>
// CPU-COUNT-6:     hla_tile.dot {{.*}} : tensor<{{.*}}>, tensor<{{.*}}> ->
// GPU-COUNT-8:     hla_tile.dot {{.*}} : tensor<{{.*}}xbf16>, tensor<{{.*}}xbf16> ->
// CHECK-NOT:       hla_tile.dot
// CHECK:           hla_tile.store {{.*}} : tensor<{{16|32}}x32xbf16>
// CHECK:         hla_tile.return
// CHECK-NOT:     {{hla[.]}}
func.func @masked(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %v, %c0 : tensor<?x?x?x32xbf16>
  %T = tensor.dim %v, %c1 : tensor<?x?x?x32xbf16>
  %H = tensor.dim %v, %c2 : tensor<?x?x?x32xbf16>
  %e = tensor.empty(%B, %T, %H) : tensor<?x?x?x32xbf16>
  %o = hla.second_order ins(%q, %k, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x32xbf16>) outs(%e : tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16>
  return %o : tensor<?x?x?x32xbf16>
}

// Masked and prefix of the same inputs share their first scan, and the loop.
// CHECK-LABEL: func @shared
// CHECK:         hla_tile.launch
// CHECK:         scf.for {{.*}} -> (tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>) {
// CHECK-COUNT-12:  hla_tile.dot
// CHECK-NOT:       hla_tile.dot
// CHECK-COUNT-2:   hla_tile.store
// CHECK-NOT:     hla_tile.launch
// CHECK:         return
func.func @shared(%q: tensor<?x?x?x32xbf16>, %k: tensor<?x?x?x32xbf16>, %v: tensor<?x?x?x32xbf16>, %e: tensor<?x?x?x32xbf16>, %f: tensor<?x?x?x32xbf16>) -> (tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>) {
  %o = hla.second_order ins(%q, %k, %v : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>) outs(%e : tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16>
  %p = hla.second_order variant(prefix) ins(%q, %k, %v : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>) outs(%f : tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16>
  return %o, %p : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>
}
