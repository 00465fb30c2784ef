// Fragments to shared memory and back: stmatrix where the target has it; else words,
// transposed in the warp by movmatrix where memory has the tile transposed.

// RUN: sed 's/TARGET/sm_80/' %s | hla-opt --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: sed 's/TARGET/sm_89/' %s | hla-opt --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s --check-prefixes=CHECK,WORDS
// RUN: sed 's/TARGET/sm_90a/' %s | hla-opt --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s --check-prefixes=CHECK,MATRICES
// RUN: sed 's/TARGET/sm_120a/' %s | hla-opt --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s --check-prefixes=CHECK,MATRICES

!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!FragT = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!Row = memref<64x64xbf16, #hla_tile.smem<order = row>>
!Col = memref<64x64xbf16, #hla_tile.smem<order = col>>

module attributes {hla.target = #hla.target<"TARGET">} {
gpu.module @kernels {

// A warp has 16×64: four blocks of 16×16, sixteen matrices of 8×8.
// CHECK-LABEL: llvm.func @write(
// MATRICES-COUNT-4: nvvm.stmatrix %{{.*}} layout = #nvvm.mma_layout<row>
// WORDS-COUNT-16: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NOT:     {{stmatrix|llvm.store|movmatrix}}
// CHECK:         llvm.return
gpu.func @write() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !Row
  %t = arith.constant dense<1.0> : !Frag
  hla_tile.write %t, %b : !Frag, !Row
  gpu.return
}

// CHECK-LABEL: llvm.func @write_transposed(
// MATRICES-COUNT-4: nvvm.stmatrix %{{.*}} layout = #nvvm.mma_layout<col>
// WORDS-COUNT-16: llvm.inline_asm has_side_effects asm_dialect = att "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r"
// CHECK-NOT:     {{stmatrix|movmatrix}}
// CHECK:         llvm.return
gpu.func @write_transposed() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !Row
  %t = arith.constant dense<1.0> : !FragT
  hla_tile.write %t, %b : !FragT, !Row
  gpu.return
}

// Stored by columns, a transposed fragment is written as it is.
// CHECK-LABEL: llvm.func @write_columns(
// MATRICES-COUNT-4: nvvm.stmatrix %{{.*}} layout = #nvvm.mma_layout<row>
// CHECK-NOT:     movmatrix
// CHECK:         llvm.return
gpu.func @write_columns() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = col>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = col>> -> !Col
  %t = arith.constant dense<1.0> : !FragT
  hla_tile.write %t, %b : !FragT, !Col
  gpu.return
}

// Reads are ldmatrix everywhere.
// CHECK-LABEL: llvm.func @read(
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>, num = 4
// CHECK-COUNT-4: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>, num = 4
// CHECK-NOT:     nvvm.ldmatrix
gpu.func @read() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !Row
  %0 = hla_tile.read %b : !Row -> !Frag
  %1 = hla_tile.read %b : !Row -> !FragT
  gpu.return
}

// A warp with one column of pieces reads and writes two matrices at a time.
// CHECK-LABEL: llvm.func @narrow(
// CHECK-COUNT-1: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>, num = 2
// CHECK-COUNT-1: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>, num = 2
// CHECK-NOT:     {{ldmatrix|stmatrix}}
// CHECK-COUNT-2: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK-NOT:     llvm.store
// CHECK:         llvm.return
gpu.func @narrow() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x32x32xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x32x32xbf16, #hla_tile.smem<order = row>> -> memref<32x32xbf16, #hla_tile.smem<order = row>>
  %0 = hla_tile.read %b : memref<32x32xbf16, #hla_tile.smem<order = row>> -> tensor<32x32xbf16, #hla_tile.frag<rowWarps = 2, colWarps = 4>>
  %1 = hla_tile.read %b : memref<32x32xbf16, #hla_tile.smem<order = row>> -> tensor<32x32xbf16, #hla_tile.frag<rowWarps = 2, colWarps = 4, transposed = true>>
  hla_tile.write %0, %b : tensor<32x32xbf16, #hla_tile.frag<rowWarps = 2, colWarps = 4>>, memref<32x32xbf16, #hla_tile.smem<order = row>>
  gpu.return
}
}
}
