//===- GroupPatterns.cpp - groups of warps and their barriers ---*- C++ -*-===//
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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// The group's number is that of lane 0, so that a warp takes one branch as far
/// as the assembler can see.
struct ConvertGroups : OpConversionPattern<GroupsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(GroupsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value thread = NVVM::ThreadIdXOp::create(e, e.getI32Type());
    Value group = e.shuffle(NVVM::ShflKind::idx,
                            e.div(thread, GroupsOp::kThreads), e.i32(0));
    MutableArrayRef<Region> regions = op.getGroups();
    OpBuilder::InsertionGuard guard(rewriter);
    for (auto [i, region] : llvm::enumerate(regions.drop_back())) {
      Value isOwn =
          arith::CmpIOp::create(e, arith::CmpIPredicate::eq, group, e.i32(i));
      auto choice = scf::IfOp::create(e, isOwn, /*withElseRegion=*/true);
      rewriter.inlineBlockBefore(&region.front(), choice.thenYield());
      e.setInsertionPoint(choice.elseYield());
    }
    Block *block = e.getInsertionBlock();
    rewriter.inlineBlockBefore(&regions.back().front(), block,
                               e.getInsertionPoint());
    rewriter.eraseOp(op);
    return success();
  }
};

/// A named barrier. A number that is known is in the text: else the assembler
/// sets all barriers aside, and LLVM joins branches that differ in it alone.
template <typename Op> struct ConvertNamedBarrier : OpConversionPattern<Op> {
  ConvertNamedBarrier(const TypeConverter &converter, MLIRContext *context,
                      StringRef instruction)
      : OpConversionPattern<Op>(converter, context), instruction(instruction) {}

  LogicalResult matchAndRewrite(
      Op op, typename Op::template GenericAdaptor<ArrayRef<ValueRange>> adaptor,
      ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    std::optional<int64_t> id = getConstantIntValue(op.getId());
    std::string text =
        (instruction + " " + (id ? std::to_string(*id) : "$0") + ", " +
         std::to_string(op.getThreadsAttr().getInt()) + ";")
            .str();
    SmallVector<Value> operands;
    if (!id)
      operands.push_back(e.toI32(adaptor.getId().front()));
    e.assembly(text, id ? "~{memory}" : "r,~{memory}", operands, Type());
    rewriter.eraseOp(op);
    return success();
  }

  StringRef instruction;
};

struct ConvertAsyncFence : OpConversionPattern<AsyncFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(AsyncFenceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    e.assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, Type());
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// The block's first thread sets the signals up.
struct ConvertSignals : OpConversionPattern<SignalsOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SignalsOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value memory = LLVM::AddressOfOp::create(
        e, getPointerType(e.getContext(), NVVM::NVVMMemorySpace::Shared),
        kSharedMemoryName);
    Value signals = e.byteOffset(memory, e.i32(op.getOffsetAttr().getInt()));
    Value thread = NVVM::ThreadIdXOp::create(e, e.getI32Type());
    std::string text = "{ .reg .pred p; setp.eq.u32 p, $0, 0;";
    for (int64_t i = 0; i < op.getSignals().getType().getCount(); ++i)
      text += " @p mbarrier.init.shared::cta.b64 [$1+" + std::to_string(8 * i) +
              "], " + std::to_string(op.getArrivalsAttr().getInt()) + ";";
    text += " @p fence.mbarrier_init.release.cluster; }";
    e.assembly(text, "r,r,~{memory}", {thread, e.sharedAddress(signals)},
               Type());
    rewriter.replaceOp(op, signals);
    return success();
  }
};

struct ConvertSignalWait : OpConversionPattern<SignalWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SignalWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value signal =
        e.getSignal(adaptor.getSignals().front(), adaptor.getSlot().front());
    // Each try gives up after as many nanoseconds.
    e.assembly(
        "{ .reg .pred p; WAIT${:uid}: "
        "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1, 10000000; "
        "@!p bra WAIT${:uid}; }",
        "r,r,~{memory}",
        {e.sharedAddress(signal), e.toI32(adaptor.getParity().front())},
        Type());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertSignalArrive : OpConversionPattern<SignalArriveOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(SignalArriveOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    Value signal =
        e.getSignal(adaptor.getSignals().front(), adaptor.getSlot().front());
    Value thread = NVVM::ThreadIdXOp::create(e, e.getI32Type());
    e.assembly("{ .reg .pred p; setp.eq.u32 p, $0, 0; "
               "@p mbarrier.arrive.shared::cta.b64 _, [$1]; }",
               "r,r,~{memory}", {e.rem(thread, 32), e.sharedAddress(signal)},
               Type());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void tile::populateGroupPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ConvertGroups, ConvertAsyncFence, ConvertSignals,
               ConvertSignalWait, ConvertSignalArrive>(converter, context);
  patterns.add<ConvertNamedBarrier<SyncOp>>(converter, context, "bar.sync");
  patterns.add<ConvertNamedBarrier<ArriveOp>>(converter, context, "bar.arrive");
}
