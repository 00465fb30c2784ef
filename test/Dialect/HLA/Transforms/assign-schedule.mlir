// The default of every target, and what becomes of a schedule that is there
// already. What a target cannot hold is in assign-schedule-invalid.mlir.

// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_80 | FileCheck %s --check-prefixes=CHECK,GPU,LARGE -DTARGET=sm_80
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_86 | FileCheck %s --check-prefixes=CHECK,GPU,SMALL -DTARGET=sm_86
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_89 | FileCheck %s --check-prefixes=CHECK,GPU,SMALL -DTARGET=sm_89
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_90a | FileCheck %s --check-prefixes=CHECK,GPU,HOPPER -DTARGET=sm_90a
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_100a | FileCheck %s --check-prefixes=CHECK,GPU,LARGE -DTARGET=sm_100a
// RUN: hla-opt %s --hla-fuse-scans --hla-assign-schedule=target=sm_120a | FileCheck %s --check-prefixes=CHECK,GPU,SMALL -DTARGET=sm_120a

// The target stands on the module; a program says it, or the pass's option.
// CPU: module attributes {hla.target = #hla.target<"cpu">}
// GPU: module attributes {hla.target = #hla.target<"[[TARGET]]">}

// A warp for every 16 rows of the largest state, four at least; on a CPU products are in f32.
// CHECK-LABEL: func @d32
// CPU:           schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
// GPU:           schedule(<chunk = 32, warps = 4, stages = 2, precision = bf16>)
func.func @d32(%q: tensor<?x?x?x32xbf16>, %e: tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>) outs(%e : tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16>
  return %y : tensor<?x?x?x32xbf16>
}

// CHECK-LABEL: func @d64_f16
// CPU:           schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
// GPU:           schedule(<chunk = 32, warps = 4, stages = 2, precision = f16>)
func.func @d64_f16(%q: tensor<?x?x?x64xf16>, %e: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) outs(%e : tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16>
  return %y : tensor<?x?x?x64xf16>
}

