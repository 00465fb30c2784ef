//===- WriteFile.cpp - files, written whole ---------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Compiler/WriteFile.h"
#include "llvm/Support/raw_ostream.h"

llvm::Error mlir::hla::writeFile(llvm::StringRef path,
                                 llvm::StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (!error) {
    os << content;
    os.close();
    error = os.error();
    // An error that is still there when the stream ends would be fatal.
    os.clear_error();
  }
  if (error)
    return llvm::createStringError(error, "expected a writable file '" + path +
                                              "', but got " + error.message());
  return llvm::Error::success();
}
