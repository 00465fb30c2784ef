// PTX of every target: version, entry, threads, shared memory, instructions.

// RUN: hla-compile %s --target=sm_80 --no-cubin -o %t.sm_80
// RUN: FileCheck %s --input-file=%t.sm_80/masked.ptx --check-prefixes=CHECK,WORDS -DTARGET=sm_80
// RUN: hla-compile %s --target=sm_86 --no-cubin -o %t.sm_86
// RUN: FileCheck %s --input-file=%t.sm_86/masked.ptx --check-prefixes=CHECK,WORDS -DTARGET=sm_86
// RUN: hla-compile %s --target=sm_89 --no-cubin -o %t.sm_89
// RUN: FileCheck %s --input-file=%t.sm_89/masked.ptx --check-prefixes=CHECK,WORDS -DTARGET=sm_89
// RUN: hla-compile %s --target=sm_90a --no-cubin -o %t.sm_90a
// RUN: FileCheck %s --input-file=%t.sm_90a/masked.ptx --check-prefix=GROUPS
// RUN: hla-compile %s --target=sm_100a --no-cubin -o %t.sm_100a
// RUN: FileCheck %s --input-file=%t.sm_100a/masked.ptx --check-prefixes=CHECK,MATRICES -DTARGET=sm_100a
// RUN: hla-compile %s --target=sm_120a --no-cubin -o %t.sm_120a
// RUN: FileCheck %s --input-file=%t.sm_120a/masked.ptx --check-prefixes=CHECK,MATRICES -DTARGET=sm_120a

// One program gives one text, every time.
// RUN: hla-compile %s --target=sm_90a --no-cubin -o %t.again
// RUN: diff -r %t.sm_90a %t.again

// CHECK:         .version 8.7
// CHECK-NEXT:    .target [[TARGET]]
// CHECK-NEXT:    .address_size 64
// CHECK:         .extern .shared .align 1024 .b8 hla_shared_memory[];
// CHECK-LABEL:   .visible .entry masked_kernel(
// CHECK:           .param .u64 .ptr .global
// CHECK:         .reqntid 128{{$|,}}
// CHECK-NOT:     .local
// CHECK-DAG:     cp.async.cg.shared.global
// CHECK-DAG:     cp.async.commit_group
// CHECK-DAG:     cp.async.wait_group
// CHECK-DAG:     ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-DAG:     ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-DAG:     mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-DAG:     cvt.rn.bf16x2.f32
// WORDS-DAG:     st.shared.b32
// MATRICES-DAG:  stmatrix.sync.aligned.m8n8.x4
// CHECK-NOT:     .local
// CHECK:         ret;

// GROUPS:        .version 8.7
// GROUPS-NEXT:   .target sm_90a
// GROUPS-LABEL:  .visible .entry masked_kernel(
// GROUPS-COUNT-4:  .param .align 64 .b8 masked_kernel_param_{{[0-9]+}}[128]
// GROUPS:        .reqntid 256{{$|,}}
// GROUPS:        .maxnreg 128
// GROUPS-NOT:    .local
// GROUPS-DAG:    mbarrier.init.shared::cta.b64
// GROUPS-DAG:    mbarrier.arrive.expect_tx.shared::cta.b64
// GROUPS-DAG:    cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
// GROUPS-DAG:    wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// GROUPS-DAG:    stmatrix.sync.aligned.m8n8.x4
// GROUPS-DAG:    bar.arrive
// GROUPS-DAG:    cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group
// GROUPS-NOT:    .local
// GROUPS:        ret;

!S = tensor<?x?x?x64xbf16>
func.func @masked(%q: !S, %k: !S, %v: !S, %e: !S) -> !S {
  %o = hla.second_order ins(%q, %k, %v : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
}
