//===- LoadTest.cpp - Tests of loading kernels into contexts ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sha256.h"
#include "TestBundle.h"
#include "TestDriver.h"

#include "gtest/gtest.h"

using namespace hla::runtime;
using namespace hla::runtime::test;
using nlohmann::json;

namespace {

class Load : public testing::Test {
protected:
  HlaStatus launch(HlaBundle *bundle) {
    std::vector<HlaTensor> views = viewsOf(tensors);
    return hlaBundleLaunch(bundle, views.data(), views.size(), nullptr, nullptr,
                           0);
  }

  TestDriver driver;
  std::vector<TestTensor> tensors = makeTensors(2, 100, 3);
};

} // namespace

TEST_F(Load, ModuleIsLoadedOncePerContext) {
  LoadedBundle bundle;
  expectSuccess(hlaBundlePrepare(bundle, 0));
  EXPECT_EQ(driver.count("cuModuleLoadDataEx"), 1);
  expectSuccess(launch(bundle));
  expectSuccess(hlaBundlePrepare(bundle, -1));
  EXPECT_EQ(driver.count("cuModuleLoadDataEx"), 1);
  for (TestTensor &tensor : tensors)
    tensor.deviceId = 1;
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.count("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(driver.getLaunches().back()["device"], "1");
}

TEST_F(Load, ModulesGoWithTheBundle) {
  int before = driver.getNumModules();
  {
    LoadedBundle bundle;
    expectSuccess(hlaBundlePrepare(bundle, 0));
    expectSuccess(hlaBundlePrepare(bundle, 1));
    EXPECT_EQ(driver.getNumModules(), before + 2);
  }
  EXPECT_EQ(driver.getNumModules(), before);
  EXPECT_EQ(driver.getContextDepth(), 0);
}

TEST_F(Load, CurrentContextIsUsedAndKept) {
  LoadedBundle bundle;
  driver.pushContext(0);
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getContextDepth(), 1);
  EXPECT_EQ(driver.count("cuCtxPushCurrent"), 0);
  // Of another device: that device's primary context, for the call alone.
  for (TestTensor &tensor : tensors)
    tensor.deviceId = 1;
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getLaunches().back()["device"], "1");
  EXPECT_EQ(driver.count("cuCtxPushCurrent"), 1);
  EXPECT_EQ(driver.getContextDepth(), 1);
  // Managed memory belongs to no device.
  for (TestTensor &tensor : tensors)
    tensor.deviceType = HLA_DEVICE_CUDA_MANAGED;
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getLaunches().back()["device"], "0");
}

TEST_F(Load, DestroyedContextsAreLeftAlone) {
  int before = driver.getNumModules();
  {
    LoadedBundle bundle;
    void *context = driver.pushContext(0);
    expectSuccess(launch(bundle));
    EXPECT_EQ(driver.getNumModules(), before + 1);
    driver.destroyContext(context);
    EXPECT_EQ(driver.getNumModules(), before);
  }
  EXPECT_EQ(driver.count("cuModuleUnload"), 0);
}

TEST_F(Load, UnsupportedDevices) {
  LoadedBundle specific;
  for (auto [major, minor] : {std::pair(8, 0), std::pair(9, 1), {10, 0}}) {
    driver.set("major", major);
    driver.set("minor", minor);
    expectFailure(launch(specific), HLA_STATUS_UNSUPPORTED_DEVICE,
                  {"compute capability 9.0 (the bundle is for sm_90a)",
                   "Fake GPU 0 of " + std::to_string(major)});
  }

  json manifest = makeManifest();
  manifest["target"] = {{"arch", "sm_80"},
                        {"ptx_isa", "7.0"},
                        {"compute_capability", {8, 0}},
                        {"forward_compatible", true}};
  LoadedBundle portable(manifest);
  driver.set("major", 7);
  driver.set("minor", 5);
  expectFailure(launch(portable), HLA_STATUS_UNSUPPORTED_DEVICE,
                {"8.0 or later", "7.5"});
  driver.set("major", 12);
  driver.set("minor", 0);
  expectSuccess(launch(portable));
}

