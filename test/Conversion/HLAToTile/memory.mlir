// Where a program's tiles come from and go to: heads, layouts, states, types.

// RUN: hla-opt %s --convert-hla-to-tile --canonicalize --cse | FileCheck %s

// One run a head; a head is a matrix, its rows as far apart as tokens are.
// CHECK-LABEL: func @bthd
// CHECK-SAME:    %[[Q:.*]]: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %[[O:.*]]: memref
// CHECK-DAG:     %[[B:.*]] = memref.dim %[[Q]], %c0
// CHECK-DAG:     %[[T:.*]] = memref.dim %[[Q]], %c1
// CHECK-DAG:     %[[H:.*]] = memref.dim %[[Q]], %c2
// CHECK:         hla_tile.launch (%[[b:.*]], %[[h:.*]]) in (%[[B]], %[[H]]) schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
// CHECK-DAG:       %[[QV:.*]] = memref.subview %[[Q]][%[[b]], 0, %[[h]], 0] [1, %[[T]], 1, 8] [1, 1, 1, 1]
// CHECK-DAG:       %[[OV:.*]] = memref.subview %[[O]][%[[b]], 0, %[[h]], 0] [1, %[[T]], 1, 8] [1, 1, 1, 1]
// CHECK:           scf.for %{{.*}} = %c0 to %[[T]] step %c32
// CHECK:           hla_tile.load %[[QV]]
// CHECK:           hla_tile.store %{{.*}}, %[[OV]]
func.func @bthd(%Q: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %O: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) outs(%O : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// CHECK-LABEL: func @bhtd
// CHECK-SAME:    %[[Q:.*]]: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>,
// CHECK-DAG:     %[[H:.*]] = memref.dim %[[Q]], %c1
// CHECK-DAG:     %[[T:.*]] = memref.dim %[[Q]], %c2
// CHECK:         hla_tile.launch (%[[b:.*]], %[[h:.*]]) in (%{{.*}}, %[[H]])
// CHECK:           memref.subview %[[Q]][%[[b]], %[[h]], 0, 0] [1, 1, %[[T]], 8] [1, 1, 1, 1]
func.func @bhtd(%Q: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %O: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) {
  hla.fused_scan layout(bhtd) schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) outs(%O : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// Of two states, the first is carried out and the second in.
// CHECK-LABEL: func @states
// CHECK-SAME:    %{{[^,]*}}: memref<{{[^,]*}}, strided<[?, ?, ?, 1]>>, %[[C:.*]]: memref<?x?x8x8xf32>, %[[F:.*]]: memref<?x?x8x8xf32>
// CHECK-DAG:       %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x8xf32>
// CHECK:         hla_tile.launch (%[[b:.*]], %[[h:.*]]) in
// CHECK-DAG:       %[[CV:.*]] = memref.subview %[[C]][%[[b]], %[[h]], 0, 0] [1, 1, 8, 8] [1, 1, 1, 1]
// CHECK-DAG:       %[[INITIAL:.*]] = hla_tile.load %[[CV]][%c0] : memref<8x8xf32, strided<[8, 1], offset: ?>> -> tensor<8x8xf32>
// CHECK:           %[[LOOP:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[INITIAL]])
// CHECK:           %[[FV:.*]] = memref.subview %[[F]][%[[b]], %[[h]], 0, 0] [1, 1, 8, 8] [1, 1, 1, 1]
// CHECK:           hla_tile.store %[[LOOP]]#0, %[[FV]][%c0]
// CHECK-NEXT:      hla_tile.return
func.func @states(%Q: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %C: memref<?x?x8x8xf32>, %F: memref<?x?x8x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) carries(%C : memref<?x?x8x8xf32>) outs(%F : memref<?x?x8x8xf32>)
      carry_in [false, true] carry_out [true, false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>, %R: vector<8x8xf32>):
    %R1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%R : vector<8x8xf32>) -> vector<8xf32>
    %S1, %z = hla.step ins(%y, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %S1, %R1 : vector<8x8xf32>, vector<8x8xf32>
  }
  return
}

