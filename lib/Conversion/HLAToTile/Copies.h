//===- Copies.h - copies of tensors as loops --------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_COPIES_H
#define HLA_LIB_CONVERSION_HLATOTILE_COPIES_H

#include "hla/Dialect/HLA/IR/HLA.h"

namespace mlir::hla {

/// Replaces copies of sequences and states in `root` by loops that yield the
/// rows that they read: a launcher has kernels, and no other way to copy.
/// Copies that no kernel of the target can make stay.
void replaceCopies(Operation *root, const TargetInfo &target);

} // namespace mlir::hla

#endif // HLA_LIB_CONVERSION_HLATOTILE_COPIES_H
