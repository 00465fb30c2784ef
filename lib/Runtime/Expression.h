//===- Expression.h - Integer expressions of a manifest ---------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Grids, scratch sizes and kernel parameters depend on the shapes and strides
// of a launch, so a manifest gives them as expressions:
//
//   sum     ::= product (("+" | "-") product)*
//   product ::= factor ("*" factor)*
//   factor  ::= "-" factor | integer | dim | call | "(" sum ")"
//   call    ::= ("ceildiv" | "floordiv" | "min" | "max") "(" sum "," sum ")"
//             | ("stride" | "dim") "(" argument "," integer ")"
//
// Values are 64-bit signed integers. An expression is parsed once, to a postfix
// program, and evaluated on each launch.
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_EXPRESSION_H
#define HLA_LIB_RUNTIME_EXPRESSION_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hla::runtime {

/// The names that an expression may use.
struct ExpressionScope {
  struct Argument {
    std::string name;
    int32_t rank;
  };
  std::vector<std::string> dims;
  std::vector<Argument> arguments;
};

/// The values of these names in one launch, in the scope's order.
struct ExpressionValues {
  struct Argument {
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;
  };
  std::vector<int64_t> dims;
  std::vector<Argument> arguments;
};

class Expression {
public:
  /// Parses `text`. Throws INVALID_EXPRESSION with the column of the mistake.
  static Expression parse(std::string_view text, const ExpressionScope &scope);
  static Expression constant(int64_t value);

  /// Throws EVALUATION if a value leaves int64 or a divisor is zero.
  int64_t evaluate(const ExpressionValues &values) const;

  /// Whether the value is the same for every launch.
  bool isConstant() const;
  /// Whether it reads shapes or strides of arguments.
  bool readsArguments() const;
  /// The dims that it reads, as indices in the scope, in order, each once.
  std::vector<size_t> getDims() const;

  const std::string &getText() const { return text; }

private:
  enum class Opcode : uint8_t {
    Constant,
    Dim,    // dims[operand]
    Shape,  // arguments[operand].shape[index]
    Stride, // arguments[operand].strides[index]
    Negate,
    Add,
    Subtract,
    Multiply,
    CeilDiv,
    FloorDiv,
    Min,
    Max
  };
  struct Instruction {
    Opcode opcode;
    int32_t index = 0;
    int64_t operand = 0;
  };
  class Parser;

  int64_t apply(Opcode opcode, int64_t a, int64_t b) const;

  std::vector<Instruction> program;
  std::string text;
};

/// Whether `name` can stand for a dim or an argument in an expression.
bool isIdentifier(std::string_view name);

/// Whether `name` is one of the grammar's functions.
bool isFunctionName(std::string_view name);

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_EXPRESSION_H
