//===- TensorMap.h - Tensor maps among a kernel's parameters ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_TENSORMAP_H
#define HLA_LIB_RUNTIME_TENSORMAP_H

#include "CudaApi.h"
#include "Expression.h"
#include "Manifest.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace hla::runtime {

class Driver;

/// A tensor map of one launch, evaluated. The driver makes the kernel's bytes
/// of it once the address is known.
struct PlannedTensorMap {
  size_t parameter = 0; // of the launch
  bool hasElements = true;
  std::array<uint64_t, 5> extents = {};
  std::array<uint64_t, 4> strides = {}; // in bytes
  cuda::TensorMap encoded = {};         // stays zeros for a map of no elements
};

/// Evaluates parameter `index` of `launch`, which is a tensor map, of memory at
/// `address`; of scratch, at this offset.
PlannedTensorMap planTensorMap(const Manifest &manifest,
                               const LaunchSpec &launch, size_t index,
                               uint64_t address,
                               const ExpressionValues &values);

/// Has the driver make the map's bytes.
void encodeTensorMap(const Driver &driver, const Manifest &manifest,
                     const LaunchSpec &launch, cuda::DevicePtr address,
                     PlannedTensorMap &map);

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_TENSORMAP_H
