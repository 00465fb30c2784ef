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
        op.getLayoutAttr(), op.getGroupsAttr(), op.getQuery(), op.getKey(),
        op.getValue(), op.getLogDecay(), op.getLengths(), op.getSlots(),
        op.getCarry(), op.getOutputs().take_front());
    rewriter.replaceAllUsesWith(op.getResults().front(),
                                scan.getResults().front());
    rewriter.eraseOp(op);
    return success();
  }
};

/// A log-decay of zeros decays nothing.
struct DropZeroLogDecay : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ScanOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getLogDecay() || !matchPattern(op.getLogDecay(), m_AnyZeroFloat()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getLogDecayMutable().clear(); });
    return success();
  }
};

/// Keeps only those inputs for which `keep` is true; the body's arguments of
/// the others have no uses.
void keepInputs(FusedScanOp op, const llvm::BitVector &keep,
                PatternRewriter &rewriter) {
  rewriter.modifyOpInPlace(op, [&] {
    if (op.getGroups()) {
      SmallVector<int64_t> groups;
      for (unsigned i : keep.set_bits())
        groups.push_back(op.getGroup(i));
      if (llvm::all_of(groups, [](int64_t heads) { return heads == 1; }))
        op.removeGroupsAttr();
      else
        op.setGroups(groups);
    }
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
    llvm::SmallDenseMap<std::pair<Value, int64_t>, unsigned> first;
    for (auto [i, input] : llvm::enumerate(op.getInputs())) {
      BlockArgument row = op.getBody().getArgument(i);
      auto [it, inserted] = first.try_emplace({input, op.getGroup(i)}, i);
      if (!inserted) {
        rewriter.replaceAllUsesWith(row, op.getBody().getArgument(it->second));
        keep.reset(i);
      }
    }
    // The first input that stays has tokens: the loop needs some to walk.
    auto isWalked = [&](unsigned i) {
      return cast<ShapedType>(op.getInputs()[i].getType()).getRank() != 1;
    };
    auto isUnread = [&](unsigned i) {
      return op.getBody().getArgument(i).use_empty();
    };
    for (unsigned i = op.getInputs().size(); i-- > 0;) {
      if (!keep[i] || !isUnread(i))
        continue;
      keep.reset(i);
      int next = keep.find_first();
      if (next < 0 || !isWalked(next))
        keep.set(i);
    }
    if (keep.all())
      return failure();
    keepInputs(op, keep, rewriter);
    return success();
  }
};

/// The step that a state goes through, or null: it reads the state before the
/// token, and its result is the state after it.
StepOp getUpdate(FusedScanOp op, unsigned state) {
  Operation *yield = op.getBody().front().getTerminator();
  unsigned first = yield->getNumOperands() - op.getNumStates();
  auto step = yield->getOperand(first + state).getDefiningOp<StepOp>();
  return step && step.getState() == op.getStateArguments()[state] ? step
                                                                  : StepOp();
}

/// Erases a state that has no final value and no uses but its `yield`.
void eraseState(FusedScanOp op, unsigned state, PatternRewriter &rewriter) {
  Operation *yield = op.getBody().front().getTerminator();
  unsigned first = yield->getNumOperands() - op.getNumStates();
  rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperand(first + state); });
  SmallVector<bool> carryIn(op.getCarryIn()), carryOut(op.getCarryOut());
  unsigned carry = llvm::count(op.getCarryIn().take_front(state), true);
  rewriter.modifyOpInPlace(op, [&] {
    if (op.getEntryIn()) {
      SmallVector<bool> entryIn(*op.getEntryIn());
      if (entryIn[state])
        op.getEntriesMutable().erase(
            llvm::count(ArrayRef<bool>(entryIn).take_front(state), true));
      entryIn.erase(entryIn.begin() + state);
      op.setEntryIn(entryIn);
    }
    if (carryIn[state])
      op.getCarriesMutable().erase(carry);
    carryIn.erase(carryIn.begin() + state);
    carryOut.erase(carryOut.begin() + state);
    op.setCarryIn(carryIn);
    op.setCarryOut(carryOut);
    op.getBody().eraseArgument(op.getInputs().size() + state);
  });
}

/// Two states that begin alike and take the same steps are one, read by several
/// queries.
struct ShareStates : OpRewritePattern<FusedScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedScanOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned j = 0; j < op.getNumStates(); ++j)
      for (unsigned i = 0; i < op.getNumStates(); ++i) {
        // The one that stays is the first, or the one with a final value.
        if (i == j || op.getCarryOut()[j] || (i > j && !op.getCarryOut()[i]) ||
            !isSame(op, i, j))
          continue;
        BlockArgument from = op.getStateArguments()[j];
        rewriter.replaceAllUsesWith(from, op.getStateArguments()[i]);
        eraseState(op, j, rewriter);
        return success();
      }
    return failure();
  }

  static bool isSame(FusedScanOp op, unsigned i, unsigned j) {
    StepOp x = getUpdate(op, i), y = getUpdate(op, j);
    return x && y && op.getCarry(i) == op.getCarry(j) &&
           op.getEntry(i) == op.getEntry(j) &&
           x.getState().getType() == y.getState().getType() &&
           x.getKey() == y.getKey() && x.getValue() == y.getValue() &&
           x.getDecay() == y.getDecay() && x.getLogDecay() == y.getLogDecay();
  }
};

/// A state that nothing reads, and that has no final value, is not carried.
struct DropDeadStates : OpRewritePattern<FusedScanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FusedScanOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < op.getNumStates(); ++i) {
      StepOp step = getUpdate(op, i);
      if (op.getCarryOut()[i] || !step || !step.getRow().use_empty() ||
          !step.getNext().hasOneUse() || !step.getState().hasOneUse())
        continue;
      Operation *yield = op.getBody().front().getTerminator();
      unsigned first = yield->getNumOperands() - op.getNumStates();
      rewriter.modifyOpInPlace(
          yield, [&] { yield->setOperand(first + i, step.getState()); });
      rewriter.eraseOp(step);
      eraseState(op, i, rewriter);
      return success();
    }
    return failure();
  }
};

} // namespace

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                         MLIRContext *context) {
  patterns.add<DropZeroCarry, DropZeroLogDecay, DropUnusedFinal>(context);
}

void FusedScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<DropRedundantInputs, ShareStates, DropDeadStates>(context);
}
