//===- Npy.h - arrays in .npy files -----------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_NPY_H
#define HLA_TOOLS_HLA_RUN_NPY_H

#include "Array.h"

namespace hla_run {

/// Reads the array in `path`, of format version 1 to 3, in C or Fortran order,
/// which must have element type `type`. A bf16 array has 2-byte elements
/// without a type (`|V2`), as numpy writes ml_dtypes.bfloat16, or `<u2`.
llvm::Expected<Array> readNpy(llvm::StringRef path, DType type);

/// Writes `array` to `path`, in format version 1; bf16 as `<V2`.
llvm::Error writeNpy(llvm::StringRef path, const Array &array);

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_NPY_H
