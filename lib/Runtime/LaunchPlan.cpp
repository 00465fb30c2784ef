//===- LaunchPlan.cpp - A launch with every expression evaluated *- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchPlan.h"

#include "Error.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace hla::runtime;

namespace {

// CUDA's, the same on every device that a target names.
constexpr std::array<int64_t, 3> largestGrid = {
    std::numeric_limits<int32_t>::max(), 65535, 65535};

[[noreturn]] void fail(HlaStatus status, const std::string &place,
                       const std::string &expected, int64_t got) {
  throw Failure(status, place + ": expected " + expected + ", but got " +
                            std::to_string(got));
}

std::string placeOf(const LaunchSpec &spec) {
  return "kernel '" + spec.kernel + "'";
}

/// Evaluates and, on failure, says where the expression stands.
int64_t evaluate(const Expression &expression, const ExpressionValues &values,
                 const std::string &place) {
  try {
    return expression.evaluate(values);
  } catch (const Failure &failure) {
    throw Failure(failure.getStatus(), place + ": " + failure.getMessage());
  }
}

/// Returns false for an empty grid.
bool planGrid(const LaunchSpec &spec, const ExpressionValues &values,
              PlannedLaunch &launch) {
  bool empty = false;
  for (int i = 0; i < 3; ++i) {
    std::string place =
        placeOf(spec) + ", grid " + "xyz"[i] + " = " + spec.grid[i].getText();
    int64_t extent = evaluate(spec.grid[i], values, place);
    if (extent < 0 || extent > largestGrid[i])
      fail(HLA_STATUS_LAUNCH_LIMIT, place,
           "0 to " + std::to_string(largestGrid[i]) + " blocks", extent);
    if (extent % spec.cluster[i] != 0)
      fail(HLA_STATUS_LAUNCH_LIMIT, place,
           "a multiple of " + std::to_string(spec.cluster[i]) +
               " blocks (the cluster)",
           extent);
    empty |= extent == 0;
    launch.grid[i] = static_cast<uint32_t>(extent);
  }
  return !empty;
}

uint64_t packParameter(const Manifest &manifest, const LaunchSpec &spec,
                       size_t index, const HlaTensor *tensors,
                       const ExpressionValues &values, uint64_t scratchBytes) {
  const ParameterSpec &parameter = spec.parameters[index];
  std::string place = placeOf(spec) + ", parameter " + std::to_string(index);
  uint64_t slot = 0;
  switch (parameter.kind) {
  case ParameterSpec::Kind::Argument:
    return reinterpret_cast<uint64_t>(tensors[parameter.argument].data);
  case ParameterSpec::Kind::Scratch: {
    int64_t offset = evaluate(parameter.value, values, place);
    if (offset < 0 || static_cast<uint64_t>(offset) > scratchBytes)
      fail(HLA_STATUS_EVALUATION, place,
           "an offset into " + std::to_string(scratchBytes) +
               " bytes of scratch (" + manifest.scratchBytes.getText() + ")",
           offset);
    return static_cast<uint64_t>(offset);
  }
  case ParameterSpec::Kind::I32: {
    int64_t value = evaluate(parameter.value, values, place);
    if (value != static_cast<int32_t>(value))
      fail(HLA_STATUS_EVALUATION, place, "a value of 32 bits", value);
    auto narrow = static_cast<int32_t>(value);
    std::memcpy(&slot, &narrow, sizeof(narrow));
    return slot;
  }
  case ParameterSpec::Kind::I64:
    return static_cast<uint64_t>(evaluate(parameter.value, values, place));
  case ParameterSpec::Kind::F32: {
    auto narrow = static_cast<float>(parameter.number);
    std::memcpy(&slot, &narrow, sizeof(narrow));
    return slot;
  }
  case ParameterSpec::Kind::F64:
    std::memcpy(&slot, &parameter.number, sizeof(parameter.number));
    return slot;
  }
  throw Failure(HLA_STATUS_INTERNAL, "not a parameter's kind");
}

} // namespace

uint64_t hla::runtime::evaluateScratchBytes(const Manifest &manifest,
                                            const ExpressionValues &values) {
  int64_t bytes = evaluate(manifest.scratchBytes, values, "scratch");
  if (bytes < 0)
    fail(HLA_STATUS_EVALUATION, "scratch", "at least 0 bytes", bytes);
  return static_cast<uint64_t>(bytes);
}

LaunchPlan hla::runtime::planLaunch(const Manifest &manifest,
                                    const HlaTensor *tensors,
                                    const ExpressionValues &values) {
  LaunchPlan plan;
  plan.scratchBytes = evaluateScratchBytes(manifest, values);
  for (size_t i = 0; i < manifest.launches.size(); ++i) {
    const LaunchSpec &spec = manifest.launches[i];
    PlannedLaunch launch;
    launch.index = i;
    if (!planGrid(spec, values, launch))
      continue;

    std::string place = placeOf(spec) + ", dynamic shared memory";
    int64_t bytes = evaluate(spec.dynamicSharedMemory, values, place);
    if (bytes < 0 || bytes > std::numeric_limits<int32_t>::max())
      fail(HLA_STATUS_LAUNCH_LIMIT, place, "a size of at least 0 and 31 bits",
           bytes);
    launch.dynamicSharedMemory = static_cast<uint32_t>(bytes);

    for (size_t j = 0; j < spec.parameters.size(); ++j) {
      launch.slots.push_back(
          packParameter(manifest, spec, j, tensors, values, plan.scratchBytes));
      if (spec.parameters[j].kind == ParameterSpec::Kind::Scratch)
        launch.scratchSlots.push_back(j);
      if (spec.parameters[j].map)
        launch.maps.push_back(
            planTensorMap(manifest, spec, j, launch.slots[j], values));
    }
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

void hla::runtime::checkScratch(const Manifest &manifest,
                                const LaunchPlan &plan,
                                const BoundMemory &memory, const void *scratch,
                                size_t scratchBytes) {
  if (scratchBytes < plan.scratchBytes)
    throw Failure(HLA_STATUS_SCRATCH,
                  "scratch: expected at least " +
                      std::to_string(plan.scratchBytes) + " bytes (" +
                      manifest.scratchBytes.getText() + "), but got " +
                      std::to_string(scratchBytes));
  AddressRange range;
  range.begin = reinterpret_cast<uint64_t>(scratch);
  range.end = range.begin + plan.scratchBytes;
  if (range.begin % static_cast<uint64_t>(manifest.scratchAlignment) != 0)
    throw Failure(
        HLA_STATUS_SCRATCH,
        "scratch: expected memory aligned to " +
            std::to_string(manifest.scratchAlignment) +
            " bytes, but got an address " +
            std::to_string(range.begin % uint64_t(manifest.scratchAlignment)) +
            " past that");
  for (size_t i = 0; i < memory.ranges.size(); ++i)
    if (range.overlaps(memory.ranges[i]))
      throw Failure(HLA_STATUS_SCRATCH,
                    "scratch: expected memory apart from argument '" +
                        manifest.arguments[i].name +
                        "' (the kernel writes scratch), but got an overlap");
}
