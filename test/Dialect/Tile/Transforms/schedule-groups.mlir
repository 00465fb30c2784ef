// Masked second order, of two scans: who does what, what is handed over, and in
// which order. The input has its layouts already.

// RUN: hla-opt %s --hla-tile-schedule-groups --canonicalize --cse | FileCheck %s

// Each tensor is an argument more, in boxes of a chunk.
// CHECK-LABEL: func.func @f
// CHECK-COUNT-4: hla_tile.tensor_map %{{.*}} -> <1x64x1x64xbf16>
// CHECK:         gpu.launch_func
// CHECK-SAME:      <1x64x1x64xbf16>, %{{[^ ]*}} : !hla_tile.tensor_map<1x64x1x64xbf16>, %{{[^ ]*}} : !hla_tile.tensor_map<1x64x1x64xbf16>, %{{[^ ]*}} : !hla_tile.tensor_map<1x64x1x64xbf16>)

// CHECK-LABEL: gpu.func @f_kernel
// Rings of q, k and v; A; u, twice; B; o.
// CHECK:         %[[Q:.*]] = hla_tile.alloc at 0 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[K:.*]] = hla_tile.alloc at 16384 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[V:.*]] = hla_tile.alloc at 32768 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[A:.*]] = hla_tile.alloc at 49152 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[U:.*]] = hla_tile.alloc at 57344 : memref<2x64x64xbf16, #hla_tile.smem<order = col>>
// CHECK:         %[[B:.*]] = hla_tile.alloc at 73728 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[O:.*]] = hla_tile.alloc at 81920 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
// q is read by both groups: the warps of the first tell the second, which fills its
// ring.
// CHECK:         %[[QFULL:.*]] = hla_tile.signals 1 at
// CHECK:         %[[QVACANT:.*]] = hla_tile.signals 4 at
// CHECK:         %[[KFULL:.*]] = hla_tile.signals 1 at
// CHECK:         %[[VFULL:.*]] = hla_tile.signals 1 at
// CHECK-NOT:     hla_tile.signals
// CHECK:         hla_tile.barrier

// CHECK-NEXT:    hla_tile.groups {
// The first chunks of k, whose only reader this is.
// CHECK-COUNT-2:   hla_tile.tensor_load %{{.*}}, %{{.*}}, %[[KFULL]]
// CHECK-NOT:       hla_tile.tensor_load
// CHECK:           scf.for {{.*}} iter_args(%[[S:[^ ]*]] =
// A = tril(q kᵀ), written once its warps cannot read the last one any more: they have
// met at the hand-over.
// CHECK:             hla_tile.signal_wait %[[QFULL]]
// CHECK:             hla_tile.signal_wait %[[KFULL]]
// CHECK:             hla_tile.dot_fence
// CHECK-NEXT:        %[[A0:.*]] = hla_tile.dot_async {{.*}} transpose_rhs
// CHECK-NEXT:        hla_tile.dot_commit
// CHECK-NEXT:        %[[A1:.*]] = hla_tile.dot_wait 0 of %[[A0]]
// CHECK-NEXT:        hla_tile.causal lower %[[A1]]
// CHECK-NOT:         hla_tile.sync
// CHECK:             hla_tile.write
// q S, of the state rounded here, needs nothing of the exchange.
// CHECK:             %[[SR:.*]] = arith.truncf %[[S]]
// CHECK:             %[[SF:.*]] = hla_tile.dot_fence of %[[SR]]
// CHECK:             %[[U0:.*]] = hla_tile.dot_async %{{.*}}, %[[SF]],
// CHECK:             hla_tile.async_fence
// CHECK-NEXT:        hla_tile.sync %c1 of 128
// Chunk i - 1 of k has been read: its slot is refilled.
// CHECK:             hla_tile.tensor_load {{.*}} %[[KFULL]]
// CHECK:             %[[U1:.*]] = hla_tile.dot_async %{{.*}}, %{{.*}}, %[[U0]]
// The update of the state runs while u is written and handed over.
// CHECK:             %[[SN:.*]] = hla_tile.dot_async {{.*}} transpose_lhs
// CHECK:             %[[U2:.*]] = hla_tile.dot_wait 1 of %[[U1]]
// CHECK:             hla_tile.sync %{{.*}} of 256
// CHECK:             hla_tile.write
// CHECK-NEXT:        hla_tile.async_fence
// CHECK:             hla_tile.arrive %{{.*}} of 256
// CHECK:             %[[S1:.*]] = hla_tile.dot_wait 0 of %[[SN]]
// CHECK:             hla_tile.signal_arrive %[[QVACANT]]
// CHECK:             scf.yield %[[S1]]

