//===- TestDriver.h - Steers the stand-in for the CUDA driver ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TEST_UNIT_RUNTIME_TESTDRIVER_H
#define HLA_TEST_UNIT_RUNTIME_TESTDRIVER_H

#include <map>
#include <string>
#include <vector>

namespace hla::runtime::test {

/// One recorded launch, field by field: "grid" is "4,1,1", "parameters" the
/// bytes of each in hexadecimal.
using LaunchRecord = std::map<std::string, std::string>;

/// One recorded call of cuTensorMapEncodeTiled, field by field: "extents" is
/// "64,3,100,2".
using TensorMapRecord = std::map<std::string, std::string>;

/// The stand-in, fresh for the scope of this object.
class TestDriver {
public:
  TestDriver();
  ~TestDriver();

  void set(const char *name, int value);
  void fail(const char *symbol, int result);
  int getNumAllocations();
  int getNumModules();
  int getContextDepth();
  void *pushContext(int device);
  void destroyContext(void *context);

  /// The calls so far, one a line.
  std::string getLog();
  /// How often `symbol` was called.
  int count(const std::string &symbol);
  std::vector<LaunchRecord> getLaunches();
  std::vector<TensorMapRecord> getTensorMaps();

private:
  /// The fields of each logged call of a symbol that begins with `prefix`.
  std::vector<std::map<std::string, std::string>>
  getRecords(const std::string &prefix);
};

/// The bytes of `value` as the log shows them.
template <typename T> std::string hex(T value) {
  const auto *bytes = reinterpret_cast<const unsigned char *>(&value);
  std::string text;
  for (size_t i = 0; i < sizeof(T); ++i) {
    text += "0123456789abcdef"[bytes[i] >> 4];
    text += "0123456789abcdef"[bytes[i] & 15];
  }
  return text;
}

} // namespace hla::runtime::test

#endif // HLA_TEST_UNIT_RUNTIME_TESTDRIVER_H
