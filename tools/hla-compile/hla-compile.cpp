//===- hla-compile.cpp - compiles entry functions to bundles ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Compiler/BundleCompiler.h"
#include "hla/Compiler/ParseProgram.h"
#include "hla/Compiler/WriteFile.h"
#include "hla/Target/TargetInfo.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include <chrono>

namespace cl = llvm::cl;
using namespace mlir::hla;
using llvm::StringRef;

static cl::OptionCategory category("hla-compile options");
static cl::opt<std::string> program(cl::Positional, cl::desc("IN.mlir"),
                                    cl::Required, cl::cat(category));
static cl::opt<std::string> output(
    "o",
    cl::desc("Directory of the bundle of the only entry, or of one bundle "
             "for each entry, DIR/ENTRY"),
    cl::value_desc("DIR"), cl::Required, cl::cat(category));
static cl::opt<std::string>
    target("target",
           cl::desc("sm_80, sm_86, sm_89, sm_90a, sm_100a or sm_120a"),
           cl::Required, cl::cat(category));
static cl::opt<std::string>
    precision("precision",
              cl::desc("Precision of products: bf16, f16, tf32, bf16x3 or f32 "
                       "(default: what the inputs' types say)"),
              cl::value_desc("name"), cl::cat(category));
static cl::opt<std::string> segments(
    "segments",
    cl::desc("Segments of a sequence that are walked at once: a number, "
             "or auto, as many as fill the card (default: one)"),
    cl::value_desc("N"), cl::cat(category));
static cl::list<std::string>
    entries("entry",
            cl::desc("Functions to compile (default: all public ones)"),
            cl::value_desc("name"), cl::CommaSeparated, cl::cat(category));
static cl::opt<std::string> ptxas(
    "ptxas",
    cl::desc("Assembler (default: $HLA_PTXAS, the path, /usr/local/cuda)"),
    cl::value_desc("path"), cl::cat(category));
static cl::opt<bool> noCubin("no-cubin", cl::desc("Write PTX alone"),
                             cl::cat(category));
static cl::opt<std::string>
    timeReport("time-report",
               cl::desc("Write the milliseconds of each stage as JSON"),
               cl::value_desc("FILE"), cl::cat(category));

static int fail(const llvm::Twine &message) {
  llvm::errs() << "hla-compile: error: " << message << "\n";
  return 1;
}

static void printTable(llvm::ArrayRef<Bundle> bundles) {
  llvm::outs() << llvm::formatv(
      "{0,-28} {1,-8} {2,9} {3,7} {4,6} {5,8} {6,9}\n", "kernel", "target",
      "registers", "shared", "spills", "PTX", "seconds");
  for (const Bundle &bundle : bundles) {
    auto row = [&](StringRef kernel, StringRef registers, StringRef shared,
                   StringRef spills) {
      llvm::outs() << llvm::formatv(
          "{0,-28} {1,-8} {2,9} {3,7} {4,6} {5,8} {6,9:f3}\n", kernel, target,
          registers, shared, spills,
          llvm::formatv("{0} KB", (bundle.ptx.size() + 1023) / 1024).str(),
          bundle.times.getTotal());
    };
    const llvm::json::Array &launches = *bundle.manifest.getArray("launches");
    for (const llvm::json::Value &value : launches) {
      const llvm::json::Object &launch = *value.getAsObject();
      StringRef kernel = *launch.getString("kernel");
      StringRef shared = *launch.getString("dynamic_shared_memory");
      const auto *resources =
          llvm::find_if(bundle.resources, [&](const KernelResources &r) {
            return r.kernel == kernel;
          });
      if (resources == bundle.resources.end())
        row(kernel, "-", shared, "-");
      else
        row(kernel, std::to_string(resources->registers), shared,
            std::to_string(resources->spillStores + resources->spillLoads +
                           resources->stackFrame));
    }
    llvm::outs() << bundle.assemblerRemarks;
  }
}

/// Milliseconds of each stage, summed over the bundles.
static llvm::Error writeTimes(llvm::ArrayRef<Bundle> bundles, double writing) {
  BundleTimes sum;
  for (const Bundle &bundle : bundles) {
    const BundleTimes &times = bundle.times;
    sum.passes += times.passes;
    sum.assemble += times.assemble;
    sum.ptx.translate += times.ptx.translate;
    sum.ptx.optimize += times.ptx.optimize;
    sum.ptx.generate += times.ptx.generate;
  }
  llvm::json::Array stages;
  for (auto [name, seconds] : {std::pair("passes", sum.passes),
                               {"translate", sum.ptx.translate},
                               {"optimize", sum.ptx.optimize},
                               {"generate", sum.ptx.generate},
                               {"assemble", sum.assemble},
                               {"write", writing}})
    stages.push_back(
        llvm::json::Object{{"name", name}, {"ms", seconds * 1000}});
  llvm::json::Object report{{"stages", std::move(stages)}};
  return writeFile(
      timeReport,
      llvm::formatv("{0:2}\n", llvm::json::Value(std::move(report))).str());
}

/// The functions to compile: those asked for, or all public ones with a body.
static std::vector<std::string> getEntries(mlir::ModuleOp module) {
  if (!entries.empty())
    return entries;
  std::vector<std::string> names;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration())
      names.push_back(function.getSymName().str());
  return names;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  // Options of one letter are not grouped, so that `--hx` is not `-h -x`.
  cl::ParseCommandLineOptions(argc, argv, "Compiles hla programs for a GPU\n",
                              /*Errs=*/nullptr, /*VFS=*/nullptr,
                              /*EnvVar=*/nullptr,
                              /*LongOptionsUseDoubleDash=*/true);
  const TargetInfo *info = TargetInfo::lookup(target);
  if (!info || !info->isGPU)
    return fail("expected --target to be a GPU (one of " +
                TargetInfo::getNames() + ", but not cpu), but got '" + target +
                "'");

  mlir::DialectRegistry registry;
  registerBundleCompilerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = parseProgram(program, &context);
  if (!module)
    return fail(llvm::toString(module.takeError()));
  std::vector<std::string> names = getEntries(**module);
  if (names.empty())
    return fail("expected a public function in '" + program +
                "' (an entry to compile), but got none");

  BundleOptions options;
  options.target = target;
  options.precision = precision;
  options.segments = segments;
  if (!noCubin)
    options.ptxas = ptxas.empty() ? findPtxas() : ptxas;
  std::vector<Bundle> bundles;
  for (const std::string &name : names) {
    llvm::Expected<Bundle> bundle = compileBundle(**module, name, options);
    if (!bundle)
      return fail(llvm::toString(bundle.takeError()));
    for (const std::string &remark : bundle->remarks)
      llvm::errs() << "hla-compile: remark: " << remark << "\n";
    bundles.push_back(std::move(*bundle));
  }
  // Nothing is written unless everything compiles.
  auto start = std::chrono::steady_clock::now();
  for (const Bundle &bundle : bundles) {
    llvm::SmallString<128> directory(output.getValue());
    if (bundles.size() > 1)
      llvm::sys::path::append(directory, bundle.entry);
    if (llvm::Error error = bundle.write(directory))
      return fail(llvm::toString(std::move(error)));
  }
  std::chrono::duration<double> writing =
      std::chrono::steady_clock::now() - start;
  printTable(bundles);
  if (!timeReport.empty())
    if (llvm::Error error = writeTimes(bundles, writing.count()))
      return fail(llvm::toString(std::move(error)));
  return 0;
}
