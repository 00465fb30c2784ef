// RUN: hla-run %s --entry=masked --input=random:7,B=2,T=100,H=3 --check | FileCheck %s
// RUN: hla-run %s --entry=masked --input=random:7,B=2,T=0,H=3 --check | FileCheck %s --check-prefix=EMPTY
// RUN: hla-run %s --entry=masked --input=random:7,B=1,T=50,H=2 --check --serial --vector-bits=128 --repeat=3 | FileCheck %s --check-prefix=SERIAL
// RUN: hla-run %s --entry=two --input=random:7,B=2,T=77,H=3 --check | FileCheck %s --check-prefix=TWO
// RUN: hla-run %s --entry=inplace --input=random:7,B=2,T=77,H=3 --check --repeat=2 | FileCheck %s --check-prefix=INPLACE
// RUN: hla-run %s --entry=many --input=random:7,B=2,T=77,H=3 --check | FileCheck %s --check-prefix=MANY
// RUN: hla-run %s --entry=static --input=random:7 --check | FileCheck %s --check-prefix=STATIC
// RUN: hla-run %s --entry=narrow --input=random:7,B=1,T=100,H=2 --check | FileCheck %s --check-prefix=NARROW
// RUN: hla-run %s --entry=narrow --input=random:7,B=1,T=100,H=2 --check --schedule-target=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: hla-run %s --entry=narrow --input=random:1,B=1,T=1,H=1 --check --schedule-target=sm_80 | FileCheck %s --check-prefix=ONE
// RUN: hla-run %s --entry=masked --input=random:7,B=2,T=100,H=3 --check --precision=tf32 | FileCheck %s --check-prefix=TF32
// RUN: hla-run %s --entry=narrow --input=random:7,B=1,T=100,H=2 --check --schedule-target=sm_80 --precision=bf16x3 | FileCheck %s --check-prefix=PARTS
// RUN: not hla-run %s --entry=wrong --input=random:7,B=1,T=100,H=2 --check 2>&1 | FileCheck %s --check-prefix=WRONG

!S = tensor<?x?x?x16xf32>
!State = tensor<?x?x16x16xf32>
!N = tensor<?x?x?x64xbf16>

// CHECK:      entry       masked
// CHECK-NEXT: device      cpu, vectors of {{128|256|512}} bits
// CHECK-NEXT: in          q: 2x100x3x16 f32
// CHECK-NEXT: in          k: 2x100x3x16 f32
// CHECK-NEXT: in          v: 2x100x3x16 f32
// CHECK-NEXT: out         o: 2x100x3x16 f32
// CHECK-NEXT: error       o: {{[0-9.]+}}e-0{{[78]}} (at most 1e-05 for f32) ok
// CHECK-NEXT: compiled    in {{[0-9]+}} ms
// CHECK-NEXT: time        {{[0-9.]+}} ms, {{[0-9.]+}} GFLOP/s

// EMPTY: error       o: 0.00e+00 {{.*}} ok

// The bound is that of what operands are rounded to, and they are.
// TF32: error       o: {{[0-9.]+}}e-04 (at most 8e-04 for tf32) ok

// SERIAL: device      cpu, vectors of 128 bits, one thread, schedule of cpu
// SERIAL: error       o: {{.*}} ok
// SERIAL: median of 3
func.func @masked(%q: !S, %k: !S, %v: !S, %o: !S) -> !S {
  %r = hla.second_order ins(%q, %k, %v : !S, !S, !S) outs(%o : !S) -> !S
  return %r : !S
}

// Two loops and a tensor between them.
// TWO: error       z: {{.*}} ok
func.func @two(%q: !S, %k: !S, %v: !S) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %v, %c0 : !S
  %T = tensor.dim %v, %c1 : !S
  %H = tensor.dim %v, %c2 : !S
  %e = tensor.empty(%B, %T, %H) : !S
  %y = hla.scan ins(%q, %k, %v : !S, !S, !S) outs(%e : !S) -> !S
  %z = hla.scan reverse ins(%q, %k, %y : !S, !S, !S) outs(%e : !S) -> !S
  return %z : !S
}

