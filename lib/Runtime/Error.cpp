//===- Error.cpp - Failures inside the runtime ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Error.h"

#include "Guard.h"

using namespace hla::runtime;

std::string hla::runtime::quote(std::string_view text) {
  constexpr size_t longest = 80;
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "'";
  for (unsigned char c : text.substr(0, longest)) {
    if (c >= 0x20 && c < 0x7f) {
      result += static_cast<char>(c);
      continue;
    }
    result += "\\x";
    result += digits[c >> 4];
    result += digits[c & 15];
  }
  result += '\'';
  if (text.size() > longest)
    result += "...";
  return result;
}

std::string hla::runtime::toHex(uint64_t value) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (; value != 0 || result.empty(); value >>= 4)
    result.insert(result.begin(), digits[value & 15]);
  return "0x" + result;
}

const char *hla::runtime::getStatusName(HlaStatus status) {
  switch (status) {
#define HLA_STATUS_CASE(name)                                                  \
  case HLA_STATUS_##name:                                                      \
    return #name;
    HLA_STATUS_CASE(OK)
    HLA_STATUS_CASE(INVALID_ARGUMENT)
    HLA_STATUS_CASE(OUT_OF_MEMORY)
    HLA_STATUS_CASE(INTERNAL)
    HLA_STATUS_CASE(FILE_NOT_FOUND)
    HLA_STATUS_CASE(FILE_UNREADABLE)
    HLA_STATUS_CASE(MALFORMED_JSON)
    HLA_STATUS_CASE(ABI_MISMATCH)
    HLA_STATUS_CASE(MISSING_KEY)
    HLA_STATUS_CASE(UNKNOWN_KEY)
    HLA_STATUS_CASE(WRONG_TYPE)
    HLA_STATUS_CASE(INVALID_VALUE)
    HLA_STATUS_CASE(UNKNOWN_DTYPE)
    HLA_STATUS_CASE(INVALID_EXPRESSION)
    HLA_STATUS_CASE(UNSAFE_PATH)
    HLA_STATUS_CASE(HASH_MISMATCH)
    HLA_STATUS_CASE(ARGUMENT_COUNT)
    HLA_STATUS_CASE(RANK_MISMATCH)
    HLA_STATUS_CASE(DTYPE_MISMATCH)
    HLA_STATUS_CASE(SHAPE_MISMATCH)
    HLA_STATUS_CASE(DIM_MISMATCH)
    HLA_STATUS_CASE(LIMIT)
    HLA_STATUS_CASE(STRIDE)
    HLA_STATUS_CASE(ALIGNMENT)
    HLA_STATUS_CASE(NULL_POINTER)
    HLA_STATUS_CASE(OVERLAP)
    HLA_STATUS_CASE(READ_ONLY)
    HLA_STATUS_CASE(WRONG_DEVICE)
    HLA_STATUS_CASE(SCRATCH)
    HLA_STATUS_CASE(EVALUATION)
    HLA_STATUS_CASE(LAUNCH_LIMIT)
    HLA_STATUS_CASE(CONSTRAINT)
    HLA_STATUS_CASE(LENGTHS)
    HLA_STATUS_CASE(SLOTS)
    HLA_STATUS_CASE(NO_DRIVER)
    HLA_STATUS_CASE(NO_DEVICE)
    HLA_STATUS_CASE(UNSUPPORTED_DEVICE)
    HLA_STATUS_CASE(DRIVER_TOO_OLD)
    HLA_STATUS_CASE(INVALID_KERNEL)
    HLA_STATUS_CASE(DEVICE_OUT_OF_MEMORY)
    HLA_STATUS_CASE(LAUNCH_FAILED)
    HLA_STATUS_CASE(DRIVER_ERROR)
#undef HLA_STATUS_CASE
  }
  return "UNKNOWN";
}

//===----------------------------------------------------------------------===//
// The thread's last failure
//===----------------------------------------------------------------------===//

static thread_local std::string lastMessage;

HlaStatus hla::runtime::setLastFailure(HlaStatus status,
                                       const char *message) noexcept {
  try {
    lastMessage = message;
  } catch (...) {
    lastMessage.clear();
  }
  return status;
}

const char *hla::runtime::getLastMessage() noexcept {
  return lastMessage.c_str();
}
