//===- TensorMapTest.cpp - Tests of launches that take tensor maps *- C++ -===//
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
using nlohmann::json;
using Pointer = json::json_pointer;

namespace {

class TensorMap : public testing::Test {
protected:
  HlaStatus launch(HlaBundle *bundle, void *scratch = nullptr,
                   size_t scratchBytes = 0) {
    std::vector<HlaTensor> views = viewsOf(tensors);
    return hlaBundleLaunch(bundle, views.data(), views.size(), nullptr, scratch,
                           scratchBytes);
  }

  /// Launches the manifest and expects that nothing reaches the driver.
  void expectRefusal(const json &manifest, HlaStatus status,
                     const std::vector<std::string> &parts) {
    LoadedBundle bundle(manifest);
    std::vector<HlaTensor> views = viewsOf(tensors);
    expectFailure(hlaBundleCheckArguments(bundle, views.data(), views.size(),
                                          /*dims=*/nullptr),
                  status, parts);
    expectFailure(launch(bundle), status, parts);
    EXPECT_EQ(driver.getLog(), "");
  }

  TestDriver driver;
  std::vector<TestTensor> tensors = makeTensors(2, 100, 3);
};

// A process opens one driver, so the old one is another's.
class TensorMapDeathTest : public testing::Test {
protected:
  void SetUp() override {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
  }
};

/// The manifest with `key` of its first parameter, a map of q, replaced.
json withMap(const char *key, const json &value) {
  json manifest = makeTensorMapManifest();
  manifest[Pointer("/launches/0/parameters/0/" + std::string(key))] = value;
  return manifest;
}

/// The parameters of a launch as the kernel gets them.
std::vector<std::string> split(const std::string &parameters) {
  std::vector<std::string> result(1);
  for (char c : parameters)
    if (c == ',')
      result.emplace_back();
    else
      result.back() += c;
  return result;
}

/// What the stand-in encodes of a map at `address`.
std::string encoded(uint64_t address) {
  std::string bytes = hex(address);
  for (int i = 0; i < 120; ++i)
    bytes += "d5";
  return bytes;
}

[[noreturn]] void prepareOnOldDriver() {
  setenv("HLA_CUDA_LIBRARY", HLA_OLD_FAKE_CUDA_LIBRARY, /*overwrite=*/1);
  LoadedBundle plain;
  if (hlaBundlePrepare(plain, 0) != HLA_STATUS_OK)
    std::exit(2);
  LoadedBundle mapped(makeTensorMapManifest());
  HlaStatus status = hlaBundlePrepare(mapped, 0);
  std::fprintf(stderr, "%s: %s\n", hlaStatusGetName(status),
               hlaGetLastErrorMessage());
  std::exit(status == HLA_STATUS_OK ? 0 : 1);
}

} // namespace

TEST_F(TensorMap, WhatTheDriverIsAsked) {
  LoadedBundle bundle(makeTensorMapManifest());
  tensors[0].strides = {25600, 256, 80, 1};
  uint64_t scratch = 0x7f0000000000;
  expectSuccess(launch(bundle, reinterpret_cast<void *>(scratch), 1536));

  std::vector<TensorMapRecord> maps = driver.getTensorMaps();
  ASSERT_EQ(maps.size(), 3u);
  EXPECT_EQ(maps[0]["type"], "9"); // BFLOAT16
  EXPECT_EQ(maps[0]["rank"], "4");
  EXPECT_EQ(maps[0]["address"], std::to_string(tensors[0].address));
  EXPECT_EQ(maps[0]["extents"], "64,3,100,2");
  EXPECT_EQ(maps[0]["strides"], "160,512,51200");
  EXPECT_EQ(maps[0]["box"], "64,1,64,1");
  EXPECT_EQ(maps[0]["swizzle"], "3"); // 128B

  EXPECT_EQ(maps[1]["type"], "7"); // FLOAT32
  EXPECT_EQ(maps[1]["rank"], "2");
  EXPECT_EQ(maps[1]["address"], std::to_string(scratch + 128));
  EXPECT_EQ(maps[1]["extents"], "32,11");
  EXPECT_EQ(maps[1]["strides"], "128");
  EXPECT_EQ(maps[1]["box"], "8,256");
  EXPECT_EQ(maps[1]["swizzle"], "1"); // 32B

  EXPECT_EQ(maps[2]["address"], std::to_string(tensors[2].address));
  EXPECT_EQ(maps[2]["extents"], "64,100,3,2");
  EXPECT_EQ(maps[2]["strides"], "384,128,38400");
  EXPECT_EQ(maps[2]["box"], "8,64,1,1");
  EXPECT_EQ(maps[2]["swizzle"], "0");
  for (TensorMapRecord &map : maps) {
    EXPECT_EQ(map["interleave"], "0");
    EXPECT_EQ(map["promotion"], "3"); // L2_256B
    EXPECT_EQ(map["fill"], "0");      // zeros
  }
}

