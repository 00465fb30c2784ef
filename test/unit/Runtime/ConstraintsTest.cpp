//===- ConstraintsTest.cpp - Tests of constraints, lengths, slots *- C++
//-*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include "gtest/gtest.h"

using namespace hla::runtime::test;
using nlohmann::json;

TEST(Constraints, AreChecked) {
  LoadedBundle bundle(makeGroupedManifest());
  int64_t dims[6] = {};
  auto check = [&](const std::vector<TestTensor> &tensors) {
    std::vector<HlaTensor> views = viewsOf(tensors);
    return hlaBundleCheckArguments(bundle, views.data(), views.size(), dims);
  };
  expectSuccess(check(makeGroupedTensors(100, 8, 3)));
  EXPECT_EQ(dims[2], 8);
  EXPECT_EQ(dims[3], 2);
  EXPECT_EQ(dims[4], 4);
  EXPECT_EQ(dims[5], 3);
  expectSuccess(check(makeGroupedTensors(0, 0, 0)));

  std::vector<TestTensor> tensors = makeGroupedTensors(100, 8, 3);
  tensors[1].shape[2] = 3;
  expectFailure(check(tensors), HLA_STATUS_CONSTRAINT,
                {"entry 'masked': expected H = 4 * H1 (H is dimension 2 of "
                 "'q', H1 is dimension 2 of 'k'), but got 8 and 12"});
  tensors = makeGroupedTensors(100, 8, 3);
  tensors[3].shape[0] = 3;
  expectFailure(check(tensors), HLA_STATUS_CONSTRAINT,
                {"expected L = N + 1 (L is dimension 0 of 'lengths', N is "
                 "dimension 0 of 'states'), but got 3 and 4"});
  // Before limits and strides.
  tensors[1].strides = {1, 1, 1, 7};
  tensors[0].shape[1] = tensors[1].shape[1] = tensors[2].shape[1] = 1000001;
  expectFailure(check(tensors), HLA_STATUS_CONSTRAINT, {"L = N + 1"});
  tensors = makeGroupedTensors(100, 8, 3);
  tensors[1].shape[2] = INT64_MAX / 2;
  expectFailure(check(tensors), HLA_STATUS_EVALUATION,
                {"entry 'masked', constraint H = 4 * H1", "64 bits"});

  tensors = makeGroupedTensors(100, 8, 3);
  tensors[1].shape[2] = 1;
  std::vector<HlaTensor> views = viewsOf(tensors);
  size_t bytes = 0;
  expectFailure(hlaBundleGetScratchBytes(bundle, views.data(), 5, &bytes),
                HLA_STATUS_CONSTRAINT, {"but got 8 and 4"});
}

TEST(Constraints, OfConstants) {
  json manifest = makeManifest();
  manifest["constraints"] =
      json::parse(R"([[7, "3 + 4"], ["B * H", "H * B"]])");
  LoadedBundle right(manifest);
  std::vector<TestTensor> tensors = makeTensors(2, 100, 3);
  std::vector<HlaTensor> views = viewsOf(tensors);
  expectSuccess(hlaBundleCheckArguments(right, views.data(), 3, nullptr));
  manifest["constraints"] = json::parse(R"([[7, "3 + 5"]])");
  LoadedBundle wrong(manifest);
  expectFailure(hlaBundleCheckArguments(wrong, views.data(), 3, nullptr),
                HLA_STATUS_CONSTRAINT, {"expected 7 = 3 + 5, but got 7 and 8"});
}

