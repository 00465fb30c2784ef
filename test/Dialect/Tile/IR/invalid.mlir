// One case for each constraint of the program's operations. Layouts and scheduled
// operations are in invalid-layouts.mlir.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

func.func @launch_indices(%B: index) {
  // expected-error @+1 {{expected two or three indices and bounds (batch, head and part; one more index is the slice), but got 1 and 2}}
  hla_tile.launch (%b) in (%B, %B) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
  }
  return
}

// -----

func.func @launch_bounds(%B: index) {
  // expected-error @+1 {{expected two or three indices and bounds (batch, head and part; one more index is the slice), but got 2 and 3}}
  hla_tile.launch (%b, %h) in (%B, %B, %B) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
  }
  return
}

// -----

func.func @launch_schedule(%B: index) {
  // expected-error @+1 {{expected chunk to be a power of two from 16 to 256 (scores are cut into 16x16 pieces), but got 63}}
  hla_tile.launch (%b, %h) in (%B, %B) schedule(<chunk = 63, warps = 4, stages = 2, precision = bf16>) {
  }
  return
}

// -----

func.func @launch_no_schedule(%B: index) {
  // expected-error @+1 {{expected 'schedule'}}
  hla_tile.launch (%b, %h) in (%B, %B) {
  }
  return
}

// -----

func.func @launch_arguments(%B: index) {
  // expected-error @+1 {{'hla_tile.launch' op expected the region to have 2 index arguments (batch, head, and a part and a slice if there are several), but got 'index', 'i32'}}
  "hla_tile.launch"(%B, %B) <{schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>}> ({
  ^bb0(%b: index, %h: i32):
    hla_tile.return
  }) : (index, index) -> ()
  return
}

// -----

func.func @return() {
  // expected-error @+1 {{'hla_tile.return' op expects parent op 'hla_tile.launch'}}
  hla_tile.return
}

// -----

// load-C1
func.func @load(%v: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %r: index) {
  // expected-error @+1 {{'hla_tile.load' op expected the tile to have the element type of the view, 'bf16', but got 'tensor<64x64xf32>'}}
  %t = hla_tile.load %v[%r] : memref<?x64xbf16, strided<[?, 1], offset: ?>> -> tensor<64x64xf32>
  return
}

// -----

// load-C1: f32 is rounded to tf32 alone.
func.func @load_rounded(%v: memref<?x64xf32, strided<[?, 1], offset: ?>>, %r: index) {
  // expected-error @+1 {{'hla_tile.load' op expected the tile to have the element type of the view, 'f32', but got 'tensor<64x64xbf16>'}}
  %t = hla_tile.load %v[%r] : memref<?x64xf32, strided<[?, 1], offset: ?>> -> tensor<64x64xbf16>
  return
}

// -----

// Tiles are static matrices.
func.func @load_dynamic(%v: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %r: index) {
  // expected-error @+1 {{'hla_tile.load' op result #0 must be static 2D tensor of bf16, f16, tf32, f32 or f64, but got 'tensor<?x64xbf16>'}}
  %t = hla_tile.load %v[%r] : memref<?x64xbf16, strided<[?, 1], offset: ?>> -> tensor<?x64xbf16>
  return
}

// -----

func.func @load_rank(%v: memref<?x?x64xbf16>, %r: index) {
  // expected-error @+1 {{'hla_tile.load' op operand #0 must be 2D memref of bf16, f16, f32 or f64 with contiguous rows, or a 1D one, but got 'memref<?x?x64xbf16>'}}
  %t = hla_tile.load %v[%r] : memref<?x?x64xbf16> -> tensor<64x64xbf16>
  return
}

// -----

func.func @load_strided(%v: memref<?x64xbf16, strided<[?, 2], offset: ?>>, %r: index) {
  // expected-error @+1 {{'hla_tile.load' op operand #0 must be 2D memref of bf16, f16, f32 or f64 with contiguous rows, or a 1D one, but got 'memref<?x64xbf16, strided<[?, 2], offset: ?>>'}}
  %t = hla_tile.load %v[%r] : memref<?x64xbf16, strided<[?, 2], offset: ?>> -> tensor<64x64xbf16>
  return
}

// -----

