//===- Passes.h - transformations of the hla dialect ------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_TRANSFORMS_PASSES_H
#define HLA_DIALECT_HLA_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
class ModuleOp;

namespace hla {

#define GEN_PASS_DECL
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"

/// Lets `one-shot-bufferize` handle hla operations.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

#define GEN_PASS_REGISTRATION
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"

} // namespace hla
} // namespace mlir

#endif // HLA_DIALECT_HLA_TRANSFORMS_PASSES_H
