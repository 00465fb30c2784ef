//===- ResultDestinations.cpp - where a function's results are written ----===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultDestinations.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::hla;

/// The operand at which the chain of destinations that ends in `value` begins:
/// an argument of the function or a `tensor.empty`. Null if it begins
/// otherwise.
static OpOperand *findHead(Value value) {
  OpOperand *head = nullptr;
  while (auto result = dyn_cast<OpResult>(value)) {
    if (isa<tensor::EmptyOp>(result.getOwner()))
      return head;
    auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
    head = op ? op.getTiedOpOperand(result) : nullptr;
    if (!head)
      return nullptr;
    value = head->get();
  }
  return head;
}

SmallVector<ResultDestination>
hla::findResultDestinations(func::FuncOp function) {
  SmallVector<ResultDestination> destinations;
  unsigned numArguments = function.getNumArguments();
  auto isTaken = [&](unsigned argument) {
    return llvm::any_of(destinations, [&](const ResultDestination &other) {
      return other.argument == argument;
    });
  };
  for (Value result :
       function.getBody().front().getTerminator()->getOperands()) {
    OpOperand *head = findHead(result);
    BlockArgument argument;
    if (head)
      argument = dyn_cast<BlockArgument>(head->get());
    if (argument && !isTaken(argument.getArgNumber()))
      destinations.push_back({argument.getArgNumber()});
    else
      destinations.push_back({numArguments++, argument ? nullptr : head});
  }
  return destinations;
}
