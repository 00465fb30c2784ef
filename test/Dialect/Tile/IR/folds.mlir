// Folds, and what effects let other passes do.

// RUN: hla-opt %s --canonicalize | FileCheck %s
// RUN: hla-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: hla-opt %s --loop-invariant-code-motion | FileCheck %s --check-prefix=HOIST

!Frag = tensor<64x64xbf16, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!Smem = tensor<64x64xbf16, #hla_tile.smem<order = row>>
!Buffer = memref<64x64xbf16, #hla_tile.smem<order = row>>
!Acc = tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>
!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func @same_layout
// CHECK-SAME:    %[[T:.*]]: tensor
// CHECK-NEXT:    return %[[T]]
func.func @same_layout(%t: !Frag) -> !Frag {
  %0 = hla_tile.convert_layout %t : !Frag -> !Frag
  return %0 : !Frag
}

// CHECK-LABEL: func @other_layout
// CHECK-NEXT:    hla_tile.convert_layout
func.func @other_layout(%t: !Frag) -> !Smem {
  %0 = hla_tile.convert_layout %t : !Frag -> !Smem
  return %0 : !Smem
}

// The first chunk of a state that begins as zero.
// CHECK-LABEL: func @zero_operand
// CHECK-SAME:    %{{.*}}: tensor<64x32xbf16>, %[[C:.*]]: tensor<64x16xf32>
// CHECK-NEXT:    return %[[C]], %[[C]]
func.func @zero_operand(%q: tensor<64x32xbf16>, %c: tensor<64x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
  %state = arith.constant dense<0.0> : tensor<32x16xbf16>
  %scores = arith.constant dense<0.0> : tensor<64x32xbf16>
  %0 = hla_tile.dot %q, %state, %c : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  %one = arith.constant dense<1.0> : tensor<32x16xbf16>
  %1 = hla_tile.dot %scores, %one, %c : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return %0, %1 : tensor<64x16xf32>, tensor<64x16xf32>
}

// CHECK-LABEL: func @nonzero_operand
// CHECK:         hla_tile.dot
func.func @nonzero_operand(%q: tensor<64x32xbf16>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %one = arith.constant dense<1.0> : tensor<32x16xbf16>
  %0 = hla_tile.dot %q, %one, %c : tensor<64x32xbf16>, tensor<32x16xbf16> -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// All rows of a full chunk are those of tokens.
// CHECK-LABEL: func @mask
// CHECK-SAME:    %[[X:.*]]: tensor<16x4xf32>
// CHECK:         %[[Y:.*]] = hla_tile.mask rows %[[X]][%c15]
// CHECK:         return %[[X]], %[[Y]]
func.func @mask(%x: tensor<16x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %0 = hla_tile.mask rows %x[%c16] : tensor<16x4xf32>
  %1 = hla_tile.mask rows %x[%c15] : tensor<16x4xf32>
  return %0, %1 : tensor<16x4xf32>, tensor<16x4xf32>
}

// Pure operations on tiles are merged, unused ones go: also a load, which has no
// other effect than to read.
// CHECK-LABEL: func @unused
// CHECK-NEXT:    return
func.func @unused(%x: tensor<64x64xf32>, %a: tensor<64x64xbf16>, %v: !View, %b: !Buffer, %i: index, %g: f64) {
  %0 = hla_tile.causal lower %x : tensor<64x64xf32>
  %G = hla_tile.ramp %g[%i] : tensor<64x1xf64>
  %1 = hla_tile.decay through %x by %G : tensor<64x64xf32>, tensor<64x1xf64>
  %2 = hla_tile.dot %a, %a, %x : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %3 = hla_tile.load %v[%i] : !View -> tensor<64x64xbf16>
  %4 = hla_tile.read %b : !Buffer -> !Frag
  return
}

// CSE-LABEL: func @equal
// CSE:         %[[X:.*]] = hla_tile.dot
// CSE-NOT:     hla_tile.dot
// CSE:         return %[[X]], %[[X]]
func.func @equal(%a: tensor<64x64xbf16>, %x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = hla_tile.dot %a, %a, %x : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  %1 = hla_tile.dot %a, %a, %x : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// A product that reads a buffer is not the one from before it was written.
// CSE-LABEL: func @buffer_written
// CSE:         hla_tile.dot
// CSE:         hla_tile.write
// CSE:         hla_tile.dot
func.func @buffer_written(%b: !Buffer, %t: !Frag, %x: !Acc) -> (!Acc, !Acc) {
  %0 = hla_tile.dot %b, %b, %x : !Buffer, !Buffer -> !Acc
  hla_tile.write %t, %b : !Frag, !Buffer
  %1 = hla_tile.dot %b, %b, %x : !Buffer, !Buffer -> !Acc
  return %0, %1 : !Acc, !Acc
}

// Barriers, waits, copies and stores are neither merged nor dropped.
// CSE-LABEL: func @effects
// CSE-COUNT-2: hla_tile.copy_async
// CSE-COUNT-2: hla_tile.copy_commit
// CSE-COUNT-2: hla_tile.copy_wait 0
// CSE-COUNT-2: hla_tile.barrier
// CSE-COUNT-2: hla_tile.store
func.func @effects(%v: !View, %b: !Buffer, %i: index) {
  hla_tile.copy_async %v[%i], %b : !View, !Buffer
  hla_tile.copy_async %v[%i], %b : !View, !Buffer
  hla_tile.copy_commit
  hla_tile.copy_commit
  hla_tile.copy_wait 0
  hla_tile.copy_wait 0
  hla_tile.barrier
  hla_tile.barrier
  hla_tile.store %b, %v[%i] : !Buffer, !View
  hla_tile.store %b, %v[%i] : !Buffer, !View
  return
}

// What does not change in a loop moves out of it, unless it reads memory.
// HOIST-LABEL: func @loop
// HOIST:         hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<64x64xbf16>
// HOIST:         scf.for
// HOIST-NEXT:      hla_tile.read
// HOIST-NEXT:      hla_tile.dot %{{.*}}, %{{.*}}, %{{.*}} : memref
func.func @loop(%a: tensor<64x64xbf16>, %x: tensor<64x64xf32>, %b: !Buffer, %y: !Acc, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = hla_tile.dot %a, %a, %x : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %1 = hla_tile.read %b : !Buffer -> !Frag
    %2 = hla_tile.dot %b, %b, %y : !Buffer, !Buffer -> !Acc
    hla_tile.write %1, %b : !Frag, !Buffer
  }
  return
}
