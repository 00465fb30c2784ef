//===- ProductKinds.cpp - what tensor cores multiply ------------ -*- C++
//-*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductKinds.h"
#include "Operands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

ProductKind::ProductKind(Type a, Type b, bool bf16x3) : aType(a), bType(b) {
  if (a == b && a.isF16())
    instruction = Instruction::F16;
  else if ((a == b && a.isBF16()) || bf16x3)
    instruction = Instruction::BF16;
  else
    instruction = Instruction::TF32;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The two bf16 of a register as f32, which is their bits and zeros.
static std::pair<Value, Value> widenBF16(Emitter &e, Value packed) {
  Value low = arith::ShLIOp::create(e, packed, e.i32(16));
  Value high = arith::AndIOp::create(e, packed, e.i32(0xffff0000));
  return {bitcast(e, e.getF32Type(), low), bitcast(e, e.getF32Type(), high)};
}

/// Registers of any element type as registers of f32.
static SmallVector<Value> widen(Emitter &e, Type elementType,
                                ArrayRef<Value> registers) {
  if (getStorageBits(elementType) == 32)
    return SmallVector<Value>(registers);
  SmallVector<Value> wide;
  for (Value packed : registers) {
    if (elementType.isBF16()) {
      auto [low, high] = widenBF16(e, bitcast(e, e.getI32Type(), packed));
      wide.append({low, high});
      continue;
    }
    Value pair = bitcast(e, VectorType::get({2}, elementType), packed);
    for (int64_t i : {0, 1}) {
      Value element = vector::ExtractOp::create(e, pair, i);
      wide.push_back(arith::ExtFOp::create(e, e.getF32Type(), element));
    }
  }
  return wide;
}

/// x = hi + lo with hi the nearest tf32. In integers, which is cheaper than the
/// conversion: of NaN and infinity lo is NaN, and so is the product. lo has at
/// most 12 bits, of which the instruction reads the 11 highest.
static std::pair<Value, Value> splitTF32(Emitter &e, Value value) {
  Value bits = bitcast(e, e.getI32Type(), value);
  bits = arith::AddIOp::create(e, bits, e.i32(0x1000));
  bits = arith::AndIOp::create(e, bits, e.i32(0xffffe000));
  Value high = bitcast(e, e.getF32Type(), bits);
  return {high, arith::SubFOp::create(e, value, high)};
}

/// Two f32 rounded to a register of two bf16.
static Value packBF16(Emitter &e, Value first, Value second) {
  auto wide = VectorType::get({2}, e.getF32Type());
  Value pair =
      vector::FromElementsOp::create(e, wide, ValueRange{first, second});
  return bitcast(e, e.getI32Type(),
                 arith::TruncFOp::create(e, wide.clone(e.getBF16Type()), pair));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Registers of f32 in the order of two m16n8k8: columns 2c and 2c+1 of a piece
/// of A are the instruction's c and c+4, and so are the rows of B.
static SmallVector<Value> orderTF32(Emitter &e, ArrayRef<Value> registers,
                                    bool isA) {
  static constexpr int64_t orderOfPiece[] = {0, 2, 1, 3};
  SmallVector<Value> ordered;
  for (size_t i = 0; i < registers.size(); ++i) {
    size_t from = isA ? i / 4 * 4 + orderOfPiece[i % 4] : i;
    ordered.push_back(bitcast(e, e.getI32Type(), registers[from]));
  }
  return ordered;
}

ProductKind::Parts ProductKind::prepareTF32(Emitter &e, Type elementType,
                                            ArrayRef<Value> registers,
                                            bool isA) const {
  SmallVector<Value> wide = widen(e, elementType, registers);
  if (!elementType.isF32())
    return {orderTF32(e, wide, isA)};
  SmallVector<Value> high, low;
  for (Value value : wide) {
    auto [hi, lo] = splitTF32(e, value);
    high.push_back(hi);
    low.push_back(lo);
  }
  return {orderTF32(e, high, isA), orderTF32(e, low, isA)};
}

ProductKind::Parts ProductKind::prepareBF16(Emitter &e, Type elementType,
                                            ArrayRef<Value> registers) const {
  if (elementType.isBF16())
    return {llvm::map_to_vector(registers, [&](Value value) {
      return bitcast(e, e.getI32Type(), value);
    })};
  SmallVector<Value> wide = widen(e, elementType, registers), high, low;
  for (size_t i = 0; i < wide.size(); i += 2) {
    high.push_back(packBF16(e, wide[i], wide[i + 1]));
    auto [first, second] = widenBF16(e, high.back());
    low.push_back(packBF16(e, arith::SubFOp::create(e, wide[i], first),
                           arith::SubFOp::create(e, wide[i + 1], second)));
  }
  return {high, low};
}

ProductKind::Parts ProductKind::prepareA(Emitter &e,
                                         ArrayRef<Value> registers) const {
  switch (instruction) {
  case Instruction::F16:
    return {llvm::map_to_vector(registers, [&](Value value) {
      return bitcast(e, VectorType::get({2}, e.getF16Type()), value);
    })};
  case Instruction::BF16:
    return prepareBF16(e, aType, registers);
  case Instruction::TF32:
    return prepareTF32(e, aType, registers, /*isA=*/true);
  }
  llvm_unreachable("all instructions are handled");
}

ProductKind::Parts ProductKind::prepareB(Emitter &e,
                                         ArrayRef<Value> registers) const {
  switch (instruction) {
  case Instruction::F16:
    return prepareA(e, registers);
  case Instruction::BF16:
    return prepareBF16(e, bType, registers);
  case Instruction::TF32:
    return prepareTF32(e, bType, registers, /*isA=*/false);
  }
  llvm_unreachable("all instructions are handled");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void ProductKind::accumulate(Emitter &e, ArrayRef<Value> a, ArrayRef<Value> b,
                             MutableArrayRef<Value> acc) const {
  const bool isTF32 = instruction == Instruction::TF32;
  NVVM::MMATypes type = instruction == Instruction::F16 ? NVVM::MMATypes::f16
                        : isTF32                        ? NVVM::MMATypes::tf32
                                                        : NVVM::MMATypes::bf16;
  Type result = LLVM::LLVMStructType::getLiteral(
      e.getContext(), SmallVector<Type>(4, e.getF32Type()));
  for (; !a.empty(); a = a.drop_front(4), b = b.drop_front(2)) {
    Value product = NVVM::MmaOp::create(
        e, result, a.take_front(4), b.take_front(2), ValueRange(acc),
        ArrayRef<int64_t>{16, 8, isTF32 ? 8 : 16}, std::nullopt, std::nullopt,
        std::array{type, type},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(acc))
      value = LLVM::ExtractValueOp::create(e, product, i);
  }
}

bool ProductKind::hasParts() const {
  auto hasParts = [&](Type type) {
    switch (instruction) {
    case Instruction::F16:
      return false;
    case Instruction::BF16:
      return !type.isBF16();
    case Instruction::TF32:
      return type.isF32();
    }
    llvm_unreachable("all instructions are handled");
  };
  return hasParts(aType) || hasParts(bType);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// LLVM would add where a value is used, maybe in the next chunk, and keep both
/// until then; so it is not told what is done.
static constexpr llvm::StringLiteral kAddition = "add.rn.f32 $0, $1, $2;";

/// The last sum before the place where `e` inserts, or null if a barrier, which
/// loads do not pass, comes first.
static Value findLastSum(Emitter &e) {
  Block *block = e.getInsertionBlock();
  for (Block::iterator it = e.getInsertionPoint(); it != block->begin();) {
    --it;
    if (isa<BarrierOp, NVVM::BarrierOp>(*it))
      return {};
    auto assembly = dyn_cast<LLVM::InlineAsmOp>(*it);
    if (assembly && assembly.getAsmString() == kAddition)
      return assembly.getRes();
  }
  return {};
}

ProductSum::ProductSum(Emitter &e, const ProductKind &kind, ValueRange acc,
                       bool isZero, Value thread, size_t distance)
    : kind(kind), distance(distance), isZero(acc.size(), isZero), acc(acc) {
  if (!kind.hasParts())
    return;
  if (Value last = findLastSum(e))
    sums.assign(distance, bitcast(e, e.getI32Type(), last));
  zero = e.div(thread, 1024); // No block has as many threads.
}

Value ProductSum::awaitEarlier(Emitter &e) const {
  if (sums.size() < distance)
    return {};
  return arith::AndIOp::create(e, sums[sums.size() - distance], zero);
}

void ProductSum::add(Emitter &e, const ProductKind::Parts &a,
                     const ProductKind::Parts &b, int64_t begin) {
  auto target = MutableArrayRef(acc).slice(begin, 4);
  if (!kind.hasParts())
    return kind.accumulate(e, a[0], b[0], target);
  SmallVector<Value> sum(4, e.f32(0.0));
  if (a.size() == 2)
    kind.accumulate(e, a[1], b[0], sum);
  if (b.size() == 2)
    kind.accumulate(e, a[0], b[1], sum);
  kind.accumulate(e, a[0], b[0], sum);
  Value bits;
  for (auto [i, value] : llvm::enumerate(target)) {
    value = isZero[begin + i] ? sum[i]
                              : e.assembly(kAddition, "=f,f,f", {value, sum[i]},
                                           e.getF32Type());
    Value valueBits = bitcast(e, e.getI32Type(), value);
    bits = bits ? Value(arith::OrIOp::create(e, bits, valueBits)) : valueBits;
  }
  isZero.reset(begin, begin + 4);
  sums.push_back(bits);
}
