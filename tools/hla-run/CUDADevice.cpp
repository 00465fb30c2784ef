//===- CUDADevice.cpp - runs entry functions on a GPU -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "hla-c/Runtime.h"
#include "hla/Compiler/BundleCompiler.h"
#include "hla/Target/TargetInfo.h"
#include "llvm/Support/FileSystem.h"

using namespace hla_run;
using namespace mlir::hla;

/// The runtime's message for a call that failed.
static llvm::Error check(HlaStatus status) {
  if (status == HLA_STATUS_OK)
    return llvm::Error::success();
  return llvm::createStringError(hlaGetLastErrorMessage());
}

namespace {

/// A temporary directory, removed with its contents.
class TemporaryDirectory {
public:
  ~TemporaryDirectory() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  llvm::Error create() {
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("hla-run", path))
      return llvm::createStringError(
          "expected to create a temporary directory, "
          "but got " +
          code.message());
    return llvm::Error::success();
  }

  llvm::SmallString<64> path;
};

/// Device memory.
class DeviceBuffer {
public:
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer &&other)
      : data(std::exchange(other.data, nullptr)) {}
  ~DeviceBuffer() { hlaDeviceFree(0, data); }

  void *data = nullptr;
};

class CUDADevice : public Device {
public:
  ~CUDADevice() override {
    hlaBundleDestroy(bundle);
    if (start)
      hlaEventDestroy(0, start);
    if (stop)
      hlaEventDestroy(0, stop);
    if (stream)
      hlaStreamDestroy(0, stream);
  }

  llvm::Error initialize(mlir::ModuleOp module, llvm::StringRef entry,
                         const CompileOptions &options);
  std::string describe() const override { return description; }
  llvm::Expected<double> run(std::vector<Array> &arguments) override;

private:
  HlaBundle *bundle = nullptr;
  void *stream = nullptr, *start = nullptr, *stop = nullptr;
  std::string description;
};

} // namespace

llvm::Error CUDADevice::initialize(mlir::ModuleOp module, llvm::StringRef entry,
                                   const CompileOptions &options) {
  int32_t count, major, minor;
  char name[256];
  if (llvm::Error error = check(hlaDeviceGetCount(&count)))
    return error;
  if (llvm::Error error = check(hlaDeviceGetName(0, name, sizeof(name))))
    return error;
  if (llvm::Error error =
          check(hlaDeviceGetComputeCapability(0, &major, &minor)))
    return error;
  const TargetInfo *target = TargetInfo::select(major, minor);
  BundleOptions bundleOptions;
  bundleOptions.precision = options.precision;
  bundleOptions.segments = options.segments;
  if (!options.scheduleTarget.empty())
    bundleOptions.target = options.scheduleTarget;
  else if (target)
    bundleOptions.target = target->arch.str();
  else
    return llvm::createStringError(
        "expected a GPU of compute capability 8.0 or later, but got " +
        llvm::Twine(major) + "." + llvm::Twine(minor));
  bundleOptions.ptxas = findPtxas();
  auto compiled = compileBundle(module, entry, bundleOptions);
  if (!compiled)
    return compiled.takeError();

  TemporaryDirectory directory;
  if (llvm::Error error = directory.create())
    return error;
  if (llvm::Error error = compiled->write(directory.path))
    return error;
  if (llvm::Error error = check(hlaBundleLoad(directory.path.c_str(), &bundle)))
    return error;
  HlaStatus status = hlaBundlePrepare(bundle, 0);
  if (status == HLA_STATUS_OK)
    status = hlaStreamCreate(0, &stream);
  if (status == HLA_STATUS_OK)
    status = hlaEventCreate(0, &start);
  if (status == HLA_STATUS_OK)
    status = hlaEventCreate(0, &stop);
  if (llvm::Error error = check(status))
    return error;
  description = std::string(name) + ", code for " + bundleOptions.target +
                (compiled->cubin ? " (cubin)" : " (PTX)");
  return llvm::Error::success();
}

llvm::Expected<double> CUDADevice::run(std::vector<Array> &arguments) {
  std::vector<DeviceBuffer> buffers;
  std::vector<llvm::SmallVector<int64_t>> strides;
  std::vector<HlaTensor> tensors;
  strides.reserve(arguments.size()); // Tensors point to what it holds.
  for (Array &array : arguments) {
    size_t bytes = array.getSizeInBytes();
    DeviceBuffer &buffer = buffers.emplace_back();
    if (llvm::Error error = check(hlaDeviceAllocate(0, bytes, &buffer.data)))
      return error;
    if (llvm::Error error = check(hlaMemcpyHostToDevice(
            0, buffer.data, array.getData(), bytes, stream)))
      return error;
    strides.push_back(array.getStrides());
    HlaTensor tensor = {};
    tensor.data = buffer.data;
    if (llvm::Error error = check(hlaDataTypeFromName(
            getName(array.getType()).str().c_str(), &tensor.dtype)))
      return error;
    tensor.rank = array.getShape().size();
    tensor.shape = array.getShape().data();
    tensor.strides = strides.back().data();
    tensor.deviceType = HLA_DEVICE_CUDA;
    tensors.push_back(tensor);
  }
  float milliseconds = 0;
  HlaStatus status = hlaEventRecord(0, start, stream);
  if (status == HLA_STATUS_OK)
    status = hlaBundleLaunch(bundle, tensors.data(), tensors.size(), stream,
                             /*scratch=*/nullptr, /*scratchBytes=*/0);
  if (status == HLA_STATUS_OK)
    status = hlaEventRecord(0, stop, stream);
  if (status == HLA_STATUS_OK)
    status = hlaStreamSynchronize(0, stream);
  if (status == HLA_STATUS_OK)
    status = hlaEventElapsedTime(0, start, stop, &milliseconds);
  if (llvm::Error error = check(status))
    return error;
  for (auto [array, buffer] : llvm::zip(arguments, buffers))
    if (llvm::Error error = check(hlaMemcpyDeviceToHost(
            0, array.getData(), buffer.data, array.getSizeInBytes(), stream)))
      return error;
  return milliseconds;
}

llvm::Expected<std::unique_ptr<Device>>
hla_run::compileForCUDA(mlir::ModuleOp module, llvm::StringRef entry,
                        const CompileOptions &options) {
  auto device = std::make_unique<CUDADevice>();
  if (llvm::Error error = device->initialize(module, entry, options))
    return error;
  return device;
}
