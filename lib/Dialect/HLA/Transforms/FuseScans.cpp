//===- FuseScans.cpp - scans that walk the same tokens, in one loop -*- C++
//-*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLAFUSESCANS
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

namespace {

/// Scans of one block, in order, that will be one loop at the last's place.
using Group = llvm::SmallSetVector<Operation *, 4>;

/// The sequences that a scan reads.
std::array<Value, 3> getSequences(ScanOp scan) {
  return {scan.getQuery(), scan.getKey(), scan.getValue()};
}

/// Whether `scan` reads a result of the group.
bool readsResult(const Group &group, ScanOp scan) {
  return llvm::any_of(getSequences(scan), [&](Value sequence) {
    return group.contains(sequence.getDefiningOp());
  });
}

/// Whether `scan` reads a tensor that the group reads.
bool sharesSequence(const Group &group, ScanOp scan) {
  return llvm::any_of(getSequences(scan), [&](Value sequence) {
    return llvm::any_of(sequence.getUsers(), [&](Operation *user) {
      return group.contains(user) &&
             llvm::is_contained(getSequences(cast<ScanOp>(user)), sequence);
    });
  });
}

/// Whether the target holds the states of the group and of `scan` in one
/// kernel.
bool fits(const Group &group, ScanOp scan, const TargetInfo &target) {
  SmallVector<VectorType> states = {scan.getStateType()};
  for (Operation *member : group)
    states.push_back(cast<ScanOp>(member).getStateType());
  return ScheduleModel::holdsStates(states, target);
}

/// Whether `scan`, which comes after the group, can be walked with it.
bool canJoin(const Group &group, ScanOp scan) {
  auto first = cast<ScanOp>(group.front());
  if (first.getReverse() != scan.getReverse() ||
      first.getLayout() != scan.getLayout())
    return false;
  // Only rows are handed over inside of a loop.
  auto isOfGroup = [&](Value value) {
    return value && group.contains(value.getDefiningOp());
  };
  if (isOfGroup(scan.getCarry()) || llvm::any_of(scan.getOutputs(), isOfGroup))
    return false;
  for (Value sequence : getSequences(scan))
    if (isOfGroup(sequence) && cast<OpResult>(sequence).getResultNumber() != 0)
      return false;
  // The group moves down to the scan: nothing between may need its results.
  for (Operation *member : group)
    for (Operation *user : member->getUsers()) {
      Operation *ancestor = scan->getBlock()->findAncestorOpInBlock(*user);
      if (ancestor && !group.contains(ancestor) &&
          ancestor->isBeforeInBlock(scan))
        return false;
    }
  return true;
}

/// Whether anything but the group reads `value`.
bool escapes(Value value, const Group &group) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return !group.contains(user); });
}

/// The row that a body has of a sequence.
VectorType getRowType(Value sequence) {
  auto type = cast<ShapedType>(sequence.getType());
  return VectorType::get({type.getDimSize(3)}, type.getElementType());
}

/// Replaces the group by one loop.
void fuse(const Group &group, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(group.back());
  SmallVector<Location> locs;
  llvm::SmallSetVector<Value, 8> inputs;
  SmallVector<Value> carries, outputs, finals, results, finalResults;
  SmallVector<bool> carryIn, carryOut;
  for (Operation *member : group) {
    auto scan = cast<ScanOp>(member);
    locs.push_back(scan.getLoc());
    for (Value sequence : getSequences(scan))
      if (!group.contains(sequence.getDefiningOp()))
        inputs.insert(sequence);
    carryIn.push_back(static_cast<bool>(scan.getCarry()));
    if (scan.getCarry())
      carries.push_back(scan.getCarry());
    carryOut.push_back(scan.getFinal() && !scan.getFinal().use_empty());
    if (carryOut.back()) {
      finals.push_back(scan.getFinalInit());
      finalResults.push_back(scan.getFinal());
    }
    Value result = scan.getResults().front();
    if (escapes(result, group)) {
      outputs.push_back(scan.getOutputs().front());
      results.push_back(result);
    }
  }
  llvm::append_range(outputs, finals);

  Location loc = rewriter.getFusedLoc(locs);
  auto first = cast<ScanOp>(group.front());
  auto fused = FusedScanOp::create(
      rewriter, loc, ValueRange(outputs).getTypes(), first.getReverse(),
      first.getLayout(), carryIn, carryOut, /*schedule=*/ScheduleAttr(),
      inputs.getArrayRef(), carries, outputs);

  // The body: a step for every scan.
  Block *body = rewriter.createBlock(&fused.getBody());
  llvm::SmallDenseMap<Value, Value> rows;
  for (Value input : inputs)
    rows[input] = body->addArgument(getRowType(input), loc);
  SmallVector<Value> states;
  for (Operation *member : group)
    states.push_back(
        body->addArgument(cast<ScanOp>(member).getStateType(), loc));
  SmallVector<Value> nextStates;
  for (auto [member, state] : llvm::zip(group, states)) {
    auto scan = cast<ScanOp>(member);
    Value result = scan.getResults().front();
    auto step = StepOp::create(
        rewriter, scan.getLoc(), state.getType(), getRowType(result),
        scan.getExclusive(), scan.getDecay(), rows.lookup(scan.getQuery()),
        rows.lookup(scan.getKey()), rows.lookup(scan.getValue()), state);
    rows[result] = step.getRow();
    nextStates.push_back(step.getNext());
  }
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(rows.lookup(result));
  llvm::append_range(yielded, nextStates);
  YieldOp::create(rewriter, loc, yielded);

  llvm::append_range(results, finalResults);
  rewriter.replaceAllUsesWith(results, fused.getResults());
  for (Operation *member : llvm::reverse(group))
    rewriter.eraseOp(member);
}

struct FuseScans : hla::impl::HLAFuseScansBase<FuseScans> {
  using HLAFuseScansBase::HLAFuseScansBase;

  void runOnOperation() override {
    const TargetInfo *info = TargetInfo::lookup(target);
    if (!info) {
      getOperation()->emitError(
          "hla-fuse-scans: expected a known target (one of ")
          << TargetInfo::getNames() << "), but got '" << target << "'";
      return signalPassFailure();
    }
    SmallVector<Group> groups;
    getOperation()->walk([&](Block *block) {
      size_t firstOfBlock = groups.size();
      for (ScanOp scan : block->getOps<ScanOp>()) {
        ++numScans;
        auto candidates = MutableArrayRef(groups).drop_front(firstOfBlock);
        Group *group = select(candidates, scan, *info);
        (group ? *group : groups.emplace_back()).insert(scan);
      }
    });
    IRRewriter rewriter(&getContext());
    for (const Group &group : groups)
      fuse(group, rewriter);
    numLoops += groups.size();
  }

  /// The group that `scan` joins, or null: the latest whose rows it reads, so
  /// that they need no memory, or else that reads what it reads.
  static Group *select(MutableArrayRef<Group> candidates, ScanOp scan,
                       const TargetInfo &info) {
    Group *sharing = nullptr;
    for (Group &group : llvm::reverse(candidates)) {
      if (!canJoin(group, scan))
        continue;
      if (readsResult(group, scan))
        return &group;
      if (!sharing && sharesSequence(group, scan) && fits(group, scan, info))
        sharing = &group;
    }
    return sharing;
  }
};

} // namespace
