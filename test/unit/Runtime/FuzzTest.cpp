//===- FuzzTest.cpp - Bundles from an adversary -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Whatever a manifest says, a load ends with success or with a status of its
// own and a message; a launch on what loads does too. The seed is fixed;
// HLA_FUZZ_SEED and HLA_FUZZ_RUNS ask for others and more.
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "TestDriver.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <random>

using namespace hla::runtime::test;
using nlohmann::json;
using Pointer = json::json_pointer;

namespace {

uint64_t getSetting(const char *name, uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

class Fuzz : public testing::Test {
protected:
  size_t pick(size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  }

  /// Changes values of `manifest`; whatever loads is launched on `tensors`,
  /// which fit the manifest as it was.
  void changeValues(const json &manifest,
                    const std::vector<TestTensor> &tensors);
  /// Changes bytes of its text.
  void changeBytes(const json &manifest,
                   const std::vector<TestTensor> &tensors);
  /// Puts texts made of `pieces` in place of the expression at `pointer`.
  void changeExpression(const json &manifest, const char *pointer,
                        const std::vector<std::string> &pieces,
                        const std::vector<TestTensor> &tensors);

  /// Loads what `directory` holds and, if that works, launches it.
  void run(const TestBundle &directory,
           const std::vector<TestTensor> &tensors) {
    HlaBundle *bundle = nullptr;
    HlaStatus status = hlaBundleLoad(directory.getPath().c_str(), &bundle);
    expectHandled(status);
    if (status == HLA_STATUS_OK) {
      ++loaded;
      std::vector<HlaTensor> views = viewsOf(tensors);
      status = hlaBundleLaunch(bundle, views.data(), views.size(), nullptr,
                               nullptr, 0);
      expectHandled(status);
    }
    hlaBundleDestroy(bundle);
  }

  void expectHandled(HlaStatus status) {
    EXPECT_STRNE(hlaStatusGetName(status), "UNKNOWN");
    EXPECT_NE(status, HLA_STATUS_INTERNAL) << hlaGetLastErrorMessage();
    EXPECT_NE(status, HLA_STATUS_OUT_OF_MEMORY) << hlaGetLastErrorMessage();
    if (status != HLA_STATUS_OK) {
      EXPECT_STRNE(hlaGetLastErrorMessage(), "");
    }
  }

  std::mt19937_64 random{getSetting("HLA_FUZZ_SEED", 20260101)};
  size_t runs = getSetting("HLA_FUZZ_RUNS", 400);
  size_t loaded = 0;
  TestDriver driver;
};

const json strangeValues = json::parse(R"text([
  null, true, false, 0, 1, -1, 2, 8, 16, 64, 128, 257, 65536, 4294967296, 2147483647, 2147483648, -2147483649,
  9223372036854775807, -9223372036854775808, 18446744073709551615, 1e308, -0.0,
  1.5, "", "B", "T", "q", "o", "k", "B * H", "stride(q, 3)", "stride(q, 4)",
  "9223372036854775807 * B", "ceildiv(1, 0)", "-9223372036854775808", "((((",
  "../../etc/passwd", "/etc/passwd", "masked.ptx", "manifest.json", "f32", "f16",
  "pointer", "tensor_map", "i32", "f64", "read_write", "H1", "N + 1", ["H", "4 * H1"], "\u0000", "\u00e9", [], {}, [[]], [0],
  [1, 1, 1], [16, 1, 1], [1024, 1, 1], ["B", "T"], {"a": {"b": []}}
])text");

} // namespace

void Fuzz::changeValues(const json &original,
                        const std::vector<TestTensor> &tensors) {
  json flat = original.flatten();
  std::vector<std::string> places;
  for (const auto &item : flat.items())
    for (Pointer p(item.key()); !p.empty(); p = p.parent_pointer())
      places.push_back(p.to_string());
  for (size_t i = 0; i < runs; ++i) {
    json manifest = original;
    for (size_t n = 1 + pick(3); n-- > 0;) {
      Pointer place(places[pick(places.size())]);
      json value = strangeValues[pick(strangeValues.size())];
      try {
        manifest[place] = value;
      } catch (const json::exception &) {
        // An earlier change took the place away.
      }
    }
    SCOPED_TRACE(manifest.dump());
    run(TestBundle(manifest), tensors);
    if (HasFailure())
      return;
  }
  EXPECT_GT(loaded, 0u);
}

