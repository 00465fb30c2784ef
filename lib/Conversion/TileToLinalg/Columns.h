//===- Columns.h - columns of tiles as tensors ---------------- -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETOLINALG_COLUMNS_H
#define HLA_LIB_CONVERSION_TILETOLINALG_COLUMNS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hla::tile {

/// Bytes that buffers are aligned to: a cache line.
constexpr int64_t kAlignment = 64;

/// An uninitialised tensor.
Value createEmpty(OpBuilder &b, Location loc, RankedTensorType type);

/// A tensor of `shape` that owns its memory, filled row by row: `number(i)` is
/// element `i`, or `(i, 0)` of a column.
Value createColumn(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                   Type elementType,
                   function_ref<Value(OpBuilder &, Location, Value)> number);

/// Element `i` of a column.
Value extractNumber(OpBuilder &b, Location loc, Value column, Value i);

/// Patterns for operations on columns, and with one number a row.
void populateColumnPatterns(RewritePatternSet &patterns);

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETOLINALG_COLUMNS_H
