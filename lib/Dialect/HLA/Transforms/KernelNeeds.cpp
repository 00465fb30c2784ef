//===- KernelNeeds.cpp - what a kernel of loops keeps on chip ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelNeeds.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hla;

bool KernelNeeds::Scores::operator==(const Scores &other) const {
  return query == other.query && key == other.key &&
         logDecay == other.logDecay && decay == other.decay &&
         exclusive == other.exclusive;
}

bool KernelNeeds::Update::operator==(const Update &other) const {
  return key == other.key && value == other.value &&
         logDecay == other.logDecay && decay == other.decay;
}

static int64_t getCols(Value row) {
  return cast<ShapedType>(row.getType()).getShape().back();
}

/// A sequence of rows, not of one number a token or a head.
static bool hasRows(Value sequence) {
  return cast<ShapedType>(sequence.getType()).getRank() == 4 &&
         getCols(sequence) != 1;
}

/// Bytes of an element in shared memory, where tf32 is an f32.
static int64_t getBytes(Type elementType) {
  return elementType.isTF32() ? 4 : elementType.getIntOrFloatBitWidth() / 8;
}

template <typename Range, typename T>
static void addNew(Range &range, const T &element) {
  if (!llvm::is_contained(range, element))
    range.push_back(element);
}

KernelNeeds::KernelNeeds(ArrayRef<FusedScanOp> loops, const TargetInfo &target)
    : target(target) {
  for (FusedScanOp loop : loops)
    addLoop(loop, loops);
}

/// What a row of a loop's body comes from: a tensor, or else a body.
Value KernelNeeds::getSource(FusedScanOp loop, Value row) const {
  auto argument = dyn_cast_or_null<BlockArgument>(row);
  if (!argument)
    return row;
  Value input = loop.getInputs()[argument.getArgNumber()];
  Value source = handedOn.lookup(input);
  return source ? source : input;
}

void KernelNeeds::addLoop(FusedScanOp loop, ArrayRef<FusedScanOp> loops) {
  for (Value input : loop.getInputs())
    if (!handedOn.contains(input) && hasRows(input))
      inputs.insert(input);
  Block &body = loop.getBody().front();
  for (Operation &op : body) {
    if (auto step = dyn_cast<StepOp>(op))
      addStep(step, loop);
    numRowSums += isa<hla::RowSumOp>(op);
  }
  auto isRead = [&](Operation *user) {
    return llvm::is_contained(loops, dyn_cast<FusedScanOp>(user));
  };
  auto yielded = cast<YieldOp>(body.getTerminator()).getValues();
  for (auto [i, output] : llvm::enumerate(loop.getSequenceOutputs())) {
    // What leaves no loop but the last is never written.
    const bool isInner =
        loop.getNumResults() && llvm::any_of(loop.getResult(i).getUsers(), isRead);
    if (isInner)
      handedOn[loop.getResult(i)] = getSource(loop, yielded[i]);
    if (isInner && llvm::all_of(loop.getResult(i).getUsers(), isRead))
      continue;
    if (hasRows(output))
      outputs.push_back(output.getType());
  }

  auto carry = loop.getCarries().begin();
  for (auto [state, hasCarry] :
       llvm::zip(loop.getStateArguments(), loop.getCarryIn())) {
    // A state that several steps go through is like no other.
    Update update = {state, Value(), Value(), 1.0};
    if (auto step = state.hasOneUse() ? dyn_cast<StepOp>(*state.user_begin())
                                      : StepOp())
      update = {getSource(loop, step.getKey()),
                getSource(loop, step.getValue()),
                getSource(loop, step.getLogDecay()),
                step.getDecay().convertToDouble()};
    std::pair<Update, Value> sum(update, hasCarry ? *carry++ : Value());
    if (llvm::is_contained(sums, sum))
      continue;
    sums.push_back(sum);
    auto type = cast<VectorType>(state.getType());
    states.push_back(VectorType::get({target.getTileWidth(type.getDimSize(0)),
                                      target.getTileWidth(type.getDimSize(1))},
                                     type.getElementType()));
  }
}

void KernelNeeds::addStep(StepOp step, FusedScanOp loop) {
  Value query = getSource(loop, step.getQuery()),
        key = getSource(loop, step.getKey()),
        value = getSource(loop, step.getValue()),
        logDecay = getSource(loop, step.getLogDecay());
  const double decay = step.getDecay().convertToDouble();
  // One number a token becomes a row.
  for (Value row : {query, key, value})
    if (!isa<TensorType, MemRefType>(row.getType()) || getCols(row) == 1)
      written.insert(row);
  if (!step.getRow().use_empty())
    addNew(scores, Scores{query, key, logDecay, decay, step.getExclusive()});
  if (logDecay || decay != 1.0)
    addNew(decayed, Update{key, value, logDecay, decay});
}

int64_t KernelNeeds::getSharedMemory(ScheduleAttr schedule) const {
  const int64_t chunk = schedule.getChunk();
  const int64_t bytes = getBytes(schedule.getOperandType());
  auto getRowBytes = [&](int64_t cols, int64_t elementBytes) {
    return chunk * target.getTileWidth(cols) * elementBytes;
  };
  int64_t total = 0;
  for (Value input : inputs)
    total += schedule.getStages() *
             getRowBytes(getCols(input), getBytes(getElementTypeOrSelf(input)));
  // Wider outputs are stored from registers.
  for (Type output : outputs)
    if (getBytes(getElementTypeOrSelf(output)) == 2)
      total += getRowBytes(cast<ShapedType>(output).getShape().back(), 2);
  for (Value row : written)
    total += getRowBytes(getCols(row), bytes);
  total += scores.size() * chunk * chunk * bytes;
  for (const Update &update : decayed)
    total += std::max(getRowBytes(getCols(update.key), bytes),
                      getRowBytes(getCols(update.value), bytes));
  // A state is an operand in registers if every warp has columns of its own.
  for (VectorType state : states)
    if (state.getDimSize(1) < 16 * schedule.getWarps())
      total += state.getNumElements() * bytes;
  // Every warp's part of a sum, at most.
  return total + numRowSums * chunk * schedule.getWarps() * 4;
}