// store-C1
func.func @store(%v: memref<?x64xbf16, strided<[?, 1], offset: ?>>, %r: index, %t: tensor<64x64xf16>) {
  // expected-error @+1 {{'hla_tile.store' op expected the tile to have the element type of the view, 'bf16', but got 'tensor<64x64xf16>'}}
  hla_tile.store %t, %v[%r] : tensor<64x64xf16>, memref<?x64xbf16, strided<[?, 1], offset: ?>>
  return
}

// -----

// dot-C1
func.func @dot_depth(%a: tensor<64x32xbf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{'hla_tile.dot' op expected rhs to have 32 rows (the columns of lhs), but got 64}}
  %d = hla_tile.dot %a, %a, %c : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
  return
}

// -----

// dot-C1: operands count as they are transposed.
func.func @dot_transposed(%a: tensor<64x32xbf16>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{'hla_tile.dot' op expected acc to be 32x32 (rows of lhs, columns of rhs), but got 64x64}}
  %d = hla_tile.dot %a, %a, %c transpose_lhs : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
  return
}

// -----

// dot-C2
func.func @dot_acc(%a: tensor<64x64xbf16>, %c: tensor<64x64xbf16>) {
  // expected-error @+1 {{'hla_tile.dot' op expected acc to have element type f32 or f64 (sums are as wide as operands), but got 'bf16'}}
  %d = hla_tile.dot %a, %a, %c : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
  return
}

// -----

// dot-C2: one wide operand is enough.
func.func @dot_acc_f64(%a: tensor<64x64xf64>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) {
  // expected-error @+1 {{'hla_tile.dot' op expected acc to have element type f64 (sums are as wide as operands), but got 'f32'}}
  %d = hla_tile.dot %b, %a, %c : tensor<64x64xf32>, tensor<64x64xf64> -> tensor<64x64xf32>
  return
}

// -----

// dot-C3
func.func @dot_bf16x3(%a: tensor<64x64xf32>, %c: tensor<64x64xf64>) {
  // expected-error @+1 {{'hla_tile.dot' op expected acc to have element type f32 (operands are sums of two bf16), but got 'f64'}}
  %d = hla_tile.dot bf16x3 %a, %a, %c : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf64>
  return
}

// -----

// causal-C1
func.func @causal_square(%x: tensor<64x32xf32>) {
  // expected-error @+1 {{'hla_tile.causal' op expected a square tile (scores of a chunk against itself), but got 'tensor<64x32xf32>'}}
  %y = hla_tile.causal lower %x : tensor<64x32xf32>
  return
}

// -----

// causal-C2
func.func @causal_rows(%x: tensor<64x64xf32>, %G: tensor<32x1xf64>) {
  // expected-error @+1 {{'hla_tile.causal' op expected by to have 64 rows (one a token of the scores), but got 'tensor<32x1xf64>'}}
  %y = hla_tile.causal lower %x by %G : tensor<64x64xf32>, tensor<32x1xf64>
  return
}

// -----

// Sums are f64.
func.func @causal_sums(%x: tensor<64x64xf32>, %G: tensor<64x1xf32>) {
  // expected-error @+1 {{'hla_tile.causal' op operand #1 must be static tensor of f64 with one column, but got 'tensor<64x1xf32>'}}
  %y = hla_tile.causal lower %x by %G : tensor<64x64xf32>, tensor<64x1xf32>
  return
}

// -----

func.func @causal_triangle(%x: tensor<64x64xf32>) {
  // expected-error @+1 {{expected one of [lower, upper] for the part of a square tile that is kept, got: diagonal}}
  %y = hla_tile.causal diagonal %x : tensor<64x64xf32>
  return
}

// -----

// decay-C1
func.func @decay_rows(%x: tensor<32x64xf32>, %G: tensor<64x1xf64>) {
  // expected-error @+1 {{'hla_tile.decay' op expected by to have 32 rows (one a row of the tile), but got 'tensor<64x1xf64>'}}
  %y = hla_tile.decay after %x by %G : tensor<32x64xf32>, tensor<64x1xf64>
  return
}

// -----

func.func @decay_span(%x: tensor<64x64xf32>, %G: tensor<64x1xf64>) {
  // expected-error @+1 {{expected one of [through, before, after, from, all] for the tokens of a chunk that decay a row, got: since}}
  %y = hla_tile.decay since %x by %G : tensor<64x64xf32>, tensor<64x1xf64>
  return
}

