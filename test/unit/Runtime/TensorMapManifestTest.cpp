//===- TensorMapManifestTest.cpp - What a tensor map may say ----*- C++ -*-===//
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
using Pointer = json::json_pointer;

namespace {

void expectLoadFailure(const json &manifest, HlaStatus status,
                       const std::vector<std::string> &parts) {
  TestBundle directory(manifest);
  HlaBundle *bundle = nullptr;
  expectFailure(hlaBundleLoad(directory.getPath().c_str(), &bundle), status,
                parts);
  EXPECT_EQ(bundle, nullptr);
  hlaBundleDestroy(bundle);
}

/// The manifest with `key` of its first parameter, a map of q, replaced.
json withMap(const std::string &key, const json &value) {
  json manifest = makeTensorMapManifest();
  manifest[Pointer("/launches/0/parameters/0/" + key)] = value;
  return manifest;
}

void expectRefusal(const std::string &key, const json &value, HlaStatus status,
                   const std::vector<std::string> &parts) {
  SCOPED_TRACE(key + " = " + value.dump().substr(0, 100));
  expectLoadFailure(withMap(key, value), status, parts);
}

void expectAcceptance(const std::string &key, const json &value) {
  SCOPED_TRACE(key + " = " + value.dump());
  LoadedBundle bundle(withMap(key, value));
}

} // namespace

TEST(TensorMapManifest, Keys) {
  for (const char *key :
       {"argument", "dtype", "shape", "strides", "box", "swizzle"}) {
    SCOPED_TRACE(key);
    json manifest = makeTensorMapManifest();
    manifest[Pointer("/launches/0/parameters/0")].erase(key);
    expectLoadFailure(manifest, HLA_STATUS_MISSING_KEY,
                      {"manifest.json: launches[0].parameters[0]: expected a "
                       "key '" +
                       std::string(key) + "'"});
    expectRefusal(key, nullptr, HLA_STATUS_WRONG_TYPE, {"but got null"});
  }
  expectRefusal("interleave", 0, HLA_STATUS_UNKNOWN_KEY,
                {"only the keys type, argument, dtype, shape, strides, box, "
                 "swizzle",
                 "'interleave'"});
  expectRefusal("value", "T", HLA_STATUS_UNKNOWN_KEY, {"'value'"});
  // Of one memory or the other.
  expectRefusal("scratch", 0, HLA_STATUS_UNKNOWN_KEY,
                {"only the keys type, scratch, dtype", "'argument'"});
  expectRefusal(
      "argument", "w", HLA_STATUS_INVALID_VALUE,
      {"parameters[0].argument: expected the name of an argument", "'w'"});
  json manifest = makeTensorMapManifest();
  manifest[Pointer("/launches/0/parameters/2/scratch")] = "T *";
  expectLoadFailure(manifest, HLA_STATUS_INVALID_EXPRESSION,
                    {"parameters[2].scratch"});
  // A pointer has none of these keys.
  manifest = makeManifest();
  manifest[Pointer("/launches/0/parameters/0/swizzle")] = 0;
  expectLoadFailure(manifest, HLA_STATUS_UNKNOWN_KEY,
                    {"only the keys type, argument, but got 'swizzle'"});
}

TEST(TensorMapManifest, Types) {
  expectRefusal("dtype", "f8", HLA_STATUS_UNKNOWN_DTYPE,
                {"parameters[0].dtype: expected bf16, f16", "'f8'"});
  expectRefusal("dtype", "i32", HLA_STATUS_INVALID_VALUE,
                {"parameters[0].dtype: expected a floating type", "'i32'"});
  // Strides are in the argument's elements.
  expectRefusal("dtype", "f16", HLA_STATUS_INVALID_VALUE,
                {"parameters[0].dtype: expected 'bf16' (the type of 'q'), but "
                 "got 'f16'"});
  for (const char *dtype : {"bf16", "f16", "f32", "f64"}) {
    json manifest = makeTensorMapManifest();
    manifest[Pointer("/launches/0/parameters/2/dtype")] = dtype;
    manifest[Pointer("/launches/0/parameters/2/box/0")] = *dtype == 'f' ? 4 : 8;
    if (std::string(dtype) == "f16")
      manifest[Pointer("/launches/0/parameters/2/box/0")] = 16;
    LoadedBundle bundle(manifest);
  }
}

