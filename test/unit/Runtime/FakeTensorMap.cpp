//===- FakeTensorMap.cpp - Tensor maps without a GPU ------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Logs what the driver is asked to encode and refuses what its documentation
// says that it refuses. The bytes of a map begin with its address; no other
// is zero, so that one which was not encoded is told apart.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <cstdint>
#include <cstring>

using namespace hla::runtime::test;

namespace {

template <typename T> std::string list(const T *numbers, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string(numbers[i]);
  return text;
}

/// Of a CUtensorMapDataType that the runtime has.
size_t getElementBytes(int type) {
  switch (type) {
  case 6: // FLOAT16
  case 9: // BFLOAT16
    return 2;
  case 7: // FLOAT32
    return 4;
  case 8: // FLOAT64
    return 8;
  default:
    return 0;
  }
}

bool isValid(const void *map, int type, unsigned rank, uintptr_t address,
             const uint64_t *extents, const uint64_t *strides,
             const uint32_t *box, const uint32_t *elementStrides, int swizzle) {
  size_t elementBytes = getElementBytes(type);
  bool valid = reinterpret_cast<uintptr_t>(map) % 64 == 0 &&
               elementBytes != 0 && address % 16 == 0;
  for (unsigned i = 0; i < rank; ++i)
    valid &= extents[i] != 0 && extents[i] <= uint64_t(1) << 32 &&
             box[i] != 0 && box[i] <= 256 && elementStrides[i] == 1;
  for (unsigned i = 0; i + 1 < rank; ++i)
    valid &= strides[i] % 16 == 0 && strides[i] < uint64_t(1) << 40;
  size_t rowBytes = box[0] * elementBytes;
  return valid && rowBytes % 16 == 0 && swizzle >= 0 && swizzle <= 3 &&
         (swizzle == 0 || rowBytes <= size_t(16) << swizzle);
}

} // namespace

EXPORT int cuTensorMapEncodeTiled(void *map, int type, unsigned rank,
                                  void *address, const uint64_t *extents,
                                  const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *elementStrides,
                                  int interleave, int swizzle, int promotion,
                                  int fill) {
  if (rank < 1 || rank > 5)
    return 1;
  auto base = reinterpret_cast<uintptr_t>(address);
  int result = recordCall(
      "cuTensorMapEncodeTiled",
      "type=" + std::to_string(type) + " rank=" + std::to_string(rank) +
          " address=" + std::to_string(base) +
          " extents=" + list(extents, rank) +
          " strides=" + list(strides, rank - 1) + " box=" + list(box, rank) +
          " interleave=" + std::to_string(interleave) + " swizzle=" +
          std::to_string(swizzle) + " promotion=" + std::to_string(promotion) +
          " fill=" + std::to_string(fill));
  if (result)
    return result;
  if (!isValid(map, type, rank, base, extents, strides, box, elementStrides,
               swizzle))
    return 1;
  std::memset(map, 0xd5, 128);
  std::memcpy(map, &base, sizeof(base));
  return 0;
}
