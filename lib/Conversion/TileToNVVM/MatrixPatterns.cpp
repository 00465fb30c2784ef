//===- MatrixPatterns.cpp - products and matrix transfers as mma.sync -*- C++
//-*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// Two neighbouring 16-bit elements, as instructions want them.
Type getPackedType(Emitter &e, Type elementType) {
  return elementType.isBF16() ? cast<Type>(e.getI32Type())
                              : cast<Type>(VectorType::get({2}, elementType));
}

Value bitcast(Emitter &e, Type type, Value value) {
  return value.getType() == type ? value
                                 : LLVM::BitcastOp::create(e, type, value);
}

NVVM::LdStMatrixShapeAttr getMatrixShape(Emitter &e) {
  return NVVM::LdStMatrixShapeAttr::get(e.getContext(), 8, 8);
}

/// Loads `num` (2 or 4) matrices of 8×8, as i32 registers of two elements.
SmallVector<Value> loadMatrices(Emitter &e, Value address, unsigned num,
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

/// Four matrices of 8×8 that make up 16×16 elements of a fragment are read and
/// written at once: matrix `l / 8` has its row `l mod 8` at the address of lane
/// `l`. The order is that of an A operand and of two pieces of a fragment:
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

SmemAttr getSmem(MemRefType type) {
  return cast<SmemAttr>(type.getMemorySpace());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The A operand of a product, `P×K`: from registers or shared memory.
class OperandA {
public:
  /// `transposed` says that the operand is the transpose of the tile.
  OperandA(Emitter &e, Type type, ValueRange values, bool transposed, Value row,
           Value lane) {
    if (auto buffer = dyn_cast<MemRefType>(type)) {
      // Rows of the operand are rows in memory, or columns.
      isTransposedInMemory =
          transposed != (getSmem(buffer).getOrder() == Order::Col);
      address.emplace(e, buffer, values.front(), row, e.i32(0), lane,
                      isTransposedInMemory);
      return;
    }
    pairs = values;
    colPieces = FragmentShape(cast<RankedTensorType>(type)).colPieces;
  }

  /// Rows 16·m…, columns 16·k… of this warp's rows.
  SmallVector<Value> get(Emitter &e, Type packed, int64_t m, int64_t k) const {
    SmallVector<Value> operand;
    if (address)
      operand = loadMatrices(e, address->get(e, 16 * m, 16 * k), 4,
                             isTransposedInMemory);
    else
      llvm::append_range(operand, pairs.slice((m * colPieces + 2 * k) * 2, 4));
    for (Value &value : operand)
      value = bitcast(e, packed, value);
    return operand;
  }

private:
  std::optional<BlockAddress> address;
  bool isTransposedInMemory = false;
  ValueRange pairs;
  int64_t colPieces = 0;
};

/// The B operand, `K×R`, from shared memory. In the instruction's order its
/// columns are rows of what a plain load gives, so a plain load reads `Bᵀ` by
/// rows. Two column pieces at a time, or one where the warp has no more:
///
///   0: k 0-7, cols 0-7   1: k 8-15, cols 0-7   2, 3: the same, cols 8-15
class OperandB {
public:
  OperandB(Emitter &e, MemRefType buffer, Value base, bool transposed,
           Value col, Value lane, bool isWide)
      : isWide(isWide),
        isTransposedInMemory(transposed ==
                             (getSmem(buffer).getOrder() == Order::Col)),
        // A block of Bᵀ, its rows the columns of B, with matrices 1 and 2 of
        // the order above exchanged.
        address(e, buffer, base, col, e.i32(0), exchangeMiddle(e, lane, isWide),
                isTransposedInMemory) {}

  SmallVector<Value> get(Emitter &e, Type packed, int64_t k, int64_t n) const {
    SmallVector<Value> operand = loadMatrices(
        e, address.get(e, 8 * n, 16 * k), isWide ? 4 : 2, isTransposedInMemory);
    for (Value &value : operand)
      value = bitcast(e, packed, value);
    return operand;
  }

private:
  /// Lane bits 3 and 4 change places. Of a narrow load only the first 16 lanes'
  /// addresses count.
  static Value exchangeMiddle(Emitter &e, Value lane, bool isWide) {
    Value low = e.rem(e.div(lane, 8), 2);
    Value high = isWide ? e.div(lane, 16) : e.i32(0);
    return e.add(e.rem(lane, 8), e.add(e.mul(low, 16), e.mul(high, 8)));
  }

  bool isWide, isTransposedInMemory;
  BlockAddress address;
};

/// A product stored by rows is `D += A B` with `A = lhs`, `B = rhs`; stored
/// transposed it is `Dᵀ += rhsᵀ lhsᵀ`. Every warp computes its block, 16×8 by
/// 16×8 piece, sixteen columns of A at a time.
struct ConvertDot : OpConversionPattern<DotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    FragmentShape shape(op.getType());
    const bool swap = shape.frag.getTransposed();
    Value a = swap ? op.getRhs() : op.getLhs();
    Value b = swap ? op.getLhs() : op.getRhs();
    auto bType = dyn_cast<MemRefType>(b.getType());
    if (!bType)
      return rewriter.notifyMatchFailure(op, "B operand not in shared memory");
    bool transposeA = swap ? !op.getTransposeRhs() : op.getTransposeLhs();
    bool transposeB = swap ? !op.getTransposeLhs() : op.getTransposeRhs();
    const int64_t depth =
        cast<ShapedType>(a.getType()).getDimSize(transposeA ? 0 : 1);
    if (depth % 16)
      return rewriter.notifyMatchFailure(op, "not in steps of 16 columns of A");
    const bool isWide = shape.colPieces % 2 == 0;

    ThreadPlace place(e, shape.frag, Shuffle::Product);
    OperandA operandA(e, a.getType(),
                      swap ? adaptor.getRhs() : adaptor.getLhs(), transposeA,
                      shape.getRow(e, place), place.lane);
    OperandB operandB(e, bType,
                      (swap ? adaptor.getLhs() : adaptor.getRhs()).front(),
                      transposeB, shape.getCol(e, place), place.lane, isWide);

    Type elementType = getElementTypeOrSelf(a);
    Type packed = getPackedType(e, elementType);
    SmallVector<Value> acc(adaptor.getAcc());
    for (int64_t k = 0; k < depth / 16; ++k) {
      SmallVector<SmallVector<Value>> aRows;
      for (int64_t m = 0; m < shape.rowPieces; ++m)
        aRows.push_back(operandA.get(e, packed, m, k));
      for (int64_t n = 0; n < shape.colPieces; n += isWide ? 2 : 1) {
        SmallVector<Value> bCols = operandB.get(e, packed, k, n);
        for (int64_t m = 0; m < shape.rowPieces; ++m)
          for (size_t half = 0; half < bCols.size() / 2; ++half)
            multiply(e, elementType, aRows[m],
                     ArrayRef(bCols).slice(2 * half, 2),
                     MutableArrayRef(acc).slice(
                         shape.getRegister(m, n + half, 4), 4));
      }
    }
    rewriter.replaceOpWithMultiple(op, {acc});
    return success();
  }

  /// acc += a b, of 16×16 and 16×8.
  static void multiply(Emitter &e, Type elementType, ArrayRef<Value> a,
                       ArrayRef<Value> b, MutableArrayRef<Value> acc) {
    NVVM::MMATypes type =
        elementType.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
    Type result = LLVM::LLVMStructType::getLiteral(
        e.getContext(), SmallVector<Type>(4, e.getF32Type()));
    Value product = NVVM::MmaOp::create(
        e, result, a, b, ValueRange(acc), ArrayRef<int64_t>{16, 8, 16},
        std::nullopt, std::nullopt, std::array{type, type},
        std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(acc))
      value = LLVM::ExtractValueOp::create(e, product, i);
  }
};

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// Whether memory has the stored tile of a fragment transposed.
bool isTransposedIn(FragAttr frag, MemRefType buffer) {
  return frag.getTransposed() != (getSmem(buffer).getOrder() == Order::Col);
}

