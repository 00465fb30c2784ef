//===- EntryABI.cpp - what a compiled entry function takes ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "EntryExtents.h"
#include "ResultDestinations.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;

/// Fails at a `tensor.dim` of a dimension that its tensor does not have.
static LogicalResult verifyDims(func::FuncOp function) {
  WalkResult result = function.walk([](tensor::DimOp dim) {
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!type || !index || (*index >= 0 && *index < type.getRank()))
      return WalkResult::advance();
    dim.emitError("expected the dimension of tensor.dim to be ")
        << (*index < 0 ? "at least 0"
                       : "below " + std::to_string(type.getRank()))
        << ", but got " << *index;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Whether the content of `argument` matters. The destinations of hla
/// operations are only written, but for two: with lengths, rows of tokens that
/// are of no sequence stay as they are, and with slots, states that have none.
static bool isRead(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      return false;
    auto destinations = dyn_cast<DestinationStyleOpInterface>(user);
    if (!destinations || !isa<HLADialect>(user->getDialect()) ||
        !destinations.isDpsInit(&use))
      return true;
    return llvm::TypeSwitch<Operation *, bool>(user)
        .Case<Operator, ScanOp>([&](auto op) {
          return use.get() == op.getOutputs().front() ? op.getLengths()
                                                      : op.getSlots();
        })
        .Case([&](FusedScanOp op) {
          return llvm::is_contained(op.getSequenceOutputs(), use.get())
                     ? op.getLengths()
                     : op.getSlots();
        })
        .Default([](Operation *) { return false; });
  });
}

/// Whether an operation writes to `argument`, whatever becomes of its result:
/// bufferization puts it there.
static bool isDestination(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto destinations = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return destinations && destinations.isDpsInit(&use);
  });
}

/// What a row of a fused scan is to its steps.
static ABIContent getContent(BlockArgument row) {
  ABIContent content = ABIContent::Any;
  for (OpOperand &use : row.getUses()) {
    auto step = dyn_cast<StepOp>(use.getOwner());
    if (!step)
      continue;
    if (row == step.getQuery() || row == step.getKey())
      return ABIContent::QueryOrKey;
    if (row == step.getLogDecay())
      content = ABIContent::LogDecay;
  }
  return content;
}

/// What an operand that is no sequence is to an operation.
template <typename OpTy>
static ABIContent getIntegerContent(OpTy op, Value value) {
  return value == op.getLengths() ? ABIContent::Lengths
         : value == op.getSlots() ? ABIContent::Slots
                                  : ABIContent::Any;
}

/// What an operand is to an hla operation.
static ABIContent getContent(OpOperand &operand) {
  Value value = operand.get();
  auto classify = [&](auto op) {
    if (value == op.getQuery() || value == op.getKey())
      return ABIContent::QueryOrKey;
    if (value == op.getLogDecay())
      return ABIContent::LogDecay;
    return getIntegerContent(op, value);
  };
  return llvm::TypeSwitch<Operation *, ABIContent>(operand.getOwner())
      .Case<Operator, ScanOp>(classify)
      .Case([&](FusedScanOp op) {
        unsigned i = operand.getOperandNumber();
        return i < op.getInputs().size()
                   ? getContent(op.getBody().getArgument(i))
                   : getIntegerContent(op, value);
      })
      .Default([](Operation *) { return ABIContent::Any; });
}

/// Finds what hla operations take `value` for, and what it is the lengths or
/// slots of.
static void findContent(Value value, EntryExtents &extents,
                        ABIArgument &argument) {
  for (OpOperand &use : value.getUses()) {
    if (auto cast = dyn_cast<tensor::CastOp>(use.getOwner())) {
      findContent(cast.getResult(), extents, argument);
      continue;
    }
    ABIContent content = getContent(use);
    if (content == ABIContent::Lengths)
      argument.ranges.push_back(extents.getTokens(use.getOwner()));
    if (content == ABIContent::Slots)
      if (std::optional<ABIDim> states = extents.getSlots(use.getOwner()))
        argument.ranges.push_back(*states);
    // A query that is a value, too, is a query.
    if (content == ABIContent::QueryOrKey ||
        argument.content == ABIContent::Any)
      argument.content = content;
  }
}

