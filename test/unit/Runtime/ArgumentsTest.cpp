//===- ArgumentsTest.cpp - Tests of what a launch takes ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include "gtest/gtest.h"

#include <array>

using namespace hla::runtime::test;
using nlohmann::json;

namespace {

class Arguments : public testing::Test {
protected:
  HlaStatus check() {
    std::vector<HlaTensor> views = viewsOf(tensors);
    return hlaBundleCheckArguments(bundle, views.data(), views.size(), dims);
  }

  void expectRefusal(HlaStatus status, const std::vector<std::string> &parts) {
    expectFailure(check(), status, parts);
  }

  LoadedBundle bundle;
  std::vector<TestTensor> tensors = makeTensors(2, 100, 3); // q, k, o
  int64_t dims[3] = {-1, -1, -1};
};

} // namespace

TEST_F(Arguments, Accepted) {
  expectSuccess(check());
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 100);
  EXPECT_EQ(dims[2], 3);
  std::vector<HlaTensor> views = viewsOf(tensors);
  expectSuccess(hlaBundleCheckArguments(bundle, views.data(), 3, nullptr));
}

TEST_F(Arguments, FailureStoresNothing) {
  tensors[1].shape[1] = 99;
  expectRefusal(HLA_STATUS_DIM_MISMATCH, {});
  EXPECT_EQ(dims[0], -1);
}

TEST_F(Arguments, Count) {
  tensors.pop_back();
  expectRefusal(HLA_STATUS_ARGUMENT_COUNT,
                {"entry 'masked'", "3 arguments (q, k, o)", "but got 2"});
  expectFailure(hlaBundleCheckArguments(bundle, nullptr, 0, nullptr),
                HLA_STATUS_ARGUMENT_COUNT, {"but got 0"});
  expectFailure(hlaBundleCheckArguments(bundle, nullptr, 3, nullptr),
                HLA_STATUS_INVALID_ARGUMENT, {"non-null 'arguments'"});
  expectFailure(hlaBundleCheckArguments(nullptr, nullptr, 0, nullptr),
                HLA_STATUS_INVALID_ARGUMENT, {"non-null 'bundle'"});
}

TEST_F(Arguments, RankAndType) {
  tensors[0].shape = {100, 3, 64};
  expectRefusal(HLA_STATUS_RANK_MISMATCH,
                {"argument 'q': expected rank 4, but got 3"});
  tensors = makeTensors(2, 100, 3);
  tensors[1].dtype = {HLA_TYPE_CODE_FLOAT, 16, 1};
  expectRefusal(HLA_STATUS_DTYPE_MISMATCH,
                {"argument 'k': expected element type bf16, but got f16"});
  tensors[1].dtype = {0, 32, 1};
  expectRefusal(HLA_STATUS_DTYPE_MISMATCH, {"but got i32"});
  tensors[1].dtype = {HLA_TYPE_CODE_BFLOAT, 16, 2};
  expectRefusal(HLA_STATUS_DTYPE_MISMATCH, {"but got bf16x2"});
  tensors[1].dtype = {99, 8, 1};
  expectRefusal(HLA_STATUS_DTYPE_MISMATCH, {"but got type99_8"});
  std::vector<HlaTensor> views = viewsOf(makeTensors(2, 100, 3));
  views[0].rank = -4;
  expectFailure(hlaBundleCheckArguments(bundle, views.data(), 3, dims),
                HLA_STATUS_RANK_MISMATCH, {"-4"});
  views[0].rank = 4;
  views[0].shape = nullptr;
  expectFailure(hlaBundleCheckArguments(bundle, views.data(), 3, dims),
                HLA_STATUS_INVALID_ARGUMENT, {"'q'", "a shape"});
}

