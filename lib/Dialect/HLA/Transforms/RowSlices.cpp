//===- RowSlices.cpp - which rows thread blocks share out -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/Transforms/RowSlices.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hla;

int64_t hla::getCols(Value value) {
  return cast<ShapedType>(value.getType()).getShape().back();
}

bool hla::isUniform(Value row) {
  Operation *op = row.getDefiningOp();
  return op && (op->hasTrait<OpTrait::ConstantLike>() ||
                isa<vector::BroadcastOp>(op));
}

RowSlices::RowSlices(ArrayRef<FusedScanOp> loops, int64_t slices,
                     const TargetInfo &target)
    : loops(loops), slices(slices), target(target) {
  for (FusedScanOp loop : loops)
    addLoop(loop);
  if (slices == 1)
    return;

  bool hasSlices = false, leavesWhole = false;
  for (FusedScanOp loop : loops) {
    auto yield = cast<YieldOp>(loop.getBody().front().getTerminator());
    const size_t numOutputs = loop.getSequenceOutputs().size();
    for (OpOperand &use : yield->getOpOperands()) {
      const size_t i = use.getOperandNumber();
      const bool sliced = isSliced(use);
      hasSlices |= sliced;
      const bool isLeaving =
          i < numOutputs ? leaves(loop, i) : loop.getCarryOut()[i - numOutputs];
      leavesWhole |= isLeaving && !sliced;
    }
  }
  useful = hasSlices && !leavesWhole;
}

// Of one loop all rows are written, also those that nothing reads.
bool RowSlices::leaves(FusedScanOp loop, unsigned output) const {
  return loops.size() == 1 ||
         llvm::any_of(loop->getResult(output).getUsers(), [&](Operation *user) {
           return !llvm::is_contained(loops, dyn_cast<FusedScanOp>(user));
         });
}

Value RowSlices::getSource(Value row) const {
  auto argument = dyn_cast_or_null<BlockArgument>(row);
  if (!argument)
    return row;
  auto loop = cast<FusedScanOp>(argument.getOwner()->getParentOp());
  if (argument.getArgNumber() >= loop.getInputs().size())
    return row;
  Value input = loop.getInputs()[argument.getArgNumber()];
  auto it = handedOn.find(input);
  return it == handedOn.end() ? input : it->second;
}

/// What computes a row, or null where it can be had whole and sliced.
Value RowSlices::resolve(Value row) const {
  Value source = getSource(row);
  return isa<VectorType>(source.getType()) && !isUniform(source) ? source
                                                                 : Value();
}

/// Whether a body computes a row; a constant is none that it does.
bool RowSlices::isComputed(Value row) const {
  Value source = getSource(row);
  Operation *op = source.getDefiningOp();
  return isa<VectorType>(source.getType()) && op &&
         !op->hasTrait<OpTrait::ConstantLike>();
}

bool RowSlices::scalesValue(StepOp step) const {
  const bool isKeyComputed = isComputed(step.getKey()),
             isValueComputed = isComputed(step.getValue());
  if (isKeyComputed != isValueComputed)
    return isValueComputed;
  return getWidth(getCols(step.getValue()), isSliced(step.getValueMutable())) <
         getWidth(getCols(step.getKey()), /*isSliced=*/false);
}

std::array<int64_t, 2> RowSlices::getTileShape(BlockArgument state) const {
  ArrayRef<int64_t> shape = cast<ShapedType>(state.getType()).getShape();
  return {target.getTileWidth(shape[0]), getWidth(shape[1], isSliced(state))};
}

void RowSlices::tie(Value a, Value b) {
  if (a && b)
    ties.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
}

void RowSlices::makeWhole(Value row) {
  if (row)
    ties.unionSets(nullptr, row.getAsOpaquePointer());
}

void RowSlices::addLoop(FusedScanOp loop) {
  Block &body = loop.getBody().front();
  if (slices != 1) {
    for (Operation &op : body.without_terminator())
      if (op.getNumResults() == 0 || !isUniform(op.getResult(0)))
        addOperation(op);
    for (BlockArgument state : loop.getStateArguments())
      if (!isShared(getCols(state)))
        makeWhole(state);
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  if (loop->getNumResults())
    for (size_t i = 0; i < loop.getSequenceOutputs().size(); ++i)
      handedOn[loop->getResult(i)] = getSource(yield.getValues()[i]);
}

void RowSlices::addOperation(Operation &op) {
  if (auto step = dyn_cast<StepOp>(op)) {
    makeWhole(resolve(step.getQuery()));
    makeWhole(resolve(step.getKey()));
    tie(step.getRow(), step.getState());
    tie(step.getRow(), step.getNext());
    tie(step.getRow(), resolve(step.getValue()));
    if (!isShared(getCols(step.getValue())))
      makeWhole(step.getRow());
    // States that add up the same will be one.
    auto [it, isNew] = states.try_emplace(
        {getSource(step.getKey()), getSource(step.getValue())}, step.getRow());
    if (!isNew)
      tie(it->second, step.getRow());
    return;
  }
  // What is no operation on rows has no slices.
  auto isRow = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() == 1;
  };
  if (op.getNumResults() != 1 || !isRow(op.getResult(0).getType()) ||
      !llvm::all_of(op.getOperandTypes(), isRow)) {
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op.getOperands()),
                                           SmallVector<Value>(op.getResults())))
      if (isRow(value.getType()))
        makeWhole(resolve(value));
    return;
  }
  Value result = op.getResult(0);
  if (!isShared(getCols(result)))
    makeWhole(result);
  for (Value operand : op.getOperands()) {
    if (isa<hla::RowSumOp>(op))
      makeWhole(resolve(operand));
    else if (getCols(operand) != 1)
      tie(result, resolve(operand));
  }
}

/// Whether blocks can each have columns of rows of `cols` elements.
bool RowSlices::isShared(int64_t cols) const {
  return slices > 1 &&
         target.getTileWidth(cols) / slices >= target.getTileWidth(1);
}

bool RowSlices::isSliced(Value value) const {
  return slices > 1 && !ties.isEquivalent(nullptr, value.getAsOpaquePointer());
}

bool RowSlices::isSliced(OpOperand &use) const {
  if (slices == 1)
    return false;
  Operation *owner = use.getOwner();
  if (auto step = dyn_cast<StepOp>(owner))
    return (&use == &step.getValueMutable() ||
            &use == &step.getStateMutable()) &&
           isSliced(step.getRow());
  auto type = dyn_cast<VectorType>(use.get().getType());
  if (isa<hla::RowSumOp>(owner) || !type || type.getShape().back() == 1)
    return false;
  if (!isa<YieldOp>(owner))
    return owner->getNumResults() == 1 && isSliced(owner->getResult(0));
  Value computed = resolve(use.get());
  return computed ? isSliced(computed) : isShared(getCols(use.get()));
}

int64_t RowSlices::getWidth(int64_t cols, bool isSliced) const {
  return target.getTileWidth(cols) / (isSliced ? slices : 1);
}
