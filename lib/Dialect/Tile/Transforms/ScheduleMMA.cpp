//===- ScheduleMMA.cpp - shared memory of mma.sync kernels ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAllocator.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::hla::tile {
#define GEN_PASS_DEF_HLATILESCHEDULEMMA
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::hla::tile

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

static SmemAttr getSmem(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? dyn_cast_or_null<SmemAttr>(type.getEncoding()) : SmemAttr();
}

/// Whether a tile is to be rounded after its copies.
static bool roundsWhatItLoads(LoadOp load) {
  return getElementTypeOrSelf(load.getTile()) !=
         getElementTypeOrSelf(load.getView());
}

namespace {

/// Loads of one loop, as copies into rings; those of columns, as values that it
/// carries.
class LoopPipeliner {
public:
  LoopPipeliner(scf::ForOp loop, int64_t stages, BufferAllocator &allocator)
      : loop(loop), stages(stages), allocator(allocator) {
    for (auto load : loop.getBody()->getOps<LoadOp>())
      (getSmem(load.getTile()) ? loads : columns).push_back(load);
    llvm::erase_if(columns, [&](LoadOp load) {
      return !isa_and_nonnull<LaneAttr>(
                 load.getTile().getType().getEncoding()) ||
             !isKnownAhead(load);
    });
  }

  LogicalResult run();

private:
  /// Whether a value depends on nothing of the loop but its induction variable.
  bool isKnownAhead(Value value);
  /// Whether what a load reads in an iteration is known ahead of it.
  bool isKnownAhead(LoadOp load) {
    return loop.isDefinedOutsideOfLoop(load.getView()) &&
           (!load.getSlice() || loop.isDefinedOutsideOfLoop(load.getSlice())) &&
           isKnownAhead(load.getRow());
  }
  LogicalResult verify();
  /// The induction variable `distance` iterations after `iv`.
  Value advance(ImplicitLocOpBuilder &b, Value iv, int64_t distance);
  /// A value that is known ahead, for the iteration whose induction variable
  /// `mapping` has.
  Value rematerialize(OpBuilder &b, IRMapping &mapping, Value value);
  /// Loads columns one iteration ahead.
  void prefetchColumns();
  /// Begins the copies for the iteration `distance` after that of `iv`, into
  /// its slots, and commits them.
  void copy(ImplicitLocOpBuilder &b, Value iv, int64_t distance);
  /// The slot of an iteration: its number modulo the stages.
  Value slotIndex(ImplicitLocOpBuilder &b, Value iv);

  scf::ForOp loop;
  int64_t stages;
  BufferAllocator &allocator;
  SmallVector<LoadOp> loads, columns;
  SmallVector<Value> rings;
};

} // namespace

bool LoopPipeliner::isKnownAhead(Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  Operation *definition = value.getDefiningOp();
  return definition && isPure(definition) && definition->getNumRegions() == 0 &&
         llvm::all_of(definition->getOperands(),
                      [&](Value operand) { return isKnownAhead(operand); });
}

LogicalResult LoopPipeliner::verify() {
  for (LoadOp load : loads)
    if (!isKnownAhead(load))
      return load.emitOpError("expected a view from outside of the loop and a "
                              "row that only its induction variable changes "
                              "(copies run ahead), but got ")
             << load.getView() << " and " << load.getRow();
  return success();
}

Value LoopPipeliner::advance(ImplicitLocOpBuilder &b, Value iv,
                             int64_t distance) {
  if (distance == 0)
    return iv;
  return arith::AddIOp::create(
      b, iv,
      arith::MulIOp::create(b, loop.getStep(),
                            arith::ConstantIndexOp::create(b, distance)));
}

Value LoopPipeliner::rematerialize(OpBuilder &b, IRMapping &mapping,
                                   Value value) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *definition = value.getDefiningOp();
  if (!definition || definition->getBlock() != loop.getBody())
    return value;
  for (Value operand : definition->getOperands())
    mapping.map(operand, rematerialize(b, mapping, operand));
  return b.clone(*definition, mapping)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

