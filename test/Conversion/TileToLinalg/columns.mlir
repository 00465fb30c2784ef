// Columns: numbers of tokens, sums of log-decays, and what they scale.

// RUN: hla-opt %s --convert-hla-tile-to-linalg --canonicalize --split-input-file | FileCheck %s

!Column = memref<?xf32, strided<[?], offset: ?>>

// Number by number: zero outside of the view.
// CHECK-LABEL: func @load
// CHECK-SAME:    %[[VIEW:.*]]: memref<?xf32, {{.*}}>, %[[ROW:.*]]: index
// CHECK:         %[[BUFFER:.*]] = memref.alloc() {{.*}}: memref<16x1xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK:           %[[FROM:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[FROM]], %{{.*}}
// CHECK:           %[[X:.*]] = scf.if %[[INSIDE]]
// CHECK:             memref.load %[[VIEW]][%[[FROM]]]
// CHECK:           } else {
// CHECK:             scf.yield %cst
// CHECK:           memref.store %[[X]], %[[BUFFER]][%[[I]], %c0]
// CHECK:         bufferization.to_tensor %[[BUFFER]] restrict writable
func.func @load(%view: !Column, %row: index) -> tensor<16x1xf32> {
  %t = hla_tile.load %view[%row] : !Column -> tensor<16x1xf32>
  return %t : tensor<16x1xf32>
}

// -----

!Column = memref<?xf32, strided<[?], offset: ?>>

// CHECK-LABEL: func @store
// CHECK-SAME:    %[[VIEW:.*]]: memref<?xf32, {{.*}}>, %[[ROW:.*]]: index, %[[TILE:.*]]: tensor
// CHECK:         scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK:           %[[TO:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[TO]], %{{.*}}
// CHECK:           scf.if %[[INSIDE]]
// CHECK:             %[[X:.*]] = tensor.extract %[[TILE]][%[[I]], %c0]
// CHECK:             memref.store %[[X]], %[[VIEW]][%[[TO]]]
func.func @store(%view: !Column, %row: index, %t: tensor<16x1xf32>) {
  hla_tile.store %t, %view[%row] : tensor<16x1xf32>, !Column
  return
}

// -----

// One after the other, in f64, none below the bound.
// CHECK-LABEL: func @prefix_sum
// CHECK-SAME:    %[[G:.*]]: tensor<16x1xf32>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant -1.000000e+03 : f64
// CHECK:         scf.for %[[I:.*]] = %c0 to %c16 step %c1 iter_args(%[[SUM:.*]] = %[[ZERO]])
// CHECK:           %[[X:.*]] = tensor.extract %[[G]][%[[I]], %c0]
// CHECK:           %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
// CHECK:           %[[MAX:.*]] = arith.maximumf %[[WIDE]], %[[LEAST]]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]], %[[MAX]]
// CHECK:           memref.store %[[NEXT]], %{{.*}}[%[[I]], %c0] : memref<16x1xf64>
// CHECK:           scf.yield %[[NEXT]]
func.func @prefix_sum(%g: tensor<16x1xf32>) -> tensor<16x1xf64> {
  %G = hla_tile.prefix_sum %g : tensor<16x1xf32> -> tensor<16x1xf64>
  return %G : tensor<16x1xf64>
}

// -----

// CHECK-LABEL: func @ramp
// CHECK-SAME:    %[[G:.*]]: f64, %[[N:.*]]: index
// CHECK:         %[[MAX:.*]] = arith.maximumf %[[G]], %{{.*}} : f64
// CHECK:         scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK:           %[[COUNT:.*]] = arith.minsi %[[NEXT]], %[[N]]
// CHECK:           %[[F:.*]] = arith.sitofp
// CHECK:           arith.mulf %[[MAX]], %[[F]] : f64
func.func @ramp(%g: f64, %n: index) -> tensor<16x1xf64> {
  %G = hla_tile.ramp %g[%n] : tensor<16x1xf64>
  return %G : tensor<16x1xf64>
}

