//===- ScheduleGroups.cpp - kernels of groups of warps ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAllocator.h"
#include "GroupBuilder.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::hla::tile {
#define GEN_PASS_DEF_HLATILESCHEDULEGROUPS
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::hla::tile

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// The tile that columns are of.
static Value getWhole(Value tile) {
  while (auto columns = tile.getDefiningOp<ColumnsOp>())
    tile = columns.getSource();
  return tile;
}

LoadRing *GroupPlan::findRing(Value tile) {
  auto load = getWhole(tile).getDefiningOp<LoadOp>();
  auto *it = llvm::find_if(
      rings, [&](const LoadRing &ring) { return ring.load == load; });
  return it == rings.end() ? nullptr : it;
}

Exchange *GroupPlan::findExchange(Value tile) {
  tile = getWhole(tile);
  auto *it = llvm::find_if(exchanges, [&](const Exchange &exchange) {
    return exchange.tile == tile || llvm::is_contained(exchange.parts, tile);
  });
  return it == exchanges.end() ? nullptr : it;
}

namespace {

/// Schedules one kernel, and its launch.
class KernelScheduler {
public:
  KernelScheduler(gpu::GPUFuncOp kernel, gpu::LaunchFuncOp launch)
      : kernel(kernel), launch(launch), b(kernel.getLoc(), kernel.getContext()),
        schedule(kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName)),
        allocator(kernel, /*alignment=*/kSwizzleBytes) {}

  LogicalResult run();

private:
  /// The copy engine's swizzle repeats after as many bytes.
  static constexpr int64_t kSwizzleBytes = 1024;

  FailureOr<scf::ForOp> findLoop();
  LogicalResult addRings();
  LogicalResult addExchanges();
  LogicalResult addStores();
  LogicalResult addEpilogue();
  void makeSignals();
  /// The groups whose operations read a tile in shared memory.
  SmallVector<int64_t> getReaders(Value tile);
  /// Where a tile of a view is in a tensor, as a box of it.
  FailureOr<TileBox> getBox(Operation *op, Value view, RankedTensorType tile,
                            Value slice);
  /// The kernel's argument that maps an argument in boxes.
  Value getMap(BlockArgument tensor, ArrayRef<int64_t> box);

  gpu::GPUFuncOp kernel;
  gpu::LaunchFuncOp launch;
  ImplicitLocOpBuilder b;
  ScheduleAttr schedule;
  BufferAllocator allocator;
  std::optional<GroupPartition> partition;
  std::optional<GroupPlan> plan;
  llvm::DenseMap<std::pair<Value, Type>, Value> maps;
};

} // namespace

FailureOr<scf::ForOp> KernelScheduler::findLoop() {
  auto loops = llvm::to_vector(kernel.getBody().getOps<scf::ForOp>());
  if (loops.size() != 1)
    return kernel.emitOpError("expected a loop over chunks (groups walk it), "
                              "but got ")
           << loops.size() << " loops";
  return loops.front();
}

Value KernelScheduler::getMap(BlockArgument tensor, ArrayRef<int64_t> box) {
  auto type =
      TensorMapType::get(kernel.getContext(), box,
                         cast<MemRefType>(tensor.getType()).getElementType());
  Value &map = maps[{tensor, type}];
  if (map)
    return map;
  OpBuilder host(launch);
  Value made =
      TensorMapOp::create(host, launch.getLoc(), type,
                          launch.getKernelOperand(tensor.getArgNumber()));
  launch.getKernelOperandsMutable().append(made);
  const unsigned position = kernel.getNumArguments();
  (void)kernel.insertArgument(position, type, DictionaryAttr(),
                              kernel.getLoc());
  return map = kernel.getArgument(position);
}

FailureOr<TileBox> KernelScheduler::getBox(Operation *op, Value view,
                                           RankedTensorType tile, Value slice) {
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  auto tensor =
      subview ? dyn_cast<BlockArgument>(subview.getSource()) : BlockArgument();
  if (!tensor || subview.getType().getRank() != 2)
    return op->emitOpError("expected a view of an argument of the kernel "
                           "(copies in boxes are of whole tensors), but got ")
           << view;
  TileBox box;
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  const unsigned rank = subview.getSourceType().getRank();
  SmallVector<int64_t> shape(rank, 1);
  box.indices = subview.getMixedOffsets();
  for (unsigned i = 0; i + 1 < rank; ++i)
    if (!dropped.test(i))
      box.rowDim = i;
  shape[box.rowDim] = tile.getDimSize(0);
  shape.back() = tile.getDimSize(1);
  if (slice) {
    b.setInsertionPoint(plan->loop);
    Value first = arith::MulIOp::create(
        b, slice, arith::ConstantIndexOp::create(b, tile.getDimSize(1)));
    box.indices.back() = first;
  }
  box.map = getMap(tensor, shape);
  return box;
}

SmallVector<int64_t> KernelScheduler::getReaders(Value tile) {
  llvm::SmallSetVector<int64_t, 4> readers;
  std::function<void(Value)> add = [&](Value value) {
    for (Operation *user : value.getUsers()) {
      if (isa<ColumnsOp>(user))
        add(user->getResult(0));
      else if (std::optional<int64_t> group = partition->getGroup(user))
        readers.insert(*group);
    }
  };
  add(tile);
  SmallVector<int64_t> sorted(readers.begin(), readers.end());
  llvm::sort(sorted);
  return sorted;
}

