//===- BundleErrorsTest.cpp - what is no bundle, and why --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundleTest.h"
#include "hla/Compiler/WriteFile.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

class BundleErrorsTest : public BundleTest {
protected:
  void expectError(StringRef entry, StringRef target, StringRef part,
                   StringRef ptxas = "") {
    llvm::Expected<Bundle> bundle = compile(entry, target, ptxas);
    if (bundle) {
      ADD_FAILURE() << "compiled, though " << part.str();
      return;
    }
    std::string message = llvm::toString(bundle.takeError());
    EXPECT_NE(message.find(part.str()), std::string::npos) << message;
  }
};

TEST_F(BundleErrorsTest, Target) {
  expectError("masked", "cpu", "expected a GPU as the target");
  expectError("masked", "sm_70", "but got 'sm_70'");
  expectError("masked", "", "but got ''");
}

TEST_F(BundleErrorsTest, Entry) {
  expectError("absent", "sm_80", "expected a function 'absent'");
  expectError("", "sm_80", "expected a function ''");
  parse("func.func private @declared(tensor<?x?x?x32xbf16>)");
  expectError("declared", "sm_80", "function of one block");
  parse("func.func @\"a b\"() { return }");
  expectError("a b", "sm_80", "identifier");
  parse("func.func @" + std::string(300, 'f') + "() { return }");
  expectError(std::string(300, 'f'), "sm_80", "identifier");
}

TEST_F(BundleErrorsTest, Program) {
  parse("func.func @f(%x: tensor<4xf32>) { return }");
  expectError("f", "sm_80",
              "expected the function 'f' to contain an hla operation");
  parse("func.func @f(%x: tensor<4xi32>) { return }");
  expectError("f", "sm_80", "expected 'arg0' to be a ranked tensor");
}

TEST_F(BundleErrorsTest, ExtentsOfKernelsAreCountedIn32Bits) {
  parse(R"mlir(
!S = tensor<1x1073741825x1x32xbf16>
func.func @f(%q: !S, %e: !S) -> !S {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
})mlir");
  expectError("f", "sm_80",
              "expected extents of at most 1073741824 (kernels count in 32 "
              "bits), but got 1073741825 in 'arg0'");
}

TEST_F(BundleErrorsTest, GridsOfDevices) {
  parse(R"mlir(
!S = tensor<?x?x65536x32xbf16>
func.func @f(%q: !S, %e: !S) -> !S {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
})mlir");
  expectError("f", "sm_80",
              "expected at most 65535 blocks in y (the largest grid of a "
              "device), but got 65536");
}

// A dimension that a tensor does not have: written as a constant, and computed.
TEST_F(BundleErrorsTest, DimsOutOfRange) {
  constexpr llvm::StringLiteral kProgram = R"mlir(
!S = tensor<?x?x?x32xbf16>
func.func @f(%q: !S, %o: !S) -> !S {{
  {0}
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %i : !S
  %t = tensor.dim %q, %c1 : !S
  %e = tensor.empty(%b, %t, %t) : !S
  %u = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  %z = hla.scan reverse ins(%q, %u, %q : !S, !S, !S) outs(%o : !S) -> !S
  return %z : !S
})mlir";
  parse(llvm::formatv(kProgram.data(), "%i = arith.constant 7 : index").str());
  expectError("f", "sm_80",
              "expected the dimension of tensor.dim to be below 4, but got 7");
  parse(llvm::formatv(kProgram.data(), "%i = arith.constant -1 : index").str());
  expectError(
      "f", "sm_80",
      "expected the dimension of tensor.dim to be at least 0, but got -1");
  parse(llvm::formatv(kProgram.data(), "%c4 = arith.constant 4 : index\n"
                                       "%i = arith.addi %c4, %c4 : index")
            .str());
  expectError(
      "f", "sm_80",
      "expected the dimension of an extent to be from 0 to 3, but got 8");
}