// -----

// Powers of a decay that is known are constants: 0.5^{j-i-1} above the diagonal.
// CHECK-LABEL: func @causal_power
// CHECK:         arith.constant dense<
// CHECK-SAME:      [1.000000e+00, 1.000000e+00, 5.000000e-01, 2.500000e-01]
// CHECK-SAME:      [1.000000e+00, 1.000000e+00, 1.000000e+00, 5.000000e-01]
// CHECK:         %[[ROW:.*]] = linalg.index 0
// CHECK:         %[[COL:.*]] = linalg.index 1
// CHECK:         arith.cmpi slt, %[[ROW]], %[[COL]]
// CHECK:         arith.mulf
// CHECK-NOT:     math.exp
func.func @causal_power(%x: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %g = arith.constant -0.69314718055994531 : f64
  %G = hla_tile.ramp %g[%n] : tensor<4x1xf64>
  %y = hla_tile.causal upper strict %x by %G : tensor<4x4xf32>, tensor<4x1xf64>
  return %y : tensor<4x4xf32>
}

// -----

// Others are exp of a difference: here of G_i and G_j.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @causal
// CHECK-SAME:    %[[X:.*]]: tensor<16x16xf32>, %[[G:.*]]: tensor<16x1xf64>
// CHECK:         tensor.extract %[[G]]
// CHECK:         %[[A:.*]] = bufferization.to_tensor
// CHECK:         tensor.extract %[[G]]
// CHECK:         %[[B:.*]] = bufferization.to_tensor
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[ROWS]], #[[COLS]], #{{.*}}], {{.*}}} ins(%[[X]], %[[A]], %[[B]] :
// CHECK:         ^bb0(%[[x:[^ ]*]]: f32, %[[a:[^ ]*]]: f64, %[[b:[^ ]*]]: f64,
// CHECK:           %[[D:.*]] = arith.subf %[[a]], %[[b]] : f64
// CHECK:           %[[D32:.*]] = arith.truncf %[[D]] : f64 to f32
// CHECK:           %[[E:.*]] = math.exp %[[D32]] : f32
// CHECK:           arith.mulf %[[x]], %[[E]] : f32
// CHECK:           arith.select
func.func @causal(%x: tensor<16x16xf32>, %G: tensor<16x1xf64>) -> tensor<16x16xf32> {
  %y = hla_tile.causal lower %x by %G : tensor<16x16xf32>, tensor<16x1xf64>
  return %y : tensor<16x16xf32>
}

// -----

// In an upper triangle G_{j-1} comes first, then G_{i-1}: before a chunk's first
// token nothing has decayed.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @causal_upper
// CHECK:         %[[BEFORE:.*]] = arith.addi %{{.*}}, %c-1
// CHECK:         %[[CLAMPED:.*]] = arith.maxsi %[[BEFORE]], %c0
// CHECK:         %[[NONE:.*]] = arith.cmpi slt, %[[BEFORE]], %c0
// CHECK:         %[[X:.*]] = tensor.extract %{{.*}}[%[[CLAMPED]], %c0]
// CHECK:         arith.select %[[NONE]], %{{.*}}, %[[X]]
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[COLS]], #[[ROWS]], #{{.*}}]
func.func @causal_upper(%x: tensor<16x16xf32>, %G: tensor<16x1xf64>) -> tensor<16x16xf32> {
  %y = hla_tile.causal upper %x by %G : tensor<16x16xf32>, tensor<16x1xf64>
  return %y : tensor<16x16xf32>
}

// -----

