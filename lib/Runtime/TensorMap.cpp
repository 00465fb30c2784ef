//===- TensorMap.cpp - Tensor maps among a kernel's parameters --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"

#include "DataType.h"
#include "Driver.h"
#include "Error.h"

using namespace hla::runtime;

namespace {

// What cuTensorMapEncodeTiled asks of every map.
constexpr int64_t largestExtent = int64_t(1) << 32;
constexpr int64_t strideLimit = int64_t(1) << 40; // in bytes, excluded
constexpr int64_t alignment = 16;                 // of addresses and strides

/// The map of one parameter, and where messages say that it stands.
class TensorMap {
public:
  TensorMap(const Manifest &manifest, const LaunchSpec &launch, size_t index)
      : manifest(manifest), launch(launch), index(index),
        parameter(launch.parameters[index]), spec(*parameter.map),
        elementBytes(spec.dtype.bits / 8) {}

  PlannedTensorMap plan(uint64_t address, const ExpressionValues &values) const;
  void encode(const Driver &driver, cuda::DevicePtr address,
              PlannedTensorMap &map) const;

private:
  bool isOfScratch() const {
    return parameter.kind == ParameterSpec::Kind::Scratch;
  }

  /// "kernel 'masked', parameter 0 (tensor map of 'q')". Built for a message
  /// alone, as a launch should cost microseconds.
  std::string describe() const {
    return "kernel '" + launch.kernel + "', parameter " +
           std::to_string(index) + " (tensor map of " +
           (isOfScratch()
                ? "scratch"
                : "'" + manifest.arguments[parameter.argument].name + "'") +
           ")";
  }

  std::string describe(const char *key, size_t position,
                       const Expression &expression) const {
    return describe() + ", " + key + "[" + std::to_string(position) +
           "] = " + expression.getText();
  }

  int64_t evaluate(const char *key, size_t position,
                   const Expression &expression,
                   const ExpressionValues &values) const {
    try {
      return expression.evaluate(values);
    } catch (const Failure &failure) {
      throw Failure(failure.getStatus(), describe(key, position, expression) +
                                             ": " + failure.getMessage());
    }
  }

  void planStride(size_t position, const ExpressionValues &values,
                  PlannedTensorMap &map) const;
  void checkAddress(uint64_t address) const;
  int getDataType() const;
  int getSwizzle() const;

  const Manifest &manifest;
  const LaunchSpec &launch;
  size_t index;
  const ParameterSpec &parameter;
  const TensorMapSpec &spec;
  int64_t elementBytes;
};

[[noreturn]] void fail(HlaStatus status, const std::string &place,
                       const std::string &expected, const std::string &got) {
  throw Failure(status, place + ": expected " + expected + ", but got " + got);
}

template <typename Numbers>
std::string list(const Numbers &numbers, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  return "[" + text + "]";
}

} // namespace

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

PlannedTensorMap TensorMap::plan(uint64_t address,
                                 const ExpressionValues &values) const {
  PlannedTensorMap map;
  map.parameter = index;
  for (size_t i = 0; i < spec.shape.size(); ++i) {
    int64_t extent = evaluate("shape", i, spec.shape[i], values);
    if (extent < 0 || extent > largestExtent)
      fail(HLA_STATUS_LAUNCH_LIMIT, describe("shape", i, spec.shape[i]),
           "an extent from 0 to " + std::to_string(largestExtent),
           std::to_string(extent));
    map.hasElements &= extent != 0;
    map.extents[i] = static_cast<uint64_t>(extent);
  }
  for (size_t i = 0; i < spec.strides.size(); ++i)
    planStride(i, values, map);
  if (map.hasElements)
    checkAddress(address);
  return map;
}