// Operands of products are rounded to the precision, sums are f32, and an output
// is rounded once, to its own type.
// CHECK-LABEL: func @precision
// CHECK:         scf.for {{.*}} iter_args(%[[S:[^ ]*]] = %{{.*}}) -> (tensor<32x32xf32>)
// CHECK-DAG:       %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<16x32xbf16>
// CHECK-DAG:       %[[V:.*]] = hla_tile.load {{.*}} -> tensor<16x32xf32>
// CHECK-DAG:       %[[VR:.*]] = arith.truncf %[[V]] : tensor<16x32xf32> to tensor<16x32xbf16>
// CHECK-DAG:       %[[A:.*]] = hla_tile.causal lower %{{.*}} : tensor<16x16xf32>
// CHECK-DAG:       %[[AR:.*]] = arith.truncf %[[A]] : tensor<16x16xf32> to tensor<16x16xbf16>
// CHECK-DAG:       %[[SR:.*]] = arith.truncf %[[S]] : tensor<32x32xf32> to tensor<32x32xbf16>
// CHECK-DAG:       %[[QS:.*]] = hla_tile.dot %[[Q]], %[[SR]], %{{.*}} -> tensor<16x32xf32>
// CHECK-DAG:       %[[Y:.*]] = hla_tile.dot %[[AR]], %[[VR]], %[[QS]] : {{.*}} -> tensor<16x32xf32>
// CHECK-DAG:       %[[YR:.*]] = arith.truncf %[[Y]] : tensor<16x32xf32> to tensor<16x32xf16>
// CHECK-DAG:       hla_tile.store %[[YR]], %{{.*}} : tensor<16x32xf16>
// CHECK-DAG:       hla_tile.dot %[[Q]], %[[VR]], %[[S]] transpose_lhs : {{.*}} -> tensor<32x32xf32>
func.func @precision(%Q: memref<?x?x?x32xbf16>, %V: memref<?x?x?x32xf32>, %O: memref<?x?x?x32xf16>) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = bf16>)
      ins(%Q, %V : memref<?x?x?x32xbf16>, memref<?x?x?x32xf32>) outs(%O : memref<?x?x?x32xf16>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<32xbf16>, %v: vector<32xf32>, %S: vector<32x32xf32>):
    %S1, %y = hla.step ins(%q, %q, %v : vector<32xbf16>, vector<32xbf16>, vector<32xf32>) state(%S : vector<32x32xf32>) -> vector<32xf16>
    hla.yield %y, %S1 : vector<32xf16>, vector<32x32xf32>
  }
  return
}

// Between the two 16-bit types there is no way but by f32.
// CHECK-LABEL: func @f16_to_bf16
// CHECK:         %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<16x32xf16>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[Q]] : tensor<16x32xf16> to tensor<16x32xf32>
// CHECK:         arith.truncf %[[WIDE]] : tensor<16x32xf32> to tensor<16x32xbf16>
func.func @f16_to_bf16(%Q: memref<?x?x?x32xf16>, %O: memref<?x?x?x32xf32>) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = bf16>)
      ins(%Q : memref<?x?x?x32xf16>) outs(%O : memref<?x?x?x32xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<32xf16>, %S: vector<32x32xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<32xf16>, vector<32xf16>, vector<32xf16>) state(%S : vector<32x32xf32>) -> vector<32xf32>
    hla.yield %y, %S1 : vector<32xf32>, vector<32x32xf32>
  }
  return
}

// In f64 sums and states are; operands are as they come.
// CHECK-LABEL: func @f64
// CHECK:         scf.for {{.*}} -> (tensor<3x3xf64>)
// CHECK:           hla_tile.dot {{.*}} : tensor<16x3xf32>, tensor<16x3xf32> -> tensor<16x16xf64>
// CHECK:           hla_tile.dot {{.*}} : tensor<16x3xf32>, tensor<3x3xf64> -> tensor<16x3xf64>
func.func @f64(%Q: memref<?x?x?x3xf32>, %O: memref<?x?x?x3xf64>) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f64>)
      ins(%Q : memref<?x?x?x3xf32>) outs(%O : memref<?x?x?x3xf64>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<3xf32>, %S: vector<3x3xf64>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<3xf32>, vector<3xf32>, vector<3xf32>) state(%S : vector<3x3xf64>) -> vector<3xf64>
    hla.yield %y, %S1 : vector<3xf64>, vector<3x3xf64>
  }
  return
}

