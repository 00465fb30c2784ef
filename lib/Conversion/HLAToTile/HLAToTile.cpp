//===- HLAToTile.cpp - fused scans as tile programs -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/Passes.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::hla {
#define GEN_PASS_DEF_CONVERTHLATOTILE
#include "hla/Conversion/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// Writes the tile program of one fused scan.
class ProgramBuilder {
public:
  ProgramBuilder(FusedScanOp op, OpBuilder &builder)
      : op(op), b(op.getLoc(), builder), schedule(op.getScheduleAttr()),
        operandType(schedule.getOperandType()),
        accumulatorType(schedule.getAccumulatorType()) {}

  void build();

private:
  /// The chunk at hand: its first token and, where a decay needs it, its size.
  struct Chunk {
    Value row;
    Value size;
  };
  /// What a body's value is in a chunk: the rows of all tokens, as a tile.
  using Rows = llvm::SmallDenseMap<Value, Value>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value zeros(int64_t rows, int64_t cols);
  Value cast(Value tile, FloatType elementType);
  Value subview(Value memref, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes, unsigned rowDim);
  Value getSequenceView(Value sequence);
  Value getStateView(Value states);
  Value getInitialState(unsigned state, Value carryView);

  Type getLoadedType(BlockArgument row);
  Value roundOperand(Value tile);
  Value dot(Value lhs, Value rhs, Value acc, bool transposeLhs,
            bool transposeRhs);
  Value decayRows(Value tile, double decay, Value first, int64_t step);

  /// Emits one step; returns the rows and the next state.
  std::pair<Value, Value> buildStep(StepOp step, Rows &rows, Value state,
                                    const Chunk &chunk);
  SmallVector<Value> buildChunk(Value walked, ValueRange states);
  SmallVector<Value> buildLoop(ValueRange states);
  bool isKnownEmpty();

  FusedScanOp op;
  ImplicitLocOpBuilder b;
  ScheduleAttr schedule;
  FloatType operandType, accumulatorType;
  Value batch, head, numTokens;
  /// The first row of the last chunk, where it is walked first.
  Value lastRow;
  SmallVector<Value> inputViews, outputViews;
};

} // namespace

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

/// The matrix at `offsets` of `sizes`, all 1 but those of `rowDim` and of the
/// last dimension.
Value ProgramBuilder::subview(Value memref, ArrayRef<OpFoldResult> offsets,
                              ArrayRef<OpFoldResult> sizes, unsigned rowDim) {
  auto source = mlir::cast<MemRefType>(memref.getType());
  const int64_t last = source.getRank() - 1;
  SmallVector<OpFoldResult> ones(source.getRank(), b.getIndexAttr(1));
  auto full = mlir::cast<MemRefType>(
      memref::SubViewOp::inferResultType(source, offsets, sizes, ones));
  // Which dimensions stay is said, not inferred: several may have extent 1.
  auto [strides, offset] = full.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(b.getContext(), offset,
                                       {strides[rowDim], strides[last]});
  auto type =
      MemRefType::get({full.getDimSize(rowDim), full.getDimSize(last)},
                      full.getElementType(), layout, full.getMemorySpace());
  return memref::SubViewOp::create(b, type, memref, offsets, sizes, ones);
}

/// All tokens of the head: `memref<T x D>`.
Value ProgramBuilder::getSequenceView(Value sequence) {
  int64_t cols = mlir::cast<ShapedType>(sequence.getType()).getDimSize(3);
  SmallVector<OpFoldResult> offsets(4, b.getIndexAttr(0)),
      sizes(4, b.getIndexAttr(1));
  offsets[op.getBatchDim()] = batch;
  offsets[op.getHeadDim()] = head;
  sizes[op.getTokenDim()] = getAsOpFoldResult(numTokens);
  sizes[3] = b.getIndexAttr(cols);
  return subview(sequence, offsets, sizes, op.getTokenDim());
}

/// The state of the head: `memref<d x dv>`.
Value ProgramBuilder::getStateView(Value states) {
  auto type = mlir::cast<ShapedType>(states.getType());
  SmallVector<OpFoldResult> offsets = {batch, head, b.getIndexAttr(0),
                                       b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1), b.getIndexAttr(1),
                                     b.getIndexAttr(type.getDimSize(2)),
                                     b.getIndexAttr(type.getDimSize(3))};
  return subview(states, offsets, sizes, /*rowDim=*/2);
}

