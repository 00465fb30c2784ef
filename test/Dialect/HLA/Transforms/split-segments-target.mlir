// Sums of states that the target does not hold in one loop.

// RUN: hla-opt %s --hla-decompose-operators --canonicalize --cse --hla-fuse-scans=target=sm_90a --hla-split-segments=target=sm_90a --canonicalize --cse --hla-assign-schedule=target=sm_90a | FileCheck %s
// RUN: not hla-opt %s --hla-split-segments=precision=f8 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: hla-split-segments: expected precision to be bf16, f16, tf32, bf16x3, f32 or f64, but got 'f8'

// A large state leaves in slices, and a normaliser's, which has one column, is whole
// in all of them: they are summed in two loops.
// CHECK-LABEL: func @normalized
// CHECK:         hla.fused_scan schedule({{.*}}) ins({{.*}}) segments({{.*}}) summary outs({{.*}} : tensor<?x?x?x256x{{.*}}xf32>) carry_in [false] carry_out [true] {
// CHECK:         hla.fused_scan schedule({{.*}}) ins({{.*}}) segments({{.*}}) summary outs({{.*}} : tensor<?x?x?x256x{{.*}}xf32>) carry_in [false] carry_out [true] {
// CHECK-COUNT-2: hla.combine_segments
// CHECK:         hla.fused_scan schedule({{.*}}slices{{.*}}) ins({{.*}}) segments({{.*}}) entries({{.*}}) {{.*}} entry_in [true, true] {
!K = tensor<?x?x?x256xbf16>
!V = tensor<?x?x?x160xbf16>
func.func @normalized(%q: !K, %k: !K, %v: !V, %o: !V) -> !V {
  %r = hla.linear normalize(add, 1.0e-6) ins(%q, %k, %v : !K, !K, !V) outs(%o : !V) -> !V
  return %r : !V
}

// Too few tokens to be worth segments, however few the heads are.
// CHECK-LABEL: func @few_tokens
// CHECK-NOT:     segments(
// CHECK:         return
!F = tensor<?x1000x?x64xbf16>
func.func @few_tokens(%q: !F, %o: !F) -> !F {
  %r = hla.linear ins(%q, %q, %q : !F, !F, !F) outs(%o : !F) -> !F
  return %r : !F
}
