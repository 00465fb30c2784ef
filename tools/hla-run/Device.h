//===- Device.h - where an entry function runs ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_DEVICE_H
#define HLA_TOOLS_HLA_RUN_DEVICE_H

#include "Array.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>
#include <vector>

namespace hla_run {

/// An entry function, compiled for one device.
class Device {
public:
  virtual ~Device() = default;

  /// What it runs on, for the table.
  virtual std::string describe() const = 0;
  /// Runs once on `arguments`, in the order of the ABI, and returns the time
  /// that the function took, in milliseconds.
  virtual llvm::Expected<double> run(std::vector<Array> &arguments) = 0;
};

/// Options of the compilation.
struct CompileOptions {
  /// Whose schedule the program has, empty for the device's own.
  std::string scheduleTarget;
  /// Precision of its products, empty for what the inputs' types say.
  std::string precision;
  /// Segments of a sequence that are walked at once, empty for one.
  std::string segments;
  /// CPU: bits of a vector, 0 for the host's; one thread only.
  int64_t vectorBits = 0;
  bool isSerial = false;
};

/// For the host. `module` is consumed.
llvm::Expected<std::unique_ptr<Device>>
compileForCPU(mlir::ModuleOp module, llvm::StringRef entry,
              const CompileOptions &options);
/// For the first CUDA device.
llvm::Expected<std::unique_ptr<Device>>
compileForCUDA(mlir::ModuleOp module, llvm::StringRef entry,
               const CompileOptions &options);

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_DEVICE_H
