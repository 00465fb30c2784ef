// What a GPU cannot hold.

// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_86 --split-input-file --verify-diagnostics
// RUN: not hla-opt %s --hla-assign-schedule=target=sm_70 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: hla-assign-schedule: expected a known target (one of cpu, sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a), but got 'sm_70'

// Head dimensions.
func.func @dv512(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x512xbf16>, %e: tensor<?x?x?x512xbf16>) -> tensor<?x?x?x512xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected head dimensions of at most 256 on sm_86, but got 512 in 'tensor<?x?x?x512xbf16>'}}
  %y = hla.scan ins(%q, %q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x512xbf16>) outs(%e : tensor<?x?x?x512xbf16>) -> tensor<?x?x?x512xbf16>
  return %y : tensor<?x?x?x512xbf16>
}

// -----

// Element types.
func.func @f64(%q: tensor<?x?x?x64xbf16>, %w: tensor<?x?x?x64xf64>, %e: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected input #1 to be bf16, f16 or f32 on sm_86 (its tensor cores add up in f32), but got 'tensor<?x?x?x64xf64>'}}
  %o = hla.fused_scan ins(%q, %w : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xf64>) outs(%e : tensor<?x?x?x64xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<64xbf16>, %b: vector<64xf64>, %S: vector<64x64xf32>):
    %S1, %y = hla.step ins(%a, %a, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %y, %S1 : vector<64xbf16>, vector<64x64xf32>
  } -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

// An f64 result makes the state f64.
func.func @f64_result(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %e: tensor<?x?x?x64xf64>) -> tensor<?x?x?x64xf64> {
  // expected-error @+1 {{'hla.fused_scan' op expected states of f32 on sm_86 (its tensor cores add up in f32), but got 'vector<64x64xf64>'}}
  %y = hla.scan ins(%q, %q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%e : tensor<?x?x?x64xf64>) -> tensor<?x?x?x64xf64>
  return %y : tensor<?x?x?x64xf64>
}

// -----

// A schedule of the program's own is verified.
func.func @precision(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %e: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected input #0 to be f16 (products in that precision take inputs as they are; tf32, bf16x3 and f32 take all), but got 'tensor<?x?x?x64xbf16>' and #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = f16>}}
  %o = hla.fused_scan schedule(<chunk = 64, warps = 4, stages = 2, precision = f16>)
      ins(%q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%e : tensor<?x?x?x64xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<64xbf16>, %b: vector<64xbf16>, %S: vector<64x64xf32>):
    %S1, %y = hla.step ins(%a, %a, %b : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %y, %S1 : vector<64xbf16>, vector<64x64xf32>
  } -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

func.func @precision_f64(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>, %e: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule of precision bf16, f16, tf32, bf16x3 or f32 on sm_86 (its tensor cores add up in f32), but got #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = f64>}}
  %o = hla.fused_scan schedule(<chunk = 64, warps = 4, stages = 2, precision = f64>)
      ins(%q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) outs(%e : tensor<?x?x?x64xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<64xbf16>, %b: vector<64xbf16>, %S: vector<64x64xf32>):
    %S1, %y = hla.step ins(%a, %a, %b : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %y, %S1 : vector<64xbf16>, vector<64x64xf32>
  } -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// -----

func.func @shared_memory(%q: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %e: tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule that needs at most 101376 bytes of shared memory (sm_86 has no more for a thread block), but got #hla.schedule<chunk = 64, warps = 8, stages = 3, precision = bf16>, which needs 122880}}
  %o = hla.fused_scan schedule(<chunk = 64, warps = 8, stages = 3, precision = bf16>)
      ins(%q, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%e : tensor<?x?x?x128xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<128xbf16>, %b: vector<128xbf16>, %S: vector<128x128xf32>):
    %S1, %y = hla.step ins(%a, %a, %b : vector<128xbf16>, vector<128xbf16>, vector<128xbf16>) state(%S : vector<128x128xf32>) -> vector<128xbf16>
    hla.yield %y, %S1 : vector<128xbf16>, vector<128x128xf32>
  } -> tensor<?x?x?x128xbf16>
  return %o : tensor<?x?x?x128xbf16>
}

// -----

func.func @registers(%q: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %e: tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule whose states need at most 55 registers of a thread (sm_86 has 255, and products need 200), but got #hla.schedule<chunk = 32, warps = 2, stages = 1, precision = bf16>, which needs 256}}
  %o = hla.fused_scan schedule(<chunk = 32, warps = 2, stages = 1, precision = bf16>)
      ins(%q, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%e : tensor<?x?x?x128xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<128xbf16>, %b: vector<128xbf16>, %S: vector<128x128xf32>):
    %S1, %y = hla.step ins(%a, %a, %b : vector<128xbf16>, vector<128xbf16>, vector<128xbf16>) state(%S : vector<128x128xf32>) -> vector<128xbf16>
    hla.yield %y, %S1 : vector<128xbf16>, vector<128x128xf32>
  } -> tensor<?x?x?x128xbf16>
  return %o : tensor<?x?x?x128xbf16>
}

// -----

func.func @state(%q: tensor<?x?x?x32xbf16>, %v: tensor<?x?x?x32xbf16>, %e: tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16> {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule whose warps can share a state of 32x32 (in pieces of 16x8), but got #hla.schedule<chunk = 64, warps = 16, stages = 2, precision = bf16>}}
  %o = hla.fused_scan schedule(<chunk = 64, warps = 16, stages = 2, precision = bf16>)
      ins(%q, %v : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>) outs(%e : tensor<?x?x?x32xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<32xbf16>, %b: vector<32xbf16>, %S: vector<32x32xf32>):
    %S1, %y = hla.step ins(%a, %a, %b : vector<32xbf16>, vector<32xbf16>, vector<32xbf16>) state(%S : vector<32x32xf32>) -> vector<32xbf16>
    hla.yield %y, %S1 : vector<32xbf16>, vector<32x32xf32>
  } -> tensor<?x?x?x32xbf16>
  return %o : tensor<?x?x?x32xbf16>
}

// -----

// What slices share out must not be summed over again in the loop.
func.func @slices(%q: tensor<?x?x?x64xbf16>, %e: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule of one slice (rows or states that leave the loop are summed over in it, or too narrow to be cut), but got #hla.schedule<chunk = 32, warps = 4, stages = 1, precision = bf16, slices = 2>}}
  %o:2 = hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 1, precision = bf16, slices = 2>)
      ins(%q : tensor<?x?x?x64xbf16>) outs(%e, %e : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) carry_in [false, false] carry_out [false, false] {
  ^bb0(%a: vector<64xbf16>, %S: vector<64x64xf32>, %P: vector<64x64xf32>):
    %S1, %u = hla.step ins(%a, %a, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    %P1, %y = hla.step ins(%a, %u, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%P : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %u, %y, %S1, %P1 : vector<64xbf16>, vector<64xbf16>, vector<64x64xf32>, vector<64x64xf32>
  } -> tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
  return %o#0, %o#1 : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>
}
