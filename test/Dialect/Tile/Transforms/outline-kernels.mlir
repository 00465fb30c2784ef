// RUN: hla-opt %s --hla-tile-outline-kernels --split-input-file | FileCheck %s

// The function launches a grid of blocks, one a head; what the program uses is
// passed, and constants move along.
// CHECK:       module attributes {gpu.container_module}
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[V:.*]]: memref<?x64xbf16>, %[[B:.*]]: index, %[[H:.*]]: index, %[[T:.*]]: index
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// CHECK:         gpu.launch_func @f_kernels::@f_kernel blocks in (%[[B]], %[[H]], %[[ONE]]) threads in (%[[THREADS]], %[[ONE]], %[[ONE]])
// CHECK-SAME:      args(%[[T]] : index, %[[V]] : memref<?x64xbf16>)
// CHECK-NOT:     hla_tile.launch

// Block (b, h) is head h of batch b.
// CHECK:       gpu.module @f_kernels
// CHECK:         gpu.func @f_kernel(%[[KT:.*]]: index, %[[KV:.*]]: memref<?x64xbf16>) kernel
// CHECK-SAME:      hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>
// CHECK-SAME:      known_block_size = array<i32: 128, 1, 1>
// CHECK-DAG:       %[[b:.*]] = gpu.block_id x
// CHECK-DAG:       %[[h:.*]] = gpu.block_id y
// CHECK-DAG:       %[[C:.*]] = arith.constant 7 : index
// CHECK:           %[[ROW:.*]] = arith.addi %[[b]], %[[h]]
// CHECK:           arith.muli %[[ROW]], %[[C]]
// CHECK:           arith.cmpi slt, %{{.*}}, %[[KT]]
// CHECK:           hla_tile.load %[[KV]]
// CHECK:           gpu.return
func.func @f(%v: memref<?x64xbf16>, %B: index, %H: index, %T: index) {
  %c7 = arith.constant 7 : index
  hla_tile.launch (%b, %h) in (%B, %H) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
    %row = arith.addi %b, %h : index
    %x = arith.muli %row, %c7 : index
    %c = arith.cmpi slt, %x, %T : index
    %t = hla_tile.load %v[%x] : memref<?x64xbf16> -> tensor<64x64xbf16>
    hla_tile.return
  }
  return
}

// -----

// The launches of one function share a module, in order; each function has its own.
// CHECK-LABEL: func.func @first(
// CHECK:         gpu.launch_func @first_kernels::@first_kernel
// CHECK-SAME:      threads in (%c64
// CHECK:         gpu.launch_func @first_kernels::@[[SECOND:first_kernel_.*]] blocks
// CHECK-SAME:      threads in (%c32
// CHECK-LABEL: func.func @second(
// CHECK:         gpu.launch_func @second_kernels::@second_kernel
// CHECK-DAG:   gpu.module @first_kernels
// CHECK-DAG:   gpu.func @first_kernel(
// CHECK-DAG:   gpu.func @[[SECOND]](
// CHECK-DAG:   gpu.module @second_kernels
func.func @first(%B: index) {
  hla_tile.launch (%b, %h) in (%B, %B) schedule(<chunk = 64, warps = 2, stages = 2, precision = bf16>) {
  }
  hla_tile.launch (%b, %h) in (%B, %B) schedule(<chunk = 64, warps = 1, stages = 2, precision = bf16>) {
  }
  return
}
func.func @second(%B: index) {
  hla_tile.launch (%b, %h) in (%B, %B) schedule(<chunk = 64, warps = 1, stages = 2, precision = bf16>) {
  }
  return
}

// -----

// A symbol that has the module's name already.
// CHECK-LABEL: func.func @f(
// CHECK:         gpu.launch_func @[[MODULE:f_kernels_.*]]::@f_kernel
// CHECK:       func private @f_kernels()
// CHECK:       gpu.module @[[MODULE]]
func.func @f(%B: index) {
  hla_tile.launch (%b, %h) in (%B, %B) schedule(<chunk = 64, warps = 1, stages = 2, precision = bf16>) {
  }
  return
}
func.func private @f_kernels()

// -----

// Nothing to outline: nothing changes.
// CHECK:       module {
// CHECK-NEXT:    func.func @g
func.func @g(%B: index) {
  return
}

// -----

// Parts are the grid's z, or, with slices, runs of slices in it.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[V:[^ ,:)]*]]: memref<?x64xbf16>, %[[N:[^ ,:)]*]]: index
// CHECK:         gpu.launch_func @parts_kernels::@parts_kernel blocks in (%[[N]], %[[N]], %[[N]])
// CHECK:         %[[Z:.*]] = arith.muli %[[N]], %c2
// CHECK:         gpu.launch_func @parts_kernels::@{{.*}} blocks in (%[[N]], %[[N]], %[[Z]])
// CHECK:         gpu.func @parts_kernel(
// CHECK:           %[[P:.*]] = gpu.block_id z
// CHECK:           hla_tile.load %{{.*}}[%[[P]]]
// CHECK:         gpu.func
// CHECK:           %[[PZ:.*]] = gpu.block_id z
// CHECK-DAG:       %[[S:.*]] = arith.remui %[[PZ]], %c2
// CHECK-DAG:       %[[P:.*]] = arith.divui %[[PZ]], %c2
// CHECK:           hla_tile.load %{{.*}}[%[[P]]] slice %[[S]]
func.func @parts(%v: memref<?x64xbf16>, %N: index) {
  hla_tile.launch (%b, %h, %p) in (%N, %N, %N) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
    %t = hla_tile.load %v[%p] : memref<?x64xbf16> -> tensor<64x64xbf16>
  }
  hla_tile.launch (%b, %h, %p, %s) in (%N, %N, %N) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
    %t = hla_tile.load %v[%p] slice %s : memref<?x64xbf16> -> tensor<64x32xbf16>
  }
  return
}