// What is known to be one chunk needs no loop; its first product, with a state of
// zeros, is none.
// CHECK-LABEL: func @one_chunk
// CHECK-NOT:     scf.for
// CHECK:         memref.subview %{{.*}}[%{{.*}}, 0, %{{.*}}, 0] [1, 16, 1, 8]
// CHECK-COUNT-2: hla_tile.dot
// CHECK-NOT:     hla_tile.dot
// CHECK:         hla_tile.store
func.func @one_chunk(%Q: memref<2x16x3x8xf32>, %O: memref<2x16x3x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<2x16x3x8xf32>) outs(%O : memref<2x16x3x8xf32>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// Without tokens, a state ends as it begins.
// CHECK-LABEL: func @no_tokens
// CHECK-SAME:    %{{.*}}: memref<2x0x3x8xf32>, %[[C:.*]]: memref<2x3x8x8xf32>, %[[F:.*]]: memref<2x3x8x8xf32>
// CHECK:         %[[CV:.*]] = memref.subview %[[C]]
// CHECK:         %[[S:.*]] = hla_tile.load %[[CV]]
// CHECK:         %[[FV:.*]] = memref.subview %[[F]]
// CHECK:         hla_tile.store %[[S]], %[[FV]]
func.func @no_tokens(%Q: memref<2x0x3x8xf32>, %C: memref<2x3x8x8xf32>, %F: memref<2x3x8x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<2x0x3x8xf32>) carries(%C : memref<2x3x8x8xf32>) outs(%Q, %F : memref<2x0x3x8xf32>, memref<2x3x8x8xf32>) carry_in [true] carry_out [true] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// One number a token is a column, as far apart as tokens are.
// CHECK-LABEL: func @numbers
// CHECK-SAME:    %[[N:[^ ]*]]: memref<?x?x?xf32, strided<[?, ?, 1]>>
// CHECK:           memref.subview %[[N]][%{{.*}}, 0, %{{.*}}] [1, %{{.*}}, 1] [1, 1, 1] : {{.*}} to memref<?xf32, strided<[?], offset: ?>>
// CHECK-LABEL: func @numbers_bhtd
// CHECK-SAME:    %[[N:[^ ]*]]: memref<?x?x?xf32, strided<[?, ?, 1]>>
// CHECK:           memref.subview %[[N]][%{{.*}}, %{{.*}}, 0] [1, 1, %{{.*}}] [1, 1, 1] : {{.*}} to memref<?xf32, strided<[1], offset: ?>>
func.func @numbers(%N: memref<?x?x?xf32, strided<[?, ?, 1]>>, %P: memref<?x?x?xf32, strided<[?, ?, 1]>>) {
  hla.fused_scan schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%N : memref<?x?x?xf32, strided<[?, ?, 1]>>) outs(%P : memref<?x?x?xf32, strided<[?, ?, 1]>>) carry_in [] carry_out [] {
  ^bb0(%n: vector<1xf32>):
    hla.yield %n : vector<1xf32>
  }
  return
}
func.func @numbers_bhtd(%N: memref<?x?x?xf32, strided<[?, ?, 1]>>, %P: memref<?x?x?xf32, strided<[?, ?, 1]>>) {
  hla.fused_scan layout(bhtd) schedule(<chunk = 16, warps = 1, stages = 1, precision = f32>)
      ins(%N : memref<?x?x?xf32, strided<[?, ?, 1]>>) outs(%P : memref<?x?x?xf32, strided<[?, ?, 1]>>) carry_in [] carry_out [] {
  ^bb0(%n: vector<1xf32>):
    hla.yield %n : vector<1xf32>
  }
  return
}

