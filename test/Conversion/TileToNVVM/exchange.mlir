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

// 32-bit elements are written and read as pairs of neighbours, eight a thread for each
// 16×16: words of 64 bits, or two of 32 where memory has the tile transposed.
// CHECK-LABEL: llvm.func @wide(
// CHECK-COUNT-16: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK-NOT:     llvm.store
// CHECK-COUNT-32: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK-NOT:     llvm.load
// CHECK:         llvm.return
gpu.func @wide() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x64xf32, #hla_tile.smem<order = row>> -> memref<64x64xf32, #hla_tile.smem<order = row>>
  %t = arith.constant dense<1.0> : tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  hla_tile.write %t, %b : tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>, memref<64x64xf32, #hla_tile.smem<order = row>>
  %u = hla_tile.read %b : memref<64x64xf32, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
  gpu.return
}

// Where a lane's pair is: of 16 rows of 32 elements, 128 bytes each, row g and piece 0,
// which the swizzle puts at place 2·g₁ + (g₀ xor g₂); there, its 8 bytes.
// CHECK-LABEL: llvm.func @swizzle(
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %c32_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[C:.*]] = arith.remui %[[LANE]], %c4_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[BYTES:.*]] = arith.muli %[[C]], %c8_i32{{(_[0-9]+)?}}
// CHECK-DAG:     llvm.getelementptr %{{.*}}[%[[BYTES]]]
// CHECK-DAG:     %[[G:.*]] = arith.divui %[[LANE]], %c4_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[ROW:.*]] = arith.addi %{{.*}}, %[[G]]
// CHECK-DAG:     %[[HALF:.*]] = arith.divui %[[ROW]], %c2_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[G1:.*]] = arith.remui %[[HALF]], %c2_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[FOURTH:.*]] = arith.divui %[[ROW]], %c4_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[X:.*]] = arith.xori %[[ROW]], %[[FOURTH]]
// CHECK-DAG:     %[[X02:.*]] = arith.remui %[[X]], %c2_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[TWICE:.*]] = arith.muli %[[G1]], %c2_i32{{(_[0-9]+)?}}
// CHECK-DAG:     %[[S:.*]] = arith.addi %[[TWICE]], %[[X02]]
// CHECK-DAG:     arith.muli %[[S]], %c32_i32{{(_[0-9]+)?}}
gpu.func @swizzle() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x32xf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x32xf32, #hla_tile.smem<order = row>> -> memref<16x32xf32, #hla_tile.smem<order = row>>
  %u = hla_tile.read %b : memref<16x32xf32, #hla_tile.smem<order = row>> -> tensor<16x32xf32, #hla_tile.frag<rowWarps = 1, colWarps = 1>>
  gpu.return
}
}
}
