//===- hla-opt.cpp - runs passes on hla programs ----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Conversion/Passes.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "hla/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

// LLVM's own `-h` prints the help as soon as it is met, and options of one
// letter may be written together: `--hla-no-such-pass` would be taken for `-h
// -l …`, and succeed. This one is looked at when the whole command line is
// known to be right.
static llvm::cl::opt<bool> help("h", llvm::cl::desc("Alias for --help"));

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::hla::registerHLATransformsPasses();
  mlir::hla::registerHLAConversionPasses();
  mlir::hla::tile::registerHLATileTransformsPasses();
  mlir::hla::registerHLAToTilePipeline();
  mlir::hla::registerHLAToCPUPipeline();
  mlir::hla::registerHLAToNVVMPipeline();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::hla::HLADialect, mlir::hla::tile::HLATileDialect>();
  mlir::hla::registerBufferizableOpInterfaceExternalModels(registry);
  std::string header =
      mlir::registerCLIOptions("HLA optimizer driver\n", registry);
  auto [input, output] = mlir::parseCLIOptions(argc, argv, header);
  if (help) {
    llvm::cl::PrintHelpMessage();
    return 0;
  }
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
