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

namespace hla {

#define GEN_PASS_DECL_CONVERTHLATILETOLINALG
#define GEN_PASS_DECL_HLABUFFERIZETILES
#define GEN_PASS_DECL_HLAVECTORIZETILES
#include "hla/Conversion/Passes.h.inc"

/// Patterns that turn the program operations of the hla_tile dialect into
/// linalg on tensors, and a launch into a parallel loop.
void populateHLATileToLinalgPatterns(RewritePatternSet &patterns);

} // namespace hla
} // namespace mlir

#endif // HLA_CONVERSION_TILETOLINALG_H