// -----

// load-C2
func.func @load_column(%v: memref<?xf32>, %r: index) {
  // expected-error @+1 {{'hla_tile.load' op expected the tile to have one column (the view has one number a row), but got 'tensor<64x2xf32>'}}
  %t = hla_tile.load %v[%r] : memref<?xf32> -> tensor<64x2xf32>
  return
}

// -----

// store-C2
func.func @store_column(%v: memref<?xf32>, %r: index, %t: tensor<64x2xf32>) {
  // expected-error @+1 {{'hla_tile.store' op expected the tile to have one column (the view has one number a row), but got 'tensor<64x2xf32>'}}
  hla_tile.store %t, %v[%r] : tensor<64x2xf32>, memref<?xf32>
  return
}

// -----

// prefix_sum-C1
func.func @prefix_sum_rows(%g: tensor<64x1xf32>) {
  // expected-error @+1 {{'hla_tile.prefix_sum' op expected the result to have 64 rows (a sum for every log-decay), but got 'tensor<32x1xf64>'}}
  %G = hla_tile.prefix_sum %g : tensor<64x1xf32> -> tensor<32x1xf64>
  return
}

// -----

func.func @prefix_sum_columns(%g: tensor<64x2xf32>) {
  // expected-error @+1 {{'hla_tile.prefix_sum' op operand #0 must be static tensor of f32 or f64 with one column, but got 'tensor<64x2xf32>'}}
  %G = hla_tile.prefix_sum %g : tensor<64x2xf32> -> tensor<64x1xf64>
  return
}

// -----

// sum_rows-C1
func.func @sum_rows(%x: tensor<64x32xf32>) {
  // expected-error @+1 {{'hla_tile.sum_rows' op expected the result to have 64 rows (a sum for every row), but got 'tensor<32x1xf32>'}}
  %y = hla_tile.sum_rows %x : tensor<64x32xf32> -> tensor<32x1xf32>
  return
}

// -----

// sum_rows-C2
func.func @sum_rows_type(%x: tensor<64x32xf32>) {
  // expected-error @+1 {{'hla_tile.sum_rows' op expected sums that are not narrower than the tile's elements, 'tensor<64x32xf32>', but got 'tensor<64x1xbf16>'}}
  %y = hla_tile.sum_rows %x : tensor<64x32xf32> -> tensor<64x1xbf16>
  return
}

// -----

// broadcast-C1
func.func @broadcast(%x: tensor<64x1xf32>) {
  // expected-error @+1 {{'hla_tile.broadcast' op expected the result to have 64 rows (those of the column), but got 'tensor<32x64xf32>'}}
  %y = hla_tile.broadcast %x : tensor<64x1xf32> -> tensor<32x64xf32>
  return
}

// -----

// broadcast-C1
func.func @broadcast_type(%x: tensor<64x1xf32>) {
  // expected-error @+1 {{'hla_tile.broadcast' op expected the result to have the element type of the column, 'f32', but got 'tensor<64x32xf64>'}}
  %y = hla_tile.broadcast %x : tensor<64x1xf32> -> tensor<64x32xf64>
  return
}

// -----

func.func @slice_of_column(%v: memref<?xf32>, %n: index) {
  hla_tile.launch (%b, %h, %z) in (%n, %n) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
    // expected-error @+1 {{'hla_tile.load' op expected no slice (the view has one number a row), but got one of 'memref<?xf32>'}}
    %t = hla_tile.load %v[%n] slice %z : memref<?xf32> -> tensor<64x1xf32>
  }
  return
}

// -----

func.func @slice_of_none(%v: memref<?x160xbf16>, %n: index) {
  hla_tile.launch (%b, %h) in (%n, %n) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16>) {
    // expected-error @+1 {{'hla_tile.load' op expected the slice to be the launch's last index (its schedule says how many there are), but got}}
    %t = hla_tile.load %v[%n] slice %n : memref<?x160xbf16> -> tensor<64x128xbf16>
  }
  return
}

// -----

// expected-error @+2 {{'hla_tile.launch' op expected the region to have 3 index arguments (batch, head, and a part and a slice if there are several), but got 'index', 'index'}}
func.func @no_slice(%n: index) {
  hla_tile.launch (%b, %h) in (%n, %n) schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 2>) {
  }
  return
}
