//===- AssignLayouts.cpp - layouts of a kernel's tiles ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace mlir::hla::tile {
#define GEN_PASS_DEF_HLATILEASSIGNLAYOUTS
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::hla::tile

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

static RankedTensorType getTileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static FragAttr getFrag(Value tile) {
  return dyn_cast_or_null<FragAttr>(getTileType(tile).getEncoding());
}

static bool isInLanes(Value tile) {
  return isa_and_nonnull<LaneAttr>(getTileType(tile).getEncoding());
}

/// One number a token.
static bool isColumn(Value tile) {
  return getTileType(tile).getDimSize(1) == 1;
}

static bool is16Bit(Value tile) {
  return getTileType(tile).getElementTypeBitWidth() == 16;
}

static bool isOperand(Value tile) {
  return llvm::any_of(tile.getUses(), [](OpOperand &use) {
    return isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
  });
}

/// Whether a tile that is an operand of `dot` is stored transposed where it is
/// the A operand of the instruction. A product stored by rows, `D = lhs·rhs`,
/// has lhs as its A operand; stored transposed, `Dᵀ = rhsᵀ·lhsᵀ`, it has rhsᵀ.
static bool isTransposedAsA(DotOp dot, bool isRhs) {
  return isRhs ? !dot.getTransposeRhs() : dot.getTransposeLhs();
}

/// The operand of a dot that a state reaches through elementwise operations, as
/// the first use in program order, or null.
static OpOperand *findProduct(Value state) {
  for (OpOperand &use : state.getUses()) {
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<DotOp>(user)) {
      if (use.getOperandNumber() < 2)
        return &use;
      continue;
    }
    if (user->hasTrait<OpTrait::Elementwise>() || isa<DecayOp>(user))
      if (OpOperand *product = findProduct(user->getResult(0)))
        return product;
  }
  return nullptr;
}

/// An operation on the elements of fragments of one layout, columns aside.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<DecayOp, MaskOp>(op);
}

/// Whether a tile can be had in any layout at no exchange: it is computed, one
/// by one, from what can be, and from no product. Tiles are loaded, from shared
/// memory too, in any layout; a column is in all warps.
static bool isFree(Value tile) {
  Attribute layout = getTileType(tile).getEncoding();
  if (!layout || isa<SmemAttr, LaneAttr>(layout))
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (matchPattern(tile, m_Constant()) || isa<tensor::SplatOp, LoadOp>(op))
    return true;
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return isFree(convert.getSource());
  if (!isElementwise(op) && !isa<BroadcastOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [](Value operand) {
    return !getTileType(operand) || isFree(operand);
  });
}

/// Whether a tile is computed, one by one, from a state.
static bool isOfState(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op)
    return true;
  return isElementwise(op) &&
         llvm::any_of(op->getOperands(), [](Value operand) {
           return getTileType(operand) && getFrag(operand) &&
                  isOfState(operand);
         });
}

namespace {

/// Walks a kernel in program order, giving results their layouts and converting
/// operands to what an operation needs.
class LayoutAssigner {
public:
  LayoutAssigner(gpu::GPUFuncOp kernel, ScheduleAttr schedule)
      : kernel(kernel), chunk(schedule.getChunk()),
        hasGroups(schedule.getGroups() != 0), b(kernel.getContext()) {
    // Those that share a tile.
    warps = hasGroups ? ScheduleAttr::kWarpsOfGroup : schedule.getWarps();
  }

  LogicalResult run() { return assign(kernel.getBody().front()); }

private:
  LogicalResult assign(Block &block);
  LogicalResult assign(scf::ForOp loop);
  void assign(DotOp dot);
  void assign(LoadOp load);
  void assign(StoreOp store);
  LogicalResult assignElementwise(Operation *op);

  /// A fragment in which as many warps as possible have rows of their own, and
  /// the others columns; where there are more than pieces, several have the
  /// same.
  FragAttr getFragFor(RankedTensorType type, bool transposed);
  SmemAttr getSmem(Order order) { return SmemAttr::get(b.getContext(), order); }
  FragAttr getStateLayout(Value state);
  FragAttr getProductLayout(DotOp dot);

