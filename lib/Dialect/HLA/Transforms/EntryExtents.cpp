//===- EntryExtents.cpp - extents of a function, and their ties -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryExtents.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::hla;

//===----------------------------------------------------------------------===//
// Ties
//===----------------------------------------------------------------------===//

/// What an hla operation walks.
struct EntryExtents::Walk {
  HeadLayout layout;
  /// Sequences, numbers of tokens and numbers of heads, with the number of
  /// heads that read one of theirs. The first has tokens.
  SmallVector<std::pair<Value, int64_t>> sequences;
  SmallVector<Value> states;
  Value lengths, slots;

  void add(Value sequence, int64_t group = 1) {
    if (sequence)
      sequences.push_back({sequence, group});
  }
  void addState(Value state) {
    if (state)
      states.push_back(state);
  }
  int64_t getRank(Value value) const {
    return cast<RankedTensorType>(value.getType()).getRank();
  }
  int64_t getTokenDim() const { return layout == HeadLayout::BTHD ? 1 : 2; }
  int64_t getHeadDim(Value sequence) const {
    return getRank(sequence) == 1 ? 0 : 3 - getTokenDim();
  }
};

EntryExtents::EntryExtents(func::FuncOp function) : function(function) {
  function.walk([&](Operation *op) { addTies(op); });
}

EntryExtents::Extent EntryExtents::insert(Value value, int64_t dim) {
  Extent extent{value.getAsOpaquePointer(), dim};
  classes.insert(extent);
  int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    typeSizes.insert({extent, size});
  return extent;
}

void EntryExtents::tieAll(Value x, Value y) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  auto other = dyn_cast<RankedTensorType>(y.getType());
  for (int64_t i = 0; type && other && i < type.getRank(); ++i)
    tie(x, i, y, i);
}

/// All sequences have the batches and tokens of the first. Heads are those of
/// the states and of the sequences without a group; others have a fraction of
/// them. States, or with slots these, belong to sequences, one less than there
/// are lengths, or without lengths to batches.
void EntryExtents::addWalk(Operation *op, const Walk &walk) {
  if (walk.sequences.empty() ||
      !isa<RankedTensorType>(walk.sequences.front().first.getType()))
    return;
  Value first = walk.sequences.front().first;
  for (auto [sequence, group] : walk.sequences) {
    if (walk.getRank(sequence) == 1)
      continue;
    for (int64_t dim : {int64_t(0), walk.getTokenDim()})
      tie(first, dim, sequence, dim);
  }
  tokens[op] = insert(first, walk.getTokenDim());
  kinds.push_back({insert(first, 0), "B"});
  kinds.push_back({insert(first, walk.getTokenDim()), "T"});

  SmallVector<Extent> wholes;
  for (auto [sequence, group] : walk.sequences)
    if (group == 1)
      wholes.push_back(insert(sequence, walk.getHeadDim(sequence)));
  for (Value state : walk.states)
    wholes.push_back(insert(state, 1));
  for (Extent whole : wholes) {
    classes.unionSets(wholes.front(), whole);
    kinds.push_back({whole, "H"});
  }
  for (auto [sequence, group] : walk.sequences) {
    if (group == 1)
      continue;
    Extent part = insert(sequence, walk.getHeadDim(sequence));
    kinds.push_back({part, "H"});
    if (!wholes.empty())
      relations.push_back({op, wholes.front(), part, group, /*offset=*/0});
  }

  for (Value state : walk.states)
    tie(walk.states.front(), 0, state, 0);
  if (walk.slots && !walk.states.empty()) {
    slots[op] = insert(walk.states.front(), 0);
    kinds.push_back({slots[op], "S"});
  }
  Value ofSequences = walk.slots            ? walk.slots
                      : walk.states.empty() ? Value()
                                            : walk.states.front();
  if (walk.lengths)
    kinds.push_back({insert(walk.lengths, 0), "L"});
  if (!ofSequences)
    return;
  if (!walk.lengths)
    return tie(first, 0, ofSequences, 0);
  kinds.push_back({insert(ofSequences, 0), "N"});
  relations.push_back({op, insert(walk.lengths, 0), insert(ofSequences, 0),
                       /*factor=*/1, /*offset=*/1});
}

