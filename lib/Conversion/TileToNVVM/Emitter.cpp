//===- Emitter.cpp - arithmetic on threads, fragments and addresses -------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

LLVM::LLVMPointerType tile::getPointerType(MLIRContext *context,
                                           NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(context, static_cast<unsigned>(space));
}

Value Emitter::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}

Value Emitter::i64(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}

Value Emitter::f32(double value) {
  return arith::ConstantOp::create(*this,
                                   getF32FloatAttr(static_cast<float>(value)));
}

Value Emitter::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}

Value Emitter::add(Value a, int64_t b) { return b == 0 ? a : add(a, i32(b)); }

Value Emitter::mul(Value a, int64_t b) {
  return b == 1 ? a : createOrFold<arith::MulIOp>(a, i32(b));
}

Value Emitter::div(Value a, int64_t b) {
  return b == 1 ? a : createOrFold<arith::DivUIOp>(a, i32(b));
}

Value Emitter::rem(Value a, int64_t b) {
  return b == 1 ? i32(0) : createOrFold<arith::RemUIOp>(a, i32(b));
}

Value Emitter::exclusiveOr(Value a, Value b) {
  return createOrFold<arith::XOrIOp>(a, b);
}

Value Emitter::exclusiveOr(Value a, int64_t b) {
  return b == 0 ? a : exclusiveOr(a, i32(b));
}

Value Emitter::toI32(Value index) {
  return createOrFold<arith::IndexCastOp>(getI32Type(), index);
}

Value Emitter::toI64(Value value) {
  if (value.getType().isIndex())
    return createOrFold<arith::IndexCastOp>(getI64Type(), value);
  return createOrFold<arith::ExtUIOp>(getI64Type(), value);
}

// A thread asks its own lane: by its number, at a distance of zero, or by a
// mask of zero.
Value Emitter::opaqueThreadId(Shuffle shuffle) {
  auto getText = [&]() -> StringRef {
    switch (shuffle) {
    case Shuffle::Copy:
      return "shfl.sync.idx.b32 $0, $1, $1, 31, -1;";
    case Shuffle::Product:
      return "shfl.sync.bfly.b32 $0, $1, 0, 31, -1;";
    case Shuffle::Write:
      return "shfl.sync.up.b32 $0, $1, 0, 0, -1;";
    case Shuffle::Store:
      return "shfl.sync.down.b32 $0, $1, 0, 31, -1;";
    case Shuffle::Load: // In segments of one lane.
      return "shfl.sync.bfly.b32 $0, $1, 0, 7967, -1;";
    }
    llvm_unreachable("all shuffles are handled");
  };
  Value thread = NVVM::ThreadIdXOp::create(*this, getI32Type());
  return assembly(getText(), "=r,r", {thread}, getI32Type());
}

// Before or after the conversion of the kernel.
int64_t Emitter::getNumWarps() {
  Operation *parent = getInsertionBlock()->getParentOp();
  auto kernel = parent->getParentOfType<gpu::GPUFuncOp>();
  if (auto self = dyn_cast<gpu::GPUFuncOp>(parent))
    kernel = self;
  if (kernel)
    return kernel.getKnownBlockSizeAttr()[0] / 32;
  auto function = dyn_cast<LLVM::LLVMFuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<LLVM::LLVMFuncOp>();
  return function->getAttrOfType<DenseI32ArrayAttr>(
             NVVM::NVVMDialect::getReqntidAttrName())[0] /
         32;
}

