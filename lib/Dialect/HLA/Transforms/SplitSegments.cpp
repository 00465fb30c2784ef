//===- SplitSegments.cpp - segments of sequences, walked at once *- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLASPLITSEGMENTS
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

/// Tokens of a segment are a multiple of this, so that chunks of as many or
/// fewer end with it.
static constexpr int64_t kTokens = 64;
/// The fewest tokens of a segment whose number is chosen: it has to be worth
/// a state that is written, combined and read.
static constexpr int64_t kLeastTokens = 512;

namespace {

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// What the states of a loop need of each other.
class Levels {
public:
  explicit Levels(FusedScanOp loop);

  /// Whether levels tell in which order states can be summed.
  bool areKnown() const { return known; }
  int64_t getNumLevels() const { return numLevels; }
  int64_t getLevel(unsigned state) const { return levels[state]; }
  /// The step that makes a state what it is after the token.
  StepOp getUpdate(unsigned state) const { return updates[state]; }
  /// Some states, and those that are read for their keys, values and decays, in
  /// order.
  SmallVector<unsigned> withSources(ArrayRef<unsigned> states) const;

private:
  /// Adds the states whose rows a row comes from, themselves included.
  void addSources(Value row, llvm::BitVector &sources) const;

  mutable FusedScanOp loop;
  SmallVector<StepOp> updates;
  /// For each state, those that its updates come from.
  SmallVector<llvm::BitVector> sources;
  SmallVector<int64_t> levels;
  int64_t numLevels = 0;
  bool known = true;
};

} // namespace

Levels::Levels(FusedScanOp loop) : loop(loop) {
  const unsigned n = loop.getNumStates();
  ValueRange yielded =
      cast<YieldOp>(loop.getBody().front().getTerminator()).getValues();
  for (auto [state, next] :
       llvm::zip(loop.getStateArguments(), yielded.take_back(n))) {
    auto step = next.getDefiningOp<StepOp>();
    known &= step && step.getState() == state;
    updates.push_back(step);
  }
  for (StepOp step : loop.getBody().getOps<StepOp>())
    known &= isa<BlockArgument>(step.getState());
  if (!known)
    return;
  for (StepOp step : updates) {
    llvm::BitVector &own = sources.emplace_back(n);
    for (Value row : {step.getKey(), step.getValue(), step.getLogDecay()})
      addSources(row, own);
  }
  // Sources of sources; a state among its own has no level.
  for (unsigned k = 0; k < n; ++k)
    for (llvm::BitVector &own : sources)
      if (own.test(k))
        own |= sources[k];
  for (unsigned i = 0; i < n; ++i)
    known &= !sources[i].test(i);
  levels.assign(n, 0);
  for (unsigned round = 0; known && round < n; ++round)
    for (unsigned i = 0; i < n; ++i)
      for (unsigned source : sources[i].set_bits())
        levels[i] = std::max(levels[i], levels[source] + 1);
  for (int64_t level : levels)
    numLevels = std::max(numLevels, level + 1);
}

void Levels::addSources(Value row, llvm::BitVector &sources) const {
  Operation *op = row ? row.getDefiningOp() : nullptr;
  if (!op)
    return;
  auto step = dyn_cast<StepOp>(op);
  if (step)
    sources.set(cast<BlockArgument>(step.getState()).getArgNumber() -
                loop.getInputs().size());
  for (Value operand : op->getOperands())
    if (!step || operand != step.getState())
      addSources(operand, sources);
}