TEST(TensorMapManifest, Shapes) {
  expectRefusal(
      "shape", json::array(), HLA_STATUS_INVALID_VALUE,
      {"parameters[0].shape: expected an array of 1 to 5", "an array of 0"});
  expectRefusal("shape", {64, "H", "T", "B", 1, 1}, HLA_STATUS_INVALID_VALUE,
                {"an array of 1 to 5", "an array of 6"});
  expectRefusal("shape/1", "H +", HLA_STATUS_INVALID_EXPRESSION,
                {"parameters[0].shape[1]", "column"});
  expectRefusal("shape/1", 1.5, HLA_STATUS_WRONG_TYPE,
                {"parameters[0].shape[1]: expected an expression"});
  expectRefusal(
      "strides", {"stride(q, 2)"}, HLA_STATUS_INVALID_VALUE,
      {"parameters[0].strides: expected an array of 3", "an array of 1"});
  expectRefusal("strides/2", "stride(q, 4)", HLA_STATUS_INVALID_EXPRESSION,
                {"parameters[0].strides[2]"});

  json manifest = makeTensorMapManifest();
  json &map = manifest[Pointer("/launches/0/parameters/0")];
  map["shape"] = {"64 * B * T * H"};
  map["strides"] = json::array();
  map["box"] = {64};
  {
    LoadedBundle vector(manifest);
  }
  map["shape"] = {32, 2, "H", "T", "B"};
  map["strides"] = {32, "stride(q, 2)", "stride(q, 1)", "stride(q, 0)"};
  map["box"] = {32, 2, 1, 64, 1};
  LoadedBundle bundle(manifest);
}

TEST(TensorMapManifest, Boxes) {
  expectRefusal("box", {64, 1, 64}, HLA_STATUS_INVALID_VALUE,
                {"parameters[0].box: expected an array of 4", "an array of 3"});
  expectRefusal(
      "box/2", 0, HLA_STATUS_INVALID_VALUE,
      {"parameters[0].box[2]: expected an integer from 1 to 256", "but got 0"});
  expectRefusal("box/2", 257, HLA_STATUS_INVALID_VALUE, {"but got 257"});
  expectRefusal("box/2", "64", HLA_STATUS_WRONG_TYPE,
                {"parameters[0].box[2]: expected an integer"});
  expectAcceptance("box/2", 256);
  expectRefusal("box/0", 12, HLA_STATUS_INVALID_VALUE,
                {"parameters[0].box[0]: expected a multiple of 8 elements (a "
                 "row of a box is a multiple of 16 bytes), but got 12"});
  expectAcceptance("box/0", 8);
  expectRefusal("box/0", 72, HLA_STATUS_INVALID_VALUE,
                {"parameters[0].box[0]: expected at most 64 elements (a row of "
                 "a box is within the swizzle), but got 72"});
  expectRefusal("swizzle", 32, HLA_STATUS_INVALID_VALUE,
                {"parameters[0].box[0]: expected at most 16 elements"});
  json manifest = withMap("box/0", 256);
  manifest[Pointer("/launches/0/parameters/0/swizzle")] = 0;
  LoadedBundle bundle(manifest);
}

TEST(TensorMapManifest, Swizzles) {
  for (const json &value : {json(16), json(48), json(1)})
    expectRefusal("swizzle", value, HLA_STATUS_INVALID_VALUE,
                  {"parameters[0].swizzle: expected 0, 32, 64 or 128 bytes",
                   "but got " + value.dump()});
  for (const json &value : {json(-32), json(256)})
    expectRefusal("swizzle", value, HLA_STATUS_INVALID_VALUE,
                  {"parameters[0].swizzle: expected an integer from 0 to 128"});
  expectRefusal("swizzle", "128B", HLA_STATUS_WRONG_TYPE, {"an integer"});
  for (int swizzle : {0, 32, 64, 128}) {
    json manifest = withMap("box/0", 16);
    manifest[Pointer("/launches/0/parameters/0/swizzle")] = swizzle;
    LoadedBundle bundle(manifest);
  }
}

TEST(TensorMapManifest, Scratch) {
  json manifest = makeTensorMapManifest();
  manifest["scratch"]["alignment"] = 8;
  expectLoadFailure(manifest, HLA_STATUS_INVALID_VALUE,
                    {"launches[0].parameters[2].scratch: expected scratch with "
                     "an alignment of at least 16 (for a tensor map), but got "
                     "8"});
  manifest["scratch"]["alignment"] = 16;
  LoadedBundle bundle(manifest);
}

TEST(TensorMapManifest, Targets) {
  json manifest = makeTensorMapManifest();
  manifest["target"] = {{"arch", "sm_89"},
                        {"ptx_isa", "8.7"},
                        {"compute_capability", {8, 9}},
                        {"forward_compatible", true}};
  expectLoadFailure(manifest, HLA_STATUS_INVALID_VALUE,
                    {"launches[0].parameters[0].type: expected no tensor map "
                     "(of sm_89; devices have them from sm_90 on), but got "
                     "'tensor_map'"});
  manifest["target"]["arch"] = "sm_90";
  manifest["target"]["compute_capability"] = {9, 0};
  LoadedBundle bundle(manifest);
}
