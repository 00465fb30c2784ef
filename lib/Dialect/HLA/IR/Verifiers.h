//===- Verifiers.h - constraints that hla operations share ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_IR_VERIFIERS_H
#define HLA_LIB_DIALECT_HLA_IR_VERIFIERS_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::hla {

/// Verifies what the operands of one operation say about the batches, tokens
/// and heads that it walks. Extents that are dynamic agree with everything.
class WalkVerifier {
public:
  WalkVerifier(Operation *op, HeadLayout layout, Value lengths, Value slots)
      : op(op), layout(layout), lengths(lengths), slots(slots) {}

  /// `type` is a sequence, or with `allowScalars` a number a token or a head,
  /// with a `group`-th of the heads. What it says of the extents is compared
  /// with all that came before. With cumulative lengths, sequences lie one
  /// after the other in one batch.
  LogicalResult addSequence(const Twine &name, Type type, int64_t group = 1,
                            bool allowScalars = false);
  /// `type` is a log-decay: of every token or of every head.
  LogicalResult addLogDecay(Type type);
  /// `type` has one state of `shape` a batch, a sequence or a slot, and head.
  LogicalResult addStates(const Twine &name, Type type, ArrayRef<int64_t> shape,
                          Type elementType);
  /// The same, for every segment but one.
  LogicalResult addSegmentStates(const Twine &name, Type type,
                                 ArrayRef<int64_t> shape, Type elementType);
  /// Cumulative lengths are one more than sequences, slots one a batch or
  /// sequence.
  LogicalResult finish();

private:
  enum Extent { Batch, Token, Head, Sequences, Segments, Slots, NumExtents };

  /// What there is one initial and final state of, beside a head.
  Extent getStateExtent() const;

  /// `name` says that an extent is `size`, times its group, for which `type` is
  /// the evidence.
  LogicalResult unify(Extent extent, int64_t size, const Twine &name, Type type,
                      int64_t group = 1);

  Operation *op;
  HeadLayout layout;
  Value lengths, slots;
  struct Known {
    int64_t size = ShapedType::kDynamic;
    std::string name;
    Type type;
  };
  Known known[NumExtents];
};

/// Verifies that there is one query, one key and one value: the generic form
/// can say otherwise.
LogicalResult verifyThreeSequences(Operation *op);

/// Verifies that the last dimension of two sequences is the same.
LogicalResult verifySameWidth(Operation *op, StringRef name, Type type,
                              StringRef otherName, Type other, StringRef why);

/// Verifies that `decay` is in (0, 1], and 1 where there is a log-decay.
LogicalResult verifyDecay(Operation *op, double decay, bool hasLogDecay);

/// Verifies that `groups`, where given, are `count` positive numbers, one for
/// each of `what`.
LogicalResult verifyGroups(Operation *op,
                           std::optional<ArrayRef<int64_t>> groups,
                           size_t count, StringRef what);

/// The element type of the states of an operation on `sequences`.
FloatType getStateElementType(ValueRange sequences);

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_IR_VERIFIERS_H
