//===- CPUExecutor.h - runs entry functions on the host ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_COMPILER_CPUEXECUTOR_H
#define HLA_COMPILER_CPUEXECUTOR_H

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "hla/Pipelines/Pipelines.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir {
class DialectRegistry;
class ExecutionEngine;

namespace hla {

/// Memory of the caller that an argument of an entry function stands for.
struct StridedView {
  void *data;
  SmallVector<int64_t> shape;
  /// In elements; the last one is 1.
  SmallVector<int64_t> strides;
};

/// One entry function, compiled for the host.
class CPUExecutor {
public:
  /// Compiles the function `entry` of `module`, which is consumed: functions
  /// that the entry does not need are erased, others become the LLVM dialect.
  /// What fails is the error's message.
  static llvm::Expected<std::unique_ptr<CPUExecutor>>
  create(ModuleOp module, StringRef entry,
         const HLAToCPUPipelineOptions &options);
  ~CPUExecutor();

  /// The parallel option that this build can run.
  static CPUParallel getDefaultParallel();

  const EntryABI &getABI() const { return abi; }

  /// Runs the function on one view for each argument of the ABI. Several
  /// threads may run it at once.
  llvm::Error run(ArrayRef<StridedView> arguments) const;

private:
  CPUExecutor() = default;

  EntryABI abi;
  std::unique_ptr<ExecutionEngine> engine;
  void (*function)(void **) = nullptr;
};

/// Adds the dialects, interfaces and translations that compilation for the host
/// needs.
void registerCPUExecutorDialects(DialectRegistry &registry);

} // namespace hla
} // namespace mlir

#endif // HLA_COMPILER_CPUEXECUTOR_H