  void setLayout(Value tile, Attribute layout) {
    RankedTensorType type = getTileType(tile);
    tile.setType(
        RankedTensorType::get(type.getShape(), type.getElementType(), layout));
  }
  /// Replaces an operand by the same tile in another layout.
  void require(OpOperand &operand, Attribute layout);
  /// Computes a free tile again, in another layout.
  Value recompute(Value tile, RankedTensorType wanted);
  void requireSmem(OpOperand &operand);
  /// A column is in lanes, and so is what is computed of columns.
  void assignColumns(Operation *op);
  /// Between a column and a fragment.
  void assignRows(Operation *op);

  gpu::GPUFuncOp kernel;
  int64_t warps, chunk;
  /// Whether what another scan computes is handed over, in shared memory.
  bool hasGroups;
  OpBuilder b;
};

} // namespace

FragAttr LayoutAssigner::getFragFor(RankedTensorType type, bool transposed) {
  const int64_t rows = type.getDimSize(transposed ? 1 : 0),
                cols = type.getDimSize(transposed ? 0 : 1),
                rowWarps = std::clamp<int64_t>(rows / 16, 1, warps),
                colWarps = std::clamp<int64_t>(cols / 8, 1, warps / rowWarps);
  return FragAttr::get(b.getContext(), rowWarps, colWarps, transposed);
}

/// The layout in which the product that reads the state finds it in registers.
FragAttr LayoutAssigner::getStateLayout(Value state) {
  OpOperand *use = findProduct(state);
  // Where none does, groups have it as others: what is added to it is in shared
  // memory then, where another group may put it.
  bool transposed = use ? isTransposedAsA(cast<DotOp>(use->getOwner()),
                                          use->getOperandNumber() == 1)
                        : hasGroups;
  FragAttr frag = getFragFor(getTileType(state), transposed);
  // A warp puts a new state in memory where it has read the old one: no other
  // may read that, and a state that warps cannot share is refused. What has a
  // row for each token may be no state.
  if (getTileType(state).getDimSize(0) == chunk)
    return frag;
  return FragAttr::get(b.getContext(), frag.getRowWarps(),
                       warps / frag.getRowWarps(), transposed);
}

FragAttr LayoutAssigner::getProductLayout(DotOp dot) {
  if (!dot.getAcc().getDefiningOp<arith::ConstantOp>())
    return getFrag(dot.getAcc());
  // An operand that is in registers, as a whole row block a warp, and stored as
  // an A operand is, can stay there if the product has the same row blocks.
  for (OpOperand *operand : {&dot.getRhsMutable(), &dot.getLhsMutable()}) {
    bool isRhs = operand == &dot.getRhsMutable();
    FragAttr frag = getFrag(operand->get());
    if (!frag || frag.getColWarps() != 1 || frag.getRowWarps() != warps ||
        frag.getTransposed() != isTransposedAsA(dot, isRhs))
      continue;
    return FragAttr::get(b.getContext(), warps, 1, isRhs);
  }
  return getFragFor(dot.getType(), /*transposed=*/false);
}

void LayoutAssigner::require(OpOperand &operand, Attribute layout) {
  Value tile = operand.get();
  RankedTensorType type = getTileType(tile);
  if (type.getEncoding() == layout)
    return;
  auto wanted =
      RankedTensorType::get(type.getShape(), type.getElementType(), layout);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(operand.getOwner());
  DenseElementsAttr constant;
  if (matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    operand.set(arith::ConstantOp::create(b, tile.getLoc(),
                                          constant.resizeSplat(wanted)));
    return;
  }
  if (auto splat = tile.getDefiningOp<tensor::SplatOp>())
    return operand.set(
        tensor::SplatOp::create(b, tile.getLoc(), wanted, splat.getInput()));
  if (getFrag(tile) && isa<FragAttr>(layout) && isFree(tile))
    return operand.set(recompute(tile, wanted));
  // Right after the tile's definition, so that one conversion serves all uses.
  if (Operation *definition = tile.getDefiningOp())
    b.setInsertionPointAfter(definition);
  else
    b.setInsertionPointToStart(cast<BlockArgument>(tile).getOwner());
  for (Operation *user : tile.getUsers())
    if (auto convert = dyn_cast<ConvertLayoutOp>(user);
        convert && convert.getType() == wanted)
      return operand.set(convert);
  operand.set(ConvertLayoutOp::create(b, tile.getLoc(), wanted, tile));
}

