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

bool KernelNeeds::Row::operator==(const Row &other) const {
  return source == other.source && cols == other.cols &&
         elementBytes == other.elementBytes;
}

bool hla::hasRows(Value sequence) {
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

KernelNeeds::KernelNeeds(ArrayRef<FusedScanOp> loops, const TargetInfo &target,
                         int64_t slices)
    : rows(loops, slices, target), loops(loops) {
  for (FusedScanOp loop : loops)
    addLoop(loop);
}

void KernelNeeds::addLoop(FusedScanOp loop) {
  hasSlots |= static_cast<bool>(loop.getSlots());
  Block &body = loop.getBody().front();
  for (auto [input, argument] :
       llvm::zip(loop.getInputs(), body.getArguments())) {
    Type type = getElementTypeOrSelf(input);
    if (rows.isHandedOn(input))
      continue;
    if (cast<ShapedType>(input.getType()).getRank() == 4)
      addNew(inputTypes, type);
    if (!hasRows(input))
      continue;
    for (OpOperand &use : argument.getUses())
      addNew(inputs,
             Row{input, rows.getWidth(getCols(input), rows.isSliced(use)),
                 getBytes(type)});
  }
  llvm::SmallDenseMap<Value, std::pair<int64_t, int64_t>> lifetimesOfStates;
  for (Operation &op : body) {
    if (auto step = dyn_cast<StepOp>(op)) {
      addStep(step);
      auto it = lifetimesOfStates.try_emplace(step.getState(), numSteps, 0);
      it.first->second.second = numSteps++;
    }
    numRowSums += isa<hla::RowSumOp>(op);
    hasComputedRows |= !isa<StepOp, YieldOp>(op) && !isUniform(op.getResult(0));
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [i, output] : llvm::enumerate(loop.getSequenceOutputs())) {
    // What only these loops read is never written; wider outputs are stored
    // from registers.
    if (rows.leaves(loop, i) && hasRows(output) &&
        getBytes(getElementTypeOrSelf(output)) == 2)
      outputs.push_back({output,
                         rows.getWidth(getCols(output),
                                       rows.isSliced(yield->getOpOperand(i))),
                         2});
  }

  auto carry = loop.getCarries().begin();
  for (auto [state, hasCarry] :
       llvm::zip(loop.getStateArguments(), loop.getCarryIn())) {
    // A state that several steps go through is like no other.
    Update update = {state, Value(), Value(), 1.0};
    if (auto step = state.hasOneUse() ? dyn_cast<StepOp>(*state.user_begin())
                                      : StepOp())
      update = {rows.getSource(step.getKey()), rows.getSource(step.getValue()),
                rows.getSource(step.getLogDecay()),
                step.getDecay().convertToDouble()};
    std::pair<Update, Value> sum(update, hasCarry ? *carry++ : Value());
    const auto lifetime = lifetimesOfStates.lookup(state);
    const auto *known = llvm::find(sums, sum);
    if (known != sums.end()) {
      lifetimes[known - sums.begin()].second = lifetime.second;
      continue;
    }
    sums.push_back(sum);
    lifetimes.push_back(lifetime);
    states.push_back(
        VectorType::get(rows.getTileShape(state), getElementTypeOrSelf(state)));
  }
}

void KernelNeeds::addStep(StepOp step) {
  Value query = rows.getSource(step.getQuery()),
        key = rows.getSource(step.getKey()),
        value = rows.getSource(step.getValue()),
        logDecay = rows.getSource(step.getLogDecay());
  const double decay = step.getDecay().convertToDouble();
  const int64_t keyCols = rows.getWidth(getCols(key), false),
                valueCols = rows.getWidth(
                    getCols(value), rows.isSliced(step.getValueMutable()));
  // One number a token becomes a row.
  auto addWritten = [&](Value row, int64_t cols) {
    if (isa<VectorType>(row.getType()) || getCols(row) == 1)
      addNew(written, Row{row, cols, 0});
  };
  addWritten(query, keyCols);
  addWritten(key, keyCols);
  addWritten(value, valueCols);
  // The column of a product is the sum of its tile's rows.
  if (!step.getRow().use_empty() && getCols(value) == 1 && valueCols != 1)
    ++numRowSums;
  if (!step.getRow().use_empty())
    addNew(scores, Scores{query, key, logDecay, decay, step.getExclusive()});
  widestRow = std::max(widestRow, valueCols);
  widestKey = std::max(widestKey, keyCols);
  if (!logDecay && decay == 1.0)
    return;
  const int64_t scaledCols = rows.scalesValue(step) ? valueCols : keyCols;
  widestRow = std::max(widestRow, scaledCols);
  ++numDecayedSteps;
  // All tokens of a head may have one number.
  hasTokenDecays |=
      logDecay && (isa<VectorType>(logDecay.getType()) ||
                   cast<ShapedType>(logDecay.getType()).getRank() != 1);
  addNew(decayed, std::pair(Update{key, value, logDecay, decay}, scaledCols));
}

bool KernelNeeds::areOneChunk(ArrayRef<FusedScanOp> loops, int64_t chunk) {
  return llvm::all_of(loops,
                      [&](FusedScanOp loop) { return loop.isOneChunk(chunk); });
}

int64_t KernelNeeds::getStateRegisters(ScheduleAttr schedule) const {
  const bool isOne = isOneChunk(schedule.getChunk());
  int64_t most = 0;
  for (int64_t step = 0; step < std::max<int64_t>(numSteps, 1); ++step) {
    int64_t elements = 0;
    for (auto [state, lifetime] : llvm::zip(states, lifetimes))
      if (!isOne || (lifetime.first <= step && step <= lifetime.second))
        elements += state.getNumElements();
    most = std::max(most, elements);
  }
  return most / (32 * schedule.getWarps());
}

int64_t KernelNeeds::getSharedMemory(ScheduleAttr schedule) const {
  const int64_t chunk = schedule.getChunk();
  const int64_t bytes = getBytes(schedule.getOperandType());
  auto count = [&](ArrayRef<Row> tiles) {
    int64_t sum = 0;
    for (const Row &row : tiles)
      sum += chunk * row.cols * (row.elementBytes ? row.elementBytes : bytes);
    return sum;
  };
  // Groups hand computed rows over in two buffers each.
  const bool hasGroups = schedule.getGroups() != 0;
  const int64_t warps =
      hasGroups ? ScheduleAttr::kWarpsOfGroup : schedule.getWarps();
  int64_t total = schedule.getStages() * count(inputs) + count(outputs) +
                  (hasGroups ? 2 : 1) * count(written) +
                  scores.size() * chunk * chunk * bytes;
  for (const auto &[update, cols] : decayed)
    total += chunk * cols * bytes;
  // A state is an operand in registers if every warp has columns of its own.
  for (VectorType state : states)
    if (state.getDimSize(1) < 16 * warps)
      total += state.getNumElements() * bytes;
  // Every warp's part of a sum, at most.
  total += numRowSums * chunk * warps * 4;
  // Signals of the rings.
  return hasGroups ? total + 2 * 128 * inputs.size() : total;
}

int64_t KernelNeeds::getWorkingRegisters(ScheduleAttr schedule) const {
  const int64_t n = numDecayedSteps;
  if (schedule.getGroups()) {
    // The sums of one product's 64 columns, a state rounded for it, and what
    // the order of products leaves free, which is enough for a decay; a decay
    // of each token also takes the chunk's sums, in two parts each, and what
    // they scale rows by.
    constexpr int64_t kSums = 32, kFree = 31, kTokens = 56;
    return kSums + widestKey / 4 + kFree + (hasTokenDecays ? kTokens : 0);
  }
  const bool hasParts = schedule.getPrecision() == Precision::BF16x3 ||
                        schedule.getPrecision() == Precision::F32;
  const int64_t threads = 32 * schedule.getWarps(), chunk = schedule.getChunk(),
                row = chunk * widestRow / threads,
                scoresOfThread = chunk * chunk / threads;
  // A loop has addresses of the next chunk's rows, and what is on its way from
  // one chunk to the next; without one, the assembler has the rows of a third
  // step, those of scores that several steps have, and those that others are
  // computed of, at hand early; and of slots, which there may be or not, a part
  // of the next state while it stores one: both are behind one branch.
  const bool holdsRows =
      hasComputedRows ||
      numSteps > std::min<int64_t>(static_cast<int64_t>(scores.size()), 2);
  const int64_t across =
      isOneChunk(chunk)
          ? std::min<int64_t>((holdsRows ? chunk * 5 / 4 : 0) + 16 * n, 40) +
                (hasSlots ? 24 : 0)
          : 32;
  return 64 + across + 2 * std::max<int64_t>(row - 16, 0) +
         2 * std::max<int64_t>(chunk * widestKey / 256 - 16, 0) +
         std::max<int64_t>(scoresOfThread - 8, 0) + (n ? 16 : 0) +
         5 * n * (n - 1) / 2 + (hasParts ? 4 * n : 0);
}
