//===- GroupStages.h - a loop's scans as stages of groups -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_TRANSFORMS_GROUPSTAGES_H
#define HLA_LIB_DIALECT_HLA_TRANSFORMS_GROUPSTAGES_H

#include "hla/Dialect/HLA/IR/HLA.h"

namespace mlir::hla {

/// The scans of a loop as groups of warps can have them (`groups` of a
/// schedule). A *stage* is what cannot be parted: steps of one state, and steps
/// whose rows meet in registers, by an elementwise operation. Rows that are
/// queries, keys or values of another step are handed over in shared memory.
class GroupStages {
public:
  /// Tokens of a chunk: the rows of a product's instruction.
  static constexpr int64_t kChunk = 64;

  explicit GroupStages(FusedScanOp loop);

  /// Why groups cannot execute the loop on a target in a precision, or an empty
  /// string.
  std::string getObstacle(const TargetInfo &target, Precision precision) const;

  int64_t getNumStages() const { return registers.size(); }
  /// Registers of a thread that the states of the fullest of `groups` take.
  int64_t getStateRegisters(int64_t groups) const;

private:
  mutable FusedScanOp loop;
  /// Of the states of each stage, in order.
  SmallVector<int64_t> registers;
};

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_TRANSFORMS_GROUPSTAGES_H
