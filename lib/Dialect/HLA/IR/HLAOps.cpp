//===- HLAOps.cpp - verification and effects of hla operations --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/EnumFormat.h"
#include "hla/Dialect/HLA/IR/HLA.h"
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
// Shared verifiers
//===----------------------------------------------------------------------===//

/// Verifies that `type` is a sequence: of rank 4, its last dimension static and
/// positive.
static LogicalResult verifySequence(Operation *op, const Twine &name,
                                    Type type) {
  auto shaped = cast<ShapedType>(type);
  if (shaped.getRank() != 4)
    return op->emitOpError() << "expected " << name
                             << " to have rank 4 (batch, token, head and "
                                "feature), but got "
                             << type;
  if (shaped.isDynamicDim(3) || shaped.getDimSize(3) == 0)
    return op->emitOpError() << "expected " << name
                             << " to have a static, positive last dimension "
                                "(kernels are compiled for a head dimension), "
                                "but got "
                             << type;
  return success();
}

/// Verifies that the leading `rank` dimensions of two types may be equal.
static LogicalResult verifySameDims(Operation *op, const Twine &name, Type type,
                                    const Twine &otherName, Type other,
                                    unsigned rank, StringRef why) {
  auto shape = cast<ShapedType>(type).getShape().take_front(rank);
  auto expected = cast<ShapedType>(other).getShape().take_front(rank);
  if (failed(verifyCompatibleShape(shape, expected)))
    return op->emitOpError()
           << "expected " << name << " to have "
           << (rank == 4 ? "the shape of " : "the batch, token and head of ")
           << otherName << ", " << other << " (" << why << "), but got "
           << type;
  return success();
}

static LogicalResult verifyDecay(Operation *op, double decay) {
  if (!(decay > 0.0 && decay <= 1.0))
    return op->emitOpError() << "expected decay to be in (0, 1] (a prefix is "
                                "forgotten, never amplified), but got "
                             << decay;
  return success();
}

/// Verifies that `type` may be the states `[B,H] ++ stateShape` of
/// `elementType` for a sequence of type `sequence`.
static LogicalResult verifyStates(Operation *op, const Twine &name, Type type,
                                  ShapedType sequence, HeadLayout layout,
                                  VectorType state) {
  auto shaped = cast<ShapedType>(type);
  SmallVector<int64_t> expected = {
      sequence.getDimSize(0),
      sequence.getDimSize(layout == HeadLayout::BTHD ? 2 : 1)};
  llvm::append_range(expected, state.getShape());
  if (shaped.getRank() != 4 ||
      failed(verifyCompatibleShape(shaped.getShape(), expected)) ||
      !llvm::equal(shaped.getShape().drop_front(2), state.getShape()))
    return op->emitOpError()
           << "expected " << name << " to have the shape "
           << RankedTensorType::get(expected, state.getElementType())
           << " (one state a head), but got " << type;
  if (shaped.getElementType() != state.getElementType())
    return op->emitOpError()
           << "expected " << name << " to have element type "
           << state.getElementType()
           << " (states are f64 where an operand is, else f32), but got "
           << type;
  return success();
}

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

HLA_STRUCTURED_INTERFACES(SecondOrderOp)
HLA_STRUCTURED_INTERFACES(ScanOp)
HLA_STRUCTURED_INTERFACES(FusedScanOp)

#undef HLA_STRUCTURED_INTERFACES

//===----------------------------------------------------------------------===//
// SecondOrderOp
//===----------------------------------------------------------------------===//

LogicalResult SecondOrderOp::verify() {
  Type query = getQuery().getType(), key = getKey().getType(),
       value = getValue().getType(), output = getOutput().getType();
  // second_order-C1
  if (failed(verifySequence(*this, "query", query)) ||
      failed(verifySequence(*this, "key", key)) ||
      failed(verifySequence(*this, "value", value)) ||
      failed(verifySequence(*this, "output", output)))
    return failure();
  // second_order-C2
  for (auto [name, type] : {std::pair("key", key), std::pair("value", value)})
    if (getElementTypeOrSelf(type) != getElementTypeOrSelf(query))
      return emitOpError() << "expected " << name
                           << " to have the element type of query, "
                           << getElementTypeOrSelf(query)
                           << " (a kernel has one input type), but got "
                           << type;
  // second_order-C3
  if (failed(verifySameDims(*this, "key", key, "query", query, 4,
                            "scores are q·k")))
    return failure();
  // second_order-C4
  if (failed(verifySameDims(*this, "value", value, "query", query, 3,
                            "every token has one")))
    return failure();
  // second_order-C5
  return verifySameDims(*this, "output", output, "value", value, 4,
                        "the output is a sum of values");
}

//===----------------------------------------------------------------------===//
// ScanOp
//===----------------------------------------------------------------------===//

void ScanOp::build(OpBuilder &b, OperationState &state, HeadLayout layout,
                   Value query, Value key, Value value, Value output) {
  build(b, state, TypeRange(output.getType()), /*exclusive=*/UnitAttr(),
        /*reverse=*/UnitAttr(), b.getF64FloatAttr(1.0),
        HeadLayoutAttr::get(b.getContext(), layout), query, key, value,
        /*carry=*/Value(), ValueRange(output));
}

VectorType ScanOp::getStateType() {
  Builder b(getContext());
  bool isF64 = llvm::any_of(
      ValueRange{getQuery(), getKey(), getValue(), getOutputs().front()},
      [](Value v) { return getElementTypeOrSelf(v).isF64(); });
  return VectorType::get({cast<ShapedType>(getKey().getType()).getDimSize(3),
                          cast<ShapedType>(getValue().getType()).getDimSize(3)},
                         isF64 ? cast<Type>(b.getF64Type())
                               : cast<Type>(b.getF32Type()));
}

