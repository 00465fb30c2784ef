//===- Rounding.h - roundings of tiles on a CPU -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETOLINALG_ROUNDING_H
#define HLA_LIB_CONVERSION_TILETOLINALG_ROUNDING_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::hla {

/// Whether elements are tf32: on a CPU an f32 with as many bits.
inline bool isTF32(Type type) { return getElementTypeOrSelf(type).isTF32(); }

/// `tile` in a wider element type, or its own.
Value extend(OpBuilder &b, Location loc, Value tile, Type elementType);

/// A tile of f32 rounded to tf32, to nearest and ties away from zero.
Value roundToTF32(OpBuilder &b, Location loc, Value tile);

/// What `bf16x3` takes a tile for, as f32: the nearest bf16, and that of the
/// rest. A tile of bf16 has no rest.
std::pair<Value, Value> splitBF16(OpBuilder &b, Location loc, Value tile);

} // namespace mlir::hla

#endif // HLA_LIB_CONVERSION_TILETOLINALG_ROUNDING_H