BlockAddress getBlockAddress(Emitter &e, const FragmentShape &shape,
                             MemRefType buffer, Value base) {
  ThreadPlace place(e, shape.frag, Shuffle::Write);
  return BlockAddress(e, buffer, base, shape.getRow(e, place),
                      shape.getCol(e, place), place.lane,
                      isTransposedIn(shape.frag, buffer));
}

struct ConvertRead : OpConversionPattern<ReadOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(ReadOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    RankedTensorType type = op.getTile().getType();
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    FragmentShape shape(type);
    // Two column pieces at a time, or the one that the warp has.
    const bool isWide = shape.colPieces % 2 == 0;
    BlockAddress address =
        getBlockAddress(e, shape, buffer, adaptor.getBuffer().front());
    auto pairType = VectorType::get({2}, type.getElementType());
    SmallVector<Value> pairs;
    for (int64_t m = 0; m < shape.rowPieces; ++m)
      for (int64_t n = 0; n < shape.colPieces; n += isWide ? 2 : 1)
        for (Value matrix :
             loadMatrices(e, address.get(e, 16 * m, 8 * n), isWide ? 4 : 2,
                          isTransposedIn(shape.frag, buffer)))
          pairs.push_back(bitcast(e, pairType, matrix));
    rewriter.replaceOpWithMultiple(op, {pairs});
    return success();
  }
};

