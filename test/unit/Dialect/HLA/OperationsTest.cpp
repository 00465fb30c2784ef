//===- OperationsTest.cpp - what operations say of themselves ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

class OperationsTest : public ::testing::Test {
protected:
  OperationsTest() {
    context.loadDialect<HLADialect, func::FuncDialect, tensor::TensorDialect>();
  }

  /// The only operation of its kind in a program.
  template <typename OpT> OpT parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    OpT found;
    if (module)
      module->walk([&](OpT op) { found = op; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(OperationsTest, ScanBuilder) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  int64_t dynamic = ShapedType::kDynamic;
  auto type =
      RankedTensorType::get({dynamic, dynamic, dynamic, 8}, b.getBF16Type());
  auto function =
      func::FuncOp::create(b, loc, "f", b.getFunctionType({type, type}, {}));
  b.setInsertionPointToEnd(function.addEntryBlock());
  Value q = function.getArgument(0), e = function.getArgument(1);
  auto scan = ScanOp::create(b, loc, HeadLayout::BHTD, q, q, q, e);
  func::ReturnOp::create(b, loc);

  EXPECT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(scan.getResultTypes(), TypeRange(type));
  EXPECT_EQ(scan.getLayout(), HeadLayout::BHTD);
  EXPECT_FALSE(scan.getExclusive() || scan.getReverse());
  EXPECT_EQ(scan.getDecay().convertToDouble(), 1.0);
  EXPECT_FALSE(scan.getCarry() || scan.getFinalInit() || scan.getFinal());
  EXPECT_EQ(scan.getStateType(), VectorType::get({8, 8}, b.getF32Type()));
}

TEST_F(OperationsTest, ScanStates) {
  auto scan = parse<ScanOp>(R"mlir(
    func.func @f(%q: tensor<1x?x2x8xf16>, %v: tensor<1x?x2x4xf64>, %s: tensor<1x2x8x4xf64>) {
      %y:2 = hla.scan ins(%q, %q, %v : tensor<1x?x2x8xf16>, tensor<1x?x2x8xf16>, tensor<1x?x2x4xf64>)
                      carry(%s : tensor<1x2x8x4xf64>)
                      outs(%v, %s : tensor<1x?x2x4xf64>, tensor<1x2x8x4xf64>) -> tensor<1x?x2x4xf64>, tensor<1x2x8x4xf64>
      return
    })mlir");
  ASSERT_TRUE(scan);
  EXPECT_EQ(scan.getStateType(),
            VectorType::get({8, 4}, Builder(&context).getF64Type()));
  EXPECT_EQ(scan.getFinal(), scan.getResult(1));
  EXPECT_EQ(scan.getFinalInit(), scan.getCarry());
  EXPECT_EQ(scan.getDpsInits().size(), 2u);
  EXPECT_EQ(scan.getTiedOpOperand(scan->getResult(1))->get(), scan.getCarry());
}

TEST_F(OperationsTest, FusedScanParts) {
  auto fused = parse<FusedScanOp>(R"mlir(
    func.func @f(%q: tensor<?x?x?x8xf32>, %s: tensor<?x?x8x8xf32>) {
      %y:2 = hla.fused_scan layout(bhtd) ins(%q : tensor<?x?x?x8xf32>) carries(%s : tensor<?x?x8x8xf32>)
          outs(%q, %s : tensor<?x?x?x8xf32>, tensor<?x?x8x8xf32>) carry_in [true, false] carry_out [false, true] {
      ^bb0(%a: vector<8xf32>, %S: vector<8x8xf32>, %F: vector<8x8xf32>):
        %S1, %u = hla.step ins(%a, %a, %a : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%S : vector<8x8xf32>) -> vector<8xf32>
        %F1, %z = hla.step ins(%u, %u, %a : vector<8xf32>, vector<8xf32>, vector<8xf32>) state(%F : vector<8x8xf32>) -> vector<8xf32>
        hla.yield %z, %S1, %F1 : vector<8xf32>, vector<8x8xf32>, vector<8x8xf32>
      } -> tensor<?x?x?x8xf32>, tensor<?x?x8x8xf32>
      return
    })mlir");
  ASSERT_TRUE(fused);
  EXPECT_EQ(fused.getNumStates(), 2u);
  ASSERT_EQ(fused.getStateArguments().size(), 2u);
  EXPECT_EQ(fused.getStateArguments()[0].getArgNumber(), 1u);
  ASSERT_EQ(fused.getSequenceOutputs().size(), 1u);
  EXPECT_EQ(fused.getSequenceOutputs()[0], fused.getInputs()[0]);
  ASSERT_EQ(fused.getFinalOutputs().size(), 1u);
  EXPECT_EQ(fused.getFinalOutputs()[0], fused.getCarries()[0]);
  EXPECT_EQ(fused.getBatchDim(), 0u);
  EXPECT_EQ(fused.getHeadDim(), 1u);
  EXPECT_EQ(fused.getTokenDim(), 2u);
}

// Groups and the numbers of a body.
TEST_F(OperationsTest, FusedScanGroups) {
  auto fused = parse<FusedScanOp>(R"mlir(
    func.func @f(%q: tensor<1x?x2x8xf32>, %g: tensor<4xf64>, %e: tensor<1x?x4xf32>) {
      %n = hla.fused_scan groups([2, 1]) ins(%q, %g : tensor<1x?x2x8xf32>, tensor<4xf64>) outs(%e : tensor<1x?x4xf32>) carry_in [] carry_out [] {
      ^bb0(%a: vector<8xf32>, %b: vector<1xf64>):
        %s = hla.row_sum %a : vector<8xf32> -> vector<1xf32>
        hla.yield %s : vector<1xf32>
      } -> tensor<1x?x4xf32>
      return
    })mlir");
  ASSERT_TRUE(fused);
  Builder b(&context);
  EXPECT_EQ(fused.getGroup(0), 2);
  EXPECT_EQ(fused.getGroup(1), 1);
  EXPECT_EQ(fused.getNumStates(), 0u);
  EXPECT_EQ(FusedScanOp::getRowType(fused.getInputs()[0].getType()),
            VectorType::get({8}, b.getF32Type()));
  EXPECT_EQ(FusedScanOp::getRowType(fused.getInputs()[1].getType()),
            VectorType::get({1}, b.getF64Type()));
  EXPECT_EQ(FusedScanOp::getRowType(fused.getOutputs()[0].getType()),
            VectorType::get({1}, b.getF32Type()));
}

} // namespace
