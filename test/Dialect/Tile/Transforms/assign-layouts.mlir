// RUN: hla-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(hla-tile-assign-layouts)))' | FileCheck %s

!View = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!Out = memref<?x64xbf16, strided<[?, 1], offset: ?>>
!State = memref<64x64xf32, strided<[64, 1], offset: ?>>

gpu.module @kernels {

// A state is stored transposed, so that q S takes it from registers as the A
// operand of (Sᵀ qᵀ)ᵀ; the sum that continues from the product is stored as it is.
// Loaded tiles, scores and 16-bit outputs go through shared memory; the state is
// loaded, carried and stored in one layout.
// CHECK-LABEL: gpu.func @scan
// CHECK:         %[[INITIAL:.*]] = hla_tile.load %{{.*}} -> tensor<64x64xf32, [[STATE:#hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>]]>
// CHECK:         %[[FINAL:.*]] = scf.for {{.*}} iter_args(%[[S:[^ ]*]] = %[[INITIAL]]) -> (tensor<64x64xf32, [[STATE]]>)
// CHECK:           %[[Q:.*]] = hla_tile.load {{.*}} -> tensor<64x64xbf16, [[ROW:#hla_tile.smem<order = row>]]>
// CHECK:           %[[QK:.*]] = hla_tile.dot %[[Q]], %[[Q]], %{{.*}} transpose_rhs : tensor<64x64xbf16, [[ROW]]>, tensor<64x64xbf16, [[ROW]]> -> tensor<64x64xf32, [[SCORES:#hla_tile.frag<rowWarps = 4, colWarps = 1>]]>
// CHECK:           %[[A:.*]] = hla_tile.causal lower %[[QK]] : tensor<64x64xf32, [[SCORES]]>
// CHECK:           %[[A16:.*]] = arith.truncf %[[A]]
// CHECK:           %[[AS:.*]] = hla_tile.convert_layout %[[A16]] : tensor<64x64xbf16, [[SCORES]]> -> tensor<64x64xbf16, [[ROW]]>
// CHECK:           %[[S16:.*]] = arith.truncf %[[S]] : tensor<64x64xf32, [[STATE]]> to tensor<64x64xbf16, [[STATE]]>
// CHECK-NOT:       hla_tile.convert_layout %[[S16]]
// CHECK:           %[[QS:.*]] = hla_tile.dot %[[Q]], %[[S16]], %{{.*}} : tensor<64x64xbf16, [[ROW]]>, tensor<64x64xbf16, [[STATE]]> -> tensor<64x64xf32, [[STATE]]>
// CHECK:           %[[Y:.*]] = hla_tile.dot %[[AS]], %[[Q]], %[[QS]] : {{.*}} -> tensor<64x64xf32, [[STATE]]>
// CHECK:           %[[Y16:.*]] = arith.truncf %[[Y]]
// CHECK:           %[[OUT:.*]] = hla_tile.convert_layout %[[Y16]] : tensor<64x64xbf16, [[STATE]]> -> tensor<64x64xbf16, [[ROW]]>
// CHECK:           hla_tile.store %[[OUT]]
// CHECK:           %[[S1:.*]] = hla_tile.dot %[[Q]], %[[Q]], %[[S]] transpose_lhs : {{.*}} -> tensor<64x64xf32, [[STATE]]>
// CHECK:           scf.yield %[[S1]] : tensor<64x64xf32, [[STATE]]>
// CHECK:         hla_tile.store %[[FINAL]], %{{.*}} : tensor<64x64xf32, [[STATE]]>
gpu.func @scan(%q: !View, %s: !State, %o: !Out, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %S0 = hla_tile.load %s[%c0] : !State -> tensor<64x64xf32>
  %final = scf.for %i = %c0 to %n step %c1 iter_args(%S = %S0) -> (tensor<64x64xf32>) {
    %row = arith.muli %i, %c64 : index
    %Q = hla_tile.load %q[%row] : !View -> tensor<64x64xbf16>
    %QK = hla_tile.dot %Q, %Q, %zero transpose_rhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %A = hla_tile.causal lower %QK : tensor<64x64xf32>
    %A16 = arith.truncf %A : tensor<64x64xf32> to tensor<64x64xbf16>
    %S16 = arith.truncf %S : tensor<64x64xf32> to tensor<64x64xbf16>
    %QS = hla_tile.dot %Q, %S16, %zero : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %Y = hla_tile.dot %A16, %Q, %QS : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %Y16 = arith.truncf %Y : tensor<64x64xf32> to tensor<64x64xbf16>
    hla_tile.store %Y16, %o[%row] : tensor<64x64xbf16>, !Out
    %S1 = hla_tile.dot %Q, %Q, %S transpose_lhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  hla_tile.store %final, %s[%c0] : tensor<64x64xf32>, !State
  gpu.return
}

// Eight warps, a state of 32×128: its 128 columns are the eight rows of warps of
// the stored, transposed tile; scores of 64×64 have four rows of warps only.
// CHECK-LABEL: gpu.func @wide
// CHECK:         scf.for {{.*}} -> (tensor<32x128xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1, transposed = true>>)
// CHECK:           hla_tile.dot {{.*}} transpose_rhs : {{.*}} -> tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 2>>
// CHECK:           hla_tile.dot {{.*}} -> tensor<64x128xf32, #hla_tile.frag<rowWarps = 8, colWarps = 1, transposed = true>>
gpu.func @wide(%q: memref<?x32xbf16>, %v: memref<?x128xbf16>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %zeroY = arith.constant dense<0.0> : tensor<64x128xf32>
  %zeroS = arith.constant dense<0.0> : tensor<32x128xf32>
  %final = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zeroS) -> (tensor<32x128xf32>) {
    %Q = hla_tile.load %q[%i] : memref<?x32xbf16> -> tensor<64x32xbf16>
    %V = hla_tile.load %v[%i] : memref<?x128xbf16> -> tensor<64x128xbf16>
    %QK = hla_tile.dot %Q, %Q, %zero transpose_rhs : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    %S16 = arith.truncf %S : tensor<32x128xf32> to tensor<32x128xbf16>
    %QS = hla_tile.dot %Q, %S16, %zeroY : tensor<64x32xbf16>, tensor<32x128xbf16> -> tensor<64x128xf32>
    %S1 = hla_tile.dot %Q, %V, %S transpose_lhs : tensor<64x32xbf16>, tensor<64x128xbf16> -> tensor<32x128xf32>
    scf.yield %S1 : tensor<32x128xf32>
  }
  gpu.return
}

// A state whose columns are too few for a row block a warp goes through shared
// memory, stored by columns: as the fragment is.
// CHECK-LABEL: gpu.func @state_through_shared_memory
// CHECK:         scf.for {{.*}} -> (tensor<128x32xf32, [[STATE:#hla_tile.frag<rowWarps = 2, colWarps = 4, transposed = true>]]>)
// CHECK:           %[[S16:.*]] = arith.truncf %{{.*}} to tensor<128x32xbf16, [[STATE]]>
// CHECK:           %[[SS:.*]] = hla_tile.convert_layout %[[S16]] : {{.*}} -> tensor<128x32xbf16, #hla_tile.smem<order = col>>
// CHECK:           hla_tile.dot %{{.*}}, %[[SS]], %{{.*}} : tensor<64x128xbf16, #hla_tile.smem<order = row>>, tensor<128x32xbf16, #hla_tile.smem<order = col>> -> tensor<64x32xf32, #hla_tile.frag<rowWarps = 4, colWarps = 2>>
gpu.func @state_through_shared_memory(%q: memref<?x128xbf16>, %v: memref<?x32xbf16>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 8, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeroY = arith.constant dense<0.0> : tensor<64x32xf32>
  %zeroS = arith.constant dense<0.0> : tensor<128x32xf32>
  %final = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zeroS) -> (tensor<128x32xf32>) {
    %Q = hla_tile.load %q[%i] : memref<?x128xbf16> -> tensor<64x128xbf16>
    %V = hla_tile.load %v[%i] : memref<?x32xbf16> -> tensor<64x32xbf16>
    %S16 = arith.truncf %S : tensor<128x32xf32> to tensor<128x32xbf16>
    %QS = hla_tile.dot %Q, %S16, %zeroY : tensor<64x128xbf16>, tensor<128x32xbf16> -> tensor<64x32xf32>
    %S1 = hla_tile.dot %Q, %V, %S transpose_lhs : tensor<64x128xbf16>, tensor<64x32xbf16> -> tensor<128x32xf32>
    scf.yield %S1 : tensor<128x32xf32>
  }
  gpu.return
}

