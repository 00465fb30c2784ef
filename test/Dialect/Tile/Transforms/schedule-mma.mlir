// Buffers, copies ahead, and barriers. The input has its layouts already.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-schedule-mma,canonicalize,cse)))' --split-input-file | FileCheck %s

!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!Smem = tensor<64x64xbf16, #hla_tile.smem<order = row>>
!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>

gpu.module @kernels {
// Two stages: a chunk is copied while the one before is used. One barrier at the
// head says that it has arrived, and that the slot now written has been read.
// CHECK-LABEL: gpu.func @two_stages
// CHECK-SAME:    %[[V:.*]]: memref<{{.*}}>, %[[N:.*]]: index)
// CHECK-SAME:    hla_tile.shared_memory = 16384 : i64
// CHECK:         %[[RING:.*]] = hla_tile.alloc at 0 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[SLOT0:.*]] = hla_tile.slot %[[RING]][%c0]
// CHECK-NEXT:    hla_tile.copy_async %[[V]][%c0], %[[SLOT0]]
// CHECK-NEXT:    hla_tile.copy_commit
// CHECK-NEXT:    scf.for %[[I:[^ ]*]] = %c0 to %[[N]] step %c1 iter_args(%[[S:[^ ]*]] =
// CHECK-NEXT:      hla_tile.copy_wait 0
// CHECK-NEXT:      hla_tile.barrier
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK-DAG:       %[[NEXTINDEX:.*]] = arith.remui %[[NEXT]], %c2
// CHECK-DAG:       %[[NEXTROW:.*]] = arith.muli %[[NEXT]], %c64
// CHECK-DAG:       %[[NEXTSLOT:.*]] = hla_tile.slot %[[RING]][%[[NEXTINDEX]]]
// CHECK:           hla_tile.copy_async %[[V]][%[[NEXTROW]]], %[[NEXTSLOT]]
// CHECK-NEXT:      hla_tile.copy_commit
// CHECK-NEXT:      %[[INDEX:.*]] = arith.remui %[[I]], %c2
// CHECK-NEXT:      %[[SLOT:.*]] = hla_tile.slot %[[RING]][%[[INDEX]]]
// CHECK-NEXT:      %[[S1:.*]] = hla_tile.dot %[[SLOT]], %[[SLOT]], %[[S]] transpose_lhs
// CHECK-NEXT:      scf.yield %[[S1]]
// CHECK-NOT:     hla_tile.load
gpu.func @two_stages(%v: !View, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
    %row = arith.muli %i, %c64 : index
    %Q = hla_tile.load %v[%row] : !View -> !Smem
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : !Smem, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// What a load rounds is rounded by who has copied it, before the barrier shows it.
// CHECK-LABEL: gpu.func @rounded
// CHECK:         hla_tile.copy_async %{{.*}} : memref<?x64xf32>, memref<64x64xtf32, #hla_tile.smem<order = row>>
// CHECK:         scf.for
// CHECK-NEXT:      hla_tile.copy_wait 0
// CHECK-NEXT:      %[[INDEX:.*]] = arith.remui
// CHECK-NEXT:      %[[SLOT:.*]] = hla_tile.slot %{{.*}}[%[[INDEX]]]
// CHECK-NEXT:      hla_tile.round %[[SLOT]]
// CHECK-NEXT:      hla_tile.barrier
// CHECK-NOT:       hla_tile.round
// CHECK:           hla_tile.dot %[[SLOT]], %[[SLOT]]
gpu.func @rounded(%v: memref<?x64xf32>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = tf32>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
    %row = arith.muli %i, %c64 : index
    %Q = hla_tile.load %v[%row] : memref<?x64xf32> -> tensor<64x64xtf32, #hla_tile.smem<order = row>>
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : tensor<64x64xtf32, #hla_tile.smem<order = row>>, tensor<64x64xtf32, #hla_tile.smem<order = row>> -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// With one stage, and outside of a loop, the same.
// CHECK-LABEL: gpu.func @rounded_once
// CHECK:         hla_tile.copy_async
// CHECK:         hla_tile.copy_wait 0
// CHECK-NEXT:    hla_tile.round
// CHECK-NEXT:    hla_tile.barrier
// CHECK:         scf.for
// CHECK-NEXT:      hla_tile.barrier
// CHECK:           hla_tile.copy_async
// CHECK:           hla_tile.copy_wait 0
// CHECK-NEXT:      hla_tile.round
// CHECK-NEXT:      hla_tile.barrier
gpu.func @rounded_once(%v: memref<?x64xf32>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 1, precision = tf32>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Acc
  %P = hla_tile.load %v[%c0] : memref<?x64xf32> -> tensor<64x64xtf32, #hla_tile.smem<order = row>>
  %S0 = hla_tile.dot %P, %P, %zero transpose_lhs : tensor<64x64xtf32, #hla_tile.smem<order = row>>, tensor<64x64xtf32, #hla_tile.smem<order = row>> -> !Acc
  %r = scf.for %i = %c64 to %n step %c64 iter_args(%S = %S0) -> (!Acc) {
    %Q = hla_tile.load %v[%i] : memref<?x64xf32> -> tensor<64x64xtf32, #hla_tile.smem<order = row>>
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : tensor<64x64xtf32, #hla_tile.smem<order = row>>, tensor<64x64xtf32, #hla_tile.smem<order = row>> -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// Three stages: two chunks on their way, of which one may still be when one is used.
// CHECK-LABEL: gpu.func @three_stages
// CHECK-SAME:    hla_tile.shared_memory = 24576 : i64
// CHECK:         %[[RING:.*]] = hla_tile.alloc at 0 : memref<3x64x64xbf16
// CHECK:         hla_tile.copy_async %{{.*}}[%c0],
// CHECK-NEXT:    hla_tile.copy_commit
// CHECK:         hla_tile.copy_async %{{.*}}[%c64],
// CHECK-NEXT:    hla_tile.copy_commit
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK-NEXT:      hla_tile.copy_wait 1
// CHECK-NEXT:      hla_tile.barrier
// CHECK-NEXT:      %[[AHEAD:.*]] = arith.addi %[[I]], %c2
// CHECK-DAG:       arith.remui %[[AHEAD]], %c3
// CHECK-DAG:       %[[ROW:.*]] = arith.muli %[[AHEAD]], %c64
// CHECK:           hla_tile.copy_async %{{.*}}[%[[ROW]]],
// CHECK-NEXT:      hla_tile.copy_commit
gpu.func @three_stages(%v: !View, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 3, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
    %row = arith.muli %i, %c64 : index
    %Q = hla_tile.load %v[%row] : !View -> !Smem
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : !Smem, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// One stage: nothing runs ahead. The last chunk has been read, a barrier says,
// before the next is copied into its place.
// CHECK-LABEL: gpu.func @one_stage
// CHECK-SAME:    hla_tile.shared_memory = 16384 : i64
// CHECK-NOT:     hla_tile.copy_async
// CHECK:         scf.for
// CHECK:           hla_tile.barrier
// CHECK:           hla_tile.copy_async
// CHECK:           hla_tile.copy_async
// CHECK-NEXT:      hla_tile.copy_commit
// CHECK-NEXT:      hla_tile.copy_wait 0
// CHECK-NEXT:      hla_tile.barrier
// CHECK:           hla_tile.dot
gpu.func @one_stage(%v: !View, %w: !View, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 1, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
    %row = arith.muli %i, %c64 : index
    %Q = hla_tile.load %v[%row] : !View -> !Smem
    %K = hla_tile.load %w[%row] : !View -> !Smem
    %S1 = hla_tile.dot %Q, %K, %S transpose_lhs : !Smem, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// The copies of a loop that walks back run ahead in its direction.
// CHECK-LABEL: gpu.func @reverse
// CHECK-SAME:    %[[N:[^:]*]]: index)
// CHECK:         %[[FIRST:.*]] = arith.subi %[[N]], %c1
// CHECK:         %[[FIRSTROW:.*]] = arith.muli %[[FIRST]], %c64
// CHECK:         hla_tile.copy_async %{{.*}}[%[[FIRSTROW]]],
// CHECK:         scf.for %[[I:[^ ]*]] =
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK:           %[[AHEAD:.*]] = arith.subi %{{.*}}, %[[NEXT]]
// CHECK:           %[[ROW:.*]] = arith.muli %[[AHEAD]], %c64
// CHECK:           hla_tile.copy_async %{{.*}}[%[[ROW]]],
gpu.func @reverse(%v: !View, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
    %last = arith.subi %n, %c1 : index
    %position = arith.subi %last, %i : index
    %row = arith.muli %position, %c64 : index
    %Q = hla_tile.load %v[%row] : !View -> !Smem
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : !Smem, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// What is needed in registers is read from the slot.
// CHECK-LABEL: gpu.func @read
// CHECK:         scf.for
// CHECK:           %[[SLOT:.*]] = hla_tile.slot %{{.*}}[%{{.*}}]
// CHECK:           hla_tile.copy_commit
// CHECK:           %[[SLOT:.*]] = hla_tile.slot
// CHECK:           %[[T:.*]] = hla_tile.read %[[SLOT]]
// CHECK:           hla_tile.dot %[[T]], %[[SLOT]],
gpu.func @read(%v: !View, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : !Acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zero) -> (!Acc) {
    %Q = hla_tile.load %v[%i] : !View -> !Smem
    %R = hla_tile.convert_layout %Q : !Smem -> !Frag
    %S1 = hla_tile.dot %R, %Q, %S : !Frag, !Smem -> !Acc
    scf.yield %S1 : !Acc
  }
  gpu.return
}

// Without a schedule the function is none of the pass's.
// CHECK-LABEL: gpu.func @other
// CHECK-NOT:     shared_memory
// CHECK:         hla_tile.load
gpu.func @other(%v: !View, %i: index) {
  %t = hla_tile.load %v[%i] : !View -> !Smem
  hla_tile.store %t, %v[%i] : !Smem, !View
  gpu.return
}
}
