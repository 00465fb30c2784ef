// Round trip of the operations of groups.

// RUN: hla-opt %s | hla-opt | FileCheck %s
// RUN: hla-opt %s --mlir-print-op-generic | hla-opt | FileCheck %s

!Rows = memref<64x128xbf16, #hla_tile.smem<order = row>>
!Half = memref<64x64xbf16, #hla_tile.smem<order = row>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!A = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Tile = tensor<64x64xbf16, #hla_tile.smem<order = col>>
!Wide = tensor<64x128xbf16, #hla_tile.smem<order = col>>

// CHECK-LABEL: func @parts
// CHECK:         hla_tile.columns %{{.*}}[64] : memref<64x128xbf16, #hla_tile.smem<order = row>> -> memref<64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         hla_tile.concat %{{.*}}, %{{.*}} : tensor<64x64xbf16, #hla_tile.smem<order = col>>, tensor<64x64xbf16, #hla_tile.smem<order = col>> -> tensor<64x128xbf16, #hla_tile.smem<order = col>>
func.func @parts(%x: !Rows, %t: !Tile) -> (!Half, !Wide) {
  %h = hla_tile.columns %x[64] : !Rows -> !Half
  %w = hla_tile.concat %t, %t : !Tile, !Tile -> !Wide
  return %h, %w : !Half, !Wide
}

// CHECK-LABEL: func @groups
// CHECK:         hla_tile.groups {
// CHECK:           hla_tile.sync %{{.*}} of 256
// CHECK:         }, {
// CHECK:           hla_tile.arrive %{{.*}} of 256
// CHECK:         }
func.func @groups(%id: index) {
  hla_tile.groups {
    hla_tile.sync %id of 256
  }, {
    hla_tile.arrive %id of 256
  }
  return
}

// CHECK-LABEL: func @products
// CHECK:         hla_tile.dot_fence
// CHECK:         %[[A:.*]] = hla_tile.dot_async %{{.*}}, %{{.*}}, %{{.*}} transpose_rhs : memref<64x64xbf16, #hla_tile.smem<order = row>>, memref<64x64xbf16, #hla_tile.smem<order = row>> -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
// CHECK:         hla_tile.dot_commit
// CHECK:         %[[B:.*]] = hla_tile.dot_wait 0 of %[[A]] : tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
// CHECK:         %[[C:.*]]:2 = hla_tile.dot_fence of %{{.*}}, %[[B]] : tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>, tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
// CHECK:         hla_tile.dot_async %[[C]]#0, %{{.*}}, %[[C]]#1 :
// CHECK:         hla_tile.async_fence
func.func @products(%q: !Half, %a: !A, %s: !Acc) {
  hla_tile.dot_fence
  %0 = hla_tile.dot_async %q, %q, %s transpose_rhs : !Half, !Half -> !Acc
  hla_tile.dot_commit
  %1 = hla_tile.dot_wait 0 of %0 : !Acc
  %2:2 = hla_tile.dot_fence of %a, %1 : !A, !Acc
  %3 = hla_tile.dot_async %2#0, %q, %2#1 : !A, !Half -> !Acc
  hla_tile.dot_commit
  %4 = hla_tile.dot_wait 0 of %3 : !Acc
  hla_tile.async_fence
  return
}

// CHECK-LABEL: func @boxes
// CHECK:         %[[MAP:.*]] = hla_tile.tensor_map %{{.*}} : memref<?x?x?x128xbf16> -> <1x64x1x128xbf16>
// CHECK:         %[[FULL:.*]] = hla_tile.signals 1 at 1024 : <2>
// CHECK:         hla_tile.tensor_load %[[MAP]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}, %[[FULL]][%{{.*}}] if %{{.*}} : <1x64x1x128xbf16>, memref<64x128xbf16, #hla_tile.smem<order = row>>, <2>
// CHECK:         hla_tile.signal_wait %[[FULL]][%{{.*}}] parity %{{.*}} : <2>
// CHECK:         hla_tile.signal_arrive %[[FULL]][%{{.*}}] : <2>
// CHECK:         hla_tile.tensor_store %{{.*}}, %[[MAP]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : memref<64x128xbf16, #hla_tile.smem<order = row>>, <1x64x1x128xbf16>
// CHECK:         hla_tile.tensor_store_wait reads
// CHECK:         hla_tile.tensor_store_wait
func.func @boxes(%x: memref<?x?x?x128xbf16>, %b: !Rows, %i: index, %more: i1) {
  %map = hla_tile.tensor_map %x : memref<?x?x?x128xbf16> -> !hla_tile.tensor_map<1x64x1x128xbf16>
  %full = hla_tile.signals 1 at 1024 : !hla_tile.signals<2>
  hla_tile.tensor_load %map[%i, %i, %i, %i], %b, %full[%i] if %more : !hla_tile.tensor_map<1x64x1x128xbf16>, !Rows, !hla_tile.signals<2>
  hla_tile.signal_wait %full[%i] parity %i : !hla_tile.signals<2>
  hla_tile.signal_arrive %full[%i] : !hla_tile.signals<2>
  hla_tile.tensor_store %b, %map[%i, %i, %i, %i] : !Rows, !hla_tile.tensor_map<1x64x1x128xbf16>
  hla_tile.tensor_store_wait reads
  hla_tile.tensor_store_wait
  return
}
