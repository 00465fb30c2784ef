//===- GroupBuilder.cpp - the program of one group of warps -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupBuilder.h"
#include "BufferAllocator.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
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
// Shared memory
//===----------------------------------------------------------------------===//

Value GroupBuilder::getSlot(Value iteration, int64_t slots) {
  return b.createOrFold<arith::RemUIOp>(iteration, index(slots));
}

Value GroupBuilder::getParity(Value iteration, int64_t slots) {
  Value use = b.createOrFold<arith::DivUIOp>(iteration, index(slots));
  return b.createOrFold<arith::RemUIOp>(use, index(2));
}

Value GroupBuilder::getBuffer(Value tile) {
  if (Value known = mapping.lookupOrNull(tile))
    return known;
  auto getColumns = [&](Value buffer, int64_t first) -> Value {
    auto part = cast<RankedTensorType>(tile.getType());
    auto type =
        MemRefType::get(part.getShape(), part.getElementType(),
                        MemRefLayoutAttrInterface(), part.getEncoding());
    return type == buffer.getType() ? buffer
                                    : ColumnsOp::create(b, type, buffer, first);
  };
  Value buffer;
  if (auto columns = tile.getDefiningOp<ColumnsOp>()) {
    buffer = getColumns(getBuffer(columns.getSource()),
                        columns.getOffsetAttr().getInt());
  } else if (LoadRing *ring = plan.findRing(tile)) {
    buffer = tile::getSlot(b, b.getLoc(), ring->ring,
                           getSlot(iteration, plan.stages));
  } else {
    Exchange *exchange = plan.findExchange(tile);
    Value whole = tile == exchange->tile
                      ? tile::getSlot(b, b.getLoc(), exchange->ring,
                                      getSlot(iteration, exchange->getSlots()))
                      : getBuffer(exchange->tile);
    const int64_t cols = cast<RankedTensorType>(tile.getType()).getDimSize(1);
    const int64_t part =
        llvm::find(exchange->parts, tile) - exchange->parts.begin();
    buffer = tile == exchange->tile ? whole : getColumns(whole, part * cols);
  }
  mapping.map(tile, buffer);
  return buffer;
}

bool GroupBuilder::isVisible(Value tile) {
  if (LoadRing *ring = plan.findRing(tile))
    return acquired.contains(ring->load.getTile());
  Exchange *exchange = plan.findExchange(tile);
  if (exchange->producer != group)
    return acquired.contains(exchange->tile);
  return partsWritten.lookup(exchange) == exchange->parts.size() &&
         !accesses[exchange].isWritten;
}

void GroupBuilder::makeVisible(Value tile) {
  if (isVisible(tile))
    return;
  commit();
  if (LoadRing *ring = plan.findRing(tile)) {
    SignalWaitOp::create(b, ring->full, getSlot(iteration, plan.stages),
                         getParity(iteration, plan.stages));
    acquired.insert(ring->load.getTile());
    return;
  }
  Exchange *exchange = plan.findExchange(tile);
  if (exchange->producer == group)
    return meet();
  Value slot = getSlot(iteration, exchange->getSlots());
  SyncOp::create(b,
                 b.createOrFold<arith::AddIOp>(index(exchange->written), slot),
                 exchange->getThreads());
  acquired.insert(exchange->tile);
}

/// The warps have read a tile, but may do so at different times.
void GroupBuilder::noteRead(Value tile) {
  Exchange *exchange = plan.findExchange(tile);
  if (exchange && exchange->producer == group)
    accesses[exchange].isRead = true;
}

/// The group's warps wait for each other. Copies of a whole iteration ago are
/// waited for on the way.
void GroupBuilder::meet() {
  commit();
  bool isWritten = false, isStored = false;
  for (auto &[exchange, access] : accesses) {
    isWritten |= access.isWritten;
    isStored |= access.isStored;
    access = {};
  }
  if (isWritten)
    AsyncFenceOp::create(b);
  if (isStored)
    TensorStoreWaitOp::create(b, /*reads=*/true);
  SyncOp::create(b, index(1 + group), GroupsOp::kThreads);
  if (!hasMet)
    refill();
  hasMet = true;
}

void GroupBuilder::read(ConvertLayoutOp convert) {
  makeVisible(convert.getSource());
  mapping.map(
      convert.getResult(),
      ReadOp::create(b, convert.getType(), getBuffer(convert.getSource()))
          .getResult());
  noteRead(convert.getSource());
}

void GroupBuilder::write(ConvertLayoutOp convert) {
  Exchange *exchange = plan.findExchange(convert.getResult());
  Value source = get(convert.getSource());
  if (partsWritten.lookup(exchange) == 0) {
    commit();
    Accesses &access = accesses[exchange];
    if (exchange->isHandedOver()) {
      Value slot = getSlot(iteration, exchange->getSlots());
      SyncOp::create(b,
                     b.createOrFold<arith::AddIOp>(index(exchange->read), slot),
                     exchange->getThreads());
      for (auto &[other, met] : accesses)
        met.isRead = false;
    } else if (access.isRead || access.isStored) {
      meet();
    }
  }
  WriteOp::create(b, source, getBuffer(convert.getResult()), /*once=*/false);
  accesses[exchange].isWritten = true;
  if (++partsWritten[exchange] == exchange->parts.size() &&
      exchange->isHandedOver())
    publish(*exchange);
}