SmallVector<unsigned> Levels::withSources(ArrayRef<unsigned> states) const {
  llvm::BitVector all(levels.size());
  for (unsigned state : states) {
    all.set(state);
    all |= sources[state];
  }
  return SmallVector<unsigned>(all.set_bits());
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// Cuts one loop into segments.
class LoopSplitter {
public:
  LoopSplitter(FusedScanOp loop, const TargetInfo &target,
               std::optional<Precision> precision, int64_t segments)
      : loop(loop), target(target), precision(precision), segments(segments),
        b(loop.getLoc(), loop), levels(loop) {}

  /// Whether the loop has been cut.
  bool run();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  template <typename OpTy> Value combine(Value lhs, Value rhs) {
    return b.createOrFold<OpTy>(lhs, rhs);
  }
  bool computeLength();
  Value countSegments();
  bool dependsOnInputsAlone(Value row);

  /// The operations of the body that rows need, and whether the row of a step
  /// is among what they need.
  using Needed = llvm::DenseMap<Operation *, bool>;
  void addNeeded(Value row, Needed &needed);
  void addNeeded(StepOp step, bool needsRow, Needed &needed);
  /// Builds a loop with what is needed of the body, and a part of the states.
  FusedScanOp buildLoop(const Needed &needed, ArrayRef<unsigned> states,
                        bool isSummary, ArrayRef<bool> carryOut,
                        ValueRange outputs,
                        function_ref<void(IRMapping &)> buildYield);
  FusedScanOp buildSummary(ArrayRef<unsigned> summed);
  bool buildLevel(int64_t level);
  bool buildLevels();
  Value buildEmpty(Type elementType, ArrayRef<int64_t> shape);
  Value getLogDecay(Value row);
  void buildEntries(unsigned state, Value sums);
  void rebuild();

  FusedScanOp loop;
  const TargetInfo &target;
  std::optional<Precision> precision;
  /// 0 if they are to be chosen.
  int64_t segments;
  ImplicitLocOpBuilder b;
  Levels levels;
  Value batches, heads, tokens;
  /// Tokens of a segment, and the number of segments but the last.
  Value length, numSummed;
  SmallVector<Value> entries;
  llvm::SmallDenseMap<Value, Value> logDecays;
};

} // namespace

/// Chosen so that thread blocks of all heads are no more than there is room for
/// at a time: a block more would double the time.
Value LoopSplitter::countSegments() {
  if (segments != 0)
    return index(segments);
  if (std::optional<int64_t> known = getConstantIntValue(tokens);
      known && *known / kLeastTokens <= levels.getNumLevels())
    return index(1);
  ScheduleAttr schedule = loop.getScheduleAttr();
  const int64_t room = target.multiprocessors *
                       (schedule ? schedule.getBlocks() : 1) /
                       (schedule ? schedule.getSlices() : 1);
  Value blocks =
      combine<arith::MaxSIOp>(combine<arith::MulIOp>(batches, heads), index(1));
  Value wanted = combine<arith::MinSIOp>(
      combine<arith::FloorDivSIOp>(index(room), blocks),
      combine<arith::FloorDivSIOp>(tokens, index(kLeastTokens)));
  // 1 if there are too few of them to be of use.
  Value isUseful = combine<arith::MinSIOp>(
      combine<arith::FloorDivSIOp>(wanted, index(levels.getNumLevels() + 1)),
      index(1));
  return combine<arith::AddIOp>(
      combine<arith::MulIOp>(combine<arith::SubIOp>(wanted, index(1)),
                             isUseful),
      index(1));
}

/// False if there is one segment, whatever the extents.
bool LoopSplitter::computeLength() {
  Value first = loop.getInputs().front();
  auto dim = [&](unsigned i) -> Value {
    return b.createOrFold<tensor::DimOp>(first, i);
  };
  batches = dim(loop.getBatchDim());
  tokens = dim(loop.getTokenDim());
  heads =
      combine<arith::MulIOp>(dim(loop.getHeadDim()), index(loop.getGroup(0)));
  Value parts = combine<arith::MulIOp>(countSegments(), index(kTokens));
  length = combine<arith::MaxSIOp>(
      combine<arith::MulIOp>(combine<arith::CeilDivSIOp>(tokens, parts),
                             index(kTokens)),
      index(kTokens));
  numSummed = combine<arith::SubIOp>(
      combine<arith::MaxSIOp>(combine<arith::CeilDivSIOp>(tokens, length),
                              index(1)),
      index(1));
  return !matchPattern(numSummed, m_Zero());
}

bool LoopSplitter::dependsOnInputsAlone(Value row) {
  Operation *op = row.getDefiningOp();
  return !op || (!isa<StepOp>(op) &&
                 llvm::all_of(op->getOperands(), [&](Value operand) {
                   return dependsOnInputsAlone(operand);
                 }));
}

