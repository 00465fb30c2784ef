// Scores of 16x16 have two pieces of 16x8: of eight warps, all compute them, and two
// write them for the others.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-assign-layouts,hla-tile-schedule-mma)))' | FileCheck %s
// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-assign-layouts,hla-tile-schedule-mma,canonicalize),convert-hla-tile-to-nvvm))' | FileCheck %s --check-prefix=NVVM

module attributes {hla.target = #hla.target<"sm_90a">} {
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @scores(
  // CHECK:         %[[SCORES:.*]] = hla_tile.dot {{.*}} -> tensor<16x16xf32, #hla_tile.frag<rowWarps = 1, colWarps = 2>>
  // CHECK:         %[[ROUNDED:.*]] = arith.truncf %[[SCORES]]
  // CHECK:         hla_tile.write %[[ROUNDED]], %{{.*}} once
  // CHECK:         hla_tile.dot {{.*}} -> tensor<16x128xf32, #hla_tile.frag<rowWarps = 1, colWarps = 8>>

  // NVVM-LABEL: llvm.func @scores(
  // NVVM:         nvvm.mma.sync
  // NVVM:         %[[IS_FIRST:.*]] = arith.cmpi slt, %{{.*}}, %c64_i32
  // NVVM:         scf.if %[[IS_FIRST]] {
  // NVVM:           llvm.store {{.*}} !llvm.ptr<3>
  // NVVM:         }
  // NVVM:         nvvm.barrier
  gpu.func @scores(%x: memref<16x128xbf16>, %y: memref<16x128xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 16, warps = 8, stages = 1, precision = bf16>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant dense<0.0> : tensor<16x16xf32>
    %zeros = arith.constant dense<0.0> : tensor<16x128xf32>
    %q = hla_tile.load %x[%c0] : memref<16x128xbf16> -> tensor<16x128xbf16>
    %scores = hla_tile.dot %q, %q, %zero transpose_rhs : tensor<16x128xbf16>, tensor<16x128xbf16> -> tensor<16x16xf32>
    %rounded = arith.truncf %scores : tensor<16x16xf32> to tensor<16x16xbf16>
    %rows = hla_tile.dot %rounded, %q, %zeros : tensor<16x16xbf16>, tensor<16x128xbf16> -> tensor<16x128xf32>
    hla_tile.store %rows, %y[%c0] : tensor<16x128xf32>, memref<16x128xf32>
    gpu.return
  }
}
}
