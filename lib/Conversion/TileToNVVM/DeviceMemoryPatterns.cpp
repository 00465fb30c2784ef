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

/// Strides and offsets of a matrix, or of a column, of a tensor: the row
/// dimension is the first that is kept.
struct ConvertSubView : OpConversionPattern<memref::SubViewOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::SubViewOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    const int64_t rank = op.getSourceType().getRank();
    ValueRange source = adaptor.getSource();
    const bool isColumn = op.getType().getRank() == 1;
    if (op.getType().getRank() > 2 ||
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
      if (!dropped.test(i) && (isColumn || i != rank - 1))
        rowDim = i;
      Value distance = toValue(op.getMixedOffsets()[i]);
      if (i != rank - 1)
        distance = e.createOrFold<arith::MulIOp>(distance, source[1 + i]);
      offset = e.createOrFold<arith::AddIOp>(offset, distance);
    }
    Value pointer = LLVM::GEPOp::create(e, source[0].getType(),
                                        op.getType().getElementType(),
                                        source[0], ValueRange{offset});
    // The last stride of a tensor is 1.
    Value stride =
        rowDim + 1 == rank ? toValue(e.getIndexAttr(1)) : source[1 + rowDim];
    rewriter.replaceOpWithMultiple(
        op, {SmallVector<Value>{pointer, stride,
                                toValue(op.getMixedSizes()[rowDim])}});
    return success();
  }
};

/// A view of another type is the same pointer, strides and size.
struct ConvertViewCast : OpConversionPattern<memref::CastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(memref::CastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, {adaptor.getSource()});
    return success();
  }
};

/// One of two views: each of its numbers.
struct ConvertViewSelect : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::SelectOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not a view");
    SmallVector<Value> selected;
    for (auto [x, y] :
         llvm::zip(adaptor.getTrueValue(), adaptor.getFalseValue()))
      selected.push_back(rewriter.createOrFold<arith::SelectOp>(
          op.getLoc(), adaptor.getCondition().front(), x, y));
    rewriter.replaceOpWithMultiple(op, {selected});
    return success();
  }
};

