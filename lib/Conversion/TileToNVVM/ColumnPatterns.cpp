//===- ColumnPatterns.cpp - numbers of tokens in lanes ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Column.h"
#include "Patterns.h"
#include "View.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

static bool isColumn(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && isa_and_nonnull<LaneAttr>(tile.getEncoding());
}

namespace {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// One number, of a head or a length.
struct ConvertNumberLoad : OpConversionPattern<memref::LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getMemRefType().getRank() != 1)
      return rewriter.notifyMatchFailure(op, "not one of a list of numbers");
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getMemref(), op.getMemRefType());
    Value address = view.getAddress(
        e, e.toI64(adaptor.getIndices().front().front()), e.i64(0));
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getType(), address);
    return success();
  }
};

/// Calls `visit(register, row, isInside)` for every number of a lane: its row
/// in a view whose row `firstRow` is the column's first, and whether it is in
/// both.
void forEachNumber(Emitter &e, RankedTensorType column, const View &view,
                   Value firstRow, Value lane,
                   function_ref<void(int64_t, Value, Value)> visit) {
  const int64_t rows = column.getDimSize(0);
  for (int64_t i = 0; i < LaneAttr::getRegisters(column.getShape()); ++i) {
    Value place = e.add(lane, 32 * i);
    Value row = arith::AddIOp::create(e, firstRow, e.toI64(place));
    Value isInside = view.contains(e, row);
    if (rows < 32 * (i + 1))
      isInside = arith::AndIOp::create(
          e, isInside,
          arith::CmpIOp::create(e, arith::CmpIPredicate::ult, place,
                                e.i32(rows)));
    visit(i, row, isInside);
  }
}

struct ConvertColumnLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getTile().getType();
    if (!isColumn(type))
      return rewriter.notifyMatchFailure(op, "not a column");
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getView(), op.getView().getType());
    Type elementType = type.getElementType();
    Value lane = e.rem(e.opaqueThreadId(Shuffle::Copy), 32);
    SmallVector<Value> registers;
    forEachNumber(e, type, view, e.toI64(adaptor.getRow().front()), lane,
                  [&](int64_t, Value row, Value isInside) {
                    registers.push_back(
                        e.loadIf(isInside, elementType, [&](Emitter &nested) {
                          return view.getAddress(nested, row, nested.i64(0));
                        }));
                  });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// All warps have the column; the first one stores it.
struct ConvertColumnStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isColumn(op.getTile().getType()))
      return rewriter.notifyMatchFailure(op, "not a column");
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getView(), op.getView().getType());
    ValueRange registers = adaptor.getTile();
    // Of later threads no row is in the column.
    Value thread = e.opaqueThreadId(Shuffle::Store);
    Value isFirstWarp =
        arith::CmpIOp::create(e, arith::CmpIPredicate::ult, thread, e.i32(32));
    forEachNumber(
        e, cast<RankedTensorType>(op.getTile().getType()), view,
        e.toI64(adaptor.getRow().front()), thread,
        [&](int64_t i, Value row, Value isInside) {
          isInside = arith::AndIOp::create(e, isInside, isFirstWarp);
          scf::IfOp::create(e, isInside, [&](OpBuilder &b, Location loc) {
            Emitter nested(loc, b);
            LLVM::StoreOp::create(nested, registers[i],
                                  view.getAddress(nested, row, nested.i64(0)));
            scf::YieldOp::create(nested);
          });
        });
    rewriter.eraseOp(op);
    return success();
  }
};

/// The same number in every register, or pair of a register.
struct ConvertSplat : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tensor::SplatOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    Value value = adaptor.getInput().front();
    if (auto pair = dyn_cast<VectorType>(types.front()))
      value = vector::BroadcastOp::create(rewriter, op.getLoc(), pair, value);
    rewriter.replaceOpWithMultiple(op,
                                   {SmallVector<Value>(types.size(), value)});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

/// A scan over the lanes, in log₂ 32 steps, and then over the registers.
struct ConvertPrefixSum : OpConversionPattern<PrefixSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(PrefixSumOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    const int64_t rows = op.getSums().getType().getDimSize(0);
    Value lane = e.rem(e.opaqueThreadId(Shuffle::Write), 32);
    SmallVector<Value> sums;
    for (Value number : adaptor.getLogDecays()) {
      Value sum = e.atLeast(number, kLeastLogDecay);
      if (!sum.getType().isF64())
        sum = arith::ExtFOp::create(e, e.getF64Type(), sum);
      for (int64_t distance = 1; distance < std::min<int64_t>(rows, 32);
           distance *= 2) {
        Value before = e.shuffle(NVVM::ShflKind::up, sum, e.i32(distance));
        Value hasBefore = arith::CmpIOp::create(e, arith::CmpIPredicate::uge,
                                                lane, e.i32(distance));
        sum = arith::SelectOp::create(
            e, hasBefore, arith::AddFOp::create(e, sum, before), sum);
      }
      if (!sums.empty())
        sum = arith::AddFOp::create(
            e, sum, e.shuffle(NVVM::ShflKind::idx, sums.back(), e.i32(31)));
      sums.push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, {sums});
    return success();
  }
};

