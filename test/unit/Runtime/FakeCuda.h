//===- FakeCuda.h - What the files of the fake driver share -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TEST_UNIT_RUNTIME_FAKECUDA_H
#define HLA_TEST_UNIT_RUNTIME_FAKECUDA_H

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace hla::runtime::test {

/// Logs a call and returns the result set for it, else 0.
int recordCall(const std::string &symbol, const std::string &details);

/// The kernels in a PTX text, with the bytes of each parameter.
std::map<std::string, std::vector<size_t>> parseEntries(const std::string &ptx);

} // namespace hla::runtime::test

#endif // HLA_TEST_UNIT_RUNTIME_FAKECUDA_H
