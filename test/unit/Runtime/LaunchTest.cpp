//===- LaunchTest.cpp - Tests of launching kernels --------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "TestDriver.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <thread>

using namespace hla::runtime;
using namespace hla::runtime::test;
using nlohmann::json;

namespace {

class Launch : public testing::Test {
protected:
  HlaStatus launch(HlaBundle *bundle, void *stream = nullptr,
                   void *scratch = nullptr, size_t scratchBytes = 0) {
    std::vector<HlaTensor> views = viewsOf(tensors);
    return hlaBundleLaunch(bundle, views.data(), views.size(), stream, scratch,
                           scratchBytes);
  }

  TestDriver driver;
  std::vector<TestTensor> tensors = makeTensors(2, 100, 3);
};

json withLaunch(const char *key, const json &value) {
  json manifest = makeManifest();
  manifest["launches"][1][key] = value;
  return manifest;
}

} // namespace

TEST_F(Launch, GridBlockAndParameters) {
  LoadedBundle bundle;
  auto *scratch = reinterpret_cast<void *>(uintptr_t(0x7f0000000000));
  auto *stream = reinterpret_cast<void *>(uintptr_t(5));
  expectSuccess(launch(bundle, stream, scratch, 1536));

  std::vector<LaunchRecord> launches = driver.getLaunches();
  ASSERT_EQ(launches.size(), 2u);
  LaunchRecord states = launches[0];
  EXPECT_EQ(states["kernel"], "masked_states");
  EXPECT_EQ(states["grid"], "6,2,1");
  EXPECT_EQ(states["block"], "128,1,1");
  EXPECT_EQ(states["shared"], "0");
  EXPECT_EQ(states["stream"], "5");
  EXPECT_EQ(states["device"], "0");
  EXPECT_EQ(states["parameters"],
            hex(tensors[1].address) + "," + hex(uint64_t(0x7f0000000080)) +
                "," + hex(int64_t(192)) + "," + hex(int32_t(100)));

  LaunchRecord output = launches[1];
  EXPECT_EQ(output["kernel"], "masked_output");
  EXPECT_EQ(output["grid"], "6,1,1");
  EXPECT_EQ(output["block"], "256,1,1");
  EXPECT_EQ(output["shared"], "98304");
  EXPECT_EQ(output["parameters"],
            hex(tensors[0].address) + "," + hex(tensors[2].address) + "," +
                hex(uint64_t(0x7f0000000000)) + "," + hex(int64_t(-7)) + "," +
                hex(0.5f) + "," + hex(0.25));
  EXPECT_EQ(driver.count("cuMemAllocAsync"), 0);
  EXPECT_EQ(driver.count("cuStreamSynchronize"), 0);
}

TEST_F(Launch, UnusedStridesAreZero) {
  LoadedBundle bundle;
  tensors = makeTensors(2, 1, 3);
  for (TestTensor &tensor : tensors)
    tensor.strides = {192, -99, 64, 1};
  expectSuccess(launch(bundle));
  LaunchRecord states = driver.getLaunches().at(0);
  EXPECT_NE(
      states["parameters"].find("," + hex(int64_t(0)) + "," + hex(int32_t(1))),
      std::string::npos);
}

TEST_F(Launch, ScratchIsAllocatedInStreamOrder) {
  LoadedBundle bundle;
  expectSuccess(launch(bundle, reinterpret_cast<void *>(uintptr_t(9))));
  std::string log = driver.getLog();
  size_t allocation = log.find("cuMemAllocAsync 1536 9");
  size_t kernel = log.find("cuLaunchKernel");
  size_t release = log.find("cuMemFreeAsync 9");
  EXPECT_LT(allocation, kernel);
  EXPECT_LT(log.rfind("cuLaunchKernel"), release);
  EXPECT_NE(release, std::string::npos);
  EXPECT_EQ(driver.getNumAllocations(), 0);

  // Also when a launch fails.
  driver.fail("cuLaunchKernel", 1);
  expectFailure(
      launch(bundle), HLA_STATUS_LAUNCH_FAILED,
      {"kernel 'masked_states'", "6x2x1", "CUDA_ERROR_INVALID_VALUE"});
  EXPECT_EQ(driver.getNumAllocations(), 0);
}

TEST_F(Launch, CallersScratchIsChecked) {
  LoadedBundle bundle;
  auto address = [](uint64_t value) { return reinterpret_cast<void *>(value); };
  expectFailure(launch(bundle, nullptr, address(0x1000), 1535),
                HLA_STATUS_SCRATCH,
                {"at least 1536 bytes (256 * B * H)", "but got 1535"});
  expectFailure(launch(bundle, nullptr, address(0x1080), 1536),
                HLA_STATUS_SCRATCH, {"aligned to 256 bytes", "128 past"});
  expectFailure(launch(bundle, nullptr, address(tensors[1].address), 1536),
                HLA_STATUS_SCRATCH, {"apart from argument 'k'"});
  EXPECT_TRUE(driver.getLaunches().empty());
}

