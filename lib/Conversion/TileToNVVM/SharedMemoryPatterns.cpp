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
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// A piece of a tile, of 16 bytes, or of as many as the rows of a view are
/// accessed by: where it is in shared memory; and where in device memory, and
/// whether it is in the view, if there is one.
struct Piece {
  int64_t bytes;
  Value shared, device, isInside;

  /// A type to move it by.
  Type getType(Builder &b) const {
    if (bytes < 4)
      return b.getIntegerType(8 * bytes);
    Type word = b.getI32Type();
    return bytes == 4 ? word : VectorType::get({bytes / 4}, word);
  }
};

/// The rows of a view from `firstRow` on, of a slice if that is not null.
struct ViewRows {
  View view;
  Value firstRow, slice;
};

/// Shares the pieces of a tile out among the threads of a kernel, neighbours
/// next to each other: those of a buffer that is stored by rows, and of the
/// rows of a view that it is copied from or to. Calls `visit` for every piece
/// of a thread, or for the parts of it by which the view is accessed.
///
/// Bounds are checked against the number of rows of this tile that the view
/// has. Every address is computed from the row: a distance in bytes, by which
/// to advance, would take registers for the whole loop.
LogicalResult forEachPieceOfThread(Emitter &e, Operation *op, MemRefType buffer,
                                   Value base, std::optional<ViewRows> device,
                                   Shuffle shuffle,
                                   function_ref<void(const Piece &)> visit) {
  const int64_t threads = 32 * e.getNumWarps();
  const int64_t rows = buffer.getDimSize(0);
  const int64_t elements = 128 / getStorageBits(buffer.getElementType());
  const int64_t pieces = buffer.getDimSize(1) / elements;
  if (threads % pieces)
    return op->emitOpError()
           << "expected rows of at most " << elements * threads
           << " elements (a thread "
           << "copies " << elements << "), but got " << buffer;
  // The threads take that many rows at a time.
  const int64_t rowsAtOnce = threads / pieces;

  Value thread = e.opaqueThreadId(shuffle);
  Value row = e.div(thread, pieces), piece = e.rem(thread, pieces);
  const int64_t bytes = device ? getAccessBytes(device->view.type.getDimSize(1),
                                                buffer.getElementType())
                               : 16;
  Value numInside;
  SmallVector<Value> cols, areColsInside;
  if (device) {
    numInside = device->view.countRows(e, device->firstRow, rows);
    Value first = e.add(View::getFirstCol(e, buffer, device->slice),
                        e.mul(piece, elements));
    for (int64_t part = 0; part < 16 / bytes; ++part) {
      Value col = e.add(first, part * elements * bytes / 16);
      cols.push_back(e.toI64(col));
      if (device->view.isNarrower(buffer, device->slice))
        areColsInside.push_back(device->view.containsCol(e, col));
    }
  }
  // Pieces of 32-bit elements are halves of what is permuted.
  if (elements == 4) {
    base = e.byteOffset(base, e.mul(e.rem(piece, 2), 16));
    piece = e.div(piece, 2);
  }
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
    Value shared =
        address ? address->get(e, distance, 0)
                : SharedAddress(e, buffer, base, there, piece).get(e, 0, 0);
    if (!device) {
      visit({bytes, shared, Value(), Value()});
      continue;
    }
    Value deviceRow =
        arith::AddIOp::create(e, device->firstRow, e.toI64(there));
    Value isRowInside =
        arith::CmpIOp::create(e, arith::CmpIPredicate::ult, there, numInside);
    for (auto [part, col] : llvm::enumerate(cols)) {
      Value isInside = isRowInside;
      if (!areColsInside.empty())
        isInside = arith::AndIOp::create(e, isInside, areColsInside[part]);
      Value partShared =
          part == 0 ? shared : e.byteOffset(shared, e.i32(part * bytes));
      visit({bytes, partShared, device->view.getAddress(e, deviceRow, col),
             isInside});
    }
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
        buffer.getNumElements() * getStorageBits(buffer.getElementType()) / 8;
    Value index = e.toI32(adaptor.getIndex().front());
    rewriter.replaceOp(
        op, e.byteOffset(adaptor.getRing().front(), e.mul(index, bytes)));
    return success();
  }
};

