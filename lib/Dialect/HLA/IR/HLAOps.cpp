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
HLA_STRUCTURED_INTERFACES(SumSegmentsOp)

#undef HLA_STRUCTURED_INTERFACES

void CombineSegmentsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getStructuredEffects(*this, effects);
  // States are combined in place.
  for (OpOperand &states : getOutputsMutable())
    if (isa<MemRefType>(states.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &states,
                           SideEffects::DefaultResource::get());
}

LogicalResult CombineSegmentsOp::reifyResultShapes(
    OpBuilder &b, ReifiedRankedShapedTypeDims &reifiedReturnShapes) {
  return reifyFromInits(*this, b, reifiedReturnShapes);
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

void ScanOp::build(OpBuilder &b, OperationState &state, HeadLayout layout,
                   Value query, Value key, Value value, Value output) {
  build(b, state, TypeRange(output.getType()), /*exclusive=*/UnitAttr(),
        /*reverse=*/UnitAttr(), b.getF64FloatAttr(1.0),
        HeadLayoutAttr::get(b.getContext(), layout),
        /*groups=*/DenseI64ArrayAttr(), query, key, value,
        /*log_decay=*/Value(), /*lengths=*/Value(), /*slots=*/Value(),
        /*carry=*/Value(), ValueRange(output));
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
  WalkVerifier walk(*this, getLayout(), getLengths(), getSlots());
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
  // scan-C5, scan-C10: as many states, or slots, as lengths have sequences.
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

/// The operand of state `i`, where `has` says which have one.
static Value getOfState(OperandRange values, ArrayRef<bool> has, unsigned i) {
  return has[i] ? values[llvm::count(has.take_front(i), true)] : Value();
}

Value FusedScanOp::getCarry(unsigned state) {
  return getOfState(getCarries(), getCarryIn(), state);
}

Value FusedScanOp::getEntry(unsigned state) {
  return hasEntry(state) ? getOfState(getEntries(), *getEntryIn(), state)
                         : Value();
}

bool FusedScanOp::isOneChunk(int64_t chunk) {
  auto first = cast<ShapedType>(getInputs().front().getType());
  const int64_t tokens = first.getDimSize(getTokenDim());
  // Sequences of lengths and segments begin where only the program knows.
  return !getLengths() && !getSegmentLength() && tokens >= 1 && tokens <= chunk;
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
  // fused_scan-C10
  if ((getSummary() || !getEntries().empty()) && !getSegmentLength())
    return emitOpError("expected segments, of so many tokens, where there are "
                       "entries or a summary (these are of segments), but got "
                       "none");
  if (getSegmentLength() && getLengths())
    return emitOpError("expected no lengths of a loop in segments (these have "
                       "one length), but got both");
  // fused_scan-C11
  ArrayRef<bool> entryIn = getEntryIn().value_or(ArrayRef<bool>());
  if (getEntryIn() && entryIn.size() != numStates)
    return emitOpError() << "expected entry_in to have " << numStates
                         << " entries, as carry_in has (one a state), but got "
                         << entryIn.size();
  if (static_cast<int64_t>(getEntries().size()) != llvm::count(entryIn, true))
    return emitOpError() << "expected " << llvm::count(entryIn, true)
                         << " entries, as entry_in has true ones (one a state "
                            "whose segments begin with one), but got "
                         << getEntries().size();
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
  WalkVerifier walk(*this, getLayout(), getLengths(), getSlots());
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

  // fused_scan-C5, fused_scan-C12
  auto final = getFinalOutputs().begin();
  for (auto [i, argument] : llvm::enumerate(getStateArguments())) {
    auto state = cast<VectorType>(argument.getType());
    auto verifyStates = [&](StringRef what, Value states, bool ofSegments) {
      if (!states)
        return success();
      auto add = ofSegments ? &WalkVerifier::addSegmentStates
                            : &WalkVerifier::addStates;
      return (walk.*add)(what + " of state #" + Twine(i), states.getType(),
                         state.getShape(), state.getElementType());
    };
    if (failed(verifyStates("the carry", getCarry(i), false)) ||
        failed(verifyStates("the entry", getEntry(i), true)) ||
        failed(verifyStates("the final value",
                            getCarryOut()[i] ? *final++ : Value(),
                            getSummary())))
      return failure();
  }
  // fused_scan-C5: as many states, or slots, as lengths have sequences.
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
// CombineSegmentsOp, SumSegmentsOp
//===----------------------------------------------------------------------===//

static bool isF32OrF64(Type type) { return type.isF32() || type.isF64(); }

/// One destination of a rank, of f32 or f64, and a result if it is a tensor.
static LogicalResult verifyDestination(Operation *op, OperandRange outputs,
                                       int64_t rank, StringRef shape) {
  auto type = outputs.size() == 1
                  ? dyn_cast<ShapedType>(outputs.front().getType())
                  : ShapedType();
  if (!type || type.getRank() != rank || !isF32OrF64(type.getElementType()))
    return op->emitOpError()
           << "expected outs to be one " << shape << " of f32 or f64, but got "
           << outputs.getTypes();
  if (op->getResultTypes() ==
      (isa<TensorType>(type) ? TypeRange(outputs.getTypes()) : TypeRange()))
    return success();
  return op->emitOpError() << "expected a result for a tensor, of its type, "
                              "but got ("
                           << op->getResultTypes() << ") for " << type;
}

LogicalResult CombineSegmentsOp::verify() {
  // combine_segments-C1, combine_segments-C4
  if (failed(verifyDestination(*this, getOutputs(), 5, "[M,B,H,d,dv]")))
    return failure();
  auto type = cast<ShapedType>(getStates().getType());
  if (type.isDynamicDim(3) || type.isDynamicDim(4))
    return emitOpError() << "expected states of static d and dv (kernels are "
                            "compiled for a head dimension), but got "
                         << type;
  // combine_segments-C3
  if (failed(verifyDecay(*this, getDecay().convertToDouble(),
                         static_cast<bool>(getLogDecay()))))
    return failure();
  // combine_segments-C2
  if (!getLogDecay())
    return success();
  auto decays = cast<ShapedType>(getLogDecay().getType());
  ArrayRef<int64_t> shape = type.getShape().take_front(3);
  if (decays.getRank() == 1)
    shape = shape.take_back();
  if (isF32OrF64(decays.getElementType()) &&
      succeeded(verifyCompatibleShape(decays.getShape(), shape)))
    return success();
  return emitOpError() << "expected log_decay to be [H], or [M,B,H], of f32 or "
                          "f64 (one a head, or one a segment, batch and head "
                          "of "
                       << type << "), but got " << decays;
}

LogicalResult SumSegmentsOp::verify() {
  // sum_segments-C1, sum_segments-C2
  if (failed(verifyDestination(*this, getOutputs(), 3, "[N-1,B,H]")))
    return failure();
  auto numbers = cast<ShapedType>(getNumbers().getType());
  if (numbers.getRank() == 3 &&
      numbers.getElementType() == getElementTypeOrSelf(getSums()))
    return success();
  return emitOpError() << "expected numbers to be [B,T,H] or [B,H,T] of "
                       << getElementTypeOrSelf(getSums())
                       << " (as their sums are), but got " << numbers;
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