void LoopSplitter::addNeeded(Value row, Needed &needed) {
  Operation *op = row ? row.getDefiningOp() : nullptr;
  if (!op)
    return;
  if (auto step = dyn_cast<StepOp>(op))
    return addNeeded(step, /*needsRow=*/true, needed);
  if (needed.try_emplace(op, false).second)
    for (Value operand : op->getOperands())
      addNeeded(operand, needed);
}

void LoopSplitter::addNeeded(StepOp step, bool needsRow, Needed &needed) {
  needed[step] |= needsRow;
  if (needsRow)
    addNeeded(step.getQuery(), needed);
  for (Value row : {step.getKey(), step.getValue(), step.getLogDecay()})
    addNeeded(row, needed);
}

FusedScanOp
LoopSplitter::buildLoop(const Needed &needed, ArrayRef<unsigned> states,
                        bool isSummary, ArrayRef<bool> carryOut,
                        ValueRange outputs,
                        function_ref<void(IRMapping &)> buildYield) {
  // The inputs that are read. The first has tokens.
  Block &body = loop.getBody().front();
  auto isRead = [&](BlockArgument row) {
    return llvm::any_of(row.getUses(), [&](OpOperand &use) {
      auto it = needed.find(use.getOwner());
      if (it == needed.end())
        return false;
      auto step = dyn_cast<StepOp>(use.getOwner());
      return !step || it->second || &use != &step.getQueryMutable();
    });
  };
  SmallVector<unsigned> read;
  for (unsigned i = 0; i < loop.getInputs().size(); ++i)
    if (isRead(body.getArgument(i)))
      read.push_back(i);
  auto hasTokens = [&](unsigned i) {
    return cast<ShapedType>(loop.getInputs()[i].getType()).getRank() != 1;
  };
  llvm::stable_sort(read, [&](unsigned i, unsigned j) {
    return hasTokens(i) && !hasTokens(j);
  });
  if (read.empty() || !hasTokens(read.front()))
    read.insert(read.begin(), 0);

  SmallVector<Value> inputs, carries, ownEntries;
  SmallVector<int64_t> groups;
  SmallVector<bool> carryIn, entryIn;
  for (unsigned i : read) {
    inputs.push_back(loop.getInputs()[i]);
    groups.push_back(loop.getGroup(i));
  }
  for (unsigned state : states) {
    Value carry = loop.getCarry(state), entry = entries[state];
    carryIn.push_back(static_cast<bool>(carry));
    entryIn.push_back(static_cast<bool>(entry));
    if (carry)
      carries.push_back(carry);
    if (entry)
      ownEntries.push_back(entry);
  }
  const bool hasGroups =
      llvm::any_of(groups, [](int64_t group) { return group != 1; });
  auto built = FusedScanOp::create(
      b, outputs.getTypes(), loop.getReverse(), loop.getLayout(),
      hasGroups ? b.getDenseI64ArrayAttr(groups) : DenseI64ArrayAttr(),
      isSummary, carryIn, carryOut,
      ownEntries.empty() ? DenseBoolArrayAttr()
                         : b.getDenseBoolArrayAttr(entryIn),
      /*schedule=*/ScheduleAttr(), inputs, /*lengths=*/Value(), loop.getSlots(),
      length, carries, ownEntries, outputs);

  OpBuilder::InsertionGuard guard(b);
  Block *target = b.createBlock(&built.getBody());
  IRMapping mapping;
  for (unsigned i : read)
    mapping.map(
        body.getArgument(i),
        target->addArgument(body.getArgument(i).getType(), loop.getLoc()));
  for (unsigned state : states) {
    BlockArgument argument = loop.getStateArguments()[state];
    mapping.map(argument,
                target->addArgument(argument.getType(), loop.getLoc()));
  }
  for (Operation &op : body.without_terminator()) {
    auto it = needed.find(&op);
    if (it == needed.end())
      continue;
    Operation *clone = b.clone(op, mapping);
    // A row that nothing reads has any query.
    if (auto step = dyn_cast<StepOp>(clone); step && !it->second)
      step.getQueryMutable().assign(step.getKey());
  }
  buildYield(mapping);
  return built;
}

