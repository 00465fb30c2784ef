//===- ColumnPatterns.cpp - numbers of tokens as linalg -------------------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Columns.h"
#include "Rounding.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

Value tile::createEmpty(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

Value tile::createColumn(
    OpBuilder &b, Location loc, ArrayRef<int64_t> shape, Type elementType,
    function_ref<Value(OpBuilder &, Location, Value)> number) {
  auto buffer =
      memref::AllocOp::create(b, loc, MemRefType::get(shape, elementType),
                              b.getI64IntegerAttr(kAlignment));
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<Value> at(shape.size(), index(0));
  scf::ForOp::create(b, loc, index(0), index(shape[0]), index(1), ValueRange(),
                     [&](OpBuilder &b, Location loc, Value i, ValueRange) {
                       at[0] = i;
                       memref::StoreOp::create(b, loc, number(b, loc, i),
                                               buffer, at);
                       scf::YieldOp::create(b, loc);
                     });
  return bufferization::ToTensorOp::create(
      b, loc, RankedTensorType::get(shape, elementType), buffer,
      /*restrict=*/true, /*writable=*/true);
}

Value tile::extractNumber(OpBuilder &b, Location loc, Value column, Value i) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return tensor::ExtractOp::create(b, loc, column, ValueRange{i, zero});
}

namespace {

//===----------------------------------------------------------------------===//
// Decays
//===----------------------------------------------------------------------===//

struct PrefixSumPattern : OpConversionPattern<PrefixSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(PrefixSumOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getSums().getType();
    auto buffer = memref::AllocOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()),
        b.getI64IntegerAttr(kAlignment));
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    Value origin = index(0);
    Value zero = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0.0));
    Value least =
        arith::ConstantOp::create(b, loc, b.getF64FloatAttr(kLeastLogDecay));
    scf::ForOp::create(
        b, loc, origin, index(type.getDimSize(0)), index(1), zero,
        [&](OpBuilder &b, Location loc, Value i, ValueRange sum) {
          Value g = extractNumber(b, loc, adaptor.getLogDecays(), i);
          if (!g.getType().isF64())
            g = arith::ExtFOp::create(b, loc, b.getF64Type(), g);
          g = arith::MaximumFOp::create(b, loc, g, least);
          Value next = arith::AddFOp::create(b, loc, sum[0], g);
          memref::StoreOp::create(b, loc, next, buffer, ValueRange{i, origin});
          scf::YieldOp::create(b, loc, next);
        });
    b.replaceOpWithNewOp<bufferization::ToTensorOp>(
        op, type, buffer, /*restrict=*/true, /*writable=*/true);
    return success();
  }
};

struct RampPattern : OpConversionPattern<RampOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(RampOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getSums().getType();
    Value least =
        arith::ConstantOp::create(b, loc, b.getF64FloatAttr(kLeastLogDecay));
    Value g = arith::MaximumFOp::create(b, loc, adaptor.getLogDecay(), least);
    auto number = [&](OpBuilder &b, Location loc, Value i) -> Value {
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      Value tokens = arith::MinSIOp::create(
          b, loc, arith::AddIOp::create(b, loc, i, one), adaptor.getCount());
      tokens = arith::IndexCastOp::create(b, loc, b.getI64Type(), tokens);
      tokens = arith::SIToFPOp::create(b, loc, b.getF64Type(), tokens);
      return arith::MulFOp::create(b, loc, g, tokens);
    };
    b.replaceOp(op, createColumn(b, loc, type.getShape(), type.getElementType(),
                                 number));
    return success();
  }
};

/// `G_{i+offset}` of the sums of log-decays, `G_{-1} = 0`.
Value getSum(OpBuilder &b, Location loc, Value sums, Value i, int64_t offset) {
  if (offset == 0)
    return extractNumber(b, loc, sums, i);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value position = arith::AddIOp::create(
      b, loc, i, arith::ConstantIndexOp::create(b, loc, offset));
  Value clamped = arith::MaxSIOp::create(b, loc, position, zero);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position, zero);
  return arith::SelectOp::create(
      b, loc, isFirst,
      arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0.0)),
      extractNumber(b, loc, sums, clamped));
}

