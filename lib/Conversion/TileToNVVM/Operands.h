//===- Operands.h - fragments in shared memory ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETONVVM_OPERANDS_H
#define HLA_LIB_CONVERSION_TILETONVVM_OPERANDS_H

#include "Emitter.h"

namespace mlir::hla::tile {

Value bitcast(Emitter &e, Type type, Value value);

/// The layout of a buffer in shared memory.
SmemAttr getSmem(MemRefType type);

NVVM::LdStMatrixShapeAttr getMatrixShape(Emitter &e);

/// Loads `num` (2 or 4) matrices of 8×8, as i32 registers of two elements.
SmallVector<Value> loadMatrices(Emitter &e, Value address, unsigned num,
                                bool transposed);

/// Four matrices of 8×8 16-bit elements that make up 16×16 elements of a
/// fragment are read and written at once: matrix `l / 8` has its row `l mod 8`
/// at the address of lane `l`. The order is that of an A operand and of two
/// pieces of a fragment:
///
///   0: rows 0-7, cols 0-7   1: rows 8-15, cols 0-7   2, 3: the same, cols 8-15
///
/// For a tile that memory has transposed, rows and columns change places.
struct BlockAddress : SharedAddress {
  BlockAddress(Emitter &e, MemRefType buffer, Value base, Value row, Value col,
               Value lane, bool transposed)
      : SharedAddress(
            e, buffer, base,
            e.add(transposed ? col : row,
                  e.add(e.rem(lane, 8),
                        e.mul(transposed ? high(e, lane) : low(e, lane), 8))),
            e.add(e.div(transposed ? row : col, 8),
                  transposed ? low(e, lane) : high(e, lane))),
        transposed(transposed) {}

  /// The address of the block displaced by rows and cols of the fragment.
  Value get(Emitter &e, int64_t rows, int64_t cols) const {
    return transposed ? SharedAddress::get(e, cols, rows)
                      : SharedAddress::get(e, rows, cols);
  }

private:
  static Value low(Emitter &e, Value lane) { return e.rem(e.div(lane, 8), 2); }
  static Value high(Emitter &e, Value lane) { return e.div(lane, 16); }

  bool transposed;
};

/// A lane's pairs of neighbouring 32-bit elements of a fragment: lane `4g + c`
/// has `(g, 2c)` and `(g, 2c+1)` of every 8×8 elements. They are one word of 64
/// bits in memory, or two of 32 where memory has the tile transposed.
class PairAddress : public SharedAddress {
public:
  PairAddress(Emitter &e, MemRefType buffer, Value base, Value row, Value col,
              Value lane, bool transposed);

  /// The pair displaced by rows and cols of the fragment, as f32.
  std::pair<Value, Value> load(Emitter &e, int64_t rows, int64_t cols) const;
  void store(Emitter &e, int64_t rows, int64_t cols, Value first,
             Value second) const;

private:
  Value get(Emitter &e, int64_t rows, int64_t cols, bool isSecond) const;

  bool transposed;
};

/// The A operand of a product, `P×K`: from registers or shared memory.
class OperandA {
public:
  /// `transposed` says that the operand is the transpose of the tile.
  OperandA(Emitter &e, Type type, ValueRange values, bool transposed, Value row,
           Value lane);

  /// Rows 16·m…, columns 16·k… of this warp's rows, as two pieces of a
  /// fragment have them: 4 registers of two 16-bit elements, or 8 of f32.
  SmallVector<Value> get(Emitter &e, int64_t m, int64_t k) const;
  /// Displaces what is loaded from now on by as many bytes.
  void displace(Emitter &e, Value bytes);

private:
  std::optional<BlockAddress> blocks;
  std::optional<PairAddress> pairs;
  bool isTransposedInMemory = false;
  ValueRange registers;
  int64_t registersOfPiece = 0, colPieces = 0;
};

/// The B operand, `K×R`, from shared memory. In the instruction's order its
/// columns are rows of what a plain load gives, so a plain load reads `Bᵀ` by
/// rows. Two column pieces at a time, or one where the warp has no more:
///
///   0: k 0-7, cols 0-7   1: k 8-15, cols 0-7   2, 3: the same, cols 8-15
class OperandB {
public:
  OperandB(Emitter &e, MemRefType buffer, Value base, bool transposed,
           Value col, Value lane, bool isWide);

  /// The registers of each column piece from 8·n on, rows 16·k…: 2 of two
  /// 16-bit elements, or 4 of f32.
  SmallVector<SmallVector<Value>> get(Emitter &e, int64_t k, int64_t n) const;
  /// Displaces what is loaded from now on by as many bytes.
  void displace(Emitter &e, Value bytes);

private:
  bool isWide, isTransposedInMemory;
  std::optional<BlockAddress> blocks;
  std::optional<PairAddress> pairs;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETONVVM_OPERANDS_H