TEST_F(TensorMap, WhatTheKernelGets) {
  LoadedBundle bundle(makeTensorMapManifest());
  uint64_t scratch = 0x7f0000000000;
  expectSuccess(launch(bundle, reinterpret_cast<void *>(scratch), 1536));
  std::vector<LaunchRecord> launches = driver.getLaunches();
  ASSERT_EQ(launches.size(), 2u);
  std::vector<std::string> parameters = split(launches[0]["parameters"]);
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[0], encoded(tensors[0].address));
  EXPECT_EQ(parameters[1], hex(int32_t(100)));
  EXPECT_EQ(parameters[2], encoded(scratch + 128));
  EXPECT_EQ(parameters[3], encoded(tensors[2].address));

  // In scratch that the runtime allocates.
  expectSuccess(launch(bundle));
  LaunchRecord own = driver.getLaunches().at(2);
  EXPECT_EQ(split(own["parameters"]).at(2),
            encoded(std::stoull(driver.getTensorMaps().at(4)["address"])));
  EXPECT_EQ(driver.getNumAllocations(), 0);
  // Nothing of a launch is kept for the next.
  tensors[0].address += 4096;
  expectSuccess(launch(bundle));
  EXPECT_EQ(split(driver.getLaunches().at(4)["parameters"]).at(0),
            encoded(tensors[0].address));
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 9);
}

TEST_F(TensorMap, TypesSwizzlesAndRanks) {
  const char *const types[] = {"f16", "f32", "f64"};
  for (int i = 0; i < 3; ++i) {
    json manifest = makeTensorMapManifest();
    json &map = manifest[Pointer("/launches/0/parameters/2")];
    map["dtype"] = types[i];
    map["shape"] = {32};
    map["strides"] = json::array();
    map["box"] = {8};
    map["swizzle"] = 64;
    LoadedBundle bundle(manifest);
    expectSuccess(launch(bundle));
    TensorMapRecord record = driver.getTensorMaps().at(3 * i + 1);
    EXPECT_EQ(record["type"], std::to_string(6 + i)); // FLOAT16 and on
    EXPECT_EQ(record["rank"], "1");
    EXPECT_EQ(record["strides"], "");
    EXPECT_EQ(record["swizzle"], "2"); // 64B
  }
  json manifest = withMap("shape", {32, 2, "H", "T", "B"});
  json &map = manifest[Pointer("/launches/0/parameters/0")];
  map["strides"].insert(map["strides"].begin(), 32);
  map["box"] = {32, 2, 1, 64, 1};
  LoadedBundle bundle(manifest);
  expectSuccess(launch(bundle));
  TensorMapRecord record = driver.getTensorMaps().at(9);
  EXPECT_EQ(record["rank"], "5");
  EXPECT_EQ(record["extents"], "32,2,3,100,2");
  EXPECT_EQ(record["strides"], "64,128,384,38400");
}

TEST_F(TensorMap, MapsOfNoElementsAreZeros) {
  // Of the map alone: the argument is misaligned, and nobody looks.
  json manifest = withMap("shape/1", "H - 3");
  manifest["arguments"][0]["alignment"] = 2;
  tensors[0].address += 2;
  LoadedBundle bundle(manifest);
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 2);
  std::vector<std::string> parameters =
      split(driver.getLaunches().at(0)["parameters"]);
  EXPECT_EQ(parameters[0], std::string(256, '0'));
  EXPECT_EQ(parameters[3], encoded(tensors[2].address));

  // Of the argument, whose pointer is null, in a grid that is not empty.
  manifest = makeTensorMapManifest();
  manifest["launches"][0]["grid"] = {"1", "1", "1"};
  json &scratch = manifest[Pointer("/launches/0/parameters/2")];
  scratch["shape"][1] = "B * H";
  scratch["scratch"] = 0;
  LoadedBundle empty(manifest);
  tensors = makeTensors(0, 100, 3);
  for (TestTensor &tensor : tensors)
    tensor.address = 0;
  expectSuccess(launch(empty));
  EXPECT_EQ(driver.count("cuTensorMapEncodeTiled"), 2);
  parameters = split(driver.getLaunches().back()["parameters"]);
  for (int i : {0, 2, 3})
    EXPECT_EQ(parameters[i], std::string(256, '0'));
}

