//===- ManifestTest.cpp - Tests of what a manifest may say ------*- C++ -*-===//
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

/// Loads the manifest with the value at `pointer` replaced.
void expectRefusal(const std::string &pointer, const json &value,
                   HlaStatus status, const std::vector<std::string> &parts) {
  SCOPED_TRACE(pointer + " = " + value.dump().substr(0, 100));
  json manifest = makeManifest();
  manifest[Pointer(pointer)] = value;
  expectLoadFailure(manifest, status, parts);
}

void expectAcceptance(const std::string &pointer, const json &value) {
  SCOPED_TRACE(pointer + " = " + value.dump().substr(0, 100));
  json manifest = makeManifest();
  manifest[Pointer(pointer)] = value;
  LoadedBundle bundle(manifest);
}

/// Every place of the manifest that must be there.
const char *const requiredKeys[] = {"/format",
                                    "/abi_version",
                                    "/producer",
                                    "/entry",
                                    "/target",
                                    "/files",
                                    "/dims",
                                    "/arguments",
                                    "/scratch",
                                    "/launches",
                                    "/target/arch",
                                    "/target/ptx_isa",
                                    "/target/compute_capability",
                                    "/target/forward_compatible",
                                    "/files/ptx",
                                    "/files/ptx/path",
                                    "/arguments/0/name",
                                    "/arguments/0/access",
                                    "/arguments/0/dtype",
                                    "/arguments/0/shape",
                                    "/arguments/0/alignment",
                                    "/arguments/0/stride_multiple",
                                    "/scratch/bytes",
                                    "/scratch/alignment",
                                    "/launches/1/kernel",
                                    "/launches/1/grid",
                                    "/launches/1/block",
                                    "/launches/1/cluster",
                                    "/launches/1/dynamic_shared_memory",
                                    "/launches/1/parameters",
                                    "/launches/1/parameters/0/type",
                                    "/launches/1/parameters/0/argument",
                                    "/launches/1/parameters/3/value"};

const char *const objects[] = {"",
                               "/target",
                               "/files",
                               "/files/ptx",
                               "/arguments/2",
                               "/scratch",
                               "/launches/0",
                               "/launches/0/parameters/0",
                               "/launches/0/parameters/1",
                               "/launches/0/parameters/2"};

} // namespace

TEST(Manifest, IsRead) {
  LoadedBundle bundle;
  EXPECT_STREQ(hlaBundleGetEntry(bundle), "masked");
  EXPECT_EQ(json::parse(hlaBundleGetManifest(bundle))["constants"]["chunk"],
            64);
  ASSERT_EQ(hlaBundleGetNumArguments(bundle), 3u);
  HlaArgumentInfo argument;
  expectSuccess(hlaBundleGetArgument(bundle, 2, &argument));
  EXPECT_STREQ(argument.name, "o");
  EXPECT_EQ(argument.access, HLA_ACCESS_WRITE);
  EXPECT_EQ(argument.dtype.code, HLA_TYPE_CODE_BFLOAT);
  EXPECT_EQ(argument.dtype.bits, 16);
  ASSERT_EQ(argument.rank, 4);
  EXPECT_EQ(argument.extents[0], -1);
  EXPECT_EQ(argument.extents[3], 64);
  EXPECT_EQ(argument.dims[2], 2);
  EXPECT_EQ(argument.dims[3], -1);
  EXPECT_EQ(argument.alignment, 16);
  EXPECT_EQ(argument.strideMultiple, 8);

  ASSERT_EQ(hlaBundleGetNumDims(bundle), 3u);
  HlaDimInfo dim;
  expectSuccess(hlaBundleGetDim(bundle, 1, &dim));
  EXPECT_STREQ(dim.name, "T");
  EXPECT_EQ(dim.maximum, 1000000);
  expectSuccess(hlaBundleGetDim(bundle, 0, &dim));
  EXPECT_EQ(dim.minimum, 0);
  EXPECT_EQ(dim.maximum, INT64_MAX);

  HlaTargetInfo target;
  expectSuccess(hlaBundleGetTarget(bundle, &target));
  EXPECT_STREQ(target.arch, "sm_90a");
  EXPECT_STREQ(target.ptxIsa, "8.7");
  EXPECT_EQ(target.computeCapabilityMajor, 9);
  EXPECT_EQ(target.computeCapabilityMinor, 0);
  EXPECT_EQ(target.forwardCompatible, 0);
  EXPECT_EQ(target.hasCubin, 0);
}

