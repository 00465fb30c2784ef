// Attributes, and what the operations' own syntax refuses.

// RUN: hla-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a known target (one of cpu, sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a), but got 'sm_70'}}
func.func @target() attributes {t = #hla.target<"sm_70">} { return }

// -----

// The name is the whole of it: sm_90 lacks what sm_90a has.
// expected-error @+1 {{expected a known target (one of cpu, sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a), but got 'sm_90'}}
func.func @target_suffix() attributes {t = #hla.target<"sm_90">} { return }

// -----

// expected-error @+1 {{expected chunk to be a power of two from 16 to 256 (scores are cut into 16x16 pieces), but got 48}}
func.func @chunk_power() attributes {s = #hla.schedule<chunk = 48, warps = 4, stages = 2, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected chunk to be a power of two from 16 to 256 (scores are cut into 16x16 pieces), but got 8}}
func.func @chunk_small() attributes {s = #hla.schedule<chunk = 8, warps = 4, stages = 2, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected chunk to be a power of two from 16 to 256 (scores are cut into 16x16 pieces), but got 512}}
func.func @chunk_large() attributes {s = #hla.schedule<chunk = 512, warps = 4, stages = 2, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected warps to be a power of two from 1 to 16 (they cut tiles into equal parts), but got 3}}
func.func @warps_power() attributes {s = #hla.schedule<chunk = 64, warps = 3, stages = 2, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected warps to be a power of two from 1 to 16 (they cut tiles into equal parts), but got 0}}
func.func @warps_none() attributes {s = #hla.schedule<chunk = 64, warps = 0, stages = 2, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected warps to be a power of two from 1 to 16 (they cut tiles into equal parts), but got 32}}
func.func @warps_many() attributes {s = #hla.schedule<chunk = 64, warps = 32, stages = 2, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected stages to be from 1 to 8, but got 0}}
func.func @stages_none() attributes {s = #hla.schedule<chunk = 64, warps = 4, stages = 0, precision = bf16>} { return }

// -----

// expected-error @+1 {{expected stages to be from 1 to 8, but got 9}}
func.func @stages_many() attributes {s = #hla.schedule<chunk = 64, warps = 4, stages = 9, precision = bf16>} { return }

// -----

// expected-error @+2 {{failed to parse HLA_ScheduleAttr parameter 'precision'}}
// expected-error @+1 {{expected one of [bf16, f16, f32, f64, tf32, bf16x3] for how exact the operands of a kernel's matrix products are, got: f8}}
func.func @precision() attributes {s = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = f8>} { return }

// -----

// expected-error @+1 {{expected slices to be a power of two from 1 to 8 (they cut tiles into equal parts), but got 3}}
func.func @slices_power() attributes {s = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 3>} { return }

// -----

// expected-error @+1 {{expected slices to be a power of two from 1 to 8 (they cut tiles into equal parts), but got 32}}
func.func @slices_many() attributes {s = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16, slices = 32>} { return }

// -----

// expected-error @+1 {{struct is missing required parameter: precision}}
func.func @missing() attributes {s = #hla.schedule<chunk = 64, warps = 4, stages = 2>} { return }

// -----

// expected-error @+1 {{unknown attribute `masked` in dialect `hla`}}
func.func @unknown() attributes {s = #hla.masked} { return }

// -----

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

func.func @layout(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected one of [bthd, bhtd] for order of the dimensions of a sequence, got: btdh}}
  hla.second_order layout(btdh) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @variant(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected one of [masked, prefix, paper] for which second-order operator, got: serial}}
  hla.second_order variant(serial) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @inputs(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected ','}}
  hla.second_order ins(%q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @decay(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected attribute value}}
  hla.scan decay(half) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @carry_in(%q: memref<?x?x?x8xf32>) {
  // expected-error @+1 {{expected 'carry_in'}}
  hla.fused_scan ins(%q : memref<?x?x?x8xf32>) outs(%q : memref<?x?x?x8xf32>) {
  ^bb0(%a: vector<8xf32>):
    hla.yield %a : vector<8xf32>
  }
  return
}

// -----

// Operators are of tensors: only loops have buffers.
func.func @memref(%q: memref<?x?x?x8xf32>) {
  // expected-error @+1 {{'hla.second_order' op operand #0 must be query (a ranked tensor of bf16, f16, f32 or f64), but got 'memref<?x?x?x8xf32>'}}
  hla.second_order ins(%q, %q, %q : memref<?x?x?x8xf32>, memref<?x?x?x8xf32>, memref<?x?x?x8xf32>) outs(%q : memref<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @unknown_op() {
  // expected-error @+1 {{custom op 'hla.fourth_order' is unknown}}
  hla.fourth_order
  return
}

// -----

func.func @third_order_variant(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected one of [masked, paper] for which third-order operator, got: prefix}}
  hla.third_order variant(prefix) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @reading(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected one of [causal, squared] for how a decay acts on the masked second order, got: masked}}
  hla.second_order reading(masked) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @normalizer(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected one of [none, add, clamp] for what an output is divided by, got: max}}
  hla.linear normalize(max, 1.0) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

func.func @epsilon(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected ','}}
  hla.linear normalize(add) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

// One second moment has a ridge: no other operator has the word.
func.func @ridge(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected 'ins'}}
  hla.asymmetric ridge(1.0) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}

// -----

// Options have an order.
func.func @order(%q: tensor<?x?x?x8xf32>) {
  // expected-error @+1 {{expected 'ins'}}
  hla.linear reverse decay(0.5) ins(%q, %q, %q : tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>, tensor<?x?x?x8xf32>) outs(%q : tensor<?x?x?x8xf32>) -> tensor<?x?x?x8xf32>
  return
}
