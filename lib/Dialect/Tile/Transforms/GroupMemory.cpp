//===- GroupMemory.cpp - what a group does in shared memory -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rings of copies, tiles that groups hand over, and stores from them.
//
//===----------------------------------------------------------------------===//

#include "BufferAllocator.h"
#include "GroupBuilder.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

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
