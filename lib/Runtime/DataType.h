//===- DataType.h - Element types by name -----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_DATATYPE_H
#define HLA_LIB_RUNTIME_DATATYPE_H

#include "hla-c/Runtime.h"

#include <optional>
#include <string>
#include <string_view>

namespace hla::runtime {

/// The element type that manifests call `name`.
std::optional<HlaDataType> parseDataType(std::string_view name);

/// A name for messages, of any DLPack type: "bf16", "i32", "c64x2".
std::string getDataTypeName(HlaDataType dtype);

inline bool isSameType(HlaDataType a, HlaDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/// The names of all types that manifests know, for messages.
constexpr const char *knownDataTypes = "bf16, f16, f32, f64 or i32";

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_DATATYPE_H
