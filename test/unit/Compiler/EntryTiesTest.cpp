//===- EntryTiesTest.cpp - extents that depend on others --------*- C++ -*-===//
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

using EntryTiesTest = EntryABITest;

TEST_F(EntryTiesTest, Groups) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %k: !S, %v: !S, %g: !LogDecay, %s: !State, %o: !S) -> !S {
      %y = hla.linear groups([1, 4]) ins(%q, %k, %v : !S, !S, !S) log_decay(%g : !LogDecay) carry(%s : !State) outs(%o : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:BxTxHx8 arg1:r:BxTxH1x8 arg2:r:BxTxH1x8 arg3:r:BxTxH "
            "arg4:r:BxHx8x8 arg5:w:BxTxHx8 -> 5 [H = 4 * H1]");
  // H is that of all heads, wherever it comes first.
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %k: !S, %v: !S, %g: tensor<?xf32>, %o: !S) -> !S {
      %y = hla.scan layout(bhtd) groups([2, 4, 8]) ins(%q, %k, %v : !S, !S, !S) log_decay(%g : tensor<?xf32>) outs(%o : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:BxH1xTx8 arg1:r:BxH2xTx8 arg2:r:BxH3xTx8 arg3:r:H "
            "arg4:w:BxHxTx8 -> 4 [H = 2 * H1] [H = 4 * H2] [H = 8 * H3]");
}

// What follows for those that an argument has.
TEST_F(EntryTiesTest, HeadsOfNoArgument) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %k: !S, %o: !S) -> !S {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %b = tensor.dim %q, %c0 : !S
      %t = tensor.dim %q, %c1 : !S
      %h2 = tensor.dim %k, %c2 : !S
      %h = arith.muli %h2, %c4 : index
      %e = tensor.empty(%b, %t, %h) : !S
      %u = hla.linear groups([2, 4]) ins(%q, %k, %k : !S, !S, !S) outs(%e : !S) -> !S
      %y = hla.linear ins(%k, %k, %k : !S, !S, !S) outs(%o : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:BxTxHx8 arg1:r:BxTxH1x8 arg2:w:BxTxH1x8 -> 2 "
            "[2 * H = 4 * H1]");
}

TEST_F(EntryTiesTest, FusedGroups) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %k: !Packed, %g: tensor<?xf32>, %c: !Lengths, %o: !Packed, %s: !State) -> (!Packed, !State) {
      %one = tensor.cast %q : !S to !Packed
      %y, %t = hla.fused_scan groups([1, 4, 2]) ins(%one, %k, %g : !Packed, !Packed, tensor<?xf32>) lengths(%c : !Lengths)
          outs(%o, %s : !Packed, !State) carry_in [false] carry_out [true] {
      ^bb0(%qt: vector<8xf32>, %kt: vector<8xf32>, %gt: vector<1xf32>, %S: vector<8x8xf32>):
        %S1, %r = hla.step ins(%qt, %kt, %kt : vector<8xf32>, vector<8xf32>, vector<8xf32>) log_decay(%gt : vector<1xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
        hla.yield %r, %S1 : vector<8xf32>, vector<8x8xf32>
      } -> !Packed, !State
      return %y, %t : !Packed, !State
    })mlir"),
            "arg0:r:1xTxHx8 arg1:r:1xTxH1x8 arg2:r:H2 arg3:r:L arg4:rw:1xTxHx8 "
            "arg5:w:NxHx8x8 -> 4 5 [H = 4 * H1] [H = 2 * H2] [L = N + 1]");
}

