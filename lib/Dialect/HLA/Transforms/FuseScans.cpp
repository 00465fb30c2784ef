//===- FuseScans.cpp - scans of the same tokens in one loop -----*- C++ -*-===//
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
#include "llvm/ADT/SmallVectorExtras.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLAFUSESCANS
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

namespace {

/// Loops of one block, in order, that will be one at the last's place.
using Group = llvm::SmallSetVector<Operation *, 4>;

/// Whether `value` is a result of the group.
bool isOfGroup(Value value, const Group &group) {
  return value && group.contains(value.getDefiningOp());
}

/// Whether `loop` reads a result of the group.
bool readsResult(const Group &group, FusedScanOp loop) {
  return llvm::any_of(loop.getInputs(),
                      [&](Value input) { return isOfGroup(input, group); });
}

/// Whether `loop` reads a tensor of tokens that the group reads.
bool sharesInput(const Group &group, FusedScanOp loop) {
  return llvm::any_of(group, [&](Operation *member) {
    OperandRange inputs = cast<FusedScanOp>(member).getInputs();
    return llvm::any_of(loop.getInputs(), [&](Value input) {
      return cast<ShapedType>(input.getType()).getRank() != 1 &&
             llvm::is_contained(inputs, input);
    });
  });
}

/// Whether the heads of two loops are the same: where both have an input of one
/// tensor, it is read by as many heads.
bool haveSameHeads(FusedScanOp loop, FusedScanOp other) {
  for (auto [i, input] : llvm::enumerate(loop.getInputs()))
    for (auto [j, otherInput] : llvm::enumerate(other.getInputs()))
      if (input == otherInput && loop.getGroup(i) != other.getGroup(j))
        return false;
  return true;
}

/// Whether both loops walk in one way and need nothing of each other but rows.
bool areCompatible(FusedScanOp loop, FusedScanOp other) {
  if (loop.getReverse() != other.getReverse() ||
      loop.getLayout() != other.getLayout() ||
      loop.getLengths() != other.getLengths() ||
      loop.getSlots() != other.getSlots() || !haveSameHeads(loop, other))
    return false;
  auto isOfOther = [&](Value value) {
    return value && value.getDefiningOp() == other.getOperation();
  };
  if (llvm::any_of(loop.getCarries(), isOfOther) ||
      llvm::any_of(loop.getOutputs(), isOfOther) ||
      isOfOther(loop.getLengths()) || isOfOther(loop.getSlots()))
    return false;
  const size_t numSequences = other.getSequenceOutputs().size();
  for (auto [i, input] : llvm::enumerate(loop.getInputs()))
    if (isOfOther(input) &&
        (cast<OpResult>(input).getResultNumber() >= numSequences ||
         loop.getGroup(i) != 1))
      return false;
  return true;
}

/// Whether the group can move down to `last`: nothing between needs its
/// results.
bool canSink(const Group &group, Operation *last) {
  for (Operation *member : group)
    for (Operation *user : member->getUsers()) {
      Operation *ancestor = last->getBlock()->findAncestorOpInBlock(*user);
      if (ancestor && !group.contains(ancestor) && ancestor != last &&
          ancestor->isBeforeInBlock(last))
        return false;
    }
  return true;
}

/// Both groups as one, in the block's order.
Group unite(const Group &group, const Group &other) {
  SmallVector<Operation *> members(group.getArrayRef());
  llvm::append_range(members, other);
  llvm::sort(members,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return Group(members.begin(), members.end());
}

/// Whether all loops of two groups can be one at the place of `last`.
bool canUnite(const Group &group, const Group &other, Operation *last) {
  for (Operation *member : group)
    for (Operation *otherMember : other) {
      auto a = cast<FusedScanOp>(member), b = cast<FusedScanOp>(otherMember);
      if (!(a->isBeforeInBlock(b) ? areCompatible(b, a) : areCompatible(a, b)))
        return false;
    }
  return canSink(unite(group, other), last);
}

//===----------------------------------------------------------------------===//
// Building loops
//===----------------------------------------------------------------------===//

/// No attribute where every head of the loop has its own of every input.
DenseI64ArrayAttr getGroupsAttr(ArrayRef<int64_t> groups, Builder &b) {
  return llvm::all_of(groups, [](int64_t heads) { return heads == 1; })
             ? DenseI64ArrayAttr()
             : b.getDenseI64ArrayAttr(groups);
}

/// A scan as a loop with one step.
FusedScanOp createLoop(ScanOp scan, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(scan);
  Location loc = scan.getLoc();
  // A tensor in several places is walked once.
  SmallVector<Value> inputs;
  SmallVector<int64_t> groups;
  auto addInput = [&](Value value, int64_t group) -> unsigned {
    for (unsigned i = 0; i < inputs.size(); ++i)
      if (inputs[i] == value && groups[i] == group)
        return i;
    inputs.push_back(value);
    groups.push_back(group);
    return inputs.size() - 1;
  };
  const unsigned query = addInput(scan.getQuery(), scan.getGroup(0)),
                 key = addInput(scan.getKey(), scan.getGroup(1)),
                 value = addInput(scan.getValue(), scan.getGroup(2)),
                 logDecay =
                     scan.getLogDecay() ? addInput(scan.getLogDecay(), 1) : 0;
  bool hasFinal = scan.getFinal() && !scan.getFinal().use_empty();
  OperandRange outputs = scan.getOutputs().take_front(hasFinal ? 2 : 1);
  auto loop = FusedScanOp::create(
      rewriter, loc, outputs.getTypes(), scan.getReverse(), scan.getLayout(),
      getGroupsAttr(groups, rewriter),
      ArrayRef<bool>{static_cast<bool>(scan.getCarry())},
      ArrayRef<bool>{hasFinal}, /*schedule=*/ScheduleAttr(), inputs,
      scan.getLengths(), scan.getSlots(),
      scan.getCarry() ? ValueRange(scan.getCarry()) : ValueRange(), outputs);
  Block *body = rewriter.createBlock(&loop.getBody());
  SmallVector<Value> rows;
  for (Value input : inputs)
    rows.push_back(
        body->addArgument(FusedScanOp::getRowType(input.getType()), loc));
  Value state = body->addArgument(scan.getStateType(), loc);
  auto step = StepOp::create(
      rewriter, loc, state.getType(),
      FusedScanOp::getRowType(outputs.front().getType()), scan.getExclusive(),
      scan.getDecay(), rows[query], rows[key], rows[value],
      scan.getLogDecay() ? rows[logDecay] : Value(), state);
  YieldOp::create(rewriter, loc, ValueRange{step.getRow(), step.getNext()});
  for (auto [from, to] : llvm::zip(scan.getResults(), loop.getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(scan);
  return loop;
}

/// Whether anything but the group reads `value`.
bool escapes(Value value, const Group &group) {
  return llvm::any_of(value.getUsers(),
                      [&](Operation *user) { return !group.contains(user); });
}

/// Replaces the group by one loop, at the place of its last member.
void fuse(const Group &group, RewriterBase &rewriter) {
  if (group.size() == 1)
    return;
  rewriter.setInsertionPoint(group.back());
  using Input = std::pair<Value, int64_t>;
  SmallVector<Location> locs;
  llvm::SmallSetVector<Input, 8> inputSet;
  SmallVector<Value> carries, outputs, finals, results, finalResults;
  SmallVector<bool> carryIn, carryOut;
  SmallVector<VectorType> stateTypes;
  for (Operation *member : group) {
    auto loop = cast<FusedScanOp>(member);
    locs.push_back(loop.getLoc());
    for (auto [i, input] : llvm::enumerate(loop.getInputs()))
      if (!isOfGroup(input, group))
        inputSet.insert({input, loop.getGroup(i)});
    llvm::append_range(carryIn, loop.getCarryIn());
    llvm::append_range(carryOut, loop.getCarryOut());
    llvm::append_range(carries, loop.getCarries());
    for (BlockArgument state : loop.getStateArguments())
      stateTypes.push_back(cast<VectorType>(state.getType()));
    const size_t numSequences = loop.getSequenceOutputs().size();
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      if (i >= numSequences) {
        finals.push_back(loop.getOutputs()[i]);
        finalResults.push_back(result);
      } else if (escapes(result, group)) {
        outputs.push_back(loop.getOutputs()[i]);
        results.push_back(result);
      }
    }
  }
  llvm::append_range(outputs, finals);
  // The loop walks the tokens of its first input.
  SmallVector<Input> inputs = inputSet.takeVector();
  std::stable_partition(inputs.begin(), inputs.end(), [](const Input &input) {
    return cast<ShapedType>(input.first.getType()).getRank() != 1;
  });
  SmallVector<Value> inputValues;
  SmallVector<int64_t> groups;
  for (auto [value, heads] : inputs) {
    inputValues.push_back(value);
    groups.push_back(heads);
  }

  Location loc = rewriter.getFusedLoc(locs);
  auto first = cast<FusedScanOp>(group.front());
  auto fused = FusedScanOp::create(
      rewriter, loc, ValueRange(outputs).getTypes(), first.getReverse(),
      first.getLayout(), getGroupsAttr(groups, rewriter), carryIn, carryOut,
      /*schedule=*/ScheduleAttr(), inputValues, first.getLengths(),
      first.getSlots(), carries, outputs);

  // The bodies, one after the other: rows that they hand on are values.
  Block *body = rewriter.createBlock(&fused.getBody());
  llvm::SmallDenseMap<Input, Value> rows;
  for (const Input &input : inputs)
    rows[input] =
        body->addArgument(FusedScanOp::getRowType(input.first.getType()), loc);
  SmallVector<Value> states, nextStates;
  for (VectorType type : stateTypes)
    states.push_back(body->addArgument(type, loc));
  auto state = states.begin();
  for (Operation *member : group) {
    auto loop = cast<FusedScanOp>(member);
    IRMapping mapping;
    Block &memberBody = loop.getBody().front();
    for (auto [i, input] : llvm::enumerate(loop.getInputs()))
      mapping.map(memberBody.getArgument(i),
                  rows.lookup({input, loop.getGroup(i)}));
    for (BlockArgument argument : loop.getStateArguments())
      mapping.map(argument, *state++);
    for (Operation &op : memberBody.without_terminator())
      rewriter.clone(op, mapping);
    OperandRange yielded =
        cast<YieldOp>(memberBody.getTerminator()).getValues();
    const size_t numSequences = loop.getSequenceOutputs().size();
    for (auto [i, value] : llvm::enumerate(yielded)) {
      if (i < numSequences)
        rows[{loop.getResult(i), 1}] = mapping.lookup(value);
      else
        nextStates.push_back(mapping.lookup(value));
    }
  }
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(rows.lookup({result, 1}));
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
    FailureOr<std::optional<Precision>> wanted =
        ScheduleModel::parsePrecision(precision, [&] {
          return getOperation()->emitError("hla-fuse-scans: ");
        });
    if (failed(wanted))
      return signalPassFailure();
    auto countSlices = [&](const Group &group) {
      auto loops = llvm::map_to_vector(
          group, [](Operation *loop) { return cast<FusedScanOp>(loop); });
      return ScheduleModel::countSlices(loops, *info, *wanted);
    };
    IRRewriter rewriter(&getContext());
    SmallVector<ScanOp> scans;
    getOperation()->walk([&](ScanOp scan) { scans.push_back(scan); });
    numScans += scans.size();
    for (ScanOp scan : scans)
      createLoop(scan, rewriter);

    SmallVector<Group> groups;
    getOperation()->walk([&](Block *block) {
      SmallVector<Group> ofBlock;
      for (auto loop : block->getOps<FusedScanOp>())
        if (!loop.getScheduleAttr() && loop.hasPureTensorSemantics())
          insert(ofBlock, loop, countSlices);
      llvm::append_range(groups, ofBlock);
    });
    for (const Group &group : groups)
      fuse(group, rewriter);
    numLoops += groups.size();
  }

  /// Puts `loop` into a group with the groups whose rows it reads, so that they
  /// need no memory, and else with the latest that reads what it reads, as far
  /// as they can be one and the target holds what that needs, in no more slices
  /// than one of them has.
  static void insert(SmallVector<Group> &groups, FusedScanOp loop,
                     function_ref<int64_t(const Group &)> countSlices) {
    Group own;
    own.insert(loop);
    bool readsAny = false;
    auto tryUnite = [&](size_t i) {
      if (!canUnite(groups[i], own, loop))
        return false;
      Group united = unite(groups[i], own);
      const int64_t slices = countSlices(united);
      if (slices == 0 ||
          (slices != 1 &&
           slices > std::max(countSlices(groups[i]), countSlices(own))))
        return false;
      own = united;
      groups.erase(groups.begin() + i);
      return true;
    };
    for (size_t i = groups.size(); i-- > 0;)
      if (readsResult(groups[i], loop)) {
        readsAny = true;
        tryUnite(i);
      }
    for (size_t i = groups.size(); !readsAny && i-- > 0;)
      if (sharesInput(groups[i], loop) && tryUnite(i))
        break;
    groups.push_back(own);
  }
};

} // namespace
