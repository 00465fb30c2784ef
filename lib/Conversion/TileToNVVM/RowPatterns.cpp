//===- RowPatterns.cpp - rows of fragments and columns ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Column.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

static bool isFragment(RankedTensorType type) {
  return isa_and_nonnull<FragAttr>(type.getEncoding());
}

/// The elements of a fragment, which 16-bit registers have in pairs, and back.
static SmallVector<Value> unpack(Emitter &e, RankedTensorType type,
                                 ValueRange registers) {
  if (type.getElementTypeBitWidth() != 16)
    return SmallVector<Value>(registers);
  SmallVector<Value> elements;
  for (Value pair : registers)
    for (int64_t i : {0, 1})
      elements.push_back(vector::ExtractOp::create(e, pair, i));
  return elements;
}

static SmallVector<Value> pack(Emitter &e, RankedTensorType type,
                               ArrayRef<Value> elements) {
  if (type.getElementTypeBitWidth() != 16)
    return SmallVector<Value>(elements);
  auto pairType = VectorType::get({2}, type.getElementType());
  SmallVector<Value> registers;
  for (size_t i = 0; i < elements.size(); i += 2)
    registers.push_back(vector::FromElementsOp::create(
        e, pairType, ValueRange{elements[i], elements[i + 1]}));
  return registers;
}

namespace {

struct ConvertMask : OpConversionPattern<MaskOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(MaskOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    Value count = e.toI32(adaptor.getCount().front());
    Value zero =
        arith::ConstantOp::create(e, e.getZeroAttr(type.getElementType()));
    auto keep = [&](Value value, Value first, int64_t distance) -> Value {
      Value isKept = arith::CmpIOp::create(e, arith::CmpIPredicate::slt,
                                           e.add(first, distance), count);
      return arith::SelectOp::create(e, isKept, value, zero);
    };
    if (!isFragment(type)) {
      // All of a column is in column 0.
      const bool isRows = op.getDim() == Dim::Rows;
      Value first =
          isRows ? e.rem(e.opaqueThreadId(Shuffle::Write), 32) : e.i32(0);
      SmallVector<Value> registers(adaptor.getSource());
      for (auto [i, value] : llvm::enumerate(registers))
        value = keep(value, first, isRows ? 32 * static_cast<int64_t>(i) : 0);
      rewriter.replaceOpWithMultiple(op, {registers});
      return success();
    }
    FragmentShape shape(type);
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    auto [row, col] = shape.getFirstElement(e, place);
    // By what is a column of the stored tile.
    const bool byCol = shape.frag.getTransposed() == (op.getDim() == Dim::Rows);
    Value first = byCol ? col : row;
    SmallVector<Value> elements = unpack(e, type, adaptor.getSource());
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      elements[i] = keep(elements[i], first, byCol ? c : r);
    });
    rewriter.replaceOpWithMultiple(op, {pack(e, type, elements)});
    return success();
  }
};

struct ConvertBroadcast : OpConversionPattern<tile::BroadcastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tile::BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!isFragment(type))
      return rewriter.notifyMatchFailure(op, "not into a fragment");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(type);
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    auto [row, col] = shape.getFirstElement(e, place);
    const bool transposed = shape.frag.getTransposed();
    Value first = transposed ? col : row;
    Column column(adaptor.getSource());
    llvm::SmallDenseMap<int64_t, Value> known;
    SmallVector<Value> elements(type.getNumElements() /
                                (32 * shape.frag.getWarps()));
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      const int64_t distance = transposed ? c : r;
      Value &number = known[distance];
      if (!number)
        number = column.get(e, e.add(first, distance));
      elements[i] = number;
    });
    rewriter.replaceOpWithMultiple(op, {pack(e, type, elements)});
    return success();
  }
};

/// Every thread adds up its part of a row, then the lanes that share the row
/// theirs, and then the warps that do, in shared memory, from where every lane
/// takes its numbers of the column.
struct ConvertSumRows : OpConversionPattern<SumRowsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SumRowsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType type = op.getSource().getType();
    if (!isFragment(type) || !op.getType().getElementType().isF32() ||
        !op.getOffset())
      return rewriter.notifyMatchFailure(op, "not scheduled sums in f32");
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(type);
    const bool transposed = shape.frag.getTransposed();
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    auto [row, col] = shape.getFirstElement(e, place);

    // By the distance of a row from the thread's first.
    llvm::MapVector<int64_t, Value> sums;
    SmallVector<Value> elements = unpack(e, type, adaptor.getSource());
    shape.forEachElement([&](int64_t i, int64_t r, int64_t c) {
      Value value = elements[i];
      if (!value.getType().isF32())
        value = arith::ExtFOp::create(e, e.getF32Type(), value);
      Value &sum = sums[transposed ? c : r];
      sum = sum ? arith::AddFOp::create(e, sum, value).getResult() : value;
    });
    // Lanes 4g + c share a row of the stored tile with those of their g, a
    // column with those of their c.
    SmallVector<int64_t, 3> bits = {1, 2};
    if (transposed)
      bits = {4, 8, 16};
    for (int64_t bit : bits)
      for (auto &[distance, sum] : sums)
        sum = arith::AddFOp::create(
            e, sum, e.shuffle(NVVM::ShflKind::bfly, sum, e.i32(bit)));

    const int64_t rows = type.getDimSize(0);
    const int64_t parts =
        transposed ? shape.frag.getRowWarps() : shape.frag.getColWarps();
    Value memory = LLVM::AddressOfOp::create(
        e, getPointerType(e.getContext(), NVVM::NVVMMemorySpace::Shared),
        kSharedMemoryName);
    memory = e.byteOffset(memory, e.i32(op.getOffsetAttr().getInt()));
    Value part = transposed ? place.rowWarp : place.colWarp;
    Value mine = e.byteOffset(
        memory, e.mul(e.add(e.mul(part, rows), transposed ? col : row), 4));
    Value isFirst = arith::CmpIOp::create(
        e, arith::CmpIPredicate::eq,
        transposed ? e.div(place.lane, 4) : e.rem(place.lane, 4), e.i32(0));
    if (shape.frag.getWarps() < e.getNumWarps())
      isFirst = arith::AndIOp::create(e, isFirst, isOfLayout(e, shape.frag));
    scf::IfOp::create(e, isFirst, [&](OpBuilder &b, Location loc) {
      Emitter nested(loc, b);
      for (auto &[distance, sum] : sums)
        LLVM::StoreOp::create(nested, sum,
                              nested.byteOffset(mine, nested.i32(4 * distance)),
                              /*alignment=*/4);
      scf::YieldOp::create(nested);
    });
    NVVM::BarrierOp::create(e);

    SmallVector<Value> registers;
    for (int64_t i = 0; i < LaneAttr::getRegisters(op.getType().getShape());
         ++i) {
      // Nobody asks the lanes past the last row.
      Value number = e.rem(e.add(place.lane, 32 * i), rows);
      Value sum;
      for (int64_t p = 0; p < parts; ++p) {
        Value address = e.byteOffset(memory, e.mul(e.add(number, p * rows), 4));
        Value value = LLVM::LoadOp::create(e, e.getF32Type(), address,
                                           /*alignment=*/4);
        sum = sum ? arith::AddFOp::create(e, sum, value).getResult() : value;
      }
      registers.push_back(sum);
    }
    rewriter.replaceOpWithMultiple(op, {registers});
    return success();
  }
};

} // namespace

void tile::populateRowPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns) {
  patterns.add<ConvertMask, ConvertBroadcast, ConvertSumRows>(
      converter, patterns.getContext());
}
