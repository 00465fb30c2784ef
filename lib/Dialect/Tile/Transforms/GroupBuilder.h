//===- GroupBuilder.h - the program of one group of warps -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPBUILDER_H
#define HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPBUILDER_H

#include "GroupPlan.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::hla::tile {

/// Builds what one group does: its own loop over the chunks, with its states
/// and its operations, in an order in which products run while the group goes
/// on.
///
/// Operations are taken in program order. Products are begun and not waited
/// for. Where the next operation needs the result of one that is in flight, all
/// later products are begun first whose operands are there and for whose
/// registers there is room, among them updates of states, which nothing of the
/// iteration reads. A state is rounded for a product when that begins.
///
/// What a group must know of shared memory at any place: whether its warps have
/// written a buffer since they last met, and whether they have read it. An
/// iteration begins with what the last one left; so the body is built twice,
/// and the first, which begins with nothing, is thrown away.
class GroupBuilder {
public:
  GroupBuilder(GroupPlan &plan, int64_t group, OpBuilder &builder)
      : plan(plan), group(group), b(plan.loop.getLoc(), builder) {}

  void build();

private:
  /// Products begun, in the order of their batches.
  struct Batch {
    SmallVector<Value> results;
    /// Tiles in shared memory, and registers of operands, that they read.
    SmallVector<Value> sharedOperands, registerOperands;
  };
  /// What is left of accesses of an exchange since the group's warps last met.
  struct Accesses {
    bool isWritten = false, isRead = false, isStored = false;
  };
  using AccessMap = llvm::DenseMap<Exchange *, Accesses>;

  void fillRings();
  void buildBody(AccessMap &accesses, bool &hasBarrier);
  void buildOperations();

  // Order.
  void orderOperations();
  bool isOnDemand(Operation *op) const;
  bool isDone(Operation *op) const { return done.contains(op); }
  void emit(Operation *op);
  /// Whether a product can begin now without waiting for anything.
  bool canBegin(DotOp dot);
  void prepare(DotOp dot);
  void beginReady();
  void begin(DotOp dot);
  /// Whether all that reads the old value of the state behind `acc`, but for
  /// the product, is done.
  bool isStateRead(DotOp dot) const;

  // Registers.
  int64_t countLive() const;
  int64_t countNeeded(DotOp dot) const;
  bool hasRoom(DotOp dot) const;

  // Values.
  /// The group's own value for one of the program, computed here if need be.
  Value get(Value value);
  bool isInFlight(Value value) const { return batchOf.contains(value); }
  void waitFor(ValueRange values);
  void wait(int64_t lastBatch);
  void commit();

  // Shared memory (GroupMemory.cpp).
  Value getBuffer(Value tile);
  bool isVisible(Value tile);
  void makeVisible(Value tile);
  void noteRead(Value tile);
  void meet();
  void read(ConvertLayoutOp convert);
  void write(ConvertLayoutOp convert);
  void publish(Exchange &exchange);
  void store(StoreOp store);
  void refill();
  void release();
  SmallVector<Value> getIndices(const TileBox &box, Value row);
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// The slot of an iteration in a ring, and the parity of its use there.
  Value getSlot(Value iteration, int64_t slots);
  Value getParity(Value iteration, int64_t slots);

  GroupPlan &plan;
  int64_t group;
  ImplicitLocOpBuilder b;
  SmallVector<Operation *> ops;
  SmallVector<BlockArgument> states;

  // Of the iteration that is being built.
  IRMapping mapping, outer;
  llvm::DenseSet<Operation *> done;
  SmallVector<Batch> batches;
  int64_t numCommitted = 0, numWaited = 0;
  llvm::DenseMap<Value, int64_t> batchOf;
  AccessMap accesses;
  llvm::DenseSet<Value> acquired;
  llvm::DenseMap<Exchange *, unsigned> partsWritten;
  bool hasMet = false;
  Value row, iteration;
  scf::ForOp loop;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_DIALECT_TILE_TRANSFORMS_GROUPBUILDER_H
