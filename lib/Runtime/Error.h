//===- Error.h - Failures inside the runtime --------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_ERROR_H
#define HLA_LIB_RUNTIME_ERROR_H

#include "hla-c/Runtime.h"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace hla::runtime {

/// A failure on its way to the C interface, which turns it into a status and
/// the thread's last message.
class Failure : public std::exception {
public:
  Failure(HlaStatus status, std::string message)
      : status(status), message(std::move(message)) {}

  HlaStatus getStatus() const { return status; }
  const std::string &getMessage() const { return message; }
  const char *what() const noexcept override { return message.c_str(); }

private:
  HlaStatus status;
  std::string message;
};

/// Text from outside made fit for a message: quoted with ', control and
/// non-ASCII bytes escaped, cut to a line's length.
std::string quote(std::string_view text);

/// An address for messages: "0x7f00".
std::string toHex(uint64_t value);

const char *getStatusName(HlaStatus status);

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_ERROR_H
