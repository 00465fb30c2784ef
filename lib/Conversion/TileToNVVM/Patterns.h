//===- Patterns.h - patterns from tiles to nvvm -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_TILETONVVM_PATTERNS_H
#define HLA_LIB_CONVERSION_TILETONVVM_PATTERNS_H

#include "hla/Target/TargetInfo.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::hla::tile {

/// The name of a kernel's dynamic shared memory in its module.
constexpr llvm::StringLiteral kSharedMemoryName = "hla_shared_memory";

/// What tiles and views are on a thread:
///
/// - a fragment of f32 or tf32: its registers, f32, in the order of
///   `#hla_tile.frag`; one of 16-bit elements: pairs of neighbours,
///   `vector<2xT>`;
/// - a column in lanes: its numbers;
/// - a matrix or a column in device memory: its pointer, row stride and number
///   of rows; a tensor of rank r: its pointer and r - 1 strides;
/// - a buffer or ring in shared memory, and signals: their pointer;
/// - a tensor map: a pointer to it.
void populateTypeConversions(TypeConverter &converter);

/// constant, arith and math on tiles, ramp, causal, decay.
void populateElementwisePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns);
/// What is done with numbers of tokens and heads: load, store, splat,
/// prefix_sum, and causal and decay by sums.
void populateColumnPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns);
/// mask, sum_rows, broadcast.
void populateRowPatterns(const TypeConverter &converter,
                         RewritePatternSet &patterns);
/// dot, read, write.
void populateMatrixPatterns(const TypeConverter &converter,
                            const TargetInfo &target,
                            RewritePatternSet &patterns);
/// subview, load, store.
void populateDeviceMemoryPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns);
/// alloc, slot, columns, copies, barrier.
void populateSharedMemoryPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns);
/// groups, sync, arrive, async_fence, signals.
void populateGroupPatterns(const TypeConverter &converter,
                           RewritePatternSet &patterns);
/// dot_async, dot_fence, dot_commit, dot_wait.
void populateAsyncDotPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns);
/// tensor_load, tensor_store, tensor_store_wait.
void populateBoxPatterns(const TypeConverter &converter,
                         RewritePatternSet &patterns);

} // namespace mlir::hla::tile

#endif // HLA_LIB_CONVERSION_TILETONVVM_PATTERNS_H