// The larger side of a state decides.
// CHECK-LABEL: func @d32_dv128
// GPU:           schedule(<chunk = 32, warps = 8, stages = 2, precision = bf16>)
func.func @d32_dv128(%q: tensor<?x?x?x32xbf16>, %v: tensor<?x?x?x128xbf16>, %e: tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16> {
  %y = hla.scan ins(%q, %q, %v : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>, tensor<?x?x?x128xbf16>) outs(%e : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
  return %y : tensor<?x?x?x128xbf16>
}

// Five tensors twice, what warps exchange, and the outputs: less is fetched ahead
// where a thread block has less than 100 KiB.
// CHECK-LABEL: func @five_of_d128
// LARGE:         schedule(<chunk = 32, warps = 8, stages = 2, precision = bf16>)
// HOPPER:        schedule(<chunk = 64, warps = 8, stages = 2, precision = bf16, groups = 2>)
// SMALL:         schedule(<chunk = 32, warps = 8, stages = 1, precision = bf16>)
func.func @five_of_d128(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %l: tensor<?x?x?x128xbf16>, %w: tensor<?x?x?x128xbf16>, %e: tensor<?x?x?x128xbf16>, %f: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) {
  %y = hla.scan ins(%q, %k, %v : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%e : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
  %z = hla.scan ins(%q, %l, %w : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) outs(%f : tensor<?x?x?x128xbf16>) -> tensor<?x?x?x128xbf16>
  return %y, %z : tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>
}

// Of f32, tensors take twice the room: one stage where a thread block has less than
// 100 KiB.
// CHECK-LABEL: func @d128_f32
// CPU:           schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
// LARGE:         schedule(<chunk = 32, warps = 8, stages = 2, precision = f32>)
// HOPPER:        schedule(<chunk = 32, warps = 8, stages = 2, precision = f32>)
// SMALL:         schedule(<chunk = 32, warps = 8, stages = 1, precision = f32>)
func.func @d128_f32(%q: tensor<?x?x?x128xf32>, %k: tensor<?x?x?x128xf32>, %v: tensor<?x?x?x128xf32>, %e: tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32> {
  %y = hla.scan ins(%q, %k, %v : tensor<?x?x?x128xf32>, tensor<?x?x?x128xf32>, tensor<?x?x?x128xf32>) outs(%e : tensor<?x?x?x128xf32>) -> tensor<?x?x?x128xf32>
  return %y : tensor<?x?x?x128xf32>
}

// Inputs of several types lose nothing in f32.
// CHECK-LABEL: func @mixed
// CHECK:         precision = f32>)
func.func @mixed(%q: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xf16>, %e: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %y = hla.scan ins(%q, %q, %v : tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xf16>) outs(%e : tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16>
  return %y : tensor<?x?x?x64xbf16>
}

// A schedule of the program's own is kept.
// CHECK-LABEL: func @own
// CHECK:         hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 3, precision = bf16>)
func.func @own(%q: tensor<?x?x?x64xbf16>, %e: tensor<?x?x?x64xbf16>) -> tensor<?x?x?x64xbf16> {
  %o = hla.fused_scan schedule(<chunk = 32, warps = 4, stages = 3, precision = bf16>)
      ins(%q : tensor<?x?x?x64xbf16>) outs(%e : tensor<?x?x?x64xbf16>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<64xbf16>, %S: vector<64x64xf32>):
    %S1, %y = hla.step ins(%a, %a, %a : vector<64xbf16>, vector<64xbf16>, vector<64xbf16>) state(%S : vector<64x64xf32>) -> vector<64xbf16>
    hla.yield %y, %S1 : vector<64xbf16>, vector<64x64xf32>
  } -> tensor<?x?x?x64xbf16>
  return %o : tensor<?x?x?x64xbf16>
}

// Loops in regions have one too.
// CHECK-LABEL: func @nested
// CHECK:         scf.if
// CHECK:           hla.fused_scan schedule(
func.func @nested(%c: i1, %q: tensor<?x?x?x32xbf16>, %e: tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16> {
  %r = scf.if %c -> tensor<?x?x?x32xbf16> {
    %y = hla.scan ins(%q, %q, %q : tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>, tensor<?x?x?x32xbf16>) outs(%e : tensor<?x?x?x32xbf16>) -> tensor<?x?x?x32xbf16>
    scf.yield %y : tensor<?x?x?x32xbf16>
  } else {
    scf.yield %e : tensor<?x?x?x32xbf16>
  }
  return %r : tensor<?x?x?x32xbf16>
}

// One chunk, of 16 tokens if they are enough, is loaded once, by as many thread
// blocks as a multiprocessor has registers for: of the states there is one at a
// time.
// CHECK-LABEL: func @one_token
// GPU:           schedule(<chunk = 16, warps = 8, stages = 1, precision = bf16, blocks = 2>)
!T = tensor<?x1x?x128xbf16>
!C = tensor<?x?x128x128xf32>
func.func @one_token(%q: !T, %k: !T, %v: !T, %s: !C, %f: !C, %e: !T) -> (!T, !C, !C) {
  %o:3 = hla.fused_scan ins(%q, %k, %v : !T, !T, !T) carries(%s, %f : !C, !C) outs(%e, %s, %f : !T, !C, !C)
      carry_in [true, true] carry_out [true, true] {
  ^bb0(%a: vector<128xbf16>, %b: vector<128xbf16>, %c: vector<128xbf16>, %S: vector<128x128xf32>, %F: vector<128x128xf32>):
    %S1, %u = hla.step ins(%a, %b, %b : vector<128xbf16>, vector<128xbf16>, vector<128xbf16>) state(%S : vector<128x128xf32>) -> vector<128xbf16>
    %F1, %y = hla.step ins(%a, %u, %c : vector<128xbf16>, vector<128xbf16>, vector<128xbf16>) state(%F : vector<128x128xf32>) -> vector<128xbf16>
    hla.yield %y, %S1, %F1 : vector<128xbf16>, vector<128x128xf32>, vector<128x128xf32>
  } -> !T, !C, !C
  return %o#0, %o#1, %o#2 : !T, !C, !C
}
