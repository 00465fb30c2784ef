// Elementwise operations on fragments: once a register.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s

!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!AccT = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Sums = tensor<64x1xf64, #hla_tile.lane>
!Half = tensor<64x64xf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>

module attributes {hla.target = #hla.target<"sm_90a">} {
gpu.module @kernels {

// Pairs are rounded at once.
// CHECK-LABEL: llvm.func @round(
// CHECK-COUNT-16: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-16: arith.truncf %{{.*}} : vector<2xf32> to vector<2xf16>
// CHECK-NOT:     arith.truncf
gpu.func @round(%x: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = hla_tile.load %x[%c0] : memref<64x64xf32> -> !Acc
  %0 = arith.truncf %t : !Acc to !Frag
  %1 = arith.truncf %t : !Acc to !Half
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = row>>
  hla_tile.write %0, %b : !Frag, memref<64x64xbf16, #hla_tile.smem<order = row>>
  %ringh = hla_tile.alloc at 8192 : memref<1x64x64xf16, #hla_tile.smem<order = row>>
  %h = hla_tile.slot %ringh[%c0] : memref<1x64x64xf16, #hla_tile.smem<order = row>> -> memref<64x64xf16, #hla_tile.smem<order = row>>
  hla_tile.write %1, %h : !Half, memref<64x64xf16, #hla_tile.smem<order = row>>
  gpu.return
}

// tf32 register by register; it is an f32 already.
// CHECK-LABEL: llvm.func @round_tf32(
// CHECK-COUNT-32: nvvm.convert.float.to.tf32 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK-NOT:     nvvm.convert.float.to.tf32
// CHECK-NOT:     arith.extf
// CHECK:         llvm.return
gpu.func @round_tf32(%x: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = hla_tile.load %x[%c0] : memref<64x64xf32> -> !Acc
  %0 = arith.truncf %t to_nearest_away : !Acc to tensor<64x64xtf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  %1 = arith.extf %0 : tensor<64x64xtf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>> to !Acc
  hla_tile.store %1, %x[%c0] : !Acc, memref<64x64xf32>
  gpu.return
}

// CHECK-LABEL: llvm.func @widen(
// CHECK-COUNT-32: arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT:     arith.extf
// CHECK-COUNT-32: arith.addf %{{.*}} : f32
gpu.func @widen() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = row>>
  %t = hla_tile.read %b : memref<64x64xbf16, #hla_tile.smem<order = row>> -> !Frag
  %0 = arith.extf %t : !Frag to !Acc
  %1 = arith.addf %0, %0 : !Acc
  gpu.return
}

// Without a decay no powers: what is kept is selected.
// CHECK-LABEL: llvm.func @causal(
// CHECK:         %[[DELTA:.*]] = arith.subi %[[ROW:.*]], %[[COL:.*]] : i32
// CHECK-COUNT-32: arith.select %{{.*}} : f32
// CHECK-NOT:     llvm.call_intrinsic
gpu.func @causal() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = arith.constant dense<1.0> : !Acc
  %0 = hla_tile.causal lower strict %t : !Acc
  gpu.return
}

// CHECK-LABEL: llvm.func @causal_decay(
// CHECK-COUNT-32: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-NOT:     llvm.call_intrinsic
gpu.func @causal_decay() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = arith.constant dense<1.0> : !Acc
  %g = arith.constant -0.5 : f64
  %n = arith.constant 40 : index
  %G = hla_tile.ramp %g[%n] : !Sums
  %0 = hla_tile.causal upper %t by %G : !Acc, !Sums
  gpu.return
}

// One power for each of a thread's rows: two by rows, and, stored transposed, one
// for each of its 16 columns; one where all rows have the same.
// CHECK-LABEL: llvm.func @decay(
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-NOT:     llvm.call_intrinsic
// CHECK:       llvm.func @decay_transposed(
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-NOT:     llvm.call_intrinsic
// CHECK:       llvm.func @decay_constant(
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK-NOT:     llvm.call_intrinsic
// CHECK:         llvm.return
gpu.func @decay(%i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = arith.constant dense<1.0> : !Acc
  %g = arith.constant -0.5 : f64
  %G = hla_tile.ramp %g[%i] : !Sums
  %0 = hla_tile.decay through %t by %G : !Acc, !Sums
  gpu.return
}
gpu.func @decay_transposed(%i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = arith.constant dense<1.0> : !AccT
  %g = arith.constant -0.5 : f64
  %G = hla_tile.ramp %g[%i] : !Sums
  %0 = hla_tile.decay after %t by %G : !AccT, !Sums
  gpu.return
}
gpu.func @decay_constant(%i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = arith.constant dense<1.0> : !AccT
  %g = arith.constant -0.5 : f64
  %G = hla_tile.ramp %g[%i] : !Sums
  %0 = hla_tile.decay all %t by %G : !AccT, !Sums
  gpu.return
}
}
}
