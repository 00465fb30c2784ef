// Numbers of tokens, in the lanes of every warp, and rows of fragments.

// RUN: hla-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s

// A lane loads its own token, if there is one, and sums go from lane to lane.
// CHECK-LABEL: llvm.func @sums
// CHECK:         scf.if %{{.*}} -> (f32)
// CHECK:           llvm.load {{.*}} -> f32
// CHECK:         arith.extf {{.*}} : f32 to f64
// CHECK-COUNT-10: nvvm.shfl.sync up
// CHECK-NOT:     nvvm.shfl.sync up
// CHECK:         llvm.return
module attributes {hla.target = #hla.target<"sm_80">} {
  gpu.module @kernels {
    gpu.func @sums(%g: memref<?xf32, strided<[?]>>, %o: memref<?xf64>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %t = hla_tile.load %g[%i] : memref<?xf32, strided<[?]>> -> tensor<32x1xf32, #hla_tile.lane>
      %G = hla_tile.prefix_sum %t : tensor<32x1xf32, #hla_tile.lane> -> tensor<32x1xf64, #hla_tile.lane>
      hla_tile.store %G, %o[%i] : tensor<32x1xf64, #hla_tile.lane>, memref<?xf64>
      gpu.return
    }
  }
}

// -----

// Every warp has a row's whole sum after the lanes, and then the warps, that
// share it have added up.
// CHECK-LABEL: llvm.func @row_sums
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// CHECK:         scf.if
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK:         nvvm.barrier
// CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> f32
module attributes {hla.target = #hla.target<"sm_80">} {
  gpu.module @kernels {
    gpu.func @row_sums(%x: memref<?x64xf32, strided<[?, 1]>>, %o: memref<?xf32>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %t = hla_tile.load %x[%i] : memref<?x64xf32, strided<[?, 1]>> -> tensor<32x64xf32, #hla_tile.frag<rowWarps = 2, colWarps = 2>>
      %s = hla_tile.sum_rows %t at 256 : tensor<32x64xf32, #hla_tile.frag<rowWarps = 2, colWarps = 2>> -> tensor<32x1xf32, #hla_tile.lane>
      hla_tile.store %s, %o[%i] : tensor<32x1xf32, #hla_tile.lane>, memref<?xf32>
      gpu.return
    }
  }
}
