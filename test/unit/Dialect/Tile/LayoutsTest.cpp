//===- LayoutsTest.cpp - fragments and tiles in shared memory ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::hla::tile;

namespace {

class LayoutsTest : public ::testing::Test {
protected:
  LayoutsTest() : b(&context) { context.loadDialect<HLATileDialect>(); }

  FragAttr frag(int64_t rowWarps, int64_t colWarps, bool transposed) {
    return FragAttr::get(&context, rowWarps, colWarps, transposed);
  }
  bool accepts(VerifiableTensorEncoding layout, ArrayRef<int64_t> shape,
               Type elementType) {
    ScopedDiagnosticHandler silence(&context,
                                    [](Diagnostic &) { return success(); });
    Location loc = UnknownLoc::get(&context);
    return succeeded(layout.verifyEncoding(shape, elementType,
                                           [&] { return emitError(loc); }));
  }

  MLIRContext context;
  Builder b;
};

TEST_F(LayoutsTest, Stored) {
  using Stored = std::pair<int64_t, int64_t>;
  EXPECT_EQ(frag(1, 1, false).getStored({64, 128}), Stored(64, 128));
  EXPECT_EQ(frag(1, 1, true).getStored({64, 128}), Stored(128, 64));
  EXPECT_EQ(SmemAttr::get(&context, Order::Row).getStored({64, 128}),
            Stored(64, 128));
  EXPECT_EQ(SmemAttr::get(&context, Order::Col).getStored({64, 128}),
            Stored(128, 64));
}

TEST_F(LayoutsTest, Registers) {
  auto registers = [&](ArrayRef<int64_t> shape, Type type, FragAttr layout) {
    return FragAttr::getRegisters(RankedTensorType::get(shape, type, layout));
  };
  // All threads have the same, and together all of the tile.
  for (auto [rowWarps, colWarps] : {std::pair(1, 1), {4, 1}, {2, 4}, {8, 2}})
    for (bool transposed : {false, true}) {
      FragAttr layout = frag(rowWarps, colWarps, transposed);
      const int64_t threads = 32 * layout.getWarps();
      EXPECT_EQ(layout.getWarps(), rowWarps * colWarps);
      EXPECT_EQ(registers({128, 128}, b.getF32Type(), layout) * threads,
                128 * 128);
      EXPECT_EQ(registers({128, 128}, b.getBF16Type(), layout) * threads,
                128 * 128 / 2);
      EXPECT_EQ(registers({128, 128}, b.getTF32Type(), layout) * threads,
                128 * 128);
      EXPECT_EQ(registers({128, 128}, b.getF64Type(), layout) * threads,
                128 * 128 * 2);
    }
}

// Every warp has whole pieces of 16×8 of the stored tile.
TEST_F(LayoutsTest, FragmentShapes) {
  Type f32 = b.getF32Type();
  EXPECT_TRUE(accepts(frag(1, 1, false), {16, 8}, f32));
  EXPECT_FALSE(accepts(frag(1, 1, false), {8, 16}, f32));
  EXPECT_TRUE(accepts(frag(1, 1, true), {8, 16}, f32));
  EXPECT_TRUE(accepts(frag(4, 2, false), {64, 16}, f32));
  EXPECT_FALSE(accepts(frag(4, 2, false), {64, 8}, f32));
  EXPECT_FALSE(accepts(frag(4, 2, false), {32, 16}, f32));
  EXPECT_FALSE(accepts(frag(1, 1, false), {24, 8}, f32));
  EXPECT_FALSE(accepts(frag(1, 1, false), {16}, f32));
}

// Rows of whole pieces of 16 bytes, eight at a time.
TEST_F(LayoutsTest, SharedMemoryShapes) {
  auto row = SmemAttr::get(&context, Order::Row),
       col = SmemAttr::get(&context, Order::Col);
  EXPECT_TRUE(accepts(row, {8, 16}, b.getF16Type()));
  EXPECT_FALSE(accepts(col, {8, 16}, b.getF16Type()));
  EXPECT_TRUE(accepts(col, {16, 8}, b.getBF16Type()));
  EXPECT_FALSE(accepts(row, {8, 24}, b.getF16Type()));
  EXPECT_TRUE(accepts(row, {8, 16}, b.getF32Type()));
  EXPECT_TRUE(accepts(row, {8, 16}, b.getTF32Type()));
  EXPECT_FALSE(accepts(row, {8, 24}, b.getF32Type()));
  EXPECT_FALSE(accepts(row, {8, 16}, b.getF64Type()));
  EXPECT_FALSE(accepts(row, {2, 8, 16}, b.getF16Type()));
}

} // namespace
