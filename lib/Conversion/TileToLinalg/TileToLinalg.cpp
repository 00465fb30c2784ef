//===- TileToLinalg.cpp - tile programs as linalg ---------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile keeps its type, a tensor. What is read from memory is copied into a
// private buffer, so that every tensor here owns its memory: bufferization then
// has only values of the program to reason about.
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/TileToLinalg.h"
#include "Rounding.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include <cmath>

namespace mlir::hla {
#define GEN_PASS_DEF_CONVERTHLATILETOLINALG
#include "hla/Conversion/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The part of a tile, and of a view, that a transfer touches: rows
/// [tileRow, tileRow + rows) of the tile are rows [viewRow, viewRow + rows) of
/// the view.
struct Window {
  OpFoldResult tileRow, viewRow, rows, cols;

  /// For a tile whose first row is row `row` of the view, which may lie
  /// outside.
  static Window get(OpBuilder &b, Location loc, Value view, Value row,
                    RankedTensorType tile) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    auto minimum = [&](Value x, Value y) {
      return b.createOrFold<arith::MinSIOp>(loc, x, y);
    };
    auto maximum = [&](Value x, Value y) {
      return b.createOrFold<arith::MaxSIOp>(loc, x, y);
    };
    auto subtract = [&](Value x, Value y) {
      return b.createOrFold<arith::SubIOp>(loc, x, y);
    };
    auto type = cast<MemRefType>(view.getType());
    Value zero = index(0), tileRows = index(tile.getDimSize(0));
    auto extent = [&](int64_t dim) {
      return type.isDynamicDim(dim)
                 ? b.createOrFold<memref::DimOp>(loc, view, dim)
                 : index(type.getDimSize(dim));
    };
    Value end = minimum(maximum(subtract(extent(0), row), zero), tileRows);
    Value begin = minimum(maximum(subtract(zero, row), zero), end);
    Value viewRow = b.createOrFold<arith::AddIOp>(loc, row, begin);
    Value cols = minimum(extent(1), index(tile.getDimSize(1)));
    return {getAsOpFoldResult(begin), getAsOpFoldResult(viewRow),
            getAsOpFoldResult(subtract(end, begin)), getAsOpFoldResult(cols)};
  }

  /// Whether the window is known to be the whole tile.
  bool covers(RankedTensorType tile) const {
    return isConstantIntValue(rows, tile.getDimSize(0)) &&
           isConstantIntValue(cols, tile.getDimSize(1));
  }
};

/// The block of `view` at (row, col) of the given extents.
Value createBlock(OpBuilder &b, Location loc, Value view, OpFoldResult row,
                  OpFoldResult col, OpFoldResult rows, OpFoldResult cols) {
  OpFoldResult one = b.getIndexAttr(1);
  return memref::SubViewOp::create(b, loc, view, ArrayRef{row, col},
                                   ArrayRef{rows, cols}, ArrayRef{one, one});
}

/// Bytes that buffers are aligned to: a cache line.
constexpr int64_t kAlignment = 64;

