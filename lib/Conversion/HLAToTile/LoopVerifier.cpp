//===- LoopVerifier.cpp - which loops become tile programs ----------------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopVerifier.h"
#include "hla/Dialect/HLA/Transforms/RowSlices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hla;

/// Rows are vectors of one width, and an operation has one result.
static LogicalResult checkInner(Operation &op) {
  auto isRow = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() == 1;
  };
  auto broadcast = dyn_cast<vector::BroadcastOp>(op);
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (isa<StepOp, hla::RowSumOp>(op) ||
      (broadcast && isRow(broadcast.getSourceType()) &&
       cast<VectorType>(broadcast.getSourceType()).getDimSize(0) == 1) ||
      (constant && isa<SplatElementsAttr>(constant.getValue()) &&
       isRow(op.getResult(0).getType())) ||
      (op.hasTrait<OpTrait::Elementwise>() && op.getNumResults() == 1 &&
       isRow(op.getResult(0).getType()) &&
       llvm::all_of(op.getOperandTypes(), isRow)))
    return success();
  return op.emitOpError("expected hla.step, hla.row_sum, a broadcast of one "
                        "number, a splat constant or an elementwise operation "
                        "on rows in the body of a fused scan, but got ")
         << op.getName();
}

/// A chunk is a step's tokens one after the other, so the state that a token
/// leaves must be the one that the step finds at the next token.
static LogicalResult checkStates(FusedScanOp op) {
  Block &body = op.getBody().front();
  auto isState = [&](Value value) {
    return llvm::is_contained(op.getStateArguments(), value);
  };
  for (StepOp step : body.getOps<StepOp>())
    if (!isState(step.getState()))
      return step.emitOpError("expected the state to be one before the token "
                              "(each is updated by one step), but got ")
             << step.getState();
  auto yield = cast<YieldOp>(body.getTerminator());
  for (auto [argument, next] :
       llvm::zip(op.getStateArguments(),
                 yield.getValues().take_back(op.getNumStates()))) {
    auto step = next.getDefiningOp<StepOp>();
    if (next != argument &&
        !(step && step.getState() == argument && step.getNext() == next))
      return yield.emitOpError("expected the state before the token, argument "
                               "#")
             << argument.getArgNumber()
             << " of the body, or what a step made of it, but got " << next;
  }
  return success();
}

LogicalResult hla::verifyLoop(FusedScanOp op, const TargetInfo &target) {
  if (!op.getScheduleAttr())
    return op.emitOpError("expected a schedule (hla-assign-schedule gives "
                          "one), but got none");
  if (llvm::any_of(op.getOperandTypes(), llvm::IsaPred<TensorType>))
    return op.emitOpError("expected operands in memory (hla-bufferize puts "
                          "them there), but got tensors");
  Block &body = op.getBody().front();
  for (Operation &inner : body.without_terminator())
    if (failed(checkInner(inner)))
      return failure();
  if (failed(checkStates(op)))
    return failure();
  const int64_t slices = op.getScheduleAttr().getSlices();
  if (slices != 1 &&
      (!target.isGPU || !RowSlices(op, slices, target).areUseful()))
    return op.emitOpError()
           << "expected a schedule whose slices " << target.arch
           << " can share out (hla-assign-schedule verifies "
              "it), but got "
           << op.getScheduleAttr();
  return success();
}
