//===- FuseScans.cpp - scans that walk the same tokens, in one loop -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
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

/// Whether `scan` reads a result of the group, or a tensor that it reads.
bool isConnected(const Group &group, ScanOp scan) {
  return llvm::any_of(getSequences(scan), [&](Value sequence) {
    return group.contains(sequence.getDefiningOp()) ||
           llvm::any_of(sequence.getUsers(), [&](Operation *user) {
             return group.contains(user) &&
                    llvm::is_contained(getSequences(cast<ScanOp>(user)),
                                       sequence);
           });
  });
}

/// Whether `scan`, which comes after the group, can be walked with it.
bool canJoin(const Group &group, ScanOp scan) {
  auto first = cast<ScanOp>(group.front());
  if (first.getReverse() != scan.getReverse() ||
      first.getLayout() != scan.getLayout() || !isConnected(group, scan))
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
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return !group.contains(user);
  });
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
  void runOnOperation() override {
    SmallVector<Group> groups;
    getOperation()->walk([&](Block *block) {
      size_t firstOfBlock = groups.size();
      for (ScanOp scan : block->getOps<ScanOp>()) {
        ++numScans;
        auto *group = std::find_if(
            groups.begin() + firstOfBlock, groups.end(),
            [&](const Group &candidate) { return canJoin(candidate, scan); });
        if (group == groups.end())
          group = &groups.emplace_back();
        group->insert(scan);
      }
    });
    IRRewriter rewriter(&getContext());
    for (const Group &group : groups)
      fuse(group, rewriter);
    numLoops += groups.size();
  }
};

} // namespace
