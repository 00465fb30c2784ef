//===- BundleTiesTest.cpp - constraints and lengths of bundles --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedBundleTest.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

using BundleTiesTest = LoadedBundleTest;

// What names of extents cannot say is a constraint.
TEST_F(BundleTiesTest, GroupedHeads) {
  parse(R"mlir(
!S = tensor<?x?x?x64xbf16>
func.func @f(%q: !S {hla.name = "q"}, %k: !S {hla.name = "k"}, %o: !S {hla.name = "o"}) -> !S {
  %r = hla.linear groups([1, 4]) ins(%q, %k, %k : !S, !S, !S) outs(%o : !S) -> !S
  return %r : !S
})mlir");
  ASSERT_NO_FATAL_FAILURE(load("f", "sm_90a"));
  constexpr llvm::StringLiteral kConstraints = R"([["H","4 * H1"]])";
  EXPECT_EQ(toText(bundle->manifest.get("constraints")), kConstraints);
  std::vector<Tensor> tensors = {{1 << 20, kBF16, {2, 7, 8, 64}},
                                 {2 << 20, kBF16, {2, 7, 2, 64}},
                                 {3 << 20, kBF16, {2, 7, 8, 64}}};
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_OK) << hlaGetLastErrorMessage();
  tensors[1].shape[2] = 3;
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_CONSTRAINT);
  EXPECT_STREQ(hlaGetLastErrorMessage(),
               "entry 'f': expected H = 4 * H1 (H is dimension 2 of 'q', H1 is "
               "dimension 2 of 'k'), but got 8 and 12");
}

TEST_F(BundleTiesTest, Lengths) {
  parse(R"mlir(
!S = tensor<1x?x?x64xbf16>
!State = tensor<?x?x64x64xf32>
func.func @f(%q: !S {hla.name = "q"}, %c: tensor<?xi32> {hla.name = "c"}, %s: !State {hla.name = "s"}, %o: !S {hla.name = "o"}) -> (!S, !State) {
  %r:2 = hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<?xi32>) carry(%s : !State) outs(%o, %s : !S, !State) -> !S, !State
  return %r#0, %r#1 : !S, !State
})mlir");
  ASSERT_NO_FATAL_FAILURE(load("f", "sm_90a"));
  constexpr llvm::StringLiteral kConstraints = R"([["L","N + 1"]])";
  EXPECT_EQ(toText(bundle->manifest.get("constraints")), kConstraints);
  constexpr llvm::StringLiteral kLengths =
      R"({"access":"read","alignment":4,"dtype":"i32","name":"c","shape":["L"],"stride_multiple":1})";
  EXPECT_EQ(toText(&(*bundle->manifest.getArray("arguments"))[1]), kLengths);
  EXPECT_EQ(toText(bundle->manifest.getObject("limits")->get("L")),
            "[1,1073741824]");
  std::vector<Tensor> tensors = {{1 << 20, kBF16, {1, 7, 3, 64}},
                                 {2 << 20, kI32, {3}},
                                 {3 << 20, kF32, {2, 3, 64, 64}},
                                 {4 << 20, kBF16, {1, 7, 3, 64}}};
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_OK) << hlaGetLastErrorMessage();
  tensors[1].shape[0] = 4;
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_CONSTRAINT);
  tensors[1].shape[0] = tensors[2].shape[0] = 0;
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_CONSTRAINT);
}

// Without states nothing else has the number of sequences.
TEST_F(BundleTiesTest, LengthsWithoutStates) {
  parse(R"mlir(
!S = tensor<1x?x?x64xbf16>
func.func @f(%q: !S, %c: tensor<?xi32>, %o: !S) -> !S {
  %r = hla.linear ins(%q, %q, %q : !S, !S, !S) lengths(%c : tensor<?xi32>) outs(%o : !S) -> !S
  return %r : !S
})mlir");
  ASSERT_NO_FATAL_FAILURE(load("f", "sm_90a"));
  EXPECT_EQ(bundle->manifest.get("constraints"), nullptr);
  std::vector<Tensor> tensors = {{1 << 20, kBF16, {1, 7, 3, 64}},
                                 {2 << 20, kI32, {1}},
                                 {4 << 20, kBF16, {1, 7, 3, 64}}};
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_OK) << hlaGetLastErrorMessage();
  tensors[1].shape[0] = 0;
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_LIMIT);
}

} // namespace