TEST(Manifest, BadQueries) {
  LoadedBundle bundle;
  HlaArgumentInfo argument;
  HlaDimInfo dim;
  expectFailure(hlaBundleGetArgument(bundle, 3, &argument),
                HLA_STATUS_INVALID_ARGUMENT, {"one of 3 arguments", "got 3"});
  expectFailure(hlaBundleGetDim(bundle, 9, &dim), HLA_STATUS_INVALID_ARGUMENT,
                {"one of 3 dims"});
  expectFailure(hlaBundleGetArgument(bundle, 0, nullptr),
                HLA_STATUS_INVALID_ARGUMENT, {"non-null 'info'"});
  expectFailure(hlaBundleGetTarget(nullptr, nullptr),
                HLA_STATUS_INVALID_ARGUMENT, {"non-null 'bundle'"});
  EXPECT_EQ(hlaBundleGetEntry(nullptr), nullptr);
  EXPECT_EQ(hlaBundleGetManifest(nullptr), nullptr);
  EXPECT_EQ(hlaBundleGetNumArguments(nullptr), 0u);
  EXPECT_EQ(hlaBundleGetNumDims(nullptr), 0u);
}

TEST(Manifest, MissingKeys) {
  for (const char *place : requiredKeys) {
    SCOPED_TRACE(place);
    json manifest = makeManifest();
    manifest["files"]["ptx"]["sha256"] = std::string(64, '0');
    Pointer pointer(place);
    std::string key = pointer.back();
    ASSERT_TRUE(manifest.contains(pointer));
    manifest[pointer.parent_pointer()].erase(key);
    // Of a pointer parameter, either of two keys would do.
    expectLoadFailure(manifest, HLA_STATUS_MISSING_KEY,
                      {"manifest.json: ", "a key '" + key + "'"});
  }
}

TEST(Manifest, UnknownKeys) {
  for (const char *place : objects) {
    SCOPED_TRACE(place);
    json manifest = makeManifest();
    manifest[Pointer(place)]["colour"] = 1;
    expectLoadFailure(manifest, HLA_STATUS_UNKNOWN_KEY, {"'colour'"});
  }
}

TEST(Manifest, WrongTypes) {
  // Nothing but the named values may be null, so null is wrong everywhere.
  for (const char *place : requiredKeys)
    expectRefusal(place, nullptr, HLA_STATUS_WRONG_TYPE, {"but got null"});
  expectRefusal("", json::array(), HLA_STATUS_WRONG_TYPE, {"an object"});
  expectRefusal("/abi_version", 2.0, HLA_STATUS_WRONG_TYPE, {"an integer"});
  expectRefusal("/abi_version", "2", HLA_STATUS_WRONG_TYPE, {"an integer"});
  expectRefusal("/launches", json::object(), HLA_STATUS_WRONG_TYPE,
                {"launches: expected an array"});
  expectRefusal("/launches/0/grid/0", 1.5, HLA_STATUS_WRONG_TYPE,
                {"launches[0].grid[0]: expected an expression"});
  expectRefusal("/target/forward_compatible", 0, HLA_STATUS_WRONG_TYPE,
                {"true or false"});
  expectRefusal("/arguments/0/shape/1", 1.0, HLA_STATUS_WRONG_TYPE,
                {"arguments[0].shape[1]"});
  expectRefusal("/launches/1/parameters/4/value", "0.5", HLA_STATUS_WRONG_TYPE,
                {"a number"});
  expectRefusal("/schedule", 5, HLA_STATUS_WRONG_TYPE, {"schedule"});
  expectRefusal("/constants", "x", HLA_STATUS_WRONG_TYPE, {"constants"});
}

TEST(Manifest, Version) {
  expectRefusal("/abi_version", 3, HLA_STATUS_ABI_MISMATCH,
                {"expected 2", "but got 3"});
  expectRefusal("/abi_version", 1, HLA_STATUS_ABI_MISMATCH, {"but got 1"});
  expectRefusal("/abi_version", 0, HLA_STATUS_ABI_MISMATCH, {"but got 0"});
  expectRefusal("/format", "tar", HLA_STATUS_INVALID_VALUE, {"hla-bundle"});
  // Told apart before anything else is read.
  json manifest = {{"format", "hla-bundle"}, {"abi_version", 7}, {"new", 1}};
  expectLoadFailure(manifest, HLA_STATUS_ABI_MISMATCH, {"but got 7"});
}

