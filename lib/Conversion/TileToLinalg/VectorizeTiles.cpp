//===- VectorizeTiles.cpp - linalg as vector loops --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops over pieces of rows. A piece is as wide as a vector register; what is
// left of a row is cut into powers of two, so that any width works.
//
// A product keeps a block of the result in registers,
//
//   c[i..i+R, j..j+P] += Σ_k a[i..i+R, k] b[k, j..j+P],
//
// R rows by P vectors: each step of the loop over k loads P vectors of b and
// broadcasts R elements of a for R·P multiply-adds. A panel of P vectors of b
// is used for all rows before the next one, so that it stays in the first
// cache.
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/TileToLinalg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLAVECTORIZETILES
#include "hla/Conversion/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

namespace {

/// Emits loops of vector operations before one linalg operation.
class LoopEmitter {
public:
  LoopEmitter(Operation *op, int64_t vectorBits)
      : b(op), loc(op->getLoc()), vectorBits(vectorBits) {}

  // Each fails, with an error, on an operation that a tile program does not
  // make.
  LogicalResult emitElementwise(linalg::LinalgOp op);
  LogicalResult emitCopy(memref::CopyOp op);
  LogicalResult emitTranspose(linalg::TransposeOp op);
  /// `startsAtZero`: the result's former content is not added.
  LogicalResult emitProduct(linalg::MatmulOp op, bool startsAtZero);

private:
  using PieceFn = function_ref<void(Value, int64_t)>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, int64_t offset) {
    return offset ? b.createOrFold<arith::AddIOp>(loc, x, index(offset)) : x;
  }
  Value extent(Value buffer, int64_t dim) {
    return getValueOrCreateConstantIndexOp(
        b, loc, memref::getMixedSize(b, loc, buffer, dim));
  }
  VectorType vectorOf(int64_t width, Type element) {
    return VectorType::get({width}, element);
  }
  Value load(Value buffer, ValueRange at, int64_t width) {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return vector::LoadOp::create(b, loc, vectorOf(width, element), buffer, at);
  }
  Value broadcast(Value scalar, int64_t width) {
    return vector::BroadcastOp::create(
        b, loc, vectorOf(width, scalar.getType()), scalar);
  }

  /// body(i) for i in [0, count) by `step`.
  void forEach(Value count, int64_t step, function_ref<void(Value)> body);
  /// body(column, width) for pieces of at most `lanes` that cover `cols`
  /// columns.
  void forEachPiece(OpFoldResult cols, int64_t lanes, PieceFn body);
  /// The body of an elementwise operation on the piece at `at`.
  LogicalResult emitPiece(linalg::LinalgOp op, ValueRange at, int64_t width);

  OpBuilder b;
  Location loc;
  int64_t vectorBits;
};

} // namespace

