// Masked second-order attention, o = ((A Aᵀ) ⊙ L) v with A = (q kᵀ) ⊙ L, for
// head dimension 64 and any batch, length and number of heads:
//
//   hla-run second_order.mlir --entry=masked_f32 --input=random:0,B=2,T=500,H=4 --check
//   hla-compile second_order.mlir --entry=masked_bf16 --target=sm_90a -o DIR
//
// GPUs take the 16-bit types; a CPU takes every type.

!f32 = tensor<?x?x?x64xf32>
!bf16 = tensor<?x?x?x64xbf16>

func.func @masked_f32(%q: !f32, %k: !f32, %v: !f32, %o: !f32) -> !f32 {
  %r = hla.second_order ins(%q, %k, %v : !f32, !f32, !f32) outs(%o : !f32) -> !f32
  return %r : !f32
}

func.func @masked_bf16(%q: !bf16, %k: !bf16, %v: !bf16, %o: !bf16) -> !bf16 {
  %r = hla.second_order ins(%q, %k, %v : !bf16, !bf16, !bf16) outs(%o : !bf16) -> !bf16
  return %r : !bf16
}
