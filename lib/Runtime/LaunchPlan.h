//===- LaunchPlan.h - A launch with every expression evaluated --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_LAUNCHPLAN_H
#define HLA_LIB_RUNTIME_LAUNCHPLAN_H

#include "Arguments.h"
#include "Manifest.h"
#include "TensorMap.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hla::runtime {

/// One kernel launch. `slots` holds each parameter's bytes, and the address of
/// what a tensor map maps; addresses of scratch are offsets until a base is
/// added.
struct PlannedLaunch {
  size_t index = 0; // into the manifest's launches
  std::array<uint32_t, 3> grid = {1, 1, 1};
  uint32_t dynamicSharedMemory = 0;
  std::vector<uint64_t> slots;
  std::vector<size_t> scratchSlots;
  std::vector<PlannedTensorMap> maps;
};

/// All that a call does on the device. Made without the driver, so that a call
/// which cannot succeed launches nothing.
struct LaunchPlan {
  uint64_t scratchBytes = 0;
  std::vector<PlannedLaunch> launches; // those with a non-empty grid
};

uint64_t evaluateScratchBytes(const Manifest &manifest,
                              const ExpressionValues &values);

LaunchPlan planLaunch(const Manifest &manifest, const HlaTensor *tensors,
                      const ExpressionValues &values);

/// Checks scratch memory that the caller gives.
void checkScratch(const Manifest &manifest, const LaunchPlan &plan,
                  const BoundMemory &memory, const void *scratch,
                  size_t scratchBytes);

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_LAUNCHPLAN_H
