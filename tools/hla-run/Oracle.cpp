//===- Oracle.cpp - what a function should compute --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Oracle.h"
#include "Recurrences.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

using namespace hla_run;
using namespace mlir;
using mlir::hla::HeadLayout;

namespace {

/// The rows of a sequence, [B,T,H,D] or [B,H,T,D], or of one number a token,
/// [B,T,H] or [B,H,T].
template <typename TensorT> struct Sequence {
  Sequence(TensorT &tensor, HeadLayout layout, int64_t group = 1)
      : tensor(tensor), bthd(layout == HeadLayout::BTHD), group(group) {}

  int64_t batches() const { return tensor.shape[0]; }
  int64_t tokens() const { return tensor.shape[bthd ? 1 : 2]; }
  int64_t heads() const { return tensor.shape[bthd ? 2 : 1]; }
  int64_t width() const {
    return tensor.shape.size() == 4 ? tensor.shape[3] : 1;
  }
  int64_t index(int64_t batch, int64_t token, int64_t head) const {
    int64_t own = head / group;
    int64_t outer = bthd ? token : own, inner = bthd ? own : token;
    return ((batch * tensor.shape[1] + outer) * tensor.shape[2] + inner) *
           width();
  }
  ConstRow row(int64_t batch, int64_t token, int64_t head) const {
    return tensor.values.data() + index(batch, token, head);
  }
  void write(int64_t batch, int64_t token, int64_t head,
             ArrayRef<double> values) const {
    int64_t first = index(batch, token, head);
    llvm::copy(values, tensor.values.begin() + first);
    if (!tensor.isUnspecified.empty())
      std::fill_n(tensor.isUnspecified.begin() + first, width(), false);
  }

  TensorT &tensor;
  bool bthd;
  int64_t group;
};
using Input = Sequence<const Tensor>;
using Output = Sequence<Tensor>;

/// body(batch, head) for all heads, spread over the machine's threads.
void forEachHead(int64_t batches, int64_t heads,
                 const std::function<void(int64_t, int64_t)> &body) {
  std::atomic<int64_t> next{0};
  int64_t total = batches * heads;
  auto work = [&] {
    for (int64_t i = next++; i < total; i = next++)
      body(i / heads, i % heads);
  };
  int64_t count = std::min<int64_t>(
      std::max(1u, std::thread::hardware_concurrency()), total);
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < count; ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}

/// The decay of a token: a constant, or what a log-decay says of it or its
/// head.
struct Decays {
  double get(int64_t batch, int64_t token, int64_t head) const {
    if (!logDecay)
      return constant;
    if (logDecay->shape.size() == 1)
      return std::exp(logDecay->values[head]);
    return std::exp(*Input(*logDecay, layout).row(batch, token, head));
  }

  double constant;
  const Tensor *logDecay;
  HeadLayout layout;
};

/// The tokens that each state walks, all of a batch or of a sequence in it, and
/// the number that the state has: its own, or that of a slot.
struct Walk {
  struct Range {
    int64_t batch, begin, end;
  };

  Walk(const Output &output, const Tensor *lengths, const Tensor *slots,
       bool isReverse)
      : slots(slots), isReverse(isReverse) {
    if (!lengths)
      for (int64_t b = 0; b < output.batches(); ++b)
        ranges.push_back({b, 0, output.tokens()});
    else
      for (size_t n = 0; n + 1 < lengths->values.size(); ++n)
        ranges.push_back({0, static_cast<int64_t>(lengths->values[n]),
                          static_cast<int64_t>(lengths->values[n + 1])});
  }
  /// visit(token), in order.
  template <typename VisitT> void forEachToken(size_t n, VisitT visit) const {
    const Range &range = ranges[n];
    for (int64_t i = range.begin; i < range.end; ++i)
      visit(isReverse ? range.begin + range.end - 1 - i : i);
  }

