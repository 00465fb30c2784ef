//===- KernelNeeds.h - what a kernel of loops keeps on chip -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_TRANSFORMS_KERNELNEEDS_H
#define HLA_LIB_DIALECT_HLA_TRANSFORMS_KERNELNEEDS_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::hla {

/// The tiles of the kernel that some loops make when they are put into one: what
/// the loops hand on to each other is a value there, and what is the same in
/// several is there once.
class KernelNeeds {
public:
  KernelNeeds(ArrayRef<FusedScanOp> loops, const TargetInfo &target);

  /// The types of the tiles that hold the states.
  ArrayRef<VectorType> getStates() const { return states; }
  /// The sequences that are read and their rows: not one number a token.
  ArrayRef<Value> getInputs() const { return inputs.getArrayRef(); }

  /// Bytes of shared memory: for every input `stages` tiles of `chunk` rows; and
  /// one tile for each value that warps exchange: scores, computed rows that
  /// steps read, rows scaled by a decay, states that are no operands in
  /// registers, and outputs.
  int64_t getSharedMemory(ScheduleAttr schedule) const;

private:
  void addLoop(FusedScanOp loop, ArrayRef<FusedScanOp> loops);
  void addStep(StepOp step, FusedScanOp loop);
  Value getSource(FusedScanOp loop, Value row) const;

  /// Scores of a query and a key, and how they decay.
  struct Scores {
    Value query, key, logDecay;
    double decay;
    bool exclusive;
    bool operator==(const Scores &other) const;
  };
  /// A key and a value, one of them scaled by a decay.
  struct Update {
    Value key, value, logDecay;
    double decay;
    bool operator==(const Update &other) const;
  };

  const TargetInfo &target;
  /// What rows between the loops are: by the loops' results.
  llvm::SmallDenseMap<Value, Value> handedOn;
  llvm::SmallSetVector<Value, 8> inputs;
  /// Rows of steps that warps write.
  llvm::SmallSetVector<Value, 8> written;
  SmallVector<Type> outputs;
  SmallVector<Scores> scores;
  SmallVector<Update> decayed;
  /// What each state is added up of, from which carry, and its tile.
  SmallVector<std::pair<Update, Value>> sums;
  SmallVector<VectorType> states;
  int64_t numRowSums = 0;
};

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_TRANSFORMS_KERNELNEEDS_H
