//===- Kernels.h - A bundle's kernels in one CUDA context -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_KERNELS_H
#define HLA_LIB_RUNTIME_KERNELS_H

#include "Driver.h"
#include "LaunchPlan.h"
#include "Manifest.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace hla::runtime {

/// The code of a bundle, as its files hold it.
struct KernelCode {
  std::string ptx;
  std::string cubin; // empty if the bundle has none
};

/// Whether code for `target` runs on a device of this compute capability: as
/// PTX, which the driver compiles, or as a cubin, which runs as it is.
bool runsPtx(const TargetSpec &target, int major, int minor);
bool runsCubin(const TargetSpec &target, int major, int minor);

/// The loaded module. The context it was loaded in must be current in every
/// call, destruction included.
class Kernels {
public:
  /// Loads a fitting cubin, else has the driver compile the PTX.
  Kernels(Driver &driver, const Manifest &manifest, const KernelCode &code,
          cuda::Device device);
  ~Kernels();
  /// Forgets the module, of a context that is no more.
  void abandon() { module = nullptr; }
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  /// Raises a kernel's limit of dynamic shared memory to `bytes` where needed.
  void allowSharedMemory(size_t index, uint32_t bytes);

  /// Launches the plan's kernels in order. `scratch` is the base of their
  /// scratch pointers.
  void launch(LaunchPlan &plan, cuda::Stream stream, cuda::DevicePtr scratch);

private:
  struct Kernel {
    cuda::Function function = nullptr;
    int staticSharedMemory = 0;
    int dynamicSharedMemory = 0; // the limit set so far
  };

  void checkTensorMaps() const;
  void load(const KernelCode &code);
  cuda::Result loadPtx(const std::string &ptx, std::string &log);
  [[noreturn]] void failPtx(cuda::Result result, const std::string &log) const;
  void find(size_t index);
  void checkParameters(size_t index) const;
  void launch(const PlannedLaunch &launch, void **parameters,
              cuda::Stream stream);

  Driver &driver;
  const Manifest &manifest;
  cuda::Device device;
  int major = 0;
  int minor = 0;
  int largestSharedMemory = 0;
  cuda::Module module = nullptr;
  std::vector<Kernel> kernels; // one a launch of the manifest
  std::mutex mutex;            // of the kernels' limits
};

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_KERNELS_H
