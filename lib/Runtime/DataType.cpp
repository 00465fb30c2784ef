//===- DataType.cpp - Element types by name ---------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DataType.h"

using namespace hla::runtime;

std::optional<HlaDataType> hla::runtime::parseDataType(std::string_view name) {
  if (name == "bf16")
    return HlaDataType{HLA_TYPE_CODE_BFLOAT, 16, 1};
  if (name == "f16")
    return HlaDataType{HLA_TYPE_CODE_FLOAT, 16, 1};
  if (name == "f32")
    return HlaDataType{HLA_TYPE_CODE_FLOAT, 32, 1};
  if (name == "f64")
    return HlaDataType{HLA_TYPE_CODE_FLOAT, 64, 1};
  if (name == "i32")
    return HlaDataType{HLA_TYPE_CODE_INT, 32, 1};
  return std::nullopt;
}

std::string hla::runtime::getDataTypeName(HlaDataType dtype) {
  // DLPack's codes, in their order; 3 is an opaque handle.
  constexpr const char *prefixes[] = {"i",  "u", "f",   "handle",
                                      "bf", "c", "bool"};
  std::string result;
  if (dtype.code < std::size(prefixes))
    result = prefixes[dtype.code];
  else
    result = "type" + std::to_string(dtype.code) + "_";
  result += std::to_string(dtype.bits);
  if (dtype.lanes != 1)
    result += "x" + std::to_string(dtype.lanes);
  return result;
}
