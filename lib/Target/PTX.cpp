//===- PTX.cpp - PTX of a module of kernels ---------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Target/PTX.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>

using namespace mlir;
using namespace mlir::hla;

namespace {

/// Adds the seconds of a scope to a sum.
class Timer {
public:
  explicit Timer(double *sum) : sum(sum) {}
  ~Timer() {
    if (sum)
      *sum += std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  double *sum;
  Clock::time_point start = Clock::now();
};

} // namespace

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetInfo &target) {
  static const bool initialized = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)initialized;
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *backend =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!backend)
    return llvm::createStringError("LLVM has no NVPTX back end: " + error);
  // The version is always said: by default it is too old for a target's
  // instructions.
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.arch, features, llvm::TargetOptions(),
      /*RelocModel=*/std::nullopt, /*CodeModel=*/std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError("LLVM cannot generate code for " +
                                   llvm::Twine(target.arch));
  return machine;
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

llvm::Expected<std::string> hla::translateToPTX(gpu::GPUModuleOp module,
                                                const TargetInfo &target,
                                                PTXTimes *times) {
  PTXTimes ignored;
  PTXTimes &sums = times ? *times : ignored;
  auto machine = createTargetMachine(target);
  if (!machine)
    return machine.takeError();

  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code;
  {
    Timer timer(&sums.translate);
    code = translateModuleToLLVMIR(module, context);
  }
  if (!code)
    return llvm::createStringError("cannot translate kernels to LLVM IR");
  code->setTargetTriple((*machine)->getTargetTriple());
  code->setDataLayout((*machine)->createDataLayout());
  {
    Timer timer(&sums.optimize);
    optimize(*code, **machine);
  }

  Timer timer(&sums.generate);
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager generator;
  if ((*machine)->addPassesToEmitFile(generator, os, nullptr,
                                      llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot write PTX");
  generator.run(*code);
  return text.str().str();
}

void hla::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}