/// A tensor of segments, batches, heads and `shape`.
Value LoopSplitter::buildEmpty(Type elementType, ArrayRef<int64_t> shape) {
  SmallVector<OpFoldResult> sizes = {getAsOpFoldResult(numSummed),
                                     getAsOpFoldResult(batches),
                                     getAsOpFoldResult(heads)};
  for (int64_t size : shape)
    sizes.push_back(b.getIndexAttr(size));
  return tensor::EmptyOp::create(b, sizes, elementType);
}

/// The log-decays of all segments, of those of their tokens: of a head, where
/// all tokens have one.
Value LoopSplitter::getLogDecay(Value row) {
  Value &known = logDecays[row];
  if (known)
    return known;
  Value numbers;
  int64_t group = 1;
  if (auto argument = dyn_cast<BlockArgument>(row)) {
    numbers = loop.getInputs()[argument.getArgNumber()];
    group = loop.getGroup(argument.getArgNumber());
  }
  if (numbers && group == 1 &&
      cast<ShapedType>(numbers.getType()).getRank() == 1)
    return known = numbers;
  Type elementType = getElementTypeOrSelf(row);
  if (!numbers || group != 1 ||
      cast<ShapedType>(numbers.getType()).getRank() != 3) {
    // Computed, as the loop does; of the last segment nothing is read.
    Needed needed;
    addNeeded(row, needed);
    SmallVector<OpFoldResult> sizes(3);
    sizes[loop.getBatchDim()] = getAsOpFoldResult(batches);
    sizes[loop.getTokenDim()] = getAsOpFoldResult(tokens);
    sizes[loop.getHeadDim()] = getAsOpFoldResult(heads);
    Value empty = tensor::EmptyOp::create(b, sizes, elementType);
    numbers = buildLoop(needed, /*states=*/{}, /*isSummary=*/true,
                        /*carryOut=*/{}, empty,
                        [&](IRMapping &mapping) {
                          YieldOp::create(b, mapping.lookupOrDefault(row));
                        })
                  .getResult(0);
  }
  Value empty = buildEmpty(elementType, {});
  return known = SumSegmentsOp::create(b, empty.getType(), loop.getReverse(),
                                       loop.getLayout(), numbers, length, empty)
                     .getResult(0);
}

void LoopSplitter::buildEntries(unsigned state, Value sums) {
  StepOp step = levels.getUpdate(state);
  Value logDecay =
      step.getLogDecay() ? getLogDecay(step.getLogDecay()) : Value();
  entries[state] =
      CombineSegmentsOp::create(b, sums.getType(), step.getDecayAttr(), length,
                                logDecay, sums)
          .getResult(0);
}

/// A loop whose results are the sums of some states of one level.
FusedScanOp LoopSplitter::buildSummary(ArrayRef<unsigned> summed) {
  SmallVector<unsigned> states = levels.withSources(summed);
  SmallVector<bool> carryOut;
  SmallVector<Value> outputs;
  Needed needed;
  for (unsigned state : states) {
    addNeeded(levels.getUpdate(state), /*needsRow=*/false, needed);
    carryOut.push_back(llvm::is_contained(summed, state));
    if (!carryOut.back())
      continue;
    auto type = cast<VectorType>(loop.getStateArguments()[state].getType());
    outputs.push_back(buildEmpty(type.getElementType(), type.getShape()));
  }
  return buildLoop(needed, states, /*isSummary=*/true, carryOut, outputs,
                   [&](IRMapping &mapping) {
                     SmallVector<Value> next;
                     for (unsigned state : states)
                       next.push_back(
                           mapping.lookup(levels.getUpdate(state).getNext()));
                     YieldOp::create(b, next);
                   });
}