  /// The initial state of a head; zero where its slot is no state.
  void load(size_t n, int64_t head, int64_t heads, const Tensor &states,
            Matrix &state) const {
    if (std::optional<size_t> first = find(n, head, heads, states, state))
      std::copy_n(states.values.begin() + *first, state.values.size(),
                  state.values.begin());
  }
  /// Its final state, which goes nowhere where its slot is none.
  void store(size_t n, int64_t head, int64_t heads, const Matrix &state,
             Tensor &states) const {
    std::optional<size_t> first = find(n, head, heads, states, state);
    if (!first)
      return;
    llvm::copy(state.values, states.values.begin() + *first);
    if (!states.isUnspecified.empty())
      std::fill_n(states.isUnspecified.begin() + *first, state.values.size(),
                  false);
  }

  llvm::SmallVector<Range> ranges;
  const Tensor *slots;
  bool isReverse;

private:
  /// Where a state is among all.
  std::optional<size_t> find(size_t n, int64_t head, int64_t heads,
                             const Tensor &states, const Matrix &state) const {
    int64_t number = slots ? static_cast<int64_t>(slots->values[n]) : n;
    if (number < 0 || number >= states.shape[0])
      return std::nullopt;
    return (number * heads + head) * state.values.size();
  }
};

void evaluateScan(mlir::hla::ScanOp op, const Input &q, const Input &k,
                  const Input &v, const Decays &decays, const Walk &walk,
                  const Tensor *carry, const Output &y, Tensor *final) {
  forEachHead(walk.ranges.size(), y.heads(), [&](int64_t n, int64_t h) {
    Matrix state(k.width(), v.width());
    int64_t b = walk.ranges[n].batch;
    if (carry)
      walk.load(n, h, y.heads(), *carry, state);
    walk.forEachToken(n, [&](int64_t t) {
      std::vector<double> row;
      if (op.getExclusive())
        row = state.times(q.row(b, t, h));
      state.addOuter(decays.get(b, t, h), k.row(b, t, h), v.row(b, t, h));
      if (!op.getExclusive())
        row = state.times(q.row(b, t, h));
      y.write(b, t, h, row);
    });
    if (final)
      walk.store(n, h, y.heads(), state, *final);
  });
}

/// What an output is divided by, for the normaliser's own value `n`.
double getDivisor(mlir::hla::Normalizer kind, double epsilon, double n) {
  if (kind == mlir::hla::Normalizer::Add)
    return n + epsilon;
  return n >= 0.0 ? std::max(n, epsilon) : std::min(n, -epsilon);
}

void evaluateOperator(mlir::hla::Operator op, const Input &q, const Input &k,
                      const Input &v, const Decays &decays, const Walk &walk,
                      ArrayRef<const Tensor *> carries, const Output &o,
                      ArrayRef<Tensor *> finals) {
  const double scale = std::pow(op.getScale().convertToDouble(), op.getOrder());
  const double epsilon = op.getEpsilon().convertToDouble();
  const bool isNormalized = op.getNormalizer() != mlir::hla::Normalizer::None;
  const bool keepsStates = !carries.empty() || !finals.empty();
  const SmallVector<mlir::hla::OperatorState> operatorStates = op.getStates();
  forEachHead(walk.ranges.size(), o.heads(), [&](int64_t n, int64_t h) {
    int64_t b = walk.ranges[n].batch;
    auto values = Recurrence::create(op, k.width(), v.width(), keepsStates);
    auto ones = Recurrence::create(op, k.width(), 1, keepsStates);
    // Those of the normaliser's states that do not depend on values are the
    // operator's; the others come after all of these.
    auto forEachState = [&](auto visit) {
      size_t next = values->states.size();
      for (size_t i = 0; i < values->states.size(); ++i) {
        visit(values->states[i], i);
        if (isNormalized)
          visit(ones->states[i], operatorStates[i].dependsOnValue ? next++ : i);
      }
    };
    if (!carries.empty())
      forEachState([&](Matrix &state, size_t i) {
        walk.load(n, h, o.heads(), *carries[i], state);
      });
    walk.forEachToken(n, [&](int64_t t) {
      ConstRow qt = q.row(b, t, h), kt = k.row(b, t, h);
      double decay = decays.get(b, t, h), divisor = 1.0, one = 1.0;
      std::vector<double> row = values->step(decay, qt, kt, v.row(b, t, h));
      if (isNormalized)
        divisor = getDivisor(op.getNormalizer(), epsilon,
                             scale * ones->step(decay, qt, kt, &one)[0]);
      for (double &value : row)
        value *= scale / divisor;
      o.write(b, t, h, row);
    });
    if (!finals.empty())
      forEachState([&](Matrix &state, size_t i) {
        walk.store(n, h, o.heads(), state, *finals[i]);
      });
  });
}

/// Evaluates a function operation by operation.
class Evaluator {
public:
  llvm::Expected<std::vector<Tensor>> run(func::FuncOp function,
                                          ArrayRef<Tensor> arguments);

private:
  llvm::Error evaluate(Operation &op);
  const Tensor *lookup(Value value) const { return values.lookup(value); }
  Tensor &define(Value value, ArrayRef<int64_t> shape);
  /// An extent of a value, or of an empty tensor that has it from one; none
  /// where it is computed.
  std::optional<int64_t> getExtent(Value value, int64_t dim) const;
  /// Defines the results of an operation whose destinations are `outputs`.
  /// Tokens that are of no sequence, and states in no slot, stay as they were,
  /// or are not specified.
  template <typename OpTy>
  SmallVector<Tensor *> defineResults(OpTy op, const Input &value,
                                      int64_t heads);
  void evaluate(mlir::hla::Operator op);
  void evaluate(mlir::hla::ScanOp op);