/// An argument for `value`, with its name from `attribute` or `fallback`.
static FailureOr<ABIArgument> makeArgument(func::FuncOp function,
                                           EntryExtents &extents, Value value,
                                           ABIRole role, Attribute attribute,
                                           const Twine &fallback) {
  ABIArgument argument;
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  argument.name = name ? name.str() : fallback.str();
  argument.role = role;
  if (isa<BlockArgument>(value) && role != ABIRole::Write)
    findContent(value, extents, argument);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Type elementType = type ? type.getElementType() : Type();
  const bool isInteger =
      llvm::is_contained({ABIContent::Lengths, ABIContent::Slots},
                         argument.content) &&
      role == ABIRole::Read;
  if (!type || type.getRank() == 0 ||
      !(isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(elementType) ||
        (isInteger && elementType.isInteger(32)))) {
    InFlightDiagnostic error = function.emitError("expected '")
                               << argument.name
                               << "' to be a ranked tensor of bf16, f16, f32 "
                                  "or f64";
    if (elementType && elementType.isInteger(32))
      return error << ", or the lengths or slots of an hla operation, but got "
                   << type;
    return error << " (entry functions take sequences and states), but got "
                 << value.getType();
  }
  argument.elementType = elementType;
  argument.dims = extents.getDims(value);
  return argument;
}

FailureOr<EntryABI> hla::getEntryABI(func::FuncOp function) {
  if (function.isDeclaration() || !function.getBody().hasOneBlock())
    return function.emitError("expected '")
           << function.getName()
           << "' to be a function of one block (kernels have no control flow "
              "around them)";
  if (failed(verifyDims(function)))
    return failure();
  EntryABI abi;
  abi.entry = function.getName().str();
  Block &body = function.getBody().front();
  unsigned numArguments = body.getNumArguments();
  SmallVector<bool> written(numArguments, false);
  SmallVector<Value> values(body.getArguments());
  OperandRange returned = body.getTerminator()->getOperands();
  for (auto [destination, value] :
       llvm::zip(findResultDestinations(function), returned)) {
    abi.results.push_back(destination.argument);
    if (destination.argument < numArguments)
      written[destination.argument] = true;
    else
      values.push_back(value);
  }

  EntryExtents extents(function);
  if (failed(extents.solve(values)))
    return failure();
  llvm::StringSet<> names;
  auto append = [&](Value value, ABIRole role, Attribute name,
                    const Twine &fallback) -> LogicalResult {
    FailureOr<ABIArgument> argument =
        makeArgument(function, extents, value, role, name, fallback);
    if (failed(argument))
      return failure();
    if (!names.insert(argument->name).second)
      return function.emitError(
                 "expected the names of arguments and results to "
                 "differ, but got '")
             << argument->name << "' twice";
    abi.arguments.push_back(std::move(*argument));
    return success();
  };
  for (BlockArgument argument : body.getArguments()) {
    unsigned i = argument.getArgNumber();
    ABIRole role = ABIRole::Read;
    if (written[i] || isDestination(argument))
      role = isRead(argument) ? ABIRole::ReadWrite : ABIRole::Write;
    if (failed(append(argument, role,
                      function.getArgAttr(i, EntryABI::kNameAttrName),
                      "arg" + Twine(i))))
      return failure();
  }
  for (auto [i, index] : llvm::enumerate(abi.results))
    if (index >= numArguments &&
        failed(append(returned[i], ABIRole::Write,
                      function.getResultAttr(i, EntryABI::kNameAttrName),
                      "result" + Twine(i))))
      return failure();
  abi.constraints = extents.getConstraints();
  return abi;
}

std::string ABITerm::getText() const {
  std::string text = symbol;
  if (factor != 1)
    text = std::to_string(factor) + " * " + text;
  if (offset != 0)
    text += " + " + std::to_string(offset);
  return text;
}

std::optional<int64_t>
ABITerm::evaluate(const llvm::StringMap<int64_t> &symbols) const {
  int64_t value = symbols.lookup(symbol);
  if (llvm::MulOverflow(value, factor, value) ||
      llvm::AddOverflow(value, offset, value))
    return std::nullopt;
  return value;
}
