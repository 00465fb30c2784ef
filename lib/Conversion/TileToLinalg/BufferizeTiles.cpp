//===- BufferizeTiles.cpp - buffers of a CPU's tiles ------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every tile gets a buffer of its own for the time of one head; a state keeps
// its buffer from chunk to chunk. One-shot bufferization decides what may share
// a buffer. This pass puts the program into the form in which it finds nothing
// to copy, and moves the allocations it makes out of the loop over the chunks.
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/TileToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLABUFFERIZETILES
#include "hla/Conversion/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

namespace {

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

/// Where `operand` takes a constant tile or an empty one that it will write to,
/// gives it one that no other operation uses; an empty one unless `isRead`.
void giveOwnDestination(IRRewriter &b, OpOperand &operand, bool isRead) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type || !type.hasStaticShape())
    return;
  Operation *source = operand.get().getDefiningOp();
  DenseElementsAttr constant;
  bool isSplat =
      matchPattern(operand.get(), m_Constant(&constant)) && constant.isSplat();
  if (!isSplat && !isa_and_nonnull<tensor::EmptyOp>(source))
    return;
  b.setInsertionPoint(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  Value tile =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  if (isSplat && isRead) {
    Value element =
        arith::ConstantOp::create(b, loc, constant.getSplatValue<TypedAttr>());
    tile = linalg::FillOp::create(b, loc, element, tile).getResult(0);
  }
  operand.set(tile);
}

/// Lets an elementwise operation write over one of its operands, if
/// bufferization finds that nothing reads it later.
void reuseOperand(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumLoops() != op.getNumParallelLoops())
    return;
  OpOperand *init = op.getDpsInitOperand(0);
  if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
      op.payloadUsesValueFromOperand(init))
    return;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get().getType() == init->get().getType() &&
        op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(init)) {
      init->set(input->get());
      return;
    }
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// The operations that make the next state from `state`, each writing over what
/// the one before it wrote; empty if the next state is not made so.
SmallVector<Operation *> getUpdate(BlockArgument state, Value next) {
  SmallVector<Operation *> update;
  while (next != state) {
    auto result = dyn_cast<OpResult>(next);
    auto op = result ? dyn_cast<DestinationStyleOpInterface>(result.getOwner())
                     : DestinationStyleOpInterface();
    if (!op || op->getBlock() != state.getOwner())
      return {};
    update.push_back(op);
    next = op.getTiedOpOperand(result)->get();
  }
  std::reverse(update.begin(), update.end());
  return update;
}

/// Whether a use of `state` other than by `first`, its update's first
/// operation, comes after `first`.
bool isReadAfter(BlockArgument state, Operation *first) {
  return llvm::any_of(state.getUsers(), [&](Operation *user) {
    Operation *ancestor = state.getOwner()->findAncestorOpInBlock(*user);
    return ancestor != first && first->isBeforeInBlock(ancestor);
  });
}

/// Puts the updates of a loop's states at the end of its body, after all that
/// reads the states before the chunk; what cannot be updated in place is copied
/// there.
void placeUpdates(IRRewriter &b, scf::ForOp loop) {
  Block *body = loop.getBody();
  Operation *terminator = body->getTerminator();
  SmallVector<Operation *> sinking;
  for (auto [state, next] :
       llvm::zip(loop.getRegionIterArgs(), terminator->getOperands())) {
    SmallVector<Operation *> update = getUpdate(state, next);
    if (llvm::all_of(update, [](Operation *op) { return op->hasOneUse(); }))
      llvm::append_range(sinking, update);
  }
  llvm::sort(sinking,
             [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
  for (Operation *op : sinking)
    b.moveOpBefore(op, terminator);

  for (auto [state, operand] :
       llvm::zip(loop.getRegionIterArgs(), terminator->getOpOperands())) {
    if (!isa<RankedTensorType>(state.getType()) || operand.get() == state)
      continue;
    SmallVector<Operation *> update = getUpdate(state, operand.get());
    if (!update.empty() && !isReadAfter(state, update.front()))
      continue;
    b.setInsertionPoint(terminator);
    auto copy =
        linalg::CopyOp::create(b, loop.getLoc(), operand.get(), Value(state));
    operand.set(copy->getResult(0));
  }
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

/// Moves the allocation of a tile to the start of the body that runs for one
/// head, and frees it at the end. An allocation of the function itself, a
/// tensor between two kernels, stays where it is, and is freed before the
/// function returns.
LogicalResult placeAllocation(IRRewriter &b, memref::AllocOp alloc) {
  if (isa<func::FuncOp>(alloc->getParentOp())) {
    b.setInsertionPoint(alloc->getBlock()->getTerminator());
    memref::DeallocOp::create(b, alloc.getLoc(), alloc);
    return success();
  }
  if (!alloc.getDynamicSizes().empty())
    return alloc.emitOpError("expected a tile of static shape, but got ")
           << alloc.getType();
  for (Operation *user : alloc->getUsers())
    if (user->hasTrait<OpTrait::IsTerminator>())
      return user->emitOpError("expected the states of a loop to be updated in "
                               "place, but got an exchange of buffers");
  Operation *scope = alloc->getParentOfType<scf::ParallelOp>();
  if (!scope)
    scope = alloc->getParentOfType<func::FuncOp>();
  Block *block = &scope->getRegion(0).front();
  b.moveOpBefore(alloc, block, block->begin());
  b.setInsertionPoint(block->getTerminator());
  memref::DeallocOp::create(b, alloc.getLoc(), alloc);
  return success();
}

struct HLABufferizeTiles : hla::impl::HLABufferizeTilesBase<HLABufferizeTiles> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter b(&getContext());
    module.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (OpOperand &init : loop.getInitArgsMutable())
          giveOwnDestination(b, init, /*isRead=*/true);
      } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
        for (OpOperand &init : structured.getDpsInitsMutable())
          giveOwnDestination(b, init,
                             structured.payloadUsesValueFromOperand(&init));
        reuseOperand(structured);
      }
    });
    module.walk([&](scf::ForOp loop) { placeUpdates(b, loop); });
    // Constants that have become fills would become globals.
    module.walk([&](arith::ConstantOp constant) {
      if (constant.use_empty())
        b.eraseOp(constant);
    });

    bufferization::OneShotBufferizationOptions options;
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotBufferize(module, options, state)))
      return signalPassFailure();

    SmallVector<memref::AllocOp> allocs;
    module.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
    for (memref::AllocOp alloc : allocs)
      if (failed(placeAllocation(b, alloc)))
        return signalPassFailure();
  }
};

} // namespace
