//===- BundleCompiler.cpp - entry functions as bundles ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Compiler/BundleCompiler.h"
#include "Assembler.h"
#include "LaunchRecipe.h"
#include "hla/Compiler/Diagnostics.h"
#include "hla/Compiler/WriteFile.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "hla/Pipelines/Pipelines.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include <chrono>

using namespace mlir;
using namespace mlir::hla;

void hla::registerBundleCompilerDialects(DialectRegistry &registry) {
  registry.insert<HLADialect, tile::HLATileDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  memref::MemRefDialect, NVVM::NVVMDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  hla::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  registerPTXTranslations(registry);
}

/// The longest name of an entry or argument: what a manifest allows, less what
/// names of kernels and files add to it.
static constexpr size_t kMaxIdentifierLength = 200;

static StringRef getTypeName(Type type) {
  if (type.isBF16())
    return "bf16";
  if (type.isF16())
    return "f16";
  if (type.isInteger(32))
    return "i32";
  return type.isF64() ? "f64" : "f32";
}

static StringRef getRoleName(ABIRole role) {
  switch (role) {
  case ABIRole::Read:
    return "read";
  case ABIRole::Write:
    return "write";
  case ABIRole::ReadWrite:
    return "read_write";
  }
  llvm_unreachable("all roles are handled");
}

static llvm::json::Object describe(StringRef path, StringRef content) {
  auto hash = llvm::SHA256::hash(arrayRefFromStringRef(content));
  return llvm::json::Object{{"path", path.str()},
                            {"sha256", llvm::toHex(hash, /*LowerCase=*/true)}};
}

/// Whether a manifest may have `name` for an entry or an argument.
static bool isIdentifier(StringRef name) {
  auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  return !name.empty() && name.size() <= kMaxIdentifierLength &&
         isLetter(name.front()) && llvm::all_of(name, [&](char c) {
           return isLetter(c) || llvm::isDigit(c);
         });
}

/// Fails if an operation of the entry but hla's own has a region: what is
/// around kernels is done by a launcher, which evaluates expressions.
static LogicalResult verifyNoControlFlow(func::FuncOp function) {
  for (Operation &op : function.getBody().front())
    if (op.getNumRegions() != 0 && !isa<HLADialect>(op.getDialect()))
      return op.emitError("expected no control flow around kernels (a launcher "
                          "without a compiler has none), but got ")
             << op.getName();
  return success();
}

/// What addresses and strides of an argument are multiples of, in bytes.
/// Kernels read and write rows 16 bytes at a time, or as many as rows have a
/// multiple of, and numbers of tokens, of heads and of sequences one at a time.
static int64_t getAccessBytes(const ABIArgument &argument) {
  const ABIDim &row = argument.dims.back();
  bool hasRows = argument.dims.size() % 2 == 0 && !row.isSymbol();
  return tile::getAccessBytes(hasRows ? std::max<int64_t>(row.size, 1) : 1,
                              argument.elementType);
}

static llvm::json::Array describeArguments(const EntryABI &abi) {
  llvm::json::Array arguments;
  for (const ABIArgument &argument : abi.arguments) {
    llvm::json::Array shape;
    for (const ABIDim &dim : argument.dims) {
      if (dim.isSymbol())
        shape.push_back(dim.symbol);
      else
        shape.push_back(dim.size);
    }
    int64_t access = getAccessBytes(argument);
    arguments.push_back(llvm::json::Object{
        {"name", argument.name},
        {"access", getRoleName(argument.role)},
        {"dtype", getTypeName(argument.elementType)},
        {"shape", std::move(shape)},
        {"alignment", access},
        {"stride_multiple",
         access * 8 / argument.elementType.getIntOrFloatBitWidth()}});
  }
  return arguments;
}

static llvm::json::Array getDims(const EntryABI &abi) {
  llvm::json::Array dims;
  llvm::StringSet<> seen;
  for (const ABIArgument &argument : abi.arguments)
    for (const ABIDim &dim : argument.dims)
      if (dim.isSymbol() && seen.insert(dim.symbol).second)
        dims.push_back(dim.symbol);
  return dims;
}