struct LoadPattern : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = getTypeConverter()->convertType<RankedTensorType>(
        op.getTile().getType());
    auto buffer = memref::AllocOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()),
        b.getI64IntegerAttr(kAlignment));
    Window window = Window::get(b, loc, adaptor.getView(), op.getRow(), type);
    OpFoldResult zero = b.getIndexAttr(0);
    auto copy = [&](Value target) {
      Value source = createBlock(b, loc, adaptor.getView(), window.viewRow,
                                 zero, window.rows, window.cols);
      memref::CopyOp::create(b, loc, source, target);
    };
    if (window.covers(type)) {
      copy(buffer);
    } else {
      fillOutside(b, loc, buffer, window);
      copy(createBlock(b, loc, buffer, window.tileRow, zero, window.rows,
                       window.cols));
    }
    Value tile = bufferization::ToTensorOp::create(
        b, loc, type, buffer, /*restrict=*/true, /*writable=*/true);
    if (type != op.getTile().getType())
      tile = roundToTF32(b, loc, tile);
    b.replaceOp(op, tile);
    return success();
  }

  /// Writes zeros above, below and right of the window.
  static void fillOutside(OpBuilder &b, Location loc, Value buffer,
                          const Window &window) {
    auto type = cast<MemRefType>(buffer.getType());
    Value zero =
        arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
    auto fill = [&](OpFoldResult row, OpFoldResult col, Value rows,
                    Value cols) {
      if (matchPattern(rows, m_Zero()) || matchPattern(cols, m_Zero()))
        return;
      Value block =
          createBlock(b, loc, buffer, row, col, getAsOpFoldResult(rows),
                      getAsOpFoldResult(cols));
      linalg::FillOp::create(b, loc, zero, block);
    };
    auto value = [&](OpFoldResult x) {
      return getValueOrCreateConstantIndexOp(b, loc, x);
    };
    auto remaining = [&](int64_t extent, Value begin) {
      return b.createOrFold<arith::SubIOp>(
          loc, arith::ConstantIndexOp::create(b, loc, extent), begin);
    };
    Value begin = value(window.tileRow);
    Value end = b.createOrFold<arith::AddIOp>(loc, begin, value(window.rows));
    Value allCols = arith::ConstantIndexOp::create(b, loc, type.getDimSize(1));
    OpFoldResult origin = b.getIndexAttr(0);
    fill(origin, origin, begin, allCols);
    fill(getAsOpFoldResult(end), origin, remaining(type.getDimSize(0), end),
         allCols);
    fill(window.tileRow, window.cols, value(window.rows),
         remaining(type.getDimSize(1), value(window.cols)));
  }
};

struct StorePattern : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    auto type = dyn_cast<RankedTensorType>(op.getTile().getType());
    if (!type)
      return b.notifyMatchFailure(op, "the tile is in shared memory");
    Location loc = op.getLoc();
    Window window = Window::get(b, loc, adaptor.getView(), op.getRow(), type);
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    Value target = createBlock(b, loc, adaptor.getView(), window.viewRow, zero,
                               window.rows, window.cols);
    Value source = adaptor.getTile();
    if (!window.covers(type))
      source = tensor::ExtractSliceOp::create(
          b, loc, source, ArrayRef{window.tileRow, zero},
          ArrayRef{window.rows, window.cols}, ArrayRef{one, one});
    bufferization::MaterializeInDestinationOp::create(
        b, loc, /*result=*/Type(), source, target, /*restrict=*/true,
        /*writable=*/true);
    b.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value createEmpty(OpBuilder &b, Location loc, RankedTensorType type) {
  return tensor::EmptyOp::create(b, loc, type.getShape(),
                                 type.getElementType());
}

struct DotPattern : OpConversionPattern<DotOp> {
  using OpConversionPattern::OpConversionPattern;

  // A transposed rhs is transposed in memory, once for the whole product, so
  // that a row of the result is a sum of contiguous rows of rhs. A transposed
  // lhs is read as it is: its elements are broadcast one by one.
  LogicalResult matchAndRewrite(DotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (!isa<RankedTensorType>(op.getLhs().getType()) ||
        !isa<RankedTensorType>(op.getRhs().getType()))
      return b.notifyMatchFailure(op, "an operand is in shared memory");
    Location loc = op.getLoc();
    if (!op.getBf16x3()) {
      Type wide = getElementTypeOrSelf(op);
      b.replaceOp(op, multiply(b, op, extend(b, loc, adaptor.getLhs(), wide),
                               extend(b, loc, adaptor.getRhs(), wide),
                               adaptor.getAcc()));
      return success();
    }
    auto [lhs, lhsRest] = splitBF16(b, loc, adaptor.getLhs());
    auto [rhs, rhsRest] = splitBF16(b, loc, adaptor.getRhs());
    Value sum = adaptor.getAcc();
    if (lhsRest)
      sum = multiply(b, op, lhsRest, rhs, sum);
    if (rhsRest)
      sum = multiply(b, op, lhs, rhsRest, sum);
    b.replaceOp(op, multiply(b, op, lhs, rhs, sum));
    return success();
  }

