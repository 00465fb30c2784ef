//===- GroupPlan.h - what groups of warps share -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPPLAN_H
#define HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPPLAN_H

#include "GroupPartition.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::hla::tile {

/// A box of a tensor that a tile is copied from or to: the indices of its first
/// element but for the row, which is added to `indices[rowDim]`.
struct TileBox {
  Value map;
  SmallVector<OpFoldResult> indices;
  unsigned rowDim = 0;
};

/// A tile that is loaded into a ring, each chunk's into its slot.
struct LoadRing {
  LoadOp load;
  TileBox box;
  Value ring;
  /// That a copy has come, and that other groups than `refiller` have read it.
  Value full, vacant;
  /// The group that begins the copies: the last one that reads them.
  int64_t refiller = 0;
  SmallVector<int64_t> readers;

  bool isReadByOthers() const { return readers.size() > 1; }
};

/// A tile that a group writes into shared memory, for itself or for others.
struct Exchange {
  /// The tile, and the parts that are written one by one: at least itself.
  Value tile;
  SmallVector<Value> parts;
  Value ring;
  int64_t producer = 0;
  /// The groups but the producer that read it.
  SmallVector<int64_t> consumers;
  bool isReadByProducer = false;
  /// The first of the named barriers of the slots: that they are written, and
  /// that they have been read.
  int64_t written = 0, read = 0;

  bool isHandedOver() const { return !consumers.empty(); }
  /// The producer writes one while consumers read the other.
  int64_t getSlots() const { return isHandedOver() ? 2 : 1; }
  /// The threads that meet at its barriers.
  int64_t getThreads() const {
    return GroupsOp::kThreads * (1 + consumers.size());
  }
};

/// What the groups of a kernel share: made once, read by each group's builder.
struct GroupPlan {
  GroupPlan(scf::ForOp loop, const GroupPartition &partition, int64_t stages,
            int64_t registersPerThread)
      : loop(loop), partition(partition), stages(stages),
        registersPerThread(registersPerThread) {}

  scf::ForOp loop;
  const GroupPartition &partition;
  int64_t stages, registersPerThread;
  SmallVector<LoadRing> rings;
  SmallVector<Exchange> exchanges;
  /// Of tiles that are stored from shared memory.
  llvm::DenseMap<Operation *, TileBox> stores;
  /// Operations after the loop, with their groups.
  SmallVector<std::pair<Operation *, int64_t>> epilogue;

  /// The ring or exchange behind a tile in shared memory, or null; `columns` of
  /// a tile, and parts of a `concat`, are in the tile's.
  LoadRing *findRing(Value tile);
  Exchange *findExchange(Value tile);
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPPLAN_H