/// False if the target does not hold what it takes. States that leave a loop
/// are in each of its slices or in one, so that some cannot leave together.
bool LoopSplitter::buildLevel(int64_t level) {
  SmallVector<unsigned> summed;
  for (unsigned state = 0; state < loop.getNumStates(); ++state)
    if (levels.getLevel(state) == level)
      summed.push_back(state);
  auto fits = [&](FusedScanOp summary) {
    return ScheduleModel::countSlices(summary, target, precision) != 0;
  };
  SmallVector<Value> sums;
  FusedScanOp summary = buildSummary(summed);
  if (fits(summary)) {
    llvm::append_range(sums, summary.getResults());
  } else {
    summary.erase();
    for (unsigned state : summed) {
      summary = buildSummary(state);
      sums.push_back(summary.getResult(0));
      if (!fits(summary))
        return false;
    }
  }
  for (auto [state, sum] : llvm::zip(summed, sums))
    buildEntries(state, sum);
  return true;
}

bool LoopSplitter::buildLevels() {
  Operation *before = loop->getPrevNode();
  for (int64_t level = 0; level < levels.getNumLevels(); ++level)
    if (!buildLevel(level)) {
      while (loop->getPrevNode() != before)
        loop->getPrevNode()->erase();
      return false;
    }
  return true;
}

/// The loop itself, from its entries.
void LoopSplitter::rebuild() {
  auto rebuilt = FusedScanOp::create(
      b, loop.getResultTypes(), loop.getReverse(), loop.getLayout(),
      loop.getGroupsAttr(), /*summary=*/false, loop.getCarryIn(),
      loop.getCarryOut(),
      entries.empty()
          ? DenseBoolArrayAttr()
          : b.getDenseBoolArrayAttr(SmallVector<bool>(entries.size(), true)),
      loop.getScheduleAttr(), loop.getInputs(), /*lengths=*/Value(),
      loop.getSlots(), length, loop.getCarries(), entries, loop.getOutputs());
  rebuilt.getBody().takeBody(loop.getBody());
  loop.replaceAllUsesWith(rebuilt.getResults());
  loop.erase();
}

bool LoopSplitter::run() {
  if (loop.getLengths() || loop.getSegmentLength() ||
      !loop.hasPureTensorSemantics() || !levels.areKnown())
    return false;
  // Segments read and write at once: states in place would be copied, those of
  // all slots.
  if (loop.getSlots() && llvm::any_of(loop.getCarries(), [&](Value carry) {
        return llvm::is_contained(loop.getOutputs(), carry);
      }))
    return false;
  for (unsigned state = 0; state < loop.getNumStates(); ++state)
    if (Value row = levels.getUpdate(state).getLogDecay();
        row && !dependsOnInputsAlone(row))
      return false;
  if (!computeLength())
    return false;
  entries.resize(loop.getNumStates());
  if (!buildLevels())
    return false;
  rebuild();
  return true;
}

namespace {

struct SplitSegments : hla::impl::HLASplitSegmentsBase<SplitSegments> {
  using HLASplitSegmentsBase::HLASplitSegmentsBase;

  void runOnOperation() override {
    const TargetInfo *info = TargetInfo::lookup(target);
    if (!info) {
      getOperation()->emitError(
          "hla-split-segments: expected a known target (one of ")
          << TargetInfo::getNames() << "), but got '" << target << "'";
      return signalPassFailure();
    }
    int64_t count = 0;
    if (segments != "auto" && (StringRef(segments).getAsInteger(10, count) ||
                               count < 1 || count > kMaxSegments)) {
      getOperation()->emitError("hla-split-segments: expected segments to be "
                                "auto, or a number from 1 to ")
          << kMaxSegments << " (a part of the largest grid), but got '"
          << segments << "'";
      return signalPassFailure();
    }
    FailureOr<std::optional<Precision>> wanted =
        ScheduleModel::parsePrecision(precision, [&] {
          return getOperation()->emitError("hla-split-segments: ");
        });
    if (failed(wanted))
      return signalPassFailure();
    if (count == 0 && info->multiprocessors == 0)
      return;
    SmallVector<FusedScanOp> loops;
    getOperation()->walk([&](FusedScanOp loop) { loops.push_back(loop); });
    for (FusedScanOp loop : loops)
      numLoops += LoopSplitter(loop, *info, *wanted, count).run();
  }

  /// A grid has 65535 blocks for all slices of segments.
  static constexpr int64_t kMaxSegments = 4096;
};

} // namespace
