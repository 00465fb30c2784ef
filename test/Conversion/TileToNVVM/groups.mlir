// Groups, their barriers and signals, and products and copies that run beside them.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm,canonicalize,cse))' | FileCheck %s

!Half = memref<64x64xbf16, #hla_tile.smem<order = row>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!AccT = tensor<128x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!A = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Map = !hla_tile.tensor_map<1x64x1x128xbf16>

module attributes {hla.target = #hla.target<"sm_90a">} {
gpu.module @kernels {
// A tensor map is passed by value; a group is found once for a warp, and a number of
// a barrier that is known stands in the text.
// CHECK-LABEL: llvm.func @groups
// CHECK-SAME:    %[[ID:.*]]: i32, %[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK-SAME:    nvvm.maxnreg = 128 : i32
// CHECK-SAME:    nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK:         %[[G:.*]] = nvvm.shfl.sync idx
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[G]], %c0_i32
// CHECK:         scf.if %[[FIRST]] {
// CHECK:           "bar.sync 1, 128;", "~{memory}"
// CHECK:         } else {
// CHECK:           "bar.arrive $0, 256;", "r,~{memory}" %[[ID]]
// CHECK:           "fence.proxy.async.shared::cta;"
gpu.func @groups(%id: index, %map: !Map) kernel attributes {known_block_size = array<i32: 256, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16, groups = 2, blocks = 2>} {
  %c1 = arith.constant 1 : index
  hla_tile.groups {
    hla_tile.sync %c1 of 128
  }, {
    hla_tile.arrive %id of 256
    hla_tile.async_fence
  }
  gpu.return
}

// Columns 64 to 127 of 128 are the next block of 64 rows of 128 bytes. The innermost
// dimension of a box comes first, its blocks last.
// CHECK-LABEL: llvm.func @boxes
// CHECK:         mbarrier.init.shared::cta.b64 [$1+0], 1; @p mbarrier.init.shared::cta.b64 [$1+8], 1; @p fence.mbarrier_init.release.cluster;
// CHECK:         mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], 16384; @p cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$2], [$3, {$4, $5, $6, $7, $8}], [$1]; }
// CHECK-SAME:      %c0_i32, %[[H:[^,]*]], %[[ROW:[^,]*]], %[[B:[^,]*]], %c0_i32
// CHECK:         WAIT${:uid}: mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1, 10000000; @!p bra WAIT${:uid};
// CHECK:         @p mbarrier.arrive.shared::cta.b64 _, [$1];
// CHECK:         cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [$2, {$3, $4, $5, $6, $7}], [$1]; @p cp.async.bulk.commit_group;
// CHECK:         cp.async.bulk.wait_group.read 0;
// CHECK:         cp.async.bulk.wait_group 0;
gpu.func @boxes(%b: index, %row: index, %h: index, %map: !Map, %slot: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  %ring = hla_tile.alloc at 0 : memref<2x64x128xbf16, #hla_tile.smem<order = row>>
  %buffer = hla_tile.slot %ring[%slot] : memref<2x64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x128xbf16, #hla_tile.smem<order = row>>
  %full = hla_tile.signals 1 at 32768 : !hla_tile.signals<2>
  hla_tile.barrier
  hla_tile.tensor_load %map[%b, %row, %h, %c0], %buffer, %full[%slot] if %true : !Map, memref<64x128xbf16, #hla_tile.smem<order = row>>, !hla_tile.signals<2>
  hla_tile.signal_wait %full[%slot] parity %slot : !hla_tile.signals<2>
  hla_tile.signal_arrive %full[%slot] : !hla_tile.signals<2>
  hla_tile.tensor_store %buffer, %map[%b, %row, %h, %c0] : memref<64x128xbf16, #hla_tile.smem<order = row>>, !Map
  hla_tile.tensor_store_wait reads
  hla_tile.tensor_store_wait
  gpu.return
}

// q kᵀ: both along K in memory, 32 bytes a step, next block after four; the first
// product of a sum of zeros adds to nothing. What is committed, and waited for, ties
// the registers.
// CHECK-LABEL: llvm.func @scores
// CHECK:         "wgmma.fence.sync.aligned;"
// CHECK:         wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-SAME:      }, $33, $32, p, 1, 1, 0, 0;
// CHECK-SAME:      add.s64 b, $32, 2; add.s64 a, $33, 2; wgmma
// CHECK-SAME:      }, a, b, 1, 1, 1, 0, 0;
// CHECK-SAME:      add.s64 b, $32, 512; add.s64 a, $33, 512; wgmma
// CHECK:         "wgmma.commit_group.sync.aligned;"
// CHECK:         "wgmma.wait_group.sync.aligned 0;", "=f,
gpu.func @scores(%o: memref<64x64xf32, strided<[?, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !Acc
  %ring = hla_tile.alloc at 0 : memref<2x64x128xbf16, #hla_tile.smem<order = row>>
  %q = hla_tile.slot %ring[%c0] : memref<2x64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x128xbf16, #hla_tile.smem<order = row>>
  hla_tile.dot_fence
  %a = hla_tile.dot_async %q, %q, %zero transpose_rhs : memref<64x128xbf16, #hla_tile.smem<order = row>>, memref<64x128xbf16, #hla_tile.smem<order = row>> -> !Acc
  hla_tile.dot_commit
  %b = hla_tile.dot_wait 0 of %a : !Acc
  hla_tile.store %b, %o[%c0] : !Acc, memref<64x64xf32, strided<[?, 1], offset: ?>>
  gpu.return
}

// Sᵀ + vᵀ k: both across K, 16 rows of 128 bytes a step.
// CHECK-LABEL: llvm.func @update
// CHECK:         wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK-SAME:      }, $129, $128, 1, 1, 1, 1, 1;
// CHECK-SAME:      add.s64 b, $128, 128; add.s64 a, $129, 128; wgmma
gpu.func @update(%o: memref<128x64xf32, strided<[?, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %s = hla_tile.load %o[%c0] : memref<128x64xf32, strided<[?, 1], offset: ?>> -> !AccT
  %ring = hla_tile.alloc at 0 : memref<2x64x128xbf16, #hla_tile.smem<order = row>>
  %k = hla_tile.slot %ring[%c0] : memref<2x64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x128xbf16, #hla_tile.smem<order = row>>
  %v = hla_tile.columns %k[64] : memref<64x128xbf16, #hla_tile.smem<order = row>> -> !Half
  %f = hla_tile.dot_fence of %s : !AccT
  %a = hla_tile.dot_async %k, %v, %f transpose_lhs : memref<64x128xbf16, #hla_tile.smem<order = row>>, !Half -> !AccT
  hla_tile.dot_commit
  %b = hla_tile.dot_wait 0 of %a : !AccT
  hla_tile.store %b, %o[%c0] : !AccT, memref<128x64xf32, strided<[?, 1], offset: ?>>
  gpu.return
}

// An A operand in registers: four a step, pairs of neighbours.
// CHECK-LABEL: llvm.func @registers
// CHECK:         "wgmma.fence.sync.aligned;", "=r,
// CHECK:         wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-SAME:      }, {$33, $34, $35, $36}, $32, p, 1, 1, 1;
// CHECK-SAME:      }, {$37, $38, $39, $40}, b, 1, 1, 1, 1;
gpu.func @registers(%x: memref<64x64xf32, strided<[?, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : !Acc
  %s = hla_tile.load %x[%c0] : memref<64x64xf32, strided<[?, 1], offset: ?>> -> !Acc
  %r = arith.truncf %s : !Acc to !A
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %v = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !Half
  %f = hla_tile.dot_fence of %r : !A
  %a = hla_tile.dot_async %f, %v, %zero : !A, !Half -> !Acc
  hla_tile.dot_commit
  %b = hla_tile.dot_wait 0 of %a : !Acc
  hla_tile.store %b, %x[%c0] : !Acc, memref<64x64xf32, strided<[?, 1], offset: ?>>
  gpu.return
}
}
}
