//===- GroupPartition.cpp - which group does what ---------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupPartition.h"
#include "hla/Support/Runs.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

static Attribute getEncoding(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getEncoding() : Attribute();
}

bool tile::isFragment(Value value) {
  return isa_and_nonnull<FragAttr>(getEncoding(value));
}

bool tile::isShared(Value value) {
  return isa_and_nonnull<SmemAttr>(getEncoding(value));
}

/// A tile that is one number everywhere costs nothing to make again.
static bool isUniform(Operation *op) {
  return matchPattern(op, m_Constant()) || isa<tensor::SplatOp>(op);
}

/// Whether a value in registers, a fragment or a column computed of one, ties
/// its reader to the part that makes it.
static bool ties(Value value, const llvm::DenseSet<Operation *> &bound) {
  Operation *definition = value.getDefiningOp();
  return definition && bound.contains(definition) && !isShared(value);
}

void GroupPartition::findParts() {
  Block *body = loop.getBody();
  llvm::DenseSet<Operation *> bound;
  llvm::EquivalenceClasses<void *> classes;
  auto key = [](Value value) -> void * {
    if (Operation *definition = value.getDefiningOp())
      return definition;
    return value.getAsOpaquePointer();
  };
  for (Operation &op : body->without_terminator()) {
    // A tile is put together, and stored, by the group that writes it.
    const bool usesWritten = isa<ConcatOp, StoreOp>(op);
    SmallVector<Value> tied;
    for (Value operand : op.getOperands()) {
      Operation *definition = operand.getDefiningOp();
      const bool isState =
          llvm::is_contained(loop.getRegionIterArgs(), operand);
      if ((isState && isFragment(operand)) || ties(operand, bound) ||
          (usesWritten && definition && bound.contains(definition)))
        tied.push_back(operand);
    }
    const bool makesFragment = llvm::any_of(op.getResults(), isFragment);
    if (isUniform(&op) || (tied.empty() && !makesFragment))
      continue;
    bound.insert(&op);
    classes.insert(&op);
    for (Value operand : tied)
      classes.unionSets(&op, key(operand));
  }
  for (auto [state, next] : llvm::zip(loop.getRegionIterArgs(),
                                      body->getTerminator()->getOperands()))
    if (isFragment(state))
      classes.unionSets(state.getAsOpaquePointer(), key(next));

  llvm::DenseMap<void *, unsigned> numbers;
  auto partOf = [&](void *member) {
    auto [it, isNew] =
        numbers.try_emplace(classes.getLeaderValue(member), parts.size());
    if (isNew)
      parts.emplace_back();
    return it->second;
  };
  for (Operation &op : body->without_terminator())
    if (bound.contains(&op)) {
      partOfOp[&op] = partOf(&op);
      parts[partOfOp[&op]].ops.push_back(&op);
    }
  for (BlockArgument state : loop.getRegionIterArgs())
    if (isFragment(state)) {
      Part &part = parts[partOf(state.getAsOpaquePointer())];
      part.states.push_back(state);
      part.registers +=
          FragAttr::getRegisters(cast<RankedTensorType>(state.getType()));
    }
}

SmallVector<unsigned> GroupPartition::getReaders(const Part &part) const {
  SmallVector<unsigned> readers;
  std::function<void(Value)> addReaders = [&](Value tile) {
    for (Operation *user : tile.getUsers()) {
      if (isa<ColumnsOp>(user))
        addReaders(user->getResult(0));
      else if (auto it = partOfOp.find(user); it != partOfOp.end())
        readers.push_back(it->second);
    }
  };
  for (Operation *op : part.ops)
    for (Value result : op->getResults())
      if (isShared(result))
        addReaders(result);
  return readers;
}

/// Producers first, else by program order.
void GroupPartition::orderParts() {
  SmallVector<unsigned> order;
  SmallVector<bool> isPlaced(parts.size());
  while (order.size() != parts.size()) {
    SmallVector<bool> waits(parts.size());
    for (auto [i, part] : llvm::enumerate(parts))
      if (!isPlaced[i])
        for (unsigned reader : getReaders(part))
          waits[reader] = waits[reader] || reader != i;
    unsigned next = 0;
    while (next < parts.size() && (isPlaced[next] || waits[next]))
      ++next;
    // Parts that wait for each other: any order will do until they are joined.
    if (next == parts.size())
      next = llvm::find(isPlaced, false) - isPlaced.begin();
    isPlaced[next] = true;
    order.push_back(next);
  }
  SmallVector<Part> ordered;
  for (unsigned i : order)
    ordered.push_back(std::move(parts[i]));
  parts = std::move(ordered);
  for (auto [i, part] : llvm::enumerate(parts))
    for (Operation *op : part.ops)
      partOfOp[op] = i;
}

void GroupPartition::joinStateless() {
  for (unsigned i = parts.size(); i-- > 0;) {
    if (!parts[i].states.empty() || parts.size() == 1)
      continue;
    SmallVector<unsigned> readers = getReaders(parts[i]);
    llvm::erase(readers, i);
    // What nobody reads is stored: with what comes before it.
    unsigned into =
        readers.empty() ? (i == 0 ? 1 : i - 1) : *llvm::min_element(readers);
    llvm::append_range(parts[into].ops, parts[i].ops);
    parts.erase(parts.begin() + i);
    for (auto [number, part] : llvm::enumerate(parts))
      for (Operation *op : part.ops)
        partOfOp[op] = number;
  }
  for (auto [i, part] : llvm::enumerate(parts))
    for (BlockArgument state : part.states)
      partOfState[state] = i;
}

LogicalResult GroupPartition::deal() {
  const int64_t n = parts.size();
  if (n < numGroups)
    return loop.emitOpError()
           << "expected a schedule of at most " << n
           << " groups (so many scans share no registers), but got "
           << numGroups;
  groupOfPart =
      cutIntoRuns(llvm::map_to_vector(
                      parts, [](const Part &part) { return part.registers; }),
                  numGroups);
  return success();
}

LogicalResult GroupPartition::run() {
  findParts();
  orderParts();
  joinStateless();
  return deal();
}

std::optional<int64_t> GroupPartition::getGroup(Operation *op) const {
  auto it = partOfOp.find(op);
  if (it == partOfOp.end())
    return std::nullopt;
  return groupOfPart[it->second];
}

int64_t GroupPartition::getGroup(BlockArgument state) const {
  return groupOfPart[partOfState.lookup(state)];
}
