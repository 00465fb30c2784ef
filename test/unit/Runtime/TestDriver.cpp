//===- TestDriver.cpp - Steers the stand-in for the CUDA driver -*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestDriver.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>
#include <sstream>

using namespace hla::runtime::test;

namespace {

// Before any test opens the driver; also in the process of a death test.
const bool environmentIsSet = [] {
  setenv("HLA_CUDA_LIBRARY", HLA_FAKE_CUDA_LIBRARY, /*overwrite=*/1);
  return true;
}();

template <typename Function> Function *find(const char *symbol) {
  static void *library = dlopen(HLA_FAKE_CUDA_LIBRARY, RTLD_NOW);
  void *result = library ? dlsym(library, symbol) : nullptr;
  if (!result) {
    ADD_FAILURE() << "no " << symbol << " in " << HLA_FAKE_CUDA_LIBRARY;
    std::abort();
  }
  return reinterpret_cast<Function *>(result);
}

} // namespace

TestDriver::TestDriver() { find<void()>("fakeReset")(); }

TestDriver::~TestDriver() { find<void()>("fakeReset")(); }

void TestDriver::set(const char *name, int value) {
  find<void(const char *, int)>("fakeSet")(name, value);
}

void TestDriver::fail(const char *symbol, int result) {
  find<void(const char *, int)>("fakeFail")(symbol, result);
}

int TestDriver::getNumAllocations() {
  return find<int()>("fakeGetNumAllocations")();
}

int TestDriver::getNumModules() { return find<int()>("fakeGetNumModules")(); }

int TestDriver::getContextDepth() {
  return find<int()>("fakeGetContextDepth")();
}

void *TestDriver::pushContext(int device) {
  return find<void *(int)>("fakePushContext")(device);
}

void TestDriver::destroyContext(void *context) {
  find<void(void *)>("fakeDestroyContext")(context);
}

std::string TestDriver::getLog() {
  return find<const char *()>("fakeGetLog")();
}

int TestDriver::count(const std::string &symbol) {
  std::istringstream log(getLog());
  int result = 0;
  for (std::string line; std::getline(log, line);)
    result += line.substr(0, line.find(' ')) == symbol;
  return result;
}

std::vector<LaunchRecord> TestDriver::getLaunches() {
  return getRecords("cuLaunchKernel");
}

std::vector<TensorMapRecord> TestDriver::getTensorMaps() {
  return getRecords("cuTensorMapEncodeTiled");
}

std::vector<std::map<std::string, std::string>>
TestDriver::getRecords(const std::string &prefix) {
  std::istringstream log(getLog());
  std::vector<std::map<std::string, std::string>> records;
  for (std::string line; std::getline(log, line);) {
    if (line.rfind(prefix, 0) != 0)
      continue;
    std::istringstream fields(line);
    std::map<std::string, std::string> record;
    fields >> record["symbol"];
    for (std::string field; fields >> field;)
      record[field.substr(0, field.find('='))] =
          field.substr(field.find('=') + 1);
    records.push_back(record);
  }
  return records;
}
