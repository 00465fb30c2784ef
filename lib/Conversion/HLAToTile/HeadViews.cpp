//===- HeadViews.cpp - one head's part of a loop's operands -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HeadViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// Sequence `n` has the tokens from length `n` up to length `n + 1`, within
/// what there is: wrong lengths make wrong results, but touch no other memory.
HeadViews::HeadViews(FusedScanOp op, ImplicitLocOpBuilder &builder,
                     LaunchOp launch, Value maxTokens)
    : op(op), b(builder), batch(launch.getBatch()), head(launch.getHead()),
      maxTokens(maxTokens), firstToken(index(0)), endToken(maxTokens) {
  if (!op.getLengths())
    return;
  firstToken = loadLength(batch, firstToken);
  endToken = loadLength(arith::AddIOp::create(b, batch, index(1)), firstToken);
}

Value HeadViews::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// The cumulative length at `position`, from `least` to the number of tokens
/// that there are.
Value HeadViews::loadLength(Value position, Value least) {
  Value length = arith::IndexCastOp::create(
      b, b.getIndexType(),
      memref::LoadOp::create(b, op.getLengths(), position));
  return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, length, least),
                                maxTokens);
}

/// The head that is read of an operand with a `group`-th of the heads.
OpFoldResult HeadViews::getHead(int64_t group) {
  if (group == 1)
    return head;
  return arith::DivUIOp::create(b, head, index(group)).getResult();
}

/// The part at `offsets` of `sizes`, all 1 but those of the `kept` dimensions.
Value HeadViews::subview(Value memref, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes,
                         ArrayRef<unsigned> kept) {
  auto source = mlir::cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> ones(source.getRank(), b.getIndexAttr(1));
  auto full = mlir::cast<MemRefType>(
      memref::SubViewOp::inferResultType(source, offsets, sizes, ones));
  // Which dimensions stay is said, not inferred: several may have extent 1.
  auto [strides, offset] = full.getStridesAndOffset();
  SmallVector<int64_t> keptSizes, keptStrides;
  for (unsigned dim : kept) {
    keptSizes.push_back(full.getDimSize(dim));
    keptStrides.push_back(strides[dim]);
  }
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, keptStrides);
  auto type = MemRefType::get(keptSizes, full.getElementType(), layout,
                              full.getMemorySpace());
  return memref::SubViewOp::create(b, type, memref, offsets, sizes, ones);
}

Value HeadViews::getTokens(Value sequence, int64_t group) {
  auto type = mlir::cast<ShapedType>(sequence.getType());
  const int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      sizes(rank, b.getIndexAttr(1));
  // Sequences of lengths lie in one batch.
  if (!op.getLengths())
    offsets[op.getBatchDim()] = batch;
  offsets[op.getHeadDim()] = getHead(group);
  sizes[op.getTokenDim()] = getAsOpFoldResult(endToken);
  if (rank == 3 || type.getDimSize(3) == 1)
    return subview(sequence, offsets, sizes, {op.getTokenDim()});
  sizes[3] = b.getIndexAttr(type.getDimSize(3));
  return subview(sequence, offsets, sizes, {op.getTokenDim(), 3});
}

Value HeadViews::getNumber(Value numbers, int64_t group) {
  Value position = mlir::cast<Value>(getHead(group));
  return memref::LoadOp::create(b, numbers, position);
}

Value HeadViews::getState(Value states) {
  auto type = mlir::cast<ShapedType>(states.getType());
  SmallVector<OpFoldResult> offsets = {batch, head, b.getIndexAttr(0),
                                       b.getIndexAttr(0)};
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1), b.getIndexAttr(1),
                                     b.getIndexAttr(type.getDimSize(2)),
                                     b.getIndexAttr(type.getDimSize(3))};
  return subview(states, offsets, sizes, {2, 3});
}
