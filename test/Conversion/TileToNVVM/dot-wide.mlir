// Products with operands of 32 bits: what is loaded how, and which instructions. A
// warp's block is 16×16 here, two pieces, and the sum has 16 terms.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm))' | FileCheck %s

!T = memref<16x16xtf32, #hla_tile.smem<order = row>>
!F = memref<16x16xf32, #hla_tile.smem<order = row>>
!H = memref<16x16xf16, #hla_tile.smem<order = row>>
!B = memref<16x16xbf16, #hla_tile.smem<order = row>>
!Acc = tensor<16x16xf32, #hla_tile.frag<rowWarps = 1, colWarps = 1>>
!FragT = tensor<16x16xtf32, #hla_tile.frag<rowWarps = 1, colWarps = 1>>

module attributes {hla.target = #hla.target<"sm_80">} {
gpu.module @kernels {

// Both operands by rows, as the instruction wants them: pairs of k are words of 64
// bits. A has four, B two for each column piece; then two products of eight k each.
// CHECK-LABEL: llvm.func @tf32(
// CHECK-NOT:     nvvm.ldmatrix
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
// CHECK-NOT:     llvm.load
// CHECK-COUNT-4: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (i32, i32, f32)
// CHECK-NOT:     nvvm.mma.sync
// CHECK-NOT:     add.rn.f32
// CHECK:         llvm.return
gpu.func @tf32(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xtf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xtf32, #hla_tile.smem<order = row>> -> !T
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_rhs : !T, !T -> !Acc
  gpu.return
}

// Transposed in memory, a pair is two words of 32 bits: A eight, B four a piece.
// CHECK-LABEL: llvm.func @transposed(
// CHECK-COUNT-16: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK-NOT:     llvm.load
// CHECK-COUNT-4: nvvm.mma.sync
gpu.func @transposed(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xtf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xtf32, #hla_tile.smem<order = row>> -> !T
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_lhs : !T, !T -> !Acc
  gpu.return
}

// An A operand in registers, (g, 2c) (g, 2c+1) (g+8, 2c) (g+8, 2c+1) of a piece: its
// columns 2c and 2c+1 are the instruction's c and c+4, so the middle two change places.
// CHECK-LABEL: llvm.func @registers(
// CHECK:         %[[P0:.*]] = llvm.load %{{.*}} -> vector<2xf32>
// CHECK:         %[[R0:.*]] = vector.extract %[[P0]][0]
// CHECK:         %[[R1:.*]] = vector.extract %[[P0]][1]
// CHECK:         %[[P1:.*]] = llvm.load %{{.*}} -> vector<2xf32>
// CHECK:         %[[R2:.*]] = vector.extract %[[P1]][0]
// CHECK:         %[[R3:.*]] = vector.extract %[[P1]][1]
// CHECK-DAG:     %[[A0:.*]] = llvm.bitcast %[[R0]] : f32 to i32
// CHECK-DAG:     %[[A1:.*]] = llvm.bitcast %[[R1]] : f32 to i32
// CHECK-DAG:     %[[A2:.*]] = llvm.bitcast %[[R2]] : f32 to i32
// CHECK-DAG:     %[[A3:.*]] = llvm.bitcast %[[R3]] : f32 to i32
// CHECK:         nvvm.mma.sync A[%[[A0]], %[[A2]], %[[A1]], %[[A3]]]
gpu.func @registers(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xtf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xtf32, #hla_tile.smem<order = row>> -> !T
  %acc = arith.constant dense<0.0> : !Acc
  %a = hla_tile.read %b : !T -> !FragT
  %d = hla_tile.dot %a, %b, %acc transpose_rhs : !FragT, !T -> !Acc
  gpu.return
}

// 16-bit operands are loaded as matrices and widened: each pair is a tf32 pair.
// CHECK-LABEL: llvm.func @widened(
// CHECK:         nvvm.ldmatrix {{.*}} num = 4 : i32
// CHECK-COUNT-8: arith.extf %{{.*}} : f16 to f32
// CHECK-COUNT-4: llvm.load %{{.*}} -> vector<2xf32>
// CHECK-COUNT-4: nvvm.mma.sync {{.*}}mma_type<tf32>
gpu.func @widened(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xtf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xtf32, #hla_tile.smem<order = row>> -> !T
  %ringH = hla_tile.alloc at 1024 : memref<1x16x16xf16, #hla_tile.smem<order = row>>
  %h = hla_tile.slot %ringH[%c0] : memref<1x16x16xf16, #hla_tile.smem<order = row>> -> !H
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %h, %b, %acc transpose_rhs : !H, !T -> !Acc
  gpu.return
}

// Two f32: the parts of a piece are multiplied lo·hi, hi·lo, hi·hi, two instructions
// each, from zero. The first sum is the accumulator, which is zero too.
// CHECK-LABEL: llvm.func @f32(
// CHECK:         arith.addi %{{.*}}, %c4096_i32 : i32
// CHECK:         arith.andi %{{.*}}, %c-8192_i32 : i32
// CHECK:         arith.subf
// CHECK-COUNT-12: nvvm.mma.sync {{.*}}mma_type<tf32>
// CHECK-NOT:     nvvm.mma.sync
// CHECK-NOT:     add.rn.f32
// CHECK:         llvm.return
gpu.func @f32(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xf32, #hla_tile.smem<order = row>> -> !F
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_rhs : !F, !F -> !Acc
  gpu.return
}

// One f32 and one narrower: that has no lower part. Sums are added by the assembler.
// CHECK-LABEL: llvm.func @f32_bf16(
// CHECK-COUNT-4: nvvm.mma.sync {{.*}}mma_type<tf32>
// CHECK-NOT:     nvvm.mma.sync
// CHECK-COUNT-4: llvm.inline_asm has_side_effects {{.*}}"add.rn.f32 $0, $1, $2;"
// CHECK-COUNT-4: nvvm.mma.sync {{.*}}mma_type<tf32>
// CHECK-COUNT-4: llvm.inline_asm has_side_effects {{.*}}"add.rn.f32 $0, $1, $2;"
gpu.func @f32_bf16(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xf32, #hla_tile.smem<order = row>> -> !F
  %ringB = hla_tile.alloc at 1024 : memref<1x16x16xbf16, #hla_tile.smem<order = row>>
  %h = hla_tile.slot %ringB[%c0] : memref<1x16x16xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<1.0> : !Acc
  %d = hla_tile.dot %h, %b, %acc transpose_rhs : !B, !F -> !Acc
  gpu.return
}

// In parts of bf16: three instructions of 16 k a piece.
// CHECK-LABEL: llvm.func @bf16x3(
// CHECK:         arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-6: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-NOT:     nvvm.mma.sync
// CHECK:         llvm.return
gpu.func @bf16x3(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xf32, #hla_tile.smem<order = row>> -> !F
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot bf16x3 %b, %b, %acc transpose_rhs : !F, !F -> !Acc
  gpu.return
}

// Two operands of one 16-bit type are multiplied as they are.
// CHECK-LABEL: llvm.func @bf16x3_of_bf16(
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT:     nvvm.mma.sync
gpu.func @bf16x3_of_bf16(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x16xbf16, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x16x16xbf16, #hla_tile.smem<order = row>> -> !B
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot bf16x3 %b, %b, %acc transpose_rhs : !B, !B -> !Acc
  gpu.return
}

// The assembler is kept from more than a few sums at a time, four where the loop
// carries few registers: the fifth's loads wait for the first, by a zero that is
// computed from it and displaces the address.
// CHECK-LABEL: llvm.func @in_sequence(
// CHECK:         %[[ZERO:.*]] = arith.divui %{{.*}}, %c1024_i32
// CHECK-COUNT-6: nvvm.mma.sync
// CHECK:         %[[OR1:.*]] = arith.ori
// CHECK:         %[[OR2:.*]] = arith.ori %[[OR1]]
// CHECK:         %[[BITS:.*]] = arith.ori %[[OR2]]
// CHECK-COUNT-18: nvvm.mma.sync
// CHECK:         %[[WAIT:.*]] = arith.andi %[[BITS]], %[[ZERO]]
// CHECK:         llvm.getelementptr %{{.*}}[%[[WAIT]]]
// CHECK-COUNT-6: nvvm.mma.sync
gpu.func @in_sequence(%n: index) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x16xf32, #hla_tile.smem<order = row>>
  %b = hla_tile.slot %ring[%c0] : memref<1x64x16xf32, #hla_tile.smem<order = row>> -> memref<64x16xf32, #hla_tile.smem<order = row>>
  %acc = arith.constant dense<0.0> : !Acc
  %d = hla_tile.dot %b, %b, %acc transpose_lhs : memref<64x16xf32, #hla_tile.smem<order = row>>, memref<64x16xf32, #hla_tile.smem<order = row>> -> !Acc
  gpu.return
}
}
}
