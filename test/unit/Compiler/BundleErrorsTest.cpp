//===- BundleErrorsTest.cpp - what is no bundle, and why --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BundleTest.h"
#include "llvm/Support/FileSystem.h"
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
!S = tensor<?x?x?x96xbf16>
func.func @wide(%q: !S, %e: !S) -> !S {
  %o = hla.second_order ins(%q, %q, %q : !S, !S, !S) outs(%e : !S) -> !S
  return %o : !S
})mlir");
  expectError("wide", "sm_80", "expected head dimensions of 32, 64 or 128");
  expectError("absent", "sm_80", "expected a function 'absent'");
  EXPECT_EQ(numDiagnostics, 0);
}

TEST_F(BundleErrorsTest, Assembler) {
  expectError("masked", "sm_80", "the assembler /no/such/ptxas failed",
              "/no/such/ptxas");
  expectError("masked", "sm_80", "the assembler /bin/false failed",
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
}

} // namespace