// A product whose operand is in registers, a whole row block a warp, is stored so
// that it stays there: what is loaded into registers is loaded so. One conversion
// serves all who need it elsewhere.
// CHECK-LABEL: gpu.func @in_registers
// CHECK:         %[[P:.*]] = arith.truncf %{{.*}} to tensor<64x64xbf16, [[FRAG:#hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>]]>
// CHECK:         %[[PR:.*]] = hla_tile.convert_layout %[[P]] : tensor<64x64xbf16, [[FRAG]]> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[PC:.*]] = hla_tile.convert_layout %[[P]] : tensor<64x64xbf16, [[FRAG]]> -> tensor<64x64xbf16, #hla_tile.smem<order = col>>
// CHECK-NOT:     convert_layout
// CHECK:         hla_tile.dot %[[PC]], %[[P]], %{{.*}} : tensor<64x64xbf16, #hla_tile.smem<order = col>>, tensor<64x64xbf16, [[FRAG]]> -> tensor<64x64xf32, [[FRAG]]>
// CHECK:         hla_tile.store %[[PR]]
gpu.func @in_registers(%x: memref<64x64xf32>, %o: !Out) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %X = hla_tile.load %x[%c0] : memref<64x64xf32> -> tensor<64x64xf32>
  %P = arith.truncf %X : tensor<64x64xf32> to tensor<64x64xbf16>
  %D = hla_tile.dot %P, %P, %zero : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  hla_tile.store %P, %o[%c0] : tensor<64x64xbf16>, !Out
  hla_tile.store %D, %x[%c0] : tensor<64x64xf32>, memref<64x64xf32>
  gpu.return
}

