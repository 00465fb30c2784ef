//===- HLAOperators.cpp - verification and states of operators --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::hla;

#include "hla/Dialect/HLA/IR/HLAInterfaces.cpp.inc"

/// The type in which an operator sums, and has its states.
static FloatType getSumType(Operator op) {
  return getStateElementType({op.getQuery(), op.getOutputs().front()});
}

static double getLargest(FloatType type) {
  return APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
}

/// Verifies that a constant is 0, or positive in the type of sums: neither
/// infinite there nor rounded to 0.
static LogicalResult verifyZeroOrPositive(Operator op, StringRef name,
                                          double value) {
  FloatType type = getSumType(op);
  double smallest = APFloat::getSmallestNormalized(type.getFloatSemantics())
                        .convertToDouble();
  if (value == 0.0 || (value >= smallest && value <= getLargest(type)))
    return success();
  return op.emitOpError() << "expected " << name
                          << " to be 0 or a positive and finite " << type
                          << " (the type of sums), but got " << value;
}

/// The constraints of every operator, as its documentation numbers them.
static LogicalResult verifyOperator(Operator op) {
  if (failed(verifyThreeSequences(op)))
    return failure();
  Type query = op.getQuery().getType(), key = op.getKey().getType(),
       value = op.getValue().getType();
  // operator-C9, as far as the output is there.
  if (op.getOutputs().empty())
    return op.emitOpError("expected outs to begin with the destination of the "
                          "output (final states come after it), but got none");
  Type output = op.getOutputs().front().getType();
  // operator-C10
  if (failed(verifyGroups(op, op.getGroups(), 2,
                          "of query, and of key and value")))
    return failure();
  // operator-C2
  for (auto [name, type] : {std::pair("key", key), std::pair("value", value)})
    if (getElementTypeOrSelf(type) != getElementTypeOrSelf(query))
      return op.emitOpError()
             << "expected " << name << " to have the element type of query, "
             << getElementTypeOrSelf(query)
             << " (a kernel has one input type), but got " << type;
  // operator-C1, operator-C8, and C3 to C5 as far as they are about batches,
  // tokens and heads
  WalkVerifier walk(op, op.getLayout(), op.getLengths(), op.getSlots());
  if (failed(walk.addSequence("query", query, op.getQueryGroup())) ||
      failed(walk.addSequence("key", key, op.getKeyGroup())) ||
      failed(walk.addSequence("value", value, op.getKeyGroup())) ||
      failed(walk.addSequence("output", output)))
    return failure();
  // operator-C3, operator-C5
  if (failed(
          verifySameWidth(op, "key", key, "query", query, "scores are q·k")) ||
      failed(verifySameWidth(op, "output", output, "value", value,
                             "the output is a sum of values")))
    return failure();
  // operator-C6
  if (failed(verifyDecay(op, op.getDecay().convertToDouble(),
                         static_cast<bool>(op.getLogDecay()))))
    return failure();
  // operator-C7
  if (op.getLogDecay() && failed(walk.addLogDecay(op.getLogDecay().getType())))
    return failure();
  // operator-C11
  FloatType sumType = getSumType(op);
  double scale = op.getScale().convertToDouble(),
         epsilon = op.getEpsilon().convertToDouble();
  if (!(std::abs(std::pow(scale, op.getOrder())) <= getLargest(sumType)))
    return op.emitOpError()
           << "expected scale to the power of " << op.getOrder()
           << " to be finite in " << sumType
           << " (the output is multiplied by it), but got a scale of " << scale;
  if (failed(verifyZeroOrPositive(op, "epsilon", epsilon)))
    return failure();
  if (op.getNormalizer() == Normalizer::None && epsilon != 0.0)
    return op.emitOpError(
               "expected epsilon to be 0 with normalize(none) (there "
               "is no divisor to keep from 0), but got ")
           << epsilon;
  // operator-C9
  SmallVector<OperatorState> states = op.getStates();
  auto verifyStates = [&](StringRef what,
                          OperandRange values) -> LogicalResult {
    if (values.empty())
      return success();
    if (values.size() != states.size()) {
      InFlightDiagnostic error = op.emitOpError()
                                 << "expected " << what << " to be all "
                                 << states.size() << " states (";
      llvm::interleaveComma(states, error,
                            [&](const OperatorState &s) { error << s.name; });
      return error << ") or none, but got " << values.size();
    }
    for (auto [state, operand] : llvm::zip(states, values))
      if (failed(walk.addStates(what + " " + state.name, operand.getType(),
                                {state.rows, state.cols}, sumType)))
        return failure();
    return success();
  };
  if (failed(verifyStates("carry", op.getCarries())) ||
      failed(verifyStates("the final state", op.getOutputs().drop_front())))
    return failure();
  // operator-C8
  if (op.getSlots() && op.getCarries().empty() && op.getOutputs().size() == 1)
    return op.emitOpError(
        "expected carry or final states where slots are given "
        "(these are their numbers), but got none");
  // operator-C8, operator-C9: as many states, or slots, as lengths have
  // sequences.
  return walk.finish();
}

