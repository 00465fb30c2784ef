//===- WriteFile.h - files, written whole -----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_COMPILER_WRITEFILE_H
#define HLA_COMPILER_WRITEFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::hla {

/// Writes `content` to the file `path`, over what is there. A full disk is an
/// error like any other.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content);

} // namespace mlir::hla

#endif // HLA_COMPILER_WRITEFILE_H
