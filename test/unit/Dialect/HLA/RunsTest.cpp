//===- RunsTest.cpp - lists cut into runs -----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Support/Runs.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::hla;

namespace {

using Runs = llvm::SmallVector<int64_t>;

TEST(RunsTest, HeaviestIsLight) {
  EXPECT_EQ(cutIntoRuns({1, 1, 4}, 2), Runs({0, 0, 1}));
  EXPECT_EQ(cutIntoRuns({4, 1, 1}, 2), Runs({0, 1, 1}));
  EXPECT_EQ(cutIntoRuns({5, 5}, 2), Runs({0, 1}));
  EXPECT_EQ(cutIntoRuns({3, 3, 3}, 1), Runs({0, 0, 0}));
}

// Against all cuts.
TEST(RunsTest, Random) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t n = 1 + random() % 7, numRuns = 1 + random() % n;
    llvm::SmallVector<int64_t> weights;
    for (int64_t i = 0; i < n; ++i)
      weights.push_back(random() % 10);
    auto heaviestOf = [&](llvm::ArrayRef<int64_t> runs) {
      llvm::SmallVector<int64_t> sums(numRuns);
      for (int64_t i = 0; i < n; ++i)
        sums[runs[i]] += weights[i];
      return *std::max_element(sums.begin(), sums.end());
    };
    int64_t best = std::numeric_limits<int64_t>::max();
    for (uint64_t cuts = 0; cuts < uint64_t(1) << (n - 1); ++cuts) {
      if (__builtin_popcountll(cuts) != numRuns - 1)
        continue;
      Runs runs = {0};
      for (int64_t i = 1; i < n; ++i)
        runs.push_back(runs.back() + (cuts >> (i - 1) & 1));
      best = std::min(best, heaviestOf(runs));
    }
    Runs found = cutIntoRuns(weights, numRuns);
    EXPECT_EQ(found.front(), 0);
    EXPECT_EQ(found.back(), numRuns - 1);
    for (int64_t i = 1; i < n; ++i)
      EXPECT_LE(found[i] - found[i - 1], 1);
    EXPECT_EQ(heaviestOf(found), best);
  }
}

} // namespace
