//===- ScheduleModelTest.cpp - schedules and limits -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

class ScheduleModelTest : public ::testing::Test {
protected:
  ScheduleModelTest()
      : handler(&context, [&](Diagnostic &diagnostic) {
          message = diagnostic.str();
          return success();
        }) {
    context.loadDialect<HLADialect, func::FuncDialect>();
  }

  /// The loop of masked second order: inputs q, k and v, two states.
  FusedScanOp makeMasked(int64_t d, int64_t dv, StringRef type) {
    std::string text = llvm::formatv(
        R"mlir(
!S = tensor<?x?x?x{0}x{2}>
!V = tensor<?x?x?x{1}x{2}>
!s = vector<{0}x{2}>
!v = vector<{1}x{2}>
func.func @f(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {{
  %o = hla.fused_scan ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) carry_in [false, false] carry_out [false, false] {{
  ^bb0(%qt: !s, %kt: !s, %vt: !v, %S: vector<{0}x{0}xf32>, %F: vector<{0}x{1}xf32>):
    %S1, %u = hla.step ins(%qt, %kt, %kt : !s, !s, !s) state(%S : vector<{0}x{0}xf32>) -> vector<{0}xf32>
    %F1, %y = hla.step ins(%qt, %u, %vt : !s, vector<{0}xf32>, !v) state(%F : vector<{0}x{1}xf32>) -> !v
    hla.yield %y, %S1, %F1 : !v, vector<{0}x{0}xf32>, vector<{0}x{1}xf32>
  } -> !V
  return %o : !V
})mlir",
        d, dv, type);
    module = parseSourceString<ModuleOp>(text, &context);
    FusedScanOp found;
    if (module)
      module->walk([&](FusedScanOp op) { found = op; });
    return found;
  }

  ScheduleAttr get(int64_t chunk, int64_t warps, int64_t stages,
                   Precision precision = Precision::BF16) {
    return ScheduleAttr::get(&context, chunk, warps, stages, precision);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string message;
  ScopedDiagnosticHandler handler;
};

TEST_F(ScheduleModelTest, SharedMemory) {
  FusedScanOp op = makeMasked(64, 128, "bf16");
  ASSERT_TRUE(op);
  ScheduleModel model(op, *TargetInfo::lookup("sm_90a"));
  // Rows of q, k, v for each stage; o; scores of both steps; u, which the
  // second step reads.
  auto bytes = [](int64_t chunk, int64_t stages) {
    return 2 * chunk * (stages * (64 + 64 + 128) + 128 + 2 * chunk + 64);
  };
  for (int64_t chunk : {16, 64})
    for (int64_t stages : {1, 2, 3})
      EXPECT_EQ(model.getSharedMemory(get(chunk, 4, stages)),
                bytes(chunk, stages));
  // Eight warps cannot have 16 columns each of the first state.
  EXPECT_EQ(model.getSharedMemory(get(64, 8, 2)), bytes(64, 2) + 2 * 64 * 64);
}

// Inputs in their own type, what warps exchange in that of operands; outputs of
// 32 bits are stored from registers.
TEST_F(ScheduleModelTest, SharedMemoryByPrecision) {
  const TargetInfo &target = *TargetInfo::lookup("sm_90a");
  auto check = [&](StringRef type, Precision precision, int64_t inputBytes,
                   int64_t exchangeBytes, int64_t outputBytes) {
    FusedScanOp op = makeMasked(64, 128, type);
    ASSERT_TRUE(op);
    EXPECT_EQ(
        ScheduleModel(op, target).getSharedMemory(get(32, 4, 2, precision)),
        32 * (2 * (64 + 64 + 128) * inputBytes + (2 * 32 + 64) * exchangeBytes +
              128 * outputBytes));
  };
  check("bf16", Precision::BF16, 2, 2, 2);
  check("bf16", Precision::TF32, 2, 4, 2);
  check("f16", Precision::F16, 2, 4, 2);
  for (Precision precision :
       {Precision::TF32, Precision::BF16x3, Precision::F32})
    check("f32", precision, 4, 4, 0);
}

TEST_F(ScheduleModelTest, StateRegisters) {
  FusedScanOp op = makeMasked(64, 128, "bf16");
  ASSERT_TRUE(op);
  ScheduleModel model(op, *TargetInfo::lookup("sm_90a"));
  for (int64_t warps : {1, 4, 8})
    EXPECT_EQ(model.getStateRegisters(get(64, warps, 2)),
              (64 * 64 + 64 * 128) / (32 * warps));
}

// Every target executes every width and type by its default.
TEST_F(ScheduleModelTest, DefaultsAreAccepted) {
  for (StringRef target :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"})
    for (StringRef type : {"bf16", "f16", "f32"})
      for (int64_t d : {32, 64, 128})
        for (int64_t dv : {32, 64, 128}) {
          FusedScanOp op = makeMasked(d, dv, type);
          ASSERT_TRUE(op);
          const TargetInfo &info = *TargetInfo::lookup(target);
          ScheduleModel model(op, info);
          FailureOr<ScheduleAttr> schedule = model.getDefault();
          ASSERT_TRUE(succeeded(schedule)) << message;
          EXPECT_TRUE(succeeded(model.verify(*schedule))) << message;
          const bool hasGroups =
              target == "sm_90a" && type == "bf16" && std::min(d, dv) >= 64;
          EXPECT_EQ(schedule->getGroups(), hasGroups ? 2 : 0);
          EXPECT_EQ(schedule->getWarps(),
                    hasGroups ? 8 : std::max<int64_t>(std::max(d, dv) / 16, 4));
          EXPECT_LE(model.getSharedMemory(*schedule),
                    info.getSharedMemoryPerBlock(schedule->getBlocks()));
        }
}

// Of the fullest group: each has a state, and the larger one is 64x128.
TEST_F(ScheduleModelTest, StateRegistersOfGroups) {
  FusedScanOp op = makeMasked(64, 128, "bf16");
  ASSERT_TRUE(op);
  ScheduleModel model(op, *TargetInfo::lookup("sm_90a"));
  auto getGroups = [&](int64_t groups) {
    return ScheduleAttr::get(&context, 64, 4 * groups, 2, Precision::BF16,
                             /*slices=*/1, groups, /*blocks=*/1);
  };
  EXPECT_EQ(model.getStateRegisters(getGroups(2)), 64 * 128 / 128);
  EXPECT_EQ(model.getStateRegisters(getGroups(1)), (64 * 64 + 64 * 128) / 128);
}

TEST_F(ScheduleModelTest, CPUTakesEverything) {
  for (auto [type, precision] : {std::pair("bf16", Precision::F32),
                                 {"f16", Precision::F32},
                                 {"f32", Precision::F32}}) {
    FusedScanOp op = makeMasked(7, 1, type);
    ASSERT_TRUE(op);
    ScheduleModel model(op, *TargetInfo::lookup("cpu"));
    FailureOr<ScheduleAttr> schedule = model.getDefault();
    ASSERT_TRUE(succeeded(schedule));
    EXPECT_EQ(schedule->getPrecision(), precision);
    EXPECT_EQ(schedule->getWarps(), 1);
  }
}

TEST_F(ScheduleModelTest, RefusalsSayWhy) {
  const TargetInfo &target = *TargetInfo::lookup("sm_86");
  auto refuses = [&](FusedScanOp op, ScheduleAttr schedule, StringRef part) {
    message.clear();
    EXPECT_TRUE(failed(ScheduleModel(op, target).verify(schedule)));
    EXPECT_NE(message.find(part.str()), std::string::npos) << message;
  };
  refuses(makeMasked(128, 128, "bf16"), get(64, 8, 2), "shared memory");
  refuses(makeMasked(128, 128, "bf16"), get(64, 4, 1), "registers");
  refuses(makeMasked(128, 128, "f16"), get(64, 8, 1), "precision");
  refuses(makeMasked(64, 512, "bf16"), get(64, 4, 1), "head dimensions");
  refuses(makeMasked(64, 64, "f32"), get(64, 4, 1), "input #0 to be bf16");
  refuses(makeMasked(32, 32, "bf16"), get(64, 16, 1), "a state of 32x32");
  // Of scores of 16x16, several warps compute the same.
  EXPECT_TRUE(succeeded(
      ScheduleModel(makeMasked(64, 64, "bf16"), target).verify(get(16, 4, 1))));
}

} // namespace
