//===- Segments.h - what is between loops in segments -----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_SEGMENTS_H
#define HLA_LIB_CONVERSION_HLATOTILE_SEGMENTS_H

#include "hla/Dialect/HLA/IR/HLA.h"

namespace mlir::hla {

/// Replaces the combinations of states and sums of numbers in `root` by tile
/// programs, which have the same parallelism as loops: segments, or parts of
/// states, of each head.
void convertSegments(Operation *root, const TargetInfo &target);

} // namespace mlir::hla

#endif // HLA_LIB_CONVERSION_HLATOTILE_SEGMENTS_H
