//===- ProgramBuilder.h - the tile program of one loop -------- -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_PROGRAMBUILDER_H
#define HLA_LIB_CONVERSION_HLATOTILE_PROGRAMBUILDER_H

#include "HeadViews.h"
#include "hla/Dialect/HLA/Transforms/RowSlices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::hla::tile {

/// Writes the tile program of one fused scan.
class ProgramBuilder {
public:
  ProgramBuilder(FusedScanOp op, OpBuilder &builder, const TargetInfo &target)
      : op(op), b(op.getLoc(), builder), target(target),
        schedule(op.getScheduleAttr()),
        slices(op, schedule.getSlices(), target),
        operandType(schedule.getOperandType()),
        accumulatorType(schedule.getAccumulatorType()) {}

  void build();

private:
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// The tile of rows of `cols` elements, or of their slice; one number a token
  /// is a column.
  RankedTensorType getTileType(int64_t cols, Type elementType, bool isSliced) {
    return RankedTensorType::get(
        {schedule.getChunk(), cols == 1 ? 1 : slices.getWidth(cols, isSliced)},
        elementType);
  }
  RankedTensorType getColumnType(Type elementType) {
    return getTileType(1, elementType, /*isSliced=*/false);
  }
  Value getSlice(bool isSliced) { return isSliced ? slice : Value(); }
  Value zeros(int64_t rows, int64_t cols);
  Value cast(Value tile, FloatType elementType);
  Value getInitialState(BlockArgument state);
  void storeFinalState(unsigned state, Value tile);

  // Of the chunk at hand.
  Value getChunkSize();
  Value lookup(OpOperand &use);
  bool hasTile(Value row);
  Value getTile(OpOperand &use);
  Value getMasked(OpOperand &use, bool isMasked);
  Value maskCols(Value tile, int64_t cols, bool isSliced);
  Value getOperand(OpOperand &use, bool isMasked);
  Type getLoadedType(BlockArgument row, bool isSliced);
  void loadRows(Value view, BlockArgument row);
  Value roundOperand(Value tile);
  Value dot(Value lhs, Value rhs, Value acc, bool transposeLhs,
            bool transposeRhs);
  Value decay(Span span, Value tile, Value sums);
  Value buildSums(StepOp step);
  Value buildRow(StepOp step, Value sums);
  Value buildUpdate(StepOp step, Value sums);
  void buildStep(StepOp step);
  Value buildConstant(arith::ConstantOp op, bool isSliced);
  Value buildRowSum(hla::RowSumOp op);
  Value buildBroadcast(vector::BroadcastOp op, bool isSliced);
  Value buildElementwise(Operation &op);

  SmallVector<Value> buildChunk(Value walked, ValueRange states);
  void buildViews();
  void buildInitialViews();
  void buildFinalViews();
  void buildOnlyChunk();
  SmallVector<Value> buildLoop(ValueRange states);
  bool isKnownEmpty();

  FusedScanOp op;
  ImplicitLocOpBuilder b;
  const TargetInfo &target;
  ScheduleAttr schedule;
  RowSlices slices;
  /// The number of the slice, or null without slices.
  Value slice;
  FloatType operandType, accumulatorType;
  std::optional<HeadViews> head;
  /// The first row of the last chunk, where it is walked first.
  Value lastRow;
  /// Views of the inputs, or the head's numbers of those of rank 1, and of the
  /// outputs.
  SmallVector<Value> inputs, outputViews;
  /// Where each state begins, null for zeros, and where its final value goes,
  /// null where it stays in the kernel.
  SmallVector<Value> initialViews, finalViews;

  /// The first row of the chunk, and, where something needs it, the number of
  /// its tokens that there are.
  Value chunkRow, chunkSize;
  /// What a value of the body is in the chunk: the rows of all tokens, as a
  /// tile, or one scalar where all tokens have the same number; a state before
  /// the chunk, or after it.
  llvm::SmallDenseMap<Value, Value> values;
  /// The same of inputs, sliced.
  llvm::SmallDenseMap<Value, Value> slicedInputs;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_HLATOTILE_PROGRAMBUILDER_H
