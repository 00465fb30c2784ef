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

/// Emits, in a launch, one head's views of the operands of a fused scan: its
/// tokens are the rows of matrices and columns. The order of a tensor's
/// dimensions, groups of heads and lengths of sequences end here.
class HeadViews {
public:
  /// `maxTokens` is the extent `T` of the operands.
  HeadViews(FusedScanOp op, ImplicitLocOpBuilder &builder, LaunchOp launch,
            Value maxTokens);

  /// The tokens that are walked: the first, and the one after the last. Without
  /// lengths, all.
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
  /// The state of the head: `memref<d x dv>`.
  Value getState(Value states);

private:
  Value index(int64_t value);
  OpFoldResult getHead(int64_t group);
  Value loadLength(Value position, Value least);
  Value subview(Value memref, ArrayRef<OpFoldResult> offsets,
                ArrayRef<OpFoldResult> sizes, ArrayRef<unsigned> kept);

  FusedScanOp op;
  ImplicitLocOpBuilder &b;
  /// The number of the batch, or of the sequence, that states have.
  Value batch, head;
  Value maxTokens, firstToken, endToken;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_HLATOTILE_HEADVIEWS_H
