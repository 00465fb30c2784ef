//===- Driver.h - The CUDA driver, opened at run time -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_DRIVER_H
#define HLA_LIB_RUNTIME_DRIVER_H

#include "CudaApi.h"
#include "hla-c/Runtime.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace hla::runtime {

/// The driver of this process.
class Driver {
public:
  /// The driver with cuInit done. Throws NO_DRIVER or NO_DEVICE. A failure is
  /// not remembered.
  static Driver &get();
  /// The driver's library alone, for what needs no device. Throws NO_DRIVER.
  static Driver &load();

  const cuda::Api &getApi() const { return api; }

  /// Throws unless `result` is success. `action` says what was tried.
  void check(cuda::Result result, const std::string &action) const;
  [[noreturn]] void fail(HlaStatus status, cuda::Result result,
                         const std::string &action) const;
  /// "CUDA_ERROR_INVALID_VALUE (invalid argument)".
  std::string describe(cuda::Result result) const;

  /// "12.4".
  std::string getVersion() const;
  int getDeviceCount() const;
  cuda::Device getDevice(int32_t ordinal) const;
  int getAttribute(cuda::Device device, int attribute) const;
  std::string getDeviceName(cuda::Device device) const;

  /// The device's primary context, retained once for the process' life.
  cuda::Context getPrimaryContext(cuda::Device device);

private:
  Driver() = default;

  cuda::Api api;
  std::atomic<bool> initialized{false};
  std::mutex mutex;
  std::map<cuda::Device, cuda::Context> primaryContexts;
};

/// Makes a context of a device current in its scope: the caller's if that is
/// one of this device, else the primary one. -1 takes the caller's context, or
/// device 0 if there is none.
class ContextScope {
public:
  ContextScope(Driver &driver, int32_t ordinal);
  ~ContextScope();
  ContextScope(const ContextScope &) = delete;
  ContextScope &operator=(const ContextScope &) = delete;

  cuda::Context getContext() const { return context; }
  cuda::Device getDevice() const { return device; }

private:
  Driver &driver;
  cuda::Context context = nullptr;
  cuda::Device device = 0;
  bool pushed = false;
};

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_DRIVER_H
