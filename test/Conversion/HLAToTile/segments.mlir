// Runs of segments, where their states come from and go to, and what is between.

// RUN: hla-opt %s --convert-hla-to-tile --canonicalize --cse | FileCheck %s

!S = memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>
!State = memref<?x?x8x8xf32>
!Entry = memref<?x?x?x8x8xf32>
!r = vector<8xf32>
!s = vector<8x8xf32>

// A run a segment. The first begins with zero: it has no rows of the entries.
// CHECK-LABEL: func @entries
// CHECK-SAME:    %[[Q:[^ ,:)]*]]: memref<{{[^>]*}}>>, %[[A:[^ ,:)]*]]: memref<?x?x?x8x8xf32>, %[[L:[^ ,:)]*]]: index, %[[O:[^ ,:)]*]]: memref
// CHECK-DAG:     %[[B:[^ ,:)]*]] = memref.dim %[[Q]], %c0
// CHECK-DAG:     %[[T:[^ ,:)]*]] = memref.dim %[[Q]], %c1
// CHECK-DAG:     %[[H:[^ ,:)]*]] = memref.dim %[[Q]], %c2
// CHECK-DAG:     %[[ALL:[^ ,:)]*]] = arith.ceildivsi %[[T]], %[[L]]
// CHECK-DAG:     %[[N:[^ ,:)]*]] = arith.maxsi %[[ALL]], %c1
// CHECK:         hla_tile.launch (%[[b:[^ ,:)]*]], %[[h:[^ ,:)]*]], %[[j:[^ ,:)]*]]) in (%[[B]], %[[H]], %[[N]])
// CHECK-DAG:       %[[FIRST:[^ ,:)]*]] = arith.muli %[[j]], %[[L]]
// CHECK-DAG:       %[[NEXT:[^ ,:)]*]] = arith.addi %[[FIRST]], %[[L]]
// CHECK-DAG:       %[[END:[^ ,:)]*]] = arith.minsi %[[NEXT]], %[[T]]
// CHECK-DAG:       %[[BEFORE:[^ ,:)]*]] = arith.subi %[[j]], %c1
// CHECK-DAG:       %[[LATER:[^ ,:)]*]] = arith.cmpi ne, %[[j]], %c0
// CHECK-DAG:       %[[ROWS:[^ ,:)]*]] = arith.select %{{.*}}, %c{{[08]}}, %c{{[08]}}
// CHECK:           %[[AV:[^ ,:)]*]] = memref.subview %[[A]][%[[BEFORE]], %[[b]], %[[h]], 0, 0] [1, 1, 1, %[[ROWS]], 8] [1, 1, 1, 1, 1]
// CHECK:           %[[INITIAL:[^ ,:)]*]] = hla_tile.load %[[AV]][%c0]
// CHECK:           memref.subview %[[Q]][%[[b]], 0, %[[h]], 0] [1, %[[END]], 1, 8]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c16 iter_args(%{{.*}} = %[[INITIAL]])
func.func @entries(%q: !S, %a: !Entry, %l: index, %o: !S) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>) ins(%q : !S) segments(%l)
      entries(%a : !Entry) outs(%o : !S) carry_in [false] carry_out [false] entry_in [true] {
  ^bb0(%x: !r, %S: !s):
    %S1, %y = hla.step ins(%x, %x, %x : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %y, %S1 : !r, !s
  }
  return
}

