// RUN: hla-opt %s --hla-to-cpu-pipeline="vector-bits=256 parallel=serial" | FileCheck %s
// RUN: hla-opt %s --hla-to-cpu-pipeline="vector-bits=512 parallel=openmp" | FileCheck %s --check-prefix=OMP
// RUN: not hla-opt %s --hla-to-cpu-pipeline=schedule-target=sm_1 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not hla-opt %s --hla-to-cpu-pipeline=vector-bits=64 2>&1 | FileCheck %s --check-prefix=BITS

// The result has become an argument; nothing but the LLVM dialect is left.
// CHECK-NOT:     unrealized_conversion_cast
// CHECK:         llvm.func @f(
// CHECK-SAME:      llvm.emit_c_interface
// CHECK:         llvm.call @malloc
// CHECK:         llvm.fmul %{{.*}} {fastmathFlags = #llvm.fastmath<contract>} : vector<8xf32>
// CHECK:         llvm.call @free
// CHECK:         llvm.func @_mlir_ciface_f(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-NOT:     {{hla|memref|vector|scf|arith|func}}.{{[a-z_]+}}

// OMP:         omp.parallel
// OMP:           omp.wsloop
// OMP:             omp.loop_nest ({{.*}}) : i64
// OMP:         vector<16xf32>

// TARGET: sm_1
// BITS: error: expected vector-bits to be 128, 256 or 512, but got 64

!S = tensor<?x?x?x16xf32>
func.func @f(%q: !S, %k: !S, %v: !S) -> !S {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %v, %c0 : !S
  %T = tensor.dim %v, %c1 : !S
  %H = tensor.dim %v, %c2 : !S
  %e = tensor.empty(%B, %T, %H) : !S
  %o = hla.second_order ins(%q, %k, %v : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
}
