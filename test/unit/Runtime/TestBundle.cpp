//===- TestBundle.cpp - Bundles and tensors for tests -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"

#include "Sha256.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace hla::runtime;
using namespace hla::runtime::test;
using nlohmann::json;

json hla::runtime::test::makeManifest() {
  json manifest = json::parse(R"text({
    "format": "hla-bundle",
    "abi_version": 2,
    "producer": "hla 0.1.0",
    "entry": "masked",
    "target": {
      "arch": "sm_90a",
      "ptx_isa": "8.7",
      "compute_capability": [9, 0],
      "forward_compatible": false
    },
    "files": {"ptx": {"path": "masked.ptx"}},
    "dims": ["B", "T", "H"],
    "limits": {"T": [0, 1000000]},
    "scratch": {"bytes": "256 * B * H", "alignment": 256},
    "launches": [
      {
        "kernel": "masked_states",
        "grid": ["B * H", "ceildiv(T, 64)", "1"],
        "block": [128, 1, 1],
        "cluster": [1, 1, 1],
        "dynamic_shared_memory": "0",
        "parameters": [
          {"type": "pointer", "argument": "k"},
          {"type": "pointer", "scratch": "128"},
          {"type": "i64", "value": "stride(k, 1)"},
          {"type": "i32", "value": "T"}
        ]
      },
      {
        "kernel": "masked_output",
        "grid": ["B * H", "1", "1"],
        "block": [256, 1, 1],
        "cluster": [1, 1, 1],
        "dynamic_shared_memory": "98304",
        "parameters": [
          {"type": "pointer", "argument": "q"},
          {"type": "pointer", "argument": "o"},
          {"type": "pointer", "scratch": "0"},
          {"type": "i64", "value": -7},
          {"type": "f32", "value": 0.5},
          {"type": "f64", "value": 0.25}
        ]
      }
    ],
    "schedule": "#hla.schedule<chunk = 64>",
    "constants": {"chunk": 64}
  })text");
  for (const char *name : {"q", "k", "o"})
    manifest["arguments"].push_back(
        {{"name", name},
         {"access", *name == 'o' ? "write" : "read"},
         {"dtype", "bf16"},
         {"shape", {"B", "T", "H", 64}},
         {"alignment", 16},
         {"stride_multiple", 8}});
  return manifest;
}

json hla::runtime::test::makeGroupedManifest() {
  json manifest = makeManifest();
  manifest["dims"] = {"B", "T", "H", "H1", "L", "N"};
  manifest["limits"]["L"] = {1, 1073741824};
  manifest["constraints"] = json::parse(R"([["H", "4 * H1"], ["L", "N + 1"]])");
  json &arguments = manifest["arguments"];
  arguments[1]["shape"][2] = "H1";
  arguments.push_back({{"name", "lengths"},
                       {"access", "read"},
                       {"dtype", "i32"},
                       {"shape", {"L"}},
                       {"alignment", 4},
                       {"stride_multiple", 1}});
  arguments.push_back({{"name", "states"},
                       {"access", "read_write"},
                       {"dtype", "f32"},
                       {"shape", {"N", "H", 64, 64}},
                       {"alignment", 16},
                       {"stride_multiple", 4}});
  return manifest;
}

json hla::runtime::test::makeTensorMapManifest() {
  json manifest = makeManifest();
  manifest["launches"][0] = json::parse(R"text({
    "kernel": "masked_maps",
    "grid": ["B * H", "ceildiv(T, 64)", "1"],
    "block": [128, 1, 1],
    "cluster": [1, 1, 1],
    "dynamic_shared_memory": "0",
    "parameters": [
      {"type": "tensor_map", "argument": "q", "dtype": "bf16",
       "shape": [64, "H", "T", "B"],
       "strides": ["stride(q, 2)", "stride(q, 1)", "stride(q, 0)"],
       "box": [64, 1, 64, 1], "swizzle": 128},
      {"type": "i32", "value": "T"},
      {"type": "tensor_map", "scratch": "128", "dtype": "f32",
       "shape": [32, "2 * B * H - 1"], "strides": [32],
       "box": [8, 256], "swizzle": 32},
      {"type": "tensor_map", "argument": "o", "dtype": "bf16",
       "shape": [64, "T", "H", "B"],
       "strides": ["stride(o, 1)", "stride(o, 2)", "stride(o, 0)"],
       "box": [8, 64, 1, 1], "swizzle": 0}
    ]
  })text");
  return manifest;
}

