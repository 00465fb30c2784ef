//===- BufferizableOpInterfaceImpl.cpp - bufferization of hla operations --===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::bufferization;

namespace {

/// The buffers of values, of which some may be none.
LogicalResult getBuffers(ValueRange values, SmallVectorImpl<Value> &buffers,
                         RewriterBase &rewriter,
                         const BufferizationOptions &options,
                         BufferizationState &state) {
  for (Value value : values) {
    FailureOr<Value> buffer = isa<TensorType>(value.getType())
                                  ? getBuffer(rewriter, value, options, state)
                                  : FailureOr<Value>(value);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return success();
}

/// Operators and scans have become loops by then.
struct FusedScanInterface
    : DstBufferizableOpInterfaceExternalModel<FusedScanInterface, FusedScanOp> {
  /// Destinations are overwritten whole, but for tokens that are of no
  /// sequence, or not walked, and states in no slot.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto fused = cast<FusedScanOp>(op);
    if (!fused.isDpsInit(&operand))
      return true;
    const bool isFinal =
        llvm::is_contained(fused.getFinalOutputs(), operand.get());
    return isFinal ? fused.getSlots() && !fused.getSummary()
                   : fused.getLengths() || fused.getSummary();
  }

  /// A head's carry is read before its final state is written: they may share
  /// memory, where they are one state's and the same head by head. Where they
  /// are shifted, a head would write what another one reads.
  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write,
                        const AnalysisState &state) const {
    auto fused = cast<FusedScanOp>(op);
    // Segments read and write at once.
    if (read->getOwner() != op || write->getOwner() != op ||
        fused.getSegmentLength())
      return false;
    auto carry = fused.getCarriesMutable().begin();
    unsigned final = op->getNumOperands() - fused.getFinalOutputs().size();
    for (auto [hasCarry, hasFinal] :
         llvm::zip(fused.getCarryIn(), fused.getCarryOut())) {
      if (hasCarry && hasFinal && read == &*carry &&
          write->getOperandNumber() == final)
        return state.areEquivalentBufferizedValues(read->get(), write->get());
      carry += hasCarry;
      final += hasFinal;
    }
    return false;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto fused = cast<FusedScanOp>(op);
    auto getBuffers = [&](ValueRange values, SmallVectorImpl<Value> &buffers) {
      return ::getBuffers(values, buffers, rewriter, options, state);
    };
    auto getOptional = [&](Value value, Value &buffer) {
      SmallVector<Value> buffers;
      if (!value)
        return success();
      LogicalResult result = getBuffers(value, buffers);
      buffer = buffers.empty() ? Value() : buffers.front();
      return result;
    };
    SmallVector<Value> inputs, carries, entries, outputs;
    Value lengths, slots;
    if (failed(getBuffers(fused.getInputs(), inputs)) ||
        failed(getOptional(fused.getLengths(), lengths)) ||
        failed(getOptional(fused.getSlots(), slots)) ||
        failed(getBuffers(fused.getCarries(), carries)) ||
        failed(getBuffers(fused.getEntries(), entries)) ||
        failed(getBuffers(fused.getOutputs(), outputs)))
      return failure();
    auto buffered = FusedScanOp::create(
        rewriter, fused.getLoc(), TypeRange(), fused.getReverse(),
        fused.getLayout(), fused.getGroupsAttr(), fused.getSummary(),
        fused.getCarryIn(), fused.getCarryOut(), fused.getEntryInAttr(),
        fused.getScheduleAttr(), inputs, lengths, slots,
        fused.getSegmentLength(), carries, entries, outputs);
    buffered.getBody().takeBody(fused.getBody());
    replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
};

/// What is between loops in segments: an operation with the same operands in
/// memory. `Reads` says whether destinations are read.
template <typename OpTy, bool Reads>
struct SegmentsInterface
    : DstBufferizableOpInterfaceExternalModel<SegmentsInterface<OpTy, Reads>,
                                              OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return Reads || !cast<OpTy>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> operands;
    if (failed(
            getBuffers(op->getOperands(), operands, rewriter, options, state)))
      return failure();
    OperationState buffered(op->getLoc(), op->getName(), operands, TypeRange(),
                            op->getAttrs());
    rewriter.create(buffered);
    replaceOpWithBufferizedValues(
        rewriter, op, ValueRange(operands).take_back(op->getNumResults()));
    return success();
  }
};

} // namespace

void hla::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, HLADialect *) {
    FusedScanOp::attachInterface<FusedScanInterface>(*context);
    CombineSegmentsOp::attachInterface<
        SegmentsInterface<CombineSegmentsOp, /*Reads=*/true>>(*context);
    SumSegmentsOp::attachInterface<
        SegmentsInterface<SumSegmentsOp, /*Reads=*/false>>(*context);
  });
}
