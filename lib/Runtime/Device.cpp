//===- Device.cpp - The C interface's device helpers ------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Guard.h"

#include <algorithm>
#include <cstring>

using namespace hla::runtime;

static cuda::DevicePtr toDevice(const void *data) {
  return reinterpret_cast<cuda::DevicePtr>(data);
}

/// Runs `body` with the driver's functions and a context of `device`.
template <typename Body>
static HlaStatus guardOnDevice(int32_t device, Body &&body) noexcept {
  return guard([&] {
    Driver &driver = Driver::get();
    ContextScope scope(driver, device);
    body(driver);
  });
}

/// Copies between host and device by `start`, ordered on `stream`, and waits.
template <typename Start>
static HlaStatus copy(int32_t device, const void *target, const void *source,
                      size_t bytes, void *stream, const char *what,
                      Start &&start) noexcept {
  return guardOnDevice(device, [&](Driver &driver) {
    if (bytes == 0)
      return;
    requireNonNull(target, "target");
    requireNonNull(source, "source");
    auto handle = static_cast<cuda::Stream>(stream);
    const cuda::Api &api = driver.getApi();
    driver.check(start(api, handle), what);
    driver.check(api.streamSynchronize(handle), what);
  });
}

HlaStatus hlaDriverGetVersion(int32_t *version) {
  return guard([&] {
    requireNonNull(version, "version");
    Driver &driver = Driver::load();
    driver.check(driver.getApi().driverGetVersion(version),
                 "query of the driver's version");
  });
}

HlaStatus hlaDeviceGetCount(int32_t *count) {
  return guard([&] {
    requireNonNull(count, "count");
    *count = Driver::get().getDeviceCount();
  });
}

HlaStatus hlaDeviceGetName(int32_t device, char *name, size_t size) {
  return guard([&] {
    requireNonNull(name, "name");
    if (size == 0)
      throw Failure(HLA_STATUS_INVALID_ARGUMENT,
                    "expected room for a name, but got 0 bytes");
    Driver &driver = Driver::get();
    std::string text = driver.getDeviceName(driver.getDevice(device));
    size_t length = std::min(text.size(), size - 1);
    std::memcpy(name, text.data(), length);
    name[length] = '\0';
  });
}

HlaStatus hlaDeviceGetComputeCapability(int32_t device, int32_t *major,
                                        int32_t *minor) {
  return guard([&] {
    requireNonNull(major, "major");
    requireNonNull(minor, "minor");
    Driver &driver = Driver::get();
    cuda::Device handle = driver.getDevice(device);
    int first = driver.getAttribute(
        handle, cuda::deviceAttributeComputeCapabilityMajor);
    int second = driver.getAttribute(
        handle, cuda::deviceAttributeComputeCapabilityMinor);
    *major = first;
    *minor = second;
  });
}

HlaStatus hlaDeviceAllocate(int32_t device, size_t bytes, void **data) {
  return guardOnDevice(device, [&](Driver &driver) {
    requireNonNull(data, "data");
    cuda::DevicePtr result = 0;
    if (bytes != 0)
      driver.check(driver.getApi().memAlloc(&result, bytes),
                   "allocation of " + std::to_string(bytes) + " bytes");
    *data = reinterpret_cast<void *>(result);
  });
}

HlaStatus hlaDeviceFree(int32_t device, void *data) {
  if (!data)
    return HLA_STATUS_OK;
  return guardOnDevice(device, [&](Driver &driver) {
    driver.check(driver.getApi().memFree(toDevice(data)),
                 "freeing device memory");
  });
}

HlaStatus hlaMemcpyHostToDevice(int32_t device, void *target,
                                const void *source, size_t bytes,
                                void *stream) {
  return copy(device, target, source, bytes, stream, "copy to the device",
              [&](const cuda::Api &api, cuda::Stream handle) {
                return api.memcpyHtoDAsync(toDevice(target), source, bytes,
                                           handle);
              });
}

HlaStatus hlaMemcpyDeviceToHost(int32_t device, void *target,
                                const void *source, size_t bytes,
                                void *stream) {
  return copy(device, target, source, bytes, stream, "copy from the device",
              [&](const cuda::Api &api, cuda::Stream handle) {
                return api.memcpyDtoHAsync(target, toDevice(source), bytes,
                                           handle);
              });
}

HlaStatus hlaMemset(int32_t device, void *target, uint8_t value, size_t bytes,
                    void *stream) {
  return guardOnDevice(device, [&](Driver &driver) {
    if (bytes == 0)
      return;
    requireNonNull(target, "target");
    driver.check(
        driver.getApi().memsetD8Async(toDevice(target), value, bytes,
                                      static_cast<cuda::Stream>(stream)),
        "setting device memory");
  });
}

HlaStatus hlaStreamCreate(int32_t device, void **stream) {
  return guardOnDevice(device, [&](Driver &driver) {
    requireNonNull(stream, "stream");
    cuda::Stream result = nullptr;
    driver.check(driver.getApi().streamCreate(&result, cuda::streamNonBlocking),
                 "creation of a stream");
    *stream = result;
  });
}

HlaStatus hlaStreamDestroy(int32_t device, void *stream) {
  if (!stream)
    return HLA_STATUS_OK;
  return guardOnDevice(device, [&](Driver &driver) {
    driver.check(
        driver.getApi().streamDestroy(static_cast<cuda::Stream>(stream)),
        "destruction of a stream");
  });
}

HlaStatus hlaStreamSynchronize(int32_t device, void *stream) {
  return guardOnDevice(device, [&](Driver &driver) {
    driver.check(
        driver.getApi().streamSynchronize(static_cast<cuda::Stream>(stream)),
        "waiting for a stream");
  });
}

HlaStatus hlaEventCreate(int32_t device, void **event) {
  return guardOnDevice(device, [&](Driver &driver) {
    requireNonNull(event, "event");
    cuda::Event result = nullptr;
    driver.check(driver.getApi().eventCreate(&result, 0),
                 "creation of an event");
    *event = result;
  });
}

HlaStatus hlaEventDestroy(int32_t device, void *event) {
  if (!event)
    return HLA_STATUS_OK;
  return guardOnDevice(device, [&](Driver &driver) {
    driver.check(driver.getApi().eventDestroy(static_cast<cuda::Event>(event)),
                 "destruction of an event");
  });
}

HlaStatus hlaEventRecord(int32_t device, void *event, void *stream) {
  return guardOnDevice(device, [&](Driver &driver) {
    requireNonNull(event, "event");
    driver.check(driver.getApi().eventRecord(static_cast<cuda::Event>(event),
                                             static_cast<cuda::Stream>(stream)),
                 "recording an event");
  });
}

HlaStatus hlaEventElapsedTime(int32_t device, void *start, void *stop,
                              float *milliseconds) {
  return guardOnDevice(device, [&](Driver &driver) {
    requireNonNull(start, "start");
    requireNonNull(stop, "stop");
    requireNonNull(milliseconds, "milliseconds");
    const cuda::Api &api = driver.getApi();
    driver.check(api.eventSynchronize(static_cast<cuda::Event>(stop)),
                 "waiting for an event");
    driver.check(api.eventElapsedTime(milliseconds,
                                      static_cast<cuda::Event>(start),
                                      static_cast<cuda::Event>(stop)),
                 "time between events");
  });
}
