//===- DeviceMemoryPatterns.cpp - views of device memory --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Patterns.h"
#include "View.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// Strides and offsets of a matrix of a tensor: the row dimension is the one
/// before the last that is kept.
struct ConvertSubView : OpConversionPattern<memref::SubViewOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::SubViewOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    const int64_t rank = op.getSourceType().getRank();
    ValueRange source = adaptor.getSource();
    if (op.getType().getRank() != 2 ||
        static_cast<int64_t>(source.size()) != rank ||
        !llvm::all_of(op.getMixedStrides(), isOneInteger))
      return rewriter.notifyMatchFailure(op, "not a matrix of a tensor");
    auto toValue = [&](OpFoldResult value) -> Value {
      if (std::optional<int64_t> constant = getConstantIntValue(value))
        return arith::ConstantOp::create(e, e.getI64IntegerAttr(*constant));
      return e.toI64(cast<Value>(value));
    };
    Value offset = toValue(e.getIndexAttr(0));
    llvm::SmallBitVector dropped = op.getDroppedDims();
    unsigned rowDim = 0;
    for (int64_t i = 0; i < rank; ++i) {
      if (!dropped.test(i) && i != rank - 1)
        rowDim = i;
      Value distance = toValue(op.getMixedOffsets()[i]);
      if (i != rank - 1)
        distance = e.createOrFold<arith::MulIOp>(distance, source[1 + i]);
      offset = e.createOrFold<arith::AddIOp>(offset, distance);
    }
    Value pointer = LLVM::GEPOp::create(e, source[0].getType(),
                                        op.getType().getElementType(),
                                        source[0], ValueRange{offset});
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{pointer, source[1 + rowDim],
                                toValue(op.getMixedSizes()[rowDim])}});
    return success();
  }
};

/// Pairs of neighbours of a fragment and where they are: calls `visit(register,
/// row, col)` with the tile's row and column of the first of two elements,
/// which are neighbours in a row, or in a column of a transposed fragment.
void forEachPair(Emitter &e, const FragmentShape &shape,
                 function_ref<void(int64_t, Value, Value)> visit) {
  ThreadPlace place(e, shape.frag, Shuffle::Store);
  Value row = e.add(shape.getRow(e, place), e.div(place.lane, 4));
  Value col = e.add(shape.getCol(e, place), e.mul(e.rem(place.lane, 4), 2));
  for (int64_t m = 0; m < shape.rowPieces; ++m)
    for (int64_t n = 0; n < shape.colPieces; ++n)
      for (int64_t half = 0; half < 2; ++half) {
        Value r = e.toI64(e.add(row, 16 * m + 8 * half));
        Value c = e.toI64(e.add(col, 8 * n));
        if (shape.frag.getTransposed())
          std::swap(r, c);
        visit(shape.getRegister(m, n, 4) + 2 * half, r, c);
      }
}

/// Two elements of a pair, `f32`: one access, or two where the fragment is
/// transposed. Calls `access(element, row, col)`.
void forEachElementOfPair(Emitter &e, bool transposed, Value row, Value col,
                          function_ref<void(int64_t, Value, Value)> access) {
  Value one = arith::ConstantOp::create(e, e.getI64IntegerAttr(1));
  access(0, row, col);
  Value &second = transposed ? row : col;
  second = arith::AddIOp::create(e, second, one);
  access(1, row, col);
}

/// Loads a fragment from device memory.
struct ConvertLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    if (!tile.getElementType().isF32() ||
        !isa_and_nonnull<FragAttr>(tile.getEncoding()))
      return rewriter.notifyMatchFailure(op, "not a fragment of f32");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(tile);
    View view(adaptor.getView(), op.getView().getType());
    bool isInside = view.holds(tile, op.getRow());
    Value firstRow = e.toI64(adaptor.getRow().front());
    SmallVector<Value> registers(tile.getNumElements() /
                                 (32 * shape.frag.getWarps()));
    auto load = [&](Emitter &e, Value row, Value col) -> Value {
      return LLVM::LoadOp::create(e, e.getF32Type(),
                                  view.getAddress(e, row, col),
                                  /*alignment=*/4);
    };
    forEachPair(e, shape, [&](int64_t i, Value r, Value c) {
      forEachElementOfPair(
          e, shape.frag.getTransposed(), arith::AddIOp::create(e, firstRow, r),
          c, [&](int64_t element, Value row, Value col) {
            if (isInside) {
              registers[i + element] = load(e, row, col);
              return;
            }
            auto guarded = scf::IfOp::create(
                e, view.contains(e, row),
                [&](OpBuilder &b, Location loc) {
                  Emitter nested(loc, b);
                  scf::YieldOp::create(nested, load(nested, row, col));
                },
                [&](OpBuilder &b, Location loc) {
                  Emitter nested(loc, b);
                  scf::YieldOp::create(nested, nested.f32(0.0));
                });
            registers[i + element] = guarded.getResult(0);
          });
    });
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

/// Stores a fragment of f32 from registers.
struct ConvertFragmentStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto tile = dyn_cast<RankedTensorType>(op.getTile().getType());
    if (!tile || !tile.getElementType().isF32() ||
        !isa_and_nonnull<FragAttr>(tile.getEncoding()))
      return rewriter.notifyMatchFailure(op, "not a fragment of f32");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(tile);
    View view(adaptor.getView(), op.getView().getType());
    bool isInside = view.holds(tile, op.getRow());
    Value firstRow = e.toI64(adaptor.getRow().front());
    ValueRange registers = adaptor.getTile();
    auto store = [&](Emitter &e, Value value, Value row, Value col) {
      LLVM::StoreOp::create(e, value, view.getAddress(e, row, col),
                            /*alignment=*/4);
    };
    forEachPair(e, shape, [&](int64_t i, Value r, Value c) {
      forEachElementOfPair(e, shape.frag.getTransposed(),
                           arith::AddIOp::create(e, firstRow, r), c,
                           [&](int64_t element, Value row, Value col) {
                             Value value = registers[i + element];
                             if (isInside)
                               return store(e, value, row, col);
                             scf::IfOp::create(e, view.contains(e, row),
                                               [&](OpBuilder &b, Location loc) {
                                                 Emitter nested(loc, b);
                                                 store(nested, value, row, col);
                                                 scf::YieldOp::create(nested);
                                               });
                           });
    });
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateDeviceMemoryPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<ConvertSubView, ConvertLoad, ConvertFragmentStore>(
      converter, patterns.getContext());
}
