// The path to a GPU, up to its driver: a stand-in for it takes the bundle's PTX,
// checks the sizes of parameters, and launches nothing. Results stay poisoned, so
// --check must say so.

// DEFINE: %{run} = env HLA_PTXAS= HLA_CUDA_LIBRARY=%hla_build_root/test/unit/libHLAFakeCuda.so
// RUN: %{run} hla-run %s --entry=f --device=cuda --input=random:1,B=2,T=5,H=4 | FileCheck %s
// RUN: %{run} hla-run %s --entry=f --device=cuda --input=random:1,B=1,T=65,H=3 | FileCheck %s
// RUN: %{run} hla-run %s --entry=f --device=cuda --input=random:1,B=1,T=0,H=3 | FileCheck %s
// RUN: %{run} not hla-run %s --entry=f --device=cuda --input=random:1,B=1,T=9,H=3 --check | FileCheck %s --check-prefix=POISON

// CHECK:      entry f
// CHECK-NEXT: device {{.*}} code for sm_90a (PTX)
// CHECK:      in q: {{[0-9]x[0-9]+x[0-9]}}x64 bf16
// CHECK:      out o: {{[0-9]x[0-9]+x[0-9]}}x32 bf16
// CHECK:      out p: {{[0-9]x[0-9]}}x64x32 f32
// CHECK:      time

// POISON: error {{.*}} FAIL

!Q = tensor<?x?x?x64xbf16>
!V = tensor<?x?x?x32xbf16>
!S = tensor<?x?x64x32xf32>
func.func @f(%q: !Q, %k: !Q, %v: !V, %s: !S, %o: !V, %p: !S) -> (!V, !S) {
  %r:2 = hla.scan decay(0.9) ins(%q, %k, %v : !Q, !Q, !V) carry(%s : !S) outs(%o, %p : !V, !S) -> !V, !S
  return %r#0, %r#1 : !V, !S
}
