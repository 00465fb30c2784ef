// Columns and rows on a GPU: layouts, and loads that run ahead.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-assign-layouts,canonicalize,cse)))' | FileCheck %s --check-prefix=LAYOUT
// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-assign-layouts,canonicalize,cse,hla-tile-schedule-mma,canonicalize,cse)))' | FileCheck %s --check-prefix=SCHEDULE

// A tile that no product has made takes the layout of the one that it is added to:
// q is read from shared memory as the product is stored.
// LAYOUT-LABEL: gpu.func @rows
// LAYOUT:         hla_tile.convert_layout {{.*}} -> tensor<32x64xbf16, [[FRAG:#hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>]]>
// LAYOUT:         hla_tile.load {{.*}} -> tensor<32x1xf32, #hla_tile.lane>
// LAYOUT:         hla_tile.prefix_sum {{.*}} -> tensor<32x1xf64, #hla_tile.lane>
// LAYOUT:         arith.addf {{.*}} : tensor<32x64xf32, [[FRAG]]>
// LAYOUT:         hla_tile.sum_rows {{.*}} -> tensor<32x1xf32, #hla_tile.lane>

// A column that a loop carries is in lanes.
// LAYOUT-LABEL: gpu.func @carried
// LAYOUT:         scf.for {{.*}} -> (tensor<256x1xf32, #hla_tile.lane>)
// LAYOUT:           arith.addf {{.*}} : tensor<256x1xf32, #hla_tile.lane>

// SCHEDULE-LABEL: gpu.func @rows
// SCHEDULE:         %[[FIRST:.*]] = hla_tile.load %{{.*}}[%c0] : {{.*}} -> tensor<32x1xf32, #hla_tile.lane>
// SCHEDULE:         scf.for %[[ROW:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[G:.*]] = %[[FIRST]])
// SCHEDULE:           %[[NEXTROW:.*]] = arith.addi %[[ROW]]
// SCHEDULE:           %[[NEXT:.*]] = hla_tile.load %{{.*}}[%[[NEXTROW]]]
// SCHEDULE:           hla_tile.prefix_sum %[[G]]
// SCHEDULE:           hla_tile.sum_rows %{{.*}} at {{[0-9]+}}
// SCHEDULE:           scf.yield %{{.*}}, %[[NEXT]]
gpu.module @kernels {
gpu.func @rows(%q: memref<?x64xbf16, strided<[?, 1]>>, %g: memref<?xf32, strided<[?]>>, %o: memref<?xf32>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 32, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %zeroS = arith.constant dense<0.0> : tensor<64x64xf32>
  %final = scf.for %row = %c0 to %n step %c32 iter_args(%S = %zeroS) -> (tensor<64x64xf32>) {
    %Q = hla_tile.load %q[%row] : memref<?x64xbf16, strided<[?, 1]>> -> tensor<32x64xbf16>
    %t = hla_tile.load %g[%row] : memref<?xf32, strided<[?]>> -> tensor<32x1xf32>
    %G = hla_tile.prefix_sum %t : tensor<32x1xf32> -> tensor<32x1xf64>
    %W = arith.extf %Q : tensor<32x64xbf16> to tensor<32x64xf32>
    %S16 = arith.truncf %S : tensor<64x64xf32> to tensor<64x64xbf16>
    %Y = hla_tile.dot %Q, %S16, %zero : tensor<32x64xbf16>, tensor<64x64xbf16> -> tensor<32x64xf32>
    %D = hla_tile.decay through %Y by %G : tensor<32x64xf32>, tensor<32x1xf64>
    %sum = arith.addf %D, %W : tensor<32x64xf32>
    %r = hla_tile.sum_rows %sum : tensor<32x64xf32> -> tensor<32x1xf32>
    hla_tile.store %r, %o[%row] : tensor<32x1xf32>, memref<?xf32>
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : tensor<32x64xbf16>, tensor<32x64xbf16> -> tensor<64x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  gpu.return
}

gpu.func @carried(%g: memref<?xf32, strided<[?]>>, %o: memref<?xf32>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 32, warps = 4, stages = 1, precision = f32>} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<256x1xf32>
  %sum = scf.for %row = %c0 to %n step %c256 iter_args(%s = %zero) -> (tensor<256x1xf32>) {
    %t = hla_tile.load %g[%row] : memref<?xf32, strided<[?]>> -> tensor<256x1xf32>
    %next = arith.addf %s, %t : tensor<256x1xf32>
    scf.yield %next : tensor<256x1xf32>
  }
  hla_tile.store %sum, %o[%c0] : tensor<256x1xf32>, memref<?xf32>
  gpu.return
}
}