  llvm::DenseMap<Value, const Tensor *> values;
  std::vector<std::unique_ptr<Tensor>> storage;
};

} // namespace

Tensor &Evaluator::define(Value value, ArrayRef<int64_t> shape) {
  auto tensor = std::make_unique<Tensor>();
  tensor->shape.assign(shape.begin(), shape.end());
  int64_t size = 1;
  for (int64_t extent : shape)
    size *= extent;
  tensor->values.resize(size);
  values[value] = tensor.get();
  storage.push_back(std::move(tensor));
  return *storage.back();
}

std::optional<int64_t> Evaluator::getExtent(Value value, int64_t dim) const {
  while (true) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.isDynamicDim(dim))
      return type.getDimSize(dim);
    if (const Tensor *known = lookup(value))
      return known->shape[dim];
    auto empty = value.getDefiningOp<tensor::EmptyOp>();
    auto source = empty
                      ? empty.getDynamicSize(dim).getDefiningOp<tensor::DimOp>()
                      : tensor::DimOp();
    if (!source || !source.getConstantIndex())
      return std::nullopt;
    value = source.getSource();
    dim = *source.getConstantIndex();
  }
}

template <typename OpTy>
SmallVector<Tensor *> Evaluator::defineResults(OpTy op, const Input &value,
                                               int64_t heads) {
  const Tensor *lengths = lookup(op.getLengths());
  SmallVector<Tensor *> results;
  for (auto [result, output] : llvm::zip(op->getResults(), op.getOutputs())) {
    SmallVector<int64_t> shape;
    const bool hasGaps = results.empty() ? static_cast<bool>(lengths)
                                         : static_cast<bool>(op.getSlots());
    if (results.empty()) {
      shape.assign(value.tensor.shape.begin(), value.tensor.shape.end());
      shape[op.getLayout() == HeadLayout::BTHD ? 2 : 1] = heads;
    } else {
      auto type = cast<RankedTensorType>(result.getType());
      int64_t count = op.getSlots() ? *getExtent(output, 0)
                      : lengths     ? lengths->values.size() - 1
                                    : value.batches();
      shape = {count, heads, type.getDimSize(2), type.getDimSize(3)};
    }
    Tensor *tensor = &define(result, shape);
    if (const Tensor *before = lookup(output)) {
      tensor->values = before->values;
      tensor->isUnspecified = before->isUnspecified;
    } else if (hasGaps) {
      tensor->isUnspecified.assign(tensor->values.size(), true);
    }
    results.push_back(tensor);
  }
  return results;
}

