//===- OperatorsTest.cpp - what operators say of themselves -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

class OperatorsTest : public ::testing::Test {
protected:
  OperatorsTest() { context.loadDialect<HLADialect, func::FuncDialect>(); }

  /// The operator `text`, with options, on d = 8 and dv = 4.
  Operator parse(StringRef text, StringRef logDecay = "") {
    std::string program = llvm::formatv(
        R"mlir(
!S = tensor<?x?x?x8xf32>
!V = tensor<?x?x?x4xf32>
func.func @f(%q: !S, %k: !S, %v: !V, %e: !V, %g: tensor<?xf32>) -> !V {{
  %o = hla.{0} ins(%q, %k, %v : !S, !S, !V) {1} outs(%e : !V) -> !V
  return %o : !V
})mlir",
        text, logDecay);
    module = parseSourceString<ModuleOp>(program, &context);
    Operator found;
    if (module)
      module->walk([&](Operator op) { found = op; });
    return found;
  }

  /// Names and shapes of its states: `S:8x8! P:8x4`, those that do not depend
  /// on values with a mark.
  std::string describe(Operator op) {
    std::string text;
    for (const OperatorState &state : op.getStates())
      text += llvm::formatv("{0}{1}:{2}x{3}{4}", text.empty() ? "" : " ",
                            state.name, state.rows, state.cols,
                            state.dependsOnValue ? "" : "!");
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(OperatorsTest, States) {
  struct {
    StringRef text, logDecay, states;
  } cases[] = {
      {"linear", "", "P:8x4"},
      {"linear normalize(add, 1.0)", "", "P:8x4 m:8x1"},
      {"second_order", "", "S:8x8! F:8x4"},
      {"second_order normalize(clamp, 1.0)", "", "S:8x8! F:8x4 f:8x1"},
      {"second_order reading(squared) decay(0.5)", "", "S:8x8! F:8x4"},
      {"second_order variant(prefix)", "", "S:8x8! C:8x4"},
      {"second_order variant(prefix) normalize(add, 1.0)", "",
       "S:8x8! C:8x4 m:8x1"},
      {"second_order variant(paper)", "", "S:8x8! C:8x4 G:8x4"},
      {"second_order variant(paper) normalize(add, 1.0)", "",
       "S:8x8! C:8x4 G:8x4 m:8x1 h:8x1"},
      {"asymmetric", "", "P:8x4 E:8x4"},
      {"asymmetric normalize(add, 1.0)", "", "P:8x4 E:8x4 m:8x1 n:8x1"},
      {"third_order", "", "S:8x8! P:8x4 F:8x4"},
      {"third_order normalize(add, 1.0)", "", "S:8x8! P:8x4 F:8x4 m:8x1 f:8x1"},
      {"third_order variant(paper)", "", "SK:8x8! SQ:8x8! P:8x4 A:8x4 R:8x4"},
      {"third_order variant(paper) normalize(add, 1.0)", "",
       "SK:8x8! SQ:8x8! P:8x4 A:8x4 R:8x4 m:8x1 a:8x1 r:8x1"},
      {"third_order variant(paper) decay(0.5)", "",
       "SK:8x8! SQ:8x8! P:8x4 G1:8x4 G2:8x4 G3:8x4"},
      {"third_order variant(paper) normalize(add, 1.0)",
       "log_decay(%g : tensor<?xf32>)",
       "SK:8x8! SQ:8x8! P:8x4 G1:8x4 G2:8x4 G3:8x4 m:8x1 g1:8x1 g2:8x1 "
       "g3:8x1"},
  };
  for (const auto &[text, logDecay, states] : cases) {
    Operator op = parse(text, logDecay);
    ASSERT_TRUE(op) << text.str();
    EXPECT_EQ(describe(op), states.str()) << text.str();
  }
}

TEST_F(OperatorsTest, IsDecayed) {
  EXPECT_FALSE(parse("linear").isDecayed());
  EXPECT_FALSE(parse("third_order decay(1.0)").isDecayed());
  EXPECT_TRUE(parse("asymmetric decay(0.999)").isDecayed());
  EXPECT_TRUE(
      parse("second_order", "log_decay(%g : tensor<?xf32>)").isDecayed());
}

TEST_F(OperatorsTest, OptionsOfAll) {
  Operator op = parse("linear");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getScale().convertToDouble(), 1.0);
  EXPECT_EQ(op.getEpsilon().convertToDouble(), 0.0);
  EXPECT_EQ(op.getNormalizer(), Normalizer::None);
  EXPECT_EQ(op.getLayout(), HeadLayout::BTHD);
  EXPECT_FALSE(op.getReverse() || op.getLogDecay() || op.getLengths());
  EXPECT_TRUE(op.getCarries().empty());
  EXPECT_EQ(op.getOutputs().size(), 1u);
  EXPECT_EQ(op.getQueryGroup(), 1);
  EXPECT_EQ(op.getKeyGroup(), 1);

  op = parse("asymmetric groups([3, 2])");
  ASSERT_TRUE(op);
  EXPECT_EQ(op.getQueryGroup(), 3);
  EXPECT_EQ(op.getKeyGroup(), 2);
}

TEST_F(OperatorsTest, OrderAndRidge) {
  struct {
    StringRef text;
    unsigned order;
    double ridge;
  } cases[] = {{"linear", 1, 0.0},
               {"second_order ridge(0.25)", 2, 0.25},
               {"second_order variant(paper)", 2, 0.0},
               {"asymmetric", 2, 0.0},
               {"third_order ridge(0.5)", 3, 0.5},
               {"third_order variant(paper)", 3, 0.0}};
  for (const auto &[text, order, ridge] : cases) {
    Operator op = parse(text);
    ASSERT_TRUE(op) << text.str();
    EXPECT_EQ(op.getOrder(), order) << text.str();
    EXPECT_EQ(op.getRidgeValue(), ridge) << text.str();
  }
}

// As a front end builds an operator: with values of its own for every option.
TEST_F(OperatorsTest, Builder) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto sequence =
      RankedTensorType::get({1, ShapedType::kDynamic, 4, 8}, b.getF32Type());
  auto lengths = RankedTensorType::get({3}, b.getI32Type());
  auto slots = RankedTensorType::get({2}, b.getI32Type());
  auto states = RankedTensorType::get({5, 4, 8, 8}, b.getF32Type());
  auto function = func::FuncOp::create(
      b, loc, "f", b.getFunctionType({sequence, lengths, slots, states}, {}));
  b.setInsertionPointToEnd(function.addEntryBlock());
  Value q = function.getArgument(0), c = function.getArgument(1),
        n = function.getArgument(2), s = function.getArgument(3);
  auto op = SecondOrderOp::create(
      b, loc, TypeRange{sequence, states, states}, SecondOrderVariant::Masked,
      DecayReading::Squared, llvm::APFloat(0.5), llvm::APFloat(0.9),
      llvm::APFloat(0.125), Normalizer::None, llvm::APFloat(0.0),
      /*reverse=*/true, HeadLayout::BTHD, b.getDenseI64ArrayAttr({1, 1}), q, q,
      q, /*log_decay=*/Value(), c, n, ValueRange{s, s}, ValueRange{q, s, s});
  func::ReturnOp::create(b, loc);

  EXPECT_TRUE(succeeded(verify(*module)));
  Operator general(op.getOperation());
  EXPECT_EQ(general.getRidgeValue(), 0.5);
  EXPECT_EQ(general.getDecay().convertToDouble(), 0.9);
  EXPECT_TRUE(general.getReverse());
  EXPECT_EQ(general.getLengths(), c);
  EXPECT_EQ(general.getCarries().size(), 2u);
  EXPECT_EQ(op.getDpsInits().size(), 3u);
  EXPECT_EQ(op.getTiedOpOperand(op->getResult(2))->get(), s);
}

} // namespace
