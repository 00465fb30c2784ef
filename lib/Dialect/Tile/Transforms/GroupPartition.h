//===- GroupPartition.h - which group does what -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPPARTITION_H
#define HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPPARTITION_H

#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::hla::tile {

/// Whether a value is a tile in registers, or in shared memory.
bool isFragment(Value value);
bool isShared(Value value);

/// Deals the operations of a chunk loop to groups of warps.
///
/// Registers are not handed over. So operations that share a tile in registers
/// are one *part*, and parts are joined by tiles in shared memory alone: a
/// state, the products that read and change it, what is computed of them. A
/// part without a state (scores) goes to the first that reads it. Parts are
/// ordered by what they read of each other, and consecutive ones go to one
/// group, such that the states of the fullest group are as few registers as can
/// be.
class GroupPartition {
public:
  GroupPartition(scf::ForOp loop, int64_t numGroups)
      : loop(loop), numGroups(numGroups) {}

  /// Fails, with an error, if there are fewer parts than groups.
  LogicalResult run();

  /// The group of an operation of the loop's body; none of what every group
  /// computes for itself, such as indices and sums of log-decays.
  std::optional<int64_t> getGroup(Operation *op) const;
  /// The group that carries a state.
  int64_t getGroup(BlockArgument state) const;

private:
  struct Part {
    SmallVector<Operation *> ops;
    SmallVector<BlockArgument> states;
    int64_t registers = 0;
  };

  void findParts();
  void orderParts();
  void joinStateless();
  LogicalResult deal();
  /// The parts that read what a part puts into shared memory.
  SmallVector<unsigned> getReaders(const Part &part) const;

  scf::ForOp loop;
  int64_t numGroups;
  SmallVector<Part> parts;
  llvm::DenseMap<Operation *, unsigned> partOfOp;
  llvm::DenseMap<Value, unsigned> partOfState;
  SmallVector<int64_t> groupOfPart;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPPARTITION_H
