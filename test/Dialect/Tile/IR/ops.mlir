// Every operation, attribute and option, in its own and in the generic form: what
// is printed is parsed to the same again.

// RUN: hla-opt %s | FileCheck %s
// RUN: hla-opt %s | hla-opt | FileCheck %s
// RUN: hla-opt %s --mlir-print-op-generic | hla-opt | FileCheck %s
// RUN: hla-opt %s --emit-bytecode | hla-opt | FileCheck %s

!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!Tile = tensor<64x64xbf16>
!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Buffer = memref<64x64xbf16, #hla_tile.smem<order = row>>
!Ring = memref<2x64x64xbf16, #hla_tile.smem<order = row>>

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @launch
// CHECK-SAME:    %[[B:.*]]: index, %[[H:.*]]: index
// CHECK:         hla_tile.launch (%[[b:.*]], %[[h:.*]]) in (%[[B]], %[[H]]) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) attributes {tag} {
// CHECK-NEXT:      arith.addi %[[b]], %[[h]] : index
// CHECK-NEXT:      hla_tile.return
// CHECK-NEXT:    }
func.func @launch(%B: index, %H: index) {
  hla_tile.launch (%b, %h) in (%B, %H) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) attributes {tag} {
    %sum = arith.addi %b, %h : index
    hla_tile.return
  }
  return
}

// The end may be left out, and the schedule spelled in full.
// CHECK-LABEL: func @launch_short
// CHECK:         hla_tile.launch (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) schedule(<chunk = 16, warps = 1, stages = 1, precision = f64>) {
// CHECK-NEXT:      hla_tile.return
// CHECK-NEXT:    }
func.func @launch_short(%B: index) {
  hla_tile.launch (%b, %h) in (%B, %B) schedule(#hla.schedule<chunk = 16, warps = 1, stages = 1, precision = f64>) {
  }
  return
}

// CHECK-LABEL: func @load_store
// CHECK:         %[[T:.*]] = hla_tile.load %[[V:.*]][%[[R:.*]]] {tag} : memref<?x64xbf16, strided<[?, 1], offset: ?>> -> tensor<64x64xbf16>
// CHECK:         hla_tile.store %[[T]], %[[V]][%[[R]]] {tag} : tensor<64x64xbf16>, memref<?x64xbf16, strided<[?, 1], offset: ?>>
// CHECK:         hla_tile.store %{{.*}}, %[[V]][%[[R]]] : memref<64x64xbf16, #hla_tile.smem<order = row>>, memref<?x64xbf16, strided<[?, 1], offset: ?>>
func.func @load_store(%v: !View, %r: index, %b: !Buffer) {
  %t = hla_tile.load %v[%r] {tag} : !View -> !Tile
  hla_tile.store %t, %v[%r] {tag} : !Tile, !View
  hla_tile.store %b, %v[%r] : !Buffer, !View
  return
}

// CHECK-LABEL: func @dot
// CHECK:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xbf16>, tensor<64x32xbf16> -> tensor<64x32xf32>
// CHECK:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_lhs transpose_rhs {tag} : tensor<64x64xbf16>, tensor<32x64xbf16> -> tensor<64x32xf32>
// CHECK:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_rhs : memref<64x64xbf16, #hla_tile.smem<order = row>>, tensor<32x64xbf16> -> tensor<64x32xf32>
// CHECK:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} transpose_lhs : tensor<8x4xf64>, tensor<8x4xf64> -> tensor<4x4xf64>
func.func @dot(%a: !Tile, %b: tensor<64x32xbf16>, %bt: tensor<32x64xbf16>, %m: !Buffer, %c: tensor<64x32xf32>, %x: tensor<8x4xf64>, %y: tensor<4x4xf64>) {
  %0 = hla_tile.dot %a, %b, %c : !Tile, tensor<64x32xbf16> -> tensor<64x32xf32>
  %1 = hla_tile.dot %a, %bt, %c transpose_lhs transpose_rhs {tag} : !Tile, tensor<32x64xbf16> -> tensor<64x32xf32>
  %2 = hla_tile.dot %m, %bt, %c transpose_rhs : !Buffer, tensor<32x64xbf16> -> tensor<64x32xf32>
  %3 = hla_tile.dot %x, %x, %y transpose_lhs : tensor<8x4xf64>, tensor<8x4xf64> -> tensor<4x4xf64>
  return
}

