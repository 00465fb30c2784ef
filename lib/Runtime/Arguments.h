//===- Arguments.h - Tensors checked against a manifest ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_ARGUMENTS_H
#define HLA_LIB_RUNTIME_ARGUMENTS_H

#include "Expression.h"
#include "Manifest.h"
#include "hla-c/Runtime.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hla::runtime {

/// A half-open range of addresses.
struct AddressRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool overlaps(const AddressRange &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// Checks types, shapes and strides, and returns the values that expressions
/// read. The stride of a dimension of extent 1, and every stride of an empty
/// tensor, is never used, and producers put anything there; expressions see 0.
ExpressionValues bindShapes(const Manifest &manifest, const HlaTensor *tensors,
                            size_t count);

struct BoundMemory {
  std::vector<AddressRange> ranges; // one an argument; empty for no element
  int32_t device = -1;              // -1 if no argument names one
};

/// Checks pointers, memory kinds and overlap of tensors that passed bindShapes.
BoundMemory bindMemory(const Manifest &manifest, const HlaTensor *tensors,
                       const ExpressionValues &values);

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_ARGUMENTS_H
