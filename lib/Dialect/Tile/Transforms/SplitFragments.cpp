//===- SplitFragments.cpp - fragments of one instruction's rows -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hla::tile {
#define GEN_PASS_DEF_HLATILESPLITFRAGMENTS
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::hla::tile

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// The stored rows of a part.
static constexpr int64_t kRows = 16 * GroupsOp::kWarps;

static FragAttr getFrag(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? dyn_cast_or_null<FragAttr>(tile.getEncoding()) : FragAttr();
}

/// The parts of a type: 1 of most.
static int64_t countParts(Type type) {
  FragAttr frag = getFrag(type);
  if (!frag)
    return 1;
  const int64_t rows =
      frag.getStored(cast<RankedTensorType>(type).getShape()).first;
  return rows > kRows && rows % kRows == 0 ? rows / kRows : 1;
}

/// The type of a part: fewer columns of a fragment that is stored transposed,
/// fewer rows of another.
static RankedTensorType getPart(RankedTensorType type, int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  shape[getFrag(type).getTransposed() ? 1 : 0] /= parts;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

/// Part `i` of an operand: what is not cut is in every part.
static Value getPart(ValueRange parts, int64_t i) {
  return parts.size() == 1 ? parts.front() : parts[i];
}

/// Columns of a tile in shared memory, from part `i` on of `parts`.
static Value getColumns(OpBuilder &b, Location loc, Value tile, int64_t i,
                        int64_t parts) {
  auto type = cast<RankedTensorType>(tile.getType());
  const int64_t cols = type.getDimSize(1) / parts;
  auto part = RankedTensorType::get({type.getDimSize(0), cols},
                                    type.getElementType(), type.getEncoding());
  return ColumnsOp::create(b, loc, part, tile, i * cols);
}

namespace {

/// Operations whose parts are the operation on parts.
struct SplitElementwise : ConversionPattern {
  SplitElementwise(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), /*benefit=*/1,
                          context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->hasTrait<OpTrait::Elementwise>() &&
        !isa<arith::ConstantOp, tensor::SplatOp, DecayOp, BroadcastOp, MaskOp>(
            op))
      return failure();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    const int64_t parts = countParts(type);
    SmallVector<Value> results;
    for (int64_t i = 0; i < parts; ++i) {
      OperationState state(op->getLoc(), op->getName());
      for (ValueRange operand : operands)
        state.operands.push_back(getPart(operand, i));
      RankedTensorType part = getPart(type, parts);
      state.addTypes(part);
      state.addAttributes(op->getAttrs());
      Operation *split = rewriter.create(state);
      if (auto constant = dyn_cast<arith::ConstantOp>(split))
        constant.setValueAttr(
            cast<SplatElementsAttr>(constant.getValue()).resizeSplat(part));
      if (auto mask = dyn_cast<MaskOp>(split))
        displace(mask, i, rewriter);
      results.push_back(split->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }

  /// Counts from the part's first row or column on.
  static void displace(MaskOp mask, int64_t i, OpBuilder &b) {
    const bool isCut =
        getFrag(mask.getType()).getTransposed() == (mask.getDim() == Dim::Cols);
    if (!isCut || i == 0)
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(mask);
    Value first = arith::ConstantIndexOp::create(b, mask.getLoc(), i * kRows);
    mask.getCountMutable().assign(
        arith::SubIOp::create(b, mask.getLoc(), mask.getCount(), first));
  }
};

/// Where part `i` of a tile at `row`, of slice `slice`, is in a view.
struct PartPlace {
  PartPlace(OpBuilder &b, Location loc, RankedTensorType tile, int64_t i,
            int64_t parts, Value row, Value slice)
      : row(row), slice(slice) {
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(b, loc, value);
    };
    if (!getFrag(tile).getTransposed()) {
      this->row = b.createOrFold<arith::AddIOp>(loc, row, index(i * kRows));
      return;
    }
    this->slice = index(i);
    if (slice)
      this->slice = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, slice, index(parts)),
          this->slice);
  }
  Value row, slice;
};

