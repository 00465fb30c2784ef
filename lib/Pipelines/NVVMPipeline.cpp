//===- NVVMPipeline.cpp - from hla to GPU kernels in the LLVM dialect -----===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/Passes.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "hla/Pipelines/Pipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::hla;

/// Tiles to layouts, and layouts to buffers, by warps that share all or by
/// groups, as each kernel's schedule says.
static void addKernelPasses(OpPassManager &pm) {
  auto addToKernels = [&](std::unique_ptr<Pass> pass) {
    OpPassManager &kernel = pm.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
    kernel.addPass(std::move(pass));
    kernel.addPass(createCanonicalizerPass());
    kernel.addPass(createCSEPass());
  };
  addToKernels(tile::createHLATileAssignLayouts());
  addToKernels(tile::createHLATileSplitFragments());
  addToKernels(tile::createHLATileScheduleMMA());
  pm.addPass(tile::createHLATileScheduleGroups());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

/// Kernels to the LLVM dialect.
static void addLLVMPasses(OpPassManager &pm) {
  pm.addPass(createConvertHLATileToNVVM());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createSCFToControlFlowPass());
  ConvertToLLVMPassOptions toLLVM;
  toLLVM.filterDialects = {"arith", "cf", "vector"};
  toLLVM.useDynamic = true; // Indices are as wide as the module's layout says.
  pm.addPass(createConvertToLLVMPass(toLLVM));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void hla::buildHLAToNVVMPipeline(OpPassManager &pm,
                                 const HLAToNVVMPipelineOptions &options) {
  HLAToTilePipelineOptions tile;
  tile.target = options.target;
  tile.precision = options.precision;
  tile.segments = options.segments;
  buildHLAToTilePipeline(pm, tile);
  pm.addPass(tile::createHLATileOutlineKernels());
  pm.addPass(createCanonicalizerPass());
  addKernelPasses(pm);
  addLLVMPasses(pm.nest<gpu::GPUModuleOp>());
}

void hla::registerHLAToNVVMPipeline() {
  PassPipelineRegistration<HLAToNVVMPipelineOptions>(
      "hla-to-nvvm-pipeline",
      "Compiles hla operations on tensors into kernels for the target's tensor "
      "cores (mma.sync), in the LLVM dialect, with the launches in the "
      "functions "
      "they came from",
      buildHLAToNVVMPipeline);
}
