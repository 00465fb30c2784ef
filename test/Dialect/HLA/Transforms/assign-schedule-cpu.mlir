// A CPU takes every type and every head dimension.

// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=cpu | FileCheck %s

// CHECK-LABEL: func @f32
// CHECK:         schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
func.func @f32(%q: tensor<?x?x?x96xf32>, %e: tensor<?x?x?x96xf32>) -> tensor<?x?x?x96xf32> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x96xf32>, tensor<?x?x?x96xf32>, tensor<?x?x?x96xf32>) outs(%e : tensor<?x?x?x96xf32>) -> tensor<?x?x?x96xf32>
  return %y : tensor<?x?x?x96xf32>
}

// CHECK-LABEL: func @f64
// CHECK:         schedule(<chunk = 16, warps = 1, stages = 1, precision = f64>)
func.func @f64(%q: tensor<?x?x?x1xf64>, %e: tensor<?x?x?x1xf64>) -> tensor<?x?x?x1xf64> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x1xf64>, tensor<?x?x?x1xf64>, tensor<?x?x?x1xf64>) outs(%e : tensor<?x?x?x1xf64>) -> tensor<?x?x?x1xf64>
  return %y : tensor<?x?x?x1xf64>
}

// An f64 result, or carry, of f16 inputs: the sums are f64.
// CHECK-LABEL: func @f64_result
// CHECK:         schedule(<chunk = 16, warps = 1, stages = 1, precision = f64>)
func.func @f64_result(%q: tensor<?x?x?x7xf16>, %e: tensor<?x?x?x7xf64>) -> tensor<?x?x?x7xf64> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x7xf16>, tensor<?x?x?x7xf16>, tensor<?x?x?x7xf16>) outs(%e : tensor<?x?x?x7xf64>) -> tensor<?x?x?x7xf64>
  return %y : tensor<?x?x?x7xf64>
}

// Types may differ: what scans hand over is wider than what is loaded.
// CHECK-LABEL: func @mixed
// CHECK:         schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
func.func @mixed(%q: tensor<?x?x?x8xbf16>, %k: tensor<?x?x?x8xf16>, %e: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  %y = hla.scan ins(%q, %k, %k : tensor<?x?x?x8xbf16>, tensor<?x?x?x8xf16>, tensor<?x?x?x8xf16>) outs(%e : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return %y : tensor<?x?x?x8xf32>
}
