//===- BundleTest.h - compiles programs of a test to bundles ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TEST_UNIT_COMPILER_BUNDLETEST_H
#define HLA_TEST_UNIT_COMPILER_BUNDLETEST_H

#include "hla/Compiler/BundleCompiler.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

namespace mlir::hla {

/// Second-order operators and scans of three kinds of memory: results that are
/// appended, a state that is updated in place, and an intermediate.
inline constexpr llvm::StringLiteral kPrograms = R"mlir(
!S = tensor<?x?x?x64xbf16>
!V = tensor<?x?x?x32xbf16>
!State = tensor<?x?x64x32xf32>

func.func @masked(%q: !S {hla.name = "q"}, %k: !S {hla.name = "k"}, %v: !V {hla.name = "v"}) -> (!V {hla.name = "o"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %v, %c0 : !V
  %T = tensor.dim %v, %c1 : !V
  %H = tensor.dim %v, %c2 : !V
  %e = tensor.empty(%B, %T, %H) : !V
  %o = hla.second_order ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
}

func.func @carried(%q: !S {hla.name = "q"}, %v: !V {hla.name = "v"}, %s: !State {hla.name = "s"}, %e: !V {hla.name = "e"}) -> (!V, !State) {
  %o:2 = hla.scan decay(0.5) ins(%q, %q, %v : !S, !S, !V) carry(%s : !State) outs(%e, %s : !V, !State) -> !V, !State
  return %o#0, %o#1 : !V, !State
}

func.func @two_kernels(%q: !V {hla.name = "q"}, %e: !V {hla.name = "e"}) -> !V {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %B = tensor.dim %q, %c0 : !V
  %T = tensor.dim %q, %c1 : !V
  %H = tensor.dim %q, %c2 : !V
  %eu = tensor.empty(%B, %T, %H) : !V
  %u = hla.scan ins(%q, %q, %q : !V, !V, !V) outs(%eu : !V) -> !V
  %o = hla.scan reverse ins(%q, %u, %q : !V, !V, !V) outs(%e : !V) -> !V
  return %o : !V
}

func.func @one_chunk(%q: tensor<2x16x?x32xf16> {hla.name = "q"}, %e: tensor<2x16x?x32xf16> {hla.name = "e"}) -> tensor<2x16x?x32xf16> {
  %o = hla.second_order variant(prefix) ins(%q, %q, %q : tensor<2x16x?x32xf16>, tensor<2x16x?x32xf16>, tensor<2x16x?x32xf16>) outs(%e : tensor<2x16x?x32xf16>) -> tensor<2x16x?x32xf16>
  return %o : tensor<2x16x?x32xf16>
}
)mlir";

class BundleTest : public ::testing::Test {
protected:
  BundleTest() {
    DialectRegistry registry;
    registerBundleCompilerDialects(registry);
    context.appendDialectRegistry(registry);
    parse(kPrograms);
    EXPECT_FALSE(
        llvm::sys::fs::createUniqueDirectory("hla-bundle-test", directory));
  }
  ~BundleTest() override { llvm::sys::fs::remove_directories(directory); }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }
  llvm::Expected<Bundle> compile(StringRef entry, StringRef target,
                                 StringRef ptxas = "") {
    BundleOptions options;
    options.target = target.str();
    options.ptxas = ptxas.str();
    return compileBundle(*module, entry, options);
  }
  /// The bundle, or none and a failed expectation.
  std::optional<Bundle> get(StringRef entry, StringRef target) {
    llvm::Expected<Bundle> bundle = compile(entry, target);
    if (bundle)
      return std::move(*bundle);
    ADD_FAILURE() << llvm::toString(bundle.takeError());
    return std::nullopt;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  llvm::SmallString<128> directory;
};

} // namespace mlir::hla

#endif // HLA_TEST_UNIT_COMPILER_BUNDLETEST_H