TEST_F(Load, CubinIsUsedWhereItFits) {
  std::string cubin = "\x7f"
                      "ELF" +
                      makePtx();
  json manifest = makeManifest();
  manifest["target"] = {{"arch", "sm_86"},
                        {"ptx_isa", "7.1"},
                        {"compute_capability", {8, 6}},
                        {"forward_compatible", true}};
  manifest["files"]["cubin"] = {{"path", "masked.cubin"},
                                {"sha256", sha256(cubin)}};
  TestBundle directory(manifest);
  directory.write("masked.cubin", cubin);
  auto load = [&](int major, int minor) {
    driver.set("major", major);
    driver.set("minor", minor);
    LoadedBundle bundle(directory);
    expectSuccess(hlaBundlePrepare(bundle, 0));
  };
  load(8, 6);
  load(8, 9);
  EXPECT_EQ(driver.count("cubin"), 2);
  EXPECT_EQ(driver.count("ptx"), 0);
  load(9, 0);
  EXPECT_EQ(driver.count("ptx"), 1);
  // A cubin that this driver does not know: the PTX is there too.
  driver.fail("cubin", 200);
  load(8, 6);
  EXPECT_EQ(driver.count("cubin"), 3);
  EXPECT_EQ(driver.count("ptx"), 2);
  // Other errors are not hidden.
  driver.fail("cubin", 2);
  LoadedBundle bundle(directory);
  expectFailure(hlaBundlePrepare(bundle, 0), HLA_STATUS_DEVICE_OUT_OF_MEMORY,
                {"masked.cubin"});
}

TEST_F(Load, RefusedPtx) {
  LoadedBundle bundle;
  driver.set("driver_version", 12040);
  driver.fail("ptx", 222);
  expectFailure(launch(bundle), HLA_STATUS_DRIVER_TOO_OLD,
                {"PTX ISA 8.7", "masked.ptx", "but got one of CUDA 12.4"});
  driver.fail("ptx", 218);
  expectFailure(
      launch(bundle), HLA_STATUS_INVALID_KERNEL,
      {"masked.ptx", "9.0", "CUDA_ERROR_INVALID_PTX", "ptxas: line 3"});
  // A failure is not kept.
  driver.fail("ptx", 0);
  expectSuccess(launch(bundle));

  json manifest = makeManifest();
  manifest["launches"][1]["kernel"] = "absent";
  LoadedBundle absent(manifest);
  int modules = driver.getNumModules();
  expectFailure(launch(absent), HLA_STATUS_INVALID_KERNEL,
                {"a kernel 'absent' in masked.ptx"});
  EXPECT_EQ(driver.getNumModules(), modules);
}

TEST_F(Load, ParametersOfTheCode) {
  json manifest = makeManifest();
  json &parameters = manifest["launches"][0]["parameters"];
  parameters.push_back({{"type", "f32"}, {"value", 1}});
  LoadedBundle more(manifest);
  expectFailure(launch(more), HLA_STATUS_INVALID_KERNEL,
                {"kernel 'masked_states', parameter 4: expected 4 bytes (as in "
                 "the manifest), but got none"});
  parameters.erase(4);
  parameters.erase(3);
  LoadedBundle fewer(manifest);
  expectFailure(launch(fewer), HLA_STATUS_INVALID_KERNEL,
                {"parameter 3: expected no parameter", "but got 4 bytes"});
  parameters.push_back({{"type", "i64"}, {"value", 1}});
  LoadedBundle wider(manifest);
  expectFailure(launch(wider), HLA_STATUS_INVALID_KERNEL,
                {"parameter 3: expected 8 bytes", "but got 4 bytes"});
  EXPECT_TRUE(driver.getLaunches().empty());
}
