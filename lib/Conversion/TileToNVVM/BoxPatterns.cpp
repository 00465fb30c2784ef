//===- BoxPatterns.cpp - copies by the copy engine --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// A box's first element as the copy engine counts: the innermost dimension
/// first, whose rows are cut into blocks, the outermost.
static SmallVector<Value> getCoordinates(Emitter &e,
                                         ArrayRef<ValueRange> indices) {
  SmallVector<Value> coordinates = {e.i32(0)};
  for (ValueRange index : llvm::reverse(indices.drop_back()))
    coordinates.push_back(e.toI32(index.front()));
  coordinates.push_back(
      e.div(e.toI32(indices.back().front()), TensorMapType::kBlockCols));
  return coordinates;
}

/// `{$first, $first+1, …}`.
static std::string getList(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

/// Whether the thread is its group's first.
static Value isFirst(Emitter &e) {
  Value thread = NVVM::ThreadIdXOp::create(e, e.getI32Type());
  return arith::CmpIOp::create(e, arith::CmpIPredicate::eq,
                               e.rem(thread, GroupsOp::kThreads), e.i32(0));
}

namespace {

// Predicated, not in a branch: around a branch the assembler moves what is
// uniform to other registers and back.
struct ConvertTensorLoad : OpConversionPattern<TensorLoadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TensorLoadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    const int64_t bytes =
        buffer.getNumElements() * getStorageBits(buffer.getElementType()) / 8;
    SmallVector<Value> coordinates = getCoordinates(e, adaptor.getIndices());
    Value condition =
        arith::AndIOp::create(e, adaptor.getCondition().front(), isFirst(e));
    Value signal =
        e.getSignal(adaptor.getSignals().front(), adaptor.getSlot().front());
    SmallVector<Value> operands = {
        arith::ExtUIOp::create(e, e.getI32Type(), condition),
        e.sharedAddress(signal), e.sharedAddress(adaptor.getBuffer().front()),
        adaptor.getMap().front()};
    const unsigned rank = coordinates.size();
    std::string text =
        "{ .reg .pred p; setp.ne.b32 p, $0, 0; "
        "@p mbarrier.arrive.expect_tx.shared::cta.b64 _, [$1], " +
        std::to_string(bytes) + "; @p cp.async.bulk.tensor." +
        std::to_string(rank) +
        "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$2], "
        "[$3, " +
        getList(4, rank) + "], [$1]; }";
    std::string constraints = "r,r,r,l,";
    for (unsigned i = 0; i < rank; ++i)
      constraints += "r,";
    llvm::append_range(operands, coordinates);
    e.assembly(text, constraints + "~{memory}", operands, Type());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertTensorStore : OpConversionPattern<TensorStoreOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TensorStoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    SmallVector<Value> coordinates = getCoordinates(e, adaptor.getIndices());
    SmallVector<Value> operands = {
        arith::ExtUIOp::create(e, e.getI32Type(), isFirst(e)),
        e.sharedAddress(adaptor.getBuffer().front()), adaptor.getMap().front()};
    const unsigned rank = coordinates.size();
    std::string text =
        "{ .reg .pred p; setp.ne.b32 p, $0, 0; "
        "@p cp.async.bulk.tensor." +
        std::to_string(rank) + "d.global.shared::cta.tile.bulk_group [$2, " +
        getList(3, rank) + "], [$1]; @p cp.async.bulk.commit_group; }";
    std::string constraints = "r,r,l,";
    for (unsigned i = 0; i < rank; ++i)
      constraints += "r,";
    llvm::append_range(operands, coordinates);
    e.assembly(text, constraints + "~{memory}", operands, Type());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertTensorStoreWait : OpConversionPattern<TensorStoreWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(TensorStoreWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    e.assembly(op.getReads() ? "cp.async.bulk.wait_group.read 0;"
                             : "cp.async.bulk.wait_group 0;",
               "~{memory}", {}, Type());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateBoxPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns) {
  patterns.add<ConvertTensorLoad, ConvertTensorStore, ConvertTensorStoreWait>(
      converter, patterns.getContext());
}
