//===- Driver.cpp - The CUDA driver, opened at run time ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include "Error.h"

#include <cstdlib>
#include <dlfcn.h>
#include <memory>

using namespace hla::runtime;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static void loadSymbols(void *library, const std::string &name,
                        cuda::Api &api) {
#define HLA_CUDA_LOAD(member, symbol, parameters)                              \
  api.member = reinterpret_cast<decltype(api.member)>(dlsym(library, #symbol));
  HLA_CUDA_FUNCTIONS(HLA_CUDA_LOAD)
  HLA_CUDA_OPTIONAL_FUNCTIONS(HLA_CUDA_LOAD)
#undef HLA_CUDA_LOAD

#define HLA_CUDA_REQUIRE(member, symbol, parameters)                           \
  if (!api.member)                                                             \
    throw Failure(HLA_STATUS_DRIVER_TOO_OLD,                                   \
                  "expected a CUDA driver of version 11.2 or later, but got "  \
                  "'" +                                                        \
                      name + "' without " #symbol);
  HLA_CUDA_FUNCTIONS(HLA_CUDA_REQUIRE)
#undef HLA_CUDA_REQUIRE
}

Driver &Driver::load() {
  // Never destroyed: a bundle may be, after this file's statics.
  static std::mutex &mutex = *new std::mutex;
  static Driver *driver = nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (driver)
    return *driver;

  const char *variable = std::getenv("HLA_CUDA_LIBRARY");
  std::string name = variable && *variable ? variable : "libcuda.so.1";
  void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    throw Failure(HLA_STATUS_NO_DRIVER,
                  "expected the CUDA driver's library '" + name +
                      "' (it comes with the NVIDIA driver), but got " +
                      (reason ? reason : "none"));
  }
  std::unique_ptr<Driver> result(new Driver);
  try {
    loadSymbols(library, name, result->api);
  } catch (...) {
    dlclose(library);
    throw;
  }
  driver = result.release();
  return *driver;
}

Driver &Driver::get() {
  Driver &driver = load();
  if (driver.initialized)
    return driver;
  cuda::Result result = driver.api.init(0);
  switch (result) {
  case cuda::success:
    break;
  case cuda::errorNoDevice:
    throw Failure(HLA_STATUS_NO_DEVICE, "expected a CUDA device, but got none");
  case cuda::errorStubLibrary:
  case cuda::errorSystemDriverMismatch:
  case cuda::errorCompatNotSupportedOnDevice:
    driver.fail(HLA_STATUS_NO_DRIVER, result, "start of the CUDA driver");
  default:
    driver.check(result, "start of the CUDA driver");
  }
  driver.initialized = true;
  return driver;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static HlaStatus getStatus(cuda::Result result) {
  switch (result) {
  case cuda::errorOutOfMemory:
    return HLA_STATUS_DEVICE_OUT_OF_MEMORY;
  case cuda::errorNoDevice:
    return HLA_STATUS_NO_DEVICE;
  case cuda::errorUnsupportedPtxVersion:
    return HLA_STATUS_DRIVER_TOO_OLD;
  case cuda::errorInvalidImage:
  case cuda::errorNoBinaryForGpu:
  case cuda::errorInvalidPtx:
  case cuda::errorJitCompilerNotFound:
  case cuda::errorJitCompilationDisabled:
    return HLA_STATUS_INVALID_KERNEL;
  // A kernel that ran before; the context is lost.
  case cuda::errorIllegalAddress:
  case cuda::errorLaunchOutOfResources:
  case cuda::errorLaunchTimeout:
  case cuda::errorAssert:
  case cuda::errorHardwareStackError:
  case cuda::errorIllegalInstruction:
  case cuda::errorMisalignedAddress:
  case cuda::errorInvalidAddressSpace:
  case cuda::errorInvalidPc:
  case cuda::errorLaunchFailed:
    return HLA_STATUS_LAUNCH_FAILED;
  default:
    return HLA_STATUS_DRIVER_ERROR;
  }
}

std::string Driver::describe(cuda::Result result) const {
  const char *name = nullptr;
  const char *text = nullptr;
  if (api.getErrorName(result, &name) != cuda::success || !name)
    return "CUDA error " + std::to_string(result);
  if (api.getErrorString(result, &text) != cuda::success || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

void Driver::fail(HlaStatus status, cuda::Result result,
                  const std::string &action) const {
  throw Failure(status,
                action + ": expected success, but got " + describe(result));
}

void Driver::check(cuda::Result result, const std::string &action) const {
  if (result != cuda::success)
    fail(getStatus(result), result, action);
}

//===----------------------------------------------------------------------===//
// Devices and contexts
//===----------------------------------------------------------------------===//

std::string Driver::getVersion() const {
  int version = 0;
  check(api.driverGetVersion(&version), "query of the driver's version");
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

int Driver::getDeviceCount() const {
  int count = 0;
  check(api.deviceGetCount(&count), "count of CUDA devices");
  if (count == 0)
    throw Failure(HLA_STATUS_NO_DEVICE, "expected a CUDA device, but got none");
  return count;
}

cuda::Device Driver::getDevice(int32_t ordinal) const {
  int count = getDeviceCount();
  if (ordinal < 0 || ordinal >= count)
    throw Failure(HLA_STATUS_NO_DEVICE, "expected a CUDA device from 0 to " +
                                            std::to_string(count - 1) +
                                            ", but got " +
                                            std::to_string(ordinal));
  cuda::Device device = 0;
  check(api.deviceGet(&device, ordinal),
        "look-up of device " + std::to_string(ordinal));
  return device;
}

int Driver::getAttribute(cuda::Device device, int attribute) const {
  int value = 0;
  check(api.deviceGetAttribute(&value, attribute, device),
        "query of a device's attribute");
  return value;
}

std::string Driver::getDeviceName(cuda::Device device) const {
  char name[256] = {};
  check(api.deviceGetName(name, sizeof(name) - 1, device),
        "query of a device's name");
  return name;
}

cuda::Context Driver::getPrimaryContext(cuda::Device device) {
  std::lock_guard<std::mutex> lock(mutex);
  cuda::Context &context = primaryContexts[device];
  if (!context)
    check(api.primaryCtxRetain(&context, device),
          "retaining the primary context of device " + std::to_string(device));
  return context;
}

ContextScope::ContextScope(Driver &driver, int32_t ordinal) : driver(driver) {
  const cuda::Api &api = driver.getApi();
  driver.check(api.ctxGetCurrent(&context), "query of the current context");
  if (context) {
    driver.check(api.ctxGetDevice(&device), "query of the context's device");
    if (ordinal == -1 || driver.getDevice(ordinal) == device)
      return;
  }
  device = driver.getDevice(ordinal == -1 ? 0 : ordinal);
  context = driver.getPrimaryContext(device);
  driver.check(api.ctxPushCurrent(context), "making a context current");
  pushed = true;
}

ContextScope::~ContextScope() {
  cuda::Context popped = nullptr;
  if (pushed)
    driver.getApi().ctxPopCurrent(&popped);
}
