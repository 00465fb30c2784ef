//===- EntryABI.h - what a compiled entry function takes --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_TRANSFORMS_ENTRYABI_H
#define HLA_DIALECT_HLA_TRANSFORMS_ENTRYABI_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace mlir::hla {

/// An extent of an argument: a constant, or a symbol whose value a call gives.
struct ABIDim {
  /// The extent, or ShapedType::kDynamic.
  int64_t size;
  /// The symbol of a dynamic extent: extents with one symbol are equal. `B`,
  /// `T` and `H` for the batches, tokens and heads of hla operations, `L` and
  /// `N` for their lengths and sequences, `S` for the states of slots, `B1`, …,
  /// where several differ, `d0`, … for others.
  std::string symbol;

  bool isSymbol() const { return ShapedType::isDynamic(size); }
};

/// factor · symbol + offset
struct ABITerm {
  int64_t factor;
  std::string symbol;
  int64_t offset;

  /// As an expression of a manifest: `4 * H1`, `N + 1`.
  std::string getText() const;
  /// The value where `symbols` has the symbol, unless it leaves 64 bits.
  std::optional<int64_t>
  evaluate(const llvm::StringMap<int64_t> &symbols) const;
};

/// Terms of symbols that are equal in every call.
struct ABIConstraint {
  ABITerm left, right;
};

/// What an entry function does with an argument.
enum class ABIRole { Read, Write, ReadWrite };

/// What hla operations take an argument for, as far as it says which numbers
/// are in it: those of queries and keys meet in scores, a log-decay has none
/// above zero, lengths are integers that do not decrease, and slots integers
/// that number states.
enum class ABIContent { Any, QueryOrKey, LogDecay, Lengths, Slots };

/// One argument of a compiled entry function.
struct ABIArgument {
  /// The attribute `hla.name` of the argument or result, else `arg0`, …, or
  /// `result0`, …; no two are the same.
  std::string name;
  ABIRole role;
  /// A float, or i32 of lengths and slots, which are only read.
  Type elementType;
  SmallVector<ABIDim> dims;
  ABIContent content = ABIContent::Any;
  /// Of lengths: the extents, of tokens, that they cut. Of slots: those, of
  /// states, that they number.
  SmallVector<ABIDim> ranges;

  bool isRead() const { return role != ABIRole::Write; }
  bool isWritten() const { return role != ABIRole::Read; }
};

/// The arguments of a compiled entry function: those of the function, then its
/// results that are not in one of these.
struct EntryABI {
  /// The attribute of an argument or result that holds its name.
  static constexpr llvm::StringLiteral kNameAttrName = "hla.name";

  std::string entry;
  SmallVector<ABIArgument> arguments;
  /// What ties the arguments' symbols, beside their names.
  SmallVector<ABIConstraint> constraints;
  /// For every result of the function, the argument that holds it.
  SmallVector<unsigned> results;
};

/// The interface of a function on tensors, as `hla-bufferize` will give it.
/// Extents are tied by the constraints of the hla operations in it.
FailureOr<EntryABI> getEntryABI(func::FuncOp function);

} // namespace mlir::hla

#endif // HLA_DIALECT_HLA_TRANSFORMS_ENTRYABI_H
