//===- EntryABITest.h - interfaces of functions, as text --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TEST_UNIT_COMPILER_ENTRYABITEST_H
#define HLA_TEST_UNIT_COMPILER_ENTRYABITEST_H

#include "hla/Compiler/CPUExecutor.h"
#include "hla/Dialect/HLA/Transforms/EntryABI.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace mlir::hla {

inline constexpr llvm::StringLiteral kTypes = R"mlir(
!S = tensor<?x?x?x8xf32>
!State = tensor<?x?x8x8xf32>
!Packed = tensor<1x?x?x8xf32>
!Lengths = tensor<?xi32>
!LogDecay = tensor<?x?x?xf32>
)mlir";

class EntryABITest : public ::testing::Test {
protected:
  EntryABITest() {
    DialectRegistry registry;
    registerCPUExecutorDialects(registry);
    context.appendDialectRegistry(registry);
  }

  /// The interface of the program's function; none and no module if it is no
  /// program.
  FailureOr<EntryABI> get(StringRef function) {
    module = parseSourceString<ModuleOp>((kTypes + function).str(), &context);
    if (!module)
      return failure();
    return getEntryABI(*module->getOps<func::FuncOp>().begin());
  }

  /// The interface as text: `name:role:BxTxHx8`, results after `->`, then
  /// constraints in brackets.
  std::string describe(StringRef function) {
    FailureOr<EntryABI> abi = get(function);
    if (!module)
      return "no module";
    if (failed(abi))
      return "failed";
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const ABIArgument &argument : abi->arguments) {
      os << argument.name << ":" << (argument.isRead() ? "r" : "")
         << (argument.isWritten() ? "w" : "") << ":";
      llvm::interleave(
          argument.dims, os,
          [&](const ABIDim &dim) {
            if (dim.isSymbol())
              os << dim.symbol;
            else
              os << dim.size;
          },
          "x");
      os << " ";
    }
    os << "->";
    for (unsigned index : abi->results)
      os << " " << index;
    for (const auto &[left, right] : abi->constraints)
      os << " [" << left.getText() << " = " << right.getText() << "]";
    return text;
  }

  /// What arguments hold: `q`ueries and keys, log-`d`ecays, `l`engths with
  /// their tokens, `s`lots with their states, or `-`.
  std::string describeContents(StringRef function) {
    FailureOr<EntryABI> abi = get(function);
    if (failed(abi))
      return "failed";
    std::string text;
    for (const ABIArgument &argument : abi->arguments) {
      text += "-qdls"[static_cast<unsigned>(argument.content)];
      for (const ABIDim &dim : argument.ranges)
        text += dim.isSymbol() ? dim.symbol : std::to_string(dim.size);
    }
    return text;
  }

  /// Expects that there is no interface, and why.
  void expectFailure(StringRef function, StringRef part) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(get(function)));
    EXPECT_TRUE(module) << message;
    EXPECT_NE(message.find(part.str()), std::string::npos) << message;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace mlir::hla

#endif // HLA_TEST_UNIT_COMPILER_ENTRYABITEST_H
