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

Value tile::createView(ImplicitLocOpBuilder &b, Value memref,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes, ArrayRef<unsigned> kept) {
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

Value tile::countSegments(ImplicitLocOpBuilder &b, Value tokens, Value length) {
  return b.createOrFold<arith::MaxSIOp>(
      b.createOrFold<arith::CeilDivSIOp>(tokens, length),
      arith::ConstantIndexOp::create(b, 1));
}

std::pair<Value, Value> tile::getSegmentTokens(ImplicitLocOpBuilder &b,
                                               Value segment, Value lastSegment,
                                               Value length, Value tokens,
                                               bool reverse) {
  Value position =
      reverse ? arith::SubIOp::create(b, lastSegment, segment) : segment;
  Value first = arith::MulIOp::create(b, position, length);
  Value end = arith::MinSIOp::create(b, arith::AddIOp::create(b, first, length),
                                     tokens);
  return {first, end};
}

/// Sequence `n` has the tokens from length `n` up to length `n + 1`, within
/// what there is: wrong lengths make wrong results, but touch no other memory.
///
/// Segments are numbered as they are walked.
HeadViews::HeadViews(FusedScanOp op, ImplicitLocOpBuilder &builder,
                     LaunchOp launch, Value maxTokens, Value numStates,
                     Value numSegments)
    : op(op), b(builder), batch(launch.getBatch()), head(launch.getHead()),
      maxTokens(maxTokens), numStates(numStates), firstToken(index(0)),
      endToken(maxTokens), segment(launch.getPart()) {
  if (numStates)
    slot = loadInteger(op.getSlots(), batch);
  if (segment) {
    lastSegment = arith::SubIOp::create(b, numSegments, index(1));
    std::tie(firstToken, endToken) =
        getSegmentTokens(b, segment, lastSegment, op.getSegmentLength(),
                         maxTokens, op.getReverse());
  }
  if (!op.getLengths())
    return;
  firstToken = loadLength(batch, firstToken);
  endToken = loadLength(arith::AddIOp::create(b, batch, index(1)), firstToken);
}

Value HeadViews::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value HeadViews::loadInteger(Value integers, Value position) {
  return arith::IndexCastOp::create(
      b, b.getIndexType(), memref::LoadOp::create(b, integers, position));
}

/// The cumulative length at `position`, from `least` to the number of tokens
/// that there are.
Value HeadViews::loadLength(Value position, Value least) {
  Value length = loadInteger(op.getLengths(), position);
  return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, length, least),
                                maxTokens);
}

/// The head that is read of an operand with a `group`-th of the heads.
OpFoldResult HeadViews::getHead(int64_t group) {
  if (group == 1)
    return head;
  return arith::DivUIOp::create(b, head, index(group)).getResult();
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
    return createView(b, sequence, offsets, sizes, {op.getTokenDim()});
  sizes[3] = b.getIndexAttr(type.getDimSize(3));
  return createView(b, sequence, offsets, sizes, {op.getTokenDim(), 3});
}

Value HeadViews::getNumber(Value numbers, int64_t group) {
  Value position = mlir::cast<Value>(getHead(group));
  return memref::LoadOp::create(b, numbers, position);
}

Value HeadViews::isSegment(Value other) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, segment, other);
}

/// The first entry is that of segment 1.
Value HeadViews::getInitialState(Value carry, Value entry) {
  if (!segment)
    return getState(carry, Value(), Value());
  Value isFirst = isSegment(index(0));
  if (!entry)
    return getState(carry, Value(), isFirst);
  Value previous = arith::SubIOp::create(b, segment, index(1));
  if (!carry) {
    Value isLater = arith::XOrIOp::create(
        b, isFirst, arith::ConstantOp::create(b, b.getBoolAttr(true)));
    return getState(entry, previous, isLater);
  }
  Value ofCarry = getState(carry, Value(), Value()),
        ofEntry = getState(entry, previous, Value());
  auto view = mlir::cast<MemRefType>(ofCarry.getType());
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic,
                                       {ShapedType::kDynamic, 1});
  auto type = MemRefType::get(view.getShape(), view.getElementType(), layout,
                              view.getMemorySpace());
  return arith::SelectOp::create(b, isFirst,
                                 b.createOrFold<memref::CastOp>(type, ofCarry),
                                 b.createOrFold<memref::CastOp>(type, ofEntry));
}

Value HeadViews::getFinalState(Value states) {
  if (!segment)
    return getState(states, Value(), Value());
  if (op.getSummary())
    return getState(states, segment, Value());
  return getState(states, Value(), isSegment(lastSegment));
}

/// That of a segment, where there is one a segment, else that of the slot.
/// Without rows unless `isPresent`, which may be null, and there is the slot.
Value HeadViews::getState(Value states, Value segment, Value isPresent) {
  auto type = mlir::cast<ShapedType>(states.getType());
  const unsigned rowDim = type.getRank() - 2;
  SmallVector<OpFoldResult> offsets;
  Value number = batch;
  if (segment) {
    offsets.push_back(segment);
  } else if (slot) {
    number = slot;
    Value isSlot =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, slot, numStates);
    isPresent =
        isPresent ? arith::AndIOp::create(b, isPresent, isSlot) : isSlot;
  }
  offsets.append({number, head, b.getIndexAttr(0), b.getIndexAttr(0)});
  SmallVector<OpFoldResult> sizes(rowDim, b.getIndexAttr(1));
  sizes.push_back(b.getIndexAttr(type.getDimSize(rowDim)));
  sizes.push_back(b.getIndexAttr(type.getDimSize(rowDim + 1)));
  if (isPresent)
    sizes[rowDim] = arith::SelectOp::create(
                        b, isPresent, index(type.getDimSize(rowDim)), index(0))
                        .getResult();
  return createView(b, states, offsets, sizes, {rowDim, rowDim + 1});
}
