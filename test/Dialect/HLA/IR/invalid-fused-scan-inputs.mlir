// Constraints of hla.fused_scan on groups, lengths, numbers of tokens and numbers
// of heads. The others are in invalid-fused-scan.mlir.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C1
func.func @unranked(%q: tensor<*xf32>, %e: !S) {
  // expected-error @+1 {{'hla.fused_scan' op operand #0 must be variadic of sequence, numbers or states (a ranked tensor or strided memref of bf16, f16, f32 or f64), but got 'tensor<*xf32>'}}
  %o = hla.fused_scan ins(%q : tensor<*xf32>) outs(%e : !S) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    hla.yield %a : !r
  } -> !S
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C1: a number of a head cannot be written for every token.
func.func @output_of_heads(%q: !S, %e: tensor<?xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected output #0 to have rank 4 or 3 (a row a token), but got 'tensor<?xf32>'}}
  %o = hla.fused_scan ins(%q : !S) outs(%e : tensor<?xf32>) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    %n = hla.row_sum %a : !r -> vector<1xf32>
    hla.yield %n : vector<1xf32>
  } -> tensor<?xf32>
  return
}

// -----

!S = tensor<?x?x3x8xf32>
!r = vector<8xf32>

// fused_scan-C2: numbers have the heads of the loop, not of a grouped input.
func.func @grouped_heads(%q: !S, %g: tensor<3xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected input #1 to be of 6 heads, as input #0 in groups of 2 is, 'tensor<?x?x3x8xf32>' (one loop walks all), but got 'tensor<3xf32>'}}
  hla.fused_scan groups([2, 1]) ins(%q, %g : !S, tensor<3xf32>) carry_in [] carry_out [] {
  ^bb0(%a: !r, %b: vector<1xf32>):
    hla.yield
  }
  return
}

// -----

!S = tensor<?x5x?x8xf32>
!r = vector<8xf32>

// fused_scan-C2
func.func @numbers(%q: !S, %e: tensor<?x?x5xf32>, %g: tensor<?x4x?xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected output #0 to be of 5 tokens, as input #0 is, 'tensor<?x5x?x8xf32>' (one loop walks all), but got 'tensor<?x4x?xf32>'}}
  %o = hla.fused_scan ins(%q, %e : !S, tensor<?x?x5xf32>) outs(%g : tensor<?x4x?xf32>) carry_in [] carry_out [] {
  ^bb0(%a: !r, %b: vector<1xf32>):
    hla.yield %b : vector<1xf32>
  } -> tensor<?x4x?xf32>
  return
}

// -----

!S = memref<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C2
func.func @lengths(%q: !S, %c: memref<?xi32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected input #0 to have a static batch of 1 (lengths cut the tokens of one batch), but got 'memref<?x?x?x8xf32>'}}
  hla.fused_scan ins(%q : !S) lengths(%c : memref<?xi32>) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    hla.yield
  }
  return
}

// -----

!S = tensor<1x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C2
func.func @lengths_of_numbers(%q: !S, %g: tensor<?x?x?xf32>, %c: tensor<?xi32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected input #1 to have a static batch of 1 (lengths cut the tokens of one batch), but got 'tensor<?x?x?xf32>'}}
  hla.fused_scan ins(%q, %g : !S, tensor<?x?x?xf32>) lengths(%c : tensor<?xi32>) carry_in [] carry_out [] {
  ^bb0(%a: !r, %b: vector<1xf32>):
    hla.yield
  }
  return
}

// -----

!S = tensor<1x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C2
func.func @lengths_type(%q: !S, %c: tensor<?xi64>) {
  // expected-error @+1 {{'hla.fused_scan' op operand #1 must be lengths (a tensor<?xi32> or strided memref<?xi32>), but got 'tensor<?xi64>'}}
  hla.fused_scan ins(%q : !S) lengths(%c : tensor<?xi64>) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    hla.yield
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C3: the row of a number is a vector of one.
func.func @row_of_number(%q: !S, %g: tensor<?xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected argument #1 of the body to be 'vector<1xf32>' (a row of its input), but got 'f32'}}
  hla.fused_scan ins(%q, %g : !S, tensor<?xf32>) carry_in [] carry_out [] {
  ^bb0(%a: !r, %b: f32):
    hla.yield
  }
  return
}

// -----

!S = tensor<1x?x?x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// fused_scan-C5: with lengths, states are of sequences.
func.func @carry_of_sequences(%q: !S, %c: tensor<4xi32>, %s: tensor<1x?x8x8xf32>) {
  // expected-error @+1 {{'hla.fused_scan' op expected lengths to be of 1 sequences, as the carry of state #0 is, 'tensor<1x?x8x8xf32>' (one loop walks all), but got 'tensor<4xi32>'}}
  hla.fused_scan ins(%q : !S) lengths(%c : tensor<4xi32>) carries(%s : tensor<1x?x8x8xf32>) carry_in [true] carry_out [false] {
  ^bb0(%a: !r, %S: !s):
    hla.yield %S : !s
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C8
func.func @groups(%q: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected groups to have 1 numbers (one an input), but got 2}}
  hla.fused_scan groups([1, 2]) ins(%q : !S) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    hla.yield
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C8
func.func @groups_zero(%q: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected groups to be positive (so many heads read one), but got 0}}
  hla.fused_scan groups([0]) ins(%q : !S) carry_in [] carry_out [] {
  ^bb0(%a: !r):
    hla.yield
  }
  return
}

// -----

!S = tensor<?x?x?x8xf32>
!r = vector<8xf32>

// fused_scan-C9
func.func @heads_first(%g: tensor<?xf32>, %q: !S) {
  // expected-error @+1 {{'hla.fused_scan' op expected the first input to be a sequence or numbers of tokens (these are walked), but got numbers of heads}}
  hla.fused_scan ins(%g, %q : tensor<?xf32>, !S) carry_in [] carry_out [] {
  ^bb0(%b: vector<1xf32>, %a: !r):
    hla.yield
  }
  return
}
