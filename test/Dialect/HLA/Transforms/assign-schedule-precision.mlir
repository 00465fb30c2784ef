// The precision that is asked for; what is no precision, or not one of the inputs.

// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=sm_80 precision=tf32" | FileCheck %s -DPRECISION=tf32
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=sm_80 precision=bf16x3" | FileCheck %s -DPRECISION=bf16x3
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=sm_80 precision=f32" | FileCheck %s -DPRECISION=f32
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=cpu precision=tf32" | FileCheck %s -DPRECISION=tf32
// RUN: not hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=sm_80 precision=f8" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=sm_80 precision=f16" 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: not hla-opt %s --hla-fuse-scans --hla-assign-schedule="target=sm_80 precision=f64" 2>&1 | FileCheck %s --check-prefix=WIDE

// UNKNOWN: error: hla-assign-schedule: expected precision to be bf16, f16, tf32, bf16x3, f32 or f64, but got 'f8'
// NARROW: error: {{.*}}expected input #0 to be f16 (products in that precision take inputs as they are; tf32, bf16x3 and f32 take all), but got 'tensor<?x?x?x64xbf16>'
// WIDE: error: {{.*}}expected a schedule of precision bf16, f16, tf32, bf16x3 or f32 on sm_80 (its tensor cores add up in f32)

// CHECK-LABEL: func @bf16
// CHECK:         precision = [[PRECISION]]>)
func.func @bf16(%q: tensor<?x?x?x64xbf16>, %e: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%e : tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}

// CHECK-LABEL: func @f32
// CHECK:         precision = [[PRECISION]]>)
func.func @f32(%q: tensor<?x?x?x64xf32>, %e: tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>, tensor<?x?x?x64xf32>) outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  return %y : tensor<?x?x?x64xf32>
}