// The final state is written over the carry.
// INPLACE:      in, out     s: 2x3x16x16 f32
// INPLACE-NEXT: out         o: 2x77x3x16 f32
// INPLACE-NEXT: error       s: {{.*}} ok
// INPLACE-NEXT: error       o: {{.*}} ok
func.func @inplace(%q: !S, %k: !S, %v: !S, %s: !State, %o: !S) -> (!State, !S) {
  %y, %f = hla.scan decay(0.95) ins(%q, %k, %v : !S, !S, !S) carry(%s : !State) outs(%o, %s : !S, !State) -> !S, !State
  return %f, %y : !State, !S
}

// What one loop computes on the way, an input, and the end.
// MANY:      out         u: 2x77x3x16 f32
// MANY-NEXT: out         result1: 2x77x3x16 f32
// MANY-NEXT: out         o: 2x77x3x16 f32
// MANY-NEXT: error       u: {{.*}} ok
// MANY-NEXT: error       result1: 0.00e+00 {{.*}} ok
// MANY-NEXT: error       o: {{.*}} ok
func.func @many(%q: !S, %k: !S, %v: !S) -> (!S, !S, !S) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %v, %c0 : !S
  %T = tensor.dim %v, %c1 : !S
  %H = tensor.dim %v, %c2 : !S
  %e = tensor.empty(%B, %T, %H) : !S
  %u = hla.scan ins(%q, %k, %k : !S, !S, !S) outs(%e : !S) -> !S
  %o = hla.scan exclusive ins(%q, %u, %v : !S, !S, !S) outs(%e : !S) -> !S
  return %u, %v, %o : !S, !S, !S
}

// Extents that are static in one argument are so in all.
// STATIC: in          v: 2x50x3x8 f64
// STATIC: error       o: {{[0-9.]+}}e-1{{[5-9]}} (at most 1e-12 for f64) ok
func.func @static(%q: tensor<2x?x3x16xf64>, %k: tensor<?x?x?x16xf64>, %v: tensor<?x50x?x8xf64>, %o: tensor<?x?x?x8xf64>) -> tensor<?x?x?x8xf64> {
  %y = hla.scan ins(%q, %k, %v : tensor<2x?x3x16xf64>, tensor<?x?x?x16xf64>, tensor<?x50x?x8xf64>) outs(%o : tensor<?x?x?x8xf64>) -> tensor<?x?x?x8xf64>
  return %y : tensor<?x?x?x8xf64>
}

// NARROW: error       o: {{.*}}e-03 (at most 4e-03 for bf16) ok
// Only the output is rounded to bf16.
// PARTS: error       o: 1.{{[0-9]+}}e-03 {{.*}} ok
// SM80:   schedule of sm_80
// SM80:   error       o: {{.*}}e-03 (at most 4e-03 for bf16) ok
// The roundings of one token's scores do not average out.
// ONE:    error       o: {{.*}} (at most 1e-02 for bf16) ok
func.func @narrow(%q: !N, %k: !N, %v: !N, %o: !N) -> !N {
  %r = hla.second_order variant(prefix) layout(bhtd) ins(%q, %k, %v : !N, !N, !N) outs(%o : !N) -> !N
  return %r : !N
}

// An argument that nothing defines the content of has no value to check.
// WRONG: error: expected the operands of hla.scan to be arguments or results of operators
func.func @wrong(%q: !S, %k: !S, %o: !S) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %q, %c0 : !S
  %T = tensor.dim %q, %c1 : !S
  %H = tensor.dim %q, %c2 : !S
  %e = tensor.empty(%B, %T, %H) : !S
  %y = hla.scan ins(%q, %k, %e : !S, !S, !S) outs(%o : !S) -> !S
  return %y : !S
}