void EntryExtents::addTies(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](Operator op) {
        Walk walk{op.getLayout()};
        walk.lengths = op.getLengths();
        walk.slots = op.getSlots();
        walk.add(op.getQuery(), op.getQueryGroup());
        walk.add(op.getKey(), op.getKeyGroup());
        walk.add(op.getValue(), op.getKeyGroup());
        walk.add(op.getOutputs().front());
        walk.add(op.getLogDecay());
        for (Value state : op.getCarries())
          walk.addState(state);
        for (Value state : op.getOutputs().drop_front())
          walk.addState(state);
        addWalk(op, walk);
      })
      .Case([&](ScanOp op) {
        Walk walk{op.getLayout()};
        walk.lengths = op.getLengths();
        walk.slots = op.getSlots();
        walk.add(op.getQuery(), op.getGroup(0));
        walk.add(op.getKey(), op.getGroup(1));
        walk.add(op.getValue(), op.getGroup(2));
        walk.add(op.getOutputs().front());
        walk.add(op.getLogDecay());
        walk.addState(op.getCarry());
        walk.addState(op.getFinalInit());
        addWalk(op, walk);
      })
      .Case([&](FusedScanOp op) {
        Walk walk{op.getLayout()};
        walk.lengths = op.getLengths();
        walk.slots = op.getSlots();
        for (auto [i, input] : llvm::enumerate(op.getInputs()))
          walk.add(input, op.getGroup(i));
        for (Value output : op.getSequenceOutputs())
          walk.add(output);
        for (Value state : op.getCarries())
          walk.addState(state);
        if (!op.getSummary())
          for (Value state : op.getFinalOutputs())
            walk.addState(state);
        addWalk(op, walk);
      })
      .Case([&](tensor::CastOp op) { tieAll(op.getSource(), op.getResult()); })
      .Case([&](tensor::EmptyOp op) {
        unsigned dynamic = 0;
        for (auto [i, size] : llvm::enumerate(op.getType().getShape())) {
          if (!ShapedType::isDynamic(size))
            continue;
          auto dim =
              op.getDynamicSizes()[dynamic++].getDefiningOp<tensor::DimOp>();
          if (std::optional<int64_t> index =
                  dim ? dim.getConstantIndex() : std::nullopt;
              index && isa<RankedTensorType>(dim.getSource().getType()))
            tie(op.getResult(), i, dim.getSource(), *index);
        }
      });
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      if (OpOperand *init = destinations.getTiedOpOperand(result))
        tieAll(result, init->get());
}

//===----------------------------------------------------------------------===//
// Solving
//===----------------------------------------------------------------------===//

/// Parts of one whole by the same factor are equal, and so are wholes of one
/// part.
void EntryExtents::mergeEqualTerms() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[op, whole, part, factor, offset] : relations)
      for (const Relation &other : relations) {
        if (factor != other.factor || offset != other.offset)
          continue;
        bool isSameWhole = getLeader(whole) == getLeader(other.whole);
        bool isSamePart = getLeader(part) == getLeader(other.part);
        if (isSameWhole == isSamePart)
          continue;
        classes.unionSets(isSameWhole ? part : whole,
                          isSameWhole ? other.part : other.whole);
        changed = true;
      }
  }
}

LogicalResult EntryExtents::findSizes() {
  for (auto [extent, size] : typeSizes) {
    auto [known, isNew] = sizes.insert({getLeader(extent), size});
    if (!isNew && known->second != size)
      return function.emitError("expected extents that hla operations tie "
                                "together to be equal, but got ")
             << known->second << " and " << size;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const Relation &relation : relations)
      if (failed(propagate(relation, changed)))
        return failure();
  }
  return success();
}

