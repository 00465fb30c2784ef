//===- TestBundle.h - Bundles and tensors for tests -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TEST_UNIT_RUNTIME_TESTBUNDLE_H
#define HLA_TEST_UNIT_RUNTIME_TESTBUNDLE_H

#include "hla-c/Runtime.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hla::runtime::test {

/// A manifest of two launches over q, k (read) and o (write), [B, T, H, 64] in
/// bf16, that uses every kind of parameter; and the PTX that fits it.
nlohmann::json makeManifest();
std::string makePtx();

/// The manifest of grouped heads and variable lengths: its k has H1 heads with
/// H = 4 * H1, and a further argument, lengths, has N + 1 numbers for the N of
/// an argument of states.
nlohmann::json makeGroupedManifest();

/// The manifest with a first launch that takes three tensor maps: of q in bf16,
/// of o with heads and tokens exchanged, and of scratch in f32.
nlohmann::json makeTensorMapManifest();

/// A bundle's directory, removed with the object. The manifest's hashes are
/// those of the files unless it has its own.
class TestBundle {
public:
  TestBundle();
  explicit TestBundle(const nlohmann::json &manifest);
  ~TestBundle();
  TestBundle(const TestBundle &) = delete;
  TestBundle &operator=(const TestBundle &) = delete;

  /// Writes a file of the directory.
  void write(const std::string &name, const std::string &text) const;
  const std::string &getPath() const { return path; }

private:
  std::string path;
};

/// A loaded bundle.
class LoadedBundle {
public:
  LoadedBundle() : LoadedBundle(makeManifest()) {}
  explicit LoadedBundle(const nlohmann::json &manifest);
  explicit LoadedBundle(const TestBundle &directory);
  ~LoadedBundle() { hlaBundleDestroy(bundle); }
  LoadedBundle(const LoadedBundle &) = delete;
  LoadedBundle &operator=(const LoadedBundle &) = delete;

  operator HlaBundle *() const { return bundle; }

private:
  HlaBundle *bundle = nullptr;
};

/// A tensor that owns its shape and strides. Its address is made up unless set:
/// nothing reads it.
struct TestTensor {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  uint64_t address = 0;
  HlaDataType dtype = {HLA_TYPE_CODE_BFLOAT, 16, 1};
  int32_t deviceType = HLA_DEVICE_CUDA;
  int32_t deviceId = 0;
  uint32_t flags = 0;

  HlaTensor view() const;
};

/// Row-major q, k and o for the manifest above, far apart.
std::vector<TestTensor> makeTensors(int64_t batch, int64_t time, int64_t heads);
/// q, k, o, lengths and states for the grouped manifest.
std::vector<TestTensor> makeGroupedTensors(int64_t time, int64_t heads,
                                           int64_t sequences);
std::vector<HlaTensor> viewsOf(const std::vector<TestTensor> &tensors);

/// Expects a failure with this status and a message with each of `parts`.
void expectFailure(HlaStatus actual, HlaStatus status,
                   const std::vector<std::string> &parts);
void expectSuccess(HlaStatus actual);

} // namespace hla::runtime::test

#endif // HLA_TEST_UNIT_RUNTIME_TESTBUNDLE_H