/// A column goes straight into registers. Loaded where it is needed, it would
/// be waited for; so an iteration loads that of the next one, and the loop
/// carries it. Past the last token there is nothing to load.
void LoopPipeliner::prefetchColumns() {
  if (columns.empty())
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto loadAt = [&](LoadOp load, IRMapping &mapping) -> Value {
    return LoadOp::create(b, load.getTile().getType(), load.getView(),
                          rematerialize(b, mapping, load.getRow()),
                          load.getSlice());
  };
  SmallVector<Value> first;
  IRMapping atFirst;
  atFirst.map(loop.getInductionVar(), loop.getLowerBound());
  for (LoadOp load : columns)
    first.push_back(loadAt(load, atFirst));
  auto getNext = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
    b.setInsertionPoint(columns.front());
    IRMapping atNext;
    atNext.map(loop.getInductionVar(),
               advance(b, loop.getInductionVar(), /*distance=*/1));
    SmallVector<Value> next;
    for (LoadOp load : columns) {
      b.setInsertionPoint(load);
      next.push_back(loadAt(load, atNext));
    }
    for (auto [load, column] : llvm::zip(columns, carried)) {
      load.replaceAllUsesWith(column);
      load.erase();
    }
    return next;
  };
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, getNext);
  loop = cast<scf::ForOp>(carrying->getOperation());
}

Value LoopPipeliner::slotIndex(ImplicitLocOpBuilder &b, Value iv) {
  if (stages == 1)
    return arith::ConstantIndexOp::create(b, 0);
  Value iteration = arith::DivUIOp::create(
      b, arith::SubIOp::create(b, iv, loop.getLowerBound()), loop.getStep());
  return arith::RemUIOp::create(b, iteration,
                                arith::ConstantIndexOp::create(b, stages));
}

void LoopPipeliner::copy(ImplicitLocOpBuilder &b, Value iv, int64_t distance) {
  iv = advance(b, iv, distance);
  // What the loads' rows are computed from, for that iteration.
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), iv);
  Value slot = slotIndex(b, iv);
  for (auto [load, ring] : llvm::zip(loads, rings))
    CopyAsyncOp::create(b, load.getView(),
                        rematerialize(b, mapping, load.getRow()),
                        getSlot(b, b.getLoc(), ring, slot), load.getSlice());
  CopyCommitOp::create(b);
}

/// Replaces a tile in shared memory by its buffer, and conversions of it into
/// fragments by reads.
static void replaceByBuffer(Value tile, Value buffer) {
  for (OpOperand &use : llvm::make_early_inc_range(tile.getUses())) {
    auto convert = dyn_cast<ConvertLayoutOp>(use.getOwner());
    if (!convert) {
      use.set(buffer);
      continue;
    }
    OpBuilder b(convert);
    convert.replaceAllUsesWith(
        ReadOp::create(b, convert.getLoc(), convert.getType(), buffer)
            .getResult());
    convert.erase();
  }
}