Value LayoutAssigner::recompute(Value tile, RankedTensorType wanted) {
  Operation *op = tile.getDefiningOp();
  OpBuilder::InsertionGuard guard(b);
  if (auto convert = dyn_cast<ConvertLayoutOp>(op)) {
    b.setInsertionPointAfter(convert);
    return ConvertLayoutOp::create(b, tile.getLoc(), wanted,
                                   convert.getSource());
  }
  b.setInsertionPointAfter(op);
  Operation *again = b.clone(*op);
  again->getResult(0).setType(wanted);
  for (OpOperand &operand : again->getOpOperands())
    if (getTileType(operand.get()) && !isInLanes(operand.get()))
      require(operand, wanted.getEncoding());
  return again->getResult(0);
}

/// In shared memory, stored as the fragment is: its rows are then written
/// whole.
void LayoutAssigner::requireSmem(OpOperand &operand) {
  if (FragAttr frag = getFrag(operand.get()))
    require(operand, getSmem(frag.getTransposed() ? Order::Col : Order::Row));
}

void LayoutAssigner::assign(DotOp dot) {
  FragAttr layout = getProductLayout(dot);
  require(dot.getAccMutable(), layout);
  setLayout(dot.getResult(), layout);
  // Stored transposed, Dᵀ = rhsᵀ·lhsᵀ: rhs is the A operand.
  bool isRhsA = layout.getTransposed();
  OpOperand &a = isRhsA ? dot.getRhsMutable() : dot.getLhsMutable();
  OpOperand &bOperand = isRhsA ? dot.getLhsMutable() : dot.getRhsMutable();
  requireSmem(bOperand);
  FragAttr frag = getFrag(a.get());
  bool staysInRegisters =
      frag && layout.getColWarps() == 1 && frag.getColWarps() == 1 &&
      frag.getRowWarps() == layout.getRowWarps() &&
      frag.getTransposed() == isTransposedAsA(dot, isRhsA) &&
      (!hasGroups || isFree(a.get()) || isOfState(a.get()));
  if (!staysInRegisters)
    requireSmem(a);
}

void LayoutAssigner::assignColumns(Operation *op) {
  auto lanes = LaneAttr::get(b.getContext());
  for (OpOperand &operand : op->getOpOperands())
    if (getTileType(operand.get()))
      require(operand, lanes);
  for (Value result : op->getResults())
    setLayout(result, lanes);
}

void LayoutAssigner::assignRows(Operation *op) {
  OpOperand &source = op->getOpOperand(0);
  auto lanes = LaneAttr::get(b.getContext());
  if (isa<BroadcastOp>(op)) {
    require(source, lanes);
    Value tile = op->getResult(0);
    return setLayout(tile, getFragFor(getTileType(tile), /*transposed=*/false));
  }
  if (!getFrag(source.get()))
    require(source,
            getFragFor(getTileType(source.get()), /*transposed=*/false));
  setLayout(op->getResult(0), lanes);
}

void LayoutAssigner::assign(LoadOp load) {
  Value tile = load.getTile();
  if (load.getView().getType().getRank() == 1)
    return assignColumns(load);
  // The rows of a chunk that products read; a state may have as many, but then
  // it is small. Fragments are loaded as f32 alone: what is rounded is copied,
  // whoever reads it.
  const bool isSequence =
      getTileType(tile).getDimSize(0) == chunk && isOperand(tile);
  if (!getTileType(tile).getElementType().isF32() || isSequence)
    return setLayout(tile, getSmem(Order::Row));
  // An initial state is loaded as the loop carries it.
  for (OpOperand &use : tile.getUses())
    if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
      return setLayout(tile,
                       getStateLayout(loop.getTiedLoopRegionIterArg(&use)));
  setLayout(tile, getStateLayout(tile));
}

void LayoutAssigner::assign(StoreOp store) {
  if (store.getView().getType().getRank() == 1)
    return assignColumns(store);
  if (is16Bit(store.getTile()))
    require(store.getTileMutable(), getSmem(Order::Row));
}