/// Computes one side of a relation from the other where that is static.
LogicalResult EntryExtents::propagate(const Relation &relation, bool &changed) {
  auto [op, wholeExtent, partExtent, factor, offset] = relation;
  Extent whole = getLeader(wholeExtent), part = getLeader(partExtent);
  bool isGroup = offset == 0;
  if (whole == part)
    return op->emitOpError("expected ")
           << (isGroup ? "the heads that a group reads and all heads"
                       : "lengths and sequences")
           << " to be different extents ("
           << (isGroup ? std::to_string(factor) + " heads read one"
                       : "one more length than sequences")
           << "), but got one extent for both";
  auto knownWhole = sizes.find(whole), knownPart = sizes.find(part);
  if (knownPart != sizes.end()) {
    int64_t size = 0;
    if (llvm::MulOverflow(knownPart->second, factor, size) ||
        llvm::AddOverflow(size, offset, size))
      return op->emitOpError("expected extents of 63 bits, but got ")
             << factor << " * " << knownPart->second;
    if (knownWhole == sizes.end()) {
      sizes[whole] = size;
      changed = true;
    } else if (knownWhole->second != size) {
      return op->emitOpError("expected ")
             << size
             << (isGroup ? " heads (" : " lengths (one more than sequences, ")
             << (isGroup ? std::to_string(factor) + " read one of " : "")
             << knownPart->second << "), but got " << knownWhole->second;
    }
  } else if (knownWhole != sizes.end()) {
    int64_t size = knownWhole->second - offset;
    if (size < 0)
      return op->emitOpError("expected at least 1 length, but got ")
             << knownWhole->second;
    if (size % factor != 0)
      return op->emitOpError("expected a number of heads that ")
             << factor << " divides (so many read one), but got " << size;
    sizes[part] = size / factor;
    changed = true;
  }
  return success();
}

LogicalResult EntryExtents::solve(ArrayRef<Value> arguments) {
  auto forEachExtent = [&](auto body) {
    for (Value argument : arguments)
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
        for (int64_t i = 0; i < type.getRank(); ++i)
          body(insert(argument, i));
  };
  forEachExtent([](Extent) {});
  mergeEqualTerms();
  if (failed(findSizes()))
    return failure();
  forEachExtent([&](Extent extent) { bound.insert(getLeader(extent)); });
  // H is all heads, and H1 those of which several read one.
  for (const Relation &relation : relations)
    if (Extent whole = getLeader(relation.whole); bound.contains(whole))
      getSymbol(whole);
  forEachExtent([&](Extent extent) { getSymbol(getLeader(extent)); });
  return success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

StringRef EntryExtents::getSymbol(Extent leader) {
  std::string &symbol = symbols[leader];
  if (sizes.count(leader) || !symbol.empty())
    return symbol;
  StringRef kind = "d";
  for (auto &[extent, name] : kinds)
    if (getLeader(extent) == leader) {
      kind = name;
      break;
    }
  unsigned count = counts[kind]++;
  bool isNumbered = kind == "d" || count > 0;
  symbol = kind.str() + (isNumbered ? std::to_string(count) : "");
  return symbol;
}

ABIDim EntryExtents::describe(Extent extent) {
  Extent leader = getLeader(extent);
  auto size = sizes.find(leader);
  if (size != sizes.end())
    return {size->second, ""};
  return {ShapedType::kDynamic, getSymbol(leader).str()};
}

SmallVector<ABIDim> EntryExtents::getDims(Value value) {
  SmallVector<ABIDim> dims;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; i < type.getRank(); ++i)
    dims.push_back(describe(insert(value, i)));
  return dims;
}

ABIDim EntryExtents::getTokens(Operation *op) {
  return describe(tokens.lookup(op));
}

std::optional<ABIDim> EntryExtents::getSlots(Operation *op) {
  auto extent = slots.find(op);
  return extent == slots.end() ? std::nullopt
                               : std::optional(describe(extent->second));
}

ABITerm EntryExtents::getTerm(Extent leader, int64_t factor, int64_t offset) {
  return {factor, getSymbol(leader).str(), offset};
}

SmallVector<ABIConstraint> EntryExtents::getConstraints() {
  SmallVector<ABIConstraint> constraints;
  std::set<std::tuple<Extent, Extent>> seen;
  // A whole that no argument has, in terms of its first part.
  std::map<Extent, ABITerm> terms;
  for (const Relation &relation : relations) {
    Extent whole = getLeader(relation.whole), part = getLeader(relation.part);
    if (sizes.count(whole) || !bound.contains(part) ||
        !seen.insert({whole, part}).second)
      continue;
    ABITerm term = getTerm(part, relation.factor, relation.offset);
    if (bound.contains(whole)) {
      constraints.push_back({getTerm(whole, 1, 0), term});
      continue;
    }
    auto [other, isNew] = terms.insert({whole, term});
    if (!isNew)
      constraints.push_back({other->second, term});
  }
  return constraints;
}
