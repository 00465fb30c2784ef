//===- TilePipeline.cpp - from hla to tile programs -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/Passes.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::hla;

void hla::buildHLAToTilePipeline(OpPassManager &pm,
                                 const HLAToTilePipelineOptions &options) {
  pm.addPass(createHLADecomposeOperators());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createHLAFuseScans({options.target, options.precision}));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createHLAAssignSchedule({options.target, options.precision}));
  if (!options.segments.empty()) {
    // The loops that find what segments begin with have schedules of their own.
    pm.addPass(createHLASplitSegments(
        {options.target, options.segments, options.precision}));
    pm.addPass(createCanonicalizerPass());
    pm.addPass(createCSEPass());
    pm.addPass(createHLAAssignSchedule({options.target, options.precision}));
  }
  pm.addPass(createHLABufferize());
  pm.addPass(createConvertHLAToTile());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void hla::registerHLAToTilePipeline() {
  PassPipelineRegistration<HLAToTilePipelineOptions>(
      "hla-to-tile-pipeline",
      "Turns hla operations on tensors into tile programs: operators are "
      "decomposed, scans fused and scheduled for the target, tensors put into "
      "memory. Results that are not written to an argument become arguments",
      buildHLAToTilePipeline);
}
