//===- EntryABI.cpp - what a compiled entry function takes ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "ResultDestinations.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

/// The extents of a function's tensors, in classes of equal ones.
class ExtentClasses {
public:
  explicit ExtentClasses(func::FuncOp function) : function(function) {
    function.walk([&](Operation *op) { addConstraints(op); });
  }

  /// The extents of `value`, named.
  FailureOr<SmallVector<ABIDim>> getDims(Value value);

private:
  /// A node is an extent of a value; a class has at most one static size.
  using Extent = std::pair<void *, int64_t>;

  static Extent node(Value value, int64_t dim) {
    return {value.getAsOpaquePointer(), dim};
  }
  void tie(Value x, int64_t xDim, Value y, int64_t yDim) {
    classes.unionSets(insert(x, xDim), insert(y, yDim));
  }
  void tieAll(Value x, Value y) {
    auto type = dyn_cast<RankedTensorType>(x.getType());
    auto other = dyn_cast<RankedTensorType>(y.getType());
    for (int64_t i = 0; type && other && i < type.getRank(); ++i)
      tie(x, i, y, i);
  }
  Extent insert(Value value, int64_t dim) {
    Extent extent = node(value, dim);
    classes.insert(extent);
    int64_t size = cast<RankedTensorType>(value.getType()).getDimSize(dim);
    if (!ShapedType::isDynamic(size))
      sizes.insert({extent, size});
    return extent;
  }

  void addConstraints(Operation *op);
  /// The constraints of an hla operation: sequences agree on B, T and H, and
  /// states on B and H with them.
  void addHeads(HeadLayout layout, ArrayRef<Value> sequences,
                ArrayRef<Value> states);

  func::FuncOp function;
  llvm::EquivalenceClasses<Extent> classes;
  std::map<Extent, int64_t> sizes;
  /// Extents that an hla operation calls a batch, token or head.
  SmallVector<std::pair<Extent, StringRef>> kinds;
  /// Symbols given so far, by class leader.
  std::map<Extent, std::string> symbols;
  llvm::StringMap<unsigned> counts;
};

} // namespace

void ExtentClasses::addHeads(HeadLayout layout, ArrayRef<Value> sequences,
                             ArrayRef<Value> states) {
  int64_t token = layout == HeadLayout::BTHD ? 1 : 2, head = 3 - token;
  Value first = sequences.front();
  if (!isa<RankedTensorType>(first.getType()))
    return;
  for (Value sequence : sequences)
    for (int64_t dim : {int64_t(0), token, head})
      tie(first, dim, sequence, dim);
  for (Value state : states) {
    tie(first, 0, state, 0);
    tie(first, head, state, 1);
  }
  kinds.push_back({node(first, 0), "B"});
  kinds.push_back({node(first, token), "T"});
  kinds.push_back({node(first, head), "H"});
}

void ExtentClasses::addConstraints(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](Operator op) {
        SmallVector<Value> states(op.getCarries());
        llvm::append_range(states, op.getOutputs().drop_front());
        addHeads(op.getLayout(),
                 {op.getQuery(), op.getKey(), op.getValue(),
                  op.getOutputs().front()},
                 states);
      })
      .Case([&](ScanOp op) {
        SmallVector<Value> states;
        for (Value state : {Value(op.getCarry()), op.getFinalInit()})
          if (state)
            states.push_back(state);
        addHeads(
            op.getLayout(),
            {op.getQuery(), op.getKey(), op.getValue(), op.getOutputs()[0]},
            states);
      })
      .Case([&](FusedScanOp op) {
        SmallVector<Value> sequences(op.getInputs());
        llvm::append_range(sequences, op.getSequenceOutputs());
        SmallVector<Value> states(op.getCarries());
        llvm::append_range(states, op.getFinalOutputs());
        if (!sequences.empty())
          addHeads(op.getLayout(), sequences, states);
      })
      .Case([&](tensor::CastOp op) { tieAll(op.getSource(), op.getResult()); })
      .Case([&](tensor::EmptyOp op) {
        unsigned dynamic = 0;
        for (auto [i, size] : llvm::enumerate(op.getType().getShape())) {
          if (!ShapedType::isDynamic(size))
            continue;
          auto dim =
              op.getDynamicSizes()[dynamic++].getDefiningOp<tensor::DimOp>();
          if (std::optional<int64_t> index =
                  dim ? dim.getConstantIndex() : std::nullopt;
              index && isa<RankedTensorType>(dim.getSource().getType()))
            tie(op.getResult(), i, dim.getSource(), *index);
        }
      });
  if (auto destinations = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      if (OpOperand *init = destinations.getTiedOpOperand(result))
        tieAll(result, init->get());
}

FailureOr<SmallVector<ABIDim>> ExtentClasses::getDims(Value value) {
  SmallVector<ABIDim> dims;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t i = 0; i < type.getRank(); ++i) {
    insert(value, i);
    Extent leader = classes.getLeaderValue(node(value, i));
    int64_t size = ShapedType::kDynamic;
    for (const Extent &member : classes.members(node(value, i))) {
      auto known = sizes.find(member);
      if (known == sizes.end())
        continue;
      if (!ShapedType::isDynamic(size) && size != known->second)
        return function.emitError("expected extents that hla operations tie "
                                  "together to be equal, but got ")
               << size << " and " << known->second;
      size = known->second;
    }
    std::string &symbol = symbols[leader];
    if (ShapedType::isDynamic(size) && symbol.empty()) {
      StringRef kind = "d";
      for (auto &[extent, name] : kinds)
        if (classes.getLeaderValue(extent) == leader) {
          kind = name;
          break;
        }
      unsigned count = counts[kind]++;
      bool isNumbered = kind == "d" || count > 0;
      symbol = kind.str() + (isNumbered ? std::to_string(count) : "");
    }
    dims.push_back({size, ShapedType::isDynamic(size) ? symbol : ""});
  }
  return dims;
}

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
/// operations are only written.
static bool isRead(BlockArgument argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      return false;
    auto destinations = dyn_cast<DestinationStyleOpInterface>(user);
    return !destinations || !isa<HLADialect>(user->getDialect()) ||
           !destinations.isDpsInit(&use);
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

/// An argument for `value`, with its name from `attribute` or `fallback`.
static FailureOr<ABIArgument> makeArgument(func::FuncOp function,
                                           ExtentClasses &extents, Value value,
                                           ABIRole role, Attribute attribute,
                                           const Twine &fallback) {
  ABIArgument argument;
  auto name = dyn_cast_or_null<StringAttr>(attribute);
  argument.name = name ? name.str() : fallback.str();
  argument.role = role;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && isa<BFloat16Type, Float16Type, Float32Type, Float64Type>(
                  type.getElementType()))
    argument.elementType = cast<FloatType>(type.getElementType());
  if (!argument.elementType || type.getRank() == 0)
    return function.emitError("expected '")
           << argument.name
           << "' to be a ranked tensor of bf16, f16, f32 or f64 (entry "
              "functions take sequences and states), but got "
           << value.getType();
  FailureOr<SmallVector<ABIDim>> dims = extents.getDims(value);
  if (failed(dims))
    return failure();
  argument.dims = std::move(*dims);
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
  for (const ResultDestination &destination :
       findResultDestinations(function)) {
    abi.results.push_back(destination.argument);
    if (destination.argument < numArguments)
      written[destination.argument] = true;
  }
  OperandRange returned = body.getTerminator()->getOperands();

  ExtentClasses extents(function);
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
  return abi;
}