Value Emitter::shuffle(NVVM::ShflKind kind, Value value, Value lane) {
  Type type = value.getType();
  const unsigned bits = type.getIntOrFloatBitWidth();
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(*this, word.getType(), i32(-1), word, lane,
                                i32(kind == NVVM::ShflKind::up ? 0 : 31), kind,
                                UnitAttr());
  };
  if (bits == 32)
    return exchange(value);
  Value word = arith::BitcastOp::create(*this, getIntegerType(bits), value);
  if (bits == 16) {
    word = exchange(arith::ExtUIOp::create(*this, getI32Type(), word));
    word = arith::TruncIOp::create(*this, getI16Type(), word);
    return arith::BitcastOp::create(*this, type, word);
  }
  Value low = exchange(arith::TruncIOp::create(*this, getI32Type(), word));
  Value high = exchange(arith::TruncIOp::create(
      *this, getI32Type(), arith::ShRUIOp::create(*this, word, i64(32))));
  word = arith::OrIOp::create(
      *this, arith::ShLIOp::create(*this, toI64(high), i64(32)), toI64(low));
  return arith::BitcastOp::create(*this, type, word);
}

Value Emitter::loadIf(Value condition, Type type,
                      function_ref<Value(Emitter &)> getAddress,
                      unsigned alignment) {
  auto guarded = scf::IfOp::create(
      *this, condition,
      [&](OpBuilder &b, Location loc) {
        Emitter nested(loc, b);
        Value value =
            LLVM::LoadOp::create(nested, type, getAddress(nested), alignment);
        scf::YieldOp::create(nested, value);
      },
      [&](OpBuilder &b, Location loc) {
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
        scf::YieldOp::create(b, loc, zero);
      });
  return guarded.getResult(0);
}

Value Emitter::byteOffset(Value base, Value offset) {
  return LLVM::GEPOp::create(*this, base.getType(), getI8Type(), base,
                             ValueRange{offset});
}

Value Emitter::sharedAddress(Value pointer) {
  return LLVM::PtrToIntOp::create(*this, getI32Type(), pointer);
}

Value Emitter::getSignal(Value signals, Value slot) {
  constexpr int64_t kBytes = 8;
  return byteOffset(signals, mul(toI32(slot), kBytes));
}