struct ConvertWrite : OpConversionPattern<WriteOp> {
  ConvertWrite(const TypeConverter &converter, MLIRContext *context,
               const TargetInfo &target)
      : OpConversionPattern(converter, context), target(target) {}

  LogicalResult
  matchAndRewrite(WriteOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    auto buffer = cast<MemRefType>(op.getBuffer().getType());
    Value base = adaptor.getBuffer().front();
    FragmentShape shape(op.getTile().getType());
    SmallVector<Value> matrices;
    for (Value pair : adaptor.getTile())
      matrices.push_back(bitcast(e, e.getI32Type(), pair));
    if (target.hasStmatrix && shape.colPieces % 2 == 0)
      storeMatrices(e, shape, buffer, base, matrices);
    else
      storePairs(e, shape, buffer, base, matrices);
    rewriter.eraseOp(op);
    return success();
  }

  static void storeMatrices(Emitter &e, const FragmentShape &shape,
                            MemRefType buffer, Value base,
                            ArrayRef<Value> matrices) {
    bool transposed = isTransposedIn(shape.frag, buffer);
    BlockAddress address = getBlockAddress(e, shape, buffer, base);
    for (int64_t m = 0; m < shape.rowPieces; ++m)
      for (int64_t n = 0; n < shape.colPieces; n += 2)
        NVVM::StMatrixOp::create(
            e, address.get(e, 16 * m, 8 * n),
            matrices.slice(shape.getRegister(m, n, 2), 4),
            transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
            getMatrixShape(e), NVVM::LdStMatrixEltType::B16);
  }

  /// Without stmatrix: lane 4g + c has elements (g, 2c) and (g, 2c+1) of every
  /// matrix, after a transposition in the warp where memory has it transposed,
  /// and stores them as one word.
  static void storePairs(Emitter &e, const FragmentShape &shape,
                         MemRefType buffer, Value base,
                         ArrayRef<Value> matrices) {
    bool transposed = isTransposedIn(shape.frag, buffer);
    ThreadPlace place(e, shape.frag, Shuffle::Write);
    Value row = shape.getRow(e, place), col = shape.getCol(e, place);
    if (transposed)
      std::swap(row, col);
    base = e.byteOffset(base, e.mul(e.rem(place.lane, 4), 4));
    SharedAddress address(e, buffer, base, e.add(row, e.div(place.lane, 4)),
                          e.div(col, 8));
    for (int64_t m = 0; m < shape.rowPieces; ++m)
      for (int64_t n = 0; n < shape.colPieces; ++n)
        for (int64_t half = 0; half < 2; ++half) {
          Value matrix = matrices[shape.getRegister(m, n, 2) + half];
          int64_t rows = 16 * m + 8 * half, cols = 8 * n;
          if (transposed) {
            matrix = e.assembly("movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;",
                                "=r,r", {matrix}, e.getI32Type());
            std::swap(rows, cols);
          }
          LLVM::StoreOp::create(e, matrix, address.get(e, rows, cols),
                                /*alignment=*/4);
        }
  }

  const TargetInfo &target;
};

} // namespace

void tile::populateMatrixPatterns(const TypeConverter &converter,
                                  const TargetInfo &target,
                                  RewritePatternSet &patterns) {
  patterns.add<ConvertDot, ConvertRead>(converter, patterns.getContext());
  patterns.add<ConvertWrite>(converter, patterns.getContext(), target);
}