// With a carry, that is the first one's. Only the last has a place for its final
// state. In reverse the first is that of the last tokens.
// CHECK-LABEL: func @carry
// CHECK-SAME:    %{{[^,]*}}: memref<{{[^>]*}}>>, %[[C:[^ ,:)]*]]: memref<?x?x8x8xf32>, %[[A:[^ ,:)]*]]: memref<?x?x?x8x8xf32>, %[[L:[^ ,:)]*]]: index, %[[F:[^ ,:)]*]]: memref<?x?x8x8xf32>
// CHECK:         hla_tile.launch (%[[b:[^ ,:)]*]], %[[h:[^ ,:)]*]], %[[j:[^ ,:)]*]]) in (%{{.*}}, %{{.*}}, %[[N:[^ ,:)]*]])
// CHECK:           %[[LAST:[^ ,:)]*]] = arith.subi %[[N]], %c1
// CHECK:           %[[PLACE:[^ ,:)]*]] = arith.subi %[[LAST]], %[[j]]
// CHECK:           arith.muli %[[PLACE]], %[[L]]
// CHECK-DAG:       %[[ISFIRST:[^ ,:)]*]] = arith.cmpi eq, %[[j]], %c0
// CHECK-DAG:       %[[CV:[^ ,:)]*]] = memref.subview %[[C]][%[[b]], %[[h]], 0, 0] [1, 1, 8, 8]
// CHECK-DAG:       %[[AV:[^ ,:)]*]] = memref.subview %[[A]][%{{.*}}, %[[b]], %[[h]], 0, 0] [1, 1, 1, 8, 8]
// CHECK-DAG:       %[[CC:[^ ,:)]*]] = memref.cast %[[CV]] : {{.*}} to memref<8x8xf32, strided<[?, 1], offset: ?>>
// CHECK-DAG:       %[[AC:[^ ,:)]*]] = memref.cast %[[AV]] : {{.*}} to memref<8x8xf32, strided<[?, 1], offset: ?>>
// CHECK:           %[[IN:[^ ,:)]*]] = arith.select %[[ISFIRST]], %[[CC]], %[[AC]]
// CHECK:           hla_tile.load %[[IN]][%c0]
// CHECK:           %[[LOOP:[^ ,:)]*]] = scf.for
// CHECK:           %[[ISLAST:[^ ,:)]*]] = arith.cmpi eq, %[[j]], %[[LAST]]
// CHECK:           %[[ROWS:[^ ,:)]*]] = arith.select %[[ISLAST]], %c8, %c0
// CHECK:           %[[FV:[^ ,:)]*]] = memref.subview %[[F]][%[[b]], %[[h]], 0, 0] [1, 1, %[[ROWS]], 8]
// CHECK:           hla_tile.store %[[LOOP]], %[[FV]][%c0]
func.func @carry(%q: !S, %c: !State, %a: !Entry, %l: index, %f: !State) {
  hla.fused_scan reverse schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>) ins(%q : !S) segments(%l)
      carries(%c : !State) entries(%a : !Entry) outs(%f : !State) carry_in [true] carry_out [true] entry_in [true] {
  ^bb0(%x: !r, %S: !s):
    %S1, %y = hla.step ins(%x, %x, %x : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %S1 : !s
  }
  return
}

// A summary walks all but the last; each has its final state.
// CHECK-LABEL: func @summary
// CHECK-SAME:    %[[E:[^ ,:)]*]]: memref<?x?x?x8x8xf32>
// CHECK:         %[[N:[^ ,:)]*]] = arith.maxsi
// CHECK:         %[[M:[^ ,:)]*]] = arith.subi %[[N]], %c1
// CHECK:         hla_tile.launch (%[[b:[^ ,:)]*]], %[[h:[^ ,:)]*]], %[[j:[^ ,:)]*]]) in (%{{.*}}, %{{.*}}, %[[M]])
// CHECK:           %[[LOOP:[^ ,:)]*]] = scf.for
// CHECK:           %[[V:[^ ,:)]*]] = memref.subview %[[E]][%[[j]], %[[b]], %[[h]], 0, 0] [1, 1, 1, 8, 8]
// CHECK:           hla_tile.store %[[LOOP]], %[[V]][%c0]
func.func @summary(%q: !S, %l: index, %e: !Entry) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>) ins(%q : !S) segments(%l) summary
      outs(%e : !Entry) carry_in [false] carry_out [true] {
  ^bb0(%x: !r, %S: !s):
    %S1, %y = hla.step ins(%x, %x, %x : !r, !r, !r) state(%S : !s) -> !r
    hla.yield %S1 : !s
  }
  return
}

// A run has 32 rows of a head's states, and takes one segment after the other; of
// one there is nothing to combine, and no run.
// CHECK-LABEL: func @combine
// CHECK-SAME:    %[[X:[^ ,:)]*]]: memref<?x?x?x48x8xf32>, %{{.*}}: index
// CHECK-DAG:     %[[M:[^ ,:)]*]] = memref.dim %[[X]], %c0
// CHECK-DAG:     %[[MORE:[^ ,:)]*]] = arith.subi %[[M]], %c1
// CHECK-DAG:     %[[SOME:[^ ,:)]*]] = arith.maxsi %[[MORE]], %c0
// CHECK-DAG:     %[[IF:[^ ,:)]*]] = arith.minsi %[[SOME]], %c1
// CHECK-DAG:     %[[B:[^ ,:)]*]] = arith.muli %{{.*}}, %[[IF]]
// CHECK:         hla_tile.launch (%[[b:[^ ,:)]*]], %[[h:[^ ,:)]*]], %[[p:[^ ,:)]*]]) in (%[[B]], %{{.*}}, %c2)
// CHECK:           %[[ROW:[^ ,:)]*]] = arith.muli %[[p]], %c32
// CHECK:           %[[V0:[^ ,:)]*]] = memref.subview %[[X]][0, %[[b]], %[[h]], 0, 0] [1, 1, 1, 48, 8]
// CHECK:           %[[FIRST:[^ ,:)]*]] = hla_tile.load %[[V0]][%[[ROW]]] : {{.*}} -> tensor<32x8xf32>
// CHECK:           scf.for %[[j:[^ ,:)]*]] = %c1 to %[[M]] step %c1 iter_args(%[[BEFORE:[^ ,:)]*]] = %[[FIRST]])
// CHECK:             %[[V:[^ ,:)]*]] = memref.subview %[[X]][%[[j]], %[[b]], %[[h]], 0, 0]
// CHECK:             %[[OWN:[^ ,:)]*]] = hla_tile.load %[[V]][%[[ROW]]]
// CHECK-NOT:         decay
// CHECK:             %[[SUM:[^ ,:)]*]] = arith.addf %[[BEFORE]], %[[OWN]]
// CHECK:             hla_tile.store %[[SUM]], %[[V]][%[[ROW]]]
// CHECK:             scf.yield %[[SUM]]
func.func @combine(%x: memref<?x?x?x48x8xf32>, %l: index) {
  hla.combine_segments segments(%l) outs(%x : memref<?x?x?x48x8xf32>)
  return
}

