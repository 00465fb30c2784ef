//===- Segments.cpp - what is between loops in segments ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Segments.h"
#include "HeadViews.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// Rows and, on a GPU, columns of a tile: so few that a few heads have blocks
/// for a whole card, and warps share the tile.
static constexpr int64_t kTile = 32, kWarps = 4;

/// Tokens that are summed at a time: eight a lane, which has them in flight.
static constexpr int64_t kSummedTokens = 256;

namespace {

/// Writes the tile program of one operation.
class SegmentsBuilder {
public:
  SegmentsBuilder(Operation *op, const TargetInfo &target)
      : b(op->getLoc(), op), target(target) {}

  void build(CombineSegmentsOp op);
  void build(SumSegmentsOp op);

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value dim(Value memref, int64_t i) {
    return b.createOrFold<memref::DimOp>(memref, i);
  }
  RankedTensorType getColumnType(Type elementType, int64_t rows = kTile) {
    return RankedTensorType::get({rows, 1}, elementType);
  }
  ScheduleAttr getSchedule(Type elementType, int64_t slices);
  Value getLogDecay(CombineSegmentsOp op, LaunchOp launch, Value numSegments,
                    Value segment);
  scf::ForOp buildLoop(Value begin, Value end, Value step, Value initial,
                       function_ref<Value(Value, Value)> body);

  ImplicitLocOpBuilder b;
  const TargetInfo &target;
};

} // namespace

ScheduleAttr SegmentsBuilder::getSchedule(Type elementType, int64_t slices) {
  return ScheduleAttr::get(
      b.getContext(), kTile, target.isGPU ? kWarps : 1, /*stages=*/1,
      elementType.isF64() ? Precision::F64 : Precision::F32, slices,
      /*groups=*/0, /*blocks=*/1);
}

/// The log-decay of a segment, in f64; null without decay.
Value SegmentsBuilder::getLogDecay(CombineSegmentsOp op, LaunchOp launch,
                                   Value numSegments, Value segment) {
  const double decay = op.getDecay().convertToDouble();
  Value numbers = op.getLogDecay(), number;
  if (!numbers && decay == 1.0)
    return {};
  auto loadAt = [&](Value list, Value position) -> Value {
    Value loaded = memref::LoadOp::create(b, list, position);
    return loaded.getType().isF64()
               ? loaded
               : arith::ExtFOp::create(b, b.getF64Type(), loaded);
  };
  if (numbers && cast<ShapedType>(numbers.getType()).getRank() == 3) {
    OpFoldResult one = b.getIndexAttr(1);
    OpFoldResult count = getAsOpFoldResult(numSegments);
    Value list = createView(
        b, numbers, {b.getIndexAttr(0), launch.getBatch(), launch.getHead()},
        {count, one, one}, {0});
    return loadAt(list, segment);
  }
  number = numbers ? loadAt(numbers, launch.getHead())
                   : Value(arith::ConstantOp::create(
                         b, b.getF64FloatAttr(std::log(decay))));
  Value length =
      arith::IndexCastOp::create(b, b.getI32Type(), op.getSegmentLength());
  return arith::MulFOp::create(
      b, number, arith::SIToFPOp::create(b, b.getF64Type(), length));
}

/// A loop that carries one tile.
scf::ForOp SegmentsBuilder::buildLoop(Value begin, Value end, Value step,
                                      Value initial,
                                      function_ref<Value(Value, Value)> body) {
  return scf::ForOp::create(
      b, begin, end, step, initial,
      [&](OpBuilder &nested, Location, Value i, ValueRange carried) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(nested.getInsertionBlock(),
                            nested.getInsertionPoint());
        scf::YieldOp::create(b, body(i, carried.front()));
      });
}

