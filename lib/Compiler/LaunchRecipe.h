//===- LaunchRecipe.h - launches of a function, in JSON ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_COMPILER_LAUNCHRECIPE_H
#define HLA_LIB_COMPILER_LAUNCHRECIPE_H

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/JSON.h"
#include <array>

namespace mlir::hla {

/// Every part of scratch begins at a multiple of this, in bytes.
constexpr int64_t kScratchAlignment = 256;

/// The most blocks that a grid has in x, y and z: CUDA's, on every device.
constexpr std::array<int64_t, 3> kMaxGrid = {2147483647, 65535, 65535};

/// What a launcher does for one call, as a manifest says it.
struct LaunchRecipe {
  llvm::json::Array launches;
  /// Bytes of scratch, an expression.
  std::string scratchBytes;
  /// What the kernels are in; null without launches.
  gpu::GPUModuleOp module;
};

/// Reads the recipe off a function that launches kernels (`gpu.launch_func`):
/// everything that a launch's sizes and arguments are computed from becomes an
/// expression in the arguments' extents and strides, and intermediate buffers
/// become scratch. An operation that has no expression is an error at it, and
/// so are a launch that no device can do and one of a second module of kernels.
FailureOr<LaunchRecipe> getLaunchRecipe(func::FuncOp function,
                                        const EntryABI &abi);

} // namespace mlir::hla

#endif // HLA_LIB_COMPILER_LAUNCHRECIPE_H
