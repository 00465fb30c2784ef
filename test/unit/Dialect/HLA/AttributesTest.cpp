//===- AttributesTest.cpp - the target and the schedule ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

class AttributesTest : public ::testing::Test {
protected:
  AttributesTest()
      : handler(&context, [&](Diagnostic &diagnostic) {
          message = diagnostic.str();
          return success();
        }) {
    context.loadDialect<HLADialect>();
  }

  /// A schedule, or null and a message.
  ScheduleAttr get(int64_t chunk, int64_t warps, int64_t stages) {
    message.clear();
    Location loc = UnknownLoc::get(&context);
    return ScheduleAttr::getChecked([&] { return emitError(loc); }, &context,
                                    chunk, warps, stages, Precision::BF16);
  }

  MLIRContext context;
  std::string message;
  ScopedDiagnosticHandler handler;
};

TEST_F(AttributesTest, Target) {
  auto target = TargetAttr::get(&context, "sm_90a");
  EXPECT_EQ(&target.getInfo(), TargetInfo::lookup("sm_90a"));
  Location loc = UnknownLoc::get(&context);
  EXPECT_FALSE(TargetAttr::getChecked([&] { return emitError(loc); }, &context,
                                      StringRef("sm_91")));
  EXPECT_EQ(message, "expected a known target (one of " +
                         TargetInfo::getNames() + "), but got 'sm_91'");
}

TEST_F(AttributesTest, ScheduleLimits) {
  for (int64_t chunk : {16, 32, 64, 128, 256})
    EXPECT_TRUE(get(chunk, 4, 2)) << chunk;
  for (int64_t chunk : {-16, 0, 1, 8, 24, 512})
    EXPECT_FALSE(get(chunk, 4, 2)) << chunk;
  for (int64_t warps : {1, 2, 4, 8, 16})
    EXPECT_TRUE(get(64, warps, 2)) << warps;
  for (int64_t warps : {-1, 0, 3, 32})
    EXPECT_FALSE(get(64, warps, 2)) << warps;
  for (int64_t stages : {1, 8})
    EXPECT_TRUE(get(64, 4, stages)) << stages;
  for (int64_t stages : {-1, 0, 9})
    EXPECT_FALSE(get(64, 4, stages)) << stages;
}

TEST_F(AttributesTest, ScheduleTypes) {
  Builder b(&context);
  auto check = [&](Precision precision, Type operand, Type accumulator) {
    auto schedule = ScheduleAttr::get(&context, 64, 4, 2, precision);
    EXPECT_EQ(schedule.getOperandType(), operand);
    EXPECT_EQ(schedule.getAccumulatorType(), accumulator);
  };
  check(Precision::BF16, b.getBF16Type(), b.getF32Type());
  // What a chunk computes from f16 may leave its range.
  check(Precision::F16, b.getTF32Type(), b.getF32Type());
  check(Precision::TF32, b.getTF32Type(), b.getF32Type());
  check(Precision::BF16x3, b.getF32Type(), b.getF32Type());
  check(Precision::F32, b.getF32Type(), b.getF32Type());
  check(Precision::F64, b.getF64Type(), b.getF64Type());
}

} // namespace