TEST_F(EntryTiesTest, Lengths) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !Packed, %c: !Lengths, %s: !State, %o: !Packed) -> (!Packed, !State) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %l = tensor.dim %c, %c0 : !Lengths
      %n = arith.subi %l, %c1 : index
      %h = tensor.dim %s, %c1 : !State
      %e = tensor.empty(%n, %h) : !State
      %y, %f = hla.linear ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c : !Lengths) carry(%s : !State)
               outs(%o, %e : !Packed, !State) -> !Packed, !State
      return %y, %f : !Packed, !State
    })mlir"),
            // Tokens of no sequence keep what is in the output: it is read.
            "arg0:r:1xTxHx8 arg1:r:L arg2:r:NxHx8x8 arg3:rw:1xTxHx8 "
            "result1:w:NxHx8x8 -> 3 4 [L = N + 1]");
  // No argument has the number of sequences.
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !Packed, %c: !Lengths, %o: !Packed) -> !Packed {
      %y = hla.scan ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c : !Lengths) outs(%o : !Packed) -> !Packed
      return %y : !Packed
    })mlir"),
            "arg0:r:1xTxHx8 arg1:r:L arg2:rw:1xTxHx8 -> 2");
  // The states of two operations on the same lengths.
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !Packed, %k: tensor<1x?x?x8xf32>, %c: !Lengths, %s: !State, %r: !State, %o: !Packed, %p: !Packed) -> (!Packed, !Packed) {
      %y = hla.scan ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c : !Lengths) carry(%s : !State) outs(%o : !Packed) -> !Packed
      %z = hla.scan ins(%k, %k, %k : !Packed, !Packed, !Packed) lengths(%c : !Lengths) carry(%r : !State) outs(%p : !Packed) -> !Packed
      return %y, %z : !Packed, !Packed
    })mlir"),
            "arg0:r:1xTxHx8 arg1:r:1xT1xH1x8 arg2:r:L arg3:r:NxHx8x8 "
            "arg4:r:NxH1x8x8 arg5:rw:1xTxHx8 arg6:rw:1xT1xH1x8 -> 5 6 "
            "[L = N + 1]");
}

TEST_F(EntryTiesTest, Slots) {
  // States that have no slot keep what is in the pool: it is read.
  constexpr llvm::StringLiteral kPool = R"mlir(
    func.func @f(%q: !S, %n: tensor<?xi32>, %s: !State, %p: !State, %o: !S) -> (!S, !State) {
      %y, %f = hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<?xi32>) carry(%s : !State)
               outs(%o, %p : !S, !State) -> !S, !State
      return %y, %f : !S, !State
    })mlir";
  EXPECT_EQ(describe(kPool),
            "arg0:r:BxTxHx8 arg1:r:B arg2:r:SxHx8x8 arg3:rw:SxHx8x8 "
            "arg4:w:BxTxHx8 -> 4 3");
  EXPECT_EQ(describeContents(kPool), "qsS---");
  // Of sequences; the lengths are one more.
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !Packed, %c: !Lengths, %n: tensor<?xi32>, %s: !State, %o: !Packed) -> !Packed {
      %y = hla.scan ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c : !Lengths) slots(%n : tensor<?xi32>) carry(%s : !State)
           outs(%o : !Packed) -> !Packed
      return %y : !Packed
    })mlir"),
            "arg0:r:1xTxHx8 arg1:r:L arg2:r:N arg3:r:SxHx8x8 arg4:rw:1xTxHx8 "
            "-> 4 [L = N + 1]");
}

// What is static on one side is on the other.
TEST_F(EntryTiesTest, StaticTies) {
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: tensor<1x?x8x8xf32>, %k: !Packed, %c: tensor<4xi32>, %s: !State, %o: !Packed) -> !Packed {
      %y = hla.linear groups([1, 4]) ins(%q, %k, %k : tensor<1x?x8x8xf32>, !Packed, !Packed) lengths(%c : tensor<4xi32>)
           carry(%s : !State) outs(%o : !Packed) -> !Packed
      return %y : !Packed
    })mlir"),
            "arg0:r:1xTx8x8 arg1:r:1xTx2x8 arg2:r:4 arg3:r:3x8x8x8 "
            "arg4:rw:1xTx8x8 -> 4");
  EXPECT_EQ(describe(R"mlir(
    func.func @f(%q: !S, %k: tensor<?x?x2x8xf32>, %o: !S) -> !S {
      %y = hla.linear groups([1, 4]) ins(%q, %k, %k : !S, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) outs(%o : !S) -> !S
      return %y : !S
    })mlir"),
            "arg0:r:BxTx8x8 arg1:r:BxTx2x8 arg2:w:BxTx8x8 -> 2");
}