  /// `acc` and the product of `lhs` and `rhs`, transposed as `op` says.
  static Value multiply(OpBuilder &b, DotOp op, Value lhs, Value rhs,
                        Value acc) {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getType());
    if (op.getTransposeRhs()) {
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(rhs.getType()).getShape();
      Value init = createEmpty(
          b, loc, type.clone(ArrayRef<int64_t>{shape[1], shape[0]}));
      rhs = linalg::TransposeOp::create(b, loc, rhs, init,
                                        ArrayRef<int64_t>{1, 0})
                ->getResult(0);
    }
    if (op.getTransposeLhs())
      return linalg::MatmulTransposeAOp::create(b, loc, TypeRange(type),
                                                ValueRange{lhs, rhs}, acc)
          .getResult(0);
    return linalg::MatmulOp::create(b, loc, TypeRange(type),
                                    ValueRange{lhs, rhs}, acc)
        .getResult(0);
  }
};

/// Roundings to tf32; others are left to the passes for elementwise operations.
struct TruncFPattern : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value tile = adaptor.getIn();
    if (!isTF32(op.getType()))
      return b.notifyMatchFailure(op, "no rounding to tf32");
    auto type = cast<RankedTensorType>(tile.getType());
    if (type.getElementType().isF64())
      tile = arith::TruncFOp::create(b, loc, type.clone(b.getF32Type()), tile);
    b.replaceOp(op, roundToTF32(b, loc, tile));
    return success();
  }
};

/// What is extended from tf32 is an f32 already.
struct ExtFPattern : OpConversionPattern<arith::ExtFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    if (!isTF32(op.getIn().getType()))
      return b.notifyMatchFailure(op, "no extension of tf32");
    b.replaceOp(op, extend(b, op.getLoc(), adaptor.getIn(),
                           getElementTypeOrSelf(op.getType())));
    return success();
  }
};

/// γ^n, rounded once to `type`.
FloatAttr getPower(Type type, double decay, int64_t exponent) {
  return FloatAttr::get(type, std::pow(decay, static_cast<double>(exponent)));
}

struct CausalPattern : OpConversionPattern<CausalOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(CausalOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getType();
    double decay = op.getDecay().convertToDouble();
    SmallVector<Value> inputs{adaptor.getSource()};
    if (decay != 1.0)
      inputs.push_back(createPowers(b, op, decay));
    SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(2));
    SmallVector<utils::IteratorType> iterators(2,
                                               utils::IteratorType::parallel);
    bool lower = op.getTriangle() == Triangle::Lower;
    auto body = [&](OpBuilder &b, Location loc, ValueRange arguments) {
      Value first = linalg::IndexOp::create(b, loc, lower ? 1 : 0);
      Value second = linalg::IndexOp::create(b, loc, lower ? 0 : 1);
      auto predicate = op.getStrict() ? arith::CmpIPredicate::slt
                                      : arith::CmpIPredicate::sle;
      Value kept = arith::CmpIOp::create(b, loc, predicate, first, second);
      Value score = arguments[0];
      if (decay != 1.0)
        score = arith::MulFOp::create(b, loc, score, arguments[1]);
      Value zero = arith::ConstantOp::create(
          b, loc, b.getZeroAttr(type.getElementType()));
      Value result = arith::SelectOp::create(b, loc, kept, score, zero);
      linalg::YieldOp::create(b, loc, result);
    };
    b.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange(type), inputs, ValueRange(createEmpty(b, loc, type)),
        maps, iterators, body);
    return success();
  }

  /// The constant tile of the powers, 1 where no power is used.
  static Value createPowers(OpBuilder &b, CausalOp op, double decay) {
    RankedTensorType type = op.getType();
    int64_t size = type.getDimSize(0), strict = op.getStrict() ? 1 : 0;
    SmallVector<Attribute> powers, values;
    for (int64_t distance = 0; distance < size; ++distance)
      powers.push_back(getPower(type.getElementType(), decay, distance));
    for (int64_t row = 0; row < size; ++row)
      for (int64_t col = 0; col < size; ++col) {
        int64_t distance =
            (op.getTriangle() == Triangle::Lower ? row - col : col - row) -
            strict;
        values.push_back(powers[std::max<int64_t>(distance, 0)]);
      }
    return arith::ConstantOp::create(b, op.getLoc(),
                                     DenseElementsAttr::get(type, values));
  }
};

