//===- Bufferize.cpp - tensors of entry functions, in memory ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultDestinations.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLABUFFERIZE
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

/// The memref of a tensor at a function's boundary: any strides, but rows are
/// contiguous.
static MemRefType getBoundaryType(TensorType tensor, Attribute memorySpace) {
  int64_t rank = tensor.getRank();
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  if (rank > 0)
    strides.back() = 1;
  auto layout =
      StridedLayoutAttr::get(tensor.getContext(), /*offset=*/0, strides);
  return MemRefType::get(tensor.getShape(), tensor.getElementType(), layout,
                         memorySpace);
}

/// Verifies that `function` has destinations for its results, and appends the
/// arguments that they need.
static FailureOr<SmallVector<ResultDestination>>
assignDestinations(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected one block (kernels have no control "
                                "flow around them), but got ")
           << function.getBody().getBlocks().size();
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (isa<UnrankedTensorType>(argument.getType()))
      return function.emitOpError("expected argument #")
             << argument.getArgNumber()
             << " to be ranked (kernels read it by stride), but got "
             << argument.getType();
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    if (!isa<RankedTensorType>(operand.get().getType()))
      return function.emitOpError("expected result #")
             << operand.getOperandNumber()
             << " to be a ranked tensor (it becomes an argument), but got "
             << operand.get().getType();

  SmallVector<ResultDestination> destinations =
      findResultDestinations(function);
  for (auto [destination, type] :
       llvm::zip(destinations, function.getResultTypes())) {
    if (destination.argument < function.getNumArguments())
      continue;
    if (failed(function.insertArgument(destination.argument, type, {},
                                       function.getLoc())))
      return failure();
    if (destination.placeholder)
      destination.placeholder->set(body.getArgument(destination.argument));
  }
  return destinations;
}

/// Drops the results of a bufferized function: what is not in its destination
/// yet is copied there.
static void dropResults(func::FuncOp function,
                        ArrayRef<ResultDestination> destinations) {
  Operation *terminator = function.getBody().front().getTerminator();
  OpBuilder b(terminator);
  for (auto [value, result] :
       llvm::zip(terminator->getOperands(), destinations)) {
    BlockArgument destination = function.getArgument(result.argument);
    Value buffer = value;
    while (auto cast = buffer.getDefiningOp<memref::CastOp>())
      buffer = cast.getSource();
    if (buffer != destination)
      memref::CopyOp::create(b, terminator->getLoc(), buffer, destination);
  }
  terminator->eraseOperands(0, terminator->getNumOperands());
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getArgumentTypes(), {}));
  function.removeResAttrsAttr();
}

namespace {

struct Bufferize : hla::impl::HLABufferizeBase<Bufferize> {
  void getDependentDialects(DialectRegistry &registry) const override {
    HLABufferizeBase::getDependentDialects(registry);
    bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
        registry);
    registerBufferizableOpInterfaceExternalModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<std::pair<func::FuncOp, SmallVector<ResultDestination>>>
        entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPublic() || function.isDeclaration())
        continue;
      if (!SymbolTable::symbolKnownUseEmpty(function, module)) {
        function.emitOpError("expected no call of a public function (its "
                             "results become arguments), but got one of '")
            << function.getName() << "'";
        return signalPassFailure();
      }
      auto destinations = assignDestinations(function);
      if (failed(destinations))
        return signalPassFailure();
      entries.emplace_back(function, std::move(*destinations));
    }

    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.inferFunctionResultLayout = false;
    options.functionArgTypeConverterFn =
        [](bufferization::TensorLikeType type, Attribute memorySpace,
           func::FuncOp, const bufferization::BufferizationOptions &) {
          return cast<bufferization::BufferLikeType>(
              getBoundaryType(cast<TensorType>(type), memorySpace));
        };
    bufferization::BufferizationState state;
    if (failed(
            bufferization::runOneShotModuleBufferize(module, options, state)))
      return signalPassFailure();
    for (auto &[function, destinations] : entries)
      dropResults(function, destinations);
    bufferization::removeBufferizationAttributesInModule(module);
  }
};

} // namespace
