//===- Sha256.h - SHA-256 of a byte string ----------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_SHA256_H
#define HLA_LIB_RUNTIME_SHA256_H

#include <string>
#include <string_view>

namespace hla::runtime {

/// The SHA-256 digest (FIPS 180-4) of `bytes`, in lower-case hexadecimal.
std::string sha256(std::string_view bytes);

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_SHA256_H
