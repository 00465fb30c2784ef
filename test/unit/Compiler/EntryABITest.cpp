//===- EntryABITest.cpp - the interface of entry functions ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryABITest.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

TEST_F(EntryABITest, ResultsAreAppended) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S {hla.name = "q"}, %k: !S, %v: tensor<?x?x?x4xf32>) -> (tensor<?x?x?x4xf32> {hla.name = "o"}) {
      %c0 = arith.constant 0 : index
      %n = tensor.dim %q, %c0 : !S
      %e = tensor.empty(%n, %n, %n) : tensor<?x?x?x4xf32>
      %o = hla.second_order ins(%q, %k, %v : !S, !S, tensor<?x?x?x4xf32>) outs(%e : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
      return %o : tensor<?x?x?x4xf32>
    })mlir"),
            // One extent of `q` is all three of the result: so are all others.
            "q:r:BxBxBx8 arg1:r:BxBxBx8 arg2:r:BxBxBx4 o:w:BxBxBx4 -> 3");
}

TEST_F(EntryABITest, Destinations) {
  EXPECT_EQ(
      describe(R"mlir(
    func.func @f(%q: !S, %v: !S, %s: !State, %o: !S) -> (!State, !S) {
      %y, %f = hla.scan ins(%q, %q, %v : !S, !S, !S) carry(%s : !State) outs(%o, %s : !S, !State) -> !S, !State
      return %f, %y : !State, !S
    })mlir"),
      "arg0:r:BxTxHx8 arg1:r:BxTxHx8 arg2:rw:BxHx8x8 arg3:w:BxTxHx8 -> 2 3");
}

TEST_F(EntryABITest, TheSameDestinationTwice) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %o: !S) -> (!S, !S, !S) {
      %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%o : !S) -> !S
      return %y, %y, %q : !S, !S, !S
    })mlir"),
            "arg0:r:BxTxHx8 arg1:w:BxTxHx8 result1:w:BxTxHx8 result2:w:BxTxHx8 "
            "-> 1 2 3");
}

// What one scan hands to the next is put into `o`, which is no result.
TEST_F(EntryABITest, DestinationThatIsNoResult) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %o: !S, %p: !S) -> !S {
      %u = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%o : !S) -> !S
      %y = hla.scan reverse ins(%q, %u, %q : !S, !S, !S) outs(%p : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:BxTxHx8 arg1:w:BxTxHx8 arg2:w:BxTxHx8 -> 2");
}

TEST_F(EntryABITest, HeadsFirst) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %s: !State, %o: !S) -> !S {
      %y = hla.scan layout(bhtd) ins(%q, %q, %q : !S, !S, !S) carry(%s : !State) outs(%o : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:BxHxTx8 arg1:r:BxHx8x8 arg2:w:BxHxTx8 -> 2");
}

TEST_F(EntryABITest, UnrelatedOperations) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %k: !S, %x: tensor<?x3xf32>, %o: !S, %p: !S) -> (!S, !S) {
      %y = hla.scan ins(%q, %q, %q : !S, !S, !S) outs(%o : !S) -> !S
      %z = hla.scan ins(%k, %k, %k : !S, !S, !S) outs(%p : !S) -> !S
      return %y, %z : !S, !S
    })mlir"),
            "arg0:r:BxTxHx8 arg1:r:B1xT1xH1x8 arg2:r:d0x3 arg3:w:BxTxHx8 "
            "arg4:w:B1xT1xH1x8 -> 3 4");
}

TEST_F(EntryABITest, StaticExtents) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: tensor<2x?x?x8xf32>, %k: !S, %v: tensor<?x?x5x8xf32>, %o: !S) -> !S {
      %y = hla.scan ins(%q, %k, %v : tensor<2x?x?x8xf32>, !S, tensor<?x?x5x8xf32>) outs(%o : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:2xTx5x8 arg1:r:2xTx5x8 arg2:r:2xTx5x8 arg3:w:2xTx5x8 -> 3");
}

TEST_F(EntryABITest, Failures) {
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  EXPECT_EQ(describe("func.func private @f(!S) -> !S"), "failed");
  EXPECT_EQ(describe("func.func @f(%i: index) { return }"), "failed");
  EXPECT_EQ(
      describe(
          R"mlir(func.func @f(%x: !S {hla.name = "x"}, %y: !S {hla.name = "x"}) { return })mlir"),
      "failed");
  EXPECT_EQ(describe("func.func @f(%x: tensor<4xf8E5M2>) { return }"),
            "failed");
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%x: !S) {
      %c4 = arith.constant 4 : index
      %n = tensor.dim %x, %c4 : !S
      return
    })mlir"),
            "failed");
  EXPECT_EQ(describe("func.func @f(%x: tensor<4xi32>) { return }"), "failed");
  EXPECT_EQ(describe("func.func @f(%x: tensor<*xf32>) { return }"), "failed");
}

} // namespace