// Rows of 32 bits that products read are in shared memory, and so is what warps
// exchange; the state stays an operand in registers, and the output is stored from
// them.
// CHECK-LABEL: gpu.func @wide_operands
// CHECK:         scf.for {{.*}} iter_args(%[[S:[^ ]*]] = %{{.*}}) -> (tensor<64x64xf32, [[FRAG:#hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>]]>)
// CHECK:           %[[Q:.*]] = hla_tile.load {{.*}} : memref<?x64xf32> -> tensor<32x64xtf32, #hla_tile.smem<order = row>>
// CHECK:           %[[V:.*]] = hla_tile.load {{.*}} : memref<?x64xf32> -> tensor<32x64xf32, #hla_tile.smem<order = row>>
// CHECK:           %[[Y:.*]] = hla_tile.dot %[[Q]], %[[S]], %{{.*}} : tensor<32x64xtf32, #hla_tile.smem<order = row>>, tensor<64x64xf32, [[FRAG]]> -> tensor<32x64xf32, [[FRAG]]>
// CHECK:           %[[YS:.*]] = hla_tile.convert_layout %[[Y]] : tensor<32x64xf32, [[FRAG]]> -> tensor<32x64xf32, #hla_tile.smem<order = col>>
// CHECK:           hla_tile.dot %[[YS]], %[[V]], %[[S]] transpose_lhs
// CHECK:           hla_tile.store %[[Y]], %{{.*}} : tensor<32x64xf32, [[FRAG]]>
gpu.func @wide_operands(%q: memref<?x64xf32>, %v: memref<?x64xf32>, %o: memref<?x64xf32>, %n: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 32, warps = 4, stages = 2, precision = f32>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zeroY = arith.constant dense<0.0> : tensor<32x64xf32>
  %zeroS = arith.constant dense<0.0> : tensor<64x64xf32>
  %final = scf.for %i = %c0 to %n step %c1 iter_args(%S = %zeroS) -> (tensor<64x64xf32>) {
    %Q = hla_tile.load %q[%i] : memref<?x64xf32> -> tensor<32x64xtf32>
    %V = hla_tile.load %v[%i] : memref<?x64xf32> -> tensor<32x64xf32>
    %Y = hla_tile.dot %Q, %S, %zeroY : tensor<32x64xtf32>, tensor<64x64xf32> -> tensor<32x64xf32>
    %S1 = hla_tile.dot %Y, %V, %S transpose_lhs : tensor<32x64xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    hla_tile.store %Y, %o[%i] : tensor<32x64xf32>, memref<?x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  gpu.return
}

// Elementwise operations are done in registers: a loaded tile is read into them,
// and written again where it is decayed rows of k.
// CHECK-LABEL: gpu.func @decayed_load
// CHECK:         %[[G:.*]] = hla_tile.ramp %{{.*}} : tensor<64x1xf64, #hla_tile.lane>
// CHECK:         %[[K:.*]] = hla_tile.load {{.*}} -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         %[[KR:.*]] = hla_tile.convert_layout %[[K]] : {{.*}} -> tensor<64x64xbf16, [[FRAG:#hla_tile.frag<rowWarps = 4, colWarps = 1>]]>
// CHECK:         %[[WIDE:.*]] = arith.extf %[[KR]] : tensor<64x64xbf16, [[FRAG]]> to tensor<64x64xf32, [[FRAG]]>
// CHECK:         %[[D:.*]] = hla_tile.decay after %[[WIDE]] by %[[G]] : tensor<64x64xf32, [[FRAG]]>, tensor<64x1xf64, #hla_tile.lane>
// CHECK:         %[[D16:.*]] = arith.truncf %[[D]]
// CHECK:         %[[DS:.*]] = hla_tile.convert_layout %[[D16]] : tensor<64x64xbf16, [[FRAG]]> -> tensor<64x64xbf16, #hla_tile.smem<order = row>>
// CHECK:         hla_tile.dot %[[DS]], %[[K]], %{{.*}} transpose_lhs
gpu.func @decayed_load(%k: !View, %x: memref<64x64xf32>, %i: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %g = arith.constant -0.5 : f64
  %G = hla_tile.ramp %g[%i] : tensor<64x1xf64>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %K = hla_tile.load %k[%i] : !View -> tensor<64x64xbf16>
  %W = arith.extf %K : tensor<64x64xbf16> to tensor<64x64xf32>
  %D = hla_tile.decay after %W by %G : tensor<64x64xf32>, tensor<64x1xf64>
  %D16 = arith.truncf %D : tensor<64x64xf32> to tensor<64x64xbf16>
  %S = hla_tile.dot %D16, %K, %zero transpose_lhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
  hla_tile.store %S, %x[%c0] : tensor<64x64xf32>, memref<64x64xf32>
  gpu.return
}

// A state that no product reads is stored as its update finds the operands, or,
// where groups hand tiles over in shared memory, as one that is read: what is added
// to it is no tie between groups then.
// CHECK-LABEL: gpu.func @unread
// CHECK:         scf.for {{.*}} -> (tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1>>)
// CHECK-LABEL: gpu.func @unread_in_groups
// CHECK:         scf.for {{.*}} -> (tensor<64x64xf32, #hla_tile.frag<rowWarps = 4, colWarps = 1, transposed = true>>)
gpu.func @unread(%k: !View, %s: !State, %T: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %S = scf.for %i = %c0 to %T step %c64 iter_args(%S0 = %zero) -> (tensor<64x64xf32>) {
    %K = hla_tile.load %k[%i] : !View -> tensor<64x64xbf16>
    %S1 = hla_tile.dot %K, %K, %S0 transpose_lhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  hla_tile.store %S, %s[%c0] : tensor<64x64xf32>, !State
  gpu.return
}
gpu.func @unread_in_groups(%k: !View, %s: !State, %T: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16, groups = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %S = scf.for %i = %c0 to %T step %c64 iter_args(%S0 = %zero) -> (tensor<64x64xf32>) {
    %K = hla_tile.load %k[%i] : !View -> tensor<64x64xbf16>
    %S1 = hla_tile.dot %K, %K, %S0 transpose_lhs : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  hla_tile.store %S, %s[%c0] : tensor<64x64xf32>, !State
  gpu.return
}

// Rows that are rounded are copied, though no product reads them as they are:
// fragments are loaded as f32 alone.
// CHECK-LABEL: gpu.func @rounded_and_scaled
// CHECK:         hla_tile.load {{.*}} : memref<?x64xf32> -> tensor<32x64xtf32, #hla_tile.smem<order = row>>
gpu.func @rounded_and_scaled(%v: memref<?x64xf32>, %s: !State, %T: index) kernel attributes {hla_tile.schedule = #hla.schedule<chunk = 32, warps = 4, stages = 2, precision = tf32>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %S = scf.for %i = %c0 to %T step %c32 iter_args(%S0 = %zero) -> (tensor<64x64xf32>) {
    %V = hla_tile.load %v[%i] : memref<?x64xf32> -> tensor<32x64xtf32>
    %wide = arith.extf %V : tensor<32x64xtf32> to tensor<32x64xf32>
    %twice = arith.addf %wide, %wide : tensor<32x64xf32>
    %V2 = arith.truncf %twice to_nearest_away : tensor<32x64xf32> to tensor<32x64xtf32>
    %S1 = hla_tile.dot %V2, %V2, %S0 transpose_lhs : tensor<32x64xtf32>, tensor<32x64xtf32> -> tensor<64x64xf32>
    scf.yield %S1 : tensor<64x64xf32>
  }
  hla_tile.store %S, %s[%c0] : tensor<64x64xf32>, !State
  gpu.return
}

// A function without a schedule is none of the pass's.
// CHECK-LABEL: gpu.func @other
// CHECK:         hla_tile.causal lower %{{.*}} : tensor<64x64xf32>{{$}}
gpu.func @other(%x: tensor<64x64xf32>) {
  %0 = hla_tile.causal lower %x : tensor<64x64xf32>
  gpu.return
}

}