/// A block has some rows, and columns, of a head's states, and goes through the
/// segments. A first segment alone is what it is.
void SegmentsBuilder::build(CombineSegmentsOp op) {
  Value states = op.getStates();
  auto type = cast<MemRefType>(states.getType());
  const int64_t rows = type.getDimSize(3), cols = type.getDimSize(4);
  const int64_t width = target.getTileWidth(cols),
                sliceCols = target.isGPU ? kTile : width;
  Value numSegments = dim(states, 0);
  Value hasSeveral = arith::MinSIOp::create(
      b,
      arith::MaxSIOp::create(b, arith::SubIOp::create(b, numSegments, index(1)),
                             index(0)),
      index(1));
  auto launch =
      LaunchOp::create(b, arith::MulIOp::create(b, dim(states, 1), hasSeveral),
                       dim(states, 2), index(llvm::divideCeil(rows, kTile)),
                       getSchedule(type.getElementType(), width / sliceCols));
  b.setInsertionPointToStart(&launch.getBody().front());
  Value row = arith::MulIOp::create(b, launch.getPart(), index(kTile));
  auto getView = [&](OpFoldResult segment) {
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    return createView(
        b, states, {segment, launch.getBatch(), launch.getHead(), zero, zero},
        {one, one, one, b.getIndexAttr(rows), b.getIndexAttr(cols)}, {3, 4});
  };
  auto load = [&](Value view) {
    return LoadOp::create(
        b, RankedTensorType::get({kTile, sliceCols}, type.getElementType()),
        view, row, launch.getSlice());
  };
  buildLoop(
      index(1), numSegments, index(1), load(getView(b.getIndexAttr(0))),
      [&](Value segment, Value before) -> Value {
        Value view = getView(segment), own = load(view);
        // As that of one token.
        if (Value logDecay = getLogDecay(op, launch, numSegments, segment)) {
          Value sums = RampOp::create(b, getColumnType(b.getF64Type()),
                                      logDecay, index(1));
          before =
              DecayOp::create(b, before.getType(), Span::All, before, sums);
        }
        Value state = arith::AddFOp::create(b, before, own);
        StoreOp::create(b, state, view, row, launch.getSlice());
        return state;
      });
}

/// Each of the column's numbers adds up every so many tokens; the sum of these
/// is the last of their prefix sums, the one number that there is room for.
void SegmentsBuilder::build(SumSegmentsOp op) {
  Value numbers = op.getNumbers(), sums = op.getSums();
  auto elementType = cast<FloatType>(getElementTypeOrSelf(numbers));
  const bool isBTHD = op.getLayout() == HeadLayout::BTHD;
  const unsigned tokenDim = isBTHD ? 1 : 2, headDim = isBTHD ? 2 : 1;
  Value numTokens = dim(numbers, tokenDim), numWalked = dim(sums, 0);
  auto launch = LaunchOp::create(b, dim(sums, 1), dim(sums, 2), numWalked,
                                 getSchedule(elementType, /*slices=*/1));
  b.setInsertionPointToStart(&launch.getBody().front());
  // The last segment is not summed.
  auto [first, end] =
      getSegmentTokens(b, launch.getPart(), numWalked, op.getSegmentLength(),
                       numTokens, op.getReverse());
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {launch.getBatch(), zero, zero},
                            sizes(3, one);
  offsets[headDim] = launch.getHead();
  sizes[tokenDim] = end;
  Value tokens = createView(b, numbers, offsets, sizes, {tokenDim});
  Value target = createView(
      b, sums, {launch.getPart(), launch.getBatch(), launch.getHead()},
      {one, one, one}, {2});
  RankedTensorType column = getColumnType(elementType, kSummedTokens);
  auto loop = buildLoop(first, end, index(kSummedTokens),
                        arith::ConstantOp::create(b, b.getZeroAttr(column)),
                        [&](Value token, Value sum) -> Value {
                          return arith::AddFOp::create(
                              b, sum,
                              LoadOp::create(b, column, tokens, token,
                                             /*slice=*/Value()));
                        });
  Value total = PrefixSumOp::create(
      b, getColumnType(b.getF64Type(), kSummedTokens), loop.getResult(0));
  if (!elementType.isF64())
    total = arith::TruncFOp::create(b, column, total);
  StoreOp::create(b, total, target, index(1 - kSummedTokens),
                  /*slice=*/Value());
}

/// Programs for all operations of a type.
template <typename OpTy>
static void convertAll(Operation *root, const TargetInfo &target) {
  SmallVector<OpTy> ops;
  root->walk([&](OpTy op) { ops.push_back(op); });
  for (OpTy op : ops) {
    SegmentsBuilder(op, target).build(op);
    op.erase();
  }
}

void hla::convertSegments(Operation *root, const TargetInfo &target) {
  convertAll<CombineSegmentsOp>(root, target);
  convertAll<SumSegmentsOp>(root, target);
}
