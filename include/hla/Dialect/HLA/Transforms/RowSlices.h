//===- RowSlices.h - which rows thread blocks share out ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_TRANSFORMS_ROWSLICES_H
#define HLA_DIALECT_HLA_TRANSFORMS_ROWSLICES_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::hla {

/// Whether a row is made where it is read, whole or sliced: a constant, or one
/// number as a row.
bool isUniform(Value row);

/// Columns of a row, a state or a sequence.
int64_t getCols(Value value);

/// Which rows of a loop have a part of their columns in each of several thread
/// blocks.
///
/// Column j of `y = q S + A v` depends on column j of v and of S alone: blocks
/// can share the columns of a value out, and of all that comes of it, as long
/// as they are not summed over again. So a row is *whole* in every block if it
/// is a query or a key, or is added up; or if it is one number; or if an
/// elementwise operation, a step from value to row, or a state that two steps
/// read ties it to a row that is. All others are sliced. An input is loaded
/// whole, sliced, or both, as its uses say, and so are constants and one number
/// as a row made.
class RowSlices {
public:
  /// Of loops that are, or would be, one; a result of one that another reads is
  /// the row that it yields. With one slice all is whole.
  RowSlices(ArrayRef<FusedScanOp> loops, int64_t slices,
            const TargetInfo &target);

  /// Whether a row that a body computes, or a state, is sliced.
  bool isSliced(Value value) const;
  /// Whether what an operation, of a body, reads as this operand is sliced.
  bool isSliced(OpOperand &use) const;

  /// Columns of the tile of a row or state, or of its slice.
  int64_t getWidth(int64_t cols, bool isSliced) const;
  /// Rows and columns of the tile of a state, or of its slice.
  std::array<int64_t, 2> getTileShape(BlockArgument state) const;

  /// Whether what decays a step's update scales its value, and not its key:
  /// what a body computes, since that is in registers, else the narrower.
  bool scalesValue(StepOp step) const;

  /// What a row of a body, which may be null, comes from: the tensor that is
  /// read, or else the body that computes it.
  Value getSource(Value row) const;
  /// Whether a tensor is what one of the loops computes.
  bool isHandedOn(Value tensor) const { return handedOn.contains(tensor); }
  /// Whether anything but the loops reads a loop's rows, and so writes them.
  bool leaves(FusedScanOp loop, unsigned output) const;

  /// Whether blocks have something to share out, and write nothing twice: rows
  /// and states that leave the loops are sliced.
  bool areUseful() const { return useful; }

private:
  void addLoop(FusedScanOp loop);
  void addOperation(Operation &op);
  Value resolve(Value row) const;
  bool isComputed(Value row) const;
  void tie(Value a, Value b);
  void makeWhole(Value row);
  bool isShared(int64_t cols) const;

  SmallVector<FusedScanOp> loops;
  const int64_t slices;
  const TargetInfo &target;
  /// Rows and states that are sliced together or not at all; null is whole.
  llvm::EquivalenceClasses<void *> ties;
  /// Rows that one loop hands to another, by the result.
  llvm::SmallDenseMap<Value, Value> handedOn;
  /// A row for every key and value that states add up.
  llvm::SmallDenseMap<std::pair<Value, Value>, Value> states;
  bool useful = false;
};

} // namespace mlir::hla

#endif // HLA_DIALECT_HLA_TRANSFORMS_ROWSLICES_H
