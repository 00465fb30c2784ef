// RUN: hla-opt %s --hla-bufferize-tiles --canonicalize --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// The state is read, then updated where it lies, though the text says it the
// other way round. A product's zeros are its own.
// CHECK-LABEL: func @state
// CHECK:         scf.parallel
// CHECK-DAG:       %[[S:.*]] = memref.alloc() {{.*}} : memref<8x8xf32>
// CHECK-DAG:       %[[Y:.*]] = memref.alloc() {{.*}} : memref<8x8xf32>
// CHECK:           linalg.fill ins(%{{.*}}) outs(%[[S:.*]] : memref<8x8xf32>)
// CHECK:           scf.for
// CHECK-NOT:         memref.alloc
// CHECK-NOT:         memref.copy
// CHECK-NOT:         linalg.copy
// CHECK:             linalg.fill ins(%{{.*}}) outs(%[[Y:.*]] : memref<8x8xf32>)
// CHECK:             linalg.matmul ins(%[[K:.*]], %[[S]] : {{.*}}) outs(%[[Y]] : {{.*}})
// CHECK:             memref.copy %[[Y]], %{{.*}}
// CHECK:             linalg.generic {{.*}} ins(%[[S]] : memref<8x8xf32>) outs(%[[S]] : memref<8x8xf32>)
// CHECK:             linalg.matmul ins(%[[K]], %[[K]] : {{.*}}) outs(%[[S]] : {{.*}})
// CHECK:           }
// CHECK-COUNT-2:   memref.dealloc
func.func @state(%n: index, %k: memref<8x8xf32>, %o: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %half = arith.constant 0.5 : f32
  scf.parallel (%b) = (%c0) to (%n) step (%c1) {
    %kt = bufferization.to_tensor %k restrict : memref<8x8xf32> to tensor<8x8xf32>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<8x8xf32>) {
      %e = tensor.empty() : tensor<8x8xf32>
      %decayed = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
      ^bb0(%x: f32, %out: f32):
        %y = arith.mulf %x, %half : f32
        linalg.yield %y : f32
      } -> tensor<8x8xf32>
      %next = linalg.matmul ins(%kt, %kt : tensor<8x8xf32>, tensor<8x8xf32>) outs(%decayed : tensor<8x8xf32>) -> tensor<8x8xf32>
      %y = linalg.matmul ins(%kt, %s : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
      bufferization.materialize_in_destination %y in restrict writable %o : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
      scf.yield %next : tensor<8x8xf32>
    }
    scf.reduce
  }
  return
}

// -----

// Where both states are of use, before and after, one has to be copied.
// CHECK-LABEL: func @both
// CHECK:         scf.for
// CHECK-NOT:       memref.alloc
// CHECK:           linalg.matmul
// CHECK:           linalg.matmul
// CHECK:           memref.copy
// CHECK:         }
// CHECK:         memref.dealloc
func.func @both(%n: index, %k: memref<8x8xf32>, %o: memref<8x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %kt = bufferization.to_tensor %k restrict : memref<8x8xf32> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<8x8xf32>) {
    %next = linalg.matmul ins(%kt, %kt : tensor<8x8xf32>, tensor<8x8xf32>) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = linalg.matmul ins(%next, %s : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
    bufferization.materialize_in_destination %y in restrict writable %o : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
    scf.yield %next : tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %r in restrict writable %o : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}
