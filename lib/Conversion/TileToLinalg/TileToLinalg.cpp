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
#include "Columns.h"
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
/// the view, and its columns from 0 on are those from `viewCol` on.
struct Window {
  OpFoldResult tileRow, viewRow, viewCol, rows, cols;

  /// For a tile whose first row is row `row` of the view, which may lie
  /// outside, and whose columns are a slice, if that is not null.
  static Window get(OpBuilder &b, Location loc, Value view, Value row,
                    Value slice, RankedTensorType tile) {
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
    Value tileCols = index(tile.getDimSize(1)), viewCol = zero;
    // Of a slice after the last column there is nothing.
    if (slice)
      viewCol = minimum(b.createOrFold<arith::MulIOp>(loc, slice, tileCols),
                        extent(1));
    Value cols = minimum(subtract(extent(1), viewCol), tileCols);
    return {getAsOpFoldResult(begin), getAsOpFoldResult(viewRow),
            getAsOpFoldResult(viewCol), getAsOpFoldResult(subtract(end, begin)),
            getAsOpFoldResult(cols)};
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

/// Whether a row is in the view; a negative one is not.
Value isInside(OpBuilder &b, Location loc, Value view, Value row) {
  Value rows = memref::DimOp::create(b, loc, view, 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row, rows);
}

struct LoadPattern : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto type = getTypeConverter()->convertType<RankedTensorType>(
        op.getTile().getType());
    if (op.getView().getType().getRank() == 1) {
      b.replaceOp(op, loadColumn(b, loc, adaptor.getView(), op.getRow(), type));
      return success();
    }
    auto buffer = memref::AllocOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()),
        b.getI64IntegerAttr(kAlignment));
    Window window = Window::get(b, loc, adaptor.getView(), op.getRow(),
                                op.getSlice(), type);
    OpFoldResult zero = b.getIndexAttr(0);
    auto copy = [&](Value target) {
      Value source = createBlock(b, loc, adaptor.getView(), window.viewRow,
                                 window.viewCol, window.rows, window.cols);
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

  static Value loadColumn(OpBuilder &b, Location loc, Value view, Value row,
                          RankedTensorType type) {
    auto number = [&](OpBuilder &b, Location loc, Value i) -> Value {
      Value from = arith::AddIOp::create(b, loc, row, i);
      auto guarded = scf::IfOp::create(
          b, loc, isInside(b, loc, view, from),
          [&](OpBuilder &b, Location loc) {
            scf::YieldOp::create(
                b, loc, memref::LoadOp::create(b, loc, view, from).getResult());
          },
          [&](OpBuilder &b, Location loc) {
            Value zero = arith::ConstantOp::create(
                b, loc, b.getZeroAttr(type.getElementType()));
            scf::YieldOp::create(b, loc, zero);
          });
      return guarded.getResult(0);
    };
    return createColumn(b, loc, type.getShape(), type.getElementType(), number);
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
    if (op.getView().getType().getRank() == 1) {
      storeColumn(b, loc, adaptor.getTile(), adaptor.getView(), op.getRow());
      b.eraseOp(op);
      return success();
    }
    Window window = Window::get(b, loc, adaptor.getView(), op.getRow(),
                                op.getSlice(), type);
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    Value target = createBlock(b, loc, adaptor.getView(), window.viewRow,
                               window.viewCol, window.rows, window.cols);
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

  static void storeColumn(OpBuilder &b, Location loc, Value tile, Value view,
                          Value row) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    int64_t rows = cast<ShapedType>(tile.getType()).getDimSize(0);
    scf::ForOp::create(b, loc, index(0), index(rows), index(1), ValueRange(),
                       [&](OpBuilder &b, Location loc, Value i, ValueRange) {
                         Value to = arith::AddIOp::create(b, loc, row, i);
                         scf::IfOp::create(b, loc, isInside(b, loc, view, to),
                                           [&](OpBuilder &b, Location loc) {
                                             memref::StoreOp::create(
                                                 b, loc,
                                                 extractNumber(b, loc, tile, i),
                                                 view, to);
                                             scf::YieldOp::create(b, loc);
                                           });
                         scf::YieldOp::create(b, loc);
                       });
  }
};

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

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

static bool isF64ToBF16(arith::TruncFOp op) {
  return getElementTypeOrSelf(op.getIn()).isF64() &&
         getElementTypeOrSelf(op.getType()).isBF16();
}

/// Roundings that a CPU has no instruction for, nor a library: to tf32, and
/// from f64 to bf16. From f64 they go by way of f32, which moves a value by
/// 2^-24 of it at most, and so the second rounding by a whole unit in as rare
/// cases.
struct TruncFPattern : OpConversionPattern<arith::TruncFOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    const bool toTF32 = isTF32(op.getType());
    if (!toTF32 && !isF64ToBF16(op))
      return b.notifyMatchFailure(op, "a rounding that CPUs have");
    Location loc = op.getLoc();
    Value value = adaptor.getIn();
    if (getElementTypeOrSelf(value).isF64()) {
      Type f32 = b.getF32Type();
      if (auto shaped = dyn_cast<ShapedType>(value.getType()))
        f32 = shaped.clone(f32);
      value = arith::TruncFOp::create(b, loc, f32, value);
    }
    b.replaceOp(
        op,
        toTF32
            ? roundToTF32(b, loc, value)
            : arith::TruncFOp::create(b, loc, op.getType(), value).getResult());
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

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// One number everywhere.
struct SplatPattern : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override {
    auto type = cast<RankedTensorType>(op.getType());
    b.replaceOpWithNewOp<linalg::FillOp>(op, adaptor.getInput(),
                                         createEmpty(b, op.getLoc(), type));
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
    SmallVector<Value> bounds(adaptor.getOperands());
    if (op.getSlice())
      bounds.push_back(
          arith::ConstantIndexOp::create(b, loc, op.getSchedule().getSlices()));
    auto loop =
        scf::ParallelOp::create(b, loc, SmallVector<Value>(bounds.size(), zero),
                                bounds, SmallVector<Value>(bounds.size(), one));
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
    target.addIllegalOp<tensor::SplatOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *op) {
      return llvm::none_of(op->getOperandTypes(), isTF32) &&
             llvm::none_of(op->getResultTypes(), isTF32);
    });
    target.addDynamicallyLegalOp<arith::TruncFOp>([](arith::TruncFOp op) {
      return !isTF32(op.getIn().getType()) && !isTF32(op.getType()) &&
             !isF64ToBF16(op);
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
  populateColumnPatterns(patterns);
  patterns.add<LoadPattern, StorePattern, DotPattern, SplatPattern,
               LaunchPattern, TruncFPattern, ExtFPattern>(
      converter, patterns.getContext());
}
