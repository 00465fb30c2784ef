// One case for each constraint of the operations and types of groups.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

// tensor_map-type-C1
// expected-error @+1 {{expected a box of two to four dimensions (a fifth is the blocks of its columns), but got 1}}
func.func private @rank(!hla_tile.tensor_map<64xbf16>)

// -----

// tensor_map-type-C2
// expected-error @+1 {{expected the rows of a box to have a multiple of 64 elements of bf16 or f16 (128 bytes are swizzled), but got 32 of 'bf16'}}
func.func private @width(!hla_tile.tensor_map<64x32xbf16>)

// -----

// expected-error @+1 {{expected the rows of a box to have a multiple of 64 elements of bf16 or f16 (128 bytes are swizzled), but got 64 of 'f32'}}
func.func private @type(!hla_tile.tensor_map<64x64xf32>)

// -----

// tensor_map-type-C3
// expected-error @+1 {{expected a box with one dimension of rows (it is a tile), but got 2, 64, 64}}
func.func private @rows(!hla_tile.tensor_map<2x64x64xbf16>)

// -----

// signals-type-C1
// expected-error @+1 {{expected at least one signal, but got 0}}
func.func private @none(!hla_tile.signals<0>)

// -----

// columns-C1
func.func @columns_layout(%x: memref<64x128xbf16, #hla_tile.smem<order = row>>) -> memref<64x64xbf16, #hla_tile.smem<order = col>> {
  // expected-error @+1 {{'hla_tile.columns' op expected columns of a tile in shared memory, with its rows, layout and element type}}
  %y = hla_tile.columns %x[0] : memref<64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = col>>
  return %y : memref<64x64xbf16, #hla_tile.smem<order = col>>
}

// -----

// columns-C2
func.func @columns_offset(%x: memref<64x128xbf16, #hla_tile.smem<order = row>>) -> memref<64x64xbf16, #hla_tile.smem<order = row>> {
  // expected-error @+1 {{'hla_tile.columns' op expected multiples of 64 columns (blocks of 128 bytes) of 'memref<64x128xbf16, #hla_tile.smem<order = row>>', but got 64 from 32 on}}
  %y = hla_tile.columns %x[32] : memref<64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = row>>
  return %y : memref<64x64xbf16, #hla_tile.smem<order = row>>
}

// -----

func.func @columns_past(%x: memref<64x128xbf16, #hla_tile.smem<order = row>>) -> memref<64x64xbf16, #hla_tile.smem<order = row>> {
  // expected-error @+1 {{but got 64 from 128 on}}
  %y = hla_tile.columns %x[128] : memref<64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = row>>
  return %y : memref<64x64xbf16, #hla_tile.smem<order = row>>
}

// -----

// concat-C1
func.func @concat_result(%x: tensor<64x64xbf16, #hla_tile.smem<order = col>>) -> tensor<64x64xbf16, #hla_tile.smem<order = col>> {
  // expected-error @+1 {{'hla_tile.concat' op expected the result to be the parts' columns in shared memory, 'tensor<64x128xbf16, #hla_tile.smem<order = col>>', but got 'tensor<64x64xbf16, #hla_tile.smem<order = col>>'}}
  %y = hla_tile.concat %x, %x : tensor<64x64xbf16, #hla_tile.smem<order = col>>, tensor<64x64xbf16, #hla_tile.smem<order = col>> -> tensor<64x64xbf16, #hla_tile.smem<order = col>>
  return %y : tensor<64x64xbf16, #hla_tile.smem<order = col>>
}

// -----

// concat-C2
func.func @concat_parts(%x: tensor<64x32xbf16, #hla_tile.smem<order = col>>) -> tensor<64x64xbf16, #hla_tile.smem<order = col>> {
  // expected-error @+1 {{'hla_tile.concat' op expected parts with a multiple of 64 columns (blocks of 128 bytes), but got 'tensor<64x32xbf16, #hla_tile.smem<order = col>>'}}
  %y = hla_tile.concat %x, %x : tensor<64x32xbf16, #hla_tile.smem<order = col>>, tensor<64x32xbf16, #hla_tile.smem<order = col>> -> tensor<64x64xbf16, #hla_tile.smem<order = col>>
  return %y : tensor<64x64xbf16, #hla_tile.smem<order = col>>
}

// -----

// groups-C1
gpu.module @kernels {
gpu.func @threads() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'hla_tile.groups' op expected a kernel of 256 threads (four warps for each of 2 groups), but got 128}}
  hla_tile.groups {
  }, {
  }
  gpu.return
}
}

// -----

