// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-assign-layouts)))' --split-input-file --verify-diagnostics

// Sixteen warps share no state of 16x16: it has two pieces.
gpu.module @kernels {
  gpu.func @small(%x: memref<16x16xf32>, %i: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 32, warps = 16, stages = 1, precision = bf16>} {
    // expected-error @+1 {{'hla_tile.load' op expected a fragment of 1x16 warps to be stored as a multiple of 16x128 (a warp holds pieces of 16x8), but got 16x16}}
    %t = hla_tile.load %x[%i] : memref<16x16xf32> -> tensor<16x16xf32>
    hla_tile.store %t, %x[%i] : tensor<16x16xf32>, memref<16x16xf32>
    gpu.return
  }
}

// -----

// Neither has it rows of pieces if it has less than 16.
gpu.module @kernels {
  gpu.func @few_rows(%x: memref<8x64xf32>, %i: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 16, warps = 4, stages = 1, precision = bf16>} {
    // expected-error @+1 {{to be stored as a multiple of}}
    %t = hla_tile.load %x[%i] : memref<8x64xf32> -> tensor<8x64xf32>
    hla_tile.store %t, %x[%i] : tensor<8x64xf32>, memref<8x64xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unknown(%x: memref<64x64xf32>, %i: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 1, precision = bf16>} {
    %t = hla_tile.load %x[%i] : memref<64x64xf32> -> tensor<64x64xf32>
    // expected-error @+1 {{'tensor.extract' op expected an operation on tiles that has a layout, but got tensor.extract}}
    %e = tensor.extract %t[%i, %i] : tensor<64x64xf32>
    gpu.return
  }
}

// -----

// Two states of f32 that are read in different ways have no common layout, and
// between two fragments there is no way.
gpu.module @kernels {
  gpu.func @wide(%x: memref<64x64xf32>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 1, precision = bf16>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %q = arith.constant dense<1.0> : tensor<64x64xbf16>
    // expected-error @+1 {{'hla_tile.convert_layout' op expected a tile to stay in one layout in registers, but got 'tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>' and 'tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>'}}
    %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero, %R = %zero) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
      %L = hla_tile.load %x[%c0] : memref<64x64xf32> -> tensor<64x64xf32>
      %L16 = arith.truncf %L : tensor<64x64xf32> to tensor<64x64xbf16>
      %S16 = arith.truncf %S : tensor<64x64xf32> to tensor<64x64xbf16>
      %D = hla_tile.dot %L16, %S16, %zero : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
      %sum = arith.addf %S, %R : tensor<64x64xf32>
      scf.yield %D, %sum : tensor<64x64xf32>, tensor<64x64xf32>
    }
    gpu.return
  }
}