TEST(Manifest, Target) {
  expectRefusal("/target/arch", "sm_80", HLA_STATUS_INVALID_VALUE,
                {"'sm_90' or 'sm_90a'"});
  expectRefusal("/target/arch", "gfx90a", HLA_STATUS_INVALID_VALUE, {"arch"});
  expectRefusal("/target/forward_compatible", true, HLA_STATUS_INVALID_VALUE,
                {"false (of sm_90a)"});
  expectRefusal("/target/compute_capability", {9}, HLA_STATUS_INVALID_VALUE,
                {"an array of 2"});
  expectRefusal("/target/compute_capability/1", 12, HLA_STATUS_INVALID_VALUE,
                {"0 to 9"});
  for (const char *isa : {"", "8", "8.", ".7", "8.7a", "v8.7", "8.777"})
    expectRefusal("/target/ptx_isa", isa, HLA_STATUS_INVALID_VALUE,
                  {"a PTX ISA version"});
  expectAcceptance("/target", {{"arch", "sm_120"},
                               {"ptx_isa", "8.7"},
                               {"compute_capability", {12, 0}},
                               {"forward_compatible", true}});
}

TEST(Manifest, Dims) {
  expectRefusal("/dims/1", "B", HLA_STATUS_INVALID_VALUE, {"'B' twice"});
  expectRefusal("/dims/3", "D", HLA_STATUS_INVALID_VALUE, {"binds", "'D'"});
  expectRefusal("/dims/0", "2", HLA_STATUS_INVALID_VALUE, {"an identifier"});
  expectRefusal("/dims/0", "min", HLA_STATUS_INVALID_VALUE, {"function"});
  expectRefusal("/limits/D", {0, 1}, HLA_STATUS_INVALID_VALUE, {"'D'"});
  expectRefusal("/limits/T", {5, 4}, HLA_STATUS_INVALID_VALUE, {"from 5"});
  expectRefusal("/limits/T", {-1, 4}, HLA_STATUS_INVALID_VALUE, {"from 0"});
  expectRefusal("/limits/T/1", 18446744073709551615u, HLA_STATUS_INVALID_VALUE,
                {"18446744073709551615"});
}

TEST(Manifest, Arguments) {
  expectRefusal("/arguments/0/dtype", "i8", HLA_STATUS_UNKNOWN_DTYPE,
                {"bf16, f16, f32, f64 or i32", "'i8'"});
  expectRefusal("/arguments/0/access", "rw", HLA_STATUS_INVALID_VALUE,
                {"'read_write'", "'rw'"});
  expectRefusal("/arguments/1/name", "q", HLA_STATUS_INVALID_VALUE,
                {"'q' twice"});
  expectRefusal("/arguments/1/name", "a b", HLA_STATUS_INVALID_VALUE,
                {"an identifier"});
  expectRefusal("/arguments/0/shape/0", "N", HLA_STATUS_INVALID_VALUE, {"'N'"});
  expectRefusal("/arguments/0/shape/3", -1, HLA_STATUS_INVALID_VALUE, {"-1"});
  expectRefusal("/arguments/0/alignment", 24, HLA_STATUS_INVALID_VALUE,
                {"a power of two"});
  expectRefusal("/arguments/0/alignment", 1, HLA_STATUS_INVALID_VALUE,
                {"from 2"});
  expectRefusal("/arguments/0/stride_multiple", 0, HLA_STATUS_INVALID_VALUE,
                {"from 1"});
}

TEST(Manifest, Integers) {
  LoadedBundle bundle(makeGroupedManifest());
  HlaArgumentInfo argument;
  expectSuccess(hlaBundleGetArgument(bundle, 3, &argument));
  EXPECT_EQ(argument.dtype.code, HLA_TYPE_CODE_INT);
  EXPECT_EQ(argument.dtype.bits, 32);
  EXPECT_EQ(argument.rank, 1);

  auto refuse = [](const char *key, const json &value,
                   const std::vector<std::string> &parts) {
    json manifest = makeGroupedManifest();
    manifest["arguments"][3][key] = value;
    expectLoadFailure(manifest, HLA_STATUS_INVALID_VALUE, parts);
  };
  refuse("access", "write", {"arguments[3].access", "'read' (of an i32"});
  refuse("access", "read_write", {"arguments[3].access", "'read_write'"});
  refuse("shape", {"L", 1}, {"arguments[3].shape", "one dimension"});
  refuse("shape", json::array(), {"arguments[3].shape", "one dimension"});
  refuse("alignment", 2, {"arguments[3].alignment", "from 4"});
}

