//===- CPUDevice.cpp - runs entry functions on the host ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "hla/Compiler/CPUExecutor.h"
#include <chrono>

using namespace hla_run;
using namespace mlir::hla;

namespace {

class CPUDevice : public Device {
public:
  CPUDevice(std::unique_ptr<CPUExecutor> executor, std::string description)
      : executor(std::move(executor)), description(std::move(description)) {}

  std::string describe() const override { return description; }

  llvm::Expected<double> run(std::vector<Array> &arguments) override {
    llvm::SmallVector<StridedView> views;
    for (Array &array : arguments)
      views.push_back({array.getData(),
                       llvm::SmallVector<int64_t>(array.getShape()),
                       array.getStrides()});
    auto begin = std::chrono::steady_clock::now();
    if (llvm::Error error = executor->run(views))
      return error;
    auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(end - begin).count();
  }

private:
  std::unique_ptr<CPUExecutor> executor;
  std::string description;
};

} // namespace

llvm::Expected<std::unique_ptr<Device>>
hla_run::compileForCPU(mlir::ModuleOp module, llvm::StringRef entry,
                       const CompileOptions &options) {
  HLAToCPUPipelineOptions pipeline;
  if (!options.scheduleTarget.empty())
    pipeline.scheduleTarget = options.scheduleTarget;
  pipeline.precision = options.precision;
  pipeline.segments = options.segments;
  pipeline.vectorBits =
      options.vectorBits ? options.vectorBits : getHostVectorBits();
  pipeline.parallel = options.isSerial ? CPUParallel::Serial
                                       : CPUExecutor::getDefaultParallel();
  auto executor = CPUExecutor::create(module, entry, pipeline);
  if (!executor)
    return executor.takeError();
  bool isSerial = pipeline.parallel == CPUParallel::Serial;
  std::string description =
      ("cpu, vectors of " + llvm::Twine(pipeline.vectorBits) + " bits, " +
       (isSerial ? "one thread" : "OpenMP") + ", schedule of " +
       pipeline.scheduleTarget)
          .str();
  return std::make_unique<CPUDevice>(std::move(*executor),
                                     std::move(description));
}
