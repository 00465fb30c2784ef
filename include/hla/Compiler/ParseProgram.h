//===- ParseProgram.h - reads a program, with the names it uses -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_COMPILER_PARSEPROGRAM_H
#define HLA_COMPILER_PARSEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

namespace mlir::hla {

/// Reads and verifies the program in the file `path` (`-`: standard input).
///
/// Arguments and results of functions get the attribute `hla.name`, unless they
/// have it: what the text calls them, `q` for `%q`. Messages and manifests use
/// it.
llvm::Expected<OwningOpRef<ModuleOp>> parseProgram(StringRef path,
                                                   MLIRContext *context);

} // namespace mlir::hla

#endif // HLA_COMPILER_PARSEPROGRAM_H