struct SplitLoad : OpConversionPattern<LoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getTile().getType();
    const int64_t parts = countParts(type);
    SmallVector<Value> results;
    for (int64_t i = 0; i < parts; ++i) {
      PartPlace place(rewriter, op.getLoc(), type, i, parts, op.getRow(),
                      op.getSlice());
      results.push_back(LoadOp::create(rewriter, op.getLoc(),
                                       getPart(type, parts), op.getView(),
                                       place.row, place.slice));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct SplitStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getTile().getType());
    const int64_t parts = countParts(type);
    for (int64_t i = 0; i < parts; ++i) {
      PartPlace place(rewriter, op.getLoc(), type, i, parts, op.getRow(),
                      op.getSlice());
      StoreOp::create(rewriter, op.getLoc(), adaptor.getTile()[i], op.getView(),
                      place.row, place.slice);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// The rows of the A operand are cut as those of the product are.
struct SplitDot : OpConversionPattern<DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const int64_t parts = countParts(op.getType());
    const bool isRhsA = getFrag(op.getType()).getTransposed();
    ValueRange a = isRhsA ? adaptor.getRhs() : adaptor.getLhs();
    ValueRange b = isRhsA ? adaptor.getLhs() : adaptor.getRhs();
    const bool hasColumns =
        isRhsA ? !op.getTransposeRhs() : op.getTransposeLhs();
    if (a.size() == 1 && !hasColumns)
      return op.emitOpError("expected the operand whose rows are cut to have "
                            "them as columns, but got ")
             << a.front().getType();
    SmallVector<Value> results;
    for (int64_t i = 0; i < parts; ++i) {
      Value aPart = a.size() == 1
                        ? getColumns(rewriter, op.getLoc(), a.front(), i, parts)
                        : a[i];
      results.push_back(
          DotOp::create(rewriter, op.getLoc(), adaptor.getAcc()[i].getType(),
                        isRhsA ? b.front() : aPart, isRhsA ? aPart : b.front(),
                        adaptor.getAcc()[i], op.getTransposeLhs(),
                        op.getTransposeRhs(), op.getBf16x3()));
    }
    rewriter.replaceOpWithMultiple(op, {results});
    return success();
  }
};

struct SplitConvertLayout : OpConversionPattern<ConvertLayoutOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ConvertLayoutOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType from = op.getSource().getType(), to = op.getType();
    const int64_t parts = std::max(countParts(from), countParts(to));
    FragAttr frag = getFrag(from) ? getFrag(from) : getFrag(to);
    if (!frag.getTransposed())
      return op.emitOpError("expected a fragment of more than ")
             << kRows << " rows to stay in registers (tiles in shared memory "
             << "are cut by columns), but got " << to;
    Location loc = op.getLoc();
    SmallVector<Value> results;
    for (int64_t i = 0; i < parts; ++i) {
      if (getFrag(to)) {
        Value columns =
            getColumns(rewriter, loc, adaptor.getSource().front(), i, parts);
        results.push_back(ConvertLayoutOp::create(rewriter, loc,
                                                  getPart(to, parts), columns));
        continue;
      }
      auto part =
          RankedTensorType::get({to.getDimSize(0), to.getDimSize(1) / parts},
                                to.getElementType(), to.getEncoding());
      results.push_back(
          ConvertLayoutOp::create(rewriter, loc, part, adaptor.getSource()[i]));
    }
    if (getFrag(to))
      rewriter.replaceOpWithMultiple(op, {results});
    else
      rewriter.replaceOpWithNewOp<ConcatOp>(op, to, results);
    return success();
  }
};

/// The sums of all parts' columns.
struct SplitSumRows : OpConversionPattern<SumRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SumRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getFrag(op.getSource().getType()).getTransposed())
      return op.emitOpError("expected rows of at most ")
             << kRows << " tokens, but got " << op.getSource().getType();
    Value sum;
    for (Value part : adaptor.getSource()) {
      Value partSum = SumRowsOp::create(rewriter, op.getLoc(), op.getType(),
                                        part, /*offset=*/IntegerAttr());
      sum = sum ? arith::AddFOp::create(rewriter, op.getLoc(), sum, partSum)
                : partSum;
    }
    rewriter.replaceOp(op, sum);
    return success();
  }
};

struct SplitFragments
    : hla::tile::impl::HLATileSplitFragmentsBase<SplitFragments> {
  void runOnOperation() override {
    gpu::GPUFuncOp kernel = getOperation();
    auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    if (!schedule || schedule.getGroups() == 0)
      return;
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](RankedTensorType type,
           SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
          const int64_t parts = countParts(type);
          if (parts == 1)
            return std::nullopt;
          types.assign(parts, getPart(type, parts));
          return success();
        });
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitElementwise, SplitLoad, SplitStore, SplitDot,
                 SplitConvertLayout, SplitSumRows>(converter, &getContext());
    ConversionTarget target(getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      return converter.isLegal(op->getOperandTypes()) &&
             converter.isLegal(op->getResultTypes());
    });
    if (failed(applyPartialConversion(kernel, target, std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