LogicalResult ScanOp::verify() {
  // scan-C8
  if (getOutputs().empty() || getOutputs().size() > 2)
    return emitOpError() << "expected outs to have one or two operands (the "
                            "result, and the final state), but got "
                         << getOutputs().size();
  Type query = getQuery().getType(), key = getKey().getType(),
       value = getValue().getType(), output = getOutputs().front().getType();
  // scan-C1
  if (failed(verifySequence(*this, "query", query)) ||
      failed(verifySequence(*this, "key", key)) ||
      failed(verifySequence(*this, "value", value)) ||
      failed(verifySequence(*this, "output", output)))
    return failure();
  // scan-C2
  if (failed(verifySameDims(*this, "key", key, "query", query, 4,
                            "scores are q·k")))
    return failure();
  // scan-C3
  if (failed(verifySameDims(*this, "value", value, "query", query, 3,
                            "every token has one")))
    return failure();
  // scan-C4
  if (failed(verifySameDims(*this, "output", output, "value", value, 4,
                            "the result is a sum of values")))
    return failure();
  // scan-C5, scan-C6
  auto sequence = cast<ShapedType>(query);
  VectorType state = getStateType();
  if (getCarry() && failed(verifyStates(*this, "carry", getCarry().getType(),
                                        sequence, getLayout(), state)))
    return failure();
  if (getFinalInit() &&
      failed(verifyStates(*this, "the final state", getFinalInit().getType(),
                          sequence, getLayout(), state)))
    return failure();
  // scan-C7
  return verifyDecay(*this, getDecay().convertToDouble());
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
    return emitOpError() << "expected as many carries as carry_in has true "
                            "entries, "
                         << numCarries << ", but got " << getCarries().size();
  if (getOutputs().size() < numFinals)
    return emitOpError() << "expected at least as many outs as carry_out has "
                            "true entries, "
                         << numFinals << ", but got " << getOutputs().size();
  if (getInputs().empty())
    return emitOpError("expected at least one input (its tokens are walked), "
                       "but got none");

  // fused_scan-C1, fused_scan-C2: any two agree, where one says little too.
  SmallVector<std::pair<std::string, Type>> sequences;
  auto verifyAll = [&](StringRef name, OperandRange operands) -> LogicalResult {
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Type type = operand.getType();
      std::string label = (name + Twine(i)).str();
      if (failed(verifySequence(*this, label, type)))
        return failure();
      for (auto &[otherLabel, other] : sequences)
        if (failed(verifySameDims(*this, label, type, otherLabel, other, 3,
                                  "one loop walks all")))
          return failure();
      sequences.emplace_back(label, type);
    }
    return success();
  };
  if (failed(verifyAll("input #", getInputs())) ||
      failed(verifyAll("output #", getSequenceOutputs())))
    return failure();

  // fused_scan-C3
  auto rowOf = [](Type sequence) {
    auto shaped = cast<ShapedType>(sequence);
    return VectorType::get({shaped.getDimSize(3)}, shaped.getElementType());
  };
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size() + numStates)
    return emitOpError() << "expected the body to have "
                         << getInputs().size() + numStates
                         << " arguments (rows of the inputs, then states), but "
                            "got "
                         << body.getNumArguments();
  for (auto [argument, input] : llvm::zip(body.getArguments(), getInputs()))
    if (argument.getType() != rowOf(input.getType()))
      return emitOpError() << "expected argument #" << argument.getArgNumber()
                           << " of the body to be " << rowOf(input.getType())
                           << " (a row of its input), but got "
                           << argument.getType();
  auto isState = [](Type type) {
    auto vector = dyn_cast<VectorType>(type);
    return vector && vector.getRank() == 2 &&
           (vector.getElementType().isF32() || vector.getElementType().isF64());
  };
  for (BlockArgument argument : getStateArguments())
    if (!isState(argument.getType()))
      return emitOpError() << "expected argument #" << argument.getArgNumber()
                           << " of the body to be a 2D vector of f32 or f64 (a "
                              "state), but got "
                           << argument.getType();

  // fused_scan-C5
  auto sequence = cast<ShapedType>(getInputs().front().getType());
  auto carry = getCarries().begin();
  auto final = getFinalOutputs().begin();
  for (auto [i, argument] : llvm::enumerate(getStateArguments())) {
    auto state = cast<VectorType>(argument.getType());
    std::string suffix = " of state #" + std::to_string(i);
    if (getCarryIn()[i] &&
        failed(verifyStates(*this, "the carry" + suffix, (*carry++).getType(),
                            sequence, getLayout(), state)))
      return failure();
    if (getCarryOut()[i] &&
        failed(verifyStates(*this, "the final value" + suffix,
                            (*final++).getType(), sequence, getLayout(),
                            state)))
      return failure();
  }

  // fused_scan-C6
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError() << "expected the body to end with hla.yield, but got "
                         << body.getTerminator()->getName();
  SmallVector<Type> expected;
  for (Value output : getSequenceOutputs())
    expected.push_back(rowOf(output.getType()));
  for (BlockArgument argument : getStateArguments())
    expected.push_back(argument.getType());
  if (yield.getValues().getTypes() != TypeRange(expected))
    return yield.emitOpError()
           << "expected values of types " << expected
           << " (rows of the outputs, then states), but got "
           << yield.getValues().getTypes();

  // fused_scan-C7
  SmallVector<Type> results;
  for (Value output : getOutputs())
    if (isa<RankedTensorType>(output.getType()))
      results.push_back(output.getType());
  if (getResultTypes() != TypeRange(results))
    return emitOpError() << "expected results of types " << results
                         << " (those of the tensor outs), but got "
                         << getResultTypes();
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
  return verifyDecay(*this, getDecay().convertToDouble());
}
