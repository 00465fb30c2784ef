//===- LoopVerifier.h - which loops become tile programs ------ -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_CONVERSION_HLATOTILE_LOOPVERIFIER_H
#define HLA_LIB_CONVERSION_HLATOTILE_LOOPVERIFIER_H

#include "hla/Dialect/HLA/IR/HLA.h"

namespace mlir::hla {

/// Emits an error unless a loop has a schedule, memory for its operands, and a
/// body of which a tile program can be made.
LogicalResult verifyLoop(FusedScanOp op, const TargetInfo &target);

} // namespace mlir::hla

#endif // HLA_LIB_CONVERSION_HLATOTILE_LOOPVERIFIER_H