// Operands of several types.
// CHECK-LABEL: func @mixed_dot
// CHECK:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xf16>, tensor<64x32xtf32> -> tensor<64x32xf32>
// CHECK:         hla_tile.dot bf16x3 %{{.*}}, %{{.*}}, %{{.*}} transpose_lhs {tag} : tensor<64x64xbf16>, memref<64x32xf32, #hla_tile.smem<order = col>> -> tensor<64x32xf32>
// CHECK:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf64> -> tensor<4x4xf64>
func.func @mixed_dot(%a: tensor<64x64xf16>, %b: tensor<64x32xtf32>, %k: !Tile, %m: memref<64x32xf32, #hla_tile.smem<order = col>>, %c: tensor<64x32xf32>, %x: tensor<4x4xf32>, %y: tensor<4x4xf64>) {
  %0 = hla_tile.dot %a, %b, %c : tensor<64x64xf16>, tensor<64x32xtf32> -> tensor<64x32xf32>
  %1 = hla_tile.dot bf16x3 %k, %m, %c transpose_lhs {tag} : !Tile, memref<64x32xf32, #hla_tile.smem<order = col>> -> tensor<64x32xf32>
  %2 = hla_tile.dot %x, %y, %y : tensor<4x4xf32>, tensor<4x4xf64> -> tensor<4x4xf64>
  return
}

// A view of rank 1 is a column.
// CHECK-LABEL: func @column
// CHECK:         %[[T:.*]] = hla_tile.load %{{.*}}[%{{.*}}] : memref<?xf32, strided<[?], offset: ?>> -> tensor<64x1xf32>
// CHECK:         hla_tile.store %[[T]], %{{.*}}[%{{.*}}] : tensor<64x1xf32>, memref<?xf32>
func.func @column(%v: memref<?xf32, strided<[?], offset: ?>>, %w: memref<?xf32>, %r: index) {
  %t = hla_tile.load %v[%r] : memref<?xf32, strided<[?], offset: ?>> -> tensor<64x1xf32>
  hla_tile.store %t, %w[%r] : tensor<64x1xf32>, memref<?xf32>
  return
}

//===----------------------------------------------------------------------===//
// Decays and rows
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @sums
// CHECK:         hla_tile.prefix_sum %{{.*}} {tag} : tensor<64x1xf32> -> tensor<64x1xf64>
// CHECK:         hla_tile.prefix_sum %{{.*}} : tensor<8x1xf64> -> tensor<8x1xf64>
// CHECK:         hla_tile.ramp %{{.*}}[%{{.*}}] {tag} : tensor<64x1xf64>
func.func @sums(%g: tensor<64x1xf32>, %h: tensor<8x1xf64>, %x: f64, %n: index) {
  %0 = hla_tile.prefix_sum %g {tag} : tensor<64x1xf32> -> tensor<64x1xf64>
  %1 = hla_tile.prefix_sum %h : tensor<8x1xf64> -> tensor<8x1xf64>
  %2 = hla_tile.ramp %x[%n] {tag} : tensor<64x1xf64>
  return
}

// CHECK-LABEL: func @causal
// CHECK:         hla_tile.causal lower %{{.*}} : tensor<64x64xf32>{{$}}
// CHECK:         hla_tile.causal upper strict %{{.*}} by %{{.*}} {tag} : tensor<64x64xf32>, tensor<64x1xf64>
func.func @causal(%x: tensor<64x64xf32>, %G: tensor<64x1xf64>) {
  %0 = hla_tile.causal lower %x : tensor<64x64xf32>
  %1 = hla_tile.causal upper strict %x by %G {tag} : tensor<64x64xf32>, tensor<64x1xf64>
  return
}