struct DecayPattern : OpConversionPattern<DecayOp> {
  using OpConversionPattern::OpConversionPattern;

  // The powers, one a row, are a tensor of their own, computed in f64: one call
  // of `pow` a row, hoisted from loops in which `first` does not change.
  LogicalResult matchAndRewrite(DecayOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    RankedTensorType type = op.getSource().getType();
    Type element = type.getElementType();
    auto powersType = RankedTensorType::get({type.getDimSize(0)}, element);
    Value base = arith::ConstantOp::create(
        b, loc, b.getF64FloatAttr(op.getDecay().convertToDouble()));
    Value step = arith::ConstantIndexOp::create(b, loc, op.getStep());
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    auto power = [&](OpBuilder &b, Location loc, ValueRange indices) {
      Value offset = arith::MulIOp::create(b, loc, step, indices[0]);
      Value sum = arith::AddIOp::create(b, loc, adaptor.getFirst(), offset);
      Value exponent = arith::MaxSIOp::create(b, loc, sum, zero);
      exponent = arith::IndexCastOp::create(b, loc, b.getI64Type(), exponent);
      exponent = arith::SIToFPOp::create(b, loc, b.getF64Type(), exponent);
      Value result = math::PowFOp::create(b, loc, base, exponent);
      if (!element.isF64())
        result = arith::TruncFOp::create(b, loc, element, result);
      tensor::YieldOp::create(b, loc, result);
    };
    Value powers =
        tensor::GenerateOp::create(b, loc, powersType, ValueRange(), power);
    AffineMap identity = b.getMultiDimIdentityMap(2);
    AffineMap rows = AffineMap::get(2, 0, b.getAffineDimExpr(0));
    SmallVector<utils::IteratorType> iterators(2,
                                               utils::IteratorType::parallel);
    auto body = [](OpBuilder &b, Location loc, ValueRange arguments) {
      Value scaled = arith::MulFOp::create(b, loc, arguments[0], arguments[1]);
      linalg::YieldOp::create(b, loc, scaled);
    };
    b.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange(type), ValueRange{powers, adaptor.getSource()},
        ValueRange(createEmpty(b, loc, type)),
        ArrayRef{rows, identity, identity}, iterators, body);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

struct LaunchPattern : OpConversionPattern<LaunchOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LaunchOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto loop = scf::ParallelOp::create(
        b, loc, ValueRange{zero, zero},
        ValueRange{adaptor.getBatches(), adaptor.getHeads()},
        ValueRange{one, one});
    Block *source = &op.getBody().front(), *target = loop.getBody();
    b.eraseOp(source->getTerminator());
    b.inlineBlockBefore(source, target->getTerminator(),
                        loop.getInductionVars());
    b.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct ConvertHLATileToLinalg
    : hla::impl::ConvertHLATileToLinalgBase<ConvertHLATileToLinalg> {
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalDialect<HLATileDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return llvm::none_of(op->getOperandTypes(), isTF32) &&
             llvm::none_of(op->getResultTypes(), isTF32);
    });
    TypeConverter converter;
    populateHLATileToLinalgConversions(converter);
    RewritePatternSet patterns(&getContext());
    populateHLATileToLinalgPatterns(converter, patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace

void hla::populateHLATileToLinalgConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion([](RankedTensorType type) -> Type {
    if (!isTF32(type))
      return type;
    return type.clone(Float32Type::get(type.getContext()));
  });
}

void hla::populateHLATileToLinalgPatterns(const TypeConverter &converter,
                                          RewritePatternSet &patterns) {
  patterns.add<LoadPattern, StorePattern, DotPattern, TruncFPattern,
               ExtFPattern, CausalPattern, DecayPattern, LaunchPattern>(
      converter, patterns.getContext());
}