// CHECK:         }, {
// CHECK-COUNT-4:   hla_tile.tensor_load
// Both buffers of u are there to be written.
// CHECK-COUNT-2:   hla_tile.arrive %{{.*}} of 256
// CHECK:           scf.for {{.*}} iter_args(%[[F:[^ ]*]] =
// CHECK:             hla_tile.signal_wait %[[QFULL]]
// CHECK:             hla_tile.sync %{{.*}} of 256
// CHECK:             %[[B0:.*]] = hla_tile.dot_async {{.*}} transpose_rhs
// CHECK:             hla_tile.dot_wait 0 of %[[B0]]
// CHECK:             hla_tile.write
// CHECK:             hla_tile.async_fence
// The copy of the last o has read its buffer.
// CHECK-NEXT:        hla_tile.tensor_store_wait reads
// CHECK-NEXT:        hla_tile.sync %c2 of 128
// CHECK:             hla_tile.signal_wait %[[QVACANT]]
// CHECK:             hla_tile.tensor_load {{.*}} %[[QFULL]]
// CHECK:             hla_tile.tensor_load {{.*}} %[[VFULL]]
// CHECK:             hla_tile.signal_wait %[[VFULL]]
// CHECK:             %[[FN:.*]] = hla_tile.dot_async {{.*}} transpose_lhs
// CHECK:             hla_tile.write
// CHECK-NEXT:        hla_tile.async_fence
// CHECK-NEXT:        hla_tile.sync %c2 of 128
// CHECK-NEXT:        hla_tile.tensor_store
// CHECK:             hla_tile.dot_wait 0 of %[[FN]]
// u has been read.
// CHECK:             hla_tile.arrive %{{.*}} of 256
// CHECK:             scf.yield
// Outputs are complete before the block ends.
// CHECK:           hla_tile.tensor_store_wait{{$}}
// CHECK:         gpu.return

!AccT = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!AT = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!A = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Rows = tensor<64x64xbf16, #hla_tile.smem<order = row>>
!Cols = tensor<64x64xbf16, #hla_tile.smem<order = col>>
!Tensor = memref<?x?x?x64xbf16, strided<[?, ?, ?, 1]>>
!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>

module attributes {gpu.container_module, hla.target = #hla.target<"sm_90a">} {
  func.func @f(%arg0: !Tensor, %arg1: !Tensor, %arg2: !Tensor, %arg3: !Tensor) {
    %c256 = arith.constant 256 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg0, %c0 : !Tensor
    %dim_0 = memref.dim %arg0, %c2 : !Tensor
    %dim_1 = memref.dim %arg0, %c1 : !Tensor
    gpu.launch_func  @f_kernels::@f_kernel blocks in (%dim, %dim_0, %c1) threads in (%c256, %c1, %c1)  args(%arg0 : !Tensor, %dim_1 : index, %arg1 : !Tensor, %arg2 : !Tensor, %arg3 : !Tensor)
    return
  }
  gpu.module @f_kernels {
    gpu.func @f_kernel(%arg0: !Tensor, %arg1: index, %arg2: !Tensor, %arg3: !Tensor, %arg4: !Tensor) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16, groups = 2, blocks = 2>, known_block_size = array<i32: 256, 1, 1>} {
      %cst = arith.constant dense<0.000000e+00> : !Acc
      %cst_0 = arith.constant dense<0.000000e+00> : !AccT
      %c64 = arith.constant 64 : index
      %c0 = arith.constant 0 : index
      %b = gpu.block_id  x
      %h = gpu.block_id  y
      %qs = memref.subview %arg0[%b, 0, %h, 0] [1, %arg1, 1, 64] [1, 1, 1, 1] : !Tensor to !View
      %ks = memref.subview %arg2[%b, 0, %h, 0] [1, %arg1, 1, 64] [1, 1, 1, 1] : !Tensor to !View
      %vs = memref.subview %arg3[%b, 0, %h, 0] [1, %arg1, 1, 64] [1, 1, 1, 1] : !Tensor to !View
      %os = memref.subview %arg4[%b, 0, %h, 0] [1, %arg1, 1, 64] [1, 1, 1, 1] : !Tensor to !View
      %0:2 = scf.for %row = %c0 to %arg1 step %c64 iter_args(%S = %cst_0, %F = %cst_0) -> (!AccT, !AccT) {
        %1 = hla_tile.load %qs[%row] : !View -> !Rows
        %2 = hla_tile.load %ks[%row] : !View -> !Rows
        %3 = hla_tile.load %vs[%row] : !View -> !Rows
        %4 = hla_tile.dot %1, %2, %cst transpose_rhs : !Rows, !Rows -> !Acc
        %5 = hla_tile.causal lower %4 : !Acc
        %6 = arith.truncf %5 : !Acc to !A
        %7 = hla_tile.convert_layout %6 : !A -> !Rows
        %8 = arith.truncf %S : !AccT to !AT
        %9 = hla_tile.dot %1, %8, %cst_0 : !Rows, !AT -> !AccT
        %10 = hla_tile.dot %7, %2, %9 : !Rows, !Rows -> !AccT
        %11 = arith.truncf %10 : !AccT to !AT
        %12 = hla_tile.convert_layout %11 : !AT -> !Cols
        %13 = hla_tile.dot %2, %2, %S transpose_lhs : !Rows, !Rows -> !AccT
        %14 = hla_tile.dot %1, %12, %cst transpose_rhs : !Rows, !Cols -> !Acc
        %15 = hla_tile.causal lower %14 : !Acc
        %16 = arith.truncf %15 : !Acc to !A
        %17 = hla_tile.convert_layout %16 : !A -> !Rows
        %18 = arith.truncf %F : !AccT to !AT
        %19 = hla_tile.dot %1, %18, %cst_0 : !Rows, !AT -> !AccT
        %20 = hla_tile.dot %17, %3, %19 : !Rows, !Rows -> !AccT
        %21 = arith.truncf %20 : !AccT to !AT
        %22 = hla_tile.convert_layout %21 : !AT -> !Rows
        %23 = hla_tile.dot %12, %3, %F transpose_lhs : !Cols, !Rows -> !AccT
        hla_tile.store %22, %os[%row] : !Rows, !View
        scf.yield %13, %23 : !AccT, !AccT
      }
      gpu.return
    }
  }
}
