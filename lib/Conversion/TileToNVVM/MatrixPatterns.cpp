//===- MatrixPatterns.cpp - products and matrix transfers as mma.sync -----===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Patterns.h"
#include "ProductKinds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// Registers of a thread that the loop around an operation carries.
int64_t countCarried(Operation *op) {
  int64_t count = 0;
  auto loop = op->getParentOfType<scf::ForOp>();
  for (Type type : loop ? TypeRange(loop.getResultTypes()) : TypeRange()) {
    auto tile = dyn_cast<RankedTensorType>(type);
    count += tile ? FragAttr::getRegisters(tile) : 1;
  }
  return count;
}

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
    ProductKind kind(getElementTypeOrSelf(a), getElementTypeOrSelf(b),
                     op.getBf16x3());
    // Of operands in parts one column piece at a time, to save registers.
    const bool isWide = shape.colPieces % 2 == 0 && !kind.hasParts();

    ThreadPlace place(e, shape.frag, Shuffle::Product);
    OperandA operandA(e, a.getType(),
                      swap ? adaptor.getRhs() : adaptor.getLhs(), transposeA,
                      shape.getRow(e, place), place.lane);
    OperandB operandB(e, bType,
                      (swap ? adaptor.getLhs() : adaptor.getRhs()).front(),
                      transposeB, shape.getCol(e, place), place.lane, isWide);
    ProductSum sum(e, kind, adaptor.getAcc(),
                   matchPattern(op.getAcc(), m_AnyZeroFloat()), place.thread,
                   countCarried(op) <= 64 ? 4 : 2);
    for (int64_t k = 0; k < depth / 16; ++k) {
      SmallVector<ProductKind::Parts> aRows;
      for (int64_t n = 0; n < shape.colPieces; n += isWide ? 2 : 1) {
        if (Value zero = sum.awaitEarlier(e)) {
          operandA.displace(e, zero);
          operandB.displace(e, zero);
        }
        if (n == 0)
          for (int64_t m = 0; m < shape.rowPieces; ++m)
            aRows.push_back(kind.prepareA(e, operandA.get(e, m, k)));
        SmallVector<ProductKind::Parts> bCols = llvm::map_to_vector(
            operandB.get(e, k, n),
            [&](ArrayRef<Value> piece) { return kind.prepareB(e, piece); });
        for (int64_t m = 0; m < shape.rowPieces; ++m)
          for (auto [i, bCol] : llvm::enumerate(bCols))
            sum.add(e, aRows[m], bCol, shape.getRegister(m, n + i, 4));
      }
    }
    rewriter.replaceOpWithMultiple(op, {sum.getRegisters()});
    return success();
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

bool is16Bit(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 16;
}

/// Where a thread's pairs of a 32-bit fragment are in a buffer.
PairAddress getPairAddress(Emitter &e, const FragmentShape &shape,
                           MemRefType buffer, Value base) {
  ThreadPlace place(e, shape.frag, Shuffle::Write);
  return PairAddress(e, buffer, base, shape.getRow(e, place),
                     shape.getCol(e, place), place.lane,
                     isTransposedIn(shape.frag, buffer));
}

/// Calls `visit(register, rows, cols)` for every pair of neighbours of a 32-bit
/// fragment.
void forEachPair(const FragmentShape &shape,
                 function_ref<void(int64_t, int64_t, int64_t)> visit) {
  for (int64_t m = 0; m < shape.rowPieces; ++m)
    for (int64_t n = 0; n < shape.colPieces; ++n)
      for (int64_t half : {0, 1})
        visit(shape.getRegister(m, n, 4) + 2 * half, 16 * m + 8 * half, 8 * n);
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
    if (!is16Bit(type)) {
      PairAddress address =
          getPairAddress(e, shape, buffer, adaptor.getBuffer().front());
      SmallVector<Value> registers(FragAttr::getRegisters(type));
      forEachPair(shape, [&](int64_t i, int64_t rows, int64_t cols) {
        std::tie(registers[i], registers[i + 1]) = address.load(e, rows, cols);
      });
      rewriter.replaceOpWithMultiple(op, {registers});
      return success();
    }
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
    if (op.getOnce()) {
      auto guarded = scf::IfOp::create(e, isOfLayout(e, shape.frag),
                                       /*withElseRegion=*/false);
      e.setInsertionPointToStart(guarded.thenBlock());
    }
    write(e, shape, buffer, base, adaptor.getTile());
    rewriter.eraseOp(op);
    return success();
  }

  void write(Emitter &e, const FragmentShape &shape, MemRefType buffer,
             Value base, ValueRange registers) const {
    if (!is16Bit(buffer)) {
      PairAddress address = getPairAddress(e, shape, buffer, base);
      forEachPair(shape, [&](int64_t i, int64_t rows, int64_t cols) {
        address.store(e, rows, cols, registers[i], registers[i + 1]);
      });
      return;
    }
    SmallVector<Value> matrices;
    for (Value pair : registers)
      matrices.push_back(bitcast(e, e.getI32Type(), pair));
    if (target.hasStmatrix && shape.colPieces % 2 == 0)
      storeMatrices(e, shape, buffer, base, matrices);
    else
      storePairs(e, shape, buffer, base, matrices);
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