TEST_F(EntryTiesTest, Contradictions) {
  constexpr llvm::StringLiteral kTwoOperators = R"mlir(
    func.func @f(%q: !S, %k: !S, %v: tensor<?x?x{0}x8xf32>, %o: !S, %p: tensor<?x?x{1}x8xf32>) -> (!S, tensor<?x?x{1}x8xf32>) {
      %y = hla.linear groups([1, 4]) ins(%q, %k, %k : !S, !S, !S) outs(%o : !S) -> !S
      %k2 = tensor.cast %k : !S to tensor<?x?x{0}x8xf32>
      %q2 = tensor.cast %q : !S to tensor<?x?x{1}x8xf32>
      %z = hla.linear ins(%k2, %k2, %v : tensor<?x?x{0}x8xf32>, tensor<?x?x{0}x8xf32>, tensor<?x?x{0}x8xf32>) outs(%v : tensor<?x?x{0}x8xf32>) -> tensor<?x?x{0}x8xf32>
      %w = hla.linear ins(%q2, %q2, %q2 : tensor<?x?x{1}x8xf32>, tensor<?x?x{1}x8xf32>, tensor<?x?x{1}x8xf32>) outs(%p : tensor<?x?x{1}x8xf32>) -> tensor<?x?x{1}x8xf32>
      return %y, %w : !S, tensor<?x?x{1}x8xf32>
    })mlir";
  auto with = [&](StringRef part, StringRef whole) {
    std::string text = kTwoOperators.str();
    for (auto [from, to] : {std::pair("{0}", part), std::pair("{1}", whole)})
      for (size_t at; (at = text.find(from)) != std::string::npos;)
        text.replace(at, 3, to.str());
    return text;
  };
  EXPECT_EQ(describe(with("3", "12")),
            "arg0:r:BxTx12x8 arg1:r:BxTx3x8 arg2:rw:BxTx3x8 arg3:w:BxTx12x8 "
            "arg4:w:BxTx12x8 -> 3 4");
  expectFailure(with("3", "8"), "'hla.linear' op expected 12 heads (4 read one "
                                "of 3), but got 8");
  expectFailure(with("?", "10"),
                "expected a number of heads that 4 divides (so "
                "many read one), but got 10");
  expectFailure(R"mlir(
    func.func @f(%q: !S, %o: !S) -> !S {
      %y = hla.linear groups([1, 4]) ins(%q, %q, %q : !S, !S, !S) outs(%o : !S) -> !S
      return %y : !S
    })mlir",
                "expected the heads that a group reads and all heads to be "
                "different extents (4 heads read one), but got one extent for "
                "both");
  expectFailure(R"mlir(
    func.func @f(%q: !Packed, %s: tensor<3x?x8x8xf32>, %r: !State, %c: !Lengths, %d: tensor<5xi32>, %o: !Packed, %p: !Packed) -> !Packed {
      %c2 = tensor.cast %d : tensor<5xi32> to !Lengths
      %y = hla.linear ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c2 : !Lengths) carry(%s : tensor<3x?x8x8xf32>) outs(%o : !Packed) -> !Packed
      return %y : !Packed
    })mlir",
                "expected 4 lengths (one more than sequences, 3), but got 5");
  expectFailure(R"mlir(
    func.func @f(%q: !Packed, %c: tensor<0xi32>, %s: !State, %o: !Packed) -> !Packed {
      %c2 = tensor.cast %c : tensor<0xi32> to !Lengths
      %y = hla.linear ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c2 : !Lengths) carry(%s : !State) outs(%o : !Packed) -> !Packed
      return %y : !Packed
    })mlir",
                "expected at least 1 length, but got 0");
}

