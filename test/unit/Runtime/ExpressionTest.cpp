//===- ExpressionTest.cpp - Tests of a manifest's expressions ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expression.h"

#include "Error.h"
#include "gtest/gtest.h"

#include <limits>

using namespace hla::runtime;

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t greatest = std::numeric_limits<int64_t>::max();

const ExpressionScope scope = {{"B", "T", "H"}, {{"q", 4}, {"k", 2}}};
const ExpressionValues values = {
    {3, 100, 5}, {{{3, 100, 5, 64}, {32000, 320, 64, 1}}, {{7, 9}, {-9, 1}}}};

int64_t evaluate(const std::string &text) {
  return Expression::parse(text, scope).evaluate(values);
}

/// The status and the message that parsing or evaluating gives.
std::pair<HlaStatus, std::string> fail(const std::string &text) {
  try {
    int64_t value = evaluate(text);
    return {HLA_STATUS_OK, std::to_string(value)};
  } catch (const Failure &failure) {
    return {failure.getStatus(), failure.getMessage()};
  }
}

void expectSyntaxError(const std::string &text, const std::string &part) {
  auto [status, message] = fail(text);
  EXPECT_EQ(status, HLA_STATUS_INVALID_EXPRESSION) << text << ": " << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

void expectEvaluationError(const std::string &text, const std::string &part) {
  auto [status, message] = fail(text);
  EXPECT_EQ(status, HLA_STATUS_EVALUATION) << text << ": " << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

} // namespace

TEST(Expression, Arithmetic) {
  EXPECT_EQ(evaluate("42"), 42);
  EXPECT_EQ(evaluate("B"), 3);
  EXPECT_EQ(evaluate("B * H"), 15);
  EXPECT_EQ(evaluate("2 + 3 * 4"), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4"), 20);
  EXPECT_EQ(evaluate("10 - 4 - 3"), 3);
  EXPECT_EQ(evaluate("-B + 1"), -2);
  EXPECT_EQ(evaluate("2 * -B"), -6);
  EXPECT_EQ(evaluate("1 - -1"), 2);
  EXPECT_EQ(evaluate("--B"), 3);
  EXPECT_EQ(evaluate("-(B * 2)"), -6);
  EXPECT_EQ(evaluate("  B*H "), 15);
}

TEST(Expression, Functions) {
  EXPECT_EQ(evaluate("ceildiv(T, 64)"), 2);
  EXPECT_EQ(evaluate("floordiv(T, 64)"), 1);
  EXPECT_EQ(evaluate("min(T, 64)"), 64);
  EXPECT_EQ(evaluate("max(T, 64)"), 100);
  EXPECT_EQ(evaluate("stride(q, 1)"), 320);
  EXPECT_EQ(evaluate("stride(k, 0)"), -9);
  EXPECT_EQ(evaluate("dim(q, 3) + dim(k,1)"), 73);
  EXPECT_EQ(evaluate("max(ceildiv(T, 7), min(B, H)) * 2"), 30);
}

TEST(Expression, DivisionRoundsBySign) {
  EXPECT_EQ(evaluate("ceildiv(7, 2)"), 4);
  EXPECT_EQ(evaluate("ceildiv(-7, 2)"), -3);
  EXPECT_EQ(evaluate("ceildiv(7, -2)"), -3);
  EXPECT_EQ(evaluate("ceildiv(-7, -2)"), 4);
  EXPECT_EQ(evaluate("floordiv(7, 2)"), 3);
  EXPECT_EQ(evaluate("floordiv(-7, 2)"), -4);
  EXPECT_EQ(evaluate("floordiv(7, -2)"), -4);
  EXPECT_EQ(evaluate("floordiv(-7, -2)"), 3);
  EXPECT_EQ(evaluate("ceildiv(-8, 2)"), -4);
  EXPECT_EQ(evaluate("floordiv(0, 5)"), 0);
}

TEST(Expression, Bounds) {
  EXPECT_EQ(evaluate("9223372036854775807"), greatest);
  EXPECT_EQ(evaluate("-9223372036854775808"), least);
  EXPECT_EQ(evaluate("ceildiv(-9223372036854775808, 1)"), least);
  expectSyntaxError("9223372036854775808", "integer of 64 bits");
  expectEvaluationError("9223372036854775807 + 1", "9223372036854775807 + 1");
  expectEvaluationError("-9223372036854775808 - B", "64 bits");
  expectEvaluationError("4611686018427387904 * 2", "64 bits");
  expectEvaluationError("-(-9223372036854775808)", "64 bits");
  expectEvaluationError("floordiv(-9223372036854775808, -1)", "64 bits");
  expectEvaluationError("ceildiv(T, B - 3)", "divisor other than zero");
  expectEvaluationError("floordiv(1, 0)", "1 / 0");
}

TEST(Expression, Constants) {
  EXPECT_TRUE(Expression::parse("ceildiv(100, 64) * 3", scope).isConstant());
  EXPECT_FALSE(Expression::parse("B", scope).isConstant());
  EXPECT_FALSE(Expression::parse("2 * stride(q, 0)", scope).isConstant());
  EXPECT_FALSE(Expression::parse("dim(q, 3)", scope).isConstant());
  EXPECT_EQ(Expression::constant(-5).evaluate({}), -5);
  EXPECT_EQ(Expression::constant(-5).getText(), "-5");
}

TEST(Expression, SyntaxErrors) {
  expectSyntaxError("", "an integer, a dimension");
  expectSyntaxError("B +", "but got the end");
  expectSyntaxError("B H", "column 3: expected an operator");
  expectSyntaxError("(B", "expected ')'");
  expectSyntaxError("B)", "but got ')'");
  expectSyntaxError("B / 2", "but got '/ 2'");
  expectSyntaxError("B % 2", "operator");
  expectSyntaxError("D", "a dimension of the manifest, but got 'D'");
  expectSyntaxError("2B", "operator");
  expectSyntaxError("0x10", "operator");
  expectSyntaxError("1.5", "operator");
  expectSyntaxError("ceildiv(B)", "expected ','");
  expectSyntaxError("min(1, 2, 3)", "expected ')'");
  expectSyntaxError("log(B, 2)", "one of stride, dim");
  expectSyntaxError("ceildiv", "a dimension");
  expectSyntaxError("stride(x, 0)", "the name of an argument, but got 'x'");
  expectSyntaxError("stride(q, 4)", "a dimension below 4 (the rank of 'q')");
  expectSyntaxError("stride(q, -1)", "the number of a dimension");
  expectSyntaxError("stride(q, B)", "the number of a dimension");
  expectSyntaxError("stride(q, 99999999999999999999)", "64 bits");
  expectSyntaxError("B\n", "\\x0a");
  expectSyntaxError(std::string("B\0", 2), "\\x00");
}

TEST(Expression, HostileSizes) {
  std::string nested = std::string(60, '(') + "B" + std::string(60, ')');
  EXPECT_EQ(evaluate(nested), 3);
  expectSyntaxError(std::string(2000, '(') + "B", "levels of nesting");
  expectSyntaxError(std::string(5000, '-') + "B", "characters");
  EXPECT_EQ(evaluate(std::string(4000, '-') + "B"), 3);
  std::string sum = "1";
  for (int i = 0; i < 2000; ++i)
    sum += "+1";
  EXPECT_EQ(evaluate(sum), 2001);
}

TEST(Expression, Identifiers) {
  EXPECT_TRUE(isIdentifier("T"));
  EXPECT_TRUE(isIdentifier("_d2"));
  EXPECT_FALSE(isIdentifier(""));
  EXPECT_FALSE(isIdentifier("2d"));
  EXPECT_FALSE(isIdentifier("a-b"));
  EXPECT_FALSE(isIdentifier(std::string(300, 'a')));
  EXPECT_TRUE(isFunctionName("min"));
  EXPECT_FALSE(isFunctionName("T"));
}
