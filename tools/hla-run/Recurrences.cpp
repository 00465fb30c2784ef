//===- Recurrences.cpp - operators token by token, in float64 ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recurrences.h"

using namespace hla_run;
namespace hla = mlir::hla;

void Matrix::addOuter(double decay, ConstRow x, ConstRow y) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      (*this)[i][j] = decay * (*this)[i][j] + x[i] * y[j];
}

std::vector<double> Matrix::times(ConstRow x, double scale) {
  std::vector<double> y(cols, 0.0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      y[j] += scale * x[i] * (*this)[i][j];
  return y;
}

namespace {

/// x ← x + c y.
void add(std::vector<double> &x, double c, ConstRow y) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] += c * y[i];
}

double dot(ConstRow x, ConstRow y, int64_t size) {
  double sum = 0.0;
  for (int64_t i = 0; i < size; ++i)
    sum += x[i] * y[i];
  return sum;
}

/// P ← γ P + k vᵀ, o = Pᵀ q.
struct Linear : Recurrence {
  Linear(int64_t d, int64_t dv) { states = {Matrix(d, dv)}; }

  std::vector<double> step(double decay, ConstRow q, ConstRow k,
                           ConstRow v) override {
    states[0].addOuter(decay, k, v);
    return states[0].times(q);
  }
};

/// S ← γ S + k kᵀ, F ← γ_F F + ((S + λ I) q) vᵀ, o = Fᵀ q.
struct SecondOrderMasked : Recurrence {
  SecondOrderMasked(int64_t d, int64_t dv, double ridge, bool isSquared)
      : ridge(ridge), isSquared(isSquared) {
    states = {Matrix(d, d), Matrix(d, dv)};
  }

  std::vector<double> step(double decay, ConstRow q, ConstRow k,
                           ConstRow v) override {
    states[0].addOuter(decay, k, k);
    std::vector<double> u = states[0].times(q);
    add(u, ridge, q);
    states[1].addOuter(isSquared ? decay * decay : decay, u.data(), v);
    return states[1].times(q);
  }

  double ridge;
  bool isSquared;
};

/// S ← γ S + k kᵀ, C ← γ C + q vᵀ, o = qᵀ (S + λ I) C; and with the correction
/// of Algorithm 1, o less qᵀ G, G ← γ G + k (kᵀ C) with C before the token.
struct SecondOrderMoments : Recurrence {
  SecondOrderMoments(int64_t d, int64_t dv, double ridge, bool isCorrected)
      : ridge(ridge), isCorrected(isCorrected) {
    states = {Matrix(d, d), Matrix(d, dv)};
    if (isCorrected)
      states.push_back(Matrix(d, dv));
  }

  std::vector<double> step(double decay, ConstRow q, ConstRow k,
                           ConstRow v) override {
    if (isCorrected)
      states[2].addOuter(decay, k, states[1].times(k).data());
    states[0].addOuter(decay, k, k);
    states[1].addOuter(decay, q, v);
    std::vector<double> u = states[0].times(q);
    add(u, ridge, q);
    std::vector<double> o = states[1].times(u.data());
    if (isCorrected)
      add(o, -1.0, states[2].times(q).data());
    return o;
  }

  double ridge;
  bool isCorrected;
};

/// P ← γ P + k vᵀ, E ← γ E + k (qᵀ P), o = qᵀ E.
struct Asymmetric : Recurrence {
  Asymmetric(int64_t d, int64_t dv) { states = {Matrix(d, dv), Matrix(d, dv)}; }

  std::vector<double> step(double decay, ConstRow q, ConstRow k,
                           ConstRow v) override {
    states[0].addOuter(decay, k, v);
    states[1].addOuter(decay, k, states[0].times(q).data());
    return states[1].times(q);
  }
};

/// S ← γ S + k kᵀ, P ← γ P + k vᵀ, F ← γ F + ((S + λ I) q) (qᵀ P), o = qᵀ F.
struct ThirdOrderMasked : Recurrence {
  ThirdOrderMasked(int64_t d, int64_t dv, double ridge) : ridge(ridge) {
    states = {Matrix(d, d), Matrix(d, dv), Matrix(d, dv)};
  }