namespace {

/// The shapes that states of an operator have.
struct StateShapes {
  explicit StateShapes(Operator op)
      : d(cast<ShapedType>(op.getKey().getType()).getDimSize(3)),
        dv(cast<ShapedType>(op.getValue().getType()).getDimSize(3)),
        isNormalized(op.getNormalizer() != Normalizer::None) {}

  StateShapes &square(StringRef name) { return add({name, d, d, false}); }
  StateShapes &wide(StringRef name) { return add({name, d, dv, true}); }
  /// A state of the normaliser: of `v ≡ 1`.
  StateShapes &column(StringRef name) {
    return isNormalized ? add({name, d, 1, true}) : *this;
  }
  StateShapes &add(OperatorState state) {
    states.push_back(state);
    return *this;
  }

  int64_t d, dv;
  bool isNormalized;
  SmallVector<OperatorState> states;
};

} // namespace

//===----------------------------------------------------------------------===//
// LinearOp
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::verify() { return verifyOperator(*this); }

double LinearOp::getRidgeValue() { return 0.0; }

unsigned LinearOp::getOrder() { return 1; }

SmallVector<OperatorState> LinearOp::getStates() {
  return StateShapes(*this).wide("P").column("m").states;
}

//===----------------------------------------------------------------------===//
// SecondOrderOp
//===----------------------------------------------------------------------===//

LogicalResult SecondOrderOp::verify() {
  // second_order-C13
  if (getReading() != DecayReading::Causal &&
      getVariant() != SecondOrderVariant::Masked)
    return emitOpError(
               "expected reading(causal) (the masked operator alone has "
               "a choice), but got ")
           << stringifyEnum(getReading()) << " with variant("
           << stringifyEnum(getVariant()) << ")";
  if (failed(verifyOperator(*this)))
    return failure();
  // second_order-C12
  return verifyZeroOrPositive(*this, "ridge", getRidgeValue());
}

double SecondOrderOp::getRidgeValue() { return getRidge().convertToDouble(); }

unsigned SecondOrderOp::getOrder() { return 2; }

SmallVector<OperatorState> SecondOrderOp::getStates() {
  StateShapes shapes(*this);
  shapes.square("S");
  switch (getVariant()) {
  case SecondOrderVariant::Masked:
    return shapes.wide("F").column("f").states;
  case SecondOrderVariant::Prefix:
    return shapes.wide("C").column("m").states;
  case SecondOrderVariant::Paper:
    return shapes.wide("C").wide("G").column("m").column("h").states;
  }
  llvm_unreachable("all variants are handled");
}

//===----------------------------------------------------------------------===//
// AsymmetricOp
//===----------------------------------------------------------------------===//

LogicalResult AsymmetricOp::verify() { return verifyOperator(*this); }

double AsymmetricOp::getRidgeValue() { return 0.0; }

unsigned AsymmetricOp::getOrder() { return 2; }

SmallVector<OperatorState> AsymmetricOp::getStates() {
  return StateShapes(*this).wide("P").wide("E").column("m").column("n").states;
}

//===----------------------------------------------------------------------===//
// ThirdOrderOp
//===----------------------------------------------------------------------===//

LogicalResult ThirdOrderOp::verify() {
  // third_order-C13
  if (getRidgeValue() != 0.0 && getVariant() != ThirdOrderVariant::Masked)
    return emitOpError("expected no ridge with variant(paper) (it has two "
                       "second moments), but got ")
           << getRidgeValue();
  if (failed(verifyOperator(*this)))
    return failure();
  // third_order-C12
  return verifyZeroOrPositive(*this, "ridge", getRidgeValue());
}

double ThirdOrderOp::getRidgeValue() { return getRidge().convertToDouble(); }

unsigned ThirdOrderOp::getOrder() { return 3; }

SmallVector<OperatorState> ThirdOrderOp::getStates() {
  StateShapes shapes(*this);
  if (getVariant() == ThirdOrderVariant::Masked)
    return shapes.square("S")
        .wide("P")
        .wide("F")
        .column("m")
        .column("f")
        .states;
  shapes.square("SK").square("SQ").wide("P");
  if (!isDecayed())
    return shapes.wide("A")
        .wide("R")
        .column("m")
        .column("a")
        .column("r")
        .states;
  return shapes.wide("G1")
      .wide("G2")
      .wide("G3")
      .column("m")
      .column("g1")
      .column("g2")
      .column("g3")
      .states;
}