// dot_async-C1
func.func @dot_shape(%x: memref<64x128xbf16, #hla_tile.smem<order = row>>, %y: memref<64x64xbf16, #hla_tile.smem<order = row>>, %a: tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.dot_async' op expected rhs to have 128 rows (the columns of lhs), but got 64}}
  %r = hla_tile.dot_async %x, %y, %a : memref<64x128xbf16, #hla_tile.smem<order = row>>, memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

// dot_async-C2
func.func @dot_type(%x: memref<64x64xbf16, #hla_tile.smem<order = row>>, %y: memref<64x64xf16, #hla_tile.smem<order = row>>, %a: tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.dot_async' op expected operands of bf16 or f16, both the same, and acc of f32, but got}}
  %r = hla_tile.dot_async %x, %y, %a : memref<64x64xbf16, #hla_tile.smem<order = row>>, memref<64x64xf16, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

// dot_async-C3
func.func @dot_rows(%x: memref<64x128xbf16, #hla_tile.smem<order = row>>, %y: memref<64x64xbf16, #hla_tile.smem<order = row>>, %a: tensor<128x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.dot_async' op expected acc to be a fragment of 4x1 warps, stored as 64 rows of at most 256 columns (one instruction's), but got}}
  %r = hla_tile.dot_async %x, %y, %a transpose_lhs : memref<64x128xbf16, #hla_tile.smem<order = row>>, memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<128x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

// dot_async-C4
func.func @dot_narrow(%x: memref<64x32xbf16, #hla_tile.smem<order = row>>, %a: tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.dot_async' op expected operands in shared memory to be stored in rows of at least 128 bytes (the swizzle's), but got}}
  %r = hla_tile.dot_async %x, %x, %a transpose_rhs : memref<64x32xbf16, #hla_tile.smem<order = row>>, memref<64x32xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

// dot_async-C5
func.func @dot_b(%x: memref<64x64xbf16, #hla_tile.smem<order = row>>, %y: tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>, %a: tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.dot_async' op expected the B operand in shared memory, but got}}
  %r = hla_tile.dot_async %x, %y, %a : memref<64x64xbf16, #hla_tile.smem<order = row>>, tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

func.func @dot_a(%x: memref<64x64xbf16, #hla_tile.smem<order = row>>, %y: tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>, %a: tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>) {
  // expected-error @+1 {{'hla_tile.dot_async' op expected an A operand in registers to be stored as it is read, by 4x1 warps, but got}}
  %r = hla_tile.dot_async %y, %x, %a : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>, memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
  return
}

// -----

// dot_wait-C1
func.func @wait() {
  // expected-error @+1 {{'hla_tile.dot_wait' op expected pending to be from 0 to 7, but got 8}}
  hla_tile.dot_wait 8
  return
}

// -----

// tensor_map-C1
func.func @map_rank(%x: memref<?x?x128xbf16>) {
  // expected-error @+1 {{'hla_tile.tensor_map' op expected a box of the tensor's rank and element type, 'memref<?x?x128xbf16>', but got}}
  %m = hla_tile.tensor_map %x : memref<?x?x128xbf16> -> !hla_tile.tensor_map<64x64xbf16>
  return
}

// -----

// tensor_map-C2
func.func @map_width(%x: memref<?x96xbf16>) {
  // expected-error @+1 {{'hla_tile.tensor_map' op expected rows of a multiple of 64 elements (128 bytes are swizzled), but got 'memref<?x96xbf16>'}}
  %m = hla_tile.tensor_map %x : memref<?x96xbf16> -> !hla_tile.tensor_map<64x64xbf16>
  return
}

// -----

// signals-C1
func.func @signals_offset() {
  // expected-error @+1 {{'hla_tile.signals' op expected the offset to be a multiple of 8, but got 4}}
  %s = hla_tile.signals 1 at 4 : !hla_tile.signals<2>
  return
}

// -----

// signals-C2
func.func @signals_arrivals() {
  // expected-error @+1 {{'hla_tile.signals' op expected at least one arrival a phase, but got 0}}
  %s = hla_tile.signals 0 at 8 : !hla_tile.signals<2>
  return
}

// -----

// tensor_load-C1
func.func @load_indices(%m: !hla_tile.tensor_map<64x64xbf16>, %b: memref<64x64xbf16, #hla_tile.smem<order = row>>, %s: !hla_tile.signals<1>, %i: index, %c: i1) {
  // expected-error @+1 {{'hla_tile.tensor_load' op expected 2 indices (the dimensions of '!hla_tile.tensor_map<64x64xbf16>'), but got 1}}
  hla_tile.tensor_load %m[%i], %b, %s[%i] if %c : !hla_tile.tensor_map<64x64xbf16>, memref<64x64xbf16, #hla_tile.smem<order = row>>, !hla_tile.signals<1>
  return
}

// -----

// tensor_load-C2
func.func @store_box(%m: !hla_tile.tensor_map<64x64xbf16>, %b: memref<64x128xbf16, #hla_tile.smem<order = row>>, %i: index) {
  // expected-error @+1 {{'hla_tile.tensor_store' op expected a buffer of the box, 64x64x'bf16', stored by rows, but got}}
  hla_tile.tensor_store %b, %m[%i, %i] : memref<64x128xbf16, #hla_tile.smem<order = row>>, !hla_tile.tensor_map<64x64xbf16>
  return
}
