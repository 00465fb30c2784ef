//===- TileToLinalg.h - tile programs on a CPU ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_CONVERSION_TILETOLINALG_H
#define HLA_CONVERSION_TILETOLINALG_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
class TypeConverter;

namespace hla {

#define GEN_PASS_DECL_CONVERTHLATILETOLINALG
#define GEN_PASS_DECL_HLABUFFERIZETILES
#define GEN_PASS_DECL_HLAVECTORIZETILES
#include "hla/Conversion/Passes.h.inc"

/// Conversions of types for these patterns: tiles of tf32 are f32.
void populateHLATileToLinalgConversions(TypeConverter &converter);

/// Patterns that turn the program operations of the hla_tile dialect into
/// linalg on tensors, and a launch into a parallel loop.
void populateHLATileToLinalgPatterns(const TypeConverter &converter,
                                     RewritePatternSet &patterns);

} // namespace hla
} // namespace mlir

#endif // HLA_CONVERSION_TILETOLINALG_H
