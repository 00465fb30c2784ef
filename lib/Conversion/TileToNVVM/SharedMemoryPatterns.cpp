//===- SharedMemoryPatterns.cpp - buffers, copies and barriers --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Patterns.h"
#include "View.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// Shares a buffer that is stored by rows out among the threads of a kernel, in
/// pieces of 16 bytes. Calls `visit(pointer, row, col)`, row and column i64
/// values, for every piece of a thread.
void forEachPieceOfThread(Emitter &e, Operation *op, MemRefType buffer,
                          Value base,
                          function_ref<void(Value, Value, Value)> visit) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  auto schedule = kernel->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
  const int64_t threads = 32 * schedule.getWarps();
  const int64_t rows = buffer.getDimSize(0);
  const int64_t pieces = buffer.getDimSize(1) / 8;
  // The threads take that many rows at a time.
  const int64_t rowsAtOnce = threads / pieces;

  Value thread = e.opaqueThreadId();
  Value row = e.div(thread, pieces), piece = e.rem(thread, pieces);
  Value col = e.toI64(e.mul(piece, 8));
  std::optional<SharedAddress> address;
  if (rowsAtOnce % 8 == 0)
    address.emplace(e, buffer, base, row, piece);
  auto visitRow = [&](int64_t distance) {
    Value there = e.add(row, distance);
    Value pointer =
        address ? address->get(e, distance, 0)
                : SharedAddress(e, buffer, base, there, piece).get(e, 0, 0);
    visit(pointer, e.toI64(there), col);
  };
  if (rowsAtOnce <= rows) {
    for (int64_t distance = 0; distance < rows; distance += rowsAtOnce)
      visitRow(distance);
    return;
  }
  // More threads than pieces.
  Value isInside =
      arith::CmpIOp::create(e, arith::CmpIPredicate::ult, row, e.i32(rows));
  auto guarded = scf::IfOp::create(e, isInside, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e);
  e.setInsertionPointToStart(guarded.thenBlock());
  visitRow(0);
}

struct ConvertAlloc : OpConversionPattern<AllocOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AllocOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value memory = LLVM::AddressOfOp::create(
        e, getPointerType(e.getContext(), NVVM::NVVMMemorySpace::Shared),
        kSharedMemoryName);
    rewriter.replaceOp(
        op, e.byteOffset(memory, e.i32(op.getOffsetAttr().getInt())));
    return success();
  }
};

struct ConvertSlot : OpConversionPattern<SlotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SlotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    MemRefType buffer = op.getBuffer().getType();
    const int64_t bytes =
        buffer.getNumElements() * buffer.getElementTypeBitWidth() / 8;
    Value index = e.toI32(adaptor.getIndex().front());
    rewriter.replaceOp(
        op, e.byteOffset(adaptor.getRing().front(), e.mul(index, bytes)));
    return success();
  }
};

/// Stores a tile from shared memory, each thread 16 bytes at a time, neighbours
/// next to each other.
struct ConvertBufferStore : OpConversionPattern<StoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto buffer = dyn_cast<MemRefType>(op.getTile().getType());
    if (!buffer)
      return rewriter.notifyMatchFailure(op, "not a buffer");
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getView(), op.getView().getType());
    Value firstRow = e.toI64(adaptor.getRow().front());
    auto vectorType = VectorType::get({4}, e.getI32Type());
    forEachPieceOfThread(
        e, op, buffer, adaptor.getTile().front(),
        [&](Value pointer, Value row, Value col) {
          row = arith::AddIOp::create(e, firstRow, row);
          scf::IfOp::create(
              e, view.contains(e, row), [&](OpBuilder &b, Location loc) {
                Emitter nested(loc, b);
                Value data = LLVM::LoadOp::create(nested, vectorType, pointer,
                                                  /*alignment=*/16);
                LLVM::StoreOp::create(nested, data,
                                      view.getAddress(nested, row, col),
                                      /*alignment=*/16);
                scf::YieldOp::create(nested);
              });
        });
    rewriter.eraseOp(op);
    return success();
  }
};

/// Begins a copy of every 16 bytes that are a thread's; rows outside of the view
/// are filled with zeros, and nothing is read for them.
struct ConvertCopyAsync : OpConversionPattern<CopyAsyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyAsyncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    View view(adaptor.getView(), op.getView().getType());
    Value firstRow = e.toI64(adaptor.getRow().front());
    forEachPieceOfThread(
        e, op, buffer, adaptor.getBuffer().front(),
        [&](Value pointer, Value row, Value col) {
          row = arith::AddIOp::create(e, firstRow, row);
          Value isInside = view.contains(e, row);
          Value source = arith::SelectOp::create(
              e, isInside, view.getAddress(e, row, col), view.pointer);
          Value bytes =
              arith::SelectOp::create(e, isInside, e.i32(16), e.i32(0));
          NVVM::CpAsyncOp::create(e, pointer, source, 16,
                                  NVVM::LoadCacheModifierKind::CG, bytes);
        });
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertCopyCommit : OpConversionPattern<CopyCommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyCommitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncCommitGroupOp>(op);
    return success();
  }
};

struct ConvertCopyWait : OpConversionPattern<CopyWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::CpAsyncWaitGroupOp>(op, op.getPending());
    return success();
  }
};

struct ConvertBarrier : OpConversionPattern<BarrierOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(BarrierOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::BarrierOp>(op);
    return success();
  }
};

} // namespace

void tile::populateSharedMemoryPatterns(const TypeConverter &converter,
                                        RewritePatternSet &patterns) {
  patterns.add<ConvertAlloc, ConvertSlot, ConvertBufferStore, ConvertCopyAsync,
               ConvertCopyCommit, ConvertCopyWait, ConvertBarrier>(
      converter, patterns.getContext());
}
