//===- AsyncDotPatterns.cpp - products as wgmma -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

namespace {

/// An operand in shared memory, as `wgmma` addresses it. Memory has it in
/// blocks of rows of 128 bytes, whose 16-byte pieces are permuted in eights of
/// rows.
///
/// If K is along memory's rows ("K-major"), a step of 16 of K is 32 bytes on,
/// within a block, and the next block after four. If it is across them, a step
/// is 16 rows on, and the other dimension goes on in the next block.
class SharedOperand {
public:
  /// `isTransposed`: the operand, M×K or N×K, is the transpose of the tile.
  SharedOperand(MemRefType buffer, bool isTransposed)
      : isKMajor(isTransposed == (getSmem(buffer).getOrder() == Order::Col)) {
    blockBytes = getSmem(buffer).getStored(buffer.getShape()).first *
                 SmemAttr::kBlockBytes;
  }

  /// Bits 0-13 are the address, 16-29 the distance of blocks, 32-45 that of
  /// eights of rows, all in 16 bytes; bits 62-63 say 128-byte swizzle.
  Value getDescriptor(Emitter &e, Value pointer) const {
    constexpr int64_t kUnit = 16, kSwizzle128 = 1;
    const int64_t between = isKMajor ? kUnit : blockBytes;
    const uint64_t fixed =
        static_cast<uint64_t>(between / kUnit) << 16 |
        static_cast<uint64_t>(8 * SmemAttr::kBlockBytes / kUnit) << 32 |
        static_cast<uint64_t>(kSwizzle128) << 62;
    Value address = e.toI64(e.div(e.sharedAddress(pointer), kUnit));
    return arith::OrIOp::create(e, address, e.i64(static_cast<int64_t>(fixed)));
  }
  /// How much step `k` adds to the descriptor.
  int64_t getStep(int64_t k) const {
    const int64_t bytes =
        isKMajor ? 32 * (k % 4) + k / 4 * blockBytes : 16 * 128 * k;
    return bytes / 16;
  }

  bool isKMajor;

private:
  int64_t blockBytes;
};

/// Inline assembly with all of a tile's registers as operands that it changes.
class TiedAssembly {
public:
  /// Registers that are only written, or changed.
  void addResults(size_t count) { numResults += count; }
  void addChanged(ValueRange values) {
    for (Value value : values) {
      changed.push_back(value);
      changedNumbers.push_back(numResults++);
      types.push_back(value.getType());
    }
  }
  /// An operand that is read; returns `$number`.
  void addRead(Value value, char constraint) {
    reads.push_back(value);
    readConstraints.push_back(constraint);
  }
  /// The name of a read operand, once all that is changed is known.
  std::string getRead(size_t i) const {
    return "$" + std::to_string(numResults + changed.size() + i);
  }
  static std::string getResult(size_t i) { return "$" + std::to_string(i); }

  SmallVector<Value> create(Emitter &e, StringRef text, Type resultType) {
    std::string constraints;
    auto constraintOf = [](Type type) { return type.isF32() ? "=f" : "=r"; };
    SmallVector<Type> results(numResults, resultType);
    for (auto [number, type] : llvm::zip(changedNumbers, types))
      results[number] = type;
    for (Type type : results)
      constraints += std::string(constraintOf(type)) + ",";
    for (size_t number : changedNumbers)
      constraints += std::to_string(number) + ",";
    for (char constraint : readConstraints)
      constraints += std::string(1, constraint) + ",";
    constraints += "~{memory}";
    SmallVector<Value> operands(changed);
    llvm::append_range(operands, reads);
    if (results.empty()) {
      e.assembly(text, constraints, operands, Type());
      return {};
    }
    if (results.size() == 1)
      return {e.assembly(text, constraints, operands, results.front())};
    Value packed =
        e.assembly(text, constraints, operands,
                   LLVM::LLVMStructType::getLiteral(e.getContext(), results));
    SmallVector<Value> values;
    for (size_t i = 0; i < results.size(); ++i)
      values.push_back(LLVM::ExtractValueOp::create(e, packed, i));
    return values;
  }

private:
  size_t numResults = 0;
  SmallVector<Value> changed, reads;
  SmallVector<size_t> changedNumbers;
  SmallVector<Type> types;
  SmallVector<char> readConstraints;
};

/// Pairs of 16-bit elements are i32 to an instruction.
Value toRegister(Emitter &e, Value value) {
  return isa<VectorType>(value.getType()) ? bitcast(e, e.getI32Type(), value)
                                          : value;
}

Value fromRegister(Emitter &e, Value value, Type type) {
  return bitcast(e, type, value);
}

/// `D += A B`, 16 of K an instruction; stored transposed, `Dᵀ += rhsᵀ lhsᵀ`.
struct ConvertDotAsync : OpConversionPattern<DotAsyncOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotAsyncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    RankedTensorType type = op.getType();
    auto frag = cast<FragAttr>(type.getEncoding());
    const bool swap = frag.getTransposed();
    Value a = swap ? op.getRhs() : op.getLhs();
    Value b = swap ? op.getLhs() : op.getRhs();
    ValueRange aValues = swap ? adaptor.getRhs() : adaptor.getLhs();
    ValueRange bValues = swap ? adaptor.getLhs() : adaptor.getRhs();
    auto bType = dyn_cast<MemRefType>(b.getType());
    if (!bType)
      return rewriter.notifyMatchFailure(op, "B operand not in shared memory");
    const bool transposeA = swap ? !op.getTransposeRhs() : op.getTransposeLhs();
    const bool transposeB = swap ? !op.getTransposeLhs() : op.getTransposeRhs();
    const int64_t depth =
        cast<ShapedType>(a.getType()).getDimSize(transposeA ? 0 : 1);
    const int64_t cols = frag.getStored(type.getShape()).second;
    auto aType = dyn_cast<MemRefType>(a.getType());

