//===- HLAOps.cpp - verification and effects of hla operations --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"
#include "hla/Dialect/HLA/IR/EnumFormat.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;

#define GET_OP_CLASSES
#include "hla/Dialect/HLA/IR/HLAOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared interfaces
//===----------------------------------------------------------------------===//

/// A destination-style operation reads its inputs and writes its inits, where
/// they are buffers.
static void getStructuredEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

/// Results have the shapes of their destinations.
static LogicalResult
reifyFromInits(DestinationStyleOpInterface op, OpBuilder &b,
               ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  for (OpResult result : op->getResults())
    reifiedReturnShapes.push_back(tensor::getMixedSizes(
        b, op.getLoc(), op.getTiedOpOperand(result)->get()));
  return success();
}

#define HLA_STRUCTURED_INTERFACES(OP)                                          \
  void OP::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    getStructuredEffects(*this, effects);                                      \
  }                                                                            \
  LogicalResult OP::reifyResultShapes(                                         \
      OpBuilder &b, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {        \
    return reifyFromInits(*this, b, reifiedReturnShapes);                      \
  }

HLA_STRUCTURED_INTERFACES(LinearOp)
HLA_STRUCTURED_INTERFACES(SecondOrderOp)
HLA_STRUCTURED_INTERFACES(AsymmetricOp)
HLA_STRUCTURED_INTERFACES(ThirdOrderOp)
HLA_STRUCTURED_INTERFACES(ScanOp)
HLA_STRUCTURED_INTERFACES(FusedScanOp)

#undef HLA_STRUCTURED_INTERFACES

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

void ScanOp::build(OpBuilder &b, OperationState &state, HeadLayout layout,
                   Value query, Value key, Value value, Value output) {
  build(b, state, TypeRange(output.getType()), /*exclusive=*/UnitAttr(),
        /*reverse=*/UnitAttr(), b.getF64FloatAttr(1.0),
        HeadLayoutAttr::get(b.getContext(), layout),
        /*groups=*/DenseI64ArrayAttr(), query, key, value,
        /*log_decay=*/Value(), /*lengths=*/Value(), /*carry=*/Value(),
        ValueRange(output));
}

VectorType ScanOp::getStateType() {
  return VectorType::get({cast<ShapedType>(getKey().getType()).getDimSize(3),
                          cast<ShapedType>(getValue().getType()).getDimSize(3)},
                         getStateElementType({getQuery(), getKey(), getValue(),
                                              getOutputs().front()}));
}

LogicalResult ScanOp::verify() {
  if (failed(verifyThreeSequences(*this)))
    return failure();
  // scan-C8
  if (getOutputs().empty() || getOutputs().size() > 2)
    return emitOpError() << "expected outs to have one or two operands (the "
                            "result, and the final state), but got "
                         << getOutputs().size();
  Type query = getQuery().getType(), key = getKey().getType(),
       value = getValue().getType(), output = getOutputs().front().getType();
  // scan-C11
  if (failed(verifyGroups(*this, getGroups(), 3, "of query, key and value")))
    return failure();
  // scan-C1, scan-C10, and C2 to C4 as far as they are about batches, tokens
  // and heads
  WalkVerifier walk(*this, getLayout(), getLengths());
  if (failed(walk.addSequence("query", query, getGroup(0))) ||
      failed(walk.addSequence("key", key, getGroup(1))) ||
      failed(walk.addSequence("value", value, getGroup(2))) ||
      failed(walk.addSequence("output", output)))
    return failure();
  // scan-C2, scan-C4
  if (failed(verifySameWidth(*this, "key", key, "query", query,
                             "scores are q·k")) ||
      failed(verifySameWidth(*this, "output", output, "value", value,
                             "the result is a sum of values")))
    return failure();
  // scan-C7
  if (failed(verifyDecay(*this, getDecay().convertToDouble(),
                         static_cast<bool>(getLogDecay()))))
    return failure();
  // scan-C9
  if (getLogDecay() && failed(walk.addLogDecay(getLogDecay().getType())))
    return failure();
  // scan-C5, scan-C6
  VectorType state = getStateType();
  if (getCarry() &&
      failed(walk.addStates("carry", getCarry().getType(), state.getShape(),
                            state.getElementType())))
    return failure();
  if (getFinalInit() &&
      failed(walk.addStates("the final state", getFinalInit().getType(),
                            state.getShape(), state.getElementType())))
    return failure();
  // scan-C5: as many states as lengths have sequences.
  return walk.finish();
}

//===----------------------------------------------------------------------===//
// FusedScanOp
//===----------------------------------------------------------------------===//

Block::BlockArgListType FusedScanOp::getStateArguments() {
  return getBody().getArguments().drop_front(getInputs().size());
}

OperandRange FusedScanOp::getSequenceOutputs() {
  return getOutputs().drop_back(llvm::count(getCarryOut(), true));
}

OperandRange FusedScanOp::getFinalOutputs() {
  return getOutputs().take_back(llvm::count(getCarryOut(), true));
}

VectorType FusedScanOp::getRowType(Type sequence) {
  auto shaped = cast<ShapedType>(sequence);
  return VectorType::get({shaped.getRank() == 4 ? shaped.getDimSize(3) : 1},
                         shaped.getElementType());
}

LogicalResult FusedScanOp::verify() {
  unsigned numStates = getNumStates();
  unsigned numCarries = llvm::count(getCarryIn(), true);
  unsigned numFinals = llvm::count(getCarryOut(), true);
  // fused_scan-C4
  if (getCarryOut().size() != numStates)
    return emitOpError() << "expected carry_out to have " << numStates
                         << " entries, as carry_in has (one a state), but got "
                         << getCarryOut().size();
  if (getCarries().size() != numCarries)
    return emitOpError()
           << "expected " << numCarries
           << " carries, as carry_in has true entries (one a state "
              "that begins with one), but got "
           << getCarries().size();
  if (getOutputs().size() < numFinals)
    return emitOpError() << "expected at least " << numFinals
                         << " outs, as carry_out has true entries (one a final "
                            "state), but got "
                         << getOutputs().size();
  // fused_scan-C9
  if (getInputs().empty() ||
      cast<ShapedType>(getInputs().front().getType()).getRank() == 1)
    return emitOpError(
               "expected the first input to be a sequence or numbers of "
               "tokens (these are walked), but got ")
           << (getInputs().empty() ? StringRef("none")
                                   : StringRef("numbers of heads"));
  // fused_scan-C8
  if (failed(
          verifyGroups(*this, getGroups(), getInputs().size(), "one an input")))
    return failure();

  // fused_scan-C1, fused_scan-C2
  WalkVerifier walk(*this, getLayout(), getLengths());
  for (auto [i, input] : llvm::enumerate(getInputs()))
    if (failed(walk.addSequence("input #" + Twine(i), input.getType(),
                                getGroup(i), /*allowScalars=*/true)))
      return failure();
  for (auto [i, output] : llvm::enumerate(getSequenceOutputs())) {
    if (cast<ShapedType>(output.getType()).getRank() == 1)
      return emitOpError() << "expected output #" << i
                           << " to have rank 4 or 3 (a row a token), but got "
                           << output.getType();
    if (failed(walk.addSequence("output #" + Twine(i), output.getType(),
                                /*group=*/1, /*allowScalars=*/true)))
      return failure();
  }

  // fused_scan-C3
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size() + numStates)
    return emitOpError() << "expected the body to have "
                         << getInputs().size() + numStates
                         << " arguments (rows of the inputs, then states), but "
                            "got "
                         << body.getNumArguments();
  for (auto [argument, input] : llvm::zip(body.getArguments(), getInputs()))
    if (argument.getType() != getRowType(input.getType()))
      return emitOpError() << "expected argument #" << argument.getArgNumber()
                           << " of the body to be "
                           << getRowType(input.getType())
                           << " (a row of its input), but got "
                           << argument.getType();
  auto isState = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() == 2 && !vector.isScalable() &&
           (vector.getElementType().isF32() || vector.getElementType().isF64());
  };
  for (BlockArgument argument : getStateArguments())
    if (!isState(argument.getType()))
      return emitOpError() << "expected argument #" << argument.getArgNumber()
                           << " of the body to be a 2D vector of f32 or f64 (a "
                              "state), but got "
                           << argument.getType();

  // fused_scan-C5
  auto carry = getCarries().begin();
  auto final = getFinalOutputs().begin();
  for (auto [i, argument] : llvm::enumerate(getStateArguments())) {
    auto state = cast<VectorType>(argument.getType());
    auto verifyStates = [&](const Twine &what, Value states) {
      return walk.addStates(what + " of state #" + Twine(i), states.getType(),
                            state.getShape(), state.getElementType());
    };
    if ((getCarryIn()[i] && failed(verifyStates("the carry", *carry++))) ||
        (getCarryOut()[i] && failed(verifyStates("the final value", *final++))))
      return failure();
  }
  if (failed(walk.finish()))
    return failure();

  // fused_scan-C6
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return emitOpError() << "expected the body to end with hla.yield (it says "
                            "what a token leaves), but got "
                         << body.back().getName();
  SmallVector<Type> expected;
  for (Value output : getSequenceOutputs())
    expected.push_back(getRowType(output.getType()));
  for (BlockArgument argument : getStateArguments())
    expected.push_back(argument.getType());
  if (yield.getValues().getTypes() != TypeRange(expected))
    return yield.emitOpError()
           << "expected values of types (" << expected
           << ") (rows of the outputs, then states), but got ("
           << yield.getValues().getTypes() << ")";

  // fused_scan-C7
  auto isMemRef = [](Type type) { return isa<MemRefType>(type); };
  if (llvm::any_of(getOutputs().getTypes(), isMemRef) &&
      !llvm::all_of(getOutputs().getTypes(), isMemRef))
    return emitOpError() << "expected outs to be all tensors or all memrefs "
                            "(results are updated tensors), but got "
                         << getOutputs().getTypes();
  SmallVector<Type> results;
  for (Value output : getOutputs())
    if (isa<RankedTensorType>(output.getType()))
      results.push_back(output.getType());
  if (getResultTypes() != TypeRange(results))
    return emitOpError() << "expected results of types (" << results
                         << ") (those of the tensor outs), but got ("
                         << getResultTypes() << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// StepOp
