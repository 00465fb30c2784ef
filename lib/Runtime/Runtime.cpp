//===- Runtime.cpp - The C interface ----------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla-c/Runtime.h"

#include "Arguments.h"
#include "Bundle.h"
#include "DataType.h"
#include "Guard.h"
#include "LaunchPlan.h"

#include <algorithm>
#include <unordered_map>

using namespace hla::runtime;

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

const char *hlaStatusGetName(HlaStatus status) { return getStatusName(status); }

const char *hlaGetLastErrorMessage(void) { return getLastMessage(); }

const char *hlaGetVersion(void) { return HLA_RUNTIME_VERSION; }

int32_t hlaGetBundleAbiVersion(void) { return bundleAbiVersion; }

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

HlaStatus hlaDataTypeFromName(const char *name, HlaDataType *dtype) {
  return guard([&] {
    requireNonNull(name, "name");
    requireNonNull(dtype, "dtype");
    std::optional<HlaDataType> type = parseDataType(name);
    if (!type)
      throw Failure(HLA_STATUS_UNKNOWN_DTYPE, std::string("expected ") +
                                                  knownDataTypes +
                                                  ", but got " + quote(name));
    *dtype = *type;
  });
}

HlaStatus hlaCheckLengths(const int32_t *lengths, size_t count,
                          int64_t tokens) {
  return guard([&] {
    if (count != 0)
      requireNonNull(lengths, "lengths");
    if (tokens < 0)
      throw Failure(HLA_STATUS_INVALID_ARGUMENT,
                    "expected at least 0 tokens, but got " +
                        std::to_string(tokens));
    if (count == 0)
      throw Failure(HLA_STATUS_LENGTHS,
                    "lengths: expected at least 1 number (N + 1 for N "
                    "sequences), but got none");
    for (size_t i = 0; i < count; ++i) {
      std::string expected;
      if (i == 0 && lengths[i] < 0)
        expected = "a start of at least 0";
      else if (i > 0 && lengths[i] < lengths[i - 1])
        expected = "at least " + std::to_string(lengths[i - 1]) +
                   " (cumulative lengths don't decrease)";
      else if (lengths[i] > tokens)
        expected = "at most " + std::to_string(tokens) + " (the tokens)";
      if (!expected.empty())
        throw Failure(HLA_STATUS_LENGTHS,
                      "lengths, position " + std::to_string(i) + ": expected " +
                          expected + ", but got " + std::to_string(lengths[i]));
    }
  });
}

HlaStatus hlaCheckSlots(const int32_t *slots, size_t count, int64_t states,
                        int32_t shared) {
  return guard([&] {
    if (count != 0)
      requireNonNull(slots, "slots");
    if (states < 0)
      throw Failure(HLA_STATUS_INVALID_ARGUMENT,
                    "expected at least 0 states, but got " +
                        std::to_string(states));
    std::unordered_map<int32_t, size_t> positions;
    for (size_t i = 0; i < count; ++i) {
      if (slots[i] < 0)
        continue;
      std::string expected;
      auto [other, isNew] = positions.insert({slots[i], i});
      if (slots[i] >= states)
        expected = "at most " + std::to_string(states - 1) + " (of " +
                   std::to_string(states) + " states)";
      else if (!isNew && !shared)
        expected = "another number than at position " +
                   std::to_string(other->second) +
                   " (a final state is one sequence's)";
      if (!expected.empty())
        throw Failure(HLA_STATUS_SLOTS,
                      "slots, position " + std::to_string(i) + ": expected " +
                          expected + ", but got " + std::to_string(slots[i]));
    }
  });
}

HlaStatus hlaBundleLoad(const char *directory, HlaBundle **bundle) {
  return guard([&] {
    requireNonNull(directory, "directory");
    requireNonNull(bundle, "bundle");
    *bundle = new HlaBundle(directory);
  });
}

void hlaBundleDestroy(HlaBundle *bundle) {
  guard([&] { delete bundle; });
}

const char *hlaBundleGetEntry(const HlaBundle *bundle) {
  return bundle ? bundle->manifest.entry.c_str() : nullptr;
}

