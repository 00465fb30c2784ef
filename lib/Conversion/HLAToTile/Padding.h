//===- Padding.h - rows after the last token --------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_PADDING_H
#define HLA_LIB_CONVERSION_HLATOTILE_PADDING_H

#include "hla/Dialect/HLA/IR/HLA.h"

namespace mlir::hla {

/// Whether a row of a body is what an operation other than a constant has made.
bool isComputed(Value row);

/// Whether a row of a body is known to be zero for a token whose inputs are: a
/// chunk's rows after the last token.
bool isZeroPadded(Value row);

/// Whether the keys, and the values, of a step must be set to zero after the
/// last token. Their product must be zero there, and neither infinite nor NaN.
std::pair<bool, bool> needsMask(StepOp step);

} // namespace mlir::hla

#endif // HLA_LIB_CONVERSION_HLATOTILE_PADDING_H