/// Whether an operation, or one inside of it, has a buffer as an operand.
static bool readsBuffer(Operation &op) {
  return op
      .walk([](Operation *inner) {
        bool reads = !isa<SlotOp, CopyAsyncOp>(inner) &&
                     llvm::any_of(inner->getOperands(), [](Value operand) {
                       return operand.getDefiningOp<SlotOp>();
                     });
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// With s stages, iteration i begins the copies of iteration i+s-1, into the
/// slots that iteration i-1 has read:
///
///   copies of 0 … s-2
///   for i:  wait for the copies of i; barrier; begin those of i+s-1; compute
///
/// With one stage a chunk is copied when the last one has been read.
LogicalResult LoopPipeliner::run() {
  prefetchColumns();
  if (loads.empty())
    return success();
  if (failed(verify()))
    return failure();
  for (LoadOp load : loads)
    rings.push_back(
        allocator.allocate(load.getLoc(), load.getTile().getType(), stages));
  const int64_t ahead = stages - 1;

  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (int64_t i = 0; i < ahead; ++i)
    copy(b, loop.getLowerBound(), i);

  b.setInsertionPointToStart(loop.getBody());
  Value iv = loop.getInductionVar();
  if (ahead == 0) {
    BarrierOp::create(b);
    copy(b, iv, 0);
  }
  CopyWaitOp::create(b, b.getI64IntegerAttr(std::max<int64_t>(ahead - 1, 0)));
  auto arrived = BarrierOp::create(b);
  if (ahead > 0)
    copy(b, iv, ahead);
  if (llvm::any_of(loads, roundsWhatItLoads))
    b.setInsertionPoint(arrived);
  Value slot = slotIndex(b, iv);
  SmallVector<Value> buffers;
  for (auto [load, ring] : llvm::zip(loads, rings)) {
    buffers.push_back(getSlot(b, load.getLoc(), ring, slot));
    if (roundsWhatItLoads(load))
      RoundOp::create(b, load.getLoc(), buffers.back());
  }
  for (auto [load, buffer] : llvm::zip(loads, buffers)) {
    replaceByBuffer(load.getTile(), buffer);
    load.erase();
  }
  return success();
}

/// Loads outside of any loop: those of a sequence that is known to be one
/// chunk. All are begun where they stand, and waited for where the first is
/// needed.
static void copyOnce(Block &block, BufferAllocator &allocator) {
  // Whether the copy's buffer is to be rounded.
  llvm::SmallDenseMap<Operation *, bool> copies;
  for (LoadOp load : llvm::to_vector(block.getOps<LoadOp>())) {
    if (!getSmem(load.getTile()))
      continue;
    ImplicitLocOpBuilder b(load.getLoc(), load);
    Value ring = allocator.allocate(b.getLoc(), load.getTile().getType(), 1);
    Value buffer =
        getSlot(b, b.getLoc(), ring, arith::ConstantIndexOp::create(b, 0));
    auto copy = CopyAsyncOp::create(b, load.getView(), load.getRow(), buffer,
                                    load.getSlice());
    copies[copy] = roundsWhatItLoads(load);
    replaceByBuffer(load.getTile(), buffer);
    load.erase();
  }
  bool isPending = false;
  SmallVector<Value> unrounded;
  for (Operation &op : block) {
    if (auto copy = dyn_cast<CopyAsyncOp>(op); copy && copies.contains(copy)) {
      isPending = true;
      if (copies.lookup(copy))
        unrounded.push_back(copy.getBuffer());
    }
    if (!isPending || !readsBuffer(op))
      continue;
    ImplicitLocOpBuilder b(op.getLoc(), &op);
    CopyCommitOp::create(b);
    CopyWaitOp::create(b, b.getI64IntegerAttr(0));
    for (Value buffer : unrounded)
      RoundOp::create(b, buffer);
    unrounded.clear();
    BarrierOp::create(b);
    isPending = false;
  }
}

/// Gives a tile that `warps` warps exchange a buffer of its own.
static void exchange(ConvertLayoutOp convert, int64_t warps,
                     BufferAllocator &allocator) {
  Location loc = convert.getLoc();
  OpBuilder b(convert);
  Value ring = allocator.allocate(loc, convert.getType(), 1);
  Value buffer =
      getSlot(b, loc, ring, arith::ConstantIndexOp::create(b, loc, 0));
  auto frag = cast<FragAttr>(convert.getSource().getType().getEncoding());
  WriteOp::create(b, loc, convert.getSource(), buffer,
                  /*once=*/frag.getWarps() < warps);
  replaceByBuffer(convert.getResult(), buffer);
  convert.erase();
}

/// Gives a sum of rows a place where warps exchange its parts: one f32 a row
/// for every warp that has a part of it.
static void exchange(SumRowsOp sum, BufferAllocator &allocator) {
  RankedTensorType type = sum.getSource().getType();
  auto frag = cast<FragAttr>(type.getEncoding());
  const int64_t parts =
      frag.getTransposed() ? frag.getRowWarps() : frag.getColWarps();
  sum.setOffset(allocator.reserve(parts * type.getDimSize(0) * 4));
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

namespace {

/// Inserts barriers between accesses of one buffer by different warps. Rings of
/// copies are not among them: the head of the loop takes care of those.
class BarrierInserter {
public:
  /// Inserts what a block needs, beginning and ending with accesses pending.
  LogicalResult run(Block &block);
  unsigned getNumInserted() const { return numInserted; }

private:
  using Buffers = llvm::SmallDenseSet<Operation *, 8>;

  void visit(Operation &op);
  static Operation *getExchange(Value operand);

  /// Buffers written, and read, since the last barrier.
  Buffers written, read;
  unsigned numInserted = 0;
};

} // namespace

/// The allocation behind an operand, where it is not a ring of copies.
Operation *BarrierInserter::getExchange(Value operand) {
  auto slot = operand.getDefiningOp<SlotOp>();
  if (!slot)
    return nullptr;
  Operation *alloc = slot.getRing().getDefiningOp();
  bool isCopied = llvm::any_of(alloc->getUsers(), [](Operation *user) {
    return llvm::any_of(user->getUsers(), llvm::IsaPred<CopyAsyncOp>);
  });
  return isCopied ? nullptr : alloc;
}

void BarrierInserter::visit(Operation &op) {
  Buffers reads, writes;
  if (isa<SumRowsOp>(op))
    writes.insert(&op);
  for (Value operand : op.getOperands())
    if (Operation *alloc = getExchange(operand))
      (isa<WriteOp>(op) ? writes : reads).insert(alloc);
  auto meets = [](const Buffers &accesses, const Buffers &pending) {
    return llvm::any_of(
        accesses, [&](Operation *alloc) { return pending.contains(alloc); });
  };
  if (meets(reads, written) || meets(writes, written) || meets(writes, read)) {
    OpBuilder b(&op);
    BarrierOp::create(b, op.getLoc());
    ++numInserted;
    written.clear();
    read.clear();
  }
  if (isa<SumRowsOp>(op)) {
    // All warps meet inside of it, between writing and reading.
    written.clear();
    read.clear();
    read.insert(&op);
    return;
  }
  read.insert(reads.begin(), reads.end());
  written.insert(writes.begin(), writes.end());
}

LogicalResult BarrierInserter::run(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<BarrierOp>(op)) {
      written.clear();
      read.clear();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      Buffers writtenBefore = written, readBefore = read;
      // Twice: the second time, the body follows itself.
      if (failed(run(*loop.getBody())) || failed(run(*loop.getBody())))
        return failure();
      // Or not at all.
      written.insert(writtenBefore.begin(), writtenBefore.end());
      read.insert(readBefore.begin(), readBefore.end());
    } else if (op.getNumRegions() != 0 &&
               op.walk([](Operation *inner) {
                   return WalkResult(failure(isa<SlotOp, SumRowsOp>(inner)));
                 }).wasInterrupted()) {
      return op.emitOpError("expected tiles in shared memory in loops only "
                            "(all warps meet at their barriers), but got them "
                            "in ")
             << op.getName();
    } else {
      visit(op);
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct ScheduleMMA : hla::tile::impl::HLATileScheduleMMABase<ScheduleMMA> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (!schedule || schedule.getGroups())
      return;
    BufferAllocator allocator(kernel);
    WalkResult loops = kernel.walk([&](scf::ForOp loop) {
      return WalkResult(
          LoopPipeliner(loop, schedule.getStages(), allocator).run());
    });
    if (loops.wasInterrupted())
      return signalPassFailure();
    copyOnce(kernel.getBody().front(), allocator);
    WalkResult loads = kernel.walk([](LoadOp load) {
      if (!getSmem(load.getTile()))
        return WalkResult::advance();
      load.emitOpError(
          "expected loads into shared memory in a loop over "
          "chunks, or in the kernel's block, but got one elsewhere");
      return WalkResult::interrupt();
    });
    if (loads.wasInterrupted())
      return signalPassFailure();
    kernel.walk([&](ConvertLayoutOp convert) {
      if (getSmem(convert.getResult()))
        exchange(convert, schedule.getWarps(), allocator);
    });
    kernel.walk([&](SumRowsOp sum) { exchange(sum, allocator); });
    BarrierInserter barriers;
    if (failed(barriers.run(kernel.getBody().front())))
      return signalPassFailure();
    numBarriers += barriers.getNumInserted();
    if (failed(allocator.finish()))
      signalPassFailure();
  }
};

} // namespace
