//===- Runs.h - a list cut into runs of about one weight --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_SUPPORT_RUNS_H
#define HLA_SUPPORT_RUNS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <cstdint>
#include <limits>

namespace mlir::hla {

/// Cuts a list into `numRuns` runs, none of them empty, such that the heaviest
/// is as light as can be; of several such cuts, the one that cuts first.
/// Returns the number of the run of each element. There must be as many
/// elements as runs at least, and a run.
inline llvm::SmallVector<int64_t> cutIntoRuns(llvm::ArrayRef<int64_t> weights,
                                              int64_t numRuns) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  const int64_t n = weights.size();
  // Of the first i elements in r runs: the heaviest, and where the last begins.
  auto table = [&](int64_t value) {
    return llvm::SmallVector<llvm::SmallVector<int64_t>>(
        numRuns + 1, llvm::SmallVector<int64_t>(n + 1, value));
  };
  auto heaviest = table(kNone), last = table(0);
  heaviest[0][0] = 0;
  for (int64_t r = 1; r <= numRuns; ++r)
    for (int64_t i = r; i <= n; ++i) {
      int64_t weight = 0;
      for (int64_t begin = i - 1; begin >= r - 1; --begin) {
        weight += weights[begin];
        if (heaviest[r - 1][begin] == kNone)
          continue;
        const int64_t most = std::max(heaviest[r - 1][begin], weight);
        if (most <= heaviest[r][i]) {
          heaviest[r][i] = most;
          last[r][i] = begin;
        }
      }
    }
  llvm::SmallVector<int64_t> runs(n);
  for (int64_t r = numRuns, end = n; r > 0; --r) {
    std::fill(runs.begin() + last[r][end], runs.begin() + end, r - 1);
    end = last[r][end];
  }
  return runs;
}

} // namespace mlir::hla

#endif // HLA_SUPPORT_RUNS_H
