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
    // expected-error @+1 {{'arith.negf' op expected only hla.step in the body of a fused scan, but got arith.negf}}
    %k = arith.negf %q : vector<8xf32>
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
