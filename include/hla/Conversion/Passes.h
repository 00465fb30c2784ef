//===- Passes.h - conversions between dialects ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_CONVERSION_PASSES_H
#define HLA_CONVERSION_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hla {

#define GEN_PASS_DECL
#include "hla/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "hla/Conversion/Passes.h.inc"

} // namespace mlir::hla

#endif // HLA_CONVERSION_PASSES_H
