//===- PTX.h - PTX of a module of kernels -----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TARGET_PTX_H
#define HLA_TARGET_PTX_H

#include "hla/Target/TargetInfo.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

namespace mlir {
class DialectRegistry;
namespace gpu {
class GPUModuleOp;
} // namespace gpu

namespace hla {

/// Seconds spent in the stages of `translateToPTX`.
struct PTXTimes {
  double translate = 0, optimize = 0, generate = 0;
};

/// Translates a module of functions in the LLVM and NVVM dialects into PTX for
/// `target`, in this process: LLVM IR, optimized at O3 without unrolling (tiles
/// are unrolled already), and LLVM's NVPTX back end. Adds to `times`.
llvm::Expected<std::string> translateToPTX(gpu::GPUModuleOp module,
                                           const TargetInfo &target,
                                           PTXTimes *times = nullptr);

/// Adds the translations to LLVM IR that `translateToPTX` needs.
void registerPTXTranslations(DialectRegistry &registry);

} // namespace hla
} // namespace mlir

#endif // HLA_TARGET_PTX_H
