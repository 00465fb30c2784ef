//===- Sizes.cpp - the extents of a run -------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace hla_run;
using llvm::StringRef;
using llvm::Twine;
using mlir::hla::ABIArgument;
using mlir::hla::ABIConstraint;
using mlir::hla::ABIContent;
using mlir::hla::ABIDim;
using mlir::hla::ABITerm;
using mlir::hla::EntryABI;

static std::string format(std::optional<int64_t> value) {
  return value ? std::to_string(*value) : "more than 63 bits";
}

static llvm::Error checkConstraint(const ABIConstraint &constraint,
                                   const Sizes &sizes, const Twine &where) {
  std::optional<int64_t> left = constraint.left.evaluate(sizes),
                         right = constraint.right.evaluate(sizes);
  if (left && right && *left == *right)
    return llvm::Error::success();
  return llvm::createStringError("expected " + constraint.left.getText() +
                                 " = " + constraint.right.getText() + " in " +
                                 where + ", but got " + format(left) + " and " +
                                 format(right));
}

namespace {

/// Symbols and what ties them.
class SizeSolver {
public:
  explicit SizeSolver(const EntryABI &abi);

  llvm::Expected<Sizes> solve(const Sizes &given);
  /// Adds what follows from `sizes`, and checks all ties; `where` is what has
  /// them.
  llvm::Error propagate(Sizes &sizes, StringRef where) const;

private:
  void addSequences(StringRef lengths);
  /// Sets the symbol of `term` so that the term is `value`.
  llvm::Error assign(const ABIConstraint &constraint, const ABITerm &term,
                     int64_t value, StringRef where, Sizes &sizes) const;
  /// The symbols from which all others follow.
  llvm::SmallVector<StringRef> getFree() const;

  llvm::SmallVector<StringRef> symbols;
  llvm::SmallVector<ABIConstraint> constraints;
};

} // namespace

SizeSolver::SizeSolver(const EntryABI &abi) : constraints(abi.constraints) {
  for (const ABIArgument &argument : abi.arguments)
    for (const ABIDim &dim : argument.dims)
      if (dim.isSymbol() && !llvm::is_contained(symbols, dim.symbol))
        symbols.push_back(dim.symbol);
  for (const ABIArgument &argument : abi.arguments)
    if (argument.content == ABIContent::Lengths &&
        argument.dims.front().isSymbol())
      addSequences(argument.dims.front().symbol);
}

/// `N1` for the sequences of `L1` lengths, where no argument has them.
void SizeSolver::addSequences(StringRef lengths) {
  std::string sequences = ("N" + lengths.drop_front()).str();
  if (llvm::is_contained(symbols, sequences) ||
      llvm::any_of(constraints, [&](const ABIConstraint &constraint) {
        return constraint.left.symbol == lengths;
      }))
    return;
  constraints.push_back({{1, lengths.str(), 0}, {1, sequences, 1}});
}

llvm::Error SizeSolver::assign(const ABIConstraint &constraint,
                               const ABITerm &term, int64_t value,
                               StringRef where, Sizes &sizes) const {
  int64_t product = value - term.offset;
  if (product < 0 || product % term.factor != 0)
    return llvm::createStringError("expected " + constraint.left.getText() +
                                   " = " + constraint.right.getText() + " in " +
                                   where + ", but got no " + term.symbol +
                                   " ≥ 0 for which " + term.getText() + " is " +
                                   Twine(value));
  sizes[term.symbol] = product / term.factor;
  return llvm::Error::success();
}

/// Numbers of lengths follow from those of sequences, so they come last.
llvm::SmallVector<StringRef> SizeSolver::getFree() const {
  llvm::SmallVector<StringRef> ordered, list;
  llvm::StringMap<char> known;
  auto isLengths = [&](StringRef symbol) {
    return llvm::any_of(constraints, [&](const ABIConstraint &constraint) {
      return constraint.right.offset != 0 && constraint.left.symbol == symbol;
    });
  };
  for (bool pass : {false, true})
    for (StringRef symbol : symbols)
      if (isLengths(symbol) == pass)
        ordered.push_back(symbol);
  for (const ABIConstraint &constraint : constraints)
    if (!llvm::is_contained(symbols, constraint.right.symbol))
      ordered.insert(llvm::find_if(ordered, isLengths),
                     constraint.right.symbol);
  for (StringRef symbol : ordered) {
    if (!known.insert({symbol, 0}).second)
      continue;
    list.push_back(symbol);
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto &[left, right] : constraints)
        if (known.contains(left.symbol) != known.contains(right.symbol)) {
          known.insert({left.symbol, 0});
          known.insert({right.symbol, 0});
          changed = true;
        }
    }
  }
  return list;
}

llvm::Error SizeSolver::propagate(Sizes &sizes, StringRef where) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ABIConstraint &constraint : constraints) {
      const auto &[left, right] = constraint;
      bool hasLeft = sizes.contains(left.symbol);
      if (hasLeft == sizes.contains(right.symbol))
        continue;
      const ABITerm &known = hasLeft ? left : right;
      std::optional<int64_t> value = known.evaluate(sizes);
      if (!value)
        return llvm::createStringError("expected " + known.getText() + " in " +
                                       where + " to be of 63 bits, but got " +
                                       known.symbol + " = " +
                                       Twine(sizes.lookup(known.symbol)));
      if (llvm::Error error =
              assign(constraint, hasLeft ? right : left, *value, where, sizes))
        return error;
      changed = true;
    }
  }
  for (const ABIConstraint &constraint : constraints)
    if (sizes.contains(constraint.left.symbol))
      if (llvm::Error error = checkConstraint(constraint, sizes, where))
        return error;
  return llvm::Error::success();
}

llvm::Expected<Sizes> SizeSolver::solve(const Sizes &given) {
  Sizes sizes = given;
  llvm::SmallVector<StringRef> free = getFree();
  std::string expected =
      "expected --input=random: to give " + llvm::join(free, ", ");
  auto isKnown = [&](StringRef symbol) {
    return llvm::is_contained(symbols, symbol) ||
           llvm::any_of(constraints, [&](const ABIConstraint &constraint) {
             return constraint.right.symbol == symbol;
           });
  };
  for (const auto &size : given)
    if (!isKnown(size.first()))
      return llvm::createStringError(expected + ", but got " + size.first());
  if (llvm::Error error = propagate(sizes, "--input=random:"))
    return error;
  for (StringRef symbol : free)
    if (!sizes.contains(symbol))
      return llvm::createStringError(expected + ", but got no " + symbol);
  return sizes;
}

llvm::Expected<Sizes> hla_run::solveSizes(const EntryABI &abi,
                                          const Sizes &given) {
  return SizeSolver(abi).solve(given);
}

llvm::Error hla_run::propagateSizes(const EntryABI &abi, Sizes &sizes,
                                    StringRef where) {
  return SizeSolver(abi).propagate(sizes, where);
}
