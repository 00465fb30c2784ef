//===- CPUExecutor.cpp - runs entry functions on the host -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Compiler/CPUExecutor.h"
#include "hla/Compiler/Diagnostics.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace mlir::hla;

void hla::registerCPUExecutorDialects(DialectRegistry &registry) {
  registry.insert<HLADialect, tile::HLATileDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, func::FuncDialect,
                  linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, omp::OpenMPDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  hla::registerBufferizableOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
}

namespace {

/// A target machine for the host with all its features.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createHostMachine() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  return builder->createTargetMachine();
}

} // namespace

CPUExecutor::~CPUExecutor() = default;

CPUParallel CPUExecutor::getDefaultParallel() {
#ifdef HLA_HAS_OPENMP
  return CPUParallel::OpenMP;
#else
  return CPUParallel::Serial;
#endif
}

llvm::Expected<std::unique_ptr<CPUExecutor>>
CPUExecutor::create(ModuleOp module, StringRef entry,
                    const HLAToCPUPipelineOptions &options) {
  FirstError firstError(module.getContext());
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function)
    return llvm::createStringError(
        "expected a function '" + entry +
        "' in the program (the entry), but got none");
  if (options.parallel == CPUParallel::OpenMP &&
      getDefaultParallel() != CPUParallel::OpenMP)
    return llvm::createStringError(
        "expected parallel=serial (this build has no "
        "OpenMP runtime), but got openmp");
  FailureOr<EntryABI> abi = getEntryABI(function);
  if (failed(abi))
    return firstError.take("could not determine the arguments of the entry");

  for (auto other : module.getOps<func::FuncOp>())
    if (other != function)
      other.setPrivate();
  PassManager pm(module.getContext());
  pm.addPass(createSymbolDCEPass());
  buildHLAToCPUPipeline(pm, options);
  if (failed(pm.run(module)))
    return firstError.take("could not compile the program");

  auto machine = createHostMachine();
  if (!machine)
    return machine.takeError();
  auto optimizerMachine = createHostMachine();
  if (!optimizerMachine)
    return optimizerMachine.takeError();
  auto optimize = makeOptimizingTransformer(/*optLevel=*/3, /*sizeLevel=*/0,
                                            optimizerMachine->get());
  ExecutionEngineOptions engineOptions;
  engineOptions.transformer = optimize;
  engineOptions.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  engineOptions.enableGDBNotificationListener = false;
  engineOptions.enablePerfNotificationListener = false;
  auto engine =
      ExecutionEngine::create(module, engineOptions, std::move(*machine));
  if (!engine)
    return engine.takeError();
  auto packed = (*engine)->lookupPacked(("_mlir_ciface_" + entry).str());
  if (!packed)
    return packed.takeError();

  std::unique_ptr<CPUExecutor> executor(new CPUExecutor());
  executor->abi = std::move(*abi);
  executor->engine = std::move(*engine);
  executor->function = *packed;
  return executor;
}

/// Checks `view` against `argument`; gathers the values of symbols.
static llvm::Error checkView(const ABIArgument &argument,
                             const StridedView &view,
                             llvm::StringMap<int64_t> &symbols) {
  auto fail = [&](const Twine &what, int64_t got) {
    return llvm::createStringError("expected " + what + ", but got " +
                                   Twine(got));
  };
  size_t rank = argument.dims.size();
  if (view.shape.size() != rank || view.strides.size() != rank)
    return fail("'" + argument.name + "' to have rank " + Twine(rank),
                view.shape.size());
  bool isEmpty = llvm::is_contained(view.shape, 0);
  for (auto [i, dim] : llvm::enumerate(argument.dims)) {
    int64_t size = view.shape[i];
    int64_t expected = dim.isSymbol()
                           ? symbols.try_emplace(dim.symbol, size).first->second
                           : dim.size;
    if (size < 0 || size != expected)
      return fail("dimension " + Twine(i) + " of '" + argument.name +
                      "' to be " + (dim.isSymbol() ? dim.symbol + " = " : "") +
                      Twine(expected),
                  size);
  }
  if (!isEmpty && view.strides.back() != 1 && view.shape.back() != 1)
    return fail("the last stride of '" + argument.name +
                    "' to be 1 (rows are contiguous)",
                view.strides.back());
  if (!isEmpty && !view.data)
    return llvm::createStringError("expected '" + argument.name +
                                   "' to have data, but got a null pointer");
  return llvm::Error::success();
}

/// Checks that `symbols` are tied as the ABI ties them, and that there are
/// lengths where an argument is some.
static llvm::Error checkSymbols(const EntryABI &abi,
                                const llvm::StringMap<int64_t> &symbols) {
  for (const ABIArgument &argument : abi.arguments)
    if (argument.content == ABIContent::Lengths &&
        argument.dims.front().isSymbol() &&
        symbols.lookup(argument.dims.front().symbol) < 1)
      return llvm::createStringError("expected '" + argument.name +
                                     "' to have at least 1 number (N + 1 for N "
                                     "sequences), but got none");
  for (const auto &[left, right] : abi.constraints) {
    std::optional<int64_t> x = left.evaluate(symbols),
                           y = right.evaluate(symbols);
    auto format = [](std::optional<int64_t> value) {
      return value ? std::to_string(*value) : "more than 63 bits";
    };
    if (!x || !y || *x != *y)
      return llvm::createStringError("expected " + left.getText() + " = " +
                                     right.getText() +
                                     " in the shapes of arguments, but got " +
                                     format(x) + " and " + format(y));
  }
  return llvm::Error::success();
}

llvm::Error CPUExecutor::run(ArrayRef<StridedView> arguments) const {
  if (arguments.size() != abi.arguments.size())
    return llvm::createStringError("expected " + Twine(abi.arguments.size()) +
                                   " arguments, but got " +
                                   Twine(arguments.size()));
  llvm::StringMap<int64_t> symbols;
  // A descriptor, as MLIR lowers a memref: two pointers, the offset, sizes and
  // strides.
  SmallVector<SmallVector<int64_t>> descriptors;
  for (auto [argument, view] : llvm::zip(abi.arguments, arguments)) {
    if (llvm::Error error = checkView(argument, view, symbols))
      return error;
    auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(view.data));
    SmallVector<int64_t> descriptor{address, address, 0};
    llvm::append_range(descriptor, view.shape);
    llvm::append_range(descriptor, view.strides);
    descriptors.push_back(std::move(descriptor));
  }
  if (llvm::Error error = checkSymbols(abi, symbols))
    return error;
  SmallVector<void *> pointers, packed;
  for (SmallVector<int64_t> &descriptor : descriptors)
    pointers.push_back(descriptor.data());
  for (void *&pointer : pointers)
    packed.push_back(&pointer);
  function(packed.data());
  return llvm::Error::success();
}
