//===- Padding.h - rows after the last token, columns after the last ------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_PADDING_H
#define HLA_LIB_CONVERSION_HLATOTILE_PADDING_H

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/Tile/IR/Tile.h"

namespace mlir::hla {

/// Whether the tile of a row of a body is known to be zero after the last token
/// of the chunk, or after the row's last column where the tile is wider, given
/// that what is loaded is, and that values of steps are after their last
/// column.
bool isZeroPadded(Value row, tile::Dim dim);

/// Whether the keys, and the values, of a step must be set to zero after the
/// last token. Their product must be zero there, and neither infinite nor NaN.
std::pair<bool, bool> needsMask(StepOp step);

} // namespace mlir::hla

#endif // HLA_LIB_CONVERSION_HLATOTILE_PADDING_H
