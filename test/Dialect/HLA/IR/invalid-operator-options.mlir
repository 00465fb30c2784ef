// One case for each constraint of operators on options.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C10
func.func @groups_few(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected groups to have 2 numbers (of query, and of key and value), but got 1}}
  hla.linear groups([2]) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C10
func.func @groups_zero(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected groups to be positive (so many heads read one), but got 0}}
  hla.linear groups([2, 0]) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @scale_infinite(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected scale to the power of 1 to be finite in 'f32' (the output is multiplied by it), but got a scale of INF}}
  hla.linear scale(0x7FF0000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @scale_nan(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected scale to the power of 2 to be finite in 'f32' (the output is multiplied by it), but got a scale of nan}}
  hla.second_order scale(0x7FF8000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @scale_large(%q: !S) {
  // expected-error @+1 {{'hla.third_order' op expected scale to the power of 3 to be finite in 'f32' (the output is multiplied by it), but got a scale of -1.000000e+13}}
  hla.third_order scale(-1.0e13) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @epsilon_negative(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected epsilon to be 0 or a positive and finite 'f32' (the type of sums), but got -1.000000e+00}}
  hla.linear normalize(add, -1.0) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @epsilon_nan(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected epsilon to be 0 or a positive and finite 'f32' (the type of sums), but got nan}}
  hla.linear normalize(clamp, 0x7FF8000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @epsilon_large(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected epsilon to be 0 or a positive and finite 'f32' (the type of sums), but got 1.000000e+39}}
  hla.linear normalize(add, 1.0e39) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @epsilon_small(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected epsilon to be 0 or a positive and finite 'f32' (the type of sums), but got 1.000000e-39}}
  hla.linear normalize(add, 1.0e-39) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// operator-C11
func.func @epsilon_alone(%q: !S) {
  // expected-error @+1 {{'hla.linear' op expected epsilon to be 0 with normalize(none) (there is no divisor to keep from 0), but got 1.000000e+00}}
  hla.linear normalize(none, 1.0) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// second_order-C12
func.func @ridge_negative(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected ridge to be 0 or a positive and finite 'f32' (the type of sums), but got -1.000000e+00}}
  hla.second_order ridge(-1.0) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// second_order-C12
func.func @ridge_nan(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected ridge to be 0 or a positive and finite 'f32' (the type of sums), but got nan}}
  hla.second_order variant(prefix) ridge(0x7FF8000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// third_order-C12
func.func @ridge_infinite(%q: !S) {
  // expected-error @+1 {{'hla.third_order' op expected ridge to be 0 or a positive and finite 'f32' (the type of sums), but got INF}}
  hla.third_order ridge(0x7FF0000000000000) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// second_order-C13
func.func @reading_of_prefix(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected reading(causal) (the masked operator alone has a choice), but got squared with variant(prefix)}}
  hla.second_order variant(prefix) reading(squared) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// second_order-C13
func.func @reading_of_paper(%q: !S) {
  // expected-error @+1 {{'hla.second_order' op expected reading(causal) (the masked operator alone has a choice), but got squared with variant(paper)}}
  hla.second_order variant(paper) reading(squared) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}

// -----

!S = tensor<?x?x?x64xf32>
!SS = tensor<?x?x64x64xf32>

// third_order-C13
func.func @ridge_of_paper(%q: !S) {
  // expected-error @+1 {{'hla.third_order' op expected no ridge with variant(paper) (it has two second moments), but got 1.000000e+00}}
  hla.third_order variant(paper) ridge(1.0) ins(%q, %q, %q : !S, !S, !S) outs(%q : !S) -> !S
  return
}