const char *hlaBundleGetManifest(const HlaBundle *bundle) {
  return bundle ? bundle->manifestText.c_str() : nullptr;
}

size_t hlaBundleGetNumArguments(const HlaBundle *bundle) {
  return bundle ? bundle->manifest.arguments.size() : 0;
}

size_t hlaBundleGetNumDims(const HlaBundle *bundle) {
  return bundle ? bundle->manifest.dims.size() : 0;
}

template <typename T>
static const T &getElement(const std::vector<T> &elements, size_t index,
                           const char *what) {
  if (index >= elements.size())
    throw Failure(HLA_STATUS_INVALID_ARGUMENT,
                  std::string("expected the index of one of ") +
                      std::to_string(elements.size()) + " " + what +
                      ", but got " + std::to_string(index));
  return elements[index];
}

HlaStatus hlaBundleGetArgument(const HlaBundle *bundle, size_t index,
                               HlaArgumentInfo *info) {
  return guard([&] {
    requireNonNull(bundle, "bundle");
    requireNonNull(info, "info");
    const ArgumentSpec &spec =
        getElement(bundle->manifest.arguments, index, "arguments");
    *info = {spec.name.c_str(),   spec.access,
             spec.dtype,          static_cast<int32_t>(spec.extents.size()),
             spec.extents.data(), spec.dims.data(),
             spec.alignment,      spec.strideMultiple};
  });
}

HlaStatus hlaBundleGetDim(const HlaBundle *bundle, size_t index,
                          HlaDimInfo *info) {
  return guard([&] {
    requireNonNull(bundle, "bundle");
    requireNonNull(info, "info");
    const DimSpec &dim = getElement(bundle->manifest.dims, index, "dims");
    *info = {dim.name.c_str(), dim.minimum, dim.maximum};
  });
}

HlaStatus hlaBundleGetTarget(const HlaBundle *bundle, HlaTargetInfo *info) {
  return guard([&] {
    requireNonNull(bundle, "bundle");
    requireNonNull(info, "info");
    const TargetSpec &target = bundle->manifest.target;
    *info = {target.arch.c_str(),
             target.ptxIsa.c_str(),
             target.major,
             target.minor,
             target.forwardCompatible,
             bundle->manifest.cubin.has_value()};
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static void requireArguments(const HlaBundle *bundle,
                             const HlaTensor *arguments, size_t numArguments) {
  requireNonNull(bundle, "bundle");
  if (numArguments != 0)
    requireNonNull(arguments, "arguments");
}

HlaStatus hlaBundleCheckArguments(const HlaBundle *bundle,
                                  const HlaTensor *arguments,
                                  size_t numArguments, int64_t *dims) {
  return guard([&] {
    requireArguments(bundle, arguments, numArguments);
    const Manifest &manifest = bundle->manifest;
    ExpressionValues values = bindShapes(manifest, arguments, numArguments);
    bindMemory(manifest, arguments, values);
    planLaunch(manifest, arguments, values);
    if (dims)
      std::copy(values.dims.begin(), values.dims.end(), dims);
  });
}

HlaStatus hlaBundleGetScratchBytes(const HlaBundle *bundle,
                                   const HlaTensor *arguments,
                                   size_t numArguments, size_t *bytes) {
  return guard([&] {
    requireArguments(bundle, arguments, numArguments);
    requireNonNull(bytes, "bytes");
    const Manifest &manifest = bundle->manifest;
    *bytes = evaluateScratchBytes(
        manifest, bindShapes(manifest, arguments, numArguments));
  });
}

HlaStatus hlaBundlePrepare(HlaBundle *bundle, int32_t device) {
  return guard([&] {
    requireNonNull(bundle, "bundle");
    Driver &driver = Driver::get();
    ContextScope scope(driver, device);
    bundle->prepare(driver, scope);
  });
}

HlaStatus hlaBundleLaunch(HlaBundle *bundle, const HlaTensor *arguments,
                          size_t numArguments, void *stream, void *scratch,
                          size_t scratchBytes) {
  return guard([&] {
    requireArguments(bundle, arguments, numArguments);
    bundle->launch(arguments, numArguments, stream, scratch, scratchBytes);
  });
}