static llvm::json::Array getConstraints(const EntryABI &abi) {
  llvm::json::Array constraints;
  for (const auto &[left, right] : abi.constraints)
    constraints.push_back(llvm::json::Array{left.getText(), right.getText()});
  return constraints;
}

/// The largest extent that kernels can take: they count in 32 bits, and run
/// some chunks ahead.
static constexpr int64_t kMaxExtent = int64_t(1) << 30;

/// What dims may be: what kernels can count, and for one that is an extent of a
/// grid, as many blocks as a grid has there. There is at least one length.
static llvm::json::Object getLimits(const EntryABI &abi,
                                    const llvm::json::Array &dims,
                                    const llvm::json::Array &launches) {
  llvm::StringMap<int64_t> maxima;
  for (const llvm::json::Value &dim : dims)
    maxima[*dim.getAsString()] = kMaxExtent;
  for (const llvm::json::Value &launch : launches)
    for (auto [extent, maxBlocks] :
         llvm::zip(*launch.getAsObject()->getArray("grid"), kMaxGrid))
      if (auto it = maxima.find(*extent.getAsString()); it != maxima.end())
        it->second = std::min(it->second, maxBlocks);
  llvm::StringSet<> lengths;
  for (const ABIArgument &argument : abi.arguments)
    if (argument.content == ABIContent::Lengths)
      lengths.insert(argument.dims.front().symbol);
  llvm::json::Object limits;
  for (const auto &[dim, maximum] : maxima)
    limits[dim.str()] =
        llvm::json::Array{lengths.contains(dim) ? 1 : 0, maximum};
  return limits;
}

/// The schedules of the kernels, for people.
static std::string describeSchedules(ModuleOp module) {
  SmallVector<std::string> schedules;
  module.walk([&](LLVM::LLVMFuncOp kernel) {
    if (Attribute schedule = kernel->getAttr(tile::kScheduleAttrName)) {
      std::string text;
      llvm::raw_string_ostream(text) << schedule;
      schedules.push_back(text);
    }
  });
  return llvm::join(schedules, "; ");
}

static llvm::json::Object writeManifest(const EntryABI &abi,
                                        LaunchRecipe recipe,
                                        const TargetInfo &target,
                                        const Bundle &bundle,
                                        StringRef schedules) {
  llvm::json::Array dims = getDims(abi);
  llvm::json::Array constraints = getConstraints(abi);
  llvm::json::Object files{
      {"ptx", describe(bundle.entry + ".ptx", bundle.ptx)}};
  if (bundle.cubin)
    files["cubin"] = describe(bundle.entry + ".cubin", *bundle.cubin);
  llvm::json::Object manifest{
      {"format", "hla-bundle"},
      {"abi_version", 2},
      {"producer", "hla " HLA_VERSION},
      {"entry", bundle.entry},
      {"target",
       llvm::json::Object{
           {"arch", target.arch},
           {"ptx_isa", std::to_string(target.ptxVersion / 10) + "." +
                           std::to_string(target.ptxVersion % 10)},
           {"compute_capability",
            llvm::json::Array{target.major, target.minor}},
           {"forward_compatible", target.forwardCompatible}}},
      {"files", std::move(files)},
      {"limits", getLimits(abi, dims, recipe.launches)},
      {"dims", std::move(dims)},
      {"arguments", describeArguments(abi)},
      {"scratch", llvm::json::Object{{"bytes", recipe.scratchBytes},
                                     {"alignment", kScratchAlignment}}},
      {"launches", std::move(recipe.launches)},
      {"schedule", schedules.str()}};
  if (!constraints.empty())
    manifest["constraints"] = std::move(constraints);
  return manifest;
}