/// `exp` of a difference of sums, in the element type of what it scales.
Value createFactor(OpBuilder &b, Location loc, Value difference, Type type) {
  if (!type.isF64())
    difference = arith::TruncFOp::create(b, loc, type, difference);
  return math::ExpOp::create(b, loc, difference);
}

/// The tile whose elements `combine` makes of those of `inputs`, each read by
/// its map.
Value combineElements(
    OpBuilder &b, Location loc, RankedTensorType type, ValueRange inputs,
    ArrayRef<AffineMap> inputMaps,
    function_ref<Value(OpBuilder &, Location, ValueRange)> combine) {
  SmallVector<AffineMap> maps(inputMaps);
  maps.push_back(b.getMultiDimIdentityMap(2));
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, TypeRange(type), inputs,
             ValueRange(createEmpty(b, loc, type)), maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(b, loc, combine(b, loc, arguments));
             })
      .getResult(0);
}

struct CausalPattern : OpConversionPattern<CausalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CausalOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    AffineMap identity = b.getMultiDimIdentityMap(2);
    SmallVector<Value> inputs{adaptor.getSource()};
    SmallVector<AffineMap> maps{identity};
    const bool lower = op.getTriangle() == Triangle::Lower;
    DenseElementsAttr powers = getPowers(op);
    if (powers) {
      inputs.push_back(arith::ConstantOp::create(b, loc, powers));
      maps.push_back(identity);
    } else if (op.getBy()) {
      // The sums that a row, and a column, contributes.
      auto addSums = [&](unsigned dim, int64_t offset) {
        auto number = [&](OpBuilder &b, Location loc, Value i) {
          return getSum(b, loc, adaptor.getBy(), i, offset);
        };
        inputs.push_back(
            createColumn(b, loc, type.getDimSize(0), b.getF64Type(), number));
        maps.push_back(AffineMap::get(2, 0, b.getAffineDimExpr(dim)));
      };
      const int64_t strict = op.getStrict();
      addSums(/*dim=*/lower ? 0 : 1, lower ? -strict : -1);
      addSums(/*dim=*/lower ? 1 : 0, lower ? 0 : strict - 1);
    }
    auto decayed = [&](OpBuilder &b, Location loc,
                       ValueRange arguments) -> Value {
      Value first = linalg::IndexOp::create(b, loc, lower ? 1 : 0);
      Value second = linalg::IndexOp::create(b, loc, lower ? 0 : 1);
      auto predicate = op.getStrict() ? arith::CmpIPredicate::slt
                                      : arith::CmpIPredicate::sle;
      Value kept = arith::CmpIOp::create(b, loc, predicate, first, second);
      Value score = arguments[0];
      if (powers)
        score = arith::MulFOp::create(b, loc, score, arguments[1]);
      else if (op.getBy())
        score = arith::MulFOp::create(
            b, loc, score,
            createFactor(
                b, loc,
                arith::SubFOp::create(b, loc, arguments[1], arguments[2]),
                type.getElementType()));
      Value zero = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(type.getElementType()));
      return arith::SelectOp::create(b, loc, kept, score, zero);
    };
    b.replaceOp(op, combineElements(b, loc, type, inputs, maps, decayed));
    return success();
  }

  /// The tile of factors where they are known: powers of one decay, by
  /// distance; 1 where none is used. Else null.
  static DenseElementsAttr getPowers(CausalOp op) {
    auto ramp = op.getBy() ? op.getBy().getDefiningOp<RampOp>() : RampOp();
    FloatAttr logDecay;
    if (!ramp || !matchPattern(ramp.getLogDecay(), m_Constant(&logDecay)))
      return {};
    RankedTensorType type = op.getType();
    int64_t size = type.getDimSize(0), strict = op.getStrict() ? 1 : 0;
    double g = std::max(logDecay.getValueAsDouble(), kLeastLogDecay);
    SmallVector<Attribute> powers, values;
    for (int64_t distance = 0; distance < size; ++distance)
      powers.push_back(FloatAttr::get(
          type.getElementType(), std::exp(g * static_cast<double>(distance))));
    for (int64_t row = 0; row < size; ++row)
      for (int64_t col = 0; col < size; ++col) {
        int64_t distance =
            (op.getTriangle() == Triangle::Lower ? row - col : col - row) -
            strict;
        values.push_back(powers[std::max<int64_t>(distance, 0)]);
      }
    return DenseElementsAttr::get(type, values);
  }
};

