//===- ScanBuilder.cpp - writing an operator as scans -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;

//===----------------------------------------------------------------------===//
// RowBuilder
//===----------------------------------------------------------------------===//

Value RowBuilder::constant(double value, Value like) {
  auto rowType =
      VectorType::get(cast<VectorType>(like.getType()).getShape(), type);
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(rowType, getFloatAttr(type, value)));
}

Value RowBuilder::widen(Value row) {
  auto from = cast<VectorType>(row.getType());
  if (from.getElementType() == type)
    return row;
  auto to = VectorType::get(from.getShape(), type);
  return from.getElementTypeBitWidth() < type.getWidth()
             ? arith::ExtFOp::create(*this, to, row).getResult()
             : arith::TruncFOp::create(*this, to, row).getResult();
}

Value RowBuilder::broadcast(Value number, Value like) {
  Type to = like.getType();
  return number.getType() == to
             ? number
             : vector::BroadcastOp::create(*this, to, number).getResult();
}

Value RowBuilder::add(Value x, Value y) {
  return arith::AddFOp::create(*this, x, y);
}
Value RowBuilder::sub(Value x, Value y) {
  return arith::SubFOp::create(*this, x, y);
}
Value RowBuilder::mul(Value x, Value y) {
  return arith::MulFOp::create(*this, x, y);
}

Value RowBuilder::scale(Value number, Value row) {
  return mul(broadcast(number, row), row);
}

Value RowBuilder::scale(double number, Value row) {
  return number == 1.0 ? row : mul(constant(number, row), row);
}

Value RowBuilder::divide(Value row, Value number) {
  return arith::DivFOp::create(*this, row, broadcast(number, row));
}

Value RowBuilder::maximum(Value x, Value y) {
  return arith::MaximumFOp::create(*this, x, y);
}

Value RowBuilder::minimum(Value x, Value y) {
  return arith::MinimumFOp::create(*this, x, y);
}

Value RowBuilder::selectNonNegative(Value x, Value y, Value z) {
  Value isNonNegative = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGE,
                                              x, constant(0.0, x));
  return arith::SelectOp::create(*this, isNonNegative, y, z);
}

Value RowBuilder::sum(Value row) {
  return RowSumOp::create(*this, VectorType::get({1}, type), row);
}

//===----------------------------------------------------------------------===//
// ScanBuilder
//===----------------------------------------------------------------------===//

ScanBuilder::ScanBuilder(Operator op, PatternRewriter &rewriter)
    : op(op), rewriter(rewriter), loc(op.getLoc()) {
  Value output = op.getOutputs().front();
  bool isF64 = getElementTypeOrSelf(op.getQuery()).isF64() ||
               getElementTypeOrSelf(output).isF64();
  type = isF64 ? cast<FloatType>(rewriter.getF64Type())
               : cast<FloatType>(rewriter.getF32Type());
  sizes = tensor::getMixedSizes(rewriter, loc, output);
}

Value ScanBuilder::createDestination(int64_t width, bool asNumbers) {
  SmallVector<OpFoldResult> shape = sizes;
  shape.back() = rewriter.getIndexAttr(width);
  if (asNumbers)
    shape.pop_back();
  return tensor::EmptyOp::create(rewriter, loc, shape, type);
}

static int64_t getWidth(Rows rows) {
  return FusedScanOp::getRowType(rows.value.getType()).getDimSize(0);
}

Rows ScanBuilder::map(ArrayRef<Rows> rows,
                      function_ref<Value(RowBuilder &, ValueRange)> body,
                      bool asNumbers) {
  SmallVector<Value> inputs;
  SmallVector<int64_t> groups;
  SmallVector<Type> rowTypes;
  for (Rows input : rows) {
    inputs.push_back(input.value);
    groups.push_back(input.group);
    rowTypes.push_back(FusedScanOp::getRowType(input.value.getType()));
  }
  // The body says how wide its rows are, so it is written first.
  OpBuilder::InsertionGuard guard(rewriter);
  Region region;
  Block *block =
      rewriter.createBlock(&region, region.end(), rowTypes,
                           SmallVector<Location>(rowTypes.size(), loc));
  RowBuilder r(loc, rewriter, type);
  SmallVector<Value> widened;
  for (BlockArgument argument : block->getArguments())
    widened.push_back(r.widen(argument));
  Value row = body(r, widened);
  YieldOp::create(rewriter, loc, row);

  rewriter.setInsertionPoint(op);
  Value destination = createDestination(
      cast<VectorType>(row.getType()).getDimSize(0), asNumbers);
  bool isGrouped =
      llvm::any_of(groups, [](int64_t group) { return group != 1; });
  auto loop = FusedScanOp::create(
      rewriter, loc, destination.getType(), op.getReverse(), op.getLayout(),
      isGrouped ? rewriter.getDenseI64ArrayAttr(groups) : DenseI64ArrayAttr(),
      /*carry_in=*/ArrayRef<bool>(), /*carry_out=*/ArrayRef<bool>(),
      /*schedule=*/ScheduleAttr(), inputs, op.getLengths(), op.getSlots(),
      /*carries=*/ValueRange(), destination);
  loop.getBody().takeBody(region);
  return createRows(loop.getResult(0));
}