void LoopEmitter::forEach(Value count, int64_t step,
                          function_ref<void(Value)> body) {
  std::optional<int64_t> constant = getConstantIntValue(count);
  if (constant && *constant <= step) {
    if (*constant > 0)
      body(index(0));
    return;
  }
  auto loop = scf::ForOp::create(b, loc, index(0), count, index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void LoopEmitter::forEachPiece(OpFoldResult cols, int64_t lanes, PieceFn body) {
  std::optional<int64_t> constant = getConstantIntValue(cols);
  if (!constant) {
    Value count = getValueOrCreateConstantIndexOp(b, loc, cols);
    forEach(count, 1, [&](Value col) { body(col, 1); });
    return;
  }
  int64_t begin = *constant - *constant % lanes;
  forEach(index(begin), lanes, [&](Value col) { body(col, lanes); });
  for (int64_t width = lanes / 2; width; width /= 2)
    if (*constant - begin >= width) {
      body(index(begin), width);
      begin += width;
    }
}

//===----------------------------------------------------------------------===//
// Elementwise operations and copies
//===----------------------------------------------------------------------===//

/// Bits of the widest element that `op` computes with.
static int64_t getElementBits(linalg::LinalgOp op) {
  int64_t bits = 8;
  auto include = [&](Type type) {
    type = getElementTypeOrSelf(type);
    if (type.isIntOrFloat())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (Value operand : op->getOperands())
    include(operand.getType());
  for (Operation &inner : *op.getBlock())
    for (Type type : inner.getResultTypes())
      include(type);
  return bits;
}

LogicalResult LoopEmitter::emitPiece(linalg::LinalgOp op, ValueRange at,
                                     int64_t width) {
  int64_t innermost = op.getNumLoops() - 1;
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    Value value = operand.get();
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (isa<MemRefType>(value.getType())) {
      SmallVector<Value> indices;
      for (AffineExpr result : map.getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(result);
        if (!dim || (dim.getPosition() == innermost &&
                     indices.size() + 1 != map.getNumResults()))
          return op.emitOpError("expected operands to be read along their rows "
                                "(by vectors), but got the map ")
                 << AffineMapAttr::get(map);
        indices.push_back(at[dim.getPosition()]);
      }
      value = map.isFunctionOfDim(innermost)
                  ? load(value, indices, width)
                  : broadcast(memref::LoadOp::create(b, loc, value, indices),
                              width);
    } else {
      value = broadcast(value, width);
    }
    mapping.map(op.getMatchingBlockArgument(&operand), value);
  }

  auto lookup = [&](Value value) {
    Value mapped = mapping.lookupOrNull(value);
    if (!mapped)
      mapping.map(value, mapped = broadcast(value, width));
    return mapped;
  };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    Value result;
    if (auto position = dyn_cast<linalg::IndexOp>(inner)) {
      result = broadcast(at[position.getDim()], width);
      if (static_cast<int64_t>(position.getDim()) == innermost) {
        Value step =
            vector::StepOp::create(b, loc, vectorOf(width, b.getIndexType()));
        result = arith::AddIOp::create(b, loc, result, step);
      }
    } else if (inner.hasTrait<OpTrait::ConstantLike>()) {
      result = broadcast(b.clone(inner)->getResult(0), width);
    } else if (OpTrait::hasElementwiseMappableTraits(&inner) &&
               inner.getNumResults() == 1) {
      OperationState state(loc, inner.getName());
      for (Value operand : inner.getOperands())
        state.operands.push_back(lookup(operand));
      state.addTypes(vectorOf(width, inner.getResult(0).getType()));
      state.addAttributes(inner.getAttrs());
      result = b.create(state)->getResult(0);
    } else {
      return inner.emitOpError(
                 "expected elementwise operations in the body of ")
             << op->getName();
    }
    mapping.map(inner.getResult(0), result);
  }

  for (auto [value, init] :
       llvm::zip(op.getBlock()->getTerminator()->getOperands(),
                 op.getDpsInitsMutable())) {
    if (!op.getMatchingIndexingMap(&init).isIdentity())
      return op.emitOpError(
                 "expected results to be written in the order of the "
                 "loops, but got the map ")
             << AffineMapAttr::get(op.getMatchingIndexingMap(&init));
    vector::StoreOp::create(b, loc, lookup(value), init.get(), at);
  }
  return success();
}

LogicalResult LoopEmitter::emitElementwise(linalg::LinalgOp op) {
  unsigned rank = op.getNumLoops();
  if (rank < 1 || rank > 2 || op.getNumParallelLoops() != rank ||
      op.getNumDpsInits() == 0)
    return op.emitOpError("expected an elementwise operation on rows or tiles");
  LogicalResult result = success();
  Value target = op.getDpsInits()[0];
  int64_t lanes = std::max<int64_t>(1, vectorBits / getElementBits(op));
  // In memory a truth value has a byte of its own, in a vector a bit.
  if (llvm::any_of(op->getOperandTypes(), [](Type type) {
        return getElementTypeOrSelf(type).isInteger(1);
      }))
    lanes = 1;
  auto emitRow = [&](ValueRange outer) {
    forEachPiece(memref::getMixedSize(b, loc, target, rank - 1), lanes,
                 [&](Value col, int64_t width) {
                   SmallVector<Value> at(outer);
                   at.push_back(col);
                   if (failed(emitPiece(op, at, width)))
                     result = failure();
                 });
  };
  if (rank == 1)
    emitRow({});
  else
    forEach(extent(target, 0), 1, [&](Value row) { emitRow(row); });
  return result;
}

LogicalResult LoopEmitter::emitCopy(memref::CopyOp op) {
  Value source = op.getSource(), target = op.getTarget();
  auto type = cast<MemRefType>(target.getType());
  int64_t innermost = type.getRank() - 1;
  if (innermost < 0)
    return op.emitOpError("expected a copy of at least one row, but got ")
           << type;
  // Either side may be the one whose type knows the width.
  Value known = type.isDynamicDim(innermost) ? source : target;
  int64_t lanes = vectorBits / type.getElementTypeBitWidth();
  SmallVector<Value> at;
  std::function<void()> emitFrom = [&]() {
    if (static_cast<int64_t>(at.size()) < innermost) {
      forEach(extent(target, at.size()), 1, [&](Value position) {
        at.push_back(position);
        emitFrom();
        at.pop_back();
      });
      return;
    }
    forEachPiece(memref::getMixedSize(b, loc, known, innermost), lanes,
                 [&](Value col, int64_t width) {
                   at.push_back(col);
                   vector::StoreOp::create(b, loc, load(source, at, width),
                                           target, at);
                   at.pop_back();
                 });
  };
  emitFrom();
  return success();
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

// An n×n block in n vectors, n = 2^s. Let an element's address be its vector's
// number followed by its lane, 2s bits. Interleaving vectors i and i + n/2 into
// vectors 2i and 2i + 1 rotates all addresses left by one bit; s times exchange
// vector and lane.
LogicalResult LoopEmitter::emitTranspose(linalg::TransposeOp op) {
  Value source = op.getInput(), target = op.getInit();
  auto type = cast<MemRefType>(source.getType());
  if (type.getRank() != 2 || !type.hasStaticShape())
    return op.emitOpError("expected a tile of static shape, but got ") << type;
  int64_t rows = type.getDimSize(0), cols = type.getDimSize(1);
  int64_t size = vectorBits / type.getElementTypeBitWidth();
  while (rows % size || cols % size)
    size /= 2;

  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < size; ++lane) {
    int64_t from = lane / 2 + (lane % 2) * size;
    low.push_back(from);
    high.push_back(from + size / 2);
  }
  forEach(index(rows), size, [&](Value row) {
    forEach(index(cols), size, [&](Value col) {
      SmallVector<Value> block, next(size);
      for (int64_t i = 0; i < size; ++i)
        block.push_back(load(source, {add(row, i), col}, size));
      for (int64_t stage = 1; stage < size; stage *= 2) {
        for (int64_t i = 0; i < size / 2; ++i) {
          Value x = block[i], y = block[i + size / 2];
          next[2 * i] = vector::ShuffleOp::create(b, loc, x, y, low);
          next[2 * i + 1] = vector::ShuffleOp::create(b, loc, x, y, high);
        }
        std::swap(block, next);
      }
      for (int64_t i = 0; i < size; ++i)
        vector::StoreOp::create(b, loc, block[i], target,
                                ValueRange{add(col, i), row});
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult LoopEmitter::emitProduct(linalg::MatmulOp op, bool startsAtZero) {
  Value lhs = op.getInputs()[0], rhs = op.getInputs()[1];
  Value result = op.getOutputs()[0];
  auto type = cast<MemRefType>(result.getType());
  auto lhsType = cast<MemRefType>(lhs.getType());
  auto rhsType = cast<MemRefType>(rhs.getType());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineExpr i = b.getAffineDimExpr(0), j = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(3, 0, {x, y}, b.getContext());
  };
  bool isTransposed = maps[0] == map(k, i);
  if ((!isTransposed && maps[0] != map(i, k)) || maps[1] != map(k, j) ||
      !type.hasStaticShape() || !lhsType.hasStaticShape() ||
      lhsType.getElementType() != type.getElementType() ||
      rhsType.getElementType() != type.getElementType())
    return op.emitOpError(
               "expected a product of tiles of one element type, rhs "
               "not transposed, but got ")
           << lhsType << " and " << rhsType;

  Type element = type.getElementType();
  int64_t numRows = type.getDimSize(0), numCols = type.getDimSize(1);
  int64_t depth = lhsType.getDimSize(isTransposed ? 0 : 1);
  // Accumulators, one row of rhs and one broadcast fill the registers: 32 with
  // AVX-512, else 16. Blocks are of equal height as far as possible.
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  int64_t registers = vectorBits >= 512 ? 32 : 16;
  int64_t panel = std::min<int64_t>(vectorBits >= 512 ? 4 : 2,
                                    llvm::divideCeil(numCols, lanes));
  int64_t most = std::min<int64_t>((registers - 1 - panel) / panel, 12);
  int64_t height = llvm::divideCeil(numRows, llvm::divideCeil(numRows, most));

  // The block at (row, col) of `height` rows and the given widths.
  auto emitBlock = [&](Value row, Value col, int64_t height,
                       ArrayRef<int64_t> widths) {
    SmallVector<Value> rows, columns, accumulators;
    for (int64_t r = 0; r < height; ++r)
      rows.push_back(add(row, r));
    int64_t offset = 0;
    for (int64_t width : widths) {
      columns.push_back(add(col, offset));
      offset += width;
    }
    for (Value at : rows)
      for (auto [column, width] : llvm::zip(columns, widths))
        accumulators.push_back(
            startsAtZero ? arith::ConstantOp::create(
                               b, loc, b.getZeroAttr(vectorOf(width, element)))
                         : load(result, {at, column}, width));
    auto loop = scf::ForOp::create(b, loc, index(0), index(depth), index(1),
                                   accumulators);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value step = loop.getInductionVar();
      SmallVector<Value> vectors, sums;
      for (auto [column, width] : llvm::zip(columns, widths))
        vectors.push_back(load(rhs, {step, column}, width));
      auto contract = arith::FastMathFlags::contract;
      for (Value at : rows) {
        Value scalar = memref::LoadOp::create(
            b, loc, lhs,
            isTransposed ? ValueRange{step, at} : ValueRange{at, step});
        Value factor;
        for (Value vector : vectors) {
          if (!factor || factor.getType() != vector.getType())
            factor =
                vector::BroadcastOp::create(b, loc, vector.getType(), scalar);
          Value product =
              arith::MulFOp::create(b, loc, factor, vector, contract);
          Value sum = loop.getRegionIterArgs()[sums.size()];
          sums.push_back(arith::AddFOp::create(b, loc, sum, product, contract));
        }
      }
      scf::YieldOp::create(b, loc, sums);
    }
    auto sum = loop.getResults().begin();
    for (Value at : rows)
      for (Value column : columns)
        vector::StoreOp::create(b, loc, *sum++, result, ValueRange{at, column});
  };
  auto emitPanel = [&](Value col, ArrayRef<int64_t> widths) {
    int64_t even = numRows - numRows % height;
    forEach(index(even), height,
            [&](Value row) { emitBlock(row, col, height, widths); });
    if (even != numRows)
      emitBlock(index(even), col, numRows - even, widths);
  };

  int64_t panelCols = panel * lanes, even = numCols - numCols % panelCols;
  SmallVector<int64_t> widths(panel, lanes);
  forEach(index(even), panelCols, [&](Value col) { emitPanel(col, widths); });
  widths.clear();
  for (int64_t left = numCols - even, width = lanes; left; width /= 2)
    for (; left >= width; left -= width)
      widths.push_back(width);
  if (!widths.empty())
    emitPanel(index(even), widths);
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct HLAVectorizeTiles : hla::impl::HLAVectorizeTilesBase<HLAVectorizeTiles> {
  using HLAVectorizeTilesBase::HLAVectorizeTilesBase;

  /// The operation that clears the result of `op` right before it, or null.
  static linalg::FillOp getClear(linalg::MatmulOp op) {
    auto fill = dyn_cast_or_null<linalg::FillOp>(op->getPrevNode());
    if (fill && fill.getOutputs()[0] == op.getOutputs()[0] &&
        matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
      return fill;
    return {};
  }

  void runOnOperation() override {
    if (!llvm::isPowerOf2_64(vectorBits) || vectorBits < 128 ||
        vectorBits > 512) {
      getOperation()->emitError(
          "expected vector-bits to be 128, 256 or 512, but "
          "got ")
          << vectorBits.getValue();
      return signalPassFailure();
    }
    SmallVector<Operation *> products, others;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::MatmulOp>(op))
        products.push_back(op);
      else if (isa<linalg::LinalgOp, memref::CopyOp>(op))
        others.push_back(op);
    });
    for (Operation *op : products) {
      auto product = cast<linalg::MatmulOp>(op);
      linalg::FillOp clear = getClear(product);
      if (failed(LoopEmitter(op, vectorBits).emitProduct(product, bool(clear))))
        return signalPassFailure();
      op->erase();
      if (clear) {
        llvm::erase(others, clear.getOperation());
        clear->erase();
      }
    }
    for (Operation *op : others) {
      LoopEmitter emitter(op, vectorBits);
      LogicalResult emitted = failure();
      if (auto copy = dyn_cast<memref::CopyOp>(op))
        emitted = emitter.emitCopy(copy);
      else if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
        emitted = emitter.emitTranspose(transpose);
      else
        emitted = emitter.emitElementwise(cast<linalg::LinalgOp>(op));
      if (failed(emitted))
        return signalPassFailure();
      op->erase();
    }
  }
};

} // namespace