void Evaluator::evaluate(mlir::hla::Operator op) {
  HeadLayout layout = op.getLayout();
  Input q(*lookup(op.getQuery()), layout, op.getQueryGroup()),
      k(*lookup(op.getKey()), layout, op.getKeyGroup()),
      v(*lookup(op.getValue()), layout, op.getKeyGroup());
  SmallVector<Tensor *> results =
      defineResults(op, v, q.heads() * op.getQueryGroup());
  SmallVector<const Tensor *> carries;
  for (Value carry : op.getCarries())
    carries.push_back(lookup(carry));
  Output o(*results.front(), layout);
  evaluateOperator(
      op, q, k, v,
      {op.getDecay().convertToDouble(), lookup(op.getLogDecay()), layout},
      Walk(o, lookup(op.getLengths()), lookup(op.getSlots()), op.getReverse()),
      carries, o, ArrayRef(results).drop_front());
}

void Evaluator::evaluate(mlir::hla::ScanOp op) {
  HeadLayout layout = op.getLayout();
  Input q(*lookup(op.getQuery()), layout, op.getGroup(0)),
      k(*lookup(op.getKey()), layout, op.getGroup(1)),
      v(*lookup(op.getValue()), layout, op.getGroup(2));
  SmallVector<Tensor *> results =
      defineResults(op, v, q.heads() * op.getGroup(0));
  Output y(*results.front(), layout);
  evaluateScan(
      op, q, k, v,
      {op.getDecay().convertToDouble(), lookup(op.getLogDecay()), layout},
      Walk(y, lookup(op.getLengths()), lookup(op.getSlots()), op.getReverse()),
      lookup(op.getCarry()), y, results.size() > 1 ? results[1] : nullptr);
}

llvm::Error Evaluator::evaluate(Operation &op) {
  // Everything but scans and operators only says shapes and destinations. A
  // destination that is read all the same has no value below.
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (const Tensor *source = lookup(cast.getSource()))
      values[cast.getResult()] = source;
    return llvm::Error::success();
  }
  auto operatorOp = dyn_cast<mlir::hla::Operator>(op);
  auto scanOp = dyn_cast<mlir::hla::ScanOp>(op);
  if (!operatorOp && !scanOp) {
    if (isa<mlir::hla::HLADialect>(op.getDialect()))
      return llvm::createStringError(
          "expected operators and hla.scan in a function to check, but got " +
          op.getName().getStringRef());
    return llvm::Error::success();
  }
  auto destinations = cast<DestinationStyleOpInterface>(op);
  for (OpOperand *operand : destinations.getDpsInputOperands())
    if (!lookup(operand->get()))
      return llvm::createStringError(
          "expected the operands of " + op.getName().getStringRef() +
          " to be arguments or results of operators (to check the function), "
          "but "
          "operand " +
          llvm::Twine(operand->getOperandNumber()) + " is not");
  for (OpOperand &output : destinations.getDpsInitsMutable())
    if (!getExtent(output.get(), 0))
      return llvm::createStringError(
          "expected the states of " + op.getName().getStringRef() +
          " to be as many as those of an argument (to check the function), but "
          "operand " +
          llvm::Twine(output.getOperandNumber()) + " has a computed number");
  if (operatorOp)
    evaluate(operatorOp);
  else
    evaluate(scanOp);
  return llvm::Error::success();
}

llvm::Expected<std::vector<Tensor>> Evaluator::run(func::FuncOp function,
                                                   ArrayRef<Tensor> arguments) {
  for (auto [argument, tensor] : llvm::zip(function.getArguments(), arguments))
    values[argument] = &tensor;
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator())
    if (llvm::Error error = evaluate(op))
      return error;
  std::vector<Tensor> results;
  for (Value value : body.getTerminator()->getOperands()) {
    const Tensor *tensor = lookup(value);
    if (!tensor)
      return llvm::createStringError("expected results of operators to be "
                                     "returned (to check the function)");
    results.push_back(*tensor);
  }
  return results;
}

llvm::Expected<std::vector<Tensor>>
hla_run::evaluate(func::FuncOp function, ArrayRef<Tensor> arguments) {
  return Evaluator().run(function, arguments);
}
