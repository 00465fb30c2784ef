// RUN: hla-opt %s --convert-hla-to-tile --split-input-file --verify-diagnostics

func.func @schedule(%Q: memref<?x?x?x8xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule (hla-assign-schedule gives one), but got none}}
  hla.fused_scan ins(%Q : memref<?x?x?x8xf32>) outs(%Q : memref<?x?x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// -----

func.func @tensors(%Q: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  // expected-error @+1 {{'hla.fused_scan' op expected operands in memory (hla-bufferize puts them there), but got tensors}}
  %o = hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : tensor<?x?x?x8xf32>) outs(%Q : tensor<?x?x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  } -> tensor<?x?x?x8xf32>
  return %o : tensor<?x?x?x8xf32>
}

// -----

func.func @body(%Q: memref<?x?x?x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32>) outs(%Q : memref<?x?x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    // expected-error @+1 {{'vector.shuffle' op expected hla.step, hla.row_sum, a broadcast of one number, a splat constant or an elementwise operation on rows in the body of a fused scan, but got vector.shuffle}}
    %k = vector.shuffle %q, %q [7, 6, 5, 4, 3, 2, 1, 0] : vector<8xf32>, vector<8xf32>
    %S1, %y = hla.step ins(%q, %k, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// -----

// Also if no result is one.
func.func @tensor_input(%Q: tensor<?x?x?x8xf32>, %O: memref<?x?x?x8xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected operands in memory (hla-bufferize puts them there), but got tensors}}
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : tensor<?x?x?x8xf32>) outs(%O : memref<?x?x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// -----

func.func @constant(%Q: memref<?x?x?x2xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x2xf32>) outs(%Q : memref<?x?x?x2xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<2xf32>, %S: vector<2x2xf32>):
    // expected-error @+1 {{'arith.constant' op expected hla.step, hla.row_sum, a broadcast of one number, a splat constant or an elementwise operation on rows in the body of a fused scan, but got arith.constant}}
    %k = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
    %S1, %y = hla.step ins(%q, %k, %q : vector<2xf32>, vector<2xf32>, vector<2xf32>) state(%S : vector<2x2xf32>) -> vector<2xf32>
    hla.yield %y, %S1 : vector<2xf32>, vector<2x2xf32>
  }
  return
}

// -----

// A step continues from where a state was before the chunk.
func.func @two_updates(%Q: memref<?x?x?x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32>) outs(%Q : memref<?x?x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    // expected-error @+1 {{'hla.step' op expected the state to be one before the token (each is updated by one step), but got}}
    %S2, %z = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S1 : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %z, %S2 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// -----

func.func @exchanged(%Q: memref<?x?x?x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32>) outs(%Q : memref<?x?x?x8xf32>) carry_in [false, false] carry_out [false, false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>, %F: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    // expected-error @+1 {{'hla.yield' op expected the state before the token, argument #1 of the body, or what a step made of it, but got}}
    hla.yield %y, %F, %S1 : vector<8xf32>, vector<8x8xf32>, vector<8x8xf32>
  }
  return
}