TEST_F(Launch, EmptyGridsAreSkipped) {
  LoadedBundle bundle;
  tensors = makeTensors(2, 0, 3); // the first kernel's grid is (6, 0, 1)
  expectSuccess(launch(bundle));
  ASSERT_EQ(driver.getLaunches().size(), 1u);
  EXPECT_EQ(driver.getLaunches()[0]["kernel"], "masked_output");
  tensors = makeTensors(0, 5, 3);
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getLaunches().size(), 1u);
}

TEST_F(Launch, BadArgumentsReachNoDriver) {
  LoadedBundle bundle;
  tensors[0].shape[1] = 7;
  expectFailure(launch(bundle), HLA_STATUS_DIM_MISMATCH, {});
  EXPECT_EQ(driver.getLog(), "");
}

TEST_F(Launch, SharedMemory) {
  {
    LoadedBundle bundle;
    expectSuccess(hlaBundlePrepare(bundle, 0));
    EXPECT_NE(driver.getLog().find("cuFuncSetAttribute masked_output 8 98304"),
              std::string::npos);
    EXPECT_EQ(driver.getLog().find("cuFuncSetAttribute masked_states"),
              std::string::npos);
  }
  LoadedBundle large(withLaunch("dynamic_shared_memory", "232448 - 1023"));
  expectFailure(hlaBundlePrepare(large, 0), HLA_STATUS_LAUNCH_LIMIT,
                {"kernel 'masked_output'", "at most 231424 bytes", "Fake GPU 0",
                 "231425"});

  // An amount that depends on the arguments is raised when it is known.
  LoadedBundle variable(withLaunch("dynamic_shared_memory", "1024 * T"));
  expectSuccess(launch(variable));
  EXPECT_NE(driver.getLog().find("cuFuncSetAttribute masked_output 8 102400"),
            std::string::npos);
  int calls = driver.count("cuFuncSetAttribute");
  tensors = makeTensors(2, 90, 3);
  expectSuccess(launch(variable));
  EXPECT_EQ(driver.count("cuFuncSetAttribute"), calls);
  tensors = makeTensors(2, 1000, 3);
  expectFailure(launch(variable), HLA_STATUS_LAUNCH_LIMIT, {"1024000"});
}

TEST_F(Launch, Clusters) {
  json manifest = withLaunch("cluster", {2, 1, 1});
  LoadedBundle bundle(manifest);
  expectSuccess(launch(bundle));
  LaunchRecord output = driver.getLaunches().back();
  EXPECT_EQ(output["symbol"], "cuLaunchKernelEx");
  EXPECT_EQ(output["cluster"], "2,1,1");
  EXPECT_EQ(output["grid"], "6,1,1");
  EXPECT_EQ(driver.getLog().find("masked_output 14 1"), std::string::npos);

  manifest = withLaunch("cluster", {16, 1, 1});
  manifest["launches"][1]["grid"][0] = "16 * B";
  LoadedBundle large(manifest);
  expectSuccess(launch(large));
  EXPECT_NE(driver.getLog().find("cuFuncSetAttribute masked_output 14 1"),
            std::string::npos);
}

TEST_F(Launch, DriverErrors) {
  LoadedBundle bundle;
  driver.fail("cuMemAllocAsync", 2);
  expectFailure(launch(bundle), HLA_STATUS_DEVICE_OUT_OF_MEMORY,
                {"1536 bytes of scratch"});
  driver.fail("cuMemAllocAsync", 0);
  driver.fail("cuLaunchKernel", 700);
  expectFailure(launch(bundle), HLA_STATUS_LAUNCH_FAILED,
                {"CUDA_ERROR_ILLEGAL_ADDRESS (as the test asked)"});
  driver.fail("cuLaunchKernel", 4321);
  expectFailure(launch(bundle), HLA_STATUS_LAUNCH_FAILED, {"CUDA error 4321"});
  driver.fail("cuLaunchKernel", 0);
  driver.fail("cuCtxPushCurrent", 201);
  expectFailure(launch(bundle), HLA_STATUS_DRIVER_ERROR, {"context current"});
  EXPECT_EQ(driver.getContextDepth(), 0);
  driver.fail("cuCtxPushCurrent", 0);
  tensors[0].deviceId = tensors[1].deviceId = tensors[2].deviceId = 2;
  expectFailure(launch(bundle), HLA_STATUS_NO_DEVICE,
                {"device from 0 to 1", "but got 2"});
}

TEST_F(Launch, FromManyThreads) {
  LoadedBundle bundle;
  std::vector<std::thread> threads;
  std::vector<int> failures(8, 0);
  for (size_t i = 0; i < failures.size(); ++i)
    threads.emplace_back([&, i] {
      std::vector<TestTensor> own = makeTensors(1, 64 + i, 2);
      for (TestTensor &tensor : own)
        tensor.deviceId = static_cast<int32_t>(i % 2);
      std::vector<HlaTensor> views = viewsOf(own);
      for (int n = 0; n < 50; ++n)
        failures[i] += hlaBundleLaunch(bundle, views.data(), 3, nullptr,
                                       nullptr, 0) != HLA_STATUS_OK;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(std::count(failures.begin(), failures.end(), 0), 8);
  EXPECT_EQ(driver.count("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(driver.getLaunches().size(), 8u * 50 * 2);
  EXPECT_EQ(driver.getNumAllocations(), 0);
}
