//===- Operands.cpp - fragments in shared memory ----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

Value tile::bitcast(Emitter &e, Type type, Value value) {
  return value.getType() == type ? value
                                 : LLVM::BitcastOp::create(e, type, value);
}

SmemAttr tile::getSmem(MemRefType type) {
  return cast<SmemAttr>(type.getMemorySpace());
}

NVVM::LdStMatrixShapeAttr tile::getMatrixShape(Emitter &e) {
  return NVVM::LdStMatrixShapeAttr::get(e.getContext(), 8, 8);
}

SmallVector<Value> tile::loadMatrices(Emitter &e, Value address, unsigned num,
                                      bool transposed) {
  Type type = LLVM::LLVMStructType::getLiteral(
      e.getContext(), SmallVector<Type>(num, e.getI32Type()));
  Value loaded = NVVM::LdMatrixOp::create(
      e, type, address, num,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      getMatrixShape(e), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> matrices;
  for (unsigned i = 0; i < num; ++i)
    matrices.push_back(LLVM::ExtractValueOp::create(e, loaded, i));
  return matrices;
}

static bool is16Bit(MemRefType buffer) {
  return getStorageBits(buffer.getElementType()) == 16;
}

//===----------------------------------------------------------------------===//
// PairAddress
//===----------------------------------------------------------------------===//

/// `base` displaced to the lane's place in a piece of 8 elements.
static Value getPlaceInPiece(Emitter &e, Value base, Value lane,
                             bool transposed) {
  return e.byteOffset(base, transposed ? e.mul(e.div(lane, 4), 4)
                                       : e.mul(e.rem(lane, 4), 8));
}

PairAddress::PairAddress(Emitter &e, MemRefType buffer, Value base, Value row,
                         Value col, Value lane, bool transposed)
    : SharedAddress(e, buffer, getPlaceInPiece(e, base, lane, transposed),
                    transposed ? e.add(col, e.mul(e.rem(lane, 4), 2))
                               : e.add(row, e.div(lane, 4)),
                    e.div(transposed ? row : col, 8)),
      transposed(transposed) {}

Value PairAddress::get(Emitter &e, int64_t rows, int64_t cols,
                       bool isSecond) const {
  if (!transposed)
    return SharedAddress::get(e, rows, cols);
  return isSecond ? SharedAddress::getNextRow(e, cols, rows)
                  : SharedAddress::get(e, cols, rows);
}

std::pair<Value, Value> PairAddress::load(Emitter &e, int64_t rows,
                                          int64_t cols) const {
  if (transposed) {
    auto loadOne = [&](bool isSecond) {
      return LLVM::LoadOp::create(e, e.getF32Type(),
                                  get(e, rows, cols, isSecond),
                                  /*alignment=*/4);
    };
    Value first = loadOne(false);
    return {first, loadOne(true)};
  }
  Value pair = LLVM::LoadOp::create(e, VectorType::get({2}, e.getF32Type()),
                                    get(e, rows, cols, false), /*alignment=*/8);
  Value first = vector::ExtractOp::create(e, pair, 0);
  return {first, vector::ExtractOp::create(e, pair, 1)};
}

void PairAddress::store(Emitter &e, int64_t rows, int64_t cols, Value first,
                        Value second) const {
  if (transposed) {
    LLVM::StoreOp::create(e, first, get(e, rows, cols, false),
                          /*alignment=*/4);
    LLVM::StoreOp::create(e, second, get(e, rows, cols, true),
                          /*alignment=*/4);
    return;
  }
  Value pair = vector::FromElementsOp::create(
      e, VectorType::get({2}, e.getF32Type()), ValueRange{first, second});
  LLVM::StoreOp::create(e, pair, get(e, rows, cols, false), /*alignment=*/8);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

OperandA::OperandA(Emitter &e, Type type, ValueRange values, bool transposed,
                   Value row, Value lane) {
  if (auto buffer = dyn_cast<MemRefType>(type)) {
    // Rows of the operand are rows in memory, or columns.
    isTransposedInMemory =
        transposed != (getSmem(buffer).getOrder() == Order::Col);
    if (is16Bit(buffer))
      blocks.emplace(e, buffer, values.front(), row, e.i32(0), lane,
                     isTransposedInMemory);
    else
      pairs.emplace(e, buffer, values.front(), row, e.i32(0), lane,
                    isTransposedInMemory);
    return;
  }
  auto tile = cast<RankedTensorType>(type);
  registers = values;
  registersOfPiece = getStorageBits(tile.getElementType()) / 8;
  colPieces = FragmentShape(tile).colPieces;
}

SmallVector<Value> OperandA::get(Emitter &e, int64_t m, int64_t k) const {
  if (blocks)
    return loadMatrices(e, blocks->get(e, 16 * m, 16 * k), 4,
                        isTransposedInMemory);
  if (!pairs)
    return registers.slice((m * colPieces + 2 * k) * registersOfPiece,
                           2 * registersOfPiece);
  SmallVector<Value> loaded;
  for (int64_t col : {0, 8})
    for (int64_t row : {0, 8}) {
      auto [first, second] = pairs->load(e, 16 * m + row, 16 * k + col);
      loaded.append({first, second});
    }
  return loaded;
}

void OperandA::displace(Emitter &e, Value bytes) {
  if (blocks)
    blocks->displace(e, bytes);
  if (pairs)
    pairs->displace(e, bytes);
}

/// Lane bits 3 and 4 change places. Of a narrow load only the first 16 lanes'
/// addresses count.
static Value exchangeMiddle(Emitter &e, Value lane, bool isWide) {
  Value low = e.rem(e.div(lane, 8), 2);
  Value high = isWide ? e.div(lane, 16) : e.i32(0);
  return e.add(e.rem(lane, 8), e.add(e.mul(low, 16), e.mul(high, 8)));
}

// What is addressed is a block of Bᵀ, its rows the columns of B; of 16-bit
// elements with matrices 1 and 2 of the order above exchanged.
OperandB::OperandB(Emitter &e, MemRefType buffer, Value base, bool transposed,
                   Value col, Value lane, bool isWide)
    : isWide(isWide),
      isTransposedInMemory(transposed ==
                           (getSmem(buffer).getOrder() == Order::Col)) {
  if (is16Bit(buffer)) {
    Value zero = e.i32(0);
    blocks.emplace(e, buffer, base, col, zero, exchangeMiddle(e, lane, isWide),
                   isTransposedInMemory);
  } else {
    pairs.emplace(e, buffer, base, col, e.i32(0), lane, isTransposedInMemory);
  }
}

SmallVector<SmallVector<Value>> OperandB::get(Emitter &e, int64_t k,
                                              int64_t n) const {
  const int64_t numPieces = isWide ? 2 : 1;
  SmallVector<SmallVector<Value>> pieces(numPieces);
  if (blocks) {
    SmallVector<Value> matrices = loadMatrices(
        e, blocks->get(e, 8 * n, 16 * k), 2 * numPieces, isTransposedInMemory);
    for (auto [i, piece] : llvm::enumerate(pieces))
      llvm::append_range(piece, ArrayRef(matrices).slice(2 * i, 2));
    return pieces;
  }
  for (auto [i, piece] : llvm::enumerate(pieces))
    for (int64_t row : {0, 8}) {
      auto [first, second] = pairs->load(e, 8 * (n + i), 16 * k + row);
      piece.append({first, second});
    }
  return pieces;
}

void OperandB::displace(Emitter &e, Value bytes) {
  if (blocks)
    blocks->displace(e, bytes);
  else
    pairs->displace(e, bytes);
}
