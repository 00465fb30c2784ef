//===- Guard.h - The wall between C++ and C ---------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_GUARD_H
#define HLA_LIB_RUNTIME_GUARD_H

#include "Error.h"

#include <new>

namespace hla::runtime {

/// Keeps the message for hlaGetLastErrorMessage and returns the status.
HlaStatus setLastFailure(HlaStatus status, const char *message) noexcept;
const char *getLastMessage() noexcept;

/// Runs the body of a C function: no exception leaves it.
template <typename Body> HlaStatus guard(Body &&body) noexcept {
  try {
    body();
    return HLA_STATUS_OK;
  } catch (const Failure &failure) {
    return setLastFailure(failure.getStatus(), failure.what());
  } catch (const std::bad_alloc &) {
    return setLastFailure(HLA_STATUS_OUT_OF_MEMORY,
                          "expected enough host memory, but got none");
  } catch (const std::exception &error) {
    return setLastFailure(HLA_STATUS_INTERNAL, error.what());
  } catch (...) {
    return setLastFailure(HLA_STATUS_INTERNAL, "unknown exception");
  }
}

inline void requireNonNull(const void *pointer, const char *name) {
  if (!pointer)
    throw Failure(HLA_STATUS_INVALID_ARGUMENT,
                  std::string("expected a non-null '") + name +
                      "', but got null");
}

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_GUARD_H
