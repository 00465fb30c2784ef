//===- EnumFormat.h - bare keywords for enumeration attributes --*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_IR_ENUMFORMAT_H
#define HLA_DIALECT_HLA_IR_ENUMFORMAT_H

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::hla {

/// `custom<Enum>($attribute)` in an assembly format: the keyword alone,
/// `masked` for `#hla.second_order_variant<masked>`.
template <typename EnumAttrT>
ParseResult parseEnum(OpAsmParser &parser, EnumAttrT &attribute) {
  using EnumT = decltype(attribute.getValue());
  FailureOr<EnumT> value = FieldParser<EnumT>::parse(parser);
  if (failed(value))
    return failure();
  attribute = EnumAttrT::get(parser.getContext(), *value);
  return success();
}

template <typename EnumAttrT>
void printEnum(OpAsmPrinter &printer, Operation *, EnumAttrT attribute) {
  printer << stringifyEnum(attribute.getValue());
}

} // namespace mlir::hla

#endif // HLA_DIALECT_HLA_IR_ENUMFORMAT_H
