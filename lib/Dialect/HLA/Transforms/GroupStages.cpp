//===- GroupStages.cpp - a loop's scans as stages of groups -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupStages.h"
#include "hla/Dialect/HLA/Transforms/RowSlices.h"
#include "hla/Support/Runs.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace mlir::hla;

static constexpr int64_t kThreads = 32 * ScheduleAttr::kWarpsOfGroup;

GroupStages::GroupStages(FusedScanOp loop) : loop(loop) {
  llvm::EquivalenceClasses<void *> classes;
  Block &body = loop.getBody().front();
  auto key = [](Value value) { return value.getAsOpaquePointer(); };
  for (BlockArgument state : loop.getStateArguments())
    classes.insert(key(state));
  for (Operation &op : body.without_terminator()) {
    auto step = dyn_cast<StepOp>(op);
    for (Value result : op.getResults()) {
      classes.insert(key(result));
      if (step)
        classes.unionSets(key(step.getState()), key(result));
      for (Value operand : op.getOperands())
        if (!step && operand.getDefiningOp() && !isUniform(operand))
          classes.unionSets(key(operand), key(result));
    }
  }
  SmallVector<void *> leaders;
  for (BlockArgument state : loop.getStateArguments()) {
    void *leader = classes.getLeaderValue(key(state));
    const auto *it = llvm::find(leaders, leader);
    const size_t stage = it - leaders.begin();
    if (it == leaders.end()) {
      leaders.push_back(leader);
      registers.push_back(0);
    }
    registers[stage] +=
        cast<VectorType>(state.getType()).getNumElements() / kThreads;
  }
}

int64_t GroupStages::getStateRegisters(int64_t groups) const {
  SmallVector<int64_t> sums(groups);
  for (auto [stage, group] : llvm::enumerate(cutIntoRuns(registers, groups)))
    sums[group] += registers[stage];
  return *llvm::max_element(sums);
}

std::string GroupStages::getObstacle(const TargetInfo &target,
                                     Precision precision) const {
  if (!target.hasWgmma)
    return (target.arch + " has no products of groups of warps").str();
  if (precision != Precision::BF16)
    return "operands of products are not bf16";
  if (loop.getLengths())
    return "sequences of lengths are no boxes of a tensor";
  if (registers.empty())
    return "there is no state";
  auto hasWidth = [](int64_t cols) { return cols == 64 || cols == 128; };
  constexpr StringLiteral kWidths = "rows are not of 64 or 128 elements";
  for (Value sequence :
       llvm::concat<Value>(SmallVector<Value>(loop.getInputs()),
                           SmallVector<Value>(loop.getSequenceOutputs()))) {
    auto type = cast<ShapedType>(sequence.getType());
    if (type.getRank() != 4)
      continue;
    if (!hasWidth(getCols(sequence)))
      return kWidths.str();
    if (!type.getElementType().isBF16())
      return "rows in memory are not bf16";
  }
  if (loop.isOneChunk(kChunk))
    return "the sequence is known to be one chunk";
  for (Value state :
       llvm::concat<Value>(SmallVector<Value>(loop.getCarries()),
                           SmallVector<Value>(loop.getFinalOutputs())))
    if (!getElementTypeOrSelf(state).isF32())
      return "states in memory are not f32";
  for (Operation &op : loop.getBody().front().without_terminator()) {
    auto step = dyn_cast<StepOp>(op);
    if (!step)
      return "rows are computed between scans";
    for (Value row : {step.getQuery(), step.getKey(), step.getValue()})
      if (!hasWidth(getCols(row)))
        return kWidths.str();
  }
  return "";
}
