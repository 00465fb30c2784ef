// What warps exchange has a buffer of its own; barriers stand between a write and
// the reads of others, between reads and the next write, and nowhere else.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-schedule-mma,canonicalize,cse)))' | FileCheck %s

!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!Smem = tensor<64x64xbf16, #hla_tile.smem<order = row>>
!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>

gpu.module @kernels {
// CHECK-LABEL: gpu.func @straight
// CHECK-SAME:    hla_tile.shared_memory = 24576 : i64
// CHECK-DAG:     %[[RA:.*]] = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK-DAG:     %[[RB:.*]] = hla_tile.alloc at 8192 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[A:.*]] = hla_tile.slot %[[RA]][%c0]
// CHECK:         hla_tile.write %{{.*}}, %[[A]]
// CHECK:         %[[B:.*]] = hla_tile.slot %[[RB]][%c0]
// CHECK-NEXT:    hla_tile.write %{{.*}}, %[[B]]
// CHECK-NEXT:    hla_tile.barrier
// CHECK-NEXT:    hla_tile.dot %[[A]], %[[B]]
// CHECK-NEXT:    hla_tile.dot %[[B]], %[[A]]
// CHECK-NOT:     hla_tile.barrier
// CHECK:         gpu.return
gpu.func @straight(%a: !Frag, %b: !Frag, %x: !Acc) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %A = hla_tile.convert_layout %a : !Frag -> !Smem
  %B = hla_tile.convert_layout %b : !Frag -> !Smem
  %0 = hla_tile.dot %A, %B, %x : !Smem, !Smem -> !Acc
  %1 = hla_tile.dot %B, %A, %0 : !Smem, !Smem -> !Acc
  %w = arith.truncf %1 : !Acc to !Frag
  %W = hla_tile.convert_layout %w : !Frag -> !Smem
  gpu.return
}

// In a loop the body follows itself: the write of the next turn waits for the reads
// of this one.
// CHECK-LABEL: gpu.func @loop
// CHECK:         scf.for
// CHECK:           %[[P:.*]] = arith.truncf
// CHECK:           hla_tile.barrier
// CHECK-NEXT:      hla_tile.write %[[P]], %[[A:.*]] :
// CHECK-NEXT:      hla_tile.barrier
// CHECK-NEXT:      hla_tile.dot %[[A]], %[[A]]
// CHECK-NEXT:      scf.yield
gpu.func @loop(%x: !Acc, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %x) -> (!Acc) {
    %p = arith.truncf %S : !Acc to !Frag
    %P = hla_tile.convert_layout %p : !Frag -> !Smem
    %S1 = hla_tile.dot %P, %P, %S : !Smem, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// The barrier at the head of a loop with copies serves for that too.
// CHECK-LABEL: gpu.func @loop_with_copies
// CHECK:         scf.for
// CHECK-NEXT:      hla_tile.copy_wait 0
// CHECK-NEXT:      hla_tile.barrier
// CHECK-NOT:       hla_tile.barrier
// CHECK:           hla_tile.write %{{.*}}, %[[A:.*]] :
// CHECK-NEXT:      hla_tile.barrier
// CHECK-NEXT:      hla_tile.dot %[[A]],
// CHECK-NEXT:      scf.yield
gpu.func @loop_with_copies(%v: !View, %x: !Acc, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %x) -> (!Acc) {
    %Q = hla_tile.load %v[%i] : !View -> !Smem
    %p = arith.truncf %S : !Acc to !Frag
    %P = hla_tile.convert_layout %p : !Frag -> !Smem
    %S1 = hla_tile.dot %P, %Q, %S : !Smem, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// A store reads its buffer, as others' rows: it waits.
// CHECK-LABEL: gpu.func @store
// CHECK:         hla_tile.write %{{.*}}, %[[A:.*]] :
// CHECK-NEXT:    hla_tile.barrier
// CHECK-NEXT:    hla_tile.store %[[A]],
gpu.func @store(%a: !Frag, %v: !View, %i: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %A = hla_tile.convert_layout %a : !Frag -> !Smem
  hla_tile.store %A, %v[%i] : !Smem, !View
  gpu.return
}

// A sequence of one chunk has no loop: its loads are begun together, and waited for
// once, before the first use.
// CHECK-LABEL: gpu.func @one_chunk
// CHECK-SAME:    hla_tile.shared_memory = 16384 : i64
// CHECK-DAG:     %[[RQ:.*]] = hla_tile.alloc at 0 : memref<1x64x64xbf16
// CHECK-DAG:     %[[RK:.*]] = hla_tile.alloc at 8192 : memref<1x64x64xbf16
// CHECK:         %[[Q:.*]] = hla_tile.slot %[[RQ]][%c0]
// CHECK-NEXT:    hla_tile.copy_async %{{.*}}[%c0], %[[Q]]
// CHECK-NEXT:    %[[K:.*]] = hla_tile.slot %[[RK]][%c0]
// CHECK-NEXT:    hla_tile.copy_async %{{.*}}[%c0], %[[K]]
// CHECK-NEXT:    hla_tile.copy_commit
// CHECK-NEXT:    hla_tile.copy_wait 0
// CHECK-NEXT:    hla_tile.barrier
// CHECK-NEXT:    hla_tile.dot %[[Q]], %[[K]],
// CHECK-NEXT:    %[[R:.*]] = hla_tile.read %[[K]]
// CHECK-NEXT:    hla_tile.dot %[[R]], %[[Q]],
// CHECK-NOT:     copy_wait
// CHECK:         gpu.return
gpu.func @one_chunk(%q: !View, %k: !View, %x: !Acc, %o: memref<64x64xf32>) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %Q = hla_tile.load %q[%c0] : !View -> !Smem
  %K = hla_tile.load %k[%c0] : !View -> !Smem
  %0 = hla_tile.dot %Q, %K, %x transpose_rhs : !Smem, !Smem -> !Acc
  %R = hla_tile.convert_layout %K : !Smem -> !Frag
  %1 = hla_tile.dot %R, %Q, %0 : !Frag, !Smem -> !Acc
  hla_tile.store %1, %o[%c0] : !Acc, memref<64x64xf32>
  gpu.return
}
}

// A loop may not run at all: what was written before it is still to be seen.
// CHECK-LABEL: gpu.func @before_a_loop
// CHECK:         hla_tile.write
// CHECK:         scf.for
// CHECK:         }
// CHECK-NEXT:    hla_tile.barrier
// CHECK-NEXT:    hla_tile.store
gpu.module @before {
  gpu.func @before_a_loop(%q: memref<?x64xbf16, strided<[?, 1]>>, %n: index, %x: tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>, %o: memref<?x64xbf16, strided<[?, 1]>>) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %e = hla_tile.convert_layout %x : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
    scf.for %i = %c0 to %n step %c64 {
      %t = hla_tile.load %q[%i] : memref<?x64xbf16, strided<[?, 1]>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
      hla_tile.store %t, %o[%i] : tensor<64x64xbf16, #hla_tile.smem<order = row>>, memref<?x64xbf16, strided<[?, 1]>>
    }
    hla_tile.store %e, %o[%c0] : tensor<64x64xbf16, #hla_tile.smem<order = row>>, memref<?x64xbf16, strided<[?, 1]>>
    gpu.return
  }
}