/// Every element of a fragment of f32 that a thread has, and where it is in a
/// view whose row `firstRow` is the tile's first. Calls `visit(register,
/// address, isInside)`; the last is null where the view holds the whole tile,
/// of which it may be known that it `holdsRows`.
/// `slice` may be null. Rows are walked one after the other, and an address is
/// the one before and some rows more: a thread holds one of them at a time.
void forEachElement(Emitter &e, Shuffle shuffle, RankedTensorType tile,
                    const View &view, bool holdsRows, Value firstRow,
                    Value slice,
                    function_ref<void(int64_t, Value, Value)> visit) {
  FragmentShape shape(tile);
  const bool transposed = shape.frag.getTransposed();
  ThreadPlace place(e, shape.frag, shuffle);
  auto [row, col] = shape.getFirstElement(e, place);
  if (transposed)
    std::swap(row, col);
  row = arith::AddIOp::create(e, firstRow, e.toI64(row));
  col = e.toI64(e.add(View::getFirstCol(e, tile, slice), col));
  // Distances from the thread's first element, and the register.
  struct Element {
    int64_t row, col, i;
  };
  SmallVector<Element> elements;
  shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
    elements.push_back(transposed ? Element{c, r, i} : Element{r, c, i});
  });
  llvm::sort(elements, [](const Element &a, const Element &b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  auto add = [&](Value value, int64_t distance) -> Value {
    return e.createOrFold<arith::AddIOp>(value, e.i64(distance));
  };
  Value rowAddress = view.getAddress(e, row, col);
  int64_t lastRow = 0;
  for (const Element &element : elements) {
    rowAddress = view.advance(e, rowAddress, element.row - lastRow);
    lastRow = element.row;
    Value isInside =
        holdsRows ? Value() : view.contains(e, add(row, element.row));
    if (view.isNarrower(tile, slice)) {
      Value hasCol = view.containsCol(e, add(col, element.col));
      isInside = isInside
                     ? arith::AndIOp::create(e, isInside, hasCol).getResult()
                     : hasCol;
    }
    visit(element.i, e.byteOffset(rowAddress, e.i32(4 * element.col)),
          isInside);
  }
}

/// What tells whether a view has rows at all, where it has all of the tile's
/// rows then (a state that is not of every segment): null if the view is no
/// such. One branch for a tile leaves states more registers than one a row.
Value findPresence(Value view, RankedTensorType tile, Value tileRow) {
  auto subview = view.getDefiningOp<memref::SubViewOp>();
  if (!subview || subview.getType().getRank() != 2)
    return {};
  llvm::SmallBitVector dropped = subview.getDroppedDims();
  const int rowDim = dropped.flip().find_first();
  auto rows = dyn_cast<Value>(subview.getMixedSizes()[rowDim]);
  auto select = rows ? rows.getDefiningOp<arith::SelectOp>() : nullptr;
  std::optional<int64_t> row = getConstantIntValue(tileRow);
  if (!select || !row || getConstantIntValue(select.getFalseValue()) != 0)
    return {};
  std::optional<int64_t> all = getConstantIntValue(select.getTrueValue());
  return all && *row + tile.getDimSize(0) <= *all ? select.getCondition()
                                                  : Value();
}

bool isFragmentOfF32(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getElementType().isF32() &&
         isa_and_nonnull<FragAttr>(tile.getEncoding());
}

/// Loads a fragment from device memory.
struct ConvertLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType tile = op.getTile().getType();
    if (!isFragmentOfF32(tile))
      return rewriter.notifyMatchFailure(op, "not a fragment of f32");
    if (failed(verifyColumns(op)))
      return failure();
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getView(), op.getView().getType());
    auto load = [&](Emitter &e, bool holdsRows) {
      SmallVector<Value> registers(FragAttr::getRegisters(tile));
      forEachElement(e, Shuffle::Load, tile, view, holdsRows,
                     e.toI64(adaptor.getRow().front()), getSlice(adaptor),
                     [&](int64_t i, Value address, Value isInside) {
                       registers[i] =
                           isInside ? e.loadIf(
                                          isInside, e.getF32Type(),
                                          [&](Emitter &) { return address; },
                                          /*alignment=*/4)
                                    : LLVM::LoadOp::create(e, e.getF32Type(),
                                                           address,
                                                           /*alignment=*/4);
                     });
      return registers;
    };
    Value isPresent = findPresence(op.getView(), tile, op.getRow());
    if (!isPresent) {
      rewriter.replaceOpWithMultiple(
          op, {load(e, view.holdsRows(tile, op.getRow()))});
      return success();
    }
    SmallVector<Type> types(FragAttr::getRegisters(tile), e.getF32Type());
    auto guarded =
        scf::IfOp::create(e, types, rewriter.getRemappedValue(isPresent),
                          /*addThenBlock=*/true, /*addElseBlock=*/true);
    rewriter.setInsertionPointToStart(guarded.thenBlock());
    Emitter present(op.getLoc(), rewriter);
    scf::YieldOp::create(present, load(present, /*holdsRows=*/true));
    rewriter.setInsertionPointToStart(guarded.elseBlock());
    Emitter absent(op.getLoc(), rewriter);
    scf::YieldOp::create(absent,
                         SmallVector<Value>(types.size(), absent.f32(0.0)));
    rewriter.replaceOpWithMultiple(op, {guarded.getResults()});
    return success();
  }
};

/// Stores a fragment of f32 from registers.
struct ConvertFragmentStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isFragmentOfF32(op.getTile().getType()))
      return rewriter.notifyMatchFailure(op, "not a fragment of f32");
    if (failed(verifyColumns(op)))
      return failure();
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getView(), op.getView().getType());
    ValueRange registers = adaptor.getTile();
    auto tile = cast<RankedTensorType>(op.getTile().getType());
    auto storeAll = [&](Emitter &e, bool holdsRows) {
      forEachElement(e, Shuffle::Store, tile, view, holdsRows,
                     e.toI64(adaptor.getRow().front()), getSlice(adaptor),
                     [&](int64_t i, Value address, Value isInside) {
                       auto store = [&](OpBuilder &b, Location loc) {
                         LLVM::StoreOp::create(b, loc, registers[i], address,
                                               /*alignment=*/4);
                       };
                       if (!isInside)
                         return store(e, e.getLoc());
                       scf::IfOp::create(e, isInside,
                                         [&](OpBuilder &b, Location loc) {
                                           store(b, loc);
                                           scf::YieldOp::create(b, loc);
                                         });
                     });
    };
    if (Value isPresent = findPresence(op.getView(), tile, op.getRow())) {
      auto guarded = scf::IfOp::create(e, TypeRange(),
                                       rewriter.getRemappedValue(isPresent),
                                       /*addThenBlock=*/true,
                                       /*addElseBlock=*/false);
      rewriter.setInsertionPointToStart(guarded.thenBlock());
      Emitter present(op.getLoc(), rewriter);
      storeAll(present, /*holdsRows=*/true);
      scf::YieldOp::create(present);
    } else {
      storeAll(e, view.holdsRows(tile, op.getRow()));
    }
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateDeviceMemoryPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<ConvertSubView, ConvertViewCast, ConvertViewSelect, ConvertLoad,
               ConvertFragmentStore>(converter, patterns.getContext());
}