LogicalResult KernelScheduler::addRings() {
  for (auto load : plan->loop.getOps<LoadOp>()) {
    if (!isShared(load.getTile()))
      continue;
    FailureOr<TileBox> box =
        getBox(load, load.getView(), load.getTile().getType(), load.getSlice());
    if (failed(box))
      return failure();
    LoadRing ring;
    ring.load = load;
    ring.box = *box;
    ring.readers = getReaders(load.getTile());
    if (ring.readers.empty())
      continue;
    ring.refiller = ring.readers.back();
    ring.ring = allocator.allocate(load.getLoc(), load.getTile().getType(),
                                   plan->stages);
    plan->rings.push_back(ring);
  }
  return success();
}

LogicalResult KernelScheduler::addExchanges() {
  // Barrier 0 is the block's, and each group has one.
  constexpr int64_t kNumBarriers = 16;
  int64_t barrier = 1 + schedule.getGroups();
  for (auto convert : plan->loop.getOps<ConvertLayoutOp>()) {
    Value tile = convert.getResult();
    if (!isShared(tile) || plan->findExchange(tile))
      continue;
    Exchange exchange;
    exchange.producer = *partition->getGroup(convert);
    exchange.parts = {tile};
    for (Operation *user : tile.getUsers())
      if (auto concat = dyn_cast<ConcatOp>(user)) {
        exchange.parts.assign(concat.getParts().begin(),
                              concat.getParts().end());
        tile = concat.getResult();
      }
    exchange.tile = tile;
    for (int64_t reader : getReaders(tile)) {
      if (reader == exchange.producer)
        exchange.isReadByProducer = true;
      else
        exchange.consumers.push_back(reader);
    }
    if (exchange.isHandedOver()) {
      exchange.written = barrier;
      exchange.read = barrier + exchange.getSlots();
      barrier += 2 * exchange.getSlots();
    }
    exchange.ring = allocator.allocate(convert.getLoc(),
                                       cast<RankedTensorType>(tile.getType()),
                                       exchange.getSlots());
    plan->exchanges.push_back(exchange);
  }
  if (barrier <= kNumBarriers)
    return success();
  return kernel.emitOpError("expected a schedule whose groups need at most ")
         << kNumBarriers << " named barriers, but got " << schedule
         << ", which needs " << barrier;
}

LogicalResult KernelScheduler::addStores() {
  for (auto store : plan->loop.getOps<StoreOp>()) {
    if (!isShared(store.getTile()))
      continue;
    FailureOr<TileBox> box = getBox(
        store, store.getView(),
        cast<RankedTensorType>(store.getTile().getType()), store.getSlice());
    if (failed(box))
      return failure();
    plan->stores[store] = *box;
  }
  return success();
}

/// What follows the loop and needs none of its results goes before it; the rest
/// is the group's that has the state.
LogicalResult KernelScheduler::addEpilogue() {
  llvm::DenseMap<Value, int64_t> owners;
  for (auto [state, result] :
       llvm::zip(plan->loop.getRegionIterArgs(), plan->loop.getResults()))
    if (isFragment(state))
      owners[result] = partition->getGroup(state);
  auto it = std::next(plan->loop->getIterator());
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(it, kernel.getBody().front().end()))) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    std::optional<int64_t> owner;
    for (Value operand : op.getOperands())
      if (auto found = owners.find(operand); found != owners.end())
        owner = found->second;
    if (!owner) {
      op.moveBefore(plan->loop);
      continue;
    }
    if (llvm::any_of(op.getResults(), isShared))
      return op.emitOpError("expected states to leave the kernel from "
                            "registers, in f32, but got ")
             << op.getResult(0).getType();
    for (Value result : op.getResults())
      owners[result] = *owner;
    plan->epilogue.push_back({&op, *owner});
  }
  return success();
}

void KernelScheduler::makeSignals() {
  for (LoadRing &ring : plan->rings) {
    auto type = SignalsType::get(kernel.getContext(), plan->stages);
    auto make = [&](int64_t arrivals) -> Value {
      return SignalsOp::create(b, type, arrivals,
                               allocator.reserve(8 * plan->stages));
    };
    ring.full = make(1);
    if (ring.isReadByOthers())
      ring.vacant = make(GroupsOp::kWarps * (ring.readers.size() - 1));
  }
  BarrierOp::create(b);
}

LogicalResult KernelScheduler::run() {
  FailureOr<scf::ForOp> loop = findLoop();
  if (failed(loop))
    return failure();
  partition.emplace(*loop, schedule.getGroups());
  if (failed(partition->run()))
    return failure();
  TargetAttr target = TargetAttr::lookup(kernel);
  const int64_t registers =
      target ? target.getInfo().getRegistersPerThread(schedule.getWarps(),
                                                      schedule.getBlocks())
             : 255;
  plan.emplace(*loop, *partition, schedule.getStages(), registers);
  if (failed(addRings()) || failed(addExchanges()) || failed(addStores()) ||
      failed(addEpilogue()))
    return failure();

  b.setInsertionPoint(*loop);
  makeSignals();
  auto groups = GroupsOp::create(b, schedule.getGroups());
  for (auto [i, region] : llvm::enumerate(groups.getGroups())) {
    Block *block = &region.emplaceBlock();
    OpBuilder inner = OpBuilder::atBlockBegin(block);
    GroupBuilder(*plan, i, inner).build();
  }
  for (auto &[op, owner] : llvm::reverse(plan->epilogue))
    op->erase();
  loop->erase();
  return allocator.finish();
}

namespace {

struct ScheduleGroups
    : hla::tile::impl::HLATileScheduleGroupsBase<ScheduleGroups> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
      auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          launch, launch.getKernel());
      auto schedule =
          kernel ? kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName)
                 : ScheduleAttr();
      if (!schedule || schedule.getGroups() == 0)
        return WalkResult::advance();
      return WalkResult(KernelScheduler(kernel, launch).run());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
