// Layouts, and one case for each constraint of the operations that have them.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// frag, smem and lane
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected a tile in lanes to be a column, but got shape 64, 2}}
func.func @lane(%x: tensor<64x2xf32, #hla_tile.lane>) { return }

// -----

// expected-error @+1 {{expected rowWarps and colWarps to be powers of two (they cut tiles into equal parts), but got 0 and 4}}
func.func @warps(%x: tensor<64x64xf32, #hla_tile.frag<rowWarps = 0, colWarps = 4>>) { return }

// -----

// expected-error @+1 {{expected a fragment to be a matrix, but got rank 3}}
func.func @frag_rank(%x: tensor<2x64x64xf32, #hla_tile.frag<rowWarps = 1, colWarps = 1>>) { return }

// -----

// expected-error @+1 {{expected a fragment of 4x1 warps to be stored as a multiple of 64x8 (a warp holds pieces of 16x8), but got 32x64}}
func.func @frag_rows(%x: tensor<32x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) { return }

// -----

// expected-error @+1 {{expected a fragment of 2x8 warps to be stored as a multiple of 32x64 (a warp holds pieces of 16x8), but got 32x32}}
func.func @frag_cols(%x: tensor<32x32xf32, #hla_tile.frag<rowWarps = 2, colWarps = 8>>) { return }

// -----

// What counts is the tile as stored.
// expected-error @+1 {{expected a fragment of 8x1 warps to be stored as a multiple of 128x8 (a warp holds pieces of 16x8), but got 64x128}}
func.func @frag_transposed(%x: tensor<128x64xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1, transposed = true>>) { return }

// -----

// expected-error @+1 {{expected a tile in shared memory to be a matrix, but got rank 1}}
func.func @smem_rank(%x: tensor<64xbf16, #hla_tile.smem<order = row>>) { return }

// -----

// expected-error @+1 {{expected a tile in shared memory to have elements of 16 or 32 bits (it is read as matrix operands), but got 'f64'}}
func.func @smem_type(%x: tensor<64x64xf64, #hla_tile.smem<order = row>>) { return }

// -----

// expected-error @+1 {{expected a tile in shared memory to be stored as powers of two of at least 8x16 (swizzles permute pieces of 8 elements), but got 64x8}}
func.func @smem_row(%x: tensor<64x8xbf16, #hla_tile.smem<order = row>>) { return }

// -----

// expected-error @+1 {{expected a tile in shared memory to be stored as powers of two of at least 8x16 (swizzles permute pieces of 8 elements), but got 64x8}}
func.func @smem_col(%x: tensor<8x64xbf16, #hla_tile.smem<order = col>>) { return }

// -----

// expected-error @+2 {{failed to parse HLATile_SmemAttr parameter 'order'}}
// expected-error @+1 {{expected one of [row, col] for the index that is contiguous in shared memory, got: diagonal}}
func.func @smem_order(%x: tensor<8x64xbf16, #hla_tile.smem<order = diagonal>>) { return }

// -----

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

// convert_layout-C1
func.func @convert_layout(%x: tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.convert_layout' op expected the result to have the shape and element type of the source, 'tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>', but got 'tensor<64x64xf16, #hla_tile.smem<order = row>>'}}
  %y = hla_tile.convert_layout %x : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>> -> tensor<64x64xf16, #hla_tile.smem<order = row>>
  return
}

// -----

// alloc-C1
func.func @alloc() {
  // expected-error @+1 {{'hla_tile.alloc' op expected the offset to be a multiple of 128 (swizzles are relative to it), but got 64}}
  %r = hla_tile.alloc at 64 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
  return
}

// -----

// alloc-C1
func.func @alloc_negative() {
  // expected-error @+1 {{'hla_tile.alloc' op expected the offset to be a multiple of 128 (swizzles are relative to it), but got -128}}
  %r = hla_tile.alloc at -128 : memref<2x64x64xbf16, #hla_tile.smem<order = row>>
  return
}

// -----

func.func @alloc_space() {
  // expected-error @+1 {{'hla_tile.alloc' op result #0 must be 3D memref of bf16, f16, tf32 or f32 in an #hla_tile.smem space, but got 'memref<2x64x64xbf16>'}}
  %r = hla_tile.alloc at 0 : memref<2x64x64xbf16>
  return
}

// -----

// slot-C1
func.func @slot(%r: memref<2x64x64xbf16, #hla_tile.smem<order = row>>, %i: index) {
  // expected-error @+1 {{'hla_tile.slot' op expected the buffer to be 'memref<64x64xbf16, #hla_tile.smem<order = row>>' (a slot of the ring), but got 'memref<64x64xbf16, #hla_tile.smem<order = col>>'}}
  %b = hla_tile.slot %r[%i] : memref<2x64x64xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = col>>
  return
}

// -----

// copy_async-C1
func.func @copy_type(%v: memref<?x64xf16, strided<[?, 1], offset: ?>>, %r: index, %b: memref<64x64xbf16, #hla_tile.smem<order = row>>) {
  // expected-error @+1 {{'hla_tile.copy_async' op expected the buffer to have the element type of the view, 'f16', but got 'memref<64x64xbf16, #hla_tile.smem<order = row>>'}}
  hla_tile.copy_async %v[%r], %b : memref<?x64xf16, strided<[?, 1], offset: ?>>, memref<64x64xbf16, #hla_tile.smem<order = row>>
  return
}

// -----

// copy_async-C2
func.func @copy_order(%v: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %r: index, %b: memref<64x64xbf16, #hla_tile.smem<order = col>>) {
  // expected-error @+1 {{'hla_tile.copy_async' op expected the buffer to be stored by rows (as the view is), but got 'memref<64x64xbf16, #hla_tile.smem<order = col>>'}}
  hla_tile.copy_async %v[%r], %b : memref<?x64xbf16, strided<[?, 1], offset: ?>>, memref<64x64xbf16, #hla_tile.smem<order = col>>
  return
}

// -----

// round-C1
func.func @round_type(%b: memref<64x64xf32, #hla_tile.smem<order = row>>) {
  // expected-error @+1 {{'hla_tile.round' op expected a buffer of tf32, stored by rows, but got 'memref<64x64xf32, #hla_tile.smem<order = row>>'}}
  hla_tile.round %b : memref<64x64xf32, #hla_tile.smem<order = row>>
  return
}

// -----

// round-C1: copies fill rows.
func.func @round_order(%b: memref<64x64xtf32, #hla_tile.smem<order = col>>) {
  // expected-error @+1 {{'hla_tile.round' op expected a buffer of tf32, stored by rows, but got 'memref<64x64xtf32, #hla_tile.smem<order = col>>'}}
  hla_tile.round %b : memref<64x64xtf32, #hla_tile.smem<order = col>>
  return
}

// -----

// copy_wait-C1
func.func @copy_wait() {
  // expected-error @+1 {{'hla_tile.copy_wait' op expected pending not to be negative, but got -1}}
  hla_tile.copy_wait -1
  return
}

// -----

// write-C1: a tile without a layout is in no registers.
func.func @write(%t: tensor<64x64xbf16>, %b: memref<64x64xbf16, #hla_tile.smem<order = row>>) {
  // expected-error @+1 {{'hla_tile.write' op expected the tile to be a fragment with the shape and element type of the buffer, 'memref<64x64xbf16, #hla_tile.smem<order = row>>', but got 'tensor<64x64xbf16>'}}
  hla_tile.write %t, %b : tensor<64x64xbf16>, memref<64x64xbf16, #hla_tile.smem<order = row>>
  return
}

// -----

// read-C1
func.func @read(%b: memref<64x64xbf16, #hla_tile.smem<order = row>>) {
  // expected-error @+1 {{'hla_tile.read' op expected the tile to be a fragment with the shape and element type of the buffer, 'memref<64x64xbf16, #hla_tile.smem<order = row>>', but got 'tensor<64x32xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>'}}
  %t = hla_tile.read %b : memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x32xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

// frag-C1: not a power of two.
// expected-error @+1 {{expected rowWarps and colWarps to be powers of two (they cut tiles into equal parts), but got 3 and 1}}
func.func private @three_warps() -> tensor<48x64xf32, #hla_tile.frag<rowWarps = 3, colWarps = 1>>

// -----

// smem-C3: six pieces a row.
// expected-error @+1 {{expected a tile in shared memory to be stored as powers of two of at least 8x16 (swizzles permute pieces of 8 elements), but got 64x48}}
func.func private @six_pieces() -> tensor<64x48xbf16, #hla_tile.smem<order = row>>

// -----

// alloc-C2
func.func @ring_of_odd_tiles() {
  // expected-error @+1 {{'hla_tile.alloc' op expected a tile in shared memory to be stored as powers of two of at least 8x16 (swizzles permute pieces of 8 elements), but got 5x7}}
  %r = hla_tile.alloc at 0 : memref<1x5x7xbf16, #hla_tile.smem<order = row>>
  return
}
