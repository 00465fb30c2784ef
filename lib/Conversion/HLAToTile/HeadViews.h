//===- HeadViews.h - one head's part of a loop's operands -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_HEADVIEWS_H
#define HLA_LIB_CONVERSION_HLATOTILE_HEADVIEWS_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::hla::tile {

/// The part of a memref at `offsets` of `sizes`, all 1 but those of the `kept`
/// dimensions, which the result has.
Value createView(ImplicitLocOpBuilder &b, Value memref,
                 ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                 ArrayRef<unsigned> kept);

/// How many segments of `length` tokens there are.
Value countSegments(ImplicitLocOpBuilder &b, Value tokens, Value length);

/// The first token of a segment, and the one after its last. Segments are
/// numbered as they are walked.
std::pair<Value, Value> getSegmentTokens(ImplicitLocOpBuilder &b, Value segment,
                                         Value lastSegment, Value length,
                                         Value tokens, bool reverse);

/// Emits, in a launch, one head's views of the operands of a fused scan: its
/// tokens are the rows of matrices and columns. The order of a tensor's
/// dimensions, groups of heads, lengths of sequences and slots end here.
class HeadViews {
public:
  /// `maxTokens` is the extent `T` of the operands, `numStates` that of the
  /// states of slots, and `numSegments` what a loop in segments has of them: a
  /// part of the launch is one. The last two may be null.
  HeadViews(FusedScanOp op, ImplicitLocOpBuilder &builder, LaunchOp launch,
            Value maxTokens, Value numStates, Value numSegments);

  /// The tokens that are walked: the first, and the one after the last. Without
  /// lengths and segments, all.
  Value getFirstToken() const { return firstToken; }
  Value getEndToken() const { return endToken; }
  /// The head's tokens up to the last one, of which `group` in a row read one
  /// of `sequence`: `memref<T x D>`, or `memref<T>` for one number a token
  /// (rank 3, or D = 1).
  /// What all threads of a kernel share is cheap, and so are views of whole
  /// heads; the lengths of a sequence are not known to be shared.
  Value getTokens(Value sequence, int64_t group = 1);
  /// The head's number of `numbers`, `[H / group]`.
  Value getNumber(Value numbers, int64_t group);
  /// The head's initial state, `memref<d x dv>`: in the carry, or, of a segment
  /// after the first, the entry. One of them, not both, may be null: a view
  /// without rows stands for it, of which a load gives zeros, and for a slot
  /// that there is not.
  Value getInitialState(Value carry, Value entry);
  /// Where the head's final state goes. That of a segment before the last, or
  /// of a slot that there is not, goes nowhere: the view has no rows.
  Value getFinalState(Value states);

private:
  Value getState(Value states, Value segment, Value isPresent);
  Value isSegment(Value other);
  Value index(int64_t value);
  OpFoldResult getHead(int64_t group);
  Value loadInteger(Value integers, Value position);
  Value loadLength(Value position, Value least);

  FusedScanOp op;
  ImplicitLocOpBuilder &b;
  /// The number of the batch, or of the sequence, that states have.
  Value batch, head;
  /// The number of its state where the loop has slots, else null.
  Value slot;
  Value maxTokens, numStates, firstToken, endToken;
  /// The number of the segment, and of the last one; null without segments.
  Value segment, lastSegment;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_HLATOTILE_HEADVIEWS_H
