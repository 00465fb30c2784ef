//===- Oracle.cpp - what a function should compute --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Oracle.h"
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

using Row = double *;
using ConstRow = const double *;

/// The rows of a sequence, [B,T,H,D] or [B,H,T,D].
template <typename TensorT> struct Sequence {
  Sequence(TensorT &tensor, HeadLayout layout)
      : tensor(tensor), bthd(layout == HeadLayout::BTHD) {}

  int64_t tokens() const { return tensor.shape[bthd ? 1 : 2]; }
  int64_t heads() const { return tensor.shape[bthd ? 2 : 1]; }
  int64_t width() const { return tensor.shape[3]; }
  auto row(int64_t batch, int64_t token, int64_t head) const {
    int64_t outer = bthd ? token : head, inner = bthd ? head : token;
    int64_t index = (batch * tensor.shape[1] + outer) * tensor.shape[2] + inner;
    return tensor.values.data() + index * width();
  }

  TensorT &tensor;
  bool bthd;
};
using Input = Sequence<const Tensor>;
using Output = Sequence<Tensor>;

/// A d×dv matrix.
struct Matrix {
  Matrix(int64_t rows, int64_t cols)
      : rows(rows), cols(cols), values(rows * cols, 0.0) {}

  Row operator[](int64_t i) { return values.data() + i * cols; }

  /// M ← γ M + x yᵀ.
  void addOuter(double decay, ConstRow x, ConstRow y) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        (*this)[i][j] = decay * (*this)[i][j] + x[i] * y[j];
  }
  /// y ← y + s Mᵀ x.
  void multiply(double scale, ConstRow x, Row y) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < cols; ++j)
        y[j] += scale * x[i] * (*this)[i][j];
  }

  int64_t rows, cols;
  std::vector<double> values;
};

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

/// The paper's second order: with the statistics
///
///   S_t = S_{t-1} + k kᵀ,  C_t = C_{t-1} + q vᵀ,  G_t = G_{t-1} + k (kᵀ
///   C_{t-1}),
///
/// o = qᵀ (S C − G) masked, and o = qᵀ S C without the mask's correction.
void evaluateSecondOrder(const Input &q, const Input &k, const Input &v,
                         bool isMasked, const Output &o) {
  int64_t d = q.width(), dv = v.width();
  forEachHead(q.tensor.shape[0], q.heads(), [&](int64_t b, int64_t h) {
    Matrix s(d, d), c(d, dv), g(d, dv);
    std::vector<double> before(dv), scores(d);
    for (int64_t t = 0; t < q.tokens(); ++t) {
      ConstRow query = q.row(b, t, h), key = k.row(b, t, h);
      std::fill(before.begin(), before.end(), 0.0);
      c.multiply(1.0, key, before.data());
      if (isMasked)
        g.addOuter(1.0, key, before.data());
      s.addOuter(1.0, key, key);
      c.addOuter(1.0, query, v.row(b, t, h));
      std::fill(scores.begin(), scores.end(), 0.0);
      s.multiply(1.0, query, scores.data());
      Row out = o.row(b, t, h);
      std::fill(out, out + dv, 0.0);
      c.multiply(1.0, scores.data(), out);
      g.multiply(-1.0, query, out);
    }
  });
}

void evaluateScan(mlir::hla::ScanOp op, const Input &q, const Input &k,
                  const Input &v, const Tensor *carry, const Output &y,
                  Tensor *final) {
  int64_t d = q.width(), dv = v.width(), size = d * dv;
  double decay = op.getDecay().convertToDouble();
  forEachHead(q.tensor.shape[0], q.heads(), [&](int64_t b, int64_t h) {
    Matrix state(d, dv);
    int64_t head = (b * q.heads() + h) * size;
    if (carry)
      std::copy_n(carry->values.begin() + head, size, state.values.begin());
    for (int64_t i = 0; i < q.tokens(); ++i) {
      int64_t t = op.getReverse() ? q.tokens() - 1 - i : i;
      Row row = y.row(b, t, h);
      std::fill(row, row + dv, 0.0);
      if (op.getExclusive())
        state.multiply(1.0, q.row(b, t, h), row);
      state.addOuter(decay, k.row(b, t, h), v.row(b, t, h));
      if (!op.getExclusive())
        state.multiply(1.0, q.row(b, t, h), row);
    }
    if (final)
      std::copy_n(state.values.begin(), size, final->values.begin() + head);
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
  void secondOrder(mlir::hla::SecondOrderOp op);
  void scan(mlir::hla::ScanOp op);

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

void Evaluator::secondOrder(mlir::hla::SecondOrderOp op) {
  HeadLayout layout = op.getLayout();
  const Tensor &v = *lookup(op.getValue());
  Tensor &o = define(op.getResult(), v.shape);
  evaluateSecondOrder(Input(*lookup(op.getQuery()), layout),
                      Input(*lookup(op.getKey()), layout), Input(v, layout),
                      op.getVariant() == mlir::hla::SecondOrderVariant::Masked,
                      Output(o, layout));
}

void Evaluator::scan(mlir::hla::ScanOp op) {
  HeadLayout layout = op.getLayout();
  Input q(*lookup(op.getQuery()), layout), k(*lookup(op.getKey()), layout),
      v(*lookup(op.getValue()), layout);
  const Tensor *carry = op.getCarry() ? lookup(op.getCarry()) : nullptr;
  Tensor &y = define(op.getResults()[0], v.tensor.shape);
  Tensor *final = nullptr;
  if (op.getFinal())
    final = &define(op.getFinal(),
                    {q.tensor.shape[0], q.heads(), q.width(), v.width()});
  evaluateScan(op, q, k, v, carry, Output(y, layout), final);
}

llvm::Error Evaluator::evaluate(Operation &op) {
  // Everything but scans and operators only says shapes and destinations. A
  // destination that is read all the same has no value below.
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (const Tensor *source = lookup(cast.getSource()))
      values[cast.getResult()] = source;
    return llvm::Error::success();
  }
  auto secondOrderOp = dyn_cast<mlir::hla::SecondOrderOp>(op);
  auto scanOp = dyn_cast<mlir::hla::ScanOp>(op);
  if (!secondOrderOp && !scanOp) {
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
  if (secondOrderOp)
    secondOrder(secondOrderOp);
  else
    scan(scanOp);
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