// A module of the user's own is not where the kernels are.
TEST_F(BundleErrorsTest, OwnModuleIsNoError) {
  parse(("gpu.module @own {}\n" + kPrograms).str());
  std::optional<Bundle> bundle = get("masked", "sm_80");
  ASSERT_TRUE(bundle);
  EXPECT_NE(bundle->ptx.find(".entry masked_kernel("), std::string::npos);
}

TEST_F(BundleErrorsTest, KernelsOfTwoModules) {
  parse(R"mlir(
!S = tensor<?x?x?x32xbf16>
module attributes {gpu.container_module} {
gpu.module @own {
  gpu.func @kernel() kernel attributes {known_block_size = array<i32: 128, 1, 1>, hla_tile.schedule = #hla.schedule<chunk = 64, warps = 4, stages = 2, precision = bf16>} {
    gpu.return
  }
}
func.func @f(%q: !S, %e: !S) -> !S {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch_func @own::@kernel blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1)
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
}
})mlir");
  expectError("f", "sm_80",
              "expected all kernels to be in one module (a bundle has one file "
              "of code), but got 'own' and 'f_kernels'");
}

// What LLVM's back end refuses is an error, and does not end the process.
TEST_F(BundleErrorsTest, BackEnd) {
  parse(R"mlir(
gpu.module @kernels {
  llvm.func @kernel() -> i32 {
    %0 = llvm.inline_asm has_side_effects "mov.u32 $0, 1;", "=x" : () -> i32
    llvm.return %0 : i32
  }
})mlir");
  llvm::Expected<std::string> ptx =
      translateToPTX(*module->getOps<gpu::GPUModuleOp>().begin(),
                     *TargetInfo::lookup("sm_80"));
  ASSERT_FALSE(static_cast<bool>(ptx));
  std::string message = llvm::toString(ptx.takeError());
  EXPECT_EQ(message.find("expected code that LLVM compiles for sm_80, but got"),
            0u)
      << message;
}

TEST_F(BundleErrorsTest, PrivateFunctionsAreEntriesByName) {
  parse(R"mlir(
!S = tensor<?x?x?x32xbf16>
func.func private @f(%q: !S, %e: !S) -> !S {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
})mlir");
  EXPECT_TRUE(get("f", "sm_80"));
}

// Errors of one compilation do not reach the next, nor the context's handlers.
TEST_F(BundleErrorsTest, AreTaken) {
  int numDiagnostics = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
    ++numDiagnostics;
    return success();
  });
  parse(R"mlir(
!S = tensor<?x?x?x512xbf16>
func.func @wide(%q: !S, %e: !S) -> !S {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
})mlir");
  expectError("wide", "sm_80", "expected head dimensions of at most");
  expectError("absent", "sm_80", "expected a function 'absent'");
  EXPECT_EQ(numDiagnostics, 0);
}

TEST_F(BundleErrorsTest, Assembler) {
  expectError("masked", "sm_80",
              "expected the assembler '/no/such/ptxas' to accept the code",
              "/no/such/ptxas");
  expectError("masked", "sm_80",
              "expected the assembler '/bin/false' to accept the code, but got "
              "status 1",
              "/bin/false");
}

TEST_F(BundleErrorsTest, Writing) {
  std::optional<Bundle> bundle = get("masked", "sm_80");
  ASSERT_TRUE(bundle);
  llvm::SmallString<128> file(directory);
  llvm::sys::path::append(file, "file");
  std::error_code error;
  llvm::raw_fd_ostream(file, error) << "in the way";
  ASSERT_FALSE(error);
  llvm::sys::path::append(file, "bundle");
  std::string message = llvm::toString(bundle->write(file));
  EXPECT_NE(message.find("Not a directory"), std::string::npos) << message;
  EXPECT_EQ(llvm::toString(writeFile("/dev/full", "text")),
            "expected a writable file '/dev/full', but got No space left on "
            "device");
}

} // namespace
