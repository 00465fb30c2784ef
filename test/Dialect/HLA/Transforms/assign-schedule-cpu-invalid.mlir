// A CPU has no thread blocks to share a head.

// RUN: hla-opt %s --hla-assign-schedule --verify-diagnostics

func.func @slices(%q: tensor<?x?x?x8xf32>, %e: tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32> {
  // expected-error @+1 {{'hla.fused_scan' op expected a schedule of one slice on cpu (it has no thread blocks), but got #hla.schedule<chunk = 16, warps = 1, stages = 1, precision = f32, slices = 2>}}
  %o = hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32, slices = 2>)
      ins(%q : tensor<?x?x?x8xf32>) outs(%e : tensor<?x?x?x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%a, %a, %a : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  } -> tensor<?x?x?x8xf32>
  return %o : tensor<?x?x?x8xf32>
}
