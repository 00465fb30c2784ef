//===- ResultDestinations.h - where a function's results are written ------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_DIALECT_HLA_TRANSFORMS_RESULTDESTINATIONS_H
#define HLA_LIB_DIALECT_HLA_TRANSFORMS_RESULTDESTINATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hla {

/// Where one result of a function on tensors is written.
struct ResultDestination {
  /// The argument: one of the function's, if the chain of destinations that
  /// ends in the result begins with it and no earlier result is written there;
  /// else one that is appended.
  unsigned argument;
  /// The operand that stands for an appended argument, a `tensor.empty`; null
  /// if there is none: the result is copied then.
  OpOperand *placeholder = nullptr;
};

/// The destinations of all results of a function of one block, in order.
/// Arguments are appended in the order of the results.
SmallVector<ResultDestination> findResultDestinations(func::FuncOp function);

} // namespace mlir::hla

#endif // HLA_LIB_DIALECT_HLA_TRANSFORMS_RESULTDESTINATIONS_H
