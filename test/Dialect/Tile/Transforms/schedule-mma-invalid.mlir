// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-schedule-mma)))' --split-input-file --verify-diagnostics

!View = memref<?x128xbf16, strided<[?, 1], offset: ?>>
!Smem = tensor<64x128xbf16, #hla_tile.smem<order = row>>
!Acc = tensor<128x128xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1>>

// Seven stages of 16 KiB.
module attributes {hla.target = #hla.target<"sm_86">} {
  gpu.module @kernels {
    // expected-error @+1 {{'gpu.func' op expected to need at most 101376 bytes of shared memory (sm_86 has no more for a thread block), but got 114688}}
    gpu.func @shared_memory(%v: !View, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 8, stages = 7, precision = bf16>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant dense<0.0> : !Acc
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
        %Q = hla_tile.load %v[%i] : !View -> !Smem
        %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : !Smem, !Smem -> !Acc
        scf.yield %S1 : !Acc
      }
      gpu.return
    }
  }
}

// -----

!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!Smem = tensor<64x64xbf16, #hla_tile.smem<order = row>>

// A load that may not be executed has no place where all threads wait for it.
gpu.module @kernels {
  gpu.func @conditional(%v: !View, %i: index, %c: i1) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
    scf.if %c {
      // expected-error @+1 {{'hla_tile.load' op expected loads into shared memory in a loop over chunks, or in the kernel's block, but got one elsewhere}}
      %Q = hla_tile.load %v[%i] : !View -> !Smem
      hla_tile.store %Q, %v[%i] : !Smem, !View
    }
    gpu.return
  }
}

// -----

// The row of the next chunk is not known ahead.
gpu.module @kernels {
  gpu.func @carried_row(%q: memref<?x64xbf16, strided<[?, 1]>>, %n: index, %o: memref<?x64xbf16, strided<[?, 1]>>) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %r = scf.for %i = %c0 to %n step %c64 iter_args(%row = %c0) -> index {
      // expected-error @+1 {{'hla_tile.load' op expected a view from outside of the loop and a row that only its induction variable changes (copies run ahead), but got}}
      %t = hla_tile.load %q[%row] : memref<?x64xbf16, strided<[?, 1]>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
      hla_tile.store %t, %o[%row] : tensor<64x64xbf16, #hla_tile.smem<order = row>>, memref<?x64xbf16, strided<[?, 1]>>
      %next = arith.addi %row, %c64 : index
      scf.yield %next : index
    }
    gpu.return
  }
}
