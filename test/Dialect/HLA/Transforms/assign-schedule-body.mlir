// What is no operation on rows is refused where tiles are made, not before.

// RUN: not hla-opt %s --hla-assign-schedule=target=sm_90a --hla-bufferize --convert-hla-to-tile 2>&1 | FileCheck %s

// CHECK: expected hla.step, hla.row_sum, a broadcast of one number, a splat constant or an elementwise operation on rows in the body of a fused scan, but got vector.extract
func.func @extract(%q: tensor<?x?x?x256xf32>, %e: tensor<?x?x?x256xf32>) -> tensor<?x?x?x256xf32> {
  %o = hla.fused_scan ins(%q : tensor<?x?x?x256xf32>) outs(%e : tensor<?x?x?x256xf32>) carry_in [false] carry_out [false] {
  ^bb0(%a: vector<256xf32>, %S: vector<256x256xf32>):
    %x = vector.extract %a[0] : f32 from vector<256xf32>
    %b = vector.broadcast %x : f32 to vector<256xf32>
    %S1, %y = hla.step ins(%a, %a, %b : vector<256xf32>, vector<256xf32>, vector<256xf32>) state(%S : vector<256x256xf32>) -> vector<256xf32>
    hla.yield %y, %S1 : vector<256xf32>, vector<256x256xf32>
  } -> tensor<?x?x?x256xf32>
  return %o : tensor<?x?x?x256xf32>
}
