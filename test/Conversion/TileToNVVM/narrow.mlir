// Views with fewer columns than their tiles: copies of as many bytes as divide a row.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm,canonicalize,cse))' | FileCheck %s

!Buffer = memref<32x32xbf16, #hla_tile.smem<order = row>>
!Ring = memref<1x32x32xbf16, #hla_tile.smem<order = row>>
!View20 = memref<?x20xbf16, strided<[?, 1], offset: ?>>
!View3 = memref<?x3xbf16, strided<[?, 1], offset: ?>>
!State = memref<20x3xf32, strided<[?, 1], offset: ?>>
!Acc = tensor<32x32xf32, #hla_tile.frag<rowWarps = 2, colWarps = 1>>

module attributes {hla.target = #hla.target<"sm_90a">} {
gpu.module @kernels {

// Rows of 40 bytes: pieces of 8. 32 rows of eight such, for 64 threads that copy 16
// bytes of two rows; columns from 20 on are filled with zeros.
// CHECK-LABEL: llvm.func @copy_by_8(
// CHECK-DAG:     %[[C20:.*]] = arith.constant 20 : i32
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : i32
// CHECK-DAG:     %[[FIRST:.*]] = arith.cmpi ult, %[[COL:.*]], %[[C20]] : i32
// CHECK-DAG:     %[[INSIDE:.*]] = arith.andi %{{.*}}, %[[FIRST]] : i1
// CHECK-DAG:     %[[BYTES:.*]] = arith.select %[[INSIDE]], %[[C8]], %{{.*}} : i32
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca, %[[BYTES]]
// CHECK-COUNT-3: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca, %{{.*}}
// CHECK-NOT:     nvvm.cp.async.shared.global
gpu.func @copy_by_8(%v: memref<?x?x?x20xbf16, strided<[?, ?, ?, 1]>>, %i: index, %T: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16>} {
  %view = memref.subview %v[%i, 0, %i, 0] [1, %T, 1, 20] [1, 1, 1, 1] : memref<?x?x?x20xbf16, strided<[?, ?, ?, 1]>> to !View20
  %ring = hla_tile.alloc at 0 : !Ring
  %slot = hla_tile.slot %ring[%i] : !Ring -> !Buffer
  hla_tile.copy_async %view[%i], %slot : !View20, !Buffer
  gpu.return
}

// Rows of 6 bytes: no instruction copies two bytes, so they are loaded and stored.
// CHECK-LABEL: llvm.func @copy_by_2(
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         %[[DATA:.*]] = scf.if %{{.*}} -> (i16) {
// CHECK:           llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK:         llvm.store %[[DATA]], %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
gpu.func @copy_by_2(%v: memref<?x?x?x3xbf16, strided<[?, ?, ?, 1]>>, %i: index, %T: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16>} {
  %view = memref.subview %v[%i, 0, %i, 0] [1, %T, 1, 3] [1, 1, 1, 1] : memref<?x?x?x3xbf16, strided<[?, ?, ?, 1]>> to !View3
  %ring = hla_tile.alloc at 0 : !Ring
  %slot = hla_tile.slot %ring[%i] : !Ring -> !Buffer
  hla_tile.copy_async %view[%i], %slot : !View3, !Buffer
  gpu.return
}

// Nothing is stored after the last column.
// CHECK-LABEL: llvm.func @store_by_8(
// CHECK:         %[[INSIDE:.*]] = arith.andi
// CHECK:         scf.if %[[INSIDE]] {
// CHECK-NEXT:      %[[DATA:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xi32>
// CHECK-NEXT:      llvm.store %[[DATA]], %{{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
gpu.func @store_by_8(%v: memref<?x?x?x20xbf16, strided<[?, ?, ?, 1]>>, %i: index, %T: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16>} {
  %view = memref.subview %v[%i, 0, %i, 0] [1, %T, 1, 20] [1, 1, 1, 1] : memref<?x?x?x20xbf16, strided<[?, ?, ?, 1]>> to !View20
  %ring = hla_tile.alloc at 0 : !Ring
  %slot = hla_tile.slot %ring[%i] : !Ring -> !Buffer
  hla_tile.store %slot, %view[%i] : !Buffer, !View20
  gpu.return
}

// Two slices of 32 columns of which there are 40: the column counts from the slice's
// first. Of 64 there would be no test.
// CHECK-LABEL: llvm.func @slice(
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : i32
// CHECK-DAG:     %[[ID:.*]] = nvvm.read.ptx.sreg.ctaid.z
// CHECK-DAG:     %[[FIRST:.*]] = arith.muli %{{.*}}, %c32_i32
// CHECK-DAG:     %[[COL:.*]] = arith.addi %[[FIRST]], %{{.*}} : i32
// CHECK-DAG:     arith.cmpi ult, %[[COL]], %[[C40]] : i32
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}}
gpu.func @slice(%v: memref<?x?x?x40xbf16, strided<[?, ?, ?, 1]>>, %i: index, %T: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16, slices = 2>} {
  %z = gpu.block_id z
  %view = memref.subview %v[%i, 0, %i, 0] [1, %T, 1, 40] [1, 1, 1, 1] : memref<?x?x?x40xbf16, strided<[?, ?, ?, 1]>> to memref<?x40xbf16, strided<[?, 1], offset: ?>>
  %ring = hla_tile.alloc at 0 : !Ring
  %slot = hla_tile.slot %ring[%i] : !Ring -> !Buffer
  hla_tile.copy_async %view[%i] slice %z, %slot : memref<?x40xbf16, strided<[?, 1], offset: ?>>, !Buffer
  gpu.return
}

// A slice may lie after the last column: of four of 32 the last, where there are 96.
// CHECK-LABEL: llvm.func @slice_outside(
// CHECK-DAG:     %[[C96:.*]] = arith.constant 96 : i32
// CHECK-DAG:     arith.cmpi ult, %{{.*}}, %[[C96]] : i32
// CHECK:         nvvm.cp.async.shared.global
gpu.func @slice_outside(%v: memref<?x?x?x96xbf16, strided<[?, ?, ?, 1]>>, %i: index, %T: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16, slices = 4>} {
  %z = gpu.block_id z
  %view = memref.subview %v[%i, 0, %i, 0] [1, %T, 1, 96] [1, 1, 1, 1] : memref<?x?x?x96xbf16, strided<[?, ?, ?, 1]>> to memref<?x96xbf16, strided<[?, 1], offset: ?>>
  %ring = hla_tile.alloc at 0 : !Ring
  %slot = hla_tile.slot %ring[%i] : !Ring -> !Buffer
  hla_tile.copy_async %view[%i] slice %z, %slot : memref<?x96xbf16, strided<[?, 1], offset: ?>>, !Buffer
  gpu.return
}

// Of a fragment each element is tested for its row and its column.
// CHECK-LABEL: llvm.func @state(
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i64
// CHECK-DAG:     %[[ROW:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i64
// CHECK-DAG:     %[[COL:.*]] = arith.cmpi ult, %{{.*}}, %[[C3]] : i64
// CHECK-DAG:     %[[INSIDE:.*]] = arith.andi %[[ROW]], %[[COL]] : i1
// CHECK:         scf.if %[[INSIDE]] -> (f32) {
gpu.func @state(%v: memref<?x?x20x3xf32, strided<[?, ?, ?, 1]>>, %i: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %view = memref.subview %v[%i, %i, 0, 0] [1, 1, 20, 3] [1, 1, 1, 1] : memref<?x?x20x3xf32, strided<[?, ?, ?, 1]>> to !State
  %tile = hla_tile.load %view[%c0] : !State -> !Acc
  hla_tile.store %tile, %view[%c0] : !Acc, !State
  gpu.return
}

}
}
