//===- DecomposeOperators.cpp - operators as DAGs of scans ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScanBuilder.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLADECOMPOSEOPERATORS
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

//===----------------------------------------------------------------------===//
// The algebra: every operator as scans of its query, key and value
//===----------------------------------------------------------------------===//

/// o_t = Σ_{j≤t} (q_t·k_j) v_j.
static Rows build(LinearOp, ScanBuilder &b, Rows v) {
  return b.scan(b.query(), b.key(), v);
}

/// With `u_j = Σ_{i≤j} (q_j·k_i) k_i = S_j q_j` and `u' = u + λ q`, masked:
///
///   o_t = Σ_{j≤t} (q_t·u'_j) v_j.
///
/// Prefix: `o_t = q_tᵀ (S_t + λI) C_t = u'_tᵀ C_t` with `C_t = Σ_{j≤t} q_j
/// v_jᵀ`. The paper's recurrence takes from this `q_tᵀ G_t`, where `G` gathers
/// `k_t w_tᵀ`, `w_t = C_{t-1}ᵀ k_t`.
static Rows build(SecondOrderOp op, ScanBuilder &b, Rows v) {
  Rows q = b.query(), k = b.key();
  Rows u = b.addScaled(b.scan(q, k, k), op.getRidgeValue(), q);
  switch (op.getVariant()) {
  case SecondOrderVariant::Masked:
    return b.scan(
        q, u, v,
        {/*exclusive=*/false, op.getReading() == DecayReading::Squared});
  case SecondOrderVariant::Prefix:
    return b.scan(u, q, v);
  case SecondOrderVariant::Paper: {
    Rows w = b.scan(k, q, v, {/*exclusive=*/true});
    Rows all = b.scan(u, q, v), correction = b.scan(q, k, w);
    return b.addScaled(all, -1.0, correction);
  }
  }
  llvm_unreachable("all variants are handled");
}

/// o_t = Σ_{i≤t} (q_t·k_i) r_i with `r_i = Σ_{j≤i} (q_i·k_j) v_j`.
static Rows build(AsymmetricOp, ScanBuilder &b, Rows v) {
  Rows q = b.query(), k = b.key();
  return b.scan(q, k, b.scan(q, k, v));
}

/// `(((A Aᵀ) A) ⊙ L) V`: `o_t = Σ_{j≤t} (q_t·u'_j) r_j`.
static Rows buildMasked(ThirdOrderOp op, ScanBuilder &b, Rows v) {
  Rows q = b.query(), k = b.key();
  Rows u = b.addScaled(b.scan(q, k, k), op.getRidgeValue(), q);
  return b.scan(q, u, b.scan(q, k, v));
}

/// Algorithm 3 without decay. What `S^K S^Q P − G¹ − G² − G³` gains at a token
/// is what has the token at least twice in `k kᵀ q qᵀ k vᵀ`, the statistics
/// before it elsewhere: with `κ = q·k`, `u = S^K q`, `σ = kᵀ S^Q k`, `p = Pᵀ q`
///
///   (κ u + σ k + κ² k) vᵀ + k (κ p)ᵀ.
static Rows buildPaper(ScanBuilder &b, Rows v) {
  Rows q = b.query(), k = b.key();
  constexpr ScanOptions exclusive = {/*exclusive=*/true};
  Rows u = b.scan(q, k, k, exclusive), s = b.scan(k, q, q, exclusive),
       p = b.scan(q, k, v, exclusive);
  Rows kappa = b.dot(q, k), sigma = b.dot(k, s);
  Rows a = b.map({kappa, u, sigma, k}, [](RowBuilder &r, ValueRange x) {
    Value ofU = r.scale(x[0], x[1]);
    Value square = r.mul(x[0], x[0]);
    Value ofKey = r.scale(r.add(x[2], square), x[3]);
    return r.add(ofU, ofKey);
  });
  Rows scaled = b.map({kappa, p}, [](RowBuilder &r, ValueRange x) {
    return r.scale(x[0], x[1]);
  });
  Rows ofA = b.scan(q, a, v), ofR = b.scan(q, k, scaled);
  return b.addScaled(ofA, 1.0, ofR);
}

/// Algorithm 3 with every statistic decayed: `qᵀ S^K S^Q P` less what the three
/// corrections gather, `G¹' = γ G¹ + k (Pᵀ S^Q k)ᵀ` and so on with the
/// statistics before the token.
static Rows buildDecayedPaper(ScanBuilder &b, Rows v) {
  Rows q = b.query(), k = b.key();
  constexpr ScanOptions exclusive = {/*exclusive=*/true};
  Rows z = b.scan(b.scan(q, k, k), q, q);
  Rows w = b.scan(k, q, q, exclusive);
  Rows all = b.scan(z, k, v);
  Rows first = b.scan(q, k, b.scan(w, k, v, exclusive));
  Rows u = b.scan(q, k, k, exclusive), p = b.scan(q, k, v, exclusive);
  Rows second = b.scan(q, u, p);
  Rows third = b.scan(q, b.scan(w, k, k, exclusive), v);
  return b.map({all, first, second, third}, [](RowBuilder &r, ValueRange x) {
    Value corrections = r.add(x[1], r.add(x[2], x[3]));
    return r.sub(x[0], corrections);
  });
}