std::string hla::runtime::test::makePtx() {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".visible .entry masked_states(.param .u64 k, .param .u64 s,\n"
         "  .param .b64 stride, .param .b32 t) { ret; }\n"
         ".visible .entry masked_output(.param .u64 q, .param .u64 o,\n"
         "  .param .u64 s, .param .b64 c, .param .f32 x, .param .f64 y)\n"
         "{ ret; }\n"
         ".visible .entry masked_maps(.param .align 64 .b8 q[128],\n"
         "  .param .b32 t, .param .align 64 .b8 s[128],\n"
         "  .param .align 64 .b8 o[128]) { ret; }\n";
}

TestBundle::TestBundle() : TestBundle(makeManifest()) {}

TestBundle::TestBundle(const json &manifest) {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "hla-bundle-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    ADD_FAILURE() << "no temporary directory";
  path = pattern;

  json complete = manifest;
  write("masked.ptx", makePtx());
  const json::json_pointer ptx("/files/ptx");
  if (complete.contains(ptx) && complete[ptx].is_object() &&
      !complete[ptx].contains("sha256"))
    complete[ptx]["sha256"] = sha256(makePtx());
  write("manifest.json", complete.dump(2));
}

TestBundle::~TestBundle() {
  std::error_code error;
  std::filesystem::remove_all(path, error);
}

void TestBundle::write(const std::string &name, const std::string &text) const {
  std::ofstream stream(std::filesystem::path(path) / name, std::ios::binary);
  stream << text;
}

LoadedBundle::LoadedBundle(const json &manifest)
    : LoadedBundle(TestBundle(manifest)) {}

LoadedBundle::LoadedBundle(const TestBundle &directory) {
  expectSuccess(hlaBundleLoad(directory.getPath().c_str(), &bundle));
}

HlaTensor TestTensor::view() const {
  HlaTensor tensor = {};
  tensor.data = reinterpret_cast<void *>(address);
  tensor.dtype = dtype;
  tensor.rank = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  tensor.strides = strides.empty() ? nullptr : strides.data();
  tensor.deviceType = deviceType;
  tensor.deviceId = deviceId;
  tensor.flags = flags;
  return tensor;
}

std::vector<TestTensor>
hla::runtime::test::makeTensors(int64_t batch, int64_t time, int64_t heads) {
  std::vector<TestTensor> tensors(3);
  uint64_t address = 0x700000000000;
  for (TestTensor &tensor : tensors) {
    tensor.shape = {batch, time, heads, 64};
    tensor.address = address;
    address += 0x10000000000;
  }
  return tensors;
}

std::vector<TestTensor>
hla::runtime::test::makeGroupedTensors(int64_t time, int64_t heads,
                                       int64_t sequences) {
  std::vector<TestTensor> tensors = makeTensors(1, time, heads);
  tensors[1].shape[2] = heads / 4;
  TestTensor lengths, states;
  lengths.shape = {sequences + 1};
  lengths.dtype = {HLA_TYPE_CODE_INT, 32, 1};
  lengths.address = 0x7a0000000000;
  states.shape = {sequences, heads, 64, 64};
  states.dtype = {HLA_TYPE_CODE_FLOAT, 32, 1};
  states.address = 0x7b0000000000;
  tensors.push_back(lengths);
  tensors.push_back(states);
  return tensors;
}

std::vector<HlaTensor>
hla::runtime::test::viewsOf(const std::vector<TestTensor> &tensors) {
  std::vector<HlaTensor> views;
  for (const TestTensor &tensor : tensors)
    views.push_back(tensor.view());
  return views;
}

void hla::runtime::test::expectSuccess(HlaStatus actual) {
  EXPECT_EQ(actual, HLA_STATUS_OK)
      << hlaStatusGetName(actual) << ": " << hlaGetLastErrorMessage();
}

void hla::runtime::test::expectFailure(HlaStatus actual, HlaStatus status,
                                       const std::vector<std::string> &parts) {
  EXPECT_EQ(actual, status)
      << "expected " << hlaStatusGetName(status) << ", but got "
      << hlaStatusGetName(actual) << ": " << hlaGetLastErrorMessage();
  if (actual == HLA_STATUS_OK)
    return;
  std::string message = hlaGetLastErrorMessage();
  EXPECT_NE(message.find("expected"), std::string::npos) << message;
  for (const std::string &part : parts)
    EXPECT_NE(message.find(part), std::string::npos)
        << "expected a message with \"" << part << "\", but got " << message;
}
