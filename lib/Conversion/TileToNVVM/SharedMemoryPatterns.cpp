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
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// The threads of the kernel around `op`, before or after its conversion.
int64_t getNumThreads(Operation *op) {
  if (auto kernel = op->getParentOfType<gpu::GPUFuncOp>())
    return kernel.getKnownBlockSizeAttr()[0];
  return op->getParentOfType<LLVM::LLVMFuncOp>()
      ->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getReqntidAttrName())[0];
}

/// A piece of 16 bytes of a tile: where it is in shared and in device memory,
/// and whether its row is in the view.
struct Piece {
  Value shared, device, isInside;
};

/// Shares the pieces of a tile out among the threads of a kernel, neighbours
/// next to each other: between a buffer that is stored by rows, and the rows of
/// a view from `firstRow` on. Calls `visit` for every piece of a thread.
///
/// Bounds are checked against the number of rows of this tile that the view
/// has. Every address is computed from the row: a distance in bytes, by which
/// to advance, would take registers for the whole loop.
LogicalResult forEachPieceOfThread(Emitter &e, Operation *op, MemRefType buffer,
                                   Value base, const View &view, Value firstRow,
                                   Shuffle shuffle,
                                   function_ref<void(const Piece &)> visit) {
  const int64_t threads = getNumThreads(op);
  const int64_t rows = buffer.getDimSize(0);
  const int64_t pieces = buffer.getDimSize(1) / 8;
  if (threads % pieces)
    return op->emitOpError()
           << "expected rows of at most " << 8 * threads
           << " elements (a thread copies 8), but got " << buffer;
  // The threads take that many rows at a time.
  const int64_t rowsAtOnce = threads / pieces;

  Value thread = e.opaqueThreadId(shuffle);
  Value row = e.div(thread, pieces), piece = e.rem(thread, pieces);
  Value numInside = view.countRows(e, firstRow, rows);
  Value col = e.toI64(e.mul(piece, 8));
  std::optional<SharedAddress> address;
  if (rowsAtOnce % 8 == 0)
    address.emplace(e, buffer, base, row, piece);
  OpBuilder::InsertionGuard guard(e);
  if (rowsAtOnce > rows) {
    // More threads than pieces.
    Value hasPiece =
        arith::CmpIOp::create(e, arith::CmpIPredicate::ult, row, e.i32(rows));
    auto guarded = scf::IfOp::create(e, hasPiece, /*withElseRegion=*/false);
    e.setInsertionPointToStart(guarded.thenBlock());
  }
  for (int64_t distance = 0; distance < rows; distance += rowsAtOnce) {
    Value there = e.add(row, distance);
    Value device = view.getAddress(
        e, arith::AddIOp::create(e, firstRow, e.toI64(there)), col);
    Value isInside =
        arith::CmpIOp::create(e, arith::CmpIPredicate::ult, there, numInside);
    visit({address ? address->get(e, distance, 0)
                   : SharedAddress(e, buffer, base, there, piece).get(e, 0, 0),
           device, isInside});
  }
  return success();
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

/// Stores a tile from shared memory.
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
    auto vectorType = VectorType::get({4}, e.getI32Type());
    LogicalResult result = forEachPieceOfThread(
        e, op, buffer, adaptor.getTile().front(), view,
        e.toI64(adaptor.getRow().front()), Shuffle::Store,
        [&](const Piece &piece) {
          scf::IfOp::create(e, piece.isInside, [&](OpBuilder &b, Location loc) {
            Value data = LLVM::LoadOp::create(b, loc, vectorType, piece.shared,
                                              /*alignment=*/16);
            LLVM::StoreOp::create(b, loc, data, piece.device,
                                  /*alignment=*/16);
            scf::YieldOp::create(b, loc);
          });
        });
    if (succeeded(result))
      rewriter.eraseOp(op);
    return result;
  }
};

/// Begins a copy of every piece. Rows outside of the view are filled with
/// zeros: the instruction reads nothing of the address it is given then.
struct ConvertCopyAsync : OpConversionPattern<CopyAsyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyAsyncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    View view(adaptor.getView(), op.getView().getType());
    LogicalResult result = forEachPieceOfThread(
        e, op, buffer, adaptor.getBuffer().front(), view,
        e.toI64(adaptor.getRow().front()), Shuffle::Copy,
        [&](const Piece &piece) {
          Value bytes =
              arith::SelectOp::create(e, piece.isInside, e.i32(16), e.i32(0));
          NVVM::CpAsyncOp::create(e, piece.shared, piece.device, 16,
                                  NVVM::LoadCacheModifierKind::CG, bytes);
        });
    if (succeeded(result))
      rewriter.eraseOp(op);
    return result;
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
