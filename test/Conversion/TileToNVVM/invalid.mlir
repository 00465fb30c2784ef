// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' --split-input-file --verify-diagnostics

// The instructions depend on the target.
// expected-error @+1 {{'gpu.module' op expected the module around it to have a GPU target (hla-assign-schedule writes one)}}
gpu.module @kernels {
}

// -----

module attributes {hla.target = #hla.target<"cpu">} {
  // expected-error @+1 {{'gpu.module' op expected the module around it to have a GPU target (hla-assign-schedule writes one)}}
  gpu.module @kernels {
  }
}

// -----

module attributes {hla.target = #hla.target<"sm_80">} {
  gpu.module @kernels {
    // expected-error @below {{'gpu.func' op expected arguments to be memrefs, indices or tensor maps, but got 'tensor<64x64xf32>'}}
    // expected-error @below {{failed to legalize operation 'gpu.func'}}
    gpu.func @argument(%t: tensor<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Tiles in shared memory are buffers by then (hla-tile-schedule-mma).
module attributes {hla.target = #hla.target<"sm_80">} {
  gpu.module @kernels {
    gpu.func @unscheduled(%v: memref<?x64xbf16, strided<[?, 1]>>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      // expected-error @+1 {{failed to legalize operation 'hla_tile.load'}}
      %t = hla_tile.load %v[%i] : memref<?x64xbf16, strided<[?, 1]>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
      gpu.return
    }
  }
}

// -----

// The instruction takes sixteen columns of A at a time.
module attributes {hla.target = #hla.target<"sm_80">} {
  gpu.module @kernels {
    gpu.func @depth() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ring = hla_tile.alloc at 0 : memref<1x8x16xbf16, #hla_tile.smem<order = row>>
      %b = hla_tile.slot %ring[%c0] : memref<1x8x16xbf16, #hla_tile.smem<order = row>> -> memref<8x16xbf16, #hla_tile.smem<order = row>>
      %acc = arith.constant dense<0.0> : tensor<16x16xf32, #hla_tile.frag<rowWarps = 1, colWarps = 1>>
      // expected-error @+1 {{failed to legalize operation 'hla_tile.dot'}}
      %d = hla_tile.dot %b, %b, %acc transpose_lhs : memref<8x16xbf16, #hla_tile.smem<order = row>>, memref<8x16xbf16, #hla_tile.smem<order = row>> -> tensor<16x16xf32, #hla_tile.frag<rowWarps = 1, colWarps = 1>>
      gpu.return
    }
  }
}
