//===- Assembler.h - PTX to machine code ------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_COMPILER_ASSEMBLER_H
#define HLA_LIB_COMPILER_ASSEMBLER_H

#include "hla/Compiler/BundleCompiler.h"

namespace mlir::hla {

/// What the assembler makes of PTX.
struct Assembled {
  std::string cubin;
  llvm::SmallVector<KernelResources> resources;
  std::string remarks;
};

/// Runs the assembler `ptxas` on PTX for the architecture `arch`.
llvm::Expected<Assembled> assemble(llvm::StringRef ptx, llvm::StringRef arch,
                                   llvm::StringRef ptxas);

} // namespace mlir::hla

#endif // HLA_LIB_COMPILER_ASSEMBLER_H
