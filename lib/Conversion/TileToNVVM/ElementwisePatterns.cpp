//===- ElementwisePatterns.cpp - elementwise operations on fragments ------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

static bool isTile(Value value) {
  return isa<RankedTensorType>(value.getType());
}

static bool isFragment(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile && isa_and_nonnull<FragAttr>(tile.getEncoding());
}

namespace {

/// A constant fragment has the same value in every register.
struct ConvertConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    SmallVector<Type> types;
    if (!splat || !isTile(op) ||
        failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    auto element = splat.getSplatValue<FloatAttr>();
    TypedAttr value = element;
    if (auto pair = dyn_cast<VectorType>(types.front()))
      value = DenseElementsAttr::get(pair, {Attribute(value)});
    else if (types.front() != element.getType()) // tf32
      value = FloatAttr::get(types.front(), element.getValueAsDouble());
    Value constant = arith::ConstantOp::create(rewriter, op.getLoc(), value);
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>(types.size(), constant)});
    return success();
  }
};

/// Rounds pairs of registers: one instruction (cvt.rn.bf16x2) a pair. To tf32,
/// register by register.
struct ConvertTruncF : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::TruncFOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isFragment(op))
      return failure();
    Location loc = op.getLoc();
    ValueRange source = adaptor.getIn();
    if (getElementTypeOrSelf(op.getType()).isTF32()) {
      Emitter e(loc, rewriter);
      rewriter.replaceOpWithMultiple(
          op, {llvm::map_to_vector(
                  source, [&](Value value) { return e.roundToTF32(value); })});
      return success();
    }
    auto wide = VectorType::get({2}, rewriter.getF32Type());
    auto pairType = wide.clone(getElementTypeOrSelf(op.getType()));
    SmallVector<Value> pairs;
    for (size_t i = 0; i < source.size(); i += 2) {
      Value pair = vector::FromElementsOp::create(
          rewriter, loc, wide, ValueRange{source[i], source[i + 1]});
      pairs.push_back(arith::TruncFOp::create(rewriter, loc, pairType, pair));
    }
    rewriter.replaceOpWithMultiple(op, {pairs});
    return success();
  }
};

struct ConvertExtF : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ExtFOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isFragment(op))
      return failure();
    if (getElementTypeOrSelf(op.getIn()).isTF32()) { // Is an f32.
      rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(adaptor.getIn())});
      return success();
    }
    SmallVector<Value> registers;
    for (Value pair : adaptor.getIn())
      for (int64_t i : {0, 1}) {
        Value element =
            vector::ExtractOp::create(rewriter, op.getLoc(), pair, i);
        registers.push_back(arith::ExtFOp::create(
            rewriter, op.getLoc(), rewriter.getF32Type(), element));
      }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Any other elementwise operation on tiles of one layout: the same operation