LogicalResult LayoutAssigner::assignElementwise(Operation *op) {
  if (isColumn(op->getResult(0))) {
    assignColumns(op);
    return success();
  }
  // That of a product, if one is among the operands.
  FragAttr layout;
  for (Value operand : op->getOperands())
    if (getTileType(operand) && getFrag(operand) &&
        (!layout || !isFree(operand)))
      layout = getFrag(operand);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!getTileType(operand.get()) || isInLanes(operand.get()))
      continue;
    if (!layout)
      layout = getFragFor(getTileType(operand.get()), /*transposed=*/false);
    require(operand, layout);
  }
  for (Value result : op->getResults())
    if (getTileType(result))
      setLayout(result, layout);
  return success();
}

LogicalResult LayoutAssigner::assign(scf::ForOp loop) {
  for (OpOperand &init : loop.getInitArgsMutable()) {
    if (!getTileType(init.get()))
      continue;
    BlockArgument state = loop.getTiedLoopRegionIterArg(&init);
    Attribute layout = isColumn(state)
                           ? Attribute(LaneAttr::get(b.getContext()))
                           : getStateLayout(state);
    require(init, layout);
    setLayout(state, layout);
    setLayout(loop.getTiedLoopResult(&init), layout);
  }
  if (failed(assign(*loop.getBody())))
    return failure();
  for (auto [yielded, state] :
       llvm::zip(loop.getBody()->getTerminator()->getOpOperands(),
                 loop.getRegionIterArgs()))
    if (getTileType(state))
      require(yielded, getTileType(state).getEncoding());
  return success();
}

/// Whether a tile has its layout: all but constants, and others with one number
/// everywhere, get it where they are defined.
static bool hasLayout(Value tile) {
  return getTileType(tile).getEncoding() || matchPattern(tile, m_Constant()) ||
         tile.getDefiningOp<tensor::SplatOp>();
}

LogicalResult LayoutAssigner::assign(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    for (Value operand : op.getOperands())
      if (getTileType(operand) && !hasLayout(operand))
        return op.emitOpError(
                   "expected tiles that the kernel loads or computes "
                   "(others have no layout), but got ")
               << operand;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(assign(loop)))
        return failure();
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      assign(dot);
    } else if (auto load = dyn_cast<LoadOp>(op)) {
      assign(load);
    } else if (auto store = dyn_cast<StoreOp>(op)) {
      assign(store);
    } else if (isa<RampOp, PrefixSumOp>(op)) {
      assignColumns(&op);
    } else if (isa<BroadcastOp, SumRowsOp>(op)) {
      assignRows(&op);
    } else if (isa<arith::ConstantOp, tensor::SplatOp, ConvertLayoutOp>(op)) {
      // Constants take the layout that each use requires.
    } else if (llvm::any_of(op.getOperands(), getTileType)) {
      if (!isElementwise(&op) && !isa<CausalOp>(op))
        return op.emitOpError("expected an operation on tiles that has a "
                              "layout, but got ")
               << op.getName();
      if (failed(assignElementwise(&op)))
        return failure();
    }
  }
  return success();
}

namespace {

struct AssignLayouts
    : hla::tile::impl::HLATileAssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (!schedule)
      return;
    if (failed(LayoutAssigner(kernel, schedule).run()))
      return signalPassFailure();
    if (failed(verifyFragments(kernel)))
      return signalPassFailure();
    // The way from one fragment to another is through shared memory, which an
    // operation asks for where it needs the tile there.
    WalkResult result = kernel.walk([](ConvertLayoutOp convert) {
      if (!getFrag(convert.getSource()) || !getFrag(convert.getResult()))
        return WalkResult::advance();
      convert.emitOpError("expected a tile to stay in one layout in registers, "
                          "but got ")
          << convert.getSource().getType() << " and " << convert.getType();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Fails if warps cannot share a tile: it is too small, or its size odd.
  static LogicalResult verifyFragments(gpu::GPUFuncOp kernel) {
    WalkResult result = kernel.walk([](Operation *op) {
      for (Value value : op->getResults()) {
        RankedTensorType type = getTileType(value);
        FragAttr frag = type ? getFrag(value) : FragAttr();
        if (frag &&
            failed(frag.verifyEncoding(type.getShape(), type.getElementType(),
                                       [&] { return op->emitOpError(); })))
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
