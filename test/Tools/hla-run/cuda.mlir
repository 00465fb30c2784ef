// The path to a GPU, up to its driver: a stand-in for it takes the bundle's PTX,
// checks the sizes of parameters, and launches nothing. Results stay poisoned, so
// --check must say so.

// DEFINE: %{run} = env HLA_PTXAS= HLA_CUDA_LIBRARY=%hla_build_root/test/unit/libHLAFakeCuda.so
// RUN: %{run} hla-run %s --entry=f --device=cuda --input=random:1,B=2,T=5,H=4 | FileCheck %s
// RUN: %{run} hla-run %s --entry=f --device=cuda --input=random:1,B=1,T=65,H=3 | FileCheck %s
// RUN: %{run} hla-run %s --entry=f --device=cuda --input=random:1,B=1,T=0,H=3 | FileCheck %s
// RUN: %{run} not hla-run %s --entry=f --device=cuda --input=random:1,B=1,T=9,H=3 --check | FileCheck %s --check-prefix=POISON

// Lengths are integers, and extents are tied: those of 4 heads, and of 3 sequences.
// RUN: %{run} hla-run %s --entry=packed --device=cuda --input=random:1,T=70,H=8,N=3 | FileCheck %s --check-prefix=PACKED

// CHECK:      entry f
// CHECK-NEXT: device {{.*}} code for sm_90a (PTX)
// CHECK:      in q: {{[0-9]x[0-9]+x[0-9]}}x64 bf16
// CHECK:      out o: {{[0-9]x[0-9]+x[0-9]}}x32 bf16
// CHECK:      out p: {{[0-9]x[0-9]}}x64x32 f32
// CHECK:      time

// POISON: error {{.*}} FAIL

// PACKED:      in k: 1x70x2x64 bf16
// PACKED-NEXT: in c: 4 i32
// PACKED-NEXT: in, out s: 3x8x64x64 f32
// PACKED-NEXT: in, out o: 1x70x8x64 bf16

!Q = tensor<?x?x?x64xbf16>
!V = tensor<?x?x?x32xbf16>
!S = tensor<?x?x64x32xf32>
func.func @f(%q: !Q, %k: !Q, %v: !V, %s: !S, %o: !V, %p: !S) -> (!V, !S) {
  %r:2 = hla.scan decay(0.9) ins(%q, %k, %v : !Q, !Q, !V) carry(%s : !S) outs(%o, %p : !V, !S) -> !V, !S
  return %r#0, %r#1 : !V, !S
}

!P = tensor<1x?x?x64xbf16>
!N = tensor<?x?x64x64xf32>
func.func @packed(%q: !P, %k: !P, %c: tensor<?xi32>, %s: !N, %o: !P) -> (!P, !N) {
  %r:2 = hla.linear groups([1, 4]) ins(%q, %k, %k : !P, !P, !P) lengths(%c : tensor<?xi32>) carry(%s : !N) outs(%o, %s : !P, !N) -> !P, !N
  return %r#0, %r#1 : !P, !N
}
