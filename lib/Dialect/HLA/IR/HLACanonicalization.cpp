//===- HLACanonicalization.cpp - simplification of scans --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

/// A carry of zeros is what a scan begins with anyhow.
struct DropZeroCarry : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getCarry() || !matchPattern(op.getCarry(), m_AnyZeroFloat()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getCarryMutable().clear(); });
    return success();
  }
};

/// A final state that nobody reads need not be written.
struct DropUnusedFinal : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getFinal() || !op.getFinal().use_empty())
      return failure();
    auto scan = ScanOp::create(
        rewriter, op.getLoc(), op.getResults().take_front().getTypes(),
        op.getExclusiveAttr(), op.getReverseAttr(), op.getDecayAttr(),
        op.getLayoutAttr(), op.getQuery(), op.getKey(), op.getValue(),
        op.getCarry(), op.getOutputs().take_front());
    rewriter.replaceAllUsesWith(op.getResults().front(),
                                scan.getResults().front());
    rewriter.eraseOp(op);
    return success();
  }
};

/// Rebuilds `op` with only those inputs for which `keep` is true; the body's
/// arguments of the others have no uses.
void keepInputs(FusedScanOp op, const llvm::BitVector &keep,
                PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(op, [&] {
    for (unsigned i = keep.size(); i-- > 0;) {
      if (keep[i])
        continue;
      op.getInputsMutable().erase(i);
      op.getBody().eraseArgument(i);
    }
  });
}

/// Each tensor is walked once, and only if the body reads it.
struct DropRedundantInputs : OpRewritePattern<FusedScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedScanOp op,
                                PatternRewriter &rewriter) const override {
    llvm::BitVector keep(op.getInputs().size(), true);
    llvm::SmallDenseMap<Value, unsigned> first;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      BlockArgument row = op.getBody().getArgument(i);
      auto [it, inserted] = first.try_emplace(input, i);
      if (!inserted) {
        rewriter.replaceAllUsesWith(row, op.getBody().getArgument(it->second));
        keep.reset(i);
      }
    }
    // One input stays: the loop needs tokens to walk.
    for (unsigned i = op.getInputs().size(); i-- > 0;)
      if (keep[i] && op.getBody().getArgument(i).use_empty() &&
          keep.count() > 1)
        keep.reset(i);
    if (keep.all())
      return failure();
    keepInputs(op, keep, rewriter);
    return success();
  }
};

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropZeroCarry, DropUnusedFinal>(context);
}

void FusedScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropRedundantInputs>(context);
}
