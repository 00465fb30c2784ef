//===- CPUPipeline.cpp - from hla to LLVM for the host ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/Passes.h"
#include "hla/Pipelines/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/RequestCWrappers.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::hla;

int64_t hla::getHostVectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 512;
  return features.lookup("avx2") ? 256 : 128;
}

/// A tile program to vector loops on buffers.
static void addLoopPasses(OpPassManager &pm, int64_t vectorBits) {
  pm.addPass(createConvertHLATileToLinalg());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertElementwiseToLinalgPass());
  pm.addPass(createLinalgElementwiseOpFusionPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  pm.addPass(createHLABufferizeTiles());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createHLAVectorizeTiles({vectorBits}));
}

/// Loops to the LLVM dialect.
static void addLLVMPasses(OpPassManager &pm, CPUParallel parallel) {
  // bf16 in integer operations: few CPUs convert it.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  if (parallel == CPUParallel::OpenMP)
    pm.addPass(createConvertSCFToOpenMPPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addNestedPass<func::FuncOp>(LLVM::createLLVMRequestCWrappersPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  if (parallel == CPUParallel::OpenMP)
    pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void hla::buildHLAToCPUPipeline(OpPassManager &pm,
                                const HLAToCPUPipelineOptions &options) {
  int64_t vectorBits =
      options.vectorBits ? options.vectorBits : getHostVectorBits();
  HLAToTilePipelineOptions tile;
  tile.target = options.scheduleTarget;
  tile.precision = options.precision;
  tile.segments = options.segments;
  buildHLAToTilePipeline(pm, tile);
  addLoopPasses(pm, vectorBits);
  addLLVMPasses(pm, options.parallel);
}

void hla::registerHLAToCPUPipeline() {
  PassPipelineRegistration<HLAToCPUPipelineOptions>(
      "hla-to-cpu-pipeline",
      "Compiles hla operations on tensors for the host: scans are fused, "
      "scheduled and turned into a tile program, and that into vector loops in "
      "the LLVM dialect, parallel over batches and heads. Results that are not "
      "written to an argument become arguments",
      buildHLAToCPUPipeline);
}
