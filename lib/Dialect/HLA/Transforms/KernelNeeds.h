//===- KernelNeeds.h - what a kernel of loops keeps on chip -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_TRANSFORMS_KERNELNEEDS_H
#define HLA_LIB_DIALECT_HLA_TRANSFORMS_KERNELNEEDS_H

#include "hla/Dialect/HLA/Transforms/RowSlices.h"

namespace mlir::hla {

/// Whether a sequence has rows, not one number a token or a head.
bool hasRows(Value sequence);

/// The tiles of the kernel that some loops make when they are put into one:
/// what the loops hand on to each other is a value there, and what is the same
/// in several is there once.
class KernelNeeds {
public:
  KernelNeeds(ArrayRef<FusedScanOp> loops, const TargetInfo &target,
              int64_t slices);

  /// The types of the tiles that hold the states.
  ArrayRef<VectorType> getStates() const { return states; }
  /// Whether the tokens are known to be one chunk, in all loops.
  static bool areOneChunk(ArrayRef<FusedScanOp> loops, int64_t chunk);
  bool isOneChunk(int64_t chunk) const { return areOneChunk(loops, chunk); }
  /// Registers of a thread that hold states: all of them, or, where the tokens
  /// are one chunk, those between whose first and last step there is one.
  int64_t getStateRegisters(ScheduleAttr schedule) const;
  /// The element types of the sequences that are read, of rank 4.
  ArrayRef<Type> getInputTypes() const { return inputTypes; }
  /// Whether blocks can share the loops out so.
  bool areSlicesUseful() const { return rows.areUseful(); }

  /// Bytes of shared memory: for every input `stages` tiles of `chunk` rows;
  /// and one tile for each value that warps exchange: scores, computed rows
  /// that steps read, rows scaled by a decay, states that are no operands in
  /// registers, and outputs.
  int64_t getSharedMemory(ScheduleAttr schedule) const;

  /// Registers of a thread beside those of the states: fragments of scores and
  /// of one product, operands on their way, and addresses; and what decays
  /// need, which grows with their number, since rows wait for one another. What
  /// that is was found by assembling kernels
  /// (benchmarks/notes/operators.md).
  int64_t getWorkingRegisters(ScheduleAttr schedule) const;

private:
  void addLoop(FusedScanOp loop);
  void addStep(StepOp step);

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
  /// A row of a chunk's tile, whole or sliced, by its bytes or, where 0, those
  /// of an operand of a product.
  struct Row {
    Value source;
    int64_t cols, elementBytes;
    bool operator==(const Row &other) const;
  };

  RowSlices rows;
  SmallVector<Type> inputTypes;
  SmallVector<Row> inputs, outputs;
  /// Rows of steps that warps write.
  SmallVector<Row> written;
  SmallVector<Scores> scores;
  /// What decays scale, and the columns of that.
  SmallVector<std::pair<Update, int64_t>> decayed;
  /// What each state is added up of, and from which carry; its tile is in
  /// states.
  SmallVector<std::pair<Update, Value>> sums;
  SmallVector<VectorType> states;
  /// The numbers of each state's first and last step.
  SmallVector<std::pair<int64_t, int64_t>> lifetimes;
  int64_t numSteps = 0;
  SmallVector<FusedScanOp> loops;
  int64_t numRowSums = 0, numDecayedSteps = 0;
  bool hasTokenDecays = false, hasComputedRows = false, hasSlots = false;
  /// Columns of the widest row that is computed or scaled, and of a key.
  int64_t widestRow = 0, widestKey = 0;
};

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_TRANSFORMS_KERNELNEEDS_H
