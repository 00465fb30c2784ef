// A product as ldmatrix and mma.sync.m16n8k16: how many of each a warp executes is
// its block's size over the pieces', and each B matrix is loaded once a row of pieces.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s

!B = memref<64x64xbf16, #hla_tile.smem<order = row>>
!BF16 = memref<64x64xf16, #hla_tile.smem<order = row>>
!BC = memref<64x64xbf16, #hla_tile.smem<order = col>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!AccT = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>

module attributes {hla.target = #hla.target<"sm_80">} {
gpu.module @kernels {

// 4 warps, 16×64 each: for each of 4 k, one A and 4 pairs of B, 8 products. rhs is
// transposed, as the instruction wants it: plain loads for both.
// CHECK-LABEL: llvm.func @shared_shared(
// CHECK-NOT:     layout = #nvvm.mma_layout<col>, num
// CHECK-COUNT-20: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-NOT:     nvvm.ldmatrix
gpu.func @shared_shared() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_rhs : !B, !B -> !Acc
  gpu.return
}

// CHECK-LABEL: llvm.func @instructions(
// CHECK-COUNT-32: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32)
// CHECK-NOT:     nvvm.mma.sync
gpu.func @instructions() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_rhs : !B, !B -> !Acc
  gpu.return
}

// Not transposed, B is loaded with a transposition of its matrices.
// CHECK-LABEL: llvm.func @plain_rhs(
// CHECK:         nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>
// CHECK:         nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>
gpu.func @plain_rhs() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc : !B, !B -> !Acc
  gpu.return
}

// Stored by columns, it is the other way round.
// CHECK-LABEL: llvm.func @columns(
// CHECK-COUNT-5: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<{{row|col}}>
// CHECK-LABEL: llvm.func @columns_rhs(
// CHECK-NOT:     layout = #nvvm.mma_layout<col>, num
// CHECK:         nvvm.mma.sync
gpu.func @columns() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = col>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = col>> -> !BC
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc : !BC, !BC -> !Acc
  gpu.return
}
gpu.func @columns_rhs() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = col>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = col>> -> !BC
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_lhs : !BC, !BC -> !Acc
  gpu.return
}

// An A operand that is in registers is not loaded: four registers a product, as
// they are.
// CHECK-LABEL: llvm.func @registers(
// CHECK-COUNT-16: nvvm.ldmatrix
// CHECK-NOT:     nvvm.ldmatrix
// CHECK:         llvm.return
gpu.func @registers() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<0.0> : !Acc
  %a = arith.constant dense<1.0> : !Frag
  %d = hla_tile.dot %a, %b, %acc : !Frag, !B -> !Acc
  gpu.return
}

// Stored transposed, D' = rhs' lhs': rhs is the A operand, and lhs's rows, as the
// columns of the B operand, are loaded plainly.
// CHECK-LABEL: llvm.func @transposed(
// CHECK:         nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>
// CHECK:         nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>
gpu.func @transposed() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<0.0> : !AccT
  %d = hla_tile.dot %b, %b, %acc : !B, !B -> !AccT
  gpu.return
}

// A warp with one column of pieces loads two matrices of B at a time.
// CHECK-LABEL: llvm.func @narrow(
// CHECK:         nvvm.ldmatrix %{{.*}} num = 4 : i32
// CHECK:         nvvm.ldmatrix %{{.*}} num = 2 : i32
// CHECK:         nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         llvm.return
gpu.func @narrow() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xbf16, #hla_tile.smem<order = row>> -> memref<16x16xbf16, #hla_tile.smem<order = row>>
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #hla_tile.frag<rowWarps = 1, colWarps = 2>>
  %d = hla_tile.dot %b, %b, %acc transpose_rhs : memref<16x16xbf16, #hla_tile.smem<order = row>>, memref<16x16xbf16, #hla_tile.smem<order = row>> -> tensor<16x16xf32, #hla_tile.frag<rowWarps = 1, colWarps = 2>>
  gpu.return
}

// CHECK-LABEL: llvm.func @f16(
// CHECK-COUNT-32: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK-NOT:     nvvm.mma.sync
gpu.func @f16() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xf16, #hla_tile.smem<order = row>> -> !BF16
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_rhs : !BF16, !BF16 -> !Acc
  gpu.return
}
}
}