/// on every register.
struct ConvertElementwise : ConversionPattern {
  ConvertElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1 ||
        !isTile(op->getResult(0)))
      return failure();
    // Fragments of 16 bits are pairs.
    if (isa<arith::TruncFOp, arith::ExtFOp>(op) && isFragment(op->getResult(0)))
      return failure();
    SmallVector<Type> types;
    if (failed(
            getTypeConverter()->convertType(op->getResult(0).getType(), types)))
      return failure();
    SmallVector<Value> registers;
    for (auto [i, type] : llvm::enumerate(types)) {
      SmallVector<Value> arguments;
      for (ValueRange operand : operands)
        arguments.push_back(operand[operand.size() == 1 ? 0 : i]);
      Operation *piece =
          rewriter.create(op->getLoc(), op->getName().getIdentifier(),
                          arguments, type, op->getAttrs());
      registers.push_back(piece->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Sums where all log-decays are the same: what decays is a power of one decay,
/// by the number of tokens.
struct Powers {
  Powers(Emitter &e, RampOp ramp, ConversionPatternRewriter &rewriter)
      : count(e.toI32(rewriter.getRemappedValue(ramp.getCount()))) {
    FloatAttr constant;
    if (matchPattern(ramp.getLogDecay(), m_Constant(&constant))) {
      log2Decay = e.f32(std::max(constant.getValueAsDouble(), kLeastLogDecay) *
                        llvm::numbers::log2e);
      return;
    }
    Value logDecay = e.atLeast(rewriter.getRemappedValue(ramp.getLogDecay()),
                               kLeastLogDecay);
    logDecay = arith::TruncFOp::create(e, e.getF32Type(), logDecay);
    log2Decay = arith::MulFOp::create(e, logDecay, e.f32(llvm::numbers::log2e));
  }

  /// γⁿ for an f32 `n`, as 2^(n log₂ γ).
  Value get(Emitter &e, Value n) const {
    return e.power2(arith::MulFOp::create(e, n, log2Decay));
  }

  /// The number of tokens of the chunk, i32.
  Value count;
  Value log2Decay;
};

/// Token `l` is in lane `l mod 32`.
struct ConvertRamp : OpConversionPattern<RampOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RampOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value lane = e.rem(e.opaqueThreadId(Shuffle::Write), 32);
    Value count = e.toI32(adaptor.getCount().front());
    Value logDecay = e.atLeast(adaptor.getLogDecay().front(), kLeastLogDecay);
    SmallVector<Value> registers;
    const int64_t size =
        LaneAttr::getRegisters(op.getSums().getType().getShape());
    for (int64_t i = 0; i < size; ++i) {
      Value tokens = arith::MinSIOp::create(e, e.add(lane, 32 * i + 1), count);
      registers.push_back(arith::MulFOp::create(
          e, logDecay, arith::SIToFPOp::create(e, e.getF64Type(), tokens)));
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// With the distance `Δ = i - j` below the diagonal (above it for an upper
/// triangle), the element is kept if `Δ ≥ s`, times γ^{Δ-s}. A thread's
/// distances differ from that of its first element by constants.
struct ConvertCausal : OpConversionPattern<CausalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CausalOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto ramp = op.getBy() ? op.getBy().getDefiningOp<RampOp>() : RampOp();
    if (op.getBy() && !ramp)
      return rewriter.notifyMatchFailure(op, "sums are not those of a ramp");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(op.getType());
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    auto [row, col] = shape.getFirstElement(e, place);
    // Stored transposed, rows and columns change places; so do they above the
    // diagonal.
    bool swap =
        shape.frag.getTransposed() != (op.getTriangle() == Triangle::Upper);
    const int64_t strict = op.getStrict();
    Value first = swap ? e.createOrFold<arith::SubIOp>(col, row)
                       : e.createOrFold<arith::SubIOp>(row, col);
    Value firstF32;
    std::optional<Powers> powers;
    if (ramp) {
      firstF32 = arith::SIToFPOp::create(e, e.getF32Type(), first);
      powers.emplace(e, ramp, rewriter);
    }
    Value zero = e.f32(0.0);
    SmallVector<Value> registers(adaptor.getSource());
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      const int64_t distance = (swap ? c - r : r - c) - strict;
      Value keep = arith::CmpIOp::create(e, arith::CmpIPredicate::sge, first,
                                         e.i32(-distance));
      Value kept = registers[i];
      if (powers) {
        Value n = arith::AddFOp::create(e, firstF32, e.f32(distance));
        kept = arith::MulFOp::create(e, kept, powers->get(e, n));
      }
      registers[i] = arith::SelectOp::create(e, keep, kept, zero);
    });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Factors depend on the row alone: one power for every row of a thread, of
/// `max(first + step·row, 0)` tokens.
struct ConvertDecay : OpConversionPattern<DecayOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DecayOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto ramp = op.getBy().getDefiningOp<RampOp>();
    if (!ramp)
      return rewriter.notifyMatchFailure(op, "sums are not those of a ramp");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(op.getType());
    const bool transposed = shape.frag.getTransposed();
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    auto [storedRow, storedCol] = shape.getFirstElement(e, place);
    Value row = transposed ? storedCol : storedRow;
    Powers powers(e, ramp, rewriter);
    auto [start, step] = getTokens(e, op.getSpan(), powers.count);
    const int64_t slope = step;
    Value first = e.add(start, e.mul(row, slope));
    llvm::SmallDenseMap<int64_t, Value> factors;
    auto getFactor = [&](int64_t distance) {
      Value &factor = factors[slope == 0 ? 0 : distance];
      if (!factor) {
        Value n = e.createOrFold<arith::MaxSIOp>(e.add(first, slope * distance),
                                                 e.i32(0));
        factor = powers.get(e, arith::SIToFPOp::create(e, e.getF32Type(), n));
      }
      return factor;
    };
    SmallVector<Value> registers(adaptor.getSource());
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      registers[i] =
          arith::MulFOp::create(e, registers[i], getFactor(transposed ? c : r));
    });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }

  /// How many tokens decay row 0, and how many more each next one.
  static std::pair<Value, int64_t> getTokens(Emitter &e, Span span,
                                             Value count) {
    switch (span) {
    case Span::Through:
      return {e.i32(1), 1};
    case Span::Before:
      return {e.i32(0), 1};
    case Span::After:
      return {e.add(count, -1), -1};
    case Span::From:
      return {count, -1};
    case Span::All:
      return {count, 0};
    }
    llvm_unreachable("all spans are handled");
  }
};

} // namespace

void tile::populateElementwisePatterns(const TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<ConvertConstant, ConvertTruncF, ConvertExtF, ConvertElementwise,
               ConvertRamp, ConvertCausal, ConvertDecay>(converter,
                                                         patterns.getContext());
}
