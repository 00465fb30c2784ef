// What is put into one loop depends on how many states the target holds, and on
// who hands rows over.

// RUN: hla-opt %s --hla-fuse-scans | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: hla-opt %s --hla-fuse-scans=target=sm_90a | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: not hla-opt %s --hla-fuse-scans=target=sm_1 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: hla-fuse-scans: expected a known target (one of cpu, sm_80, {{.*}}), but got 'sm_1'

!W = tensor<?x?x?x128xbf16>
!F = tensor<?x?x?x128xf32>
!V = tensor<?x?x?x64xbf16>
!U = tensor<?x?x?x64xf32>

// Three scans that only share q: two states of 128×128 fit a thread block of
// sm_90a, three do not.
// CHECK-LABEL: func @sharing
// CPU:           hla.fused_scan {{.*}} carry_in [false, false, false]
// CPU-NOT:       hla.fused_scan
// GPU:           hla.fused_scan {{.*}} carry_in [false, false] carry_out
// GPU:           hla.fused_scan {{.*}} carry_in [false] carry_out
func.func @sharing(%q: !W, %a: !W, %b: !W, %c: !W, %e: !W) -> (!W, !W, !W) {
  %0 = hla.scan ins(%q, %a, %a : !W, !W, !W) outs(%e : !W) -> !W
  %1 = hla.scan ins(%q, %b, %b : !W, !W, !W) outs(%e : !W) -> !W
  %2 = hla.scan ins(%q, %c, %c : !W, !W, !W) outs(%e : !W) -> !W
  return %0, %1, %2 : !W, !W, !W
}

// Rows are handed over in memory to a scan whose state does not fit.
// CHECK-LABEL: func @handed_over
// CPU:           hla.fused_scan {{.*}} carry_in [false, false, false]
// CPU-NOT:       hla.fused_scan
// GPU:           %[[L:.*]]:2 = hla.fused_scan {{.*}} carry_in [false, false] carry_out
// GPU:           hla.fused_scan ins(%[[L]]#0, {{.*}} carry_in [false] carry_out
func.func @handed_over(%q: !W, %k: !W, %v: !W, %u: !F, %e: !W) -> (!W, !W) {
  %0 = hla.scan ins(%q, %k, %k : !W, !W, !W) outs(%u : !F) -> !F
  %1 = hla.scan ins(%q, %0, %v : !W, !F, !W) outs(%e : !W) -> !W
  %2 = hla.scan ins(%0, %q, %v : !F, !W, !W) outs(%e : !W) -> !W
  return %1, %2 : !W, !W
}

// The last scan reads rows of both loops so far: all become one, and no rows are
// in memory.
// CHECK-LABEL: func @two_producers
// CHECK:         hla.fused_scan ins(%{{[^,]*}}, %{{[^,]*}} : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%{{.*}} : tensor<?x?x?x64xbf16>) carry_in [false, false, false]
// CHECK-NEXT:    ^bb0(%[[Q:.*]]: vector<64xbf16>, %[[K:.*]]: vector<64xbf16>, %{{.*}}: vector<64x64xf32>
// CHECK-NEXT:      %{{.*}}, %[[O:.*]] = hla.step ins(%[[Q]], %[[Q]], %[[Q]] :
// CHECK-NEXT:      %{{.*}}, %[[W:.*]] = hla.step ins(%[[K]], %[[K]], %[[K]] :
// CHECK-NEXT:      hla.step ins(%[[W]], %[[K]], %[[O]] : vector<64xf32>
// CHECK-NOT:     hla.fused_scan
func.func @two_producers(%q: !V, %k: !V, %e: !V, %u: !U) -> !V {
  %o = hla.scan ins(%q, %q, %q : !V, !V, !V) outs(%e : !V) -> !V
  %w = hla.scan ins(%k, %k, %k : !V, !V, !V) outs(%u : !U) -> !U
  %p = hla.scan ins(%w, %k, %o : !U, !V, !V) outs(%e : !V) -> !V
  return %p : !V
}
