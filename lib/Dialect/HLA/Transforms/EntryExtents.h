//===- EntryExtents.h - extents of a function, and their ties ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_TRANSFORMS_ENTRYEXTENTS_H
#define HLA_LIB_DIALECT_HLA_TRANSFORMS_ENTRYEXTENTS_H

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace mlir::hla {

/// The extents of a function's tensors, in classes of equal ones, and what ties
/// the classes: heads of which several read one, and lengths, one more than the
/// sequences that states belong to.
class EntryExtents {
public:
  explicit EntryExtents(func::FuncOp function);

  /// Finds what is equal and what is static, and names the extents of
  /// `arguments`, in order. Fails at an operation whose extents contradict.
  LogicalResult solve(ArrayRef<Value> arguments);

  SmallVector<ABIDim> getDims(Value value);
  /// The tokens that an hla operation walks.
  ABIDim getTokens(Operation *op);
  /// The states that the slots of an hla operation number, where it has any.
  std::optional<ABIDim> getSlots(Operation *op);
  /// What ties the symbols of arguments.
  SmallVector<ABIConstraint> getConstraints();

private:
  /// A node is an extent of a value; a class has at most one static size.
  using Extent = std::pair<void *, int64_t>;
  /// whole = factor · part + offset
  struct Relation {
    Operation *op;
    Extent whole, part;
    int64_t factor, offset;
  };

  Extent insert(Value value, int64_t dim);
  Extent getLeader(Extent extent) const {
    return classes.getLeaderValue(extent);
  }
  void tie(Value x, int64_t xDim, Value y, int64_t yDim) {
    classes.unionSets(insert(x, xDim), insert(y, yDim));
  }
  void tieAll(Value x, Value y);

  void addTies(Operation *op);
  struct Walk;
  /// The ties of an hla operation that walks tokens.
  void addWalk(Operation *op, const Walk &walk);

  void mergeEqualTerms();
  LogicalResult findSizes();
  LogicalResult propagate(const Relation &relation, bool &changed);
  StringRef getSymbol(Extent leader);
  ABIDim describe(Extent extent);
  ABITerm getTerm(Extent leader, int64_t factor, int64_t offset);

  func::FuncOp function;
  llvm::EquivalenceClasses<Extent> classes;
  SmallVector<Relation> relations;
  /// Static sizes, of extents as their types say.
  llvm::MapVector<Extent, int64_t> typeSizes;
  /// Static sizes, by class leader.
  std::map<Extent, int64_t> sizes;
  /// Extents that an hla operation has a name for.
  SmallVector<std::pair<Extent, StringRef>> kinds;
  llvm::DenseMap<Operation *, Extent> tokens, slots;
  /// Symbols given so far, by class leader.
  std::map<Extent, std::string> symbols;
  llvm::StringMap<unsigned> counts;
  /// The classes that arguments have.
  llvm::DenseSet<Extent> bound;
};

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_TRANSFORMS_ENTRYEXTENTS_H
