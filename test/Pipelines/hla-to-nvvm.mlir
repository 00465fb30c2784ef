// From operators on tensors to kernels in the LLVM dialect, and their launches.

// RUN: hla-opt %s --hla-to-nvvm-pipeline | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: hla-opt %s --hla-to-nvvm-pipeline=target=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90A
// RUN: not hla-opt %s --hla-to-nvvm-pipeline=target=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not hla-opt %s --hla-to-nvvm-pipeline=chunk=64 2>&1 | FileCheck %s --check-prefix=OPTION

// CPU:    error: expected a GPU as the module's target (its kernels are outlined), but got #hla.target<"cpu">
// OPTION: no such option chunk

// CHECK:         module attributes {gpu.container_module
// CHECK-LABEL:   func.func @masked(
// CHECK-SAME:      %[[Q:[^:]*]]: memref<{{[^>]*}}>>, %[[V:[^:]*]]: memref<{{[^>]*}}>>, %[[O:[^:]*]]: memref<{{[^>]*}}>>)
// CHECK-DAG:       %[[B:.*]] = memref.dim %[[Q]], %c0
// CHECK-DAG:       %[[H:.*]] = memref.dim %[[Q]], %c2
// CHECK:           gpu.launch_func @masked_kernels::@masked_kernel blocks in (%[[B]], %[[H]], %c1) threads in (%c128, %c1, %c1) args(
// CHECK-NEXT:      return
// CHECK:         gpu.module @masked_kernels
// CHECK:           llvm.mlir.global external @hla_shared_memory() {addr_space = 3
// CHECK:           llvm.func @masked_kernel(
// CHECK-SAME:        hla_tile.shared_memory = {{[1-9][0-9]*}} : i64
// CHECK-SAME:        nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK:             nvvm.cp.async.shared.global
// CHECK:             nvvm.cp.async.commit.group
// CHECK:             llvm.br
// CHECK:             nvvm.cp.async.wait.group 0
// CHECK:             nvvm.barrier
// CHECK-DAG:         nvvm.ldmatrix
// CHECK-DAG:         nvvm.mma.sync
// SM80-NOT:          nvvm.stmatrix
// SM90A:             nvvm.stmatrix
// CHECK:             llvm.return
// CHECK-NOT:     {{(hla_tile|scf|arith|vector|memref|cf)[.][a-z_]+ %}}
// CHECK-NOT:     unrealized_conversion_cast
func.func @masked(%q: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %e: tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16> {
  %o = hla.second_order ins(%q, %q, %v : tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) outs(%e : tensor<?x?x?x64xf16>) -> tensor<?x?x?x64xf16>
  return %o : tensor<?x?x?x64xf16>
}
