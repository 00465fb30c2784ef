//===- LoadedBundleTest.h - bundles, as the runtime reads them --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TEST_UNIT_COMPILER_LOADEDBUNDLETEST_H
#define HLA_TEST_UNIT_COMPILER_LOADEDBUNDLETEST_H

#include "BundleTest.h"
#include "hla-c/Runtime.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::hla {

/// JSON on one line, with keys in order.
inline std::string toText(const llvm::json::Value *value) {
  return value ? llvm::formatv("{0}", *value).str() : "none";
}

/// A tensor in no memory: nothing reads it.
struct Tensor {
  Tensor(uint64_t address, HlaDataType dtype, std::vector<int64_t> shape)
      : shape(std::move(shape)), view{reinterpret_cast<void *>(address),
                                      dtype,
                                      static_cast<int32_t>(this->shape.size()),
                                      nullptr,
                                      /*strides=*/nullptr,
                                      HLA_DEVICE_CUDA,
                                      0,
                                      0} {}
  HlaTensor get() const {
    HlaTensor tensor = view;
    tensor.shape = shape.data();
    return tensor;
  }

  std::vector<int64_t> shape;
  HlaTensor view;
};

inline constexpr HlaDataType kBF16 = {HLA_TYPE_CODE_BFLOAT, 16, 1},
                             kF32 = {HLA_TYPE_CODE_FLOAT, 32, 1},
                             kI32 = {HLA_TYPE_CODE_INT, 32, 1};

/// Adds the runtime's view of a bundle.
class LoadedBundleTest : public BundleTest {
protected:
  ~LoadedBundleTest() override { hlaBundleDestroy(loaded); }

  /// Compiles, writes and loads.
  void load(StringRef entry, StringRef target) {
    bundle = get(entry, target);
    ASSERT_TRUE(bundle);
    llvm::Error error = bundle->write(directory);
    ASSERT_FALSE(static_cast<bool>(error)) << llvm::toString(std::move(error));
    ASSERT_EQ(hlaBundleLoad(directory.c_str(), &loaded), HLA_STATUS_OK)
        << hlaGetLastErrorMessage();
  }
  HlaStatus check(const std::vector<Tensor> &tensors, int64_t *dims) {
    std::vector<HlaTensor> views;
    for (const Tensor &tensor : tensors)
      views.push_back(tensor.get());
    return hlaBundleCheckArguments(loaded, views.data(), views.size(), dims);
  }

  std::optional<Bundle> bundle;
  HlaBundle *loaded = nullptr;
};

} // namespace mlir::hla

#endif // HLA_TEST_UNIT_COMPILER_LOADEDBUNDLETEST_H