/// `result_ij = combine(column_i, tile_ij)`; without a tile, of the column
/// alone.
Value combineRows(
    OpBuilder &b, Location loc, RankedTensorType type, Value column, Value tile,
    function_ref<Value(OpBuilder &, Location, ValueRange)> combine) {
  SmallVector<Value> inputs{column};
  SmallVector<AffineMap> maps{AffineMap::get(2, 0, b.getAffineDimExpr(0))};
  if (tile) {
    inputs.push_back(tile);
    maps.push_back(b.getMultiDimIdentityMap(2));
  }
  return combineElements(b, loc, type, inputs, maps, combine);
}

struct DecayPattern : OpConversionPattern<DecayOp> {
  using OpConversionPattern::OpConversionPattern;

  // One factor a row.
  LogicalResult matchAndRewrite(DecayOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getSource().getType();
    const int64_t last = op.getBy().getType().getDimSize(0) - 1;
    auto factor = [&](OpBuilder &b, Location loc, Value i) -> Value {
      auto sum = [&](Value i, int64_t offset) {
        return getSum(b, loc, adaptor.getBy(), i, offset);
      };
      auto total = [&]() {
        return sum(arith::ConstantIndexOp::create(b, loc, last), 0);
      };
      Value exponent;
      switch (op.getSpan()) {
      case Span::Through:
        exponent = sum(i, 0);
        break;
      case Span::Before:
        exponent = sum(i, -1);
        break;
      case Span::After:
        exponent = arith::SubFOp::create(b, loc, total(), sum(i, 0));
        break;
      case Span::From:
        exponent = arith::SubFOp::create(b, loc, total(), sum(i, -1));
        break;
      case Span::All:
        exponent = total();
        break;
      }
      return createFactor(b, loc, exponent, type.getElementType());
    };
    Value factors =
        createColumn(b, loc, type.getDimSize(0), type.getElementType(), factor);
    b.replaceOp(op, combineRows(b, loc, type, factors, adaptor.getSource(),
                                [](OpBuilder &b, Location loc, ValueRange x) {
                                  return arith::MulFOp::create(b, loc, x[0],
                                                               x[1]);
                                }));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

struct MaskPattern : OpConversionPattern<MaskOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(MaskOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getSource().getType();
    auto masked = [&](OpBuilder &b, Location loc,
                      ValueRange arguments) -> Value {
      Value index =
          linalg::IndexOp::create(b, loc, op.getDim() == Dim::Rows ? 0 : 1);
      Value kept = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                         index, adaptor.getCount());
      Value zero = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(type.getElementType()));
      return arith::SelectOp::create(b, loc, kept, arguments[0], zero);
    };
    b.replaceOp(op, combineElements(b, loc, type, adaptor.getSource(),
                                    b.getMultiDimIdentityMap(2), masked));
    return success();
  }
};

struct SumRowsPattern : OpConversionPattern<SumRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  // The product with a column of ones.
  LogicalResult matchAndRewrite(SumRowsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    Type elementType = type.getElementType();
    Value source = extend(b, loc, adaptor.getSource(), elementType);
    auto onesType = RankedTensorType::get(
        {op.getSource().getType().getDimSize(1), 1}, elementType);
    Value ones = arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(onesType,
                               Attribute(b.getFloatAttr(elementType, 1.0))));
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    b.replaceOpWithNewOp<linalg::MatmulOp>(op, TypeRange(type),
                                           ValueRange{source, ones}, zeros);
    return success();
  }
};

struct BroadcastPattern : OpConversionPattern<tile::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::BroadcastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    auto number = [&](OpBuilder &b, Location loc, Value i) {
      return extractNumber(b, loc, adaptor.getSource(), i);
    };
    Value column =
        createColumn(b, loc, type.getDimSize(0), type.getElementType(), number);
    b.replaceOp(op, combineRows(b, loc, type, column, Value(),
                                [](OpBuilder &, Location, ValueRange x) {
                                  return x[0];
                                }));
    return success();
  }
};

} // namespace

void tile::populateColumnPatterns(RewritePatternSet &patterns) {
  patterns.add<PrefixSumPattern, RampPattern, CausalPattern, DecayPattern,
               MaskPattern, SumRowsPattern, BroadcastPattern>(
      patterns.getContext());
}
