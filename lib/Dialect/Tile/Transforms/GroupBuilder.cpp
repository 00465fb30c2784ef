//===- GroupBuilder.cpp - the program of one group of warps -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// What a thread needs beside tiles: addresses, masks, and what the assembler
/// moves. Measured, at both limits of registers (benchmarks/notes/).
static constexpr int64_t kWorkingRegisters = 31;

static int64_t countRegisters(Value tile) {
  return FragAttr::getRegisters(cast<RankedTensorType>(tile.getType()));
}

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat());
}

static bool isProgramOperation(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() ||
         isa<DecayOp, MaskOp, BroadcastOp>(op);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// What is outside of the loop stays there, but for tiles: a group has those
/// that it reads.
Value GroupBuilder::get(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return value;
  const bool isInLoop = definition->getBlock() == plan.loop.getBody();
  if (!isInLoop && (!isa<RankedTensorType>(value.getType()) ||
                    matchPattern(value, m_Constant())))
    return value;
  OpBuilder::InsertionGuard guard(b);
  if (!isInLoop && loop)
    b.setInsertionPoint(loop);
  done.insert(definition);
  if (auto convert = dyn_cast<ConvertLayoutOp>(definition)) {
    read(convert);
    return mapping.lookup(value);
  }
  for (Value operand : definition->getOperands())
    get(operand);
  Operation *copy = b.clone(*definition, mapping);
  for (auto [from, to] :
       llvm::zip(definition->getResults(), copy->getResults())) {
    mapping.map(from, to);
    if (!isInLoop)
      outer.map(from, to);
  }
  return mapping.lookup(value);
}

void GroupBuilder::commit() {
  if (static_cast<int64_t>(batches.size()) == numCommitted)
    return;
  DotCommitOp::create(b);
  ++numCommitted;
}

/// Waits for all batches up to one, and takes their results out of flight.
void GroupBuilder::wait(int64_t lastBatch) {
  commit();
  if (lastBatch < numWaited)
    return;
  SmallVector<Value> values, tiles;
  for (int64_t i = numWaited; i <= lastBatch; ++i)
    for (Value value : batches[i].results)
      if (batchOf.contains(value)) {
        values.push_back(value);
        tiles.push_back(mapping.lookup(value));
      }
  auto waited = DotWaitOp::create(b, numCommitted - 1 - lastBatch, tiles);
  for (auto [value, result] : llvm::zip(values, waited.getResults())) {
    mapping.map(value, result);
    batchOf.erase(value);
  }
  for (; numWaited <= lastBatch; ++numWaited)
    for (Value tile : batches[numWaited].sharedOperands)
      noteRead(tile);
}

void GroupBuilder::waitFor(ValueRange values) {
  int64_t last = -1;
  for (Value value : values)
    if (isInFlight(value))
      last = std::max(last, batchOf.lookup(value));
  if (last >= 0)
    wait(last);
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

int64_t GroupBuilder::countLive() const {
  int64_t count = 0;
  for (BlockArgument state : states)
    count += countRegisters(state);
  Operation *yield = plan.loop.getBody()->getTerminator();
  for (Operation *op : ops) {
    if (!isDone(op) || isOnDemand(op))
      continue;
    for (Value result : op->getResults())
      if (isFragment(result) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return user != yield && !isDone(user);
          }))
        count += countRegisters(result);
  }
  for (const Batch &batch : ArrayRef(batches).drop_front(numWaited))
    for (Value operand : batch.registerOperands)
      count += countRegisters(operand);
  return count;
}

int64_t GroupBuilder::countNeeded(DotOp dot) const {
  int64_t count = isZero(dot.getAcc()) ? countRegisters(dot.getResult()) : 0;
  for (Value operand : {dot.getLhs(), dot.getRhs()})
    if (isFragment(operand) && !mapping.contains(operand))
      count += countRegisters(operand);
  return count;
}

bool GroupBuilder::hasRoom(DotOp dot) const {
  return countLive() + countNeeded(dot) <=
         plan.registersPerThread - kWorkingRegisters;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether an operation is one on states and loaded rows alone, or on what such
/// operations compute.
static bool isOfStatesAndRows(Operation *op, GroupPlan &plan) {
  auto convert = dyn_cast<ConvertLayoutOp>(op);
  if (convert ? !plan.findRing(convert.getSource()) : !isProgramOperation(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *definition = operand.getDefiningOp();
    return !definition || !plan.partition.getGroup(definition) ||
           isOfStatesAndRows(definition, plan);
  });
}

/// Whether only products read what an operation computes, perhaps by way of
/// others.
static bool isForProducts(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return isa<DotOp>(user) ||
           (isProgramOperation(user) && isForProducts(user));
  });
}

bool GroupBuilder::isOnDemand(Operation *op) const {
  return isOfStatesAndRows(op, plan) && isForProducts(op);
}