    // B is N×K where it is K-major: its transpose.
    SharedOperand bOperand(bType, !transposeB);
    std::optional<SharedOperand> aOperand;
    TiedAssembly assembly;
    const size_t numRegisters = FragAttr::getRegisters(type);
    const bool isFirst = matchPattern(op.getAcc(), m_AnyZeroFloat());
    if (isFirst)
      assembly.addResults(numRegisters);
    else
      assembly.addChanged(adaptor.getAcc());
    assembly.addRead(bOperand.getDescriptor(e, bValues.front()), 'l');
    if (aType) {
      aOperand.emplace(aType, transposeA);
      assembly.addRead(aOperand->getDescriptor(e, aValues.front()), 'l');
    } else {
      for (Value pair : aValues)
        assembly.addRead(toRegister(e, pair), 'r');
    }

    StringRef element = getElementTypeOrSelf(a).isBF16() ? "bf16" : "f16";
    std::string instruction =
        ("wgmma.mma_async.sync.aligned.m64n" + std::to_string(cols) +
         "k16.f32." + element + "." + element + " {")
            .str();
    for (size_t i = 0; i < numRegisters; ++i)
      instruction += (i ? ", " : "") + TiedAssembly::getResult(i);
    instruction += "}, ";
    std::string text = "{ .reg .b64 a, b; .reg .pred p; setp.ne.b32 p, 0, 0;";
    auto getStepped = [&](StringRef name, size_t read,
                          const SharedOperand &operand,
                          int64_t k) -> std::string {
      if (k == 0)
        return assembly.getRead(read);
      text += (" add.s64 " + name + ", " + assembly.getRead(read) + ", " +
               std::to_string(operand.getStep(k)) + ";")
                  .str();
      return name.str();
    };
    for (int64_t k = 0; k < depth / 16; ++k) {
      std::string bName = getStepped("b", 0, bOperand, k), aName;
      if (aOperand) {
        aName = getStepped("a", 1, *aOperand, k);
      } else {
        aName = "{";
        for (int64_t i = 0; i < 4; ++i)
          aName += (i ? ", " : "") + assembly.getRead(1 + 4 * k + i);
        aName += "}";
      }
      text += " " + instruction + aName + ", " + bName +
              (isFirst && k == 0 ? ", p" : ", 1") + ", 1, 1";
      if (aOperand)
        text += aOperand->isKMajor ? ", 0" : ", 1";
      text += bOperand.isKMajor ? ", 0;" : ", 1;";
    }
    text += " }";
    rewriter.replaceOpWithMultiple(op,
                                   {assembly.create(e, text, e.getF32Type())});
    return success();
  }
};

/// An instruction that changes no register, but after which tiles are others to
/// LLVM: none of their uses is moved before it.
LogicalResult replaceByTied(Operation *op, StringRef text,
                            ArrayRef<ValueRange> tiles,
                            ConversionPatternRewriter &rewriter) {
  Emitter e(op->getLoc(), rewriter);
  TiedAssembly assembly;
  SmallVector<Value> registers;
  for (ValueRange tile : tiles)
    for (Value value : tile)
      registers.push_back(toRegister(e, value));
  assembly.addChanged(registers);
  SmallVector<Value> values = assembly.create(e, text, Type());
  SmallVector<SmallVector<Value>> results;
  const auto *next = values.begin();
  for (ValueRange tile : tiles) {
    results.emplace_back();
    for (Value value : tile)
      results.back().push_back(fromRegister(e, *next++, value.getType()));
  }
  if (results.empty())
    rewriter.eraseOp(op);
  else
    rewriter.replaceOpWithMultiple(op, std::move(results));
  return success();
}

struct ConvertDotFence : OpConversionPattern<DotFenceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotFenceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceByTied(op, "wgmma.fence.sync.aligned;", adaptor.getTiles(),
                         rewriter);
  }
};

struct ConvertDotCommit : OpConversionPattern<DotCommitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotCommitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter e(op.getLoc(), rewriter);
    e.assembly("wgmma.commit_group.sync.aligned;", "~{memory}", {}, Type());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertDotWait : OpConversionPattern<DotWaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(DotWaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    return replaceByTied(op,
                         "wgmma.wait_group.sync.aligned " +
                             std::to_string(op.getPendingAttr().getInt()) + ";",
                         adaptor.getTiles(), rewriter);
  }
};

} // namespace

void tile::populateAsyncDotPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns) {
  patterns
      .add<ConvertDotAsync, ConvertDotFence, ConvertDotCommit, ConvertDotWait>(
          converter, patterns.getContext());
}
