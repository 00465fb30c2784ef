// RUN: hla-opt %s --hla-vectorize-tiles=vector-bits=256 --canonicalize --split-input-file | FileCheck %s
// RUN: hla-opt %s --hla-vectorize-tiles=vector-bits=512 --canonicalize --split-input-file | FileCheck %s --check-prefix=WIDE

// A panel of 16 columns, blocks of 6 rows and what is left of 16: 4 rows. What
// the fill has written is not read.
// CHECK-LABEL: func @product
// CHECK-NOT:     linalg
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK:         scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK:           scf.for %[[I:.*]] = %c0 to %c12 step %c6
// CHECK:             %[[ACC:[0-9]+]]:12 = scf.for %[[K:[a-z0-9]+]] = %c0 to %c24 step %c1 iter_args(%[[A0:[a-z0-9]+]] = %[[ZERO]],
// CHECK:               %[[B0:.*]] = vector.load %arg1[%[[K]], %[[J]]] : memref<24x32xf32>, vector<8xf32>
// CHECK:               %[[B1:.*]] = vector.load %arg1[%[[K]], %{{.*}}] : memref<24x32xf32>, vector<8xf32>
// CHECK:               %[[SCALAR:.*]] = memref.load %arg0[%[[I]], %[[K]]]
// CHECK:               %[[X:.*]] = vector.broadcast %[[SCALAR]]
// CHECK:               %[[P:.*]] = arith.mulf %[[X]], %[[B0]] fastmath<contract> : vector<8xf32>
// CHECK:               arith.addf %[[A0]], %[[P]] fastmath<contract> : vector<8xf32>
// CHECK:               scf.yield
// CHECK:             vector.store %[[ACC]]#0, %arg2[%[[I]], %[[J]]]
// CHECK-COUNT-11:    vector.store
// CHECK:           %{{.*}}:8 = scf.for
// WIDE-LABEL: func @product
// WIDE:         %{{.*}}:16 = scf.for {{.*}} vector<16xf32>
func.func @product(%a: memref<16x24xf32>, %b: memref<24x32xf32>, %c: memref<16x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<16x32xf32>)
  linalg.matmul ins(%a, %b : memref<16x24xf32>, memref<24x32xf32>) outs(%c : memref<16x32xf32>)
  return
}

// -----

// 5 columns: vectors of 4 and 1. The transposed lhs is read as it is stored, and
// the result is added to.
// CHECK-LABEL: func @narrow
// CHECK:         vector.load %arg2[{{.*}}] : memref<3x5xf64>, vector<4xf64>
// CHECK:         vector.load %arg2[{{.*}}] : memref<3x5xf64>, vector<1xf64>
// CHECK:         scf.for %[[K:.*]] = %c0 to %c7
// CHECK:           memref.load %arg0[%[[K]], %c0] : memref<7x3xf64>
// CHECK:           memref.load %arg0[%[[K]], %c1] : memref<7x3xf64>
// CHECK:           memref.load %arg0[%[[K]], %c2] : memref<7x3xf64>
func.func @narrow(%a: memref<7x3xf64>, %b: memref<7x5xf64>, %c: memref<3x5xf64>) {
  linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>]
      ins(%a, %b : memref<7x3xf64>, memref<7x5xf64>) outs(%c : memref<3x5xf64>)
  return
}

// -----

// Three stages of interleaving exchange the 8 rows and columns of a block; 4 by
// 12 is done in blocks of 4.
// CHECK-LABEL: func @transpose
// CHECK-COUNT-8: vector.load
// CHECK:         vector.shuffle %{{.*}}, %{{.*}} [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK:         vector.shuffle %{{.*}}, %{{.*}} [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK-COUNT-22: vector.shuffle
// CHECK-COUNT-8: vector.store
// CHECK-COUNT-4: vector.load %{{.*}} : memref<4x12xf32>, vector<4xf32>
// CHECK-COUNT-8: vector.shuffle
// CHECK-NOT:     vector.shuffle
func.func @transpose(%a: memref<16x8xf32>, %at: memref<8x16xf32>, %b: memref<4x12xf32>, %bt: memref<12x4xf32>) {
  linalg.transpose ins(%a : memref<16x8xf32>) outs(%at : memref<8x16xf32>) permutation = [1, 0]
  linalg.transpose ins(%b : memref<4x12xf32>) outs(%bt : memref<12x4xf32>) permutation = [1, 0]
  return
}

