//===- Sizes.h - the extents of a run ---------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_SIZES_H
#define HLA_TOOLS_HLA_RUN_SIZES_H

#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace hla_run {

using Sizes = llvm::StringMap<int64_t>;

/// The values of all symbols of `abi` from those that `given` has, which are
/// known to be no others: `H1` is `H / 4` where the function has four heads
/// read one. `N`, sequences, may stand for the number of their lengths where no
/// argument has it.
llvm::Expected<Sizes> solveSizes(const mlir::hla::EntryABI &abi,
                                 const Sizes &given);

/// Adds to `sizes` those that follow from them, and checks that all are tied as
/// `abi` ties them. `where` is what has them.
llvm::Error propagateSizes(const mlir::hla::EntryABI &abi, Sizes &sizes,
                           llvm::StringRef where);

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_SIZES_H