Value ProgramBuilder::getInitialState(unsigned state, Value carryView) {
  auto type = mlir::cast<VectorType>(op.getStateArguments()[state].getType());
  if (!carryView)
    return zeros(type.getDimSize(0), type.getDimSize(1));
  auto tileType = RankedTensorType::get(type.getShape(), type.getElementType());
  return cast(LoadOp::create(b, tileType, carryView, index(0)),
              accumulatorType);
}

/// The element type of the tile of an input: its own, or tf32 for f32 that is
/// read as such an operand and nothing else.
Type ProgramBuilder::getLoadedType(BlockArgument row) {
  Type type = getElementTypeOrSelf(row);
  const bool isOperand = llvm::all_of(row.getUsers(), [&](Operation *user) {
    auto step = dyn_cast<StepOp>(user);
    return step && llvm::is_contained(
                       {step.getQuery(), step.getKey(), step.getValue()}, row);
  });
  return type.isF32() && operandType.isTF32() && isOperand ? operandType : type;
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

Value ProgramBuilder::decayRows(Value tile, double decay, Value first,
                                int64_t step) {
  if (decay == 1.0)
    return tile;
  Value wide = cast(tile, accumulatorType);
  return DecayOp::create(b, wide.getType(), b.getF64FloatAttr(decay), wide,
                         first, b.getI64IntegerAttr(step));
}

/// The equations of the pass's description. Reverse: positions count from the
/// chunk's last token, so that `i` becomes `n-1-i`:
///
///   D_i = γ^{n-i},  W_j = γ^j,  A_ij = γ^{j-i} q_i·k_j for j ≥ i.
///
/// The order is the one in which a GPU's warps wait least: what needs nothing
/// of this chunk's exchange comes before it.
std::pair<Value, Value> ProgramBuilder::buildStep(StepOp step, Rows &rows,
                                                  Value state,
                                                  const Chunk &chunk) {
  const bool exclusive = step.getExclusive(), reverse = op.getReverse();
  const double decay = step.getDecay().convertToDouble();
  Value q = rows.lookup(step.getQuery()), k = rows.lookup(step.getKey()),
        v = rows.lookup(step.getValue());
  const int64_t c = schedule.getChunk();
  const int64_t dv = step.getValue().getType().getDimSize(0);

  // A.
  Value scores = dot(q, k, zeros(c, c), false, true);
  scores = CausalOp::create(
      b, scores.getType(),
      TriangleAttr::get(b.getContext(),
                        reverse ? Triangle::Upper : Triangle::Lower),
      exclusive ? b.getUnitAttr() : UnitAttr(), b.getF64FloatAttr(decay),
      scores);

  // D q S + A v.
  Value y = dot(q, state, zeros(c, dv), false, false);
  if (decay != 1.0) {
    Value first =
        reverse
            ? (exclusive ? Value(arith::SubIOp::create(b, chunk.size, index(1)))
                         : chunk.size)
            : index(exclusive ? 0 : 1);
    y = decayRows(y, decay, first, reverse ? -1 : 1);
  }

  y = dot(scores, v, y, false, false);
  auto rowType =
      mlir::cast<FloatType>(step.getRow().getType().getElementType());
  y = cast(y, rowType);

  // S' = γⁿ S + kᵀ W v. W scales what a step has produced, where one is: that
  // is in registers.
  if (decay != 1.0) {
    state = decayRows(state, decay, chunk.size, 0);
    Value first = reverse
                      ? index(0)
                      : Value(arith::SubIOp::create(b, chunk.size, index(1)));
    bool scaleValue = step.getValue().getDefiningOp<StepOp>() &&
                      !step.getKey().getDefiningOp<StepOp>();
    Value &scaled = scaleValue ? v : k;
    scaled = decayRows(scaled, decay, first, reverse ? 1 : -1);
  }
  return {y, dot(k, v, state, true, false)};
}

/// Emits the chunk that comes after `walked` rows, a multiple of the chunk's
/// size; returns the next states.
SmallVector<Value> ProgramBuilder::buildChunk(Value walked, ValueRange states) {
  const int64_t c = schedule.getChunk();
  Chunk chunk;
  chunk.row = walked;
  if (op.getReverse())
    chunk.row = arith::SubIOp::create(b, lastRow, walked);
  Block &body = op.getBody().front();
  if (llvm::any_of(body.getOps<StepOp>(), [](StepOp step) {
        return step.getDecay().convertToDouble() != 1.0;
      }))
    chunk.size = arith::MinSIOp::create(
        b, index(c), arith::SubIOp::create(b, numTokens, chunk.row));

  Rows rows;
  for (auto [view, argument] : llvm::zip(inputViews, body.getArguments())) {
    auto row = mlir::cast<VectorType>(argument.getType());
    auto type =
        RankedTensorType::get({c, row.getDimSize(0)}, getLoadedType(argument));
    rows[argument] = LoadOp::create(b, type, view, chunk.row);
  }
  llvm::SmallDenseMap<Value, Value> stateOf(llvm::size(op.getStateArguments()));
  for (auto [argument, state] : llvm::zip(op.getStateArguments(), states))
    stateOf[argument] = state;
  for (StepOp step : body.getOps<StepOp>()) {
    auto [row, next] =
        buildStep(step, rows, stateOf.lookup(step.getState()), chunk);
    rows[step.getRow()] = row;
    stateOf[step.getNext()] = next;
  }

  OperandRange yielded = mlir::cast<YieldOp>(body.getTerminator()).getValues();
  for (auto [view, value] : llvm::zip(outputViews, yielded))
    StoreOp::create(b, rows.lookup(value), view, chunk.row);
  SmallVector<Value> next;
  for (Value value : yielded.drop_front(outputViews.size()))
    next.push_back(stateOf.lookup(value));
  return next;
}

/// Emits the loop over chunks; returns the final states.
SmallVector<Value> ProgramBuilder::buildLoop(ValueRange states) {
  for (Value input : op.getInputs())
    inputViews.push_back(getSequenceView(input));
  for (Value output : op.getSequenceOutputs())
    outputViews.push_back(getSequenceView(output));
  Value chunk = index(schedule.getChunk());
  if (op.getReverse()) {
    Value numChunks = arith::CeilDivSIOp::create(b, numTokens, chunk);
    lastRow = arith::MulIOp::create(
        b, arith::SubIOp::create(b, numChunks, index(1)), chunk);
  }
  auto loop = scf::ForOp::create(
      b, index(0), numTokens, chunk, states,
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
    return mlir::cast<ShapedType>(sequence.getType())
               .getDimSize(op.getTokenDim()) == 0;
  };
  return llvm::any_of(op.getInputs(), isEmpty) ||
         llvm::any_of(op.getSequenceOutputs(), isEmpty);
}

void ProgramBuilder::build() {
  Value first = op.getInputs().front();
  auto dim = [&](unsigned i) -> Value {
    return b.createOrFold<memref::DimOp>(first, i);
  };
  Value numBatches = dim(op.getBatchDim()), numHeads = dim(op.getHeadDim());
  numTokens = dim(op.getTokenDim());
  auto launch = LaunchOp::create(b, numBatches, numHeads, schedule);
  b.setInsertionPointToStart(&launch.getBody().front());
  batch = launch.getBatch();
  head = launch.getHead();
  SmallVector<Value> states;
  auto carry = op.getCarries().begin();
  for (auto [i, hasCarry] : llvm::enumerate(op.getCarryIn()))
    states.push_back(
        getInitialState(i, hasCarry ? getStateView(*carry++) : Value()));

  // A matrix without rows has no views; states end as they begin.
  if (!isKnownEmpty())
    states = buildLoop(states);

  auto final = op.getFinalOutputs().begin();
  for (auto [state, argument, hasFinal] :
       llvm::zip(states, op.getStateArguments(), op.getCarryOut())) {
    if (!hasFinal)
      continue;
    auto elementType =
        mlir::cast<FloatType>(getElementTypeOrSelf(argument.getType()));
    StoreOp::create(b, cast(state, elementType), getStateView(*final++),
                    index(0));
  }
}

namespace {

struct ConvertHLAToTile : hla::impl::ConvertHLAToTileBase<ConvertHLAToTile> {
  void runOnOperation() override {
    SmallVector<FusedScanOp> loops;
    getOperation()->walk([&](FusedScanOp op) { loops.push_back(op); });
    for (FusedScanOp op : loops) {
      if (failed(check(op)))
        return signalPassFailure();
      OpBuilder builder(op);
      ProgramBuilder(op, builder).build();
      op.erase();
    }
  }

  static LogicalResult check(FusedScanOp op) {
    if (!op.getScheduleAttr())
      return op.emitOpError("expected a schedule (hla-assign-schedule gives "
                            "one), but got none");
    if (llvm::any_of(op.getOperandTypes(), llvm::IsaPred<TensorType>))
      return op.emitOpError("expected operands in memory (hla-bufferize puts "
                            "them there), but got tensors");
    for (Operation &inner : op.getBody().front().without_terminator())
      if (!isa<StepOp>(inner))
        return inner.emitOpError("expected only hla.step in the body of a "
                                 "fused scan, but got ")
               << inner.getName();
    return success();
  }
};

} // namespace
