//===- TargetInfoTest.cpp - limits of the targets ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Target/TargetInfo.h"
#include "gtest/gtest.h"
#include <tuple>

using namespace mlir::hla;

namespace {

constexpr llvm::StringLiteral kGPUs[] = {"sm_80",  "sm_86",   "sm_89",
                                         "sm_90a", "sm_100a", "sm_120a"};

TEST(TargetInfoTest, Names) {
  EXPECT_EQ(TargetInfo::getNames(),
            "cpu, sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120a");
  for (llvm::StringRef name : {"", "sm_90", "sm_80a", "SM_80", "sm_8", "cuda"})
    EXPECT_EQ(TargetInfo::lookup(name), nullptr) << name.str();
}

TEST(TargetInfoTest, LookupIsByName) {
  for (llvm::StringRef name : kGPUs) {
    const TargetInfo *info = TargetInfo::lookup(name);
    ASSERT_NE(info, nullptr) << name.str();
    EXPECT_EQ(info->arch, name);
    EXPECT_EQ(TargetInfo::lookup(name), info);
  }
}

TEST(TargetInfoTest, CPU) {
  const TargetInfo *cpu = TargetInfo::lookup("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_FALSE(cpu->isGPU);
}

// A name says its capability, and by its suffix what its PTX runs on.
TEST(TargetInfoTest, CapabilityIsThatOfTheName) {
  for (llvm::StringRef name : kGPUs) {
    const TargetInfo &info = *TargetInfo::lookup(name);
    EXPECT_TRUE(info.isGPU);
    llvm::StringRef digits = name.drop_front(3);
    bool isSpecific = digits.consume_back("a");
    EXPECT_EQ(digits, std::to_string(10 * info.major + info.minor));
    EXPECT_EQ(info.forwardCompatible, !isSpecific) << name.str();
    EXPECT_EQ(info.hasStmatrix, info.major >= 9) << name.str();
  }
}

TEST(TargetInfoTest, SharedMemory) {
  for (auto [name, perBlock, perMultiprocessor] :
       {std::tuple("sm_80", 163, 164),
        {"sm_86", 99, 100},
        {"sm_89", 99, 100},
        {"sm_90a", 227, 228},
        {"sm_100a", 227, 228},
        {"sm_120a", 99, 100}}) {
    const TargetInfo &info = *TargetInfo::lookup(name);
    EXPECT_EQ(info.sharedMemoryPerBlock, perBlock * 1024) << name;
    EXPECT_EQ(info.sharedMemoryPerMultiprocessor, perMultiprocessor * 1024)
        << name;
  }
}

TEST(TargetInfoTest, Registers) {
  for (llvm::StringRef name : kGPUs) {
    EXPECT_EQ(TargetInfo::lookup(name)->registersPerThread, 255);
    EXPECT_EQ(TargetInfo::lookup(name)->registersPerMultiprocessor, 65536);
  }
}

} // namespace
