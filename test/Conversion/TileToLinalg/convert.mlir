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

// tf32 is an f32 with fewer bits: half of the last one is added to the bits, the rest
// cut off; NaN stays.
// CHECK-LABEL: func @tf32
// CHECK-SAME:    %[[X:.*]]: tensor<16x32xf32>, %[[Y:.*]]: tensor<32x64xf16>
// CHECK:         %[[ROUNDED:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<16x32xf32>)
// CHECK:         ^bb0(%[[E:.*]]: f32, %{{.*}}: f32):
// CHECK-DAG:       %[[HALF:.*]] = arith.constant 4096 : i32
// CHECK-DAG:       %[[MASK:.*]] = arith.constant -8192 : i32
// CHECK-DAG:       %[[BITS:.*]] = arith.bitcast %[[E]] : f32 to i32
// CHECK-DAG:       %[[UP:.*]] = arith.addi %[[BITS]], %[[HALF]]
// CHECK-DAG:       %[[CUT:.*]] = arith.andi %[[UP]], %[[MASK]]
// CHECK-DAG:       %[[R:.*]] = arith.bitcast %[[CUT]] : i32 to f32
// CHECK-DAG:       %[[NAN:.*]] = arith.cmpf uno, %[[E]], %[[E]]
// CHECK:           %[[OUT:.*]] = arith.select %[[NAN]], %[[E]], %[[R]]
// CHECK:           linalg.yield %[[OUT]]
// CHECK-DAG:     %[[YF:.*]] = arith.extf %[[Y]] : tensor<32x64xf16> to tensor<32x64xf32>
// CHECK:         linalg.matmul ins(%[[ROUNDED]], %[[YF]] : {{.*}})
func.func @tf32(%x: tensor<16x32xf32>, %y: tensor<32x64xf16>, %a: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x32xf32>) {
  %t = arith.truncf %x to_nearest_away : tensor<16x32xf32> to tensor<16x32xtf32>
  %r = hla_tile.dot %t, %y, %a : tensor<16x32xtf32>, tensor<32x64xf16> -> tensor<16x64xf32>
  %w = arith.extf %t : tensor<16x32xtf32> to tensor<16x32xf32>
  return %r, %w : tensor<16x64xf32>, tensor<16x32xf32>
}

// -----

// A load that rounds: what it has copied, and zeros.
// CHECK-LABEL: func @load_tf32
// CHECK:         memref.copy
// CHECK:         %[[T:.*]] = bufferization.to_tensor %{{.*}} restrict writable : memref<16x32xf32> to tensor<16x32xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[T]] : tensor<16x32xf32>)
// CHECK:         linalg.matmul
func.func @load_tf32(%view: memref<?x32xf32>, %row: index, %a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %t = hla_tile.load %view[%row] : memref<?x32xf32> -> tensor<16x32xtf32>
  %r = hla_tile.dot %t, %t, %a transpose_rhs : tensor<16x32xtf32>, tensor<16x32xtf32> -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// The parts of an f32 are its nearest bf16 and that of the rest; bf16 has one part, and
// of the four products of parts the lowest is left out.
// CHECK-LABEL: func @bf16x3
// CHECK-SAME:    %[[X:.*]]: tensor<16x32xf32>, %[[Y:.*]]: tensor<32x64xf32>, %[[Z:.*]]: tensor<16x16xbf16>, %[[A:.*]]: tensor<16x64xf32>
// CHECK:         %[[XB:.*]] = arith.truncf %[[X]] : tensor<16x32xf32> to tensor<16x32xbf16>
// CHECK:         %[[XH:.*]] = arith.extf %[[XB]]
// CHECK:         %[[XR:.*]] = arith.subf %[[X]], %[[XH]]
// CHECK:         %[[XRB:.*]] = arith.truncf %[[XR]]
// CHECK:         %[[XL:.*]] = arith.extf %[[XRB]]
// CHECK:         %[[YB:.*]] = arith.truncf %[[Y]]
// CHECK:         %[[YH:.*]] = arith.extf %[[YB]]
// CHECK:         %[[YL:.*]] = arith.extf
// CHECK:         %[[LH:.*]] = linalg.matmul ins(%[[XL]], %[[YH]] : {{.*}}) outs(%[[A]] :
// CHECK:         %[[HL:.*]] = linalg.matmul ins(%[[XH]], %[[YL]] : {{.*}}) outs(%[[LH]] :
// CHECK:         linalg.matmul ins(%[[XH]], %[[YH]] : {{.*}}) outs(%[[HL]] :
// CHECK:         %[[ZF:.*]] = arith.extf %[[Z]]
// CHECK:         linalg.matmul ins(%[[ZF]], %{{.*}} : {{.*}})
// CHECK:         linalg.matmul ins(%[[ZF]], %{{.*}} : {{.*}})
// CHECK-NOT:     linalg.matmul
func.func @bf16x3(%x: tensor<16x32xf32>, %y: tensor<32x64xf32>, %z: tensor<16x16xbf16>, %a: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %xy = hla_tile.dot bf16x3 %x, %y, %a : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %r = hla_tile.dot bf16x3 %z, %xy, %a : tensor<16x16xbf16>, tensor<16x64xf32> -> tensor<16x64xf32>
  return %r : tensor<16x64xf32>
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
