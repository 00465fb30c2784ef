// Kernels' signatures, views of device memory, copies, stores and barriers.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(convert-hla-tile-to-nvvm,canonicalize,cse))' | FileCheck %s

!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!Buffer = memref<64x64xbf16, #hla_tile.smem<order = row>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!AccT = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>

module attributes {hla.target = #hla.target<"sm_90a">} {
gpu.module @kernels {

// Dynamic shared memory, aligned for every swizzle.
// CHECK: llvm.mlir.global external @[[SHARED:.*]]() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// A memref is a pointer and all strides but the last, an index an i32. What the
// launcher needs stays on the function.
// CHECK-LABEL: llvm.func @signature(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32, %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32)
// CHECK-SAME:    hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>
// CHECK-SAME:    hla_tile.shared_memory = 4096 : i64
// CHECK-SAME:    nvvm.kernel
// CHECK-SAME:    nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-NEXT:    llvm.return
gpu.func @signature(%q: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1]>>, %n: index, %s: memref<64xf32>, %m: index) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.shared_memory = 4096 : i64, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  gpu.return
}

// A block's number, and the matrix of a head: b·stride(0) + h·stride(2) elements
// from the first, in 64 bits.
// CHECK-LABEL: llvm.func @subview(
// CHECK-SAME:    %[[Q:[^:]*]]: !llvm.ptr<1>, %[[S0:[^:]*]]: i64, %{{[^:]*}}: i64, %[[S2:[^:]*]]: i64, %[[H32:[^:]*]]: i32
// CHECK-DAG:     %[[HINDEX:.*]] = arith.index_cast %[[H32]] : i32 to index
// CHECK-DAG:     %[[ID:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK-DAG:     %[[BINDEX:.*]] = arith.index_castui %[[ID]] : i32 to index
// CHECK-DAG:     %[[B:.*]] = arith.index_cast %[[BINDEX]] : index to i64
// CHECK-DAG:     %[[OB:.*]] = arith.muli %[[B]], %[[S0]] : i64
// CHECK-DAG:     %[[H:.*]] = arith.index_cast %[[HINDEX]] : index to i64
// CHECK-DAG:     %[[OH:.*]] = arith.muli %[[H]], %[[S2]] : i64
// CHECK-DAG:     %[[O:.*]] = arith.addi %[[OB]], %[[OH]] : i64
// CHECK:         llvm.getelementptr %[[Q]][%[[O]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
gpu.func @subview(%q: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1]>>, %h: index, %T: index, %buffer: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %b = gpu.block_id x
  %v = memref.subview %q[%b, 0, %h, 0] [1, %T, 1, 64] [1, 1, 1, 1] : memref<?x?x?x64xbf16, strided<[?, ?, ?, 1]>> to !View
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %slot = hla_tile.slot %ring[%b] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !Buffer
  hla_tile.copy_async %v[%h], %slot : !View, !Buffer
  gpu.return
}

// 64×64 elements of 16 bits are 512 pieces of 16 bytes, four for each of 128
// threads. Of a row outside of the view 0 bytes are read, and zeros written: the
// rows inside are what is left of the view, none if it has been passed. A negative
// row is past it: the comparison is unsigned.
// CHECK-LABEL: llvm.func @copy(
// CHECK-SAME:    %[[PTR:[^:]*]]: !llvm.ptr<1>, %[[STRIDE:[^:]*]]: i64, %[[ROWS:[^:]*]]: i64, %[[ROW32:[^:]*]]: i32, %{{[^:]*}}: i32
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : i64
// CHECK-DAG:     %[[ROWINDEX:.*]] = arith.index_cast %[[ROW32]] : i32 to index
// CHECK-DAG:     %[[ROW:.*]] = arith.index_cast %[[ROWINDEX]] : index to i64
// CHECK-DAG:     %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[ROW]] : i64
// CHECK-DAG:     %[[COUNT:.*]] = arith.minui %[[LEFT]], %{{.*}} : i64
// CHECK-DAG:     %[[BEFORE:.*]] = arith.cmpi ult, %[[ROW]], %[[ROWS]] : i64
// CHECK-DAG:     %[[SELECTED:.*]] = arith.select %[[BEFORE]], %[[COUNT]], %[[ZERO]] : i64
// CHECK-DAG:     %[[INSIDE:.*]] = arith.trunci %[[SELECTED]] : i64 to i32
// CHECK-DAG:     %[[R:.*]] = arith.addi %[[ROW]], %{{.*}} : i64
// CHECK-DAG:     %[[RS:.*]] = arith.muli %[[R]], %[[STRIDE]] : i64
// CHECK-DAG:     %[[OFFSET:.*]] = arith.addi %[[RS]], %{{.*}} : i64
// CHECK-DAG:     %[[ADDRESS:.*]] = llvm.getelementptr %[[PTR]][%[[OFFSET]]]
// CHECK-DAG:     %[[ISINSIDE:.*]] = arith.cmpi ult, %{{.*}}, %[[INSIDE]] : i32
// CHECK-DAG:     %[[BYTES:.*]] = arith.select %[[ISINSIDE]], %[[C16]], %[[C0]] : i32
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %[[ADDRESS]], 16, cache = cg, %[[BYTES]]
// CHECK-COUNT-3: nvvm.cp.async.shared.global
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.commit.group
// CHECK-NEXT:    nvvm.cp.async.wait.group 1
// CHECK-NEXT:    nvvm.barrier
gpu.func @copy(%v: memref<?x64xbf16, strided<[?, 1]>>, %row: index, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %ring = hla_tile.alloc at 1024 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
  %slot = hla_tile.slot %ring[%i] : memref<2x64x64xbf16, #hla_tile.smem<order = row>> -> !Buffer
  %c0 = arith.constant 0 : index
  hla_tile.copy_async %v[%row], %slot : memref<?x64xbf16, strided<[?, 1]>>, !Buffer
  hla_tile.copy_commit
  hla_tile.copy_wait 1
  hla_tile.barrier
  gpu.return
}

