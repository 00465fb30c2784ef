// RUN: hla-opt %s --hla-vectorize-tiles --split-input-file --verify-diagnostics
// RUN: not hla-opt %s --hla-vectorize-tiles=vector-bits=100 2>&1 | FileCheck %s

// CHECK: error: expected vector-bits to be 128, 256 or 512, but got 100

func.func @column(%x: memref<4x8xf32>, %y: memref<8x4xf32>) {
  // expected-error @+1 {{expected operands to be read along their rows (by vectors), but got the map affine_map<(d0, d1) -> (d1, d0)>}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

func.func @mixed(%x: memref<4x8xbf16>, %y: memref<8x4xbf16>, %z: memref<4x4xf32>) {
  // expected-error @+1 {{expected a product of tiles of one element type, rhs not transposed, but got 'memref<4x8xbf16>' and 'memref<8x4xbf16>'}}
  linalg.matmul ins(%x, %y : memref<4x8xbf16>, memref<8x4xbf16>) outs(%z : memref<4x4xf32>)
  return
}

// -----

func.func @sum(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{expected an elementwise operation on rows or tiles}}
  linalg.reduce ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) dimensions = [1]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  return
}
