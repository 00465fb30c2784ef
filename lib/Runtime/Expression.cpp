//===- Expression.cpp - Integer expressions of a manifest -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expression.h"

#include "Error.h"

#include <algorithm>
#include <limits>
#include <optional>

using namespace hla::runtime;

namespace {

// Bounds on what a manifest can make the parser and the evaluator do.
constexpr size_t longestText = 4096;
constexpr int deepestNesting = 64;

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

bool hla::runtime::isIdentifier(std::string_view name) {
  return !name.empty() && name.size() <= 256 && isLetter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return isLetter(c) || isDigit(c); });
}

bool hla::runtime::isFunctionName(std::string_view name) {
  constexpr std::string_view names[] = {"stride",   "dim", "ceildiv",
                                        "floordiv", "min", "max"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Recursive descent that emits a postfix program.
class Expression::Parser {
public:
  Parser(std::string_view text, const ExpressionScope &scope,
         std::vector<Instruction> &program)
      : text(text), scope(scope), program(program) {}

  void parse() {
    if (text.size() > longestText)
      fail("at most " + std::to_string(longestText) + " characters",
           std::to_string(text.size()));
    parseSum();
    skipSpace();
    if (position != text.size())
      failHere("an operator or the end");
  }

private:
  void parseSum() {
    if (++depth > deepestNesting)
      fail("at most " + std::to_string(deepestNesting) + " levels of nesting",
           "more");
    parseProduct();
    while (true) {
      if (accept('+')) {
        parseProduct();
        program.push_back({Opcode::Add});
      } else if (accept('-')) {
        parseProduct();
        program.push_back({Opcode::Subtract});
      } else {
        break;
      }
    }
    --depth;
  }

  void parseProduct() {
    parseFactor();
    while (accept('*')) {
      parseFactor();
      program.push_back({Opcode::Multiply});
    }
  }

  void parseFactor() {
    // A run of minus signs is counted, not recursed into.
    bool negative = false;
    while (accept('-'))
      negative = !negative;
    parsePrimary(negative);
  }

  void parsePrimary(bool negative) {
    skipSpace();
    if (position < text.size() && isDigit(text[position])) {
      program.push_back({Opcode::Constant, 0, parseInteger(negative)});
      return;
    }
    if (accept('(')) {
      parseSum();
      expect(')');
    } else if (std::string_view name = parseName(); name.empty()) {
      failHere("an integer, a dimension, a function or '('");
    } else if (accept('(')) {
      parseCall(name);
    } else {
      auto it = std::find(scope.dims.begin(), scope.dims.end(), name);
      if (it == scope.dims.end())
        fail("a dimension of the manifest", quote(name));
      program.push_back({Opcode::Dim, 0, it - scope.dims.begin()});
    }
    if (negative)
      program.push_back({Opcode::Negate});
  }

  void parseCall(std::string_view name) {
    if (name == "stride" || name == "dim") {
      parseArgumentCall(name == "stride" ? Opcode::Stride : Opcode::Shape);
      return;
    }
    std::optional<Opcode> opcode;
    if (name == "ceildiv")
      opcode = Opcode::CeilDiv;
    else if (name == "floordiv")
      opcode = Opcode::FloorDiv;
    else if (name == "min")
      opcode = Opcode::Min;
    else if (name == "max")
      opcode = Opcode::Max;
    if (!opcode)
      fail("one of stride, dim, ceildiv, floordiv, min, max", quote(name));
    parseSum();
    expect(',');
    parseSum();
    expect(')');
    program.push_back({*opcode});
  }

  void parseArgumentCall(Opcode opcode) {
    skipSpace();
    std::string_view name = parseName();
    auto it = std::find_if(
        scope.arguments.begin(), scope.arguments.end(),
        [&](const ExpressionScope::Argument &a) { return a.name == name; });
    if (it == scope.arguments.end()) {
      if (name.empty())
        failHere("the name of an argument");
      fail("the name of an argument", quote(name));
    }
    expect(',');
    skipSpace();
    if (position == text.size() || !isDigit(text[position]))
      failHere("the number of a dimension");
    int64_t index = parseInteger(/*negative=*/false);
    if (index >= it->rank)
      fail("a dimension below " + std::to_string(it->rank) + " (the rank of " +
               quote(name) + ")",
           std::to_string(index));
    expect(')');
    program.push_back(
        {opcode, static_cast<int32_t>(index), it - scope.arguments.begin()});
  }

  /// The sign is folded in, so that the least int64 can be written.
  int64_t parseInteger(bool negative) {
    size_t start = position;
    int64_t value = 0;
    while (position < text.size() && isDigit(text[position])) {
      int64_t digit = text[position++] - '0';
      if (__builtin_mul_overflow(value, int64_t(10), &value) ||
          __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
        position = start;
        failHere("an integer of 64 bits");
      }
    }
    if (position < text.size() && isLetter(text[position]))
      failHere("an operator or the end");
    return value;
  }

  std::string_view parseName() {
    size_t start = position;
    if (position < text.size() && isLetter(text[position]))
      while (position < text.size() &&
             (isLetter(text[position]) || isDigit(text[position])))
        ++position;
    return text.substr(start, position - start);
  }

  void skipSpace() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }

  bool accept(char c) {
    skipSpace();
    if (position == text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      failHere(quote(std::string_view(&c, 1)));
  }

  [[noreturn]] void failHere(const std::string &expected) {
    fail(expected,
         position == text.size() ? "the end" : quote(text.substr(position)));
  }

  [[noreturn]] void fail(const std::string &expected, const std::string &got) {
    throw Failure(HLA_STATUS_INVALID_EXPRESSION,
                  "expression " + quote(text) + ", column " +
                      std::to_string(position + 1) + ": expected " + expected +
                      ", but got " + got);
  }

  std::string_view text;
  const ExpressionScope &scope;
  std::vector<Instruction> &program;
  size_t position = 0;
  int depth = 0;
};

Expression Expression::parse(std::string_view text,
                             const ExpressionScope &scope) {
  Expression result;
  Parser(text, scope, result.program).parse();
  result.text = std::string(text);
  return result;
}

Expression Expression::constant(int64_t value) {
  Expression result;
  result.program.push_back({Opcode::Constant, 0, value});
  result.text = std::to_string(value);
  return result;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

bool Expression::isConstant() const {
  return std::none_of(program.begin(), program.end(), [](Instruction i) {
    return i.opcode == Opcode::Dim || i.opcode == Opcode::Shape ||
           i.opcode == Opcode::Stride;
  });
}

bool Expression::readsArguments() const {
  return std::any_of(program.begin(), program.end(), [](Instruction i) {
    return i.opcode == Opcode::Shape || i.opcode == Opcode::Stride;
  });
}

std::vector<size_t> Expression::getDims() const {
  std::vector<size_t> dims;
  for (const Instruction &i : program) {
    auto dim = static_cast<size_t>(i.operand);
    if (i.opcode == Opcode::Dim &&
        std::find(dims.begin(), dims.end(), dim) == dims.end())
      dims.push_back(dim);
  }
  return dims;
}

int64_t Expression::apply(Opcode opcode, int64_t a, int64_t b) const {
  auto overflow = [&](const char *symbol) -> Failure {
    return Failure(
        HLA_STATUS_EVALUATION,
        "expression " + quote(text) + ": expected values of 64 bits, but got " +
            std::to_string(a) + " " + symbol + " " + std::to_string(b));
  };
  int64_t result = 0;
  switch (opcode) {
  case Opcode::Add:
    if (__builtin_add_overflow(a, b, &result))
      throw overflow("+");
    return result;
  case Opcode::Subtract:
    if (__builtin_sub_overflow(a, b, &result))
      throw overflow("-");
    return result;
  case Opcode::Multiply:
    if (__builtin_mul_overflow(a, b, &result))
      throw overflow("*");
    return result;
  case Opcode::Min:
    return std::min(a, b);
  case Opcode::Max:
    return std::max(a, b);
  case Opcode::CeilDiv:
  case Opcode::FloorDiv: {
    if (b == 0)
      throw Failure(HLA_STATUS_EVALUATION,
                    "expression " + quote(text) +
                        ": expected a divisor other than zero, but got " +
                        std::to_string(a) + " / 0");
    if (a == std::numeric_limits<int64_t>::min() && b == -1)
      throw overflow("/");
    // C++ rounds to zero: correct by the sign of the exact quotient.
    int64_t quotient = a / b;
    bool exact = a % b == 0;
    bool positive = (a < 0) == (b < 0);
    if (!exact && opcode == Opcode::CeilDiv && positive)
      ++quotient;
    if (!exact && opcode == Opcode::FloorDiv && !positive)
      --quotient;
    return quotient;
  }
  default:
    throw Failure(HLA_STATUS_INTERNAL, "not a binary operator");
  }
}

int64_t Expression::evaluate(const ExpressionValues &values) const {
  if (program.size() == 1 && program[0].opcode == Opcode::Constant)
    return program[0].operand;
  std::vector<int64_t> stack;
  stack.reserve(program.size());
  for (const Instruction &i : program) {
    switch (i.opcode) {
    case Opcode::Constant:
      stack.push_back(i.operand);
      break;
    case Opcode::Dim:
      stack.push_back(values.dims[i.operand]);
      break;
    case Opcode::Shape:
      stack.push_back(values.arguments[i.operand].shape[i.index]);
      break;
    case Opcode::Stride:
      stack.push_back(values.arguments[i.operand].strides[i.index]);
      break;
    case Opcode::Negate:
      stack.back() = apply(Opcode::Subtract, 0, stack.back());
      break;
    default: {
      int64_t b = stack.back();
      stack.pop_back();
      stack.back() = apply(i.opcode, stack.back(), b);
      break;
    }
    }
  }
  return stack.back();
}
