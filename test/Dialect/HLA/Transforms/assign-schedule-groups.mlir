// Scans for groups of warps: what they take by default, why others are not theirs,
// and which schedules they cannot have.

// RUN: hla-opt %s --hla-fuse-scans=target=sm_90a --hla-assign-schedule=target=sm_90a --split-input-file --verify-diagnostics | FileCheck %s

!S = tensor<?x?x?x64xbf16>
// A group for each scan, and two blocks a multiprocessor.
// CHECK-LABEL: func @two_scans
// CHECK:         schedule(<chunk = 64, warps = 8, stages = 3, precision = bf16, groups = 2, blocks = 2>)
func.func @two_scans(%q: !S, %k: !S, %v: !S, %u: tensor<?x?x?x64xf32>, %e: !S) -> !S {
  %y = hla.scan ins(%q, %k, %k : !S, !S, !S) outs(%u : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  %z = hla.scan ins(%q, %y, %v : !S, tensor<?x?x?x64xf32>, !S) outs(%e : !S) -> !S
  return %z : !S
}

// -----

!S = tensor<?x?x?x128xbf16>
// Its states leave no registers for a second block.
// CHECK-LABEL: func @wide
// CHECK:         schedule(<chunk = 64, warps = 4, stages = 3, precision = bf16, groups = 1>)
func.func @wide(%q: !S, %k: !S, %v: !S, %e: !S) -> !S {
  %z = hla.scan ins(%q, %k, %v : !S, !S, !S) outs(%e : !S) -> !S
  return %z : !S
}

// -----

!S = tensor<?x?x?x96xbf16>
func.func @width(%q: !S, %e: !S) -> !S {
  // expected-remark @+1 {{executed by warps that share every product (mma.sync), not by groups (wgmma): rows are not of 64 or 128 elements}}
  %z = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %z : !S
}

// -----

!S = tensor<?x?x?x64xf16>
func.func @type(%q: !S, %e: !S) -> !S {
  // expected-remark @+1 {{not by groups (wgmma): operands of products are not bf16}}
  %z = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %z : !S
}

// -----

!S = tensor<?x64x?x64xbf16>
func.func @one_chunk(%q: !S, %e: !S) -> !S {
  // expected-remark @+1 {{not by groups (wgmma): the sequence is known to be one chunk}}
  %z = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %z : !S
}

// -----

!S = tensor<1x?x?x64xbf16>
func.func @lengths(%q: !S, %e: !S, %l: tensor<?xi32>) -> !S {
  // expected-remark @+1 {{not by groups (wgmma): sequences of lengths are no boxes of a tensor}}
  %z = hla.scan ins(%q, %q, %q : !S, !S, !S) lengths(%l : tensor<?xi32>) outs(%e : !S) -> !S
  return %z : !S
}

// -----

!S = tensor<?x?x?x64xbf16>
func.func @too_many(%q: !S, %e: !S) -> !S {
  // expected-error @+1 {{expected a schedule of at most 1 groups (the loop's scans that share no registers), but got #hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16, groups = 2>}}
  %o = hla.fused_scan schedule(<chunk = 64, warps = 8, stages = 2, precision = bf16, groups = 2>)
      ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<64xbf16>, %S: vector<64x64xf32>):
    %S1, %y = hla.step ins(%a, %a, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %y, %S1 : vector<64xbf16>, vector<64x64xf32>
  } -> !S
  return %o : !S
}

// -----

!S = tensor<?x?x?x64xbf16>
func.func @chunk(%q: !S, %e: !S) -> !S {
  // expected-error @+1 {{expected a schedule of groups with chunks of 64, two stages or more, and one slice (a product has as many rows, and copies run ahead), but got #hla.schedule<chunk = 32, warps = 4, stages = 2, precision = bf16, groups = 1>}}
  %o = hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 2, precision = bf16, groups = 1>)
      ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<64xbf16>, %S: vector<64x64xf32>):
    %S1, %y = hla.step ins(%a, %a, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %y, %S1 : vector<64xbf16>, vector<64x64xf32>
  } -> !S
  return %o : !S
}

// -----

!S = tensor<?x?x?x128xbf16>
func.func @blocks(%q: !S, %e: !S) -> !S {
  // expected-error @+1 {{expected a schedule that needs at most 37888 bytes of shared memory (sm_90a has no more for a thread block), but got}}
  %o = hla.fused_scan schedule(<chunk = 64, warps = 4, stages = 2, precision = bf16, groups = 1, blocks = 6>)
      ins(%q : !S) outs(%e : !S) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<128xbf16>, %S: vector<128x128xf32>):
    %S1, %y = hla.step ins(%a, %a, %a : vector<128xbf16>, vector<128xbf16>, vector<128xbf16>) state(%S : vector<128x128xf32>) -> vector<128xbf16>
    hla.yield %y, %S1 : vector<128xbf16>, vector<128x128xf32>
  } -> !S
  return %o : !S
}