// One factor a row.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @decay
// CHECK-SAME:    %[[X:.*]]: tensor<16x32xf32>, %[[G:.*]]: tensor<16x1xf64>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK-DAG:       %[[TOTAL:.*]] = tensor.extract %[[G]][%c15, %c0]
// CHECK-DAG:       %[[SUM:.*]] = tensor.extract %[[G]][%[[I]], %c0]
// CHECK:           %[[D:.*]] = arith.subf %[[TOTAL]], %[[SUM]]
// CHECK:           %[[D32:.*]] = arith.truncf %[[D]] : f64 to f32
// CHECK:           math.exp %[[D32]]
// CHECK:         %[[F:.*]] = bufferization.to_tensor %{{.*}} : memref<16xf32> to tensor<16xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}, #{{.*}}], {{.*}}} ins(%[[F]], %[[X]] :
// CHECK:           arith.mulf
func.func @decay(%x: tensor<16x32xf32>, %G: tensor<16x1xf64>) -> tensor<16x32xf32> {
  %y = hla_tile.decay after %x by %G : tensor<16x32xf32>, tensor<16x1xf64>
  return %y : tensor<16x32xf32>
}

// -----

// All rows of a state decay alike.
// CHECK-LABEL: func @decay_all
// CHECK-SAME:    %{{.*}}: tensor<8x4xf64>, %[[G:.*]]: tensor<16x1xf64>
// CHECK:         scf.for %{{.*}} = %c0 to %c8 step %c1 {
// CHECK:           %[[TOTAL:.*]] = tensor.extract %[[G]][%c15, %c0]
// CHECK-NEXT:      math.exp %[[TOTAL]] : f64
func.func @decay_all(%x: tensor<8x4xf64>, %G: tensor<16x1xf64>) -> tensor<8x4xf64> {
  %y = hla_tile.decay all %x by %G : tensor<8x4xf64>, tensor<16x1xf64>
  return %y : tensor<8x4xf64>
}

// -----

// CHECK-LABEL: func @mask
// CHECK-SAME:    %[[N:[^ ]*]]: index
// CHECK:         %[[ROW:.*]] = linalg.index 0
// CHECK:         %[[KEPT:.*]] = arith.cmpi slt, %[[ROW]], %[[N]]
// CHECK:         arith.select %[[KEPT]], %{{.*}}, %{{.*}} : bf16
func.func @mask(%n: index, %x: tensor<16x32xbf16>) -> tensor<16x32xbf16> {
  %y = hla_tile.mask rows %x[%n] : tensor<16x32xbf16>
  return %y : tensor<16x32xbf16>
}

// -----

// A sum is a product with ones, added to a constant zero: one that an operation had
// written could be moved out of the loop over heads.
// CHECK-LABEL: func @sum_rows
// CHECK-SAME:    %[[X:.*]]: tensor<16x32xbf16>
// CHECK-DAG:     %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<32x1xf32>
// CHECK-DAG:     %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<16x1xf32>
// CHECK-DAG:     %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK:         linalg.matmul ins(%[[WIDE]], %[[ONES]] : {{.*}}) outs(%[[ZEROS]] : tensor<16x1xf32>)
func.func @sum_rows(%x: tensor<16x32xbf16>) -> tensor<16x1xf32> {
  %y = hla_tile.sum_rows %x : tensor<16x32xbf16> -> tensor<16x1xf32>
  return %y : tensor<16x1xf32>
}

// -----

// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @broadcast
// CHECK-SAME:    %[[X:.*]]: tensor<16x1xf32>
// CHECK:         tensor.extract %[[X]]
// CHECK:         %[[C:.*]] = bufferization.to_tensor %{{.*}} : memref<16xf32> to tensor<16xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[ROWS]], #{{.*}}], {{.*}}} ins(%[[C]] : tensor<16xf32>) outs(%{{.*}} : tensor<16x32xf32>)
func.func @broadcast(%x: tensor<16x1xf32>) -> tensor<16x32xf32> {
  %y = hla_tile.broadcast %x : tensor<16x1xf32> -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}

// -----

// CHECK-LABEL: func @splat
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK:         linalg.fill ins(%[[X]] : f32) outs(%{{.*}} : tensor<16x32xf32>)
func.func @splat(%x: f32) -> tensor<16x32xf32> {
  %y = tensor.splat %x : tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}
