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
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
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

/// Collects LLVM's errors, one a line. Without it the first one is printed and
/// ends the process.
class ErrorCollector : public llvm::DiagnosticHandler {
public:
  explicit ErrorCollector(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &diagnostic) override {
    if (diagnostic.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream os(errors);
      os << (errors.empty() ? "" : "\n");
      llvm::DiagnosticPrinterRawOStream printer(os);
      diagnostic.print(printer);
    }
    return true;
  }

private:
  std::string &errors;
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
    return llvm::createStringError(
        "expected LLVM to have the NVPTX back end, but got " + error);
  // The version is always said: by default it is too old for a target's
  // instructions.
  std::string features = "+ptx" + std::to_string(target.ptxVersion);
  std::unique_ptr<llvm::TargetMachine> machine(backend->createTargetMachine(
      triple, target.arch, features, llvm::TargetOptions(),
      /*RelocModel=*/std::nullopt, /*CodeModel=*/std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return llvm::createStringError(
        "expected an architecture that LLVM generates code for, but got '" +
        llvm::Twine(target.arch) + "'");
  return machine;
}

/// Inline PTX is for whole warps. The LLVM dialect cannot say so, and without
/// it optimizations may move or copy an instruction into a branch that not all
/// threads take.
static void markConvergent(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction);
          call && call->isInlineAsm())
        call->setConvergent();
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

  std::string errors;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  std::unique_ptr<llvm::Module> code;
  {
    Timer timer(&sums.translate);
    code = translateModuleToLLVMIR(module, context);
  }
  if (!code)
    return llvm::createStringError(
        "expected kernels that translate to LLVM IR (they are in the LLVM and "
        "NVVM dialects by then), but got others in '" +
        module.getName() + "'");
  markConvergent(*code);
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
    return llvm::createStringError("expected the NVPTX back end to write "
                                   "assembly, but got one that does not");
  generator.run(*code);
  if (!errors.empty())
    return llvm::createStringError("expected code that LLVM compiles for " +
                                   llvm::Twine(target.arch) +
                                   ", but got: " + errors);
  return text.str().str();
}

void hla::registerPTXTranslations(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}
