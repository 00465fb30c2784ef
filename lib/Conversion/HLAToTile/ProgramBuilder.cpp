//===- ProgramBuilder.cpp - the tile program of one loop ------------------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "Padding.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

Value ProgramBuilder::zeros(int64_t rows, int64_t cols) {
  auto type = RankedTensorType::get({rows, cols}, accumulatorType);
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

Value ProgramBuilder::cast(Value tile, FloatType elementType) {
  auto type = mlir::cast<RankedTensorType>(tile.getType());
  const unsigned from = type.getElementTypeBitWidth();
  auto result = type.clone(elementType);
  if (type == result)
    return tile;
  // bf16 and f16 have no common supertype of 16 bits.
  if (from == elementType.getWidth())
    return cast(cast(tile, b.getF32Type()), elementType);
  if (from < elementType.getWidth())
    return arith::ExtFOp::create(b, result, tile);
  // What a chunk computes is rounded there, so that registers hold its wide
  // form no longer than needed; a state is rounded where it is read.
  OpBuilder::InsertionGuard guard(b);
  if (Operation *definition = tile.getDefiningOp())
    b.setInsertionPointAfter(definition);
  auto rounded = arith::TruncFOp::create(b, result, tile);
  // As instructions round to tf32.
  if (elementType.isTF32())
    rounded.setRoundingmode(arith::RoundingMode::to_nearest_away);
  return rounded;
}

/// What is in its place, or zeros without one.
Value ProgramBuilder::getInitialState(BlockArgument state) {
  auto type = mlir::cast<VectorType>(state.getType());
  const bool isSliced = slices.isSliced(state);
  const auto [rows, cols] = slices.getTileShape(state);
  Value view = initialViews[state.getArgNumber() - op.getInputs().size()];
  if (!view)
    return zeros(rows, cols);
  auto tileType = RankedTensorType::get({rows, cols}, type.getElementType());
  return cast(LoadOp::create(b, tileType, view, index(0), getSlice(isSliced)),
              accumulatorType);
}

void ProgramBuilder::storeFinalState(unsigned state, Value tile) {
  Value view = finalViews[state];
  if (!view)
    return;
  BlockArgument argument = op.getStateArguments()[state];
  auto elementType =
      mlir::cast<FloatType>(getElementTypeOrSelf(argument.getType()));
  StoreOp::create(b, cast(tile, elementType), view, index(0),
                  getSlice(slices.isSliced(argument)));
}

/// The element type of the tile of an input: its own, or tf32 for rows of f32
/// that are read as such operands and nothing else.
Type ProgramBuilder::getLoadedType(BlockArgument row, bool isSliced) {
  Type type = getElementTypeOrSelf(row);
  const bool isOperand = llvm::all_of(row.getUses(), [&](OpOperand &use) {
    auto step = dyn_cast<StepOp>(use.getOwner());
    return slices.isSliced(use) != isSliced ||
           (step && &use != &step.getStateMutable());
  });
  const bool isColumn =
      mlir::cast<ShapedType>(row.getType()).getDimSize(0) == 1;
  return type.isF32() && operandType.isTF32() && isOperand && !isColumn
             ? operandType
             : type;
}

/// A tile as an operand of a product: rounded to the schedule's precision, or
/// as it is if that has all of its values.
Value ProgramBuilder::roundOperand(Value tile) {
  auto type = mlir::cast<RankedTensorType>(tile.getType());
  return type.getElementTypeBitWidth() < operandType.getWidth()
             ? tile
             : cast(tile, operandType);
}

Value ProgramBuilder::dot(Value lhs, Value rhs, Value acc, bool transposeLhs,
                          bool transposeRhs) {
  lhs = roundOperand(lhs);
  rhs = roundOperand(rhs);
  // Of two operands of one 16-bit type, products are exact.
  Type type = getElementTypeOrSelf(lhs);
  const bool isExact =
      type == getElementTypeOrSelf(rhs) && type.getIntOrFloatBitWidth() == 16;
  return DotOp::create(
      b, acc.getType(), lhs, rhs, acc, transposeLhs, transposeRhs,
      schedule.getPrecision() == Precision::BF16x3 && !isExact);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The number of tokens that the chunk has.
Value ProgramBuilder::getChunkSize() {
  if (!chunkSize)
    chunkSize = arith::MinSIOp::create(
        b, index(schedule.getChunk()),
        arith::SubIOp::create(b, head->getEndToken(), chunkRow));
  return chunkSize;
}

/// What an operation of the body reads.
Value ProgramBuilder::lookup(OpOperand &use) {
  const bool isSliced = slices.isSliced(use);
  if (auto constant = use.get().getDefiningOp<arith::ConstantOp>())
    return buildConstant(constant, isSliced);
  if (auto broadcast = use.get().getDefiningOp<vector::BroadcastOp>())
    return buildBroadcast(broadcast, isSliced);
  Value sliced = isSliced ? slicedInputs.lookup(use.get()) : Value();
  return sliced ? sliced : values.lookup(use.get());
}

/// Whether tokens have rows, or numbers, of their own.
bool ProgramBuilder::hasTile(Value row) {
  if (mlir::cast<VectorType>(row.getType()).getDimSize(0) != 1)
    return true;
  if (auto broadcast = row.getDefiningOp<vector::BroadcastOp>())
    return hasTile(broadcast.getSource());
  Value value = values.lookup(row);
  return value && isa<RankedTensorType>(value.getType());
}

/// The rows of all tokens, also where all have one number.
Value ProgramBuilder::getTile(OpOperand &use) {
  Value value = lookup(use);
  if (isa<RankedTensorType>(value.getType()))
    return value;
  return tensor::SplatOp::create(b, getColumnType(value.getType()), value);
}

/// The rows of all tokens; with `isMasked`, zero after the last token.
Value ProgramBuilder::getMasked(OpOperand &use, bool isMasked) {
  Value tile = getTile(use);
  return isMasked ? MaskOp::create(b, tile.getType(), Dim::Rows, tile,
                                   getChunkSize())
                  : tile;
}

/// A tile, or a slice of it, with zeros from the rows' column `cols` on.
Value ProgramBuilder::maskCols(Value tile, int64_t cols, bool isSliced) {
  Value count = index(cols);
  if (isSliced) {
    const int64_t width = slices.getWidth(cols, isSliced);
    count = arith::SubIOp::create(
        b, count, arith::MulIOp::create(b, slice, index(width)));
  }
  return b.createOrFold<MaskOp>(tile.getType(), Dim::Cols, tile, count);
}

/// A row as an operand of a product, zero in the columns that the tile has
/// more; with `isMasked`, also after the last token. A number a token is in
/// column 0.
Value ProgramBuilder::getOperand(OpOperand &use, bool isMasked) {
  auto type = mlir::cast<VectorType>(use.get().getType());
  const bool isSliced = slices.isSliced(use);
  const int64_t cols = type.getDimSize(0),
                width = slices.getWidth(cols, isSliced);
  Value tile = getMasked(use, isMasked);
  if (cols == target.getTileWidth(cols))
    return tile;
  if (cols == 1) {
    auto wide = RankedTensorType::get({schedule.getChunk(), width},
                                      type.getElementType());
    return maskCols(BroadcastOp::create(b, wide, tile), cols, isSliced);
  }
  return isZeroPadded(use.get(), Dim::Cols) ? tile
                                            : maskCols(tile, cols, isSliced);
}

Value ProgramBuilder::buildConstant(arith::ConstantOp op, bool isSliced) {
  auto splat = mlir::cast<SplatElementsAttr>(op.getValue());
  auto type = mlir::cast<VectorType>(op.getType());
  if (type.getDimSize(0) == 1)
    return arith::ConstantOp::create(b, splat.getSplatValue<TypedAttr>());
  return arith::ConstantOp::create(
      b, splat.resizeSplat(
             getTileType(type.getDimSize(0), type.getElementType(), isSliced)));
}

Value ProgramBuilder::buildRowSum(hla::RowSumOp op) {
  auto elementType =
      mlir::cast<FloatType>(op.getSum().getType().getElementType());
  Value row = getTile(op.getRowMutable());
  const int64_t cols = op.getRow().getType().getDimSize(0);
  if (cols == 1)
    return cast(row, elementType);
  if (!isZeroPadded(op.getRow(), Dim::Cols))
    row = maskCols(row, cols, /*isSliced=*/false);
  return SumRowsOp::create(b, getColumnType(elementType), row,
                           /*offset=*/IntegerAttr());
}

Value ProgramBuilder::buildBroadcast(vector::BroadcastOp op, bool isSliced) {
  VectorType type = op.getResultVectorType();
  Value source = lookup(op.getSourceMutable());
  if (type.getDimSize(0) == 1)
    return source;
  RankedTensorType result =
      getTileType(type.getDimSize(0), type.getElementType(), isSliced);
  if (isa<RankedTensorType>(source.getType()))
    return BroadcastOp::create(b, result, source);
  return tensor::SplatOp::create(b, result, source);
}

/// The operation on tiles that the body has on rows, or on scalars where all
/// tokens have the same. Numbers of 16 bits are computed with in f32, and each
/// result is rounded.
Value ProgramBuilder::buildElementwise(Operation &op) {
  const bool isCast = isa<arith::ExtFOp, arith::TruncFOp>(op);
  auto isNarrow = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16;
  };
  auto withElement = [](Type type, Type elementType) -> Type {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile ? Type(tile.clone(elementType)) : elementType;
  };
  const bool isScalar = llvm::none_of(
      op.getOperands(), [&](Value operand) { return hasTile(operand); });
  OperationState state(b.getLoc(), op.getName());
  for (OpOperand &use : op.getOpOperands()) {
    Value value = isScalar ? lookup(use) : getTile(use);
    if (!isCast && isNarrow(getElementTypeOrSelf(value)))
      value = arith::ExtFOp::create(
          b, withElement(value.getType(), b.getF32Type()), value);
    state.operands.push_back(value);
  }
  auto row = mlir::cast<VectorType>(op.getResult(0).getType());
  Type elementType = row.getElementType();
  Type type = isScalar ? elementType
                       : Type(getTileType(row.getDimSize(0), elementType,
                                          slices.isSliced(op.getResult(0))));
  const bool isRounded = !isCast && isNarrow(elementType);
  state.addTypes(isRounded ? withElement(type, b.getF32Type()) : type);
  state.addAttributes(op.getAttrs());
  Value result = b.create(state)->getResult(0);
  return isRounded ? arith::TruncFOp::create(b, type, result) : result;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The sums of a step's log-decays over the chunk, or null where nothing
/// decays. A token that does not exist decays nothing.
Value ProgramBuilder::buildSums(StepOp step) {
  const double decay = step.getDecay().convertToDouble();
  Value row = step.getLogDecay();
  if (!row && decay == 1.0)
    return {};
  RankedTensorType type = getColumnType(b.getF64Type());
  OpOperand *use = row ? &*step.getLogDecayMutable().begin() : nullptr;
  Value number =
      use ? lookup(*use)
          : arith::ConstantOp::create(b, b.getF64FloatAttr(std::log(decay)));
  if (isa<RankedTensorType>(number.getType()))
    return PrefixSumOp::create(b, type,
                               getMasked(*use, !isZeroPadded(row, Dim::Rows)));
  if (!number.getType().isF64())
    number = arith::ExtFOp::create(b, b.getF64Type(), number);
  return RampOp::create(b, type, number, getChunkSize());
}

Value ProgramBuilder::decay(Span span, Value tile, Value sums) {
  if (!sums)
    return tile;
  Value wide = cast(tile, accumulatorType);
  return DecayOp::create(b, wide.getType(), span, wide, sums);
}

/// A and y of the pass's description; of keys and values, rows that are not
/// those of a token count for nothing.
Value ProgramBuilder::buildRow(StepOp step, Value sums) {
  const bool exclusive = step.getExclusive(), reverse = op.getReverse();
  const auto [maskKey, maskValue] = needsMask(step);
  Value q = getOperand(step.getQueryMutable(), false),
        k = getOperand(step.getKeyMutable(), maskKey),
        v = getOperand(step.getValueMutable(), maskValue);
  const int64_t c = schedule.getChunk();
  const int64_t dv = step.getValue().getType().getDimSize(0);
  const int64_t width = slices.getWidth(dv, slices.isSliced(step.getRow()));

  // A.
  Value scores = dot(q, k, zeros(c, c), false, true);
  scores = CausalOp::create(b, scores.getType(),
                            reverse ? Triangle::Upper : Triangle::Lower,
                            exclusive, scores, sums);

  // D q S + A v.
  Value y =
      dot(q, values.lookup(step.getState()), zeros(c, width), false, false);
  Span walked = reverse ? (exclusive ? Span::After : Span::From)
                        : (exclusive ? Span::Before : Span::Through);
  y = dot(scores, v, decay(walked, y, sums), false, false);
  // All but column 0 are zero.
  if (dv == 1 && width != 1)
    y = SumRowsOp::create(b, getColumnType(accumulatorType), y,
                          /*offset=*/IntegerAttr());
  return cast(y,
              mlir::cast<FloatType>(step.getRow().getType().getElementType()));
}

/// S' of the pass's description, W on the key or the value.
Value ProgramBuilder::buildUpdate(StepOp step, Value sums) {
  const auto [maskKey, maskValue] = needsMask(step);
  Value k = getOperand(step.getKeyMutable(), maskKey),
        v = getOperand(step.getValueMutable(), maskValue);
  Value &scaled = slices.scalesValue(step) ? v : k;
  Value state = decay(Span::All, values.lookup(step.getState()), sums);
  scaled = decay(op.getReverse() ? Span::Before : Span::After, scaled, sums);
  return dot(k, v, state, true, false);
}

/// The order is the one in which a GPU's warps wait least: what needs nothing
/// of this chunk's exchange comes before it. Of steps that read one state, all
/// but one compute a row alone.
void ProgramBuilder::buildStep(StepOp step) {
  Value &state = values[step.getState()];
  if (!state)
    state = getInitialState(mlir::cast<BlockArgument>(step.getState()));
  Value sums = buildSums(step);
  if (!step.getRow().use_empty())
    values[step.getRow()] = buildRow(step, sums);
  if (step.getNext().use_empty())
    return;
  Value next = values[step.getNext()] = buildUpdate(step, sums);
  if (op.isOneChunk(schedule.getChunk()))
    for (OpOperand &use : step.getNext().getUses())
      if (isa<YieldOp>(use.getOwner()))
        storeFinalState(use.getOperandNumber() - outputViews.size(), next);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Loads what the body reads of an input: its rows, a slice of them, or both.
void ProgramBuilder::loadRows(Value view, BlockArgument row) {
  const int64_t cols = mlir::cast<VectorType>(row.getType()).getDimSize(0);
  for (bool isSliced : {false, true}) {
    if (llvm::none_of(row.getUses(), [&](OpOperand &use) {
          return slices.isSliced(use) == isSliced;
        }))
      continue;
    RankedTensorType type =
        getTileType(cols, getLoadedType(row, isSliced), isSliced);
    (isSliced ? slicedInputs : values)[row] =
        LoadOp::create(b, type, view, chunkRow, getSlice(isSliced));
  }
}

/// Emits a chunk: at the row `walked`, or, in reverse, after so many rows, a
/// multiple of the chunk's size. Returns the next states.
SmallVector<Value> ProgramBuilder::buildChunk(Value walked, ValueRange states) {
  chunkRow = walked;
  if (op.getReverse())
    chunkRow = arith::SubIOp::create(b, lastRow, walked);
  chunkSize = {};
  values.clear();
  slicedInputs.clear();

  Block &body = op.getBody().front();
  for (auto [input, argument] : llvm::zip(inputs, body.getArguments())) {
    if (isa<MemRefType>(input.getType()))
      loadRows(input, argument);
    else
      values[argument] = input;
  }
  for (auto [argument, state] : llvm::zip(op.getStateArguments(), states))
    values[argument] = state;
  for (Operation &inner : body.without_terminator()) {
    if (auto step = dyn_cast<StepOp>(inner)) {
      buildStep(step);
      continue;
    }
    if (inner.getNumResults() == 1 && isUniform(inner.getResult(0)))
      continue;
    values[inner.getResult(0)] =
        llvm::TypeSwitch<Operation *, Value>(&inner)
            .Case([&](hla::RowSumOp op) { return buildRowSum(op); })
            .Default([&](Operation *op) { return buildElementwise(*op); });
  }

  MutableArrayRef<OpOperand> yielded = body.getTerminator()->getOpOperands();
  for (auto [view, use] : llvm::zip(outputViews, yielded))
    StoreOp::create(b, getTile(use), view, chunkRow,
                    getSlice(slices.isSliced(use)));
  SmallVector<Value> next;
  for (OpOperand &use : yielded.drop_front(outputViews.size()))
    next.push_back(values.lookup(use.get()));
  return next;
}

/// Makes views of what a chunk reads and writes.
void ProgramBuilder::buildViews() {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    const bool isNumber =
        mlir::cast<ShapedType>(input.getType()).getRank() == 1;
    inputs.push_back(isNumber ? head->getNumber(input, op.getGroup(i))
                              : head->getTokens(input, op.getGroup(i)));
  }
  for (Value output : op.getSequenceOutputs())
    outputViews.push_back(head->getTokens(output));
}

void ProgramBuilder::buildInitialViews() {
  for (unsigned i = 0, e = op.getCarryIn().size(); i < e; ++i) {
    Value carry = op.getCarry(i), entry = op.getEntry(i);
    initialViews.push_back(carry || entry ? head->getInitialState(carry, entry)
                                          : Value());
  }
}

void ProgramBuilder::buildFinalViews() {
  auto final = op.getFinalOutputs().begin();
  for (bool hasFinal : op.getCarryOut())
    finalViews.push_back(hasFinal ? head->getFinalState(*final++) : Value());
}

/// Emits the chunk that the tokens are known to be: each state is loaded where
/// its first step is and stored after its last, so that registers hold one
/// after the other. What their views are is computed before, while registers
/// are free.
void ProgramBuilder::buildOnlyChunk() {
  buildFinalViews();
  buildViews();
  lastRow = index(0);
  buildChunk(lastRow, /*states=*/{});
  ValueRange yielded =
      mlir::cast<YieldOp>(op.getBody().front().getTerminator()).getValues();
  for (auto [i, value] :
       llvm::enumerate(yielded.drop_front(outputViews.size())))
    if (auto state = dyn_cast<BlockArgument>(value))
      storeFinalState(i, getInitialState(state));
}

/// Emits the loop over chunks; returns the final states.
SmallVector<Value> ProgramBuilder::buildLoop(ValueRange states) {
  buildViews();
  Value chunk = index(schedule.getChunk());
  Value begin = head->getFirstToken(), end = head->getEndToken();
  if (op.getReverse()) {
    end = b.createOrFold<arith::SubIOp>(end, begin);
    Value numChunks = arith::CeilDivSIOp::create(b, end, chunk);
    lastRow = b.createOrFold<arith::AddIOp>(
        arith::MulIOp::create(b, arith::SubIOp::create(b, numChunks, index(1)),
                              chunk),
        begin);
    begin = index(0);
  }
  auto loop = scf::ForOp::create(
      b, begin, end, chunk, states,
      [&](OpBuilder &nested, Location loc, Value walked, ValueRange carried) {
        OpBuilder::InsertPoint outer = b.saveInsertionPoint();
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        SmallVector<Value> next = buildChunk(walked, carried);
        scf::YieldOp::create(b, next);
        b.restoreInsertionPoint(outer);
      });
  return SmallVector<Value>(loop.getResults());
}

/// Whether there are no tokens, whatever the arguments.
bool ProgramBuilder::isKnownEmpty() {
  auto isEmpty = [&](Value sequence) {
    auto type = mlir::cast<ShapedType>(sequence.getType());
    return type.getRank() != 1 && type.getDimSize(op.getTokenDim()) == 0;
  };
  return llvm::any_of(op.getInputs(), isEmpty) ||
         llvm::any_of(op.getSequenceOutputs(), isEmpty);
}

void ProgramBuilder::build() {
  Value first = op.getInputs().front();
  auto dim = [&](unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(first, i);
  };
  Value numBatches = dim(op.getBatchDim()), numHeads = dim(op.getHeadDim()),
        numTokens = dim(op.getTokenDim());
  if (op.getGroup(0) != 1)
    numHeads = b.createOrFold<arith::MulIOp>(numHeads, index(op.getGroup(0)));
  if (Value lengths = op.getLengths())
    numBatches = b.createOrFold<arith::SubIOp>(
        b.createOrFold<memref::DimOp>(lengths, 0), index(1));
  Value numSegments, numWalked;
  if (Value length = op.getSegmentLength()) {
    numSegments = numWalked = countSegments(b, numTokens, length);
    if (op.getSummary())
      numWalked = arith::SubIOp::create(b, numSegments, index(1));
  }
  // Carries and final states are of as many slots.
  Value numStates;
  if (op.getSlots()) {
    ValueRange states = op.getCarries();
    if (states.empty() && !op.getSummary())
      states = op.getFinalOutputs();
    if (!states.empty())
      numStates = b.createOrFold<memref::DimOp>(states.front(), 0);
  }
  auto launch = LaunchOp::create(b, numBatches, numHeads, numWalked, schedule);
  b.setInsertionPointToStart(&launch.getBody().front());
  slice = launch.getSlice();
  head.emplace(op, b, launch, numTokens, numStates, numSegments);
  buildInitialViews();
  if (op.isOneChunk(schedule.getChunk()))
    return buildOnlyChunk();

  SmallVector<Value> states;
  for (BlockArgument state : op.getStateArguments())
    states.push_back(getInitialState(state));
  // A matrix without rows has no views; states end as they begin.
  if (!isKnownEmpty())
    states = buildLoop(states);
  // An address is no register of the loop's.
  buildFinalViews();
  for (auto [i, state] : llvm::enumerate(states))
    storeFinalState(i, state);
}