/// Blocks of 128 bytes of stored rows, or stored rows: either way the next ones
/// of the same buffer.
struct ConvertColumns : OpConversionPattern<ColumnsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ColumnsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto buffer = dyn_cast<MemRefType>(op.getSource().getType());
    if (!buffer)
      return rewriter.notifyMatchFailure(op, "not a buffer");
    Emitter e(op.getLoc(), rewriter);
    const int64_t columnBytes =
        buffer.getDimSize(0) * getStorageBits(buffer.getElementType()) / 8;
    rewriter.replaceOp(
        op, e.byteOffset(adaptor.getSource().front(),
                         e.i32(op.getOffsetAttr().getInt() * columnBytes)));
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
    if (failed(verifyColumns(op)))
      return failure();
    Emitter e(op.getLoc(), rewriter);
    View view(adaptor.getView(), op.getView().getType());
    LogicalResult result = forEachPieceOfThread(
        e, op, buffer, adaptor.getTile().front(),
        ViewRows{view, e.toI64(adaptor.getRow().front()), getSlice(adaptor)},
        Shuffle::Store, [&](const Piece &piece) {
          scf::IfOp::create(e, piece.isInside, [&](OpBuilder &b, Location loc) {
            Value data = LLVM::LoadOp::create(b, loc, piece.getType(b),
                                              piece.shared, piece.bytes);
            LLVM::StoreOp::create(b, loc, data, piece.device, piece.bytes);
            scf::YieldOp::create(b, loc);
          });
        });
    if (succeeded(result))
      rewriter.eraseOp(op);
    return result;
  }
};

/// Begins a copy of every piece. What is outside of the view is filled with
/// zeros: the instruction reads nothing of the address it is given then. Pieces
/// of two bytes it does not copy; they are loaded and stored.
struct ConvertCopyAsync : OpConversionPattern<CopyAsyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(CopyAsyncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(verifyColumns(op)))
      return failure();
    Emitter e(op.getLoc(), rewriter);
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    View view(adaptor.getView(), op.getView().getType());
    LogicalResult result = forEachPieceOfThread(
        e, op, buffer, adaptor.getBuffer().front(),
        ViewRows{view, e.toI64(adaptor.getRow().front()), getSlice(adaptor)},
        Shuffle::Copy, [&](const Piece &piece) {
          if (piece.bytes < 4) {
            Value data = e.loadIf(
                piece.isInside, piece.getType(e),
                [&](Emitter &) { return piece.device; }, piece.bytes);
            LLVM::StoreOp::create(e, data, piece.shared, piece.bytes);
            return;
          }
          Value bytes = arith::SelectOp::create(e, piece.isInside,
                                                e.i32(piece.bytes), e.i32(0));
          NVVM::CpAsyncOp::create(e, piece.shared, piece.device, piece.bytes,
                                  piece.bytes == 16
                                      ? NVVM::LoadCacheModifierKind::CG
                                      : NVVM::LoadCacheModifierKind::CA,
                                  bytes);
        });
    if (succeeded(result))
      rewriter.eraseOp(op);
    return result;
  }
};

/// Rounds every piece that the thread has copied: the same pieces, as they are
/// shared out in the same way.
struct ConvertRound : OpConversionPattern<RoundOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(RoundOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    auto vectorType = VectorType::get({4}, e.getF32Type());
    LogicalResult result = forEachPieceOfThread(
        e, op, cast<MemRefType>(op.getBuffer().getType()),
        adaptor.getBuffer().front(), std::nullopt, Shuffle::Copy,
        [&](const Piece &piece) {
          Value data = LLVM::LoadOp::create(e, vectorType, piece.shared,
                                            /*alignment=*/16);
          SmallVector<Value> rounded;
          for (int64_t i = 0; i < 4; ++i)
            rounded.push_back(
                e.roundToTF32(vector::ExtractOp::create(e, data, i)));
          data = vector::FromElementsOp::create(e, vectorType, rounded);
          LLVM::StoreOp::create(e, data, piece.shared, /*alignment=*/16);
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
  patterns.add<ConvertAlloc, ConvertSlot, ConvertColumns, ConvertBufferStore,
               ConvertCopyAsync, ConvertRound, ConvertCopyCommit,
               ConvertCopyWait, ConvertBarrier>(converter,
                                                patterns.getContext());
}
