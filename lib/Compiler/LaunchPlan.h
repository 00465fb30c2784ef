//===- LaunchPlan.h - launches of a compiled function, for a manifest -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_COMPILER_LAUNCHPLAN_H
#define HLA_LIB_COMPILER_LAUNCHPLAN_H

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "llvm/Support/JSON.h"

namespace mlir::hla {

/// Every part of scratch begins at a multiple of this, in bytes.
constexpr int64_t kScratchAlignment = 256;

/// What a launcher does for one call, as a manifest says it.
struct LaunchPlan {
  llvm::json::Array launches;
  /// Bytes of scratch, an expression.
  std::string scratchBytes;
};

/// Reads the plan off a function that launches kernels (`gpu.launch_func`):
/// everything that a launch's sizes and arguments are computed from becomes an
/// expression in the arguments' extents and strides, and intermediate buffers
/// become scratch. An operation that has no expression is an error at it.
FailureOr<LaunchPlan> getLaunchPlan(func::FuncOp function, const EntryABI &abi);

} // namespace mlir::hla

#endif // HLA_LIB_COMPILER_LAUNCHPLAN_H
