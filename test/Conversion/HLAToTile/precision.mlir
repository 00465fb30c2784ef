// What operands of products are, by the schedule's precision. A step of f32 or f16 rows
// has the products q kᵀ (two inputs), q S and A v (one computed operand), kᵀ v.

// RUN: sed 's/TYPE/f32/g; s/PRECISION/tf32/' %s | hla-opt --convert-hla-to-tile --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,TF32
// RUN: sed 's/TYPE/f32/g; s/PRECISION/f32/' %s | hla-opt --convert-hla-to-tile --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,F32
// RUN: sed 's/TYPE/f32/g; s/PRECISION/bf16x3/' %s | hla-opt --convert-hla-to-tile --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,BF16X3
// RUN: sed 's/TYPE/f16/g; s/PRECISION/f16/' %s | hla-opt --convert-hla-to-tile --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,F16
// RUN: sed 's/TYPE/bf16/g; s/PRECISION/bf16x3/' %s | hla-opt --convert-hla-to-tile --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,MIXED

// CHECK-LABEL: func @scan

// Inputs are rounded as they are loaded, computed operands where they are computed.
// TF32:          %[[Q:.*]] = hla_tile.load {{.*}} : memref<?x32xf32, {{.*}}> -> tensor<16x32xtf32>
// TF32:          %[[K:.*]] = hla_tile.load {{.*}} -> tensor<16x32xtf32>
// TF32:          %[[V:.*]] = hla_tile.load {{.*}} -> tensor<16x32xtf32>
// TF32:          hla_tile.dot %[[Q]], %[[K]], %{{.*}} transpose_rhs : tensor<16x32xtf32>, tensor<16x32xtf32> -> tensor<16x16xf32>
// TF32:          arith.truncf %{{.*}} to_nearest_away : tensor<16x16xf32> to tensor<16x16xtf32>
// TF32:          arith.truncf %{{.*}} to_nearest_away : tensor<32x32xf32> to tensor<32x32xtf32>
// TF32:          hla_tile.dot %[[Q]], %{{.*}} : tensor<16x32xtf32>, tensor<32x32xtf32> -> tensor<16x32xf32>
// TF32:          hla_tile.dot %{{.*}}, %[[V]], %{{.*}} : tensor<16x16xtf32>, tensor<16x32xtf32> -> tensor<16x32xf32>
// TF32:          hla_tile.dot %[[K]], %[[V]], %{{.*}} transpose_lhs : tensor<16x32xtf32>, tensor<16x32xtf32> -> tensor<32x32xf32>

// F32-NOT:       arith.truncf
// F32-COUNT-4:   hla_tile.dot %{{.*}} : tensor<{{.*}}xf32>, tensor<{{.*}}xf32> ->
// F32-NOT:       arith.truncf

// BF16X3-NOT:     arith.truncf
// BF16X3-COUNT-4: hla_tile.dot bf16x3 %{{.*}} : tensor<{{.*}}xf32>, tensor<{{.*}}xf32> ->
// BF16X3-NOT:     arith.truncf

// A product of inputs is one of f16; what is computed may leave its range.
// F16-NOT:       arith.extf
// F16:           hla_tile.dot {{.*}} : tensor<16x32xf16>, tensor<16x32xf16> -> tensor<16x16xf32>
// F16:           hla_tile.dot {{.*}} : tensor<16x32xf16>, tensor<32x32xtf32> -> tensor<16x32xf32>
// F16:           hla_tile.dot {{.*}} : tensor<16x16xtf32>, tensor<16x32xf16> -> tensor<16x32xf32>
// F16:           arith.truncf %{{.*}} : tensor<16x32xf32> to tensor<16x32xf16>
// F16:           hla_tile.dot {{.*}} : tensor<16x32xf16>, tensor<16x32xf16> -> tensor<32x32xf32>

// Products of inputs of one 16-bit type are exact.
// MIXED:         hla_tile.dot %{{.*}} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<16x16xf32>
// MIXED:         hla_tile.dot bf16x3 %{{.*}} : tensor<16x32xbf16>, tensor<32x32xf32> -> tensor<16x32xf32>
// MIXED:         hla_tile.dot bf16x3 %{{.*}} : tensor<16x16xf32>, tensor<16x32xbf16> -> tensor<16x32xf32>
// MIXED:         hla_tile.dot %{{.*}} : tensor<16x32xbf16>, tensor<16x32xbf16> -> tensor<32x32xf32>

!T = memref<?x?x?x32xTYPE>
!t = vector<32xTYPE>
func.func @scan(%Q: !T, %K: !T, %V: !T, %O: !T) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = PRECISION>)
      ins(%Q, %K, %V : !T, !T, !T) outs(%O : !T) carry_in [false] carry_out [false] {
  ^bb0(%q: !t, %k: !t, %v: !t, %S: vector<32x32xf32>):
    %S1, %y = hla.step ins(%q, %k, %v : !t, !t, !t) state(%S : vector<32x32xf32>) -> !t
    hla.yield %y, %S1 : !t, vector<32x32xf32>
  }
  return
}
