// RUN: hla-opt %s --convert-hla-tile-to-linalg --split-input-file | FileCheck %s

!View = memref<?x32xbf16, strided<[?, 1], offset: ?>>

// A launch is a parallel loop over batches and heads.
// CHECK-LABEL: func @launch
// CHECK-SAME:    %[[B:.*]]: index, %[[H:.*]]: index
// CHECK:         scf.parallel (%[[b:.*]], %[[h:.*]]) = (%{{.*}}, %{{.*}}) to (%[[B]], %[[H]])
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[b]], %[[h]]]
// CHECK-NOT:     hla_tile
func.func @launch(%B: index, %H: index, %m: memref<?x?xf32>, %x: f32) {
  hla_tile.launch (%b, %h) in (%B, %H) schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>) {
    memref.store %x, %m[%b, %h] : memref<?x?xf32>
    hla_tile.return
  }
  return
}

// -----

!View = memref<?x32xbf16, strided<[?, 1], offset: ?>>

// Rows before the view, rows after it: zero. What is inside is copied.
// CHECK-LABEL: func @load
// CHECK-SAME:    %[[VIEW:.*]]: memref<?x32xbf16, {{.*}}>, %[[ROW:.*]]: index
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {{.*}}: memref<16x32xbf16>
// CHECK:         %[[T:.*]] = memref.dim %[[VIEW]]
// CHECK:         %[[LEFT:.*]] = arith.subi %[[T]], %[[ROW]]
// CHECK:         %[[POSITIVE:.*]] = arith.maxsi %[[LEFT]]
// CHECK:         %[[END:.*]] = arith.minsi %[[POSITIVE]]
// CHECK:         %[[ABOVE:.*]] = arith.subi %{{.*}}, %[[ROW]]
// CHECK:         %[[ABOVE0:.*]] = arith.maxsi %[[ABOVE]]
// CHECK:         %[[BEGIN:.*]] = arith.minsi %[[ABOVE0]], %[[END]]
// CHECK:         %[[FROM:.*]] = arith.addi %[[ROW]], %[[BEGIN]]
// CHECK:         %[[ROWS:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK-COUNT-2: linalg.fill
// CHECK:         %[[TARGET:.*]] = memref.subview %[[BUFFER]][%[[BEGIN]], 0] [%[[ROWS]], 32]
// CHECK:         %[[SOURCE:.*]] = memref.subview %[[VIEW]][%[[FROM]], 0] [%[[ROWS]], 32]
// CHECK:         memref.copy %[[SOURCE]], %[[TARGET]]
// CHECK:         %[[TILE:.*]] = bufferization.to_tensor %[[BUFFER]] restrict writable
// CHECK:         return %[[TILE]]
func.func @load(%view: !View, %row: index) -> tensor<16x32xbf16> {
  %t = hla_tile.load %view[%row] : !View -> tensor<16x32xbf16>
  return %t : tensor<16x32xbf16>
}

// -----

// A tile that is all of a static view needs no zeros.
// CHECK-LABEL: func @load_state
// CHECK-NOT:     linalg.fill
// CHECK:         memref.copy
func.func @load_state(%view: memref<64x32xf32>) -> tensor<64x32xf32> {
  %c0 = arith.constant 0 : index
  %t = hla_tile.load %view[%c0] : memref<64x32xf32> -> tensor<64x32xf32>
  return %t : tensor<64x32xf32>
}

// -----

// Columns beyond a narrower view are zero too.
// CHECK-LABEL: func @load_narrow
// CHECK:         linalg.fill
// CHECK:         linalg.fill ins(%{{.*}}) outs(%{{.*}} : memref<8x8xf32, {{.*}}>)
// CHECK:         memref.copy %{{.*}}, %{{.*}} : memref<8x24xf32, {{.*}}> to memref<8x24xf32, {{.*}}>
func.func @load_narrow(%view: memref<8x24xf32>) -> tensor<16x32xf32> {
  %c0 = arith.constant 0 : index
  %t = hla_tile.load %view[%c0] : memref<8x24xf32> -> tensor<16x32xf32>
  return %t : tensor<16x32xf32>
}

// -----

!View = memref<?x32xbf16, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func @store
// CHECK-SAME:    %[[VIEW:.*]]: memref<?x32xbf16, {{.*}}>, %[[ROW:.*]]: index, %[[TILE:.*]]: tensor
// CHECK:         %[[TARGET:.*]] = memref.subview %[[VIEW]][%{{.*}}, 0] [%[[ROWS:.*]], 32]
// CHECK:         %[[VALID:.*]] = tensor.extract_slice %[[TILE]][%{{.*}}, 0] [%[[ROWS]], 32]
// CHECK:         bufferization.materialize_in_destination %[[VALID]] in restrict writable %[[TARGET]]
func.func @store(%view: !View, %row: index, %t: tensor<16x32xbf16>) {
  hla_tile.store %t, %view[%row] : tensor<16x32xbf16>, !View
  return
}

// -----

// Operands are extended to the accumulator's type; a transposed rhs is
// transposed, a transposed lhs is read as it is.
// CHECK: #[[KI:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-LABEL: func @dot
// CHECK-SAME:    %[[X:.*]]: tensor<16x32xbf16>, %[[Y:.*]]: tensor<64x32xbf16>
// CHECK-DAG:     %[[XF:.*]] = arith.extf %[[X]] : tensor<16x32xbf16> to tensor<16x32xf32>
// CHECK-DAG:     %[[YF:.*]] = arith.extf %[[Y]] : tensor<64x32xbf16> to tensor<64x32xf32>
// CHECK:         %[[YT:.*]] = linalg.transpose ins(%[[YF]] : {{.*}}) outs(%{{.*}} : tensor<32x64xf32>) permutation = [1, 0]
// CHECK:         %[[XY:.*]] = linalg.matmul ins(%[[XF]], %[[YT]] : {{.*}}) outs(%{{.*}} : tensor<16x64xf32>)
// CHECK:         linalg.matmul indexing_maps = [#[[KI]], {{.*}}] ins(%[[XF2:.*]], %[[XY]] : {{.*}}) outs(%{{.*}} : tensor<32x64xf32>)
func.func @dot(%x: tensor<16x32xbf16>, %y: tensor<64x32xbf16>, %z: tensor<16x32xf32>, %a: tensor<16x64xf32>, %s: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %xy = hla_tile.dot %x, %y, %a transpose_rhs : tensor<16x32xbf16>, tensor<64x32xbf16> -> tensor<16x64xf32>
  %r = hla_tile.dot %z, %xy, %s transpose_lhs : tensor<16x32xf32>, tensor<16x64xf32> -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// -----

// CHECK-LABEL: func @causal
// CHECK:         linalg.generic
// CHECK:         %[[COL:.*]] = linalg.index 1
// CHECK:         %[[ROW:.*]] = linalg.index 0
// CHECK:         %[[KEPT:.*]] = arith.cmpi sle, %[[COL]], %[[ROW]]
// CHECK:         arith.select %[[KEPT]]
func.func @causal(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = hla_tile.causal lower %x : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