// A piece of 16 bytes is four f32. Each thread rounds what it has copied, before others
// see it.
// CHECK-LABEL: llvm.func @copy_rounded(
// CHECK-COUNT-4: nvvm.cp.async.shared.global
// CHECK-NOT:     nvvm.cp.async.shared.global
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK:         %[[DATA:.*]] = llvm.load %[[AT:.*]] {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK-COUNT-4: nvvm.convert.float.to.tf32
// CHECK:         llvm.store %{{.*}}, %[[AT]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK-COUNT-12: nvvm.convert.float.to.tf32
// CHECK-NOT:     nvvm.convert.float.to.tf32
// CHECK:         nvvm.barrier
gpu.func @copy_rounded(%v: memref<?x64xf32, strided<[?, 1]>>, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 32, warps = 4, stages = 1, precision = tf32>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x32x64xtf32, #hla_tile.smem<order = row>>
  %slot = hla_tile.slot %ring[%c0] : memref<1x32x64xtf32, #hla_tile.smem<order = row>> -> memref<32x64xtf32, #hla_tile.smem<order = row>>
  hla_tile.copy_async %v[%row], %slot : memref<?x64xf32, strided<[?, 1]>>, memref<32x64xtf32, #hla_tile.smem<order = row>>
  hla_tile.copy_commit
  hla_tile.copy_wait 0
  hla_tile.round %slot : memref<32x64xtf32, #hla_tile.smem<order = row>>
  hla_tile.barrier
  gpu.return
}

// More threads than pieces: 16 rows of 4 pieces for 128 threads.
// CHECK-LABEL: llvm.func @small_copy(
// CHECK:         scf.if
// CHECK:           nvvm.cp.async.shared.global
// CHECK-NOT:       nvvm.cp.async.shared.global
// CHECK:         llvm.return
gpu.func @small_copy(%v: memref<?x32xf16, strided<[?, 1]>>, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 16, warps = 4, stages = 2, precision = f16>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x16x32xf16, #hla_tile.smem<order = row>>
  %slot = hla_tile.slot %ring[%c0] : memref<1x16x32xf16, #hla_tile.smem<order = row>> -> memref<16x32xf16, #hla_tile.smem<order = row>>
  hla_tile.copy_async %v[%row], %slot : memref<?x32xf16, strided<[?, 1]>>, memref<16x32xf16, #hla_tile.smem<order = row>>
  gpu.return
}

// A tile in shared memory is stored 16 bytes at a time, rows outside not at all.
// CHECK-LABEL: llvm.func @store(
// CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT:     llvm.store
// CHECK:         llvm.return
gpu.func @store(%v: memref<?x64xbf16, strided<[?, 1]>>, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %ring = hla_tile.alloc at 0 : memref<1x64x64xbf16, #hla_tile.smem<order = row>>
  %slot = hla_tile.slot %ring[%c0] : memref<1x64x64xbf16, #hla_tile.smem<order = row>> -> !Buffer
  hla_tile.store %slot, %v[%row] : !Buffer, memref<?x64xbf16, strided<[?, 1]>>
  gpu.return
}

// A state is loaded and stored from registers: 32 of 64×64 a thread of 128. It is
// all inside of its matrix: no test.
// CHECK-LABEL: llvm.func @state(
// CHECK-COUNT-32: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NOT:     scf.if
// CHECK-COUNT-32: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT:     llvm.store
// CHECK:         llvm.return
gpu.func @state(%s: memref<?x?x64x64xf32, strided<[?, ?, ?, 1]>>, %b: index, %h: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %v = memref.subview %s[%b, %h, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<?x?x64x64xf32, strided<[?, ?, ?, 1]>> to memref<64x64xf32, strided<[?, 1], offset: ?>>
  %t = hla_tile.load %v[%c0] : memref<64x64xf32, strided<[?, 1], offset: ?>> -> !AccT
  hla_tile.store %t, %v[%c0] : !AccT, memref<64x64xf32, strided<[?, 1], offset: ?>>
  gpu.return
}

// An f32 output of T tokens is tested row by row.
// CHECK-LABEL: llvm.func @wide_output(
// CHECK-COUNT-32: scf.if
// CHECK-NOT:     scf.if
// CHECK:         llvm.return
gpu.func @wide_output(%v: memref<?x64xf32, strided<[?, 1]>>, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %t = arith.constant dense<1.0> : !Acc
  hla_tile.store %t, %v[%row] : !Acc, memref<?x64xf32, strided<[?, 1]>>
  gpu.return
}

// A state that is not of every segment, in a view that has all rows or none: one
// branch around its loads, and one around its stores.
// CHECK-LABEL: llvm.func @absent(
// CHECK:         %[[IS:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[IS]] -> (f32
// CHECK-COUNT-32:  llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:         } else {
// CHECK:         %[[BEFORE:.*]] = arith.cmpi slt
// CHECK:         scf.if %[[BEFORE]] {
// CHECK-COUNT-32:  llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NOT:     scf.if
// CHECK:         llvm.return
gpu.func @absent(%s: memref<?x?x?x64x64xf32>, %b: index, %h: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %j = gpu.block_id z
  %is = arith.cmpi eq, %j, %h : index
  %rows = arith.select %is, %c64, %c0 : index
  %v = memref.subview %s[%j, %b, %h, 0, 0] [1, 1, 1, %rows, 64] [1, 1, 1, 1, 1] : memref<?x?x?x64x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
  %t = hla_tile.load %v[%c0] : memref<?x64xf32, strided<[64, 1], offset: ?>> -> !AccT
  %before = arith.cmpi slt, %j, %h : index
  %stored = arith.select %before, %c64, %c0 : index
  %w = memref.subview %s[%j, %b, %h, 0, 0] [1, 1, 1, %stored, 64] [1, 1, 1, 1, 1] : memref<?x?x?x64x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
  hla_tile.store %t, %w[%c0] : !AccT, memref<?x64xf32, strided<[64, 1], offset: ?>>
  gpu.return
}

// One of two views: its pointer, and its stride.
// CHECK-LABEL: llvm.func @selected(
// CHECK-SAME:    %[[S:[^:]*]]: !llvm.ptr<1>, %{{[^:]*}}: i64, %{{[^:]*}}: i64, %[[STRIDE:[^:]*]]: i64, %[[R:[^:]*]]: !llvm.ptr<1>
// CHECK-DAG:     %[[IS:.*]] = arith.cmpi eq
// CHECK-DAG:     %[[A:.*]] = llvm.getelementptr %[[S]]
// CHECK-DAG:     %[[B:.*]] = llvm.getelementptr %[[R]]
// CHECK-DAG:     arith.select %[[IS]], %[[A]], %[[B]] : !llvm.ptr<1>
// CHECK-DAG:     arith.select %[[IS]], %[[STRIDE]], %{{.*}} : i64
// CHECK-COUNT-32: llvm.load
// CHECK:         llvm.return
gpu.func @selected(%s: memref<?x?x64x64xf32, strided<[?, ?, ?, 1]>>, %r: memref<?x?x?x64x64xf32>, %o: memref<64x64xf32>, %b: index, %h: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %is = arith.cmpi eq, %b, %h : index
  %v = memref.subview %s[%b, %h, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : memref<?x?x64x64xf32, strided<[?, ?, ?, 1]>> to memref<64x64xf32, strided<[?, 1], offset: ?>>
  %w = memref.subview %r[%b, %b, %h, 0, 0] [1, 1, 1, 64, 64] [1, 1, 1, 1, 1] : memref<?x?x?x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
  %x = memref.cast %w : memref<64x64xf32, strided<[64, 1], offset: ?>> to memref<64x64xf32, strided<[?, 1], offset: ?>>
  %y = arith.select %is, %v, %x : memref<64x64xf32, strided<[?, 1], offset: ?>>
  %t = hla_tile.load %y[%c0] : memref<64x64xf32, strided<[?, 1], offset: ?>> -> !AccT
  hla_tile.store %t, %o[%c0] : !AccT, memref<64x64xf32>
  gpu.return
}
}
}