TEST(Manifest, Constraints) {
  auto refuse = [](const char *pointer, const json &value, HlaStatus status,
                   const std::vector<std::string> &parts) {
    SCOPED_TRACE(value.dump().substr(0, 100));
    json manifest = makeGroupedManifest();
    manifest[Pointer(pointer)] = value;
    expectLoadFailure(manifest, status, parts);
  };
  refuse("/constraints", nullptr, HLA_STATUS_WRONG_TYPE, {"an array"});
  refuse("/constraints", json::parse(R"([["H", "4 * H1"], "L"])"),
         HLA_STATUS_WRONG_TYPE, {"constraints[1]: expected an array of 2"});
  refuse("/constraints/0", {"H"}, HLA_STATUS_INVALID_VALUE,
         {"constraints[0]: expected an array of 2"});
  refuse("/constraints/0", {"H", "4 * H1", "8"}, HLA_STATUS_INVALID_VALUE,
         {"an array of 2", "an array of 3"});
  refuse("/constraints/0/1", 4.5, HLA_STATUS_WRONG_TYPE,
         {"constraints[0][1]: expected an expression"});
  refuse("/constraints/0/1", "4 * H2", HLA_STATUS_INVALID_EXPRESSION,
         {"constraints[0][1]", "a dimension of the manifest", "'H2'"});
  refuse("/constraints/1/0", "dim(lengths, 0)", HLA_STATUS_INVALID_VALUE,
         {"constraints[1][0]", "dims alone", "'dim(lengths, 0)'"});
  refuse("/constraints/1/0", "min(L, stride(q, 0))", HLA_STATUS_INVALID_VALUE,
         {"constraints[1][0]", "dims alone"});
  json many = json::array();
  for (int i = 0; i < 65; ++i)
    many.push_back(json::array({"H", "4 * H1"}));
  refuse("/constraints", many, HLA_STATUS_INVALID_VALUE,
         {"an array of 0 to 64", "65"});
  many.erase(0);
  expectAcceptance("/constraints", json::array());
  json manifest = makeGroupedManifest();
  manifest["constraints"] = many;
  LoadedBundle bundle(manifest);
}

TEST(Manifest, Launches) {
  expectRefusal("/launches", json::array(), HLA_STATUS_INVALID_VALUE,
                {"an array of 1 to"});
  expectRefusal("/launches/0/kernel", "a;b", HLA_STATUS_INVALID_VALUE,
                {"the name of a kernel"});
  expectRefusal("/launches/0/block", {1024, 2, 1}, HLA_STATUS_INVALID_VALUE,
                {"a product of at most 1024", "2048"});
  expectRefusal("/launches/0/block", {0, 1, 1}, HLA_STATUS_INVALID_VALUE,
                {"block[0]"});
  expectRefusal("/launches/0/block", {1, 1, 65}, HLA_STATUS_INVALID_VALUE,
                {"64 threads in z"});
  expectRefusal("/launches/0/cluster", {4, 4, 2}, HLA_STATUS_INVALID_VALUE,
                {"at most 16"});
  expectRefusal("/launches/0/grid", {"B", "1"}, HLA_STATUS_INVALID_VALUE,
                {"an array of 3"});
  expectRefusal("/launches/0/grid/1", "ceildiv(T)",
                HLA_STATUS_INVALID_EXPRESSION,
                {"launches[0].grid[1]", "column 10"});
  expectRefusal("/launches/0/parameters/0/type", "texture",
                HLA_STATUS_INVALID_VALUE, {"'pointer', 'tensor_map', 'i32'"});
  expectRefusal("/launches/0/parameters/0/argument", "w",
                HLA_STATUS_INVALID_VALUE, {"argument", "'w'"});
  expectRefusal("/launches/1/parameters/4/value", 1e300,
                HLA_STATUS_INVALID_VALUE, {"f32's range"});
  expectRefusal("/scratch/alignment", 512, HLA_STATUS_INVALID_VALUE, {"256"});
  expectAcceptance("/launches/0/kernel", "$_k$1");
  expectAcceptance("/launches/0/grid", {1, 2, "T"});
}
