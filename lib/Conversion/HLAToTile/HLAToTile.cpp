//===- HLAToTile.cpp - fused scans as tile programs -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "LoopVerifier.h"
#include "ProgramBuilder.h"
#include "Segments.h"
#include "hla/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::hla {
#define GEN_PASS_DEF_CONVERTHLATOTILE
#include "hla/Conversion/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

struct ConvertHLAToTile : hla::impl::ConvertHLAToTileBase<ConvertHLAToTile> {
  void runOnOperation() override {
    TargetAttr target = TargetAttr::lookup(getOperation());
    if (target && target.getInfo().isGPU)
      replaceCopies(getOperation(), target.getInfo());
    const TargetInfo &info =
        target ? target.getInfo() : *TargetInfo::lookup("cpu");
    convertSegments(getOperation(), info);
    SmallVector<FusedScanOp> loops;
    getOperation()->walk([&](FusedScanOp op) { loops.push_back(op); });
    for (FusedScanOp op : loops) {
      if (failed(verifyLoop(op, info)))
        return signalPassFailure();
      OpBuilder builder(op);
      ProgramBuilder(op, builder, info).build();
      op.erase();
    }
  }
};

} // namespace
