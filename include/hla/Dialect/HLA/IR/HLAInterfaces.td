//===- HLAInterfaces.td - interfaces of hla operations -----*- tablegen -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_HLAINTERFACES_TD
#define HLA_DIALECT_HLA_IR_HLAINTERFACES_TD

include "mlir/IR/OpBase.td"

def HLA_OperatorInterface : OpInterface<"Operator"> {
  let cppNamespace = "::mlir::hla";
  let description = [{
    An operator of the family: query, key and value in, an output and final
    states out, with the options that all have. What tells operators apart is
    their order, their states, and the scans that they are decomposed into.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::Value", "getQuery">,
    InterfaceMethod<"", "::mlir::Value", "getKey">,
    InterfaceMethod<"", "::mlir::Value", "getValue">,
    InterfaceMethod<"The log-decay, or null.", "::mlir::Value", "getLogDecay">,
    InterfaceMethod<"The cumulative lengths, or null.", "::mlir::Value", "getLengths">,
    InterfaceMethod<"The numbers of states, or null.", "::mlir::Value", "getSlots">,
    InterfaceMethod<"Initial states, one for every one of `getStates`, or none.",
        "::mlir::OperandRange", "getCarries">,
    InterfaceMethod<"Destinations of the output and of final states.",
        "::mlir::OperandRange", "getOutputs">,
    InterfaceMethod<"", "::llvm::APFloat", "getDecay">,
    InterfaceMethod<"", "::llvm::APFloat", "getScale">,
    InterfaceMethod<"", "::mlir::hla::Normalizer", "getNormalizer">,
    InterfaceMethod<"", "::llvm::APFloat", "getEpsilon">,
    InterfaceMethod<"", "bool", "getReverse">,
    InterfaceMethod<"", "::mlir::hla::HeadLayout", "getLayout">,
    InterfaceMethod<"", "::std::optional<::llvm::ArrayRef<int64_t>>", "getGroups">,
    InterfaceMethod<"The ridge λ, 0 where the operator has none.", "double", "getRidgeValue">,
    InterfaceMethod<"The number of scores in a product: the power of the scale.",
        "unsigned", "getOrder">,
    InterfaceMethod<[{
          The states, in the order of carries and final states: first those of
          the operator, then those of its normaliser.
        }], "::llvm::SmallVector<::mlir::hla::OperatorState>", "getStates">
  ];
  let extraSharedClassDeclaration = [{
    /// Whether anything is forgotten.
    bool isDecayed() {
      return $_op.getLogDecay() || $_op.getDecay().convertToDouble() != 1.0;
    }
    /// Query heads, and key and value heads, that one is read by.
    int64_t getQueryGroup() {
      return $_op.getGroups() ? (*$_op.getGroups())[0] : 1;
    }
    int64_t getKeyGroup() {
      return $_op.getGroups() ? (*$_op.getGroups())[1] : 1;
    }
  }];
}

#endif // HLA_DIALECT_HLA_IR_HLAINTERFACES_TD