//===----------------------------------------------------------------------===//

LogicalResult StepOp::verify() {
  // step-C1
  ArrayRef<int64_t> state = getState().getType().getShape();
  auto verifyRow = [&](StringRef name, VectorType type,
                       int64_t size) -> LogicalResult {
    if (type.getDimSize(0) == size)
      return success();
    return emitOpError() << "expected " << name << " to have " << size
                         << " elements (the state is " << getState().getType()
                         << "), but got " << type;
  };
  if (failed(verifyRow("query", getQuery().getType(), state[0])) ||
      failed(verifyRow("key", getKey().getType(), state[0])) ||
      failed(verifyRow("value", getValue().getType(), state[1])) ||
      failed(verifyRow("the row of the result", getRow().getType(), state[1])))
    return failure();
  // step-C2
  return verifyDecay(*this, getDecay().convertToDouble(),
                     static_cast<bool>(getLogDecay()));
}

//===----------------------------------------------------------------------===//
// RowSumOp
//===----------------------------------------------------------------------===//

// row_sum-C1
LogicalResult RowSumOp::verify() {
  auto from = getRow().getType().getElementType(),
       to = getSum().getType().getElementType();
  if (to.getIntOrFloatBitWidth() >= from.getIntOrFloatBitWidth())
    return success();
  return emitOpError()
         << "expected the sum to be at least as wide as "
         << getRow().getType().getElementType()
         << ", the row's element type (a row is summed in the type "
            "of its sum), but got "
         << getSum().getType();
}