// CHECK-LABEL: func @decay
// CHECK:         hla_tile.decay through %{{.*}} by %{{.*}} {tag} : tensor<64x128xf32>, tensor<64x1xf64>
// CHECK:         hla_tile.decay before
// CHECK:         hla_tile.decay after
// CHECK:         hla_tile.decay from
// CHECK:         hla_tile.decay all %{{.*}} by %{{.*}} : tensor<32x8xf32>, tensor<64x1xf64>
func.func @decay(%x: tensor<64x128xf32>, %s: tensor<32x8xf32>, %G: tensor<64x1xf64>) {
  %0 = hla_tile.decay through %x by %G {tag} : tensor<64x128xf32>, tensor<64x1xf64>
  %1 = hla_tile.decay before %x by %G : tensor<64x128xf32>, tensor<64x1xf64>
  %2 = hla_tile.decay after %x by %G : tensor<64x128xf32>, tensor<64x1xf64>
  %3 = hla_tile.decay from %x by %G : tensor<64x128xf32>, tensor<64x1xf64>
  %4 = hla_tile.decay all %s by %G : tensor<32x8xf32>, tensor<64x1xf64>
  return
}

// A run has a slice where the schedule has several; loads and stores are of it.
// CHECK-LABEL: func @slices
// CHECK:         hla_tile.launch (%{{.*}}, %{{.*}}, %[[Z:.*]]) in (%{{.*}}, %{{.*}}) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
// CHECK:           %[[T:.*]] = hla_tile.load %[[V:.*]][%[[R:.*]]] slice %[[Z]] : memref<?x160xbf16> -> tensor<64x128xbf16>
// CHECK:           hla_tile.store %[[T]], %[[V]][%[[R]]] slice %[[Z]] : tensor<64x128xbf16>, memref<?x160xbf16>
func.func @slices(%v: memref<?x160xbf16>, %n: index) {
  hla_tile.launch (%b, %h, %z) in (%n, %n) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
    %t = hla_tile.load %v[%n] slice %z : memref<?x160xbf16> -> tensor<64x128xbf16>
    hla_tile.store %t, %v[%n] slice %z : tensor<64x128xbf16>, memref<?x160xbf16>
  }
  return
}