/// Whether a value is there, or can be computed of what is there.
static bool isReadable(Value value, const IRMapping &mapping,
                       function_ref<bool(Operation *)> isOnDemand) {
  Operation *definition = value.getDefiningOp();
  return mapping.contains(value) || !definition || isOnDemand(definition) ||
         matchPattern(value, m_Constant());
}

bool GroupBuilder::isStateRead(DotOp dot) const {
  Operation *reader = dot;
  Value value = dot.getAcc();
  while (Operation *definition = value.getDefiningOp()) {
    if (!isOnDemand(definition))
      return true;
    reader = definition;
    auto isTile = [](Value operand) { return isFragment(operand); };
    const auto *operand =
        llvm::find_if(definition->getOpOperands(),
                      [&](OpOperand &use) { return isTile(use.get()); });
    value = operand->get();
  }
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == reader || isDone(user);
  });
}

/// Computes operands in registers of what is there.
void GroupBuilder::prepare(DotOp dot) {
  for (Value operand : {dot.getLhs(), dot.getRhs()})
    if (isFragment(operand) && !mapping.contains(operand)) {
      commit();
      get(operand);
    }
}

bool GroupBuilder::canBegin(DotOp dot) {
  auto onDemand = [&](Operation *op) { return isOnDemand(op); };
  if (!isReadable(dot.getAcc(), mapping, onDemand) || !isStateRead(dot))
    return false;
  for (Value operand : {dot.getLhs(), dot.getRhs()}) {
    if (isShared(operand)) {
      // A copy is waited for in any case.
      if (!plan.findRing(operand) && !isVisible(operand))
        return false;
    } else if (!mapping.contains(operand) || isInFlight(operand)) {
      return false;
    }
  }
  return hasRoom(dot);
}

void GroupBuilder::begin(DotOp dot) {
  Value operands[] = {dot.getLhs(), dot.getRhs()};
  for (Value operand : operands) {
    if (isShared(operand))
      makeVisible(operand);
    else
      waitFor(operand);
  }
  // A sum goes on in its batch, if that is still open.
  const bool continues = batchOf.lookup_or(dot.getAcc(), -1) == numCommitted;
  const bool computes = llvm::any_of(operands, [&](Value operand) {
    return isFragment(operand) && !mapping.contains(operand);
  });
  if (!continues || computes)
    commit();
  Batch reads;
  Value lhs, rhs;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    (i == 0 ? lhs : rhs) =
        isShared(operand) ? getBuffer(operand) : get(operand);
    (isShared(operand) ? reads.sharedOperands : reads.registerOperands)
        .push_back(operand);
  }
  Value acc = get(dot.getAcc());
  if (static_cast<int64_t>(batches.size()) == numCommitted) {
    SmallVector<Value> tiles;
    SmallVector<Value *> shown;
    for (Value *value : {&lhs, &rhs, &acc})
      if (isa<RankedTensorType>(value->getType()) && !isZero(*value) &&
          !(value == &acc && isInFlight(dot.getAcc()))) {
        tiles.push_back(*value);
        shown.push_back(value);
      }
    auto fence = DotFenceOp::create(b, tiles);
    for (auto [value, result] : llvm::zip(shown, fence.getResults()))
      *value = result;
    batches.emplace_back();
  }
  Value result =
      DotAsyncOp::create(b, acc.getType(), lhs, rhs, acc, dot.getTransposeLhs(),
                         dot.getTransposeRhs());
  mapping.map(dot.getResult(), result);
  Batch &batch = batches.back();
  batch.results.push_back(dot.getResult());
  llvm::append_range(batch.sharedOperands, reads.sharedOperands);
  llvm::append_range(batch.registerOperands, reads.registerOperands);
  batchOf.erase(dot.getAcc());
  batchOf[dot.getResult()] = numCommitted;
  done.insert(dot);
}

void GroupBuilder::beginReady() {
  for (Operation *op : ops)
    if (auto dot = dyn_cast<DotOp>(op); dot && !isDone(dot) && canBegin(dot))
      begin(dot);
}

void GroupBuilder::emit(Operation *op) {
  if (auto dot = dyn_cast<DotOp>(op)) {
    while (!hasRoom(dot) && numWaited < static_cast<int64_t>(batches.size()))
      wait(numWaited);
    prepare(dot);
    begin(dot);
    return;
  }
  if (llvm::any_of(op->getOperands(),
                   [&](Value operand) { return isInFlight(operand); })) {
    commit();
    beginReady();
    waitFor(op->getOperands());
  }
  commit();
  done.insert(op);
  if (isa<ConcatOp>(op))
    return;
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    if (isShared(convert.getResult()))
      write(convert);
    else
      read(convert);
    return;
  }
  if (auto storeOp = dyn_cast<StoreOp>(op);
      storeOp && isShared(storeOp.getTile())) {
    store(storeOp);
    return;
  }
  for (Value operand : op->getOperands())
    get(operand);
  Operation *copy = b.clone(*op, mapping);
  mapping.map(op->getResults(), copy->getResults());
}