TEST_F(TensorMap, StridesOfOneElementMayBeAnything) {
  // Expressions see 0 for these of arguments.
  LoadedBundle bundle(makeTensorMapManifest());
  tensors = makeTensors(1, 100, 1);
  for (TestTensor &tensor : tensors)
    tensor.strides = {7, 64, -3, 1};
  expectSuccess(launch(bundle));
  std::vector<TensorMapRecord> maps = driver.getTensorMaps();
  EXPECT_EQ(maps[0]["extents"], "64,1,100,1");
  EXPECT_EQ(maps[0]["strides"], "16,128,16");
  EXPECT_EQ(maps[1]["extents"], "32,1");
  EXPECT_EQ(maps[1]["strides"], "16");

  for (const char *stride : {"3", "-64", "9223372036854775807"}) {
    LoadedBundle strange(withMap("strides/0", stride));
    expectSuccess(launch(strange));
    EXPECT_EQ(driver.getTensorMaps().back()["strides"], "128,16,16");
  }
}

TEST_F(TensorMap, BroadcastsAreTheDrivers) {
  LoadedBundle bundle(makeTensorMapManifest());
  tensors[0].strides = {0, 64, 0, 1};
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getTensorMaps().at(0)["strides"], "0,128,0");
}

TEST_F(TensorMap, Extents) {
  expectRefusal(withMap("shape/1", "H - 4"), HLA_STATUS_LAUNCH_LIMIT,
                {"kernel 'masked_maps', parameter 0 (tensor map of 'q'), "
                 "shape[1] = H - 4: expected an extent from 0 to 4294967296, "
                 "but got -1"});
  expectRefusal(withMap("shape/2", "4294967297"), HLA_STATUS_LAUNCH_LIMIT,
                {"shape[2] = 4294967297", "but got 4294967297"});
  // Also beside an extent of 0.
  json manifest = withMap("shape/1", 0);
  manifest[Pointer("/launches/0/parameters/0/shape/3")] = "-B";
  expectRefusal(manifest, HLA_STATUS_LAUNCH_LIMIT, {"shape[3] = -B"});
  expectRefusal(withMap("shape/1", "ceildiv(T, H - 3)"), HLA_STATUS_EVALUATION,
                {"parameter 0 (tensor map of 'q'), shape[1] = ceildiv(T, H - "
                 "3): ",
                 "expected a divisor"});
  LoadedBundle bundle(withMap("shape/1", "4294967296"));
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getTensorMaps().at(0)["extents"], "64,4294967296,100,2");
}

TEST_F(TensorMap, Strides) {
  expectRefusal(withMap("strides/0", "stride(q, 2) + 4"), HLA_STATUS_STRIDE,
                {"kernel 'masked_maps', parameter 0 (tensor map of 'q'), "
                 "strides[0] = stride(q, 2) + 4: expected a stride that is a "
                 "multiple of 8 elements (16 bytes, as tensor maps have them), "
                 "but got 68"});
  expectRefusal(withMap("strides/1", "-8"), HLA_STATUS_STRIDE,
                {"strides[1] = -8: expected a stride of at least 0"});
  expectRefusal(withMap("strides/2", "549755813888"), HLA_STATUS_STRIDE,
                {"expected a stride below 549755813888 elements (2^40 bytes), "
                 "but got 549755813888"});
  expectRefusal(withMap("strides/2", INT64_MAX), HLA_STATUS_STRIDE,
                {"but got 9223372036854775807"});
  expectRefusal(withMap("strides/2", "T * 9223372036854775807"),
                HLA_STATUS_EVALUATION, {"strides[2] = T * 922"});
  json manifest = makeTensorMapManifest();
  manifest[Pointer("/launches/0/parameters/2/strides/0")] = 34;
  expectRefusal(manifest, HLA_STATUS_STRIDE,
                {"parameter 2 (tensor map of scratch), strides[0] = 34",
                 "multiple of 4 elements", "but got 34"});
  LoadedBundle bundle(withMap("strides/2", "549755813880"));
  expectSuccess(launch(bundle));
  EXPECT_EQ(driver.getTensorMaps().at(0)["strides"], "128,384,1099511627760");
}