// CHECK-LABEL: func @rows
// CHECK:         hla_tile.mask rows %{{.*}}[%{{.*}}] {tag} : tensor<64x32xbf16>
// CHECK:         hla_tile.mask cols %{{.*}}[%{{.*}}] : tensor<64x32xbf16>
// CHECK:         hla_tile.sum_rows %{{.*}} {tag} : tensor<64x32xbf16> -> tensor<64x1xf32>
// CHECK:         hla_tile.broadcast %{{.*}} {tag} : tensor<64x1xf32> -> tensor<64x32xf32>
func.func @rows(%x: tensor<64x32xbf16>, %c: tensor<64x1xf32>, %n: index) {
  %0 = hla_tile.mask rows %x[%n] {tag} : tensor<64x32xbf16>
  %3 = hla_tile.mask cols %x[%n] : tensor<64x32xbf16>
  %1 = hla_tile.sum_rows %x {tag} : tensor<64x32xbf16> -> tensor<64x1xf32>
  %2 = hla_tile.broadcast %c {tag} : tensor<64x1xf32> -> tensor<64x32xf32>
  return
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @convert_layout
// CHECK:         hla_tile.convert_layout %{{.*}} {tag} : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
func.func @convert_layout(%t: !Frag) {
  %0 = hla_tile.convert_layout %t {tag} : !Frag -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
  return
}

// A fragment says only what is not usual; any element type may be one.
// CHECK-LABEL: func @layouts
// CHECK-SAME:    tensor<64x128xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1, transposed = true>>
// CHECK-SAME:    tensor<32x32xf16, #hla_tile.frag<rowWarps = 2, colWarps = 4>>
// CHECK-SAME:    tensor<64x64xf64, #hla_tile.frag<rowWarps = 1, colWarps = 1>>
// CHECK-SAME:    tensor<16x8xf16, #hla_tile.smem<order = col>>
// CHECK-SAME:    memref<1x16x8xf16, #hla_tile.smem<order = col>>
func.func @layouts(%a: tensor<64x128xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1, transposed = true>>,
                   %b: tensor<32x32xf16, #hla_tile.frag<transposed = false, rowWarps = 2, colWarps = 4>>,
                   %c: tensor<64x64xf64, #hla_tile.frag<rowWarps = 1, colWarps = 1>>,
                   %d: tensor<16x8xf16, #hla_tile.smem<order = col>>,
                   %e: memref<1x16x8xf16, #hla_tile.smem<order = col>>) {
  return
}

//===----------------------------------------------------------------------===//
// Scheduled operations
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @buffers
// CHECK:         %[[RING:.*]] = hla_tile.alloc at 16384 {tag} : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[SLOT:.*]] = hla_tile.slot %[[RING]][%{{.*}}] {tag} : memref<2x64x64xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         hla_tile.copy_async %{{.*}}[%{{.*}}], %[[SLOT]] {tag} : memref<?x64xbf16, strided<[?, 1], offset: ?>>, memref<64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         hla_tile.copy_commit {tag}
// CHECK:         hla_tile.copy_wait 1 {tag}
// CHECK:         hla_tile.barrier {tag}
// CHECK:         %[[T:.*]] = hla_tile.read %[[SLOT]] {tag} : memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
// CHECK:         hla_tile.write %[[T]], %[[SLOT]] {tag} : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>, memref<64x64xbf16, #hla_tile.smem<order = row>>
func.func @buffers(%v: !View, %r: index, %i: index) {
  %ring = hla_tile.alloc at 16384 {tag} : !Ring
  %slot = hla_tile.slot %ring[%i] {tag} : !Ring -> !Buffer
  hla_tile.copy_async %v[%r], %slot {tag} : !View, !Buffer
  hla_tile.copy_commit {tag}
  hla_tile.copy_wait 1 {tag}
  hla_tile.barrier {tag}
  %t = hla_tile.read %slot {tag} : !Buffer -> !Frag
  hla_tile.write %t, %slot {tag} : !Frag, !Buffer
  return
}

// A load that rounds, and how its copies are rounded.
// CHECK-LABEL: func @rounded
// CHECK:         hla_tile.load %{{.*}}[%{{.*}}] : memref<?x64xf32> -> tensor<64x64xtf32>
// CHECK:         hla_tile.copy_async %{{.*}}[%{{.*}}], %[[B:.*]] : memref<?x64xf32>, memref<64x64xtf32, #hla_tile.smem<order = row>>
// CHECK:         hla_tile.round %[[B]] {tag} : memref<64x64xtf32, #hla_tile.smem<order = row>>
func.func @rounded(%v: memref<?x64xf32>, %r: index, %b: memref<64x64xtf32, #hla_tile.smem<order = row>>) {
  %t = hla_tile.load %v[%r] : memref<?x64xf32> -> tensor<64x64xtf32>
  hla_tile.copy_async %v[%r], %b : memref<?x64xf32>, memref<64x64xtf32, #hla_tile.smem<order = row>>
  hla_tile.round %b {tag} : memref<64x64xtf32, #hla_tile.smem<order = row>>
  return
}

// A part of a head's work, where there is a third bound, comes before the slice.
// CHECK-LABEL: func @parts
// CHECK:         hla_tile.launch (%{{.*}}, %{{.*}}, %[[P:.*]]) in (%{{.*}}, %{{.*}}, %{{.*}}) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
// CHECK:         hla_tile.launch (%{{.*}}, %{{.*}}, %{{.*}}, %[[Z:.*]]) in (%{{.*}}, %{{.*}}, %{{.*}}) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
// CHECK:           hla_tile.load %{{.*}}[%{{.*}}] slice %[[Z]]
func.func @parts(%v: memref<?x160xbf16>, %n: index) {
  hla_tile.launch (%b, %h, %p) in (%n, %n, %n) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
    %t = hla_tile.load %v[%p] : memref<?x160xbf16> -> tensor<64x128xbf16>
  }
  hla_tile.launch (%b, %h, %p, %z) in (%n, %n, %n) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
    %t = hla_tile.load %v[%p] slice %z : memref<?x160xbf16> -> tensor<64x128xbf16>
  }
  return
}