/// The factor of an element is computed from the sums of its row and column.
struct ConvertCausalBySums : OpConversionPattern<CausalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CausalOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getBy() || op.getBy().getDefiningOp<RampOp>())
      return rewriter.notifyMatchFailure(op, "no sums of different log-decays");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(op.getType());
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    const bool isUpper = op.getTriangle() == Triangle::Upper;
    // Below the diagonal a row is the later token; stored transposed, a column.
    const bool isLaterInCol = shape.frag.getTransposed() != isUpper;
    auto [row, col] = shape.getFirstElement(e, place);

    LogSums sums(e, adaptor.getBy());
    LogSums before =
        isUpper || op.getStrict() ? sums.moveOn(e, place.lane) : sums;
    // G_{i-s} and G_j; G_{j-1} and G_{i-1+s}.
    const LogSums &later = isUpper || op.getStrict() ? before : sums;
    const LogSums &earlier = isUpper && !op.getStrict() ? before : sums;
    llvm::SmallDenseMap<int64_t, LogSums::Sum> ofRows, ofCols;
    auto getSum = [&](auto &known, const LogSums &column, Value first,
                      int64_t distance) {
      auto [it, isNew] = known.try_emplace(distance);
      if (isNew)
        it->second = column.get(e, e.add(first, distance));
      return it->second;
    };
    Value first = isLaterInCol ? e.createOrFold<arith::SubIOp>(col, row)
                               : e.createOrFold<arith::SubIOp>(row, col);
    Value zero = e.f32(0.0);
    SmallVector<Value> registers(adaptor.getSource());
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      LogSums::Sum ofRow =
          getSum(ofRows, isLaterInCol ? earlier : later, row, r);
      LogSums::Sum ofCol =
          getSum(ofCols, isLaterInCol ? later : earlier, col, c);
      Value factor = isLaterInCol ? LogSums::getFactor(e, ofCol, ofRow)
                                  : LogSums::getFactor(e, ofRow, ofCol);
      const int64_t distance =
          (isLaterInCol ? c - r : r - c) - (op.getStrict() ? 1 : 0);
      Value keep = arith::CmpIOp::create(e, arith::CmpIPredicate::sge, first,
                                         e.i32(-distance));
      registers[i] = arith::SelectOp::create(
          e, keep, arith::MulFOp::create(e, registers[i], factor), zero);
    });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// A lane computes the factors of its own rows; the warp's fragment takes them
/// from there.
struct ConvertDecayBySums : OpConversionPattern<DecayOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DecayOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getBy().getDefiningOp<RampOp>())
      return rewriter.notifyMatchFailure(op, "all log-decays are the same");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(op.getType());
    LogSums sums(e, adaptor.getBy());
    const int64_t last = op.getBy().getType().getDimSize(0) - 1;
    SmallVector<Value> registers(adaptor.getSource());
    if (op.getSpan() == Span::All) {
      Value factor = LogSums::getFactor(e, sums.get(e, last));
      for (Value &value : registers)
        value = arith::MulFOp::create(e, value, factor);
      rewriter.replaceOpWithMultiple(op, {registers});
      return success();
    }
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    Column factors = getFactors(e, op.getSpan(), sums, last, place.lane);
    const bool transposed = shape.frag.getTransposed();
    auto [row, col] = shape.getFirstElement(e, place);
    llvm::SmallDenseMap<int64_t, Value> known;
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      const int64_t distance = transposed ? c : r;
      Value &factor = known[distance];
      if (!factor)
        factor = factors.get(e, e.add(transposed ? col : row, distance));
      registers[i] = arith::MulFOp::create(e, registers[i], factor);
    });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

  /// What decays the row of every lane.
  static Column getFactors(Emitter &e, Span span, const LogSums &sums,
                           int64_t last, Value lane) {
    const bool isBefore = span == Span::Before || span == Span::From;
    const bool isToEnd = span == Span::After || span == Span::From;
    LogSums own = isBefore ? sums.moveOn(e, lane) : sums;
    std::optional<LogSums::Sum> total;
    if (isToEnd)
      total = sums.get(e, last);
    SmallVector<Value> factors;
    for (size_t i = 0; i < own.size(); ++i)
      factors.push_back(isToEnd ? LogSums::getFactor(e, *total, own.getOwn(i))
                                : LogSums::getFactor(e, own.getOwn(i)));
    return Column(factors);
  }
};

} // namespace

void tile::populateColumnPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<ConvertNumberLoad, ConvertColumnLoad, ConvertColumnStore,
               ConvertSplat, ConvertPrefixSum, ConvertCausalBySums,
               ConvertDecayBySums>(converter, patterns.getContext());
}
