//===- Kernels.cpp - A bundle's kernels in one CUDA context -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "Error.h"

#include <algorithm>
#include <array>

using namespace hla::runtime;

bool hla::runtime::runsPtx(const TargetSpec &target, int major, int minor) {
  if (major == target.major && minor == target.minor)
    return true;
  return target.forwardCompatible &&
         (major > target.major ||
          (major == target.major && minor > target.minor));
}

bool hla::runtime::runsCubin(const TargetSpec &target, int major, int minor) {
  return major == target.major &&
         (target.forwardCompatible ? minor >= target.minor
                                   : minor == target.minor);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static std::string describeCapability(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

Kernels::Kernels(Driver &driver, const Manifest &manifest,
                 const KernelCode &code, cuda::Device device)
    : driver(driver), manifest(manifest), device(device) {
  major =
      driver.getAttribute(device, cuda::deviceAttributeComputeCapabilityMajor);
  minor =
      driver.getAttribute(device, cuda::deviceAttributeComputeCapabilityMinor);
  largestSharedMemory = driver.getAttribute(
      device, cuda::deviceAttributeMaxSharedMemoryPerBlockOptin);

  const TargetSpec &target = manifest.target;
  if (!runsPtx(target, major, minor))
    throw Failure(HLA_STATUS_UNSUPPORTED_DEVICE,
                  "expected a device of compute capability " +
                      describeCapability(target.major, target.minor) +
                      (target.forwardCompatible ? " or later" : "") +
                      " (the bundle is for " + target.arch + "), but got " +
                      driver.getDeviceName(device) + " of " +
                      describeCapability(major, minor));
  checkTensorMaps();
  load(code);
  try {
    kernels.resize(manifest.launches.size());
    for (size_t i = 0; i < kernels.size(); ++i)
      find(i);
  } catch (...) {
    driver.getApi().moduleUnload(module);
    throw;
  }
}

Kernels::~Kernels() {
  if (module)
    driver.getApi().moduleUnload(module);
}

/// Before the code is loaded: such a driver would refuse that too, and say
/// less.
void Kernels::checkTensorMaps() const {
  if (driver.getApi().tensorMapEncodeTiled)
    return;
  for (const LaunchSpec &spec : manifest.launches)
    for (const ParameterSpec &parameter : spec.parameters)
      if (parameter.map)
        throw Failure(HLA_STATUS_DRIVER_TOO_OLD,
                      "expected a driver of CUDA 12.0 or later (kernel '" +
                          spec.kernel +
                          "' takes tensor maps), but got one of CUDA " +
                          driver.getVersion());
}

void Kernels::load(const KernelCode &code) {
  if (!code.cubin.empty() && runsCubin(manifest.target, major, minor)) {
    cuda::Result result = driver.getApi().moduleLoadDataEx(
        &module, code.cubin.data(), 0, nullptr, nullptr);
    switch (result) {
    case cuda::success:
      return;
    // A cubin of a toolkit newer than the driver; the PTX may still do.
    case cuda::errorInvalidImage:
    case cuda::errorNoBinaryForGpu:
    case cuda::errorUnsupportedPtxVersion:
      break;
    default:
      driver.check(result, "loading " + manifest.cubin->path);
    }
  }
  std::string log;
  if (cuda::Result result = loadPtx(code.ptx, log))
    failPtx(result, log);
}

cuda::Result Kernels::loadPtx(const std::string &ptx, std::string &log) {
  // The driver reads option values as numbers or pointers, each in a void *.
  std::array<char, 4096> buffer = {};
  int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes};
  void *values[] = {buffer.data(), reinterpret_cast<void *>(buffer.size() - 1)};
  cuda::Result result = driver.getApi().moduleLoadDataEx(&module, ptx.c_str(),
                                                         2, options, values);
  log = buffer.data();
  return result;
}

void Kernels::failPtx(cuda::Result result, const std::string &log) const {
  if (result == cuda::errorUnsupportedPtxVersion)
    throw Failure(HLA_STATUS_DRIVER_TOO_OLD,
                  "expected a driver that compiles PTX ISA " +
                      manifest.target.ptxIsa + " (" + manifest.ptx.path +
                      " is in it; a newer NVIDIA driver is needed), but got "
                      "one of CUDA " +
                      driver.getVersion());
  std::string reason = log.empty() ? "" : "; the driver's log: " + log;
  throw Failure(
      result == cuda::errorOutOfMemory ? HLA_STATUS_DEVICE_OUT_OF_MEMORY
                                       : HLA_STATUS_INVALID_KERNEL,
      "compiling " + manifest.ptx.path + " for compute capability " +
          describeCapability(major, minor) + ": expected success, but got " +
          driver.describe(result) + reason);
}

void Kernels::find(size_t index) {
  const cuda::Api &api = driver.getApi();
  const LaunchSpec &spec = manifest.launches[index];
  Kernel &kernel = kernels[index];
  cuda::Result result =
      api.moduleGetFunction(&kernel.function, module, spec.kernel.c_str());
  if (result == cuda::errorNotFound)
    throw Failure(HLA_STATUS_INVALID_KERNEL,
                  "expected a kernel '" + spec.kernel + "' in " +
                      manifest.ptx.path +
                      " (a launch of the manifest names "
                      "it), but got none");
  driver.check(result, "look-up of kernel '" + spec.kernel + "'");

  checkParameters(index);

  std::string action = "query of kernel '" + spec.kernel + "'";
  driver.check(api.funcGetAttribute(&kernel.staticSharedMemory,
                                    cuda::functionAttributeSharedSizeBytes,
                                    kernel.function),
               action);
  driver.check(
      api.funcGetAttribute(&kernel.dynamicSharedMemory,
                           cuda::functionAttributeMaxDynamicSharedSizeBytes,
                           kernel.function),
      action);

  // More than 8 blocks a cluster must be asked for; larger clusters than the
  // device has fail at the launch.
  uint32_t cluster = spec.cluster[0] * spec.cluster[1] * spec.cluster[2];
  if (cluster > 8)
    driver.check(api.funcSetAttribute(
                     kernel.function,
                     cuda::functionAttributeNonPortableClusterSizeAllowed, 1),
                 "allowing clusters of " + std::to_string(cluster) +
                     " blocks for kernel '" + spec.kernel + "'");
  if (spec.dynamicSharedMemory.isConstant()) {
    int64_t bytes = spec.dynamicSharedMemory.evaluate({});
    if (bytes > 0 && bytes <= INT32_MAX)
      allowSharedMemory(index, static_cast<uint32_t>(bytes));
  }
}

static size_t getParameterBytes(const ParameterSpec &parameter) {
  using Kind = ParameterSpec::Kind;
  if (parameter.map)
    return sizeof(cuda::TensorMap);
  return parameter.kind == Kind::I32 || parameter.kind == Kind::F32 ? 4 : 8;
}

/// A launch makes the driver read as many parameters as the kernel has, with
/// the kernel's sizes: those of the manifest must be these. Drivers before CUDA
/// 12.4 cannot say.
void Kernels::checkParameters(size_t index) const {
  const cuda::Api &api = driver.getApi();
  const LaunchSpec &spec = manifest.launches[index];
  if (!api.funcGetParamInfo)
    return;
  for (size_t i = 0; i <= spec.parameters.size(); ++i) {
    size_t offset = 0;
    size_t size = 0;
    bool exists = api.funcGetParamInfo(kernels[index].function, i, &offset,
                                       &size) == cuda::success;
    bool named = i < spec.parameters.size();
    if (exists == named &&
        (!named || size == getParameterBytes(spec.parameters[i])))
      continue;
    std::string expected =
        named ? std::to_string(getParameterBytes(spec.parameters[i])) + " bytes"
              : "no parameter";
    throw Failure(HLA_STATUS_INVALID_KERNEL,
                  "kernel '" + spec.kernel + "', parameter " +
                      std::to_string(i) + ": expected " + expected +
                      " (as in the manifest), but got " +
                      (exists ? std::to_string(size) + " bytes" : "none") +
                      " in the code");
  }
}

void Kernels::allowSharedMemory(size_t index, uint32_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  Kernel &kernel = kernels[index];
  const std::string &name = manifest.launches[index].kernel;
  if (static_cast<int64_t>(bytes) <= kernel.dynamicSharedMemory)
    return;
  int most = std::max(0, largestSharedMemory - kernel.staticSharedMemory);
  if (static_cast<int64_t>(bytes) > most)
    throw Failure(HLA_STATUS_LAUNCH_LIMIT,
                  "kernel '" + name + "': expected at most " +
                      std::to_string(most) +
                      " bytes of dynamic shared memory (of " +
                      driver.getDeviceName(device) + "), but got " +
                      std::to_string(bytes));
  driver.check(driver.getApi().funcSetAttribute(
                   kernel.function,
                   cuda::functionAttributeMaxDynamicSharedSizeBytes,
                   static_cast<int>(bytes)),
               "allowing " + std::to_string(bytes) +
                   " bytes of shared memory for kernel '" + name + "'");
  kernel.dynamicSharedMemory = static_cast<int>(bytes);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

void Kernels::launch(LaunchPlan &plan, cuda::Stream stream,
                     cuda::DevicePtr scratch) {
  // All maps before the first kernel: one that is refused launches nothing.
  for (PlannedLaunch &planned : plan.launches) {
    for (size_t slot : planned.scratchSlots)
      planned.slots[slot] += scratch;
    for (PlannedTensorMap &map : planned.maps)
      encodeTensorMap(driver, manifest, manifest.launches[planned.index],
                      planned.slots[map.parameter], map);
  }
  for (PlannedLaunch &planned : plan.launches) {
    std::vector<void *> parameters;
    for (uint64_t &slot : planned.slots)
      parameters.push_back(&slot);
    for (PlannedTensorMap &map : planned.maps)
      parameters[map.parameter] = &map.encoded;
    launch(planned, parameters.data(), stream);
  }
}

void Kernels::launch(const PlannedLaunch &planned, void **parameters,
                     cuda::Stream stream) {
  const cuda::Api &api = driver.getApi();
  const LaunchSpec &spec = manifest.launches[planned.index];
  cuda::Function function = kernels[planned.index].function;
  const auto &grid = planned.grid;
  const auto &block = spec.block;
  const auto &cluster = spec.cluster;

  cuda::Result result;
  if (cluster == std::array<uint32_t, 3>{1, 1, 1}) {
    result = api.launchKernel(function, grid[0], grid[1], grid[2], block[0],
                              block[1], block[2], planned.dynamicSharedMemory,
                              stream, parameters, nullptr);
  } else {
    if (!api.launchKernelEx)
      throw Failure(HLA_STATUS_DRIVER_TOO_OLD,
                    "expected a driver of CUDA 11.8 or later (kernel '" +
                        spec.kernel + "' uses clusters), but got one of CUDA " +
                        driver.getVersion());
    cuda::LaunchAttribute attribute = {};
    attribute.id = cuda::launchAttributeClusterDimension;
    attribute.value.cluster = {cluster[0], cluster[1], cluster[2]};
    cuda::LaunchConfig config = {grid[0],
                                 grid[1],
                                 grid[2],
                                 block[0],
                                 block[1],
                                 block[2],
                                 planned.dynamicSharedMemory,
                                 stream,
                                 &attribute,
                                 1};
    result = api.launchKernelEx(&config, function, parameters, nullptr);
  }
  if (result != cuda::success)
    driver.fail(result == cuda::errorOutOfMemory
                    ? HLA_STATUS_DEVICE_OUT_OF_MEMORY
                    : HLA_STATUS_LAUNCH_FAILED,
                result,
                "launch of kernel '" + spec.kernel + "' on a grid of " +
                    std::to_string(grid[0]) + "x" + std::to_string(grid[1]) +
                    "x" + std::to_string(grid[2]) + " blocks");
}