TEST_F(Arguments, Shape) {
  tensors[1].shape[1] = 99;
  expectRefusal(HLA_STATUS_DIM_MISMATCH,
                {"argument 'k', dimension 1 (T): expected 100 (as in 'q'), but "
                 "got 99"});
  tensors = makeTensors(2, 100, 3);
  tensors[2].shape[3] = 128;
  expectRefusal(HLA_STATUS_SHAPE_MISMATCH,
                {"argument 'o', dimension 3: expected 64, but got 128"});
  tensors = makeTensors(2, -1, 3);
  expectRefusal(HLA_STATUS_SHAPE_MISMATCH, {"dimension 1 (T)", "-1"});
  tensors = makeTensors(2, 1000001, 3);
  expectRefusal(HLA_STATUS_LIMIT,
                {"dimension T", "0 to 1000000", "but got 1000001"});
  tensors = makeTensors(int64_t(1) << 40, 1000, int64_t(1) << 40);
  expectRefusal(HLA_STATUS_SHAPE_MISMATCH, {"64 bits"});
}

TEST_F(Arguments, Empty) {
  for (auto [batch, time, heads] :
       {std::array{0, 100, 3}, std::array{2, 0, 3}, std::array{2, 100, 0}}) {
    tensors = makeTensors(batch, time, heads);
    for (TestTensor &tensor : tensors) {
      tensor.address = 0;
      tensor.strides = {0, 0, 0, 0}; // as numpy gives them
    }
    expectSuccess(check());
  }
}

TEST_F(Arguments, Strides) {
  // The layout [B, H, T, D], transposed.
  for (TestTensor &tensor : tensors)
    tensor.strides = {3 * 100 * 64, 64, 100 * 64, 1};
  expectSuccess(check());
  // A broadcast input.
  tensors[0].strides = {0, 64, 0, 1};
  expectSuccess(check());
  tensors[0].strides = {19200, 192, 64, 2};
  expectRefusal(HLA_STATUS_STRIDE,
                {"argument 'q', dimension 3: expected stride 1", "but got 2"});
  tensors[0].strides = {19200, 196, 64, 1};
  expectRefusal(HLA_STATUS_STRIDE, {"dimension 1 (T)", "multiple of 8", "196"});
  tensors[0].strides = {19200, -192, 64, 1};
  expectRefusal(HLA_STATUS_STRIDE, {"at least 0", "-192"});
  tensors[0].strides = {INT64_MAX - 7, 192, 64, 1};
  expectRefusal(HLA_STATUS_STRIDE, {"'q'", "addresses of 64 bits"});
}

TEST_F(Arguments, StridesOfShortDimensionsAreFree) {
  tensors = makeTensors(1, 100, 1);
  for (TestTensor &tensor : tensors)
    tensor.strides = {-12345, 64, INT64_MIN, 1};
  expectSuccess(check());
}

TEST_F(Arguments, Alignment) {
  tensors[1].address += 8;
  expectRefusal(HLA_STATUS_ALIGNMENT,
                {"argument 'k': expected a pointer aligned to 16 bytes",
                 "0x710000000008"});
  tensors[1].address = 0;
  expectRefusal(HLA_STATUS_NULL_POINTER, {"argument 'k'", "null"});
}

TEST_F(Arguments, Devices) {
  tensors[0].deviceType = HLA_DEVICE_CPU;
  expectRefusal(HLA_STATUS_WRONG_DEVICE,
                {"argument 'q': expected memory of a CUDA device, but got host "
                 "memory"});
  tensors[0].deviceType = 3;
  expectRefusal(HLA_STATUS_WRONG_DEVICE, {"pinned host memory"});
  tensors[0].deviceType = 0;
  expectRefusal(HLA_STATUS_WRONG_DEVICE, {"DLPack device type 0"});
  tensors[0].deviceType = HLA_DEVICE_CUDA_MANAGED;
  expectSuccess(check());
  tensors[2].deviceId = 1;
  expectRefusal(HLA_STATUS_WRONG_DEVICE,
                {"argument 'o'", "device 0 (as 'k')", "device 1"});
}

