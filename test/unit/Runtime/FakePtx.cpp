//===- FakePtx.cpp - What the fake driver reads of PTX ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <cstdlib>

using namespace hla::runtime::test;

/// Of ".u64 x" or ".align 64 .b8 x[128]".
static size_t getBytes(const std::string &parameter) {
  size_t bracket = parameter.find('[');
  if (bracket != std::string::npos)
    return std::strtoul(parameter.c_str() + bracket + 1, nullptr, 10);
  std::string type = parameter.substr(0, 4);
  if (type.find("64") != std::string::npos)
    return 8;
  return type.find("32") != std::string::npos ? 4 : 0;
}

/// Finds each `.entry NAME(.param TYPE x, ...)`.
std::map<std::string, std::vector<size_t>>
hla::runtime::test::parseEntries(const std::string &ptx) {
  std::map<std::string, std::vector<size_t>> entries;
  for (size_t at = ptx.find(".entry "); at != std::string::npos;
       at = ptx.find(".entry ", at + 1)) {
    size_t open = ptx.find('(', at);
    size_t close = ptx.find(')', at);
    if (open == std::string::npos || close == std::string::npos)
      break;
    std::vector<size_t> &bytes = entries[ptx.substr(at + 7, open - at - 7)];
    std::string parameters = ptx.substr(open, close - open);
    const std::string mark = ".param ";
    for (size_t p = parameters.find(mark); p != std::string::npos;
         p = parameters.find(mark, p + 1)) {
      size_t start = p + mark.size();
      size_t comma = parameters.find(',', start);
      bytes.push_back(getBytes(parameters.substr(start, comma - start)));
    }
  }
  return entries;
}