// Heads of a group read one head; there are as many as the first input has, times
// its group.
// CHECK-LABEL: func @groups
// CHECK-SAME:    %[[Q:[^ ]*]]: memref<{{[^ ]*}}, strided<[?, ?, ?, 1]>>, %[[K:[^ ]*]]: memref
// CHECK-DAG:     %[[HQ:.*]] = memref.dim %[[Q]], %c2
// CHECK-DAG:     %[[H:.*]] = arith.muli %[[HQ]], %c2
// CHECK:         hla_tile.launch (%{{.*}}, %[[h:.*]]) in (%{{.*}}, %[[H]])
// CHECK-DAG:       %[[h2:.*]] = arith.divui %[[h]], %c2
// CHECK-DAG:       %[[h4:.*]] = arith.divui %[[h]], %c4
// CHECK-DAG:       memref.subview %[[Q]][%{{.*}}, 0, %[[h2]], 0]
// CHECK-DAG:       memref.subview %[[K]][%{{.*}}, 0, %[[h4]], 0]
// CHECK-DAG:       memref.subview %{{.*}}[%{{.*}}, 0, %[[h]], 0]
func.func @groups(%Q: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %K: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, %O: memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) {
  hla.fused_scan groups([2, 4]) schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q, %K : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>, memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) outs(%O : memref<?x?x?x8xf32, strided<[?, ?, ?, 1]>>) carry_in [false] carry_out [false] {
  ^bb0(%q: vector<8xf32>, %k: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %k, %k : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// A run a sequence: the tokens between two lengths, none of which leads outside.
// CHECK-LABEL: func @lengths
// CHECK-SAME:    %[[Q:[^ ]*]]: memref<1x?x?x8xf32, strided<[?, ?, ?, 1]>>, %[[C:[^ ]*]]: memref<?xi32, strided<[1]>>, %[[F:[^ ]*]]: memref
// CHECK-DAG:     %[[T:.*]] = memref.dim %[[Q]], %c1
// CHECK-DAG:     %[[COUNT:.*]] = memref.dim %[[C]], %c0
// CHECK-DAG:     %[[N:.*]] = arith.subi %[[COUNT]], %c1
// CHECK:         hla_tile.launch (%[[n:.*]], %[[h:.*]]) in (%[[N]], %{{.*}})
// CHECK:           %[[C0:.*]] = memref.load %[[C]][%[[n]]]
// CHECK:           %[[I0:.*]] = arith.index_cast %[[C0]] : i32 to index
// CHECK:           %[[LOW:.*]] = arith.maxsi %[[I0]], %c0
// CHECK:           %[[BEGIN:.*]] = arith.minsi %[[LOW]], %[[T]]
// CHECK:           %[[n1:.*]] = arith.addi %[[n]], %c1
// CHECK:           %[[C1:.*]] = memref.load %[[C]][%[[n1]]]
// CHECK:           %[[I1:.*]] = arith.index_cast %[[C1]] : i32 to index
// CHECK:           %[[HIGH:.*]] = arith.maxsi %[[I1]], %[[BEGIN]]
// CHECK:           %[[END:.*]] = arith.minsi %[[HIGH]], %[[T]]
// CHECK:           memref.subview %[[Q]][0, 0, %[[h]], 0] [1, %[[END]], 1, 8]
// CHECK:           scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK:           memref.subview %[[F]][%[[n]], %[[h]], 0, 0]
func.func @lengths(%Q: memref<1x?x?x8xf32, strided<[?, ?, ?, 1]>>, %C: memref<?xi32, strided<[1]>>, %F: memref<?x?x8x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<1x?x?x8xf32, strided<[?, ?, ?, 1]>>) lengths(%C : memref<?xi32, strided<[1]>>)
      outs(%Q, %F : memref<1x?x?x8xf32, strided<[?, ?, ?, 1]>>, memref<?x?x8x8xf32>) carry_in [false] carry_out [true] {
  ^bb0(%q: vector<8xf32>, %S: vector<8x8xf32>):
    %S1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %S1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}

// A sequence's states are where its slot says; a slot that there is not has no rows, so
// that zeros are read and nothing is written.
// CHECK-LABEL: func @slots
// CHECK-SAME:    %[[Q:[^ ]*]]: memref<?x?x?x8xf32>, %[[N:[^ ]*]]: memref<?xi32>, %[[S:[^ ]*]]: memref<?x?x8x8xf32>
// CHECK:         %[[STATES:.*]] = memref.dim %[[S]], %c0
// CHECK:         hla_tile.launch (%[[b:.*]], %[[h:.*]]) in
// CHECK:           %[[LOADED:.*]] = memref.load %[[N]][%[[b]]]
// CHECK:           %[[SLOT:.*]] = arith.index_cast %[[LOADED]] : i32 to index
// CHECK:           %[[IS:.*]] = arith.cmpi ult, %[[SLOT]], %[[STATES]]
// CHECK:           %[[ROWS:.*]] = arith.select %[[IS]], %c8{{.*}}, %c0
// CHECK:           %[[VIEW:.*]] = memref.subview %[[S]][%[[SLOT]], %[[h]], 0, 0] [1, 1, %[[ROWS]], 8]
// CHECK:           hla_tile.load %[[VIEW]][
// CHECK:           hla_tile.store %{{.*}}, %[[VIEW]][
func.func @slots(%Q: memref<?x?x?x8xf32>, %N: memref<?xi32>, %S: memref<?x?x8x8xf32>) {
  hla.fused_scan schedule(<chunk = 32, warps = 1, stages = 1, precision = f32>)
      ins(%Q : memref<?x?x?x8xf32>) slots(%N : memref<?xi32>) carries(%S : memref<?x?x8x8xf32>)
      outs(%Q, %S : memref<?x?x?x8xf32>, memref<?x?x8x8xf32>) carry_in [true] carry_out [true] {
  ^bb0(%q: vector<8xf32>, %T: vector<8x8xf32>):
    %T1, %y = hla.step ins(%q, %q, %q : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%T : vector<8x8xf32>) -> vector<8xf32>
    hla.yield %y, %T1 : vector<8xf32>, vector<8x8xf32>
  }
  return
}