// -----

// As many lanes as the widest type allows; one power for all of a row.
// CHECK-LABEL: func @elementwise
// CHECK:         scf.for %[[I:.*]] = %c0 to %c4
// CHECK:           scf.for %[[J:.*]] = %c0 to %c16 step %c8
// CHECK:             %[[P:.*]] = memref.load %arg0[%[[I]]]
// CHECK:             %[[PS:.*]] = vector.broadcast %[[P]] : f32 to vector<8xf32>
// CHECK:             %[[X:.*]] = vector.load %arg1[%[[I]], %[[J]]] : memref<4x20xbf16>, vector<8xbf16>
// CHECK:             %[[ROW:.*]] = vector.broadcast %[[I]] : index to vector<8xindex>
// CHECK:             %[[STEP:.*]] = vector.step : vector<8xindex>
// CHECK:             %[[KEPT:.*]] = arith.cmpi sle
// CHECK:             %[[XF:.*]] = arith.extf %[[X]] : vector<8xbf16> to vector<8xf32>
// CHECK:             arith.mulf %[[XF]], %[[PS]]
// CHECK:             vector.store %{{.*}}, %arg2[%[[I]], %[[J]]] : memref<4x20xf32>, vector<8xf32>
// CHECK:           vector.load %arg1[%[[I]], %c16] : memref<4x20xbf16>, vector<4xbf16>
func.func @elementwise(%p: memref<4xf32>, %x: memref<4x20xbf16>, %y: memref<4x20xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%p, %x : memref<4xf32>, memref<4x20xbf16>) outs(%y : memref<4x20xf32>) {
  ^bb0(%power: f32, %in: bf16, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %kept = arith.cmpi sle, %j, %i : index
    %wide = arith.extf %in : bf16 to f32
    %scaled = arith.mulf %wide, %power : f32
    %result = arith.select %kept, %scaled, %zero : f32
    linalg.yield %result : f32
  }
  return
}

// -----

// CHECK-LABEL: func @copy
// CHECK:         %[[ROWS:.*]] = memref.dim %arg1, %c0
// CHECK:         scf.for %[[I:.*]] = %c0 to %[[ROWS]]
// CHECK:           scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK:             %[[X:.*]] = vector.load %arg0[%[[I]], %[[J]]] : {{.*}}, vector<16xbf16>
// CHECK:             vector.store %[[X]], %arg1[%[[I]], %[[J]]]
func.func @copy(%x: memref<?x32xbf16, strided<[?, 1], offset: ?>>, %y: memref<?x32xbf16>) {
  memref.copy %x, %y : memref<?x32xbf16, strided<[?, 1], offset: ?>> to memref<?x32xbf16>
  return
}

// -----

// Truth values lie in bytes, one by one.
// CHECK-LABEL: func @truth
// CHECK:         scf.for %[[J:.*]] = %c0 to %c32 step %c1
// CHECK:           vector.load %{{.*}} : memref<2x32xf32>, vector<1xf32>
// CHECK:           arith.cmpf olt, %{{.*}} : vector<1xf32>
// CHECK:           vector.store %{{.*}} : memref<2x32xi1>, vector<1xi1>
func.func @truth(%x: memref<2x32xf32>, %y: memref<2x32xi1>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<2x32xf32>) outs(%y : memref<2x32xi1>) {
  ^bb0(%a: f32, %b: i1):
    %less = arith.cmpf olt, %a, %a : f32
    linalg.yield %less : i1
  }
  return
}