TEST_F(EntryTiesTest, Contents) {
  EXPECT_EQ(describeContents(R"mlir(
    func.func @f(%v: !Packed, %q: !Packed, %g: !LogDecay, %c: !Lengths, %s: !State, %o: !Packed) -> !Packed {
      %h = tensor.cast %g : !LogDecay to tensor<1x?x?xf32>
      %y = hla.linear ins(%q, %q, %v : !Packed, !Packed, !Packed) log_decay(%h : tensor<1x?x?xf32>) lengths(%c : !Lengths) carry(%s : !State) outs(%o : !Packed) -> !Packed
      return %y : !Packed
    })mlir"),
            "-qdlT--");
  // A key that is a value, too; lengths of two operations.
  EXPECT_EQ(describeContents(R"mlir(
    func.func @f(%q: tensor<1x7x?x8xf32>, %k: !Packed, %c: !Lengths, %o: tensor<1x7x?x8xf32>, %p: !Packed) -> (tensor<1x7x?x8xf32>, !Packed) {
      %y = hla.scan ins(%q, %q, %q : tensor<1x7x?x8xf32>, tensor<1x7x?x8xf32>, tensor<1x7x?x8xf32>) lengths(%c : !Lengths) outs(%o : tensor<1x7x?x8xf32>) -> tensor<1x7x?x8xf32>
      %z = hla.scan ins(%k, %k, %k : !Packed, !Packed, !Packed) lengths(%c : !Lengths) outs(%p : !Packed) -> !Packed
      return %y, %z : tensor<1x7x?x8xf32>, !Packed
    })mlir"),
            "qqlT7--");
  EXPECT_EQ(describeContents(R"mlir(
    func.func @f(%q: !S, %v: !S, %g: !LogDecay, %x: !LogDecay, %o: !S) -> !S {
      %y = hla.fused_scan ins(%q, %v, %g, %x : !S, !S, !LogDecay, !LogDecay) outs(%o : !S) carry_in [false] carry_out [false] {
      ^bb0(%qt: vector<8xf32>, %vt: vector<8xf32>, %gt: vector<1xf32>, %xt: vector<1xf32>, %S: vector<8x8xf32>):
        %xb = vector.broadcast %xt : vector<1xf32> to vector<8xf32>
        %u = arith.mulf %vt, %xb : vector<8xf32>
        %S1, %r = hla.step ins(%qt, %qt, %u : vector<8xf32>, vector<8xf32>, vector<8xf32>) log_decay(%gt : vector<1xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
        hla.yield %r, %S1 : vector<8xf32>, vector<8x8xf32>
      } -> !S
      return %y : !S
    })mlir"),
            "q-d--");
}

// Integers are lengths, which are read.
TEST_F(EntryTiesTest, Integers) {
  expectFailure("func.func @f(%x: tensor<4xi32>) { return }",
                "expected 'arg0' to be a ranked tensor of bf16, f16, f32 or "
                "f64, or the lengths or slots of an hla operation, but got "
                "'tensor<4xi32>'");
  expectFailure("func.func @f(%x: tensor<4xi64>) { return }",
                "(entry functions take sequences and states)");
  expectFailure(R"mlir(
    func.func @f(%q: !Packed, %c: !Lengths, %o: !Packed) -> (!Packed, !Lengths) {
      %y = hla.scan ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c : !Lengths) outs(%o : !Packed) -> !Packed
      return %y, %c : !Packed, !Lengths
    })mlir",
                "expected 'result1' to be a ranked tensor of");
}

TEST_F(EntryTiesTest, Terms) {
  llvm::StringMap<int64_t> symbols;
  symbols["H"] = 3;
  symbols["X"] = INT64_MAX;
  EXPECT_EQ((ABITerm{1, "H", 0}.getText()), "H");
  EXPECT_EQ((ABITerm{4, "H", 1}.getText()), "4 * H + 1");
  EXPECT_EQ((ABITerm{4, "H", 1}.evaluate(symbols)), 13);
  EXPECT_EQ((ABITerm{4, "X", 0}.evaluate(symbols)), std::nullopt);
  EXPECT_EQ((ABITerm{1, "X", 1}.evaluate(symbols)), std::nullopt);
}

} // namespace
