//===- ProductKinds.h - what tensor cores multiply -------------- -*- C++
//-*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETONVVM_PRODUCTKINDS_H
#define HLA_LIB_CONVERSION_TILETONVVM_PRODUCTKINDS_H

#include "Emitter.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::hla::tile {

/// How a product of tiles of given element types becomes instructions (see
/// `hla_tile.dot`). Operands come 16 columns of A, and rows of B, at a time, in
/// registers as `OperandA` and `OperandB` give them.
class ProductKind {
public:
  /// What an instruction takes: of an operand in two parts, the higher first.
  using Parts = SmallVector<SmallVector<Value>, 2>;

  /// The element types are those of the instruction's operands, A and B.
  ProductKind(Type a, Type b, bool bf16x3);

  Parts prepareA(Emitter &e, ArrayRef<Value> registers) const;
  Parts prepareB(Emitter &e, ArrayRef<Value> registers) const;

  /// Whether an operand has two parts.
  bool hasParts() const;

  /// acc += a b of one part of each, 16×16 and 16×8.
  void accumulate(Emitter &e, ArrayRef<Value> a, ArrayRef<Value> b,
                  MutableArrayRef<Value> acc) const;

private:
  enum class Instruction { BF16, F16, TF32 };

  Parts prepareTF32(Emitter &e, Type elementType, ArrayRef<Value> registers,
                    bool isA) const;
  Parts prepareBF16(Emitter &e, Type elementType,
                    ArrayRef<Value> registers) const;
  Type aType, bType;
  Instruction instruction;
};

/// An accumulator and the products that are added to it.
///
/// Products of operands in parts begin at zero and are added with rounding:
/// tensor cores truncate what they add, and over a long sequence that would
/// take more from a state than the parts give it.
///
/// The assembler would do many of these products at once, since they are
/// independent, and have no registers left. So a product's loads wait for the
/// sum of the one that is `distance` before it, as far as it can tell.
class ProductSum {
public:
  /// `thread` is the thread's number, which the assembler does not know.
  ProductSum(Emitter &e, const ProductKind &kind, ValueRange acc, bool isZero,
             Value thread, size_t distance);

  /// A zero that is known when an earlier sum is, to be added to addresses;
  /// null if nothing is to be waited for.
  Value awaitEarlier(Emitter &e) const;
  /// Adds a product, of 16×16 and 16×8, to four registers.
  void add(Emitter &e, const ProductKind::Parts &a, const ProductKind::Parts &b,
           int64_t begin);
  ArrayRef<Value> getRegisters() const { return acc; }

private:
  const ProductKind &kind;
  size_t distance;
  /// Registers to which nothing has been added.
  llvm::SmallBitVector isZero;
  SmallVector<Value> acc;
  /// The sums, oldest first, as bits of all of their registers.
  SmallVector<Value> sums;
  Value zero;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETONVVM_PRODUCTKINDS_H