TEST_F(TensorMap, Addresses) {
  json manifest = makeTensorMapManifest();
  manifest["arguments"][0]["alignment"] = 2;
  tensors[0].address += 8;
  expectRefusal(manifest, HLA_STATUS_ALIGNMENT,
                {"kernel 'masked_maps', parameter 0 (tensor map of 'q'): "
                 "expected a pointer aligned to 16 bytes, but got "
                 "0x700000000008"});
  tensors = makeTensors(2, 100, 3);
  manifest[Pointer("/launches/0/parameters/2/scratch")] = "100 + H";
  expectRefusal(manifest, HLA_STATUS_ALIGNMENT,
                {"parameter 2 (tensor map of scratch): expected an offset that "
                 "is a multiple of 16 bytes, but got 103"});
  manifest[Pointer("/launches/0/parameters/2/scratch")] = "1552";
  expectRefusal(manifest, HLA_STATUS_EVALUATION,
                {"parameter 2", "an offset into 1536 bytes", "1552"});
  // An argument of no elements under a map that claims some.
  manifest = withMap("shape", {64, 1, 1, 1});
  manifest["launches"][0]["grid"] = {"1", "1", "1"};
  tensors = makeTensors(0, 100, 3);
  tensors[0].address = 0;
  expectRefusal(manifest, HLA_STATUS_NULL_POINTER,
                {"parameter 0 (tensor map of 'q')", "but got null"});
}

TEST_F(TensorMap, RefusedByTheDriver) {
  LoadedBundle bundle(makeTensorMapManifest());
  driver.fail("cuTensorMapEncodeTiled", 1);
  expectFailure(
      launch(bundle), HLA_STATUS_DRIVER_ERROR,
      {"kernel 'masked_maps', parameter 0 (tensor map of 'q'), bf16 [64, 3, "
       "100, 2] at 0x700000000000 with strides of [128, 384, 38400] bytes, a "
       "box of [64, 1, 64, 1] and swizzle 128: expected success, but got "
       "CUDA_ERROR_INVALID_VALUE (as the test asked)"});
  EXPECT_TRUE(driver.getLaunches().empty());
  EXPECT_EQ(driver.getNumAllocations(), 0);
  EXPECT_EQ(driver.getContextDepth(), 0);

  // A map of the last kernel is made before the first kernel starts.
  json manifest = makeTensorMapManifest();
  std::swap(manifest["launches"][0], manifest["launches"][1]);
  LoadedBundle last(manifest);
  expectFailure(launch(last), HLA_STATUS_DRIVER_ERROR, {"'masked_maps'"});
  EXPECT_TRUE(driver.getLaunches().empty());
  driver.fail("cuTensorMapEncodeTiled", 0);
  expectSuccess(launch(last));
  EXPECT_EQ(driver.getLaunches().size(), 2u);
}

TEST_F(TensorMap, SizesInTheCode) {
  json manifest = makeTensorMapManifest();
  json &parameters = manifest["launches"][0]["parameters"];
  std::swap(parameters[0], parameters[1]);
  LoadedBundle exchanged(manifest);
  expectFailure(hlaBundlePrepare(exchanged, 0), HLA_STATUS_INVALID_KERNEL,
                {"kernel 'masked_maps', parameter 0: expected 4 bytes (as in "
                 "the manifest), but got 128 bytes in the code"});
  std::swap(parameters[0], parameters[1]);
  parameters[1] = parameters[0];
  LoadedBundle wider(manifest);
  expectFailure(hlaBundlePrepare(wider, 0), HLA_STATUS_INVALID_KERNEL,
                {"parameter 1: expected 128 bytes", "but got 4 bytes"});
}

TEST_F(TensorMapDeathTest, OldDriver) {
  EXPECT_EXIT(prepareOnOldDriver(), testing::ExitedWithCode(1),
              "DRIVER_TOO_OLD: expected a driver of CUDA 12.0 or later "
              ".kernel 'masked_maps' takes tensor maps., but got one of CUDA");
}
