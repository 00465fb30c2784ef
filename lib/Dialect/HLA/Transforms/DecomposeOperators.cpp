//===- DecomposeOperators.cpp - operators as DAGs of scans ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLADECOMPOSEOPERATORS
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

/// A destination for what one scan hands to the next: a sequence like `like`,
/// in the type in which scans are summed.
static Value createIntermediate(OpBuilder &b, Location loc, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  Type elementType = type.getElementType().isF64() ? cast<Type>(b.getF64Type())
                                                   : cast<Type>(b.getF32Type());
  return tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, like),
                                 elementType);
}

namespace {

/// Masked: with `A_ij = q_i·k_j` for `j ≤ i`,
///
///   o_t = Σ_{j≤t} (q_t · u_j) v_j,  u_j = Σ_{i≤j} (q_j · k_i) k_i,
///
/// so `u = scan(q,k,k)` and `o = scan(q,u,v)`. Prefix:
///
///   o_t = q_tᵀ S_t C_t = u_tᵀ C_t,  u_t = S_t q_t,  C_t = Σ_{j≤t} q_j v_jᵀ,
///
/// so `o = scan(u,q,v)` with the same `u`.
struct DecomposeSecondOrder : OpRewritePattern<SecondOrderOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SecondOrderOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value q = op.getQuery(), k = op.getKey(), v = op.getValue();
    HeadLayout layout = op.getLayout();
    Value u = ScanOp::create(rewriter, loc, layout, q, k, k,
                             createIntermediate(rewriter, loc, q))
                  .getResults()
                  .front();
    bool masked = op.getVariant() == SecondOrderVariant::Masked;
    rewriter.replaceOpWithNewOp<ScanOp>(op, layout, masked ? q : u,
                                        masked ? u : q, v, op.getOutput());
    return success();
  }
};

struct DecomposeOperators
    : hla::impl::HLADecomposeOperatorsBase<DecomposeOperators> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeSecondOrder>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