TEST(Lengths, AsArguments) {
  LoadedBundle bundle(makeGroupedManifest());
  std::vector<TestTensor> tensors = makeGroupedTensors(100, 8, 3);
  auto refuse = [&](HlaStatus status, const std::vector<std::string> &parts) {
    std::vector<HlaTensor> views = viewsOf(tensors);
    expectFailure(hlaBundleCheckArguments(bundle, views.data(), 5, nullptr),
                  status, parts);
    tensors = makeGroupedTensors(100, 8, 3);
  };
  tensors[3].dtype.bits = 64;
  refuse(HLA_STATUS_DTYPE_MISMATCH,
         {"'lengths': expected element type i32, but got i64"});
  tensors[3].dtype.code = 1;
  refuse(HLA_STATUS_DTYPE_MISMATCH, {"but got u32"});
  tensors[3].shape = {4, 1};
  refuse(HLA_STATUS_RANK_MISMATCH, {"'lengths': expected rank 1, but got 2"});
  tensors[3].strides = {2};
  refuse(HLA_STATUS_STRIDE, {"'lengths', dimension 0 (L)", "stride 1"});
  tensors[3].address += 2;
  refuse(HLA_STATUS_ALIGNMENT, {"'lengths'", "4 bytes"});
  tensors[3].address = 0;
  refuse(HLA_STATUS_NULL_POINTER, {"'lengths'"});
  tensors[3].deviceType = HLA_DEVICE_CPU;
  refuse(HLA_STATUS_WRONG_DEVICE, {"'lengths'", "host memory"});
  tensors[3].shape[0] = 0;
  tensors[4].shape[0] = -1;
  refuse(HLA_STATUS_SHAPE_MISMATCH, {"'states'", "-1"});
  tensors[4].address = tensors[3].address;
  refuse(HLA_STATUS_OVERLAP, {"'states'", "apart from 'lengths'"});
  tensors[3].flags = HLA_TENSOR_READ_ONLY;
  std::vector<HlaTensor> views = viewsOf(tensors);
  expectSuccess(hlaBundleCheckArguments(bundle, views.data(), 5, nullptr));
}

TEST(Lengths, Contents) {
  auto check = [](const std::vector<int32_t> &lengths, int64_t tokens) {
    return hlaCheckLengths(lengths.data(), lengths.size(), tokens);
  };
  expectSuccess(check({0}, 0));
  expectSuccess(check({3, 3, 7, 7, 100}, 100));
  expectSuccess(check({0, INT32_MAX}, INT64_MAX));
  expectFailure(check({}, 5), HLA_STATUS_LENGTHS, {"at least 1", "none"});
  expectFailure(check({-1, 0}, 5), HLA_STATUS_LENGTHS,
                {"position 0: expected a start of at least 0, but got -1"});
  expectFailure(check({0, 4, 2, 1}, 5), HLA_STATUS_LENGTHS,
                {"position 2: expected at least 4", "but got 2"});
  expectFailure(check({0, 4, 6, 7}, 5), HLA_STATUS_LENGTHS,
                {"position 2: expected at most 5 (the tokens), but got 6"});
  expectFailure(check({0, INT32_MIN}, 5), HLA_STATUS_LENGTHS, {"position 1"});
  expectFailure(check({0}, -1), HLA_STATUS_INVALID_ARGUMENT, {"-1"});
  expectFailure(hlaCheckLengths(nullptr, 2, 5), HLA_STATUS_INVALID_ARGUMENT,
                {"non-null 'lengths'"});
}

TEST(Slots, Contents) {
  auto check = [](const std::vector<int32_t> &slots, int64_t states,
                  bool shared = false) {
    return hlaCheckSlots(slots.data(), slots.size(), states, shared);
  };
  expectSuccess(check({}, 0));
  expectSuccess(check({INT32_MIN, 2, -1, 0, -1}, 3));
  expectSuccess(check({2, 0, 2}, 3, true));
  expectSuccess(check({INT32_MAX}, INT64_MAX));
  expectFailure(check({0, 3}, 3), HLA_STATUS_SLOTS,
                {"position 1: expected at most 2 (of 3 states), but got 3"});
  expectFailure(check({5}, 3, true), HLA_STATUS_SLOTS, {"position 0"});
  expectFailure(
      check({1, 0, 1, 5}, 3), HLA_STATUS_SLOTS,
      {"position 2: expected another number than at position 0", "but got 1"});
  expectFailure(check({0}, -1), HLA_STATUS_INVALID_ARGUMENT, {"-1"});
  expectFailure(hlaCheckSlots(nullptr, 2, 5, 0), HLA_STATUS_INVALID_ARGUMENT,
                {"non-null 'slots'"});
}