llvm::Expected<Bundle> hla::compileBundle(ModuleOp module, StringRef entry,
                                          const BundleOptions &options) {
  const TargetInfo *target = TargetInfo::lookup(options.target);
  if (!target || !target->isGPU)
    return llvm::createStringError(
        "expected a GPU as the target (one of " + TargetInfo::getNames() +
        " but cpu), but got '" + options.target + "'");
  FirstError firstError(module.getContext());
  if (!module.lookupSymbol<func::FuncOp>(entry))
    return llvm::createStringError(
        "expected a function '" + entry +
        "' in the program (the entry), but got none");
  if (!isIdentifier(entry))
    return llvm::createStringError(
        "expected the name of the entry to be an identifier (kernels and files "
        "are named after it), but got '" +
        entry + "'");
  OwningOpRef<ModuleOp> program = module.clone();
  auto function = program->lookupSymbol<func::FuncOp>(entry);
  FailureOr<EntryABI> abi = getEntryABI(function);
  if (failed(abi))
    return firstError.take("could not determine the arguments of the entry");
  if (failed(verifyNoControlFlow(function)))
    return firstError.take("could not determine the launches of the entry");
  for (const ABIArgument &argument : abi->arguments) {
    if (!isIdentifier(argument.name))
      return llvm::createStringError(
          "expected the names of the entry's arguments and results to be "
          "identifiers (a manifest refers to them), but got '" +
          argument.name + "'");
    for (const ABIDim &dim : argument.dims)
      if (!dim.isSymbol() && dim.size > kMaxExtent)
        return llvm::createStringError(
            "expected extents of at most " + std::to_string(kMaxExtent) +
            " (kernels count in 32 bits), but got " + std::to_string(dim.size) +
            " in '" + argument.name + "'");
  }
  for (auto other : program->getOps<func::FuncOp>())
    other.setVisibility(other == function ? SymbolTable::Visibility::Public
                                          : SymbolTable::Visibility::Private);

  Bundle bundle;
  bundle.entry = entry.str();
  auto start = std::chrono::steady_clock::now();
  auto secondsSinceStart = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  PassManager pm(module.getContext());
  pm.addPass(createSymbolDCEPass());
  HLAToNVVMPipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.precision = options.precision;
  pipeline.segments = options.segments;
  buildHLAToNVVMPipeline(pm, pipeline);
  if (failed(pm.run(*program)))
    return firstError.take("could not compile the program");
  bundle.remarks = firstError.takeRemarks();
  FailureOr<LaunchRecipe> recipe = getLaunchRecipe(function, *abi);
  if (failed(recipe))
    return firstError.take("could not determine the launches of the entry");
  bundle.times.passes = secondsSinceStart();

  if (!recipe->module)
    return llvm::createStringError("expected the function '" + entry +
                                   "' to contain an hla operation (a kernel is "
                                   "made of it), but got none");
  llvm::Expected<std::string> ptx =
      translateToPTX(recipe->module, *target, &bundle.times.ptx);
  if (!ptx)
    return ptx.takeError();
  bundle.ptx = std::move(*ptx);

  if (!options.ptxas.empty()) {
    start = std::chrono::steady_clock::now();
    llvm::Expected<Assembled> assembled =
        assemble(bundle.ptx, options.target, options.ptxas);
    if (!assembled)
      return assembled.takeError();
    bundle.times.assemble = secondsSinceStart();
    bundle.cubin = std::move(assembled->cubin);
    bundle.resources = std::move(assembled->resources);
    bundle.assemblerRemarks = std::move(assembled->remarks);
  }
  bundle.manifest = writeManifest(*abi, std::move(*recipe), *target, bundle,
                                  describeSchedules(*program));
  return bundle;
}

llvm::Error Bundle::write(StringRef directory) const {
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return llvm::createStringError(error, "expected a writable directory '" +
                                              directory + "', but got " +
                                              error.message());
  auto write = [&](StringRef name, StringRef content) {
    SmallString<128> path(directory);
    llvm::sys::path::append(path, name);
    return writeFile(path, content);
  };
  if (llvm::Error failed = write(entry + ".ptx", ptx))
    return failed;
  if (cubin)
    if (llvm::Error failed = write(entry + ".cubin", *cubin))
      return failed;
  return write(
      "manifest.json",
      llvm::formatv("{0:2}\n", llvm::json::Value(llvm::json::Object(manifest)))
          .str());
}
