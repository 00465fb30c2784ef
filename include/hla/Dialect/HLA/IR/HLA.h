//===- HLA.h - the hla dialect ----------------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLA_H
#define HLA_DIALECT_HLA_IR_HLA_H

#include "hla/Target/TargetInfo.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "hla/Dialect/HLA/IR/HLADialect.h.inc"
#include "hla/Dialect/HLA/IR/HLAEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "hla/Dialect/HLA/IR/HLAAttrs.h.inc"

namespace mlir::hla {

/// A state that an operator carries: its name, its shape in one head, and
/// whether it depends on values; one that does not is the same in the
/// normaliser.
struct OperatorState {
  ::llvm::StringRef name;
  int64_t rows, cols;
  bool dependsOnValue;
};

} // namespace mlir::hla

#include "hla/Dialect/HLA/IR/HLAInterfaces.h.inc"

#define GET_OP_CLASSES
#include "hla/Dialect/HLA/IR/HLAOps.h.inc"

#endif // HLA_DIALECT_HLA_IR_HLA_H