TEST_F(Arguments, Writes) {
  tensors[2].flags = HLA_TENSOR_READ_ONLY;
  expectRefusal(HLA_STATUS_READ_ONLY, {"argument 'o'", "read-only"});
  tensors[2].flags = 0;
  tensors[0].flags = HLA_TENSOR_READ_ONLY;
  expectSuccess(check());

  tensors[2].strides = {0, 192, 64, 1};
  expectRefusal(HLA_STATUS_OVERLAP,
                {"argument 'o', dimension 0 (B)", "but got 0"});
  tensors[2].strides = {19200, 192, 56, 1};
  expectRefusal(HLA_STATUS_OVERLAP, {"dimension 2 (H)", "above 63", "56"});
  tensors[2].strides = {19200 - 8, 192, 64, 1};
  expectRefusal(HLA_STATUS_OVERLAP, {"dimension 0 (B)", "above 19199"});
  tensors[2].strides = {19200, 192, 64, 1};
  expectSuccess(check());
}

TEST_F(Arguments, Overlap) {
  uint64_t bytes = 2 * 100 * 3 * 64 * 2;
  tensors[1].address = tensors[0].address;
  expectSuccess(check()); // both are read
  tensors[2].address = tensors[0].address + bytes - 16;
  expectRefusal(HLA_STATUS_OVERLAP, {"argument 'o'", "memory apart from 'q'"});
  tensors[2].address = tensors[0].address + bytes;
  expectSuccess(check());
  tensors[2].address = tensors[0].address - bytes;
  expectSuccess(check());
  tensors[2].address = tensors[0].address;
  expectRefusal(HLA_STATUS_OVERLAP, {});
}

TEST_F(Arguments, ScratchBytesNeedNoMemory) {
  for (TestTensor &tensor : tensors) {
    tensor.address = 0;
    tensor.deviceType = 0;
  }
  std::vector<HlaTensor> views = viewsOf(tensors);
  size_t bytes = 0;
  expectSuccess(hlaBundleGetScratchBytes(bundle, views.data(), 3, &bytes));
  EXPECT_EQ(bytes, 256u * 2 * 3);
  expectFailure(hlaBundleGetScratchBytes(bundle, views.data(), 3, nullptr),
                HLA_STATUS_INVALID_ARGUMENT, {"'bytes'"});
  json manifest = makeManifest();
  manifest["scratch"]["bytes"] = "B - 3";
  LoadedBundle negative(manifest);
  expectFailure(hlaBundleGetScratchBytes(negative, views.data(), 3, &bytes),
                HLA_STATUS_EVALUATION, {"scratch", "at least 0", "-1"});
}

TEST_F(Arguments, LaunchLimits) {
  auto check = [&](const char *pointer, const json &value) {
    json manifest = makeManifest();
    manifest[json::json_pointer(pointer)] = value;
    LoadedBundle changed(manifest);
    std::vector<HlaTensor> views = viewsOf(tensors);
    return hlaBundleCheckArguments(changed, views.data(), 3, dims);
  };
  expectSuccess(check("/launches/0/grid/0", 2147483647));
  expectFailure(check("/launches/0/grid/0", "2147483647 + B - 1"),
                HLA_STATUS_LAUNCH_LIMIT,
                {"kernel 'masked_states', grid x", "2147483648"});
  expectFailure(check("/launches/0/grid/1", 65536), HLA_STATUS_LAUNCH_LIMIT,
                {"grid y", "0 to 65535"});
  expectFailure(check("/launches/0/grid/2", "1 - B"), HLA_STATUS_LAUNCH_LIMIT,
                {"grid z", "-1"});
  expectFailure(check("/launches/0/grid/0", "ceildiv(T, B - 2)"),
                HLA_STATUS_EVALUATION, {"grid x", "divisor"});
  expectFailure(check("/launches/0/cluster", {4, 1, 1}),
                HLA_STATUS_LAUNCH_LIMIT, {"multiple of 4 blocks", "6"});
  expectFailure(check("/launches/0/dynamic_shared_memory", "-B"),
                HLA_STATUS_LAUNCH_LIMIT, {"dynamic shared memory", "-2"});
  expectFailure(check("/launches/0/parameters/1/scratch", "257 * B * H"),
                HLA_STATUS_EVALUATION, {"parameter 1", "1536 bytes", "1542"});
  expectFailure(check("/launches/0/parameters/1/scratch", -1),
                HLA_STATUS_EVALUATION, {"an offset", "-1"});
  expectFailure(check("/launches/0/parameters/3/value", "2147483648"),
                HLA_STATUS_EVALUATION, {"parameter 3", "32 bits"});
}