Rows ScanBuilder::ones() {
  return map({query()}, [](RowBuilder &r, ValueRange x) {
    return r.constant(1.0, r.sum(x[0]));
  });
}

Rows ScanBuilder::addScaled(Rows x, double c, Rows y) {
  if (c == 0.0)
    return x;
  return map({x, y}, [&](RowBuilder &r, ValueRange rows) {
    return c == -1.0 ? r.sub(rows[0], rows[1])
                     : r.add(rows[0], r.scale(c, rows[1]));
  });
}

Rows ScanBuilder::dot(Rows x, Rows y) {
  return map({x, y}, [](RowBuilder &r, ValueRange rows) {
    return r.sum(r.mul(rows[0], rows[1]));
  });
}

unsigned ScanBuilder::getState(Rows key, Rows value, bool squared) {
  for (auto [i, state] : llvm::enumerate(states))
    if (state.key == key && state.value == value && state.squared == squared)
      return i;
  states.push_back({key, value, squared, Value()});
  return states.size() - 1;
}

Value ScanBuilder::getSquaredLogDecay() {
  if (squaredLogDecay)
    return squaredLogDecay;
  // The query lends its tokens: a log-decay of heads has none.
  Rows doubled = map(
      {query(), {op.getLogDecay()}},
      [](RowBuilder &r, ValueRange x) { return r.add(x[1], x[1]); },
      /*asNumbers=*/true);
  return squaredLogDecay = doubled.value;
}

Rows ScanBuilder::scan(Rows query, Rows key, Rows value, ScanOptions options) {
  for (const Scan &other : scans)
    if (other.query == query && other.key == key && other.value == value &&
        other.options.exclusive == options.exclusive &&
        other.options.squared == options.squared)
      return other.result;

  unsigned state = getState(key, value, options.squared);
  Value logDecay = op.getLogDecay();
  double decay = op.getDecay().convertToDouble();
  if (options.squared) {
    decay = std::max(decay * decay, std::numeric_limits<double>::min());
    if (logDecay)
      logDecay = getSquaredLogDecay();
  }
  SmallVector<Value> outputs = {createDestination(getWidth(value))};
  OperandRange finals = op.getOutputs().drop_front();
  bool isFirst = !states[state].final;
  if (!finals.empty() && isFirst)
    outputs.push_back(finals[state]);
  bool isGrouped = query.group != 1 || key.group != 1 || value.group != 1;
  auto scan = ScanOp::create(
      rewriter, loc, ValueRange(outputs).getTypes(),
      options.exclusive ? rewriter.getUnitAttr() : UnitAttr(),
      op.getReverse() ? rewriter.getUnitAttr() : UnitAttr(),
      rewriter.getF64FloatAttr(decay),
      HeadLayoutAttr::get(rewriter.getContext(), op.getLayout()),
      isGrouped
          ? rewriter.getDenseI64ArrayAttr({query.group, key.group, value.group})
          : DenseI64ArrayAttr(),
      query.value, key.value, value.value, logDecay, op.getLengths(),
      op.getSlots(), op.getCarries().empty() ? Value() : op.getCarries()[state],
      outputs);
  if (outputs.size() > 1)
    states[state].final = scan.getFinal();
  Rows result = createRows(scan.getResults().front());
  scans.push_back({query, key, value, options, result});
  return result;
}

/// Lets the operation that computes `rows` write them, rounded, to
/// `destination`: rows of sums round once, to whatever type they are stored in.
static Value redirect(Rows rows, Value destination, PatternRewriter &rewriter) {
  Operation *definition = rows.value.getDefiningOp();
  rewriter.modifyOpInPlace(definition, [&] {
    auto structured = cast<DestinationStyleOpInterface>(definition);
    structured.setDpsInitOperand(0, destination);
    definition->getResult(0).setType(destination.getType());
  });
  auto loop = dyn_cast<FusedScanOp>(definition);
  if (!loop)
    return definition->getResult(0);
  Operation *yield = loop.getBody().front().getTerminator();
  Value row = yield->getOperand(0);
  VectorType rowType = FusedScanOp::getRowType(destination.getType());
  if (row.getType() != rowType) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(yield);
    row = arith::TruncFOp::create(rewriter, loop.getLoc(), rowType, row);
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperand(0, row); });
  }
  return definition->getResult(0);
}

void ScanBuilder::replaceOperator(Rows output) {
  SmallVector<Value> results = {
      redirect(output, op.getOutputs().front(), rewriter)};
  assert(
      (op.getOutputs().size() == 1 || states.size() == op.getStates().size()) &&
      "an operator's states are those of its scans");
  for (size_t i = 1; i < op.getOutputs().size(); ++i)
    results.push_back(states[i - 1].final);
  rewriter.replaceOp(op, results);
}
