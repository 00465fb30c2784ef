//===- DeviceTest.cpp - Tests of the device helpers -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "TestDriver.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace hla::runtime::test;

namespace {

class Device : public testing::Test {
protected:
  TestDriver driver;
};

// A process opens the driver once, so its absence is tested in others.
class DeviceDeathTest : public testing::Test {
protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
  }
};

[[noreturn]] void printAndExit(HlaStatus status) {
  std::fprintf(stderr, "%s: %s\n", hlaStatusGetName(status),
               hlaGetLastErrorMessage());
  std::exit(status == HLA_STATUS_OK ? 0 : 1);
}

[[noreturn]] void countDevices(const char *library) {
  setenv("HLA_CUDA_LIBRARY", library, /*overwrite=*/1);
  int32_t count = 0;
  printAndExit(hlaDeviceGetCount(&count));
}

[[noreturn]] void countDevicesAfterFailure(int result) {
  TestDriver driver;
  driver.fail("cuInit", result);
  int32_t count = 0;
  HlaStatus status = hlaDeviceGetCount(&count);
  if (result == 100) {
    // Found once there is one.
    driver.fail("cuInit", 0);
    if (hlaDeviceGetCount(&count) != HLA_STATUS_OK || count != 2)
      std::exit(3);
  }
  printAndExit(status);
}

} // namespace

TEST_F(Device, Queries) {
  int32_t value = 0;
  expectSuccess(hlaDriverGetVersion(&value));
  EXPECT_EQ(value, 12080);
  expectSuccess(hlaDeviceGetCount(&value));
  EXPECT_EQ(value, 2);
  int32_t minor = 0;
  expectSuccess(hlaDeviceGetComputeCapability(1, &value, &minor));
  EXPECT_EQ(value, 9);
  EXPECT_EQ(minor, 0);
  char name[64];
  expectSuccess(hlaDeviceGetName(1, name, sizeof(name)));
  EXPECT_STREQ(name, "Fake GPU 1");
  expectSuccess(hlaDeviceGetName(1, name, 5));
  EXPECT_STREQ(name, "Fake");
  expectFailure(hlaDeviceGetName(1, name, 0), HLA_STATUS_INVALID_ARGUMENT,
                {"0 bytes"});
  expectFailure(hlaDeviceGetName(2, name, 5), HLA_STATUS_NO_DEVICE,
                {"0 to 1", "but got 2"});
  driver.set("devices", 0);
  expectFailure(hlaDeviceGetCount(&value), HLA_STATUS_NO_DEVICE, {"none"});
}

TEST_F(Device, Memory) {
  void *data = nullptr;
  expectSuccess(hlaDeviceAllocate(0, 0, &data));
  EXPECT_EQ(data, nullptr);
  expectSuccess(hlaDeviceFree(0, nullptr));
  expectSuccess(hlaDeviceAllocate(0, 100, &data));
  auto *stream = reinterpret_cast<void *>(uintptr_t(7));
  const char source[8] = "1234567";
  char target[8] = {};
  expectSuccess(hlaMemset(0, data, 0xff, 100, stream));
  expectSuccess(hlaMemcpyHostToDevice(0, data, source, 8, stream));
  expectSuccess(hlaMemcpyDeviceToHost(0, target, data, 8, stream));
  EXPECT_STREQ(target, source);
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 2);
  EXPECT_NE(driver.getLog().find("cuMemsetD8Async 7"), std::string::npos);
  expectSuccess(hlaDeviceFree(0, data));
  EXPECT_EQ(driver.getNumAllocations(), 0);
  EXPECT_EQ(driver.getContextDepth(), 0);

  driver.fail("cuMemAlloc", 2);
  expectFailure(hlaDeviceAllocate(0, 100, &data),
                HLA_STATUS_DEVICE_OUT_OF_MEMORY, {"100 bytes"});
  expectFailure(hlaMemcpyHostToDevice(0, nullptr, source, 8, nullptr),
                HLA_STATUS_INVALID_ARGUMENT, {"'target'"});
}

TEST_F(Device, StreamsAndEvents) {
  void *stream = nullptr;
  void *start = nullptr;
  void *stop = nullptr;
  expectSuccess(hlaStreamCreate(0, &stream));
  EXPECT_NE(driver.getLog().find("cuStreamCreate 1"), std::string::npos);
  expectSuccess(hlaEventCreate(0, &start));
  expectSuccess(hlaEventCreate(0, &stop));
  expectSuccess(hlaEventRecord(0, start, stream));
  expectSuccess(hlaEventRecord(0, stop, stream));
  float milliseconds = 0;
  expectSuccess(hlaEventElapsedTime(0, start, stop, &milliseconds));
  EXPECT_EQ(milliseconds, 1.5f);
  EXPECT_EQ(driver.count("cuEventSynchronize"), 1);
  expectSuccess(hlaEventDestroy(0, start));
  expectSuccess(hlaEventDestroy(0, stop));
  expectSuccess(hlaStreamDestroy(0, stream));
  // A kernel's fault shows when its stream is waited for.
  driver.fail("cuStreamSynchronize", 700);
  expectFailure(hlaStreamSynchronize(0, stream), HLA_STATUS_LAUNCH_FAILED,
                {"CUDA_ERROR_ILLEGAL_ADDRESS"});
}

TEST_F(DeviceDeathTest, NoDriver) {
  EXPECT_EXIT(countDevices("libhla-absent.so.1"), testing::ExitedWithCode(1),
              "NO_DRIVER: expected the CUDA driver's library "
              "'libhla-absent.so.1'.*but got");
}

TEST_F(DeviceDeathTest, OldDriver) {
  EXPECT_EXIT(countDevices("libm.so.6"), testing::ExitedWithCode(1),
              "DRIVER_TOO_OLD: expected a CUDA driver of version 11.2.*"
              "libm.so.6");
}

TEST_F(DeviceDeathTest, NoDevice) {
  EXPECT_EXIT(countDevicesAfterFailure(100), testing::ExitedWithCode(1),
              "NO_DEVICE: expected a CUDA device, but got none");
}

TEST_F(DeviceDeathTest, BrokenDriver) {
  EXPECT_EXIT(countDevicesAfterFailure(803), testing::ExitedWithCode(1),
              "NO_DRIVER: start of the CUDA driver.*803");
  EXPECT_EXIT(countDevicesAfterFailure(999), testing::ExitedWithCode(1),
              "DRIVER_ERROR: start of the CUDA driver.*999");
}