  std::vector<double> step(double decay, ConstRow q, ConstRow k,
                           ConstRow v) override {
    states[0].addOuter(decay, k, k);
    states[1].addOuter(decay, k, v);
    std::vector<double> u = states[0].times(q);
    add(u, ridge, q);
    states[2].addOuter(decay, u.data(), states[1].times(q).data());
    return states[2].times(q);
  }

  double ridge;
};

/// Algorithm 3: o = qᵀ (S^K S^Q P − G¹ − G² − G³), where each correction
/// gathers, with the statistics before the token, one of
///
///   k (kᵀ S^Q P),  (S^K q) (qᵀ P),  (S^K S^Q k) vᵀ.
struct ThirdOrderPaper : Recurrence {
  ThirdOrderPaper(int64_t d, int64_t dv) {
    states = {Matrix(d, d),  Matrix(d, d),  Matrix(d, dv),
              Matrix(d, dv), Matrix(d, dv), Matrix(d, dv)};
  }

  std::vector<double> step(double decay, ConstRow q, ConstRow k,
                           ConstRow v) override {
    Matrix &sk = states[0], &sq = states[1], &p = states[2];
    std::vector<double> w = sq.times(k);
    states[3].addOuter(decay, k, p.times(w.data()).data());
    states[4].addOuter(decay, sk.times(q).data(), p.times(q).data());
    states[5].addOuter(decay, sk.times(w.data()).data(), v);
    sk.addOuter(decay, k, k);
    sq.addOuter(decay, q, q);
    p.addOuter(decay, k, v);
    std::vector<double> o = p.times(sq.times(sk.times(q).data()).data());
    for (int i = 3; i < 6; ++i)
      add(o, -1.0, states[i].times(q).data());
    return o;
  }
};

/// The same without decay, by what S^K S^Q P − G¹ − G² − G³ = A + R gains at a
/// token; A gathers what multiplies v, R the rest.
struct ThirdOrderPaperGains : Recurrence {
  ThirdOrderPaperGains(int64_t d, int64_t dv) : d(d) {
    states = {Matrix(d, d), Matrix(d, d), Matrix(d, dv), Matrix(d, dv),
              Matrix(d, dv)};
  }

  std::vector<double> step(double, ConstRow q, ConstRow k,
                           ConstRow v) override {
    Matrix &sk = states[0], &sq = states[1], &p = states[2];
    double kappa = dot(q, k, d), sigma = dot(k, sq.times(k).data(), d);
    std::vector<double> a = sk.times(q, kappa);
    add(a, sigma + kappa * kappa, k);
    states[3].addOuter(1.0, a.data(), v);
    states[4].addOuter(1.0, k, p.times(q, kappa).data());
    sk.addOuter(1.0, k, k);
    sq.addOuter(1.0, q, q);
    p.addOuter(1.0, k, v);
    std::vector<double> o = states[3].times(q);
    add(o, 1.0, states[4].times(q).data());
    return o;
  }

  int64_t d;
};

} // namespace

std::unique_ptr<Recurrence> Recurrence::create(hla::Operator op, int64_t d,
                                               int64_t dv, bool keepsStates) {
  if (llvm::isa<hla::LinearOp>(op))
    return std::make_unique<Linear>(d, dv);
  if (llvm::isa<hla::AsymmetricOp>(op))
    return std::make_unique<Asymmetric>(d, dv);
  double ridge = op.getRidgeValue();
  if (auto second = llvm::dyn_cast<hla::SecondOrderOp>(op.getOperation())) {
    if (second.getVariant() == hla::SecondOrderVariant::Masked)
      return std::make_unique<SecondOrderMasked>(
          d, dv, ridge, second.getReading() == hla::DecayReading::Squared);
    return std::make_unique<SecondOrderMoments>(
        d, dv, ridge, second.getVariant() == hla::SecondOrderVariant::Paper);
  }
  auto third = llvm::dyn_cast<hla::ThirdOrderOp>(op.getOperation());
  if (!third)
    return nullptr;
  if (third.getVariant() == hla::ThirdOrderVariant::Masked)
    return std::make_unique<ThirdOrderMasked>(d, dv, ridge);
  if (keepsStates && !op.isDecayed())
    return std::make_unique<ThirdOrderPaperGains>(d, dv);
  return std::make_unique<ThirdOrderPaper>(d, dv);
}