static Rows build(ThirdOrderOp op, ScanBuilder &b, Rows v) {
  if (op.getVariant() == ThirdOrderVariant::Masked)
    return buildMasked(op, b, v);
  return Operator(op).isDecayed() ? buildDecayedPaper(b, v) : buildPaper(b, v);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

/// `numerator · σⁿ`, or divided by the same of `v ≡ 1`.
Rows finish(Operator op, ScanBuilder &b, Rows numerator, Rows denominator) {
  const double scale = std::pow(op.getScale().convertToDouble(), op.getOrder());
  const double epsilon = op.getEpsilon().convertToDouble();
  switch (op.getNormalizer()) {
  case Normalizer::None:
    return scale == 1.0 ? numerator
                        : b.map({numerator}, [&](RowBuilder &r, ValueRange x) {
                            return r.scale(scale, x[0]);
                          });
  case Normalizer::Add:
    return b.map({numerator, denominator}, [&](RowBuilder &r, ValueRange x) {
      Value n = r.scale(scale, x[1]);
      n = r.add(n, r.constant(epsilon, n));
      return r.divide(r.scale(scale, x[0]), n);
    });
  case Normalizer::Clamp:
    return b.map({numerator, denominator}, [&](RowBuilder &r, ValueRange x) {
      Value n = r.scale(scale, x[1]);
      Value above = r.maximum(n, r.constant(epsilon, n));
      Value below = r.minimum(n, r.constant(-epsilon, n));
      return r.divide(r.scale(scale, x[0]),
                      r.selectNonNegative(n, above, below));
    });
  }
  llvm_unreachable("all normalisers are handled");
}

/// Moves the operations after `begin`, up to `last`, before `end` if nothing
/// between needs them.
void sink(Operation *begin, Operation *last, Operation *end,
          RewriterBase &rewriter) {
  SmallPtrSet<Operation *, 8> sunk;
  Operation *place = end;
  while (last != begin) {
    Operation *previous = last->getPrevNode();
    if (llvm::all_of(last->getUsers(),
                     [&](Operation *user) { return sunk.contains(user); })) {
      rewriter.moveOpBefore(last, place);
      sunk.insert(last);
      place = last;
    }
    last = previous;
  }
}

template <typename OpT> struct Decompose : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Operator general(op.getOperation());
    ScanBuilder b(general, rewriter);
    Operation *begin = op->getPrevNode();
    Rows numerator = build(op, b, b.value()), denominator;
    Operation *last = op->getPrevNode();
    // Denominators first, while rows would wait in more registers.
    if (general.getNormalizer() != Normalizer::None) {
      denominator = build(op, b, b.ones());
      sink(begin, last, op, rewriter);
    }
    b.replaceOperator(finish(general, b, numerator, denominator));
    return success();
  }
};

/// A log-decay of zeros decays nothing. The paper's third order has other
/// states with a decay than without.
template <typename OpT> struct DropUnitDecay : OpRewritePattern<OpT> {
  DropUnitDecay(MLIRContext *context)
      : OpRewritePattern<OpT>(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    bool hasStates = !op.getCarries().empty() || op.getOutputs().size() > 1;
    if (!op.getLogDecay() ||
        !matchPattern(op.getLogDecay(), m_AnyZeroFloat()) ||
        (std::is_same_v<OpT, ThirdOrderOp> && hasStates))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getLogDecayMutable().clear(); });
    return success();
  }
};

/// Without decay the paper's serial recurrence is the masked operator, which
/// has a state less and no difference of sums.
struct PaperIsMasked : OpRewritePattern<SecondOrderOp> {
  PaperIsMasked(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(SecondOrderOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getVariant() != SecondOrderVariant::Paper ||
        Operator(op).isDecayed() || !op.getCarries().empty() ||
        op.getOutputs().size() > 1)
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { op.setVariant(SecondOrderVariant::Masked); });
    return success();
  }
};

struct DecomposeOperators
    : hla::impl::HLADecomposeOperatorsBase<DecomposeOperators> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Decompose<LinearOp>, Decompose<SecondOrderOp>,
                 Decompose<AsymmetricOp>, Decompose<ThirdOrderOp>,
                 DropUnitDecay<LinearOp>, DropUnitDecay<SecondOrderOp>,
                 DropUnitDecay<AsymmetricOp>, DropUnitDecay<ThirdOrderOp>,
                 PaperIsMasked>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
