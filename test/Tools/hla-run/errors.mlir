// Wrong command lines. Wrong files are in test/Integration/CPU.

// RUN: not hla-run %s --entry=g --input=random:7 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: hla-run: error: expected a function 'g' in '{{.*}}errors.mlir' (--entry)

// RUN: not hla-run %s --entry=f --input=random:7,B=1,T=2 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: hla-run: error: expected --input=random: to give B, T, H, but got no H

// RUN: not hla-run %s --entry=f --input=random:7,B=1,T=2,H=3,Q=4 2>&1 | FileCheck %s --check-prefix=EXTRA
// EXTRA: hla-run: error: expected --input=random: to give B, T, H, but got Q

// RUN: not hla-run %s --entry=f --input=random:7,B=1,T=2,H=99999999999999 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: hla-run: error: expected 'q' to fit the memory of this machine ({{[0-9]+}} bytes), but got 1x2x99999999999999x16 of f32

// RUN: not hla-run %s --entry=f --input=random:7,B=1,T=2,H=3 --vector-bits=7 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: hla-run: error: {{.*}}expected vector-bits to be 128, 256 or 512, but got 7

// RUN: not hla-run %s --entry=f --input=random:7,B=1,T=2,H=3 --schedule-target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: hla-run: error: expected --schedule-target to be one of cpu, sm_80, {{.*}}, but got 'sm_1'

// RUN: not hla-run %s --entry=wide --input=random:7,B=1,T=2,H=3 --schedule-target=sm_80 2>&1 | FileCheck %s --check-prefix=DIM
// DIM: hla-run: error: {{.*}}errors.mlir:[[#]]:[[#]]: {{.*}}expected head dimensions of at most {{.*}} on sm_80

// RUN: not hla-run %s --entry=f --input=random:7,B=1,T=2,H=3 --precision=f8 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: hla-run: error: {{.*}}expected precision to be bf16, f16, tf32, bf16x3, f32 or f64, but got 'f8'

// RUN: not hla-run %s --entry=loop --input=random:7 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: hla-run: error: {{.*}}expected 'loop' to be a function of one block

// RUN: env HLA_CUDA_LIBRARY=absent.so not hla-run %s --entry=f --input=random:7,B=1,T=2,H=3 --device=cuda 2>&1 | FileCheck %s --check-prefix=DRIVER
// DRIVER: hla-run: error: expected the CUDA driver's library 'absent.so'

// Extents follow from others where the function ties them.
// RUN: not hla-run %s --entry=packed --input=random:7,T=5,H=6,N=2 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: hla-run: error: expected H = 4 * H1 in --input=random:, but got no H1 ≥ 0 for which 4 * H1 is 6
// RUN: not hla-run %s --entry=packed --input=random:7,T=5,H=8,H1=1,N=2 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: hla-run: error: expected H = 4 * H1 in --input=random:, but got 8 and 4
// RUN: not hla-run %s --entry=packed --input=random:7,T=5,H=8 2>&1 | FileCheck %s --check-prefix=SEQUENCES
// SEQUENCES: hla-run: error: expected --input=random: to give T, H, N, but got no N

!S = tensor<?x?x?x16xf32>
!P = tensor<1x?x?x16xf32>
func.func @packed(%q: !P, %k: !P, %c: tensor<?xi32>, %o: !P) -> !P {
  %r = hla.second_order groups([1, 4]) ins(%q, %k, %k : !P, !P, !P) lengths(%c : tensor<?xi32>) outs(%o : !P) -> !P
  return %r : !P
}

func.func @f(%q: !S, %k: !S, %v: !S, %o: !S) -> !S {
  %r = hla.second_order ins(%q, %k, %v : !S, !S, !S) outs(%o : !S) -> !S
  return %r : !S
}

!W = tensor<?x?x?x512xf32>
func.func @wide(%q: !W, %o: !W) -> !W {
  %r = hla.second_order ins(%q, %q, %q : !W, !W, !W) outs(%o : !W) -> !W
  return %r : !W
}

func.func @loop(%x: !S) -> !S {
  cf.br ^end
^end:
  return %x : !S
}
