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
  for (auto [name, perBlock] : {std::pair("sm_80", 163),
                                {"sm_86", 99},
                                {"sm_89", 99},
                                {"sm_90a", 227},
                                {"sm_100a", 227},
                                {"sm_120a", 99}})
    EXPECT_EQ(TargetInfo::lookup(name)->sharedMemoryPerBlock, perBlock * 1024)
        << name;
}

TEST(TargetInfoTest, Registers) {
  for (llvm::StringRef name : kGPUs) {
    EXPECT_EQ(TargetInfo::lookup(name)->registersPerThread, 255);
    EXPECT_EQ(TargetInfo::lookup(name)->registersPerMultiprocessor, 65536);
    // The most there are, and 65536 / threads, rounded down to a multiple of 8.
    EXPECT_EQ(TargetInfo::lookup(name)->getRegistersPerThread(8), 255);
    EXPECT_EQ(TargetInfo::lookup(name)->getRegistersPerThread(16), 128);
    EXPECT_EQ(TargetInfo::lookup(name)->getRegistersPerThread(8, 2), 128);
    EXPECT_EQ(TargetInfo::lookup(name)->getRegistersPerThread(12), 168);
  }
}

} // namespace

// The system has 1 KiB of each block.
TEST(TargetInfoTest, SharedMemoryOfBlocks) {
  const TargetInfo *info = TargetInfo::lookup("sm_90a");
  EXPECT_EQ(info->getSharedMemoryPerBlock(1), 227 * 1024);
  EXPECT_EQ(info->getSharedMemoryPerBlock(2), 113 * 1024);
  EXPECT_EQ(info->getSharedMemoryPerBlock(4), 56 * 1024);
}

TEST(TargetInfoTest, Select) {
  auto select = [](unsigned major, unsigned minor) {
    const TargetInfo *info = TargetInfo::select(major, minor);
    return info ? info->arch.str() : std::string();
  };
  EXPECT_EQ(select(7, 5), "");
  EXPECT_EQ(select(8, 0), "sm_80");
  EXPECT_EQ(select(8, 7), "sm_86");
  EXPECT_EQ(select(9, 0), "sm_90a");
  // No code for a specific architecture runs on another one.
  EXPECT_EQ(select(10, 3), "sm_89");
  EXPECT_EQ(select(12, 0), "sm_120a");
}