// What is before decays by the tokens of the segment: L times a head's number,
// or its own.
// CHECK-LABEL: func @combine_decays
// CHECK-SAME:    %{{.*}}: memref<?x?x?x8x8xf32>, %[[L:[^ ,:)]*]]: index, %[[G:[^ ,:)]*]]: memref<?xf32>, %[[GS:[^ ,:)]*]]: memref<?x?x?xf32>
// CHECK:         scf.for
// CHECK:           %[[LI:[^ ,:)]*]] = arith.index_cast %[[L]]
// CHECK:           %[[LF:[^ ,:)]*]] = arith.sitofp %[[LI]]
// CHECK:           %[[LOG:[^ ,:)]*]] = arith.mulf %[[LF]], %cst
// CHECK:           %[[SUMS:[^ ,:)]*]] = hla_tile.ramp %[[LOG]][%c1]
// CHECK:           hla_tile.decay all %{{.*}} by %[[SUMS]]
// CHECK:         hla_tile.launch (%{{.*}}, %[[h:[^ ,:)]*]], %{{.*}}) in
// CHECK:         scf.for
// CHECK:           %[[g:[^ ,:)]*]] = memref.load %[[G]][%[[h]]]
// CHECK:           %[[gf:[^ ,:)]*]] = arith.extf %[[g]]
// CHECK:           arith.mulf %[[gf]], %{{.*}}
// CHECK:         scf.for %[[j:[^ ,:)]*]] =
// CHECK:           %[[LIST:[^ ,:)]*]] = memref.subview %[[GS]][0, %{{.*}}, %{{.*}}] [%{{.*}}, 1, 1]
// CHECK:           %[[g:[^ ,:)]*]] = memref.load %[[LIST]][%[[j]]]
// CHECK:           %[[gf:[^ ,:)]*]] = arith.extf %[[g]]
// CHECK:           hla_tile.ramp %[[gf]][%c1]
func.func @combine_decays(%x: !Entry, %l: index, %g: memref<?xf32>, %gs: memref<?x?x?xf32>) {
  hla.combine_segments decay(0.5) segments(%l) outs(%x : !Entry)
  hla.combine_segments segments(%l) log_decay(%g : memref<?xf32>) outs(%x : !Entry)
  hla.combine_segments segments(%l) log_decay(%gs : memref<?x?x?xf32>) outs(%x : !Entry)
  return
}

// 256 numbers add up every 256th; the last of their prefix sums is in the view,
// whose only row the column ends at.
// CHECK-LABEL: func @sum
// CHECK-SAME:    %[[G:[^ ,:)]*]]: memref<?x?x?xf32>, %[[L:[^ ,:)]*]]: index, %[[E:[^ ,:)]*]]: memref<?x?x?xf32>
// CHECK:         %[[M:[^ ,:)]*]] = memref.dim %[[E]], %c0
// CHECK:         hla_tile.launch (%[[b:[^ ,:)]*]], %[[h:[^ ,:)]*]], %[[j:[^ ,:)]*]]) in (%{{.*}}, %{{.*}}, %[[M]])
// CHECK:           %[[FIRST:[^ ,:)]*]] = arith.muli %[[j]], %[[L]]
// CHECK:           %[[TOKENS:[^ ,:)]*]] = memref.subview %[[G]][%[[b]], 0, %[[h]]] [1, %[[END:[^ ,:)]*]], 1]
// CHECK:           %[[TARGET:[^ ,:)]*]] = memref.subview %[[E]][%[[j]], %[[b]], %[[h]]] [1, 1, 1]
// CHECK:           %[[ADDED:[^ ,:)]*]] = scf.for %[[t:[^ ,:)]*]] = %[[FIRST]] to %[[END]] step %c256
// CHECK:             hla_tile.load %[[TOKENS]][%[[t]]] : {{.*}} -> tensor<256x1xf32>
// CHECK:           %[[SUMS:[^ ,:)]*]] = hla_tile.prefix_sum %[[ADDED]]
// CHECK:           %[[ROUNDED:[^ ,:)]*]] = arith.truncf %[[SUMS]]
// CHECK:           hla_tile.store %[[ROUNDED]], %[[TARGET]][%c-255]
func.func @sum(%g: memref<?x?x?xf32>, %l: index, %e: memref<?x?x?xf32>) {
  hla.sum_segments ins(%g : memref<?x?x?xf32>) segments(%l) outs(%e : memref<?x?x?xf32>)
  return
}