void TensorMap::planStride(size_t position, const ExpressionValues &values,
                           PlannedTensorMap &map) const {
  const Expression &expression = spec.strides[position];
  int64_t stride = evaluate("strides", position, expression, values);
  if (!map.hasElements)
    return;
  // Nothing steps along an extent of 1, and its stride may be anything; the
  // driver asks that of all strides are multiples of 16 bytes.
  if (map.extents[position + 1] == 1) {
    map.strides[position] = alignment;
    return;
  }
  auto refuse = [&](const std::string &expected) {
    fail(HLA_STATUS_STRIDE, describe("strides", position, expression), expected,
         std::to_string(stride));
  };
  if (stride < 0)
    refuse("a stride of at least 0");
  if (stride >= strideLimit / elementBytes)
    refuse("a stride below " + std::to_string(strideLimit / elementBytes) +
           " elements (2^40 bytes)");
  if (stride * elementBytes % alignment != 0)
    refuse("a stride that is a multiple of " +
           std::to_string(alignment / elementBytes) +
           " elements (16 bytes, as tensor maps have them)");
  map.strides[position] = static_cast<uint64_t>(stride * elementBytes);
}

void TensorMap::checkAddress(uint64_t address) const {
  if (isOfScratch()) {
    if (address % alignment != 0)
      fail(HLA_STATUS_ALIGNMENT, describe(),
           "an offset that is a multiple of 16 bytes", std::to_string(address));
    return;
  }
  if (address == 0)
    fail(HLA_STATUS_NULL_POINTER, describe(),
         "a pointer to its elements (no extent of the map is 0)", "null");
  if (address % alignment != 0)
    fail(HLA_STATUS_ALIGNMENT, describe(), "a pointer aligned to 16 bytes",
         toHex(address));
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

int TensorMap::getDataType() const {
  if (spec.dtype.code == HLA_TYPE_CODE_BFLOAT)
    return cuda::tensorMapBFloat16;
  switch (spec.dtype.bits) {
  case 16:
    return cuda::tensorMapFloat16;
  case 32:
    return cuda::tensorMapFloat32;
  default:
    return cuda::tensorMapFloat64;
  }
}

int TensorMap::getSwizzle() const {
  switch (spec.swizzle) {
  case 32:
    return cuda::tensorMapSwizzle32;
  case 64:
    return cuda::tensorMapSwizzle64;
  case 128:
    return cuda::tensorMapSwizzle128;
  default:
    return cuda::tensorMapSwizzleNone;
  }
}

void TensorMap::encode(const Driver &driver, cuda::DevicePtr address,
                       PlannedTensorMap &map) const {
  if (!map.hasElements)
    return;
  size_t rank = spec.shape.size();
  constexpr uint32_t ones[] = {1, 1, 1, 1, 1};
  // A swizzled row of a box is at most 128 bytes. Those beside it are the same
  // head's or the next one's, which other boxes want soon: L2 fetches 256.
  cuda::Result result = driver.getApi().tensorMapEncodeTiled(
      &map.encoded, getDataType(), static_cast<uint32_t>(rank),
      reinterpret_cast<void *>(address), map.extents.data(), map.strides.data(),
      spec.box.data(), ones, cuda::tensorMapInterleaveNone, getSwizzle(),
      cuda::tensorMapPromotionL2256, cuda::tensorMapFillZeros);
  if (result == cuda::success)
    return;
  driver.check(result, describe() + ", " + getDataTypeName(spec.dtype) + " " +
                           list(map.extents, rank) + " at " + toHex(address) +
                           " with strides of " + list(map.strides, rank - 1) +
                           " bytes, a box of " + list(spec.box, rank) +
                           " and swizzle " + std::to_string(spec.swizzle));
}

PlannedTensorMap hla::runtime::planTensorMap(const Manifest &manifest,
                                             const LaunchSpec &launch,
                                             size_t index, uint64_t address,
                                             const ExpressionValues &values) {
  return TensorMap(manifest, launch, index).plan(address, values);
}

void hla::runtime::encodeTensorMap(const Driver &driver,
                                   const Manifest &manifest,
                                   const LaunchSpec &launch,
                                   cuda::DevicePtr address,
                                   PlannedTensorMap &map) {
  TensorMap(manifest, launch, map.parameter).encode(driver, address, map);
}