/// Shows a tile to the groups that read it.
void GroupBuilder::publish(Exchange &exchange) {
  AsyncFenceOp::create(b);
  Value slot = getSlot(iteration, exchange.getSlots());
  ArriveOp::create(b,
                   b.createOrFold<arith::AddIOp>(index(exchange.written), slot),
                   exchange.getThreads());
  if (!exchange.isReadByProducer)
    accesses[&exchange].isWritten = false;
}

SmallVector<Value> GroupBuilder::getIndices(const TileBox &box, Value row) {
  SmallVector<Value> indices;
  for (auto [i, offset] : llvm::enumerate(box.indices)) {
    Value value = getValueOrCreateConstantIndexOp(b, b.getLoc(), offset);
    indices.push_back(
        i == box.rowDim ? b.createOrFold<arith::AddIOp>(value, row) : value);
  }
  return indices;
}

void GroupBuilder::store(StoreOp store) {
  makeVisible(store.getTile());
  TensorStoreOp::create(b, getBuffer(store.getTile()),
                        plan.stores.lookup(store).map,
                        getIndices(plan.stores[store], get(store.getRow())));
  accesses[plan.findExchange(store.getTile())].isStored = true;
}

/// The row that a load has in the iteration of another induction variable.
static Value getRowAt(ImplicitLocOpBuilder &b, GroupPlan &plan, LoadOp load,
                      Value walked) {
  IRMapping at;
  at.map(plan.loop.getInductionVar(), walked);
  std::function<Value(Value)> compute = [&](Value value) -> Value {
    Operation *definition = value.getDefiningOp();
    if (Value known = at.lookupOrNull(value))
      return known;
    if (!definition || definition->getBlock() != plan.loop.getBody())
      return value;
    for (Value operand : definition->getOperands())
      at.map(operand, compute(operand));
    return b.clone(*definition, at)
        ->getResult(cast<OpResult>(value).getResultNumber());
  };
  return compute(load.getRow());
}

/// Copies of the first chunks.
void GroupBuilder::fillRings() {
  for (LoadRing &ring : plan.rings)
    for (int64_t i = 0; ring.refiller == group && i < plan.stages; ++i) {
      Value walked = b.createOrFold<arith::AddIOp>(
          plan.loop.getLowerBound(),
          b.createOrFold<arith::MulIOp>(plan.loop.getStep(), index(i)));
      Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, walked,
                                           plan.loop.getUpperBound());
      TensorLoadOp::create(
          b, ring.box.map,
          getIndices(ring.box, getRowAt(b, plan, ring.load, walked)),
          tile::getSlot(b, b.getLoc(), ring.ring, index(i)), ring.full,
          index(i), exists);
    }
}

/// The group has read all of the last chunk, by now with all its warps: its
/// slots are for the chunk that is stages - 1 ahead, once other groups have
/// read them too. In the first iteration there is no last one, and no wait: the
/// parity is that of the phase before a signal's first.
void GroupBuilder::refill() {
  for (LoadRing &ring : plan.rings) {
    if (ring.refiller != group)
      continue;
    const int64_t ahead = plan.stages - 1;
    Value next = b.createOrFold<arith::AddIOp>(iteration, index(ahead));
    Value slot = getSlot(next, plan.stages);
    if (ring.isReadByOthers())
      SignalWaitOp::create(
          b, ring.vacant, slot,
          getParity(b.createOrFold<arith::AddIOp>(next, index(plan.stages)),
                    plan.stages));
    Value walked = b.createOrFold<arith::AddIOp>(
        row, b.createOrFold<arith::MulIOp>(plan.loop.getStep(), index(ahead)));
    Value exists = arith::AndIOp::create(
        b,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, row,
                              plan.loop.getLowerBound()),
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, walked,
                              plan.loop.getUpperBound()));
    TensorLoadOp::create(
        b, ring.box.map,
        getIndices(ring.box, getRowAt(b, plan, ring.load, walked)),
        tile::getSlot(b, b.getLoc(), ring.ring, slot), ring.full, slot, exists);
  }
}

/// Tells other groups that this one has read what is theirs to fill.
void GroupBuilder::release() {
  for (LoadRing &ring : plan.rings)
    if (ring.refiller != group && llvm::is_contained(ring.readers, group))
      SignalArriveOp::create(b, ring.vacant, getSlot(iteration, plan.stages));
  for (Exchange &exchange : plan.exchanges)
    if (llvm::is_contained(exchange.consumers, group)) {
      Value slot = getSlot(iteration, exchange.getSlots());
      ArriveOp::create(
          b, b.createOrFold<arith::AddIOp>(index(exchange.read), slot),
          exchange.getThreads());
    }
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
