//===- Emitter.h - arithmetic on threads, fragments and addresses ---------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETONVVM_EMITTER_H
#define HLA_LIB_CONVERSION_TILETONVVM_EMITTER_H

#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::hla::tile {

/// A pointer into shared or device memory.
LLVM::LLVMPointerType getPointerType(MLIRContext *context,
                                     NVVM::NVVMMemorySpace space);

/// Ways for a thread to be told its own number. The assembler merges equal ones
/// within an iteration, and keeps what is computed from them from one place to
/// the other: operations that are far apart in a chunk use different ones.
enum class Shuffle { Copy, Product, Write, Store, Load };

/// Emits 32-bit index arithmetic, folding constants.
class Emitter : public ImplicitLocOpBuilder {
public:
  Emitter(Location loc, OpBuilder &builder)
      : ImplicitLocOpBuilder(loc, builder) {}

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value f32(double value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value mul(Value a, int64_t b);
  Value div(Value a, int64_t b);
  Value rem(Value a, int64_t b);
  Value exclusiveOr(Value a, Value b);
  Value exclusiveOr(Value a, int64_t b);
  /// An `index` as i32 or i64, and an i32 as i64.
  Value toI32(Value index);
  Value toI64(Value value);

  /// The thread's number in its block, exchanged with itself: LLVM takes it for
  /// a new value each time, the assembler for one in each iteration. So what is
  /// computed from it, such as addresses and powers of decays, is computed
  /// where it is used, instead of being kept for a whole loop in registers that
  /// the states need.
  Value opaqueThreadId(Shuffle shuffle);

  /// The warps of the kernel that is built.
  int64_t getNumWarps();

  /// What another lane of the warp has of `value`, of 16, 32 or 64 bits.
  Value shuffle(NVVM::ShflKind kind, Value value, Value lane);

  /// What is at the address that `getAddress` makes, if `condition` holds, else
  /// 0.
  Value loadIf(Value condition, Type type,
               function_ref<Value(Emitter &)> getAddress,
               unsigned alignment = 0);

  /// A pointer into shared memory as i32, and the pointer to a slot's signal.
  Value sharedAddress(Value pointer);
  Value getSignal(Value signals, Value slot);
  /// `base + offset` bytes.
  Value byteOffset(Value base, Value offset);
  /// Inline PTX with side effects; null if `result` is.
  Value assembly(StringRef text, StringRef constraints, ValueRange operands,
                 Type result);

  /// The nearest tf32, as an f32.
  Value roundToTF32(Value value);
  /// The larger of `x` and a constant; NaN where `x` is.
  Value atLeast(Value x, double least);
  /// 2ˣ for an f32 `x`; 0 where it is below the least normal number.
  Value power2(Value x);
};

/// A thread's number, and its place among the warps of a fragment, those of the
/// block or of its group: `warp / colWarps`, `warp mod colWarps`, and its lane.
struct ThreadPlace {
  Value thread, rowWarp, colWarp, lane;
  ThreadPlace(Emitter &e, FragAttr frag, Shuffle shuffle);
};

/// Whether a thread's warp is among the block's first, as many as a layout has.
Value isOfLayout(Emitter &e, FragAttr frag);

/// The pieces of 16×8 of a fragment that one warp holds.
struct FragmentShape {
  explicit FragmentShape(RankedTensorType type);

  FragAttr frag;
  /// Rows and columns of a warp's block of the stored tile, and pieces in it.
  int64_t rows, cols, rowPieces, colPieces;

  /// The first register of a piece: pieces are ordered by rows, then columns,
  /// `perPiece` registers each.
  int64_t getRegister(int64_t rowPiece, int64_t colPiece,
                      int64_t perPiece) const {
    return (rowPiece * colPieces + colPiece) * perPiece;
  }
  /// Row and column of the warp's block in the stored tile.
  Value getRow(Emitter &e, const ThreadPlace &place) const;
  Value getCol(Emitter &e, const ThreadPlace &place) const;
  /// Row and column, in the stored tile, of the first element of a thread's
  /// first piece: `(g, 2c)` for lane `4g + c`.
  std::pair<Value, Value> getFirstElement(Emitter &e,
                                          const ThreadPlace &place) const;
  /// Calls `visit(register, row, col)` for every element of a thread, with its
  /// distance from the thread's first in the stored tile.
  void
  forEachElement(function_ref<void(int64_t, int64_t, int64_t)> visit) const;
};

/// Addresses in a swizzled tile in shared memory (`#hla_tile.smem`). A lane is
/// given a place in the stored tile, and from there reaches others at constant
/// distances: `rows` a multiple of 8, and `cols` of 8, that do not carry into
/// the bits of the lane's own column.
class SharedAddress {
public:
  /// `row` and `piece` (of 8 elements) are i32 values; see above.
  SharedAddress(Emitter &e, MemRefType buffer, Value base, Value row,
                Value piece);

  /// A pointer to the lane's place, displaced by `rows` and `cols`.
  Value get(Emitter &e, int64_t rows, int64_t cols) const;
  /// The same place in the next row, of 32-bit elements and from an even row.
  Value getNextRow(Emitter &e, int64_t rows, int64_t cols) const;
  /// Displaces all places by `bytes`, and no longer by those of the last call.
  void displace(Emitter &e, Value bytes) {
    rowBase = e.byteOffset(firstRowBase, bytes);
  }

private:
  Value firstRowBase, rowBase, swizzled;
  /// Of a row of a block, and of a block.
  int64_t elementBytes, pitch, blockBytes;
};

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETONVVM_EMITTER_H