/// Columns that an operation of this group reads, by way of what it computes
/// for itself: begun first, so that nothing waits for device memory.
static void collectColumns(Operation *op, GroupPlan &plan,
                           SetVector<Value> &columns) {
  for (Value operand : op->getOperands()) {
    Operation *definition = operand.getDefiningOp();
    if (!definition || definition->getBlock() != plan.loop.getBody() ||
        plan.partition.getGroup(definition) || isShared(operand))
      continue;
    if (isa<LoadOp>(definition))
      columns.insert(operand);
    else
      collectColumns(definition, plan, columns);
  }
}

void GroupBuilder::buildOperations() {
  SetVector<Value> columns;
  for (Operation *op : ops)
    collectColumns(op, plan, columns);
  for (Value column : columns)
    get(column);
  for (Operation *op : ops)
    if (!isDone(op) && !isOnDemand(op))
      emit(op);
  wait(batches.size() - 1);
}

void GroupBuilder::buildBody(AccessMap &left, bool &hasBarrier) {
  mapping = outer;
  loop = {};
  SmallVector<Value> inits;
  for (BlockArgument state : states)
    inits.push_back(get(plan.loop.getTiedLoopInit(state)->get()));
  loop =
      scf::ForOp::create(b, plan.loop.getLowerBound(),
                         plan.loop.getUpperBound(), plan.loop.getStep(), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  done.clear();
  batches.clear();
  batchOf.clear();
  numCommitted = numWaited = 0;
  acquired.clear();
  partsWritten.clear();
  accesses = left;
  hasMet = false;
  row = loop.getInductionVar();
  iteration = b.createOrFold<arith::DivUIOp>(
      b.createOrFold<arith::SubIOp>(row, plan.loop.getLowerBound()),
      plan.loop.getStep());
  mapping.map(plan.loop.getInductionVar(), row);
  for (auto [state, carried] : llvm::zip(states, loop.getRegionIterArgs()))
    mapping.map(state, carried);

  if (!hasBarrier)
    meet();
  buildOperations();
  release();
  SmallVector<Value> next;
  for (BlockArgument state : states)
    next.push_back(
        mapping.lookup(plan.loop.getTiedLoopYieldedValue(state)->get()));
  if (states.empty() && !loop.getBody()->empty() &&
      loop.getBody()->back().hasTrait<OpTrait::IsTerminator>())
    loop.getBody()->back().erase();
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, next);
  left = accesses;
  hasBarrier = hasMet;
}

/// What leaves registers, or the loop, in program order, and before it what it
/// needs: so a part of a tile is computed, written, and out of registers before
/// the next part.
void GroupBuilder::orderOperations() {
  llvm::SetVector<Operation *> order;
  std::function<void(Operation *)> add = [&](Operation *op) {
    if (!op || op->getBlock() != plan.loop.getBody() ||
        plan.partition.getGroup(op) != group || order.contains(op))
      return;
    for (Value operand : op->getOperands())
      add(operand.getDefiningOp());
    order.insert(op);
  };
  for (Operation &op : plan.loop.getBody()->without_terminator())
    if (op.getNumResults() == 0 || llvm::any_of(op.getResults(), isShared))
      add(&op);
  for (Operation &op : plan.loop.getBody()->without_terminator())
    add(&op);
  ops = order.takeVector();
}

void GroupBuilder::build() {
  orderOperations();
  for (BlockArgument state : plan.loop.getRegionIterArgs())
    if (isFragment(state) && plan.partition.getGroup(state) == group)
      states.push_back(state);

  fillRings();
  for (Exchange &exchange : plan.exchanges)
    for (int64_t slot = 0; slot < exchange.getSlots(); ++slot)
      if (llvm::is_contained(exchange.consumers, group))
        ArriveOp::create(b, index(exchange.read + slot), exchange.getThreads());

  AccessMap left;
  bool hasBarrier = true;
  buildBody(left, hasBarrier);
  loop.erase();
  buildBody(left, hasBarrier);

  mapping = outer;
  for (auto [state, result] : llvm::zip(states, loop.getResults()))
    mapping.map(plan.loop.getTiedLoopResult(plan.loop.getTiedLoopInit(state)),
                result);
  for (auto &[op, owner] : plan.epilogue)
    if (owner == group)
      mapping.map(op->getResults(), b.clone(*op, mapping)->getResults());
  if (llvm::any_of(ops,
                   [&](Operation *op) { return plan.stores.contains(op); }))
    TensorStoreWaitOp::create(b, /*reads=*/false);
}