void Fuzz::changeBytes(const json &manifest,
                       const std::vector<TestTensor> &tensors) {
  TestBundle directory;
  std::string original = manifest.dump(1);
  for (size_t i = 0; i < runs; ++i) {
    std::string text = original;
    for (size_t n = 1 + pick(4); n-- > 0;) {
      size_t at = pick(text.size());
      switch (pick(4)) {
      case 0:
        text[at] = static_cast<char>(pick(256));
        break;
      case 1:
        text.erase(at, 1 + pick(20));
        break;
      case 2:
        text.insert(at, text.substr(pick(text.size()), 1 + pick(40)));
        break;
      default:
        text.insert(at, 1, "{}[]\",:0-e."[pick(11)]);
        break;
      }
    }
    SCOPED_TRACE(text);
    directory.write("manifest.json", text);
    run(directory, tensors);
    if (HasFailure())
      return;
  }
}

void Fuzz::changeExpression(const json &original, const char *pointer,
                            const std::vector<std::string> &pieces,
                            const std::vector<TestTensor> &tensors) {
  json manifest = original;
  for (size_t i = 0; i < runs; ++i) {
    std::string text;
    for (size_t n = 1 + pick(12); n-- > 0;)
      text += pieces[pick(pieces.size())];
    manifest[Pointer(pointer)] = text;
    SCOPED_TRACE(text);
    run(TestBundle(manifest), tensors);
    if (HasFailure())
      return;
  }
}

TEST_F(Fuzz, Values) { changeValues(makeManifest(), makeTensors(2, 70, 3)); }

TEST_F(Fuzz, ValuesWithConstraints) {
  changeValues(makeGroupedManifest(), makeGroupedTensors(70, 8, 3));
}

TEST_F(Fuzz, ValuesWithTensorMaps) {
  changeValues(makeTensorMapManifest(), makeTensors(2, 70, 3));
}

TEST_F(Fuzz, Bytes) { changeBytes(makeManifest(), makeTensors(2, 70, 3)); }

TEST_F(Fuzz, BytesWithConstraints) {
  changeBytes(makeGroupedManifest(), makeGroupedTensors(70, 8, 3));
}

TEST_F(Fuzz, BytesWithTensorMaps) {
  changeBytes(makeTensorMapManifest(), makeTensors(2, 70, 3));
}

TEST_F(Fuzz, Expressions) {
  changeExpression(makeManifest(), "/launches/1/grid/0",
                   {"B",       "T",          "H",           "(",   ")", ",",
                    "+",       "-",          "*",           " ",   "0", "7",
                    "ceildiv", "floordiv",   "min",         "max", "1", "64",
                    "stride",  "dim",        "q",           "3",   "9", "(B,",
                    "min(",    "ceildiv(T,", "99999999999", "_",   "\t"},
                   makeTensors(2, 70, 3));
}

TEST_F(Fuzz, Constraints) {
  changeExpression(makeGroupedManifest(), "/constraints/0/1",
                   {"H", "H1", "N", "L", "4 * ", "*", "+", "-", "(", ")", "1",
                    "8", "99999", "ceildiv(H, ", "min(", "dim(q, 0)", "stride(",
                    "H2", " "},
                   makeGroupedTensors(70, 8, 3));
}

TEST_F(Fuzz, TensorMaps) {
  std::vector<std::string> pieces = {"B",
                                     "T",
                                     "H",
                                     "64",
                                     "0",
                                     "1",
                                     "8",
                                     "*",
                                     "+",
                                     "-",
                                     "(",
                                     ")",
                                     "549755813888",
                                     "max(",
                                     ", ",
                                     " ",
                                     "dim(q, ",
                                     "stride(q, "};
  for (const char *key : {"shape/1", "shape/0", "strides/0", "strides/2"})
    changeExpression(makeTensorMapManifest(),
                     ("/launches/0/parameters/0/" + std::string(key)).c_str(),
                     pieces, makeTensors(2, 70, 3));
  changeExpression(makeTensorMapManifest(), "/launches/0/parameters/2/scratch",
                   pieces, makeTensors(2, 70, 3));
}