Value Emitter::assembly(StringRef text, StringRef constraints,
                        ValueRange operands, Type result) {
  auto op = LLVM::InlineAsmOp::create(
      *this, result ? TypeRange(result) : TypeRange(), operands,
      getStringAttr(text), getStringAttr(constraints),
      /*has_side_effects=*/getUnitAttr(), /*is_align_stack=*/UnitAttr(),
      LLVM::TailCallKindAttr::get(getContext(), LLVM::TailCallKind::None),
      LLVM::AsmDialectAttr::get(getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return result ? op.getRes() : Value();
}

Value Emitter::atLeast(Value x, double least) {
  Value bound = arith::ConstantOp::create(
      *this, getFloatAttr(mlir::cast<FloatType>(x.getType()), least));
  Value isLess =
      arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, x, bound);
  return arith::SelectOp::create(*this, isLess, bound, x);
}

Value Emitter::roundToTF32(Value value) {
  Value bits = NVVM::ConvertFloatToTF32Op::create(
      *this, getI32Type(), value, NVVM::FPRoundingMode::RNA,
      NVVM::SaturationMode::NONE, /*relu=*/false);
  return arith::BitcastOp::create(*this, getF32Type(), bits);
}

Value Emitter::power2(Value x) {
  return LLVM::CallIntrinsicOp::create(
             *this, getF32Type(), getStringAttr("llvm.nvvm.ex2.approx.ftz.f"),
             ValueRange{x})
      .getResult(0);
}

ThreadPlace::ThreadPlace(Emitter &e, FragAttr frag, Shuffle shuffle) {
  thread = e.opaqueThreadId(shuffle);
  Value warp = e.div(thread, 32);
  if (frag.getWarps() < e.getNumWarps())
    warp = e.rem(warp, frag.getWarps());
  lane = e.rem(thread, 32);
  rowWarp = e.div(warp, frag.getColWarps());
  colWarp = e.rem(warp, frag.getColWarps());
}

Value tile::isOfLayout(Emitter &e, FragAttr frag) {
  Value thread = e.opaqueThreadId(Shuffle::Write);
  return arith::CmpIOp::create(e, arith::CmpIPredicate::slt, thread,
                               e.i32(32 * frag.getWarps()));
}

FragmentShape::FragmentShape(RankedTensorType type)
    : frag(cast<FragAttr>(type.getEncoding())) {
  auto [storedRows, storedCols] = frag.getStored(type.getShape());
  rows = storedRows / frag.getRowWarps();
  cols = storedCols / frag.getColWarps();
  rowPieces = rows / 16;
  colPieces = cols / 8;
}

Value FragmentShape::getRow(Emitter &e, const ThreadPlace &place) const {
  return e.mul(place.rowWarp, rows);
}

Value FragmentShape::getCol(Emitter &e, const ThreadPlace &place) const {
  return e.mul(place.colWarp, cols);
}

std::pair<Value, Value>
FragmentShape::getFirstElement(Emitter &e, const ThreadPlace &place) const {
  Value row = e.add(getRow(e, place), e.div(place.lane, 4));
  Value col = e.add(getCol(e, place), e.mul(e.rem(place.lane, 4), 2));
  return {row, col};
}

void FragmentShape::forEachElement(
    function_ref<void(int64_t, int64_t, int64_t)> visit) const {
  for (int64_t mp = 0; mp < rowPieces; ++mp)
    for (int64_t np = 0; np < colPieces; ++np)
      for (int64_t i = 0; i < 4; ++i)
        visit(getRegister(mp, np, 4) + i, 16 * mp + 8 * (i / 2),
              8 * np + i % 2);
}

/// s(r) of a row of `pieces` pieces of 8 elements in a block
/// (`#hla_tile.smem`).
static Value getSwizzle(Emitter &e, Value row, int64_t pieces,
                        int64_t elementBytes) {
  if (elementBytes == 2)
    return pieces == 8 ? e.rem(row, 8) : e.rem(e.div(row, 8 / pieces), pieces);
  Value bit1 = e.rem(e.div(row, 2), 2);
  if (pieces < 4)
    return bit1;
  Value bits02 = e.rem(e.exclusiveOr(row, e.div(row, 4)), 2);
  return e.add(e.mul(bit1, 2), bits02);
}

// Piece p of row r of a block lies at place p xor s(r). With p = p₀ + p₁, where
// the lane's p₀ and the constant p₁ share no bits, p xor s = (p₀ xor s) xor p₁;
// and s(r₀ + r₁) = s(r₀) for a multiple r₁ of 8. So one xor with a constant and
// one addition reach any place.
SharedAddress::SharedAddress(Emitter &e, MemRefType buffer, Value base,
                             Value row, Value piece)
    : elementBytes(getStorageBits(buffer.getElementType()) / 8) {
  auto smem = cast<SmemAttr>(buffer.getMemorySpace());
  const auto [rows, cols] = smem.getStored(buffer.getShape());
  pitch = std::min<int64_t>(elementBytes * cols, SmemAttr::kBlockBytes);
  blockBytes = rows * pitch;
  const int64_t pieces = pitch / elementBytes / 8;
  Value inBlock = piece, offset = e.mul(row, pitch);
  if (cols > 8 * pieces) {
    inBlock = e.rem(piece, pieces);
    offset = e.add(offset, e.mul(e.div(piece, pieces), blockBytes));
  }
  Value swizzle = getSwizzle(e, row, pieces, elementBytes);
  swizzled = e.mul(e.exclusiveOr(inBlock, swizzle), 8 * elementBytes);
  firstRowBase = rowBase = e.byteOffset(base, offset);
}

Value SharedAddress::get(Emitter &e, int64_t rows, int64_t cols) const {
  const int64_t bytes = elementBytes * cols;
  Value offset = e.exclusiveOr(swizzled, bytes % pitch);
  return e.byteOffset(rowBase,
                      e.add(offset, rows * pitch + bytes / pitch * blockBytes));
}

// From an even row to the next, s changes in its lowest bit, which counts for
// rows of four pieces and more.
Value SharedAddress::getNextRow(Emitter &e, int64_t rows, int64_t cols) const {
  const bool isLong = pitch == SmemAttr::kBlockBytes;
  return get(e, rows + 1, isLong ? cols ^ 8 : cols);
}
