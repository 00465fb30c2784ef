// Fragments of more than 64 stored rows become several; those without groups stay.

// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-split-fragments,canonicalize,cse)))' | FileCheck %s

!View = memref<128x128xf32, strided<[?, 1], offset: ?>>
!Rows = tensor<64x128xbf16, #hla_tile.smem<order = row>>
!Cols = tensor<64x128xbf16, #hla_tile.smem<order = col>>
!State = tensor<128x128xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!StateA = tensor<128x128xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!Row = tensor<64x128xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!RowA = tensor<64x128xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>
!Lane = tensor<64x1xf32, #hla_tile.lane>

gpu.module @kernels {
// A state's columns are loaded and stored in slices; a product has the columns of
// what they come from, in registers or in shared memory.
// CHECK-LABEL: gpu.func @state
// CHECK-DAG:     %[[S0:.*]] = hla_tile.load %{{.*}}[%c0] slice %c0 : {{.*}} -> tensor<128x64xf32
// CHECK-DAG:     %[[S1:.*]] = hla_tile.load %{{.*}}[%c0] slice %c1 : {{.*}} -> tensor<128x64xf32
// CHECK:         %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A0:.*]] = %[[S0]], %[[A1:.*]] = %[[S1]])
// CHECK-DAG:       %[[R0:.*]] = arith.truncf %[[A0]] : tensor<128x64xf32
// CHECK-DAG:       %[[R1:.*]] = arith.truncf %[[A1]] : tensor<128x64xf32
// CHECK-DAG:       %[[U0:.*]] = hla_tile.dot %[[K:.*]], %[[R0]],
// CHECK-DAG:       %[[U1:.*]] = hla_tile.dot %[[K]], %[[R1]],
// CHECK-DAG:       %[[T0:.*]] = arith.truncf %[[U0]]
// CHECK-DAG:       %[[T1:.*]] = arith.truncf %[[U1]]
// CHECK-DAG:       %[[C0:.*]] = hla_tile.convert_layout %[[T0]]
// CHECK-DAG:       %[[C1:.*]] = hla_tile.convert_layout %[[T1]]
// CHECK:           %[[U:.*]] = hla_tile.concat %[[C0]], %[[C1]] : {{.*}} -> tensor<64x128xbf16, #hla_tile.smem<order = col>>
// CHECK-DAG:       %[[K0:.*]] = hla_tile.columns %[[K]][0]
// CHECK-DAG:       %[[K1:.*]] = hla_tile.columns %[[K]][64]
// CHECK-DAG:       %[[N0:.*]] = hla_tile.dot %[[U]], %[[K0]], %[[A0]] transpose_lhs
// CHECK-DAG:       %[[N1:.*]] = hla_tile.dot %[[U]], %[[K1]], %[[A1]] transpose_lhs
// CHECK:           scf.yield %[[N0]], %[[N1]]
// CHECK-DAG:     hla_tile.store %[[R]]#0, %{{.*}}[%c0] slice %c0
// CHECK-DAG:     hla_tile.store %[[R]]#1, %{{.*}}[%c0] slice %c1
gpu.func @state(%v: !View, %k: memref<?x128xbf16>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !Row
  %s = hla_tile.load %v[%c0] : !View -> !State
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%S = %s) -> (!State) {
    %K = hla_tile.load %k[%i] : memref<?x128xbf16> -> !Rows
    %a = arith.truncf %S : !State to !StateA
    %u = hla_tile.dot %K, %a, %zero : !Rows, !StateA -> !Row
    %t = arith.truncf %u : !Row to !RowA
    %c = hla_tile.convert_layout %t : !RowA -> !Cols
    %S1 = hla_tile.dot %c, %K, %S transpose_lhs : !Cols, !Rows -> !State
    scf.yield %S1 : !State
  }
  hla_tile.store %r, %v[%c0] : !State, !View
  gpu.return
}

// Columns are counted from the part's first; sums of rows are those of all parts.
// CHECK-LABEL: gpu.func @rows
// CHECK-SAME:    %[[N:[^ :]*]]: index, %{{.*}}: memref<?xf32>
// CHECK:         %[[M0:.*]] = hla_tile.mask cols %[[X:.*]][%[[N]]] : tensor<64x64xf32
// CHECK:         %[[REST:.*]] = arith.subi %[[N]], %c64
// CHECK:         %[[M1:.*]] = hla_tile.mask cols %[[X]][%[[REST]]] : tensor<64x64xf32
// CHECK-DAG:     %[[P0:.*]] = hla_tile.sum_rows %[[M0]]
// CHECK-DAG:     %[[P1:.*]] = hla_tile.sum_rows %[[M1]]
// CHECK:         arith.addf %[[P0]], %[[P1]]
gpu.func @rows(%x: !Lane, %n: index, %o: memref<?xf32>) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16, groups = 1>} {
  %c0 = arith.constant 0 : index
  %b = hla_tile.broadcast %x : !Lane -> !Row
  %m = hla_tile.mask cols %b[%n] : !Row
  %s = hla_tile.sum_rows %m : !Row -> !Lane
  hla_tile.store %s, %o[%c0] : !Lane, memref<?xf32>
  gpu.return
}

// CHECK-LABEL: gpu.func @no_groups
// CHECK:         hla_tile.load %{{.*}} -> tensor<128x128xf32
gpu.func @no_groups(%v: !View) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %s = hla_tile.load %v[%c0] : !View -> !State
  hla_tile.store %s, %v[%c0] : !State, !View
  gpu.return
}
}
