//===- BundleCompiler.h - entry functions as bundles for a GPU --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_COMPILER_BUNDLECOMPILER_H
#define HLA_COMPILER_BUNDLECOMPILER_H

#include "hla/Target/PTX.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace mlir {
class DialectRegistry;

namespace hla {

struct BundleOptions {
  /// A GPU of `TargetInfo`.
  std::string target = "sm_80";
  /// Precision of products (`#hla.schedule`); empty for the inputs' own.
  std::string precision;
  /// Segments of a sequence that are walked at once (`hla-split-segments`): a
  /// number, or auto; empty for one.
  std::string segments;
  /// The assembler; none where empty: the bundle has no cubin then.
  std::string ptxas;
};

/// What the assembler says of a kernel.
struct KernelResources {
  std::string kernel;
  int64_t registers = 0;
  /// Bytes a thread block has, and a thread spills or keeps in memory.
  int64_t sharedMemory = 0, spillStores = 0, spillLoads = 0, stackFrame = 0;
};

/// Seconds of each stage of a compilation.
struct BundleTimes {
  double passes = 0, assemble = 0;
  PTXTimes ptx;

  /// From operations to PTX.
  double getTotal() const {
    return passes + ptx.translate + ptx.optimize + ptx.generate;
  }
};

/// A compiled entry function.
struct Bundle {
  std::string entry;
  llvm::json::Object manifest;
  std::string ptx;
  /// The assembled code, where there is an assembler.
  std::optional<std::string> cubin;
  llvm::SmallVector<KernelResources> resources;
  /// What the compiler remarked, `file:line:column: message` each, such as why
  /// an operation is not executed by groups of warps.
  std::vector<std::string> remarks;
  /// What the assembler remarked, such as "wgmma serialized": a defect.
  std::string assemblerRemarks;
  BundleTimes times;

  /// Writes the manifest and the code into a directory, which is created.
  llvm::Error write(llvm::StringRef directory) const;
};

/// Compiles the function `entry` of `module`, which is left as it is. What
/// fails is the error's message.
llvm::Expected<Bundle> compileBundle(ModuleOp module, llvm::StringRef entry,
                                     const BundleOptions &options);

/// The assembler of this machine: the environment's `HLA_PTXAS`, `ptxas` on the
/// path, or CUDA's usual place; empty if there is none.
std::string findPtxas();

/// Adds the dialects, interfaces and translations that `compileBundle` needs.
void registerBundleCompilerDialects(DialectRegistry &registry);

} // namespace hla
} // namespace mlir

#endif // HLA_COMPILER_BUNDLECOMPILER_H
