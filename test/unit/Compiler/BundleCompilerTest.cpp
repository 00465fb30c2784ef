//===- BundleCompilerTest.cpp - bundles, as they are read -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoadedBundleTest.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

class BundleCompilerTest : public LoadedBundleTest {
protected:
  /// What the schedule of the program's only loop needs of sm_90a.
  int64_t getModelledSharedMemory() {
    PassManager pm(&context);
    pm.addPass(createHLADecomposeOperators());
    pm.addPass(createHLAFuseScans());
    pm.addPass(createHLAAssignSchedule({"sm_90a"}));
    EXPECT_TRUE(succeeded(pm.run(*module)));
    int64_t bytes = 0;
    module->walk([&](FusedScanOp op) {
      bytes += ScheduleModel(op, *TargetInfo::lookup("sm_90a"))
                   .getSharedMemory(*op.getSchedule());
    });
    return bytes;
  }
};

TEST_F(BundleCompilerTest, Manifest) {
  bundle = get("masked", "sm_89");
  ASSERT_TRUE(bundle);
  EXPECT_EQ(bundle->entry, "masked");
  EXPECT_FALSE(bundle->cubin);
  const llvm::json::Object &manifest = bundle->manifest;
  auto text = [&](StringRef key) { return toText(manifest.get(key)); };
  EXPECT_EQ(text("format"), "\"hla-bundle\"");
  EXPECT_EQ(text("abi_version"), "2");
  EXPECT_EQ(text("entry"), "\"masked\"");
  constexpr llvm::StringLiteral kTarget =
      R"({"arch":"sm_89","compute_capability":[8,9],"forward_compatible":true,"ptx_isa":"8.7"})";
  constexpr llvm::StringLiteral kDims = R"(["B","T","H"])";
  constexpr llvm::StringLiteral kLimits =
      R"({"B":[0,1073741824],"H":[0,65535],"T":[0,1073741824]})";
  constexpr llvm::StringLiteral kScratch = R"({"alignment":256,"bytes":"0"})";
  EXPECT_EQ(text("target"), kTarget);
  EXPECT_EQ(text("dims"), kDims);
  EXPECT_EQ(text("limits"), kLimits);
  EXPECT_EQ(text("scratch"), kScratch);
  auto argument = [](StringRef name, StringRef access, int64_t width) {
    return llvm::formatv(R"({{"access":"{1}","alignment":16,"dtype":"bf16",)"
                         R"("name":"{0}","shape":["B","T","H",{2}],)"
                         R"("stride_multiple":8})",
                         name, access, width)
        .str();
  };
  EXPECT_EQ(text("arguments"), "[" + argument("q", "read", 64) + "," +
                                   argument("k", "read", 64) + "," +
                                   argument("v", "read", 32) + "," +
                                   argument("o", "write", 32) + "]");

  const llvm::json::Array &launches = *manifest.getArray("launches");
  ASSERT_EQ(launches.size(), 1u);
  const llvm::json::Object &launch = *launches.front().getAsObject();
  constexpr llvm::StringLiteral kGrid = R"(["B","H","1"])";
  EXPECT_EQ(toText(launch.get("kernel")), "\"masked_kernel\"");
  EXPECT_EQ(toText(launch.get("grid")), kGrid);
  EXPECT_EQ(toText(launch.get("block")), "[128,1,1]");
  EXPECT_EQ(toText(launch.get("cluster")), "[1,1,1]");
}

// A kernel has as many parameters as the manifest gives it.
TEST_F(BundleCompilerTest, ParametersAreThoseOfTheKernel) {
  for (StringRef entry : {"masked", "carried", "two_kernels", "one_chunk"}) {
    bundle = get(entry, "sm_90a");
    ASSERT_TRUE(bundle);
    for (const llvm::json::Value &value :
         *bundle->manifest.getArray("launches")) {
      const llvm::json::Object &launch = *value.getAsObject();
      std::string begin = (".entry " + *launch.getString("kernel") + "(").str();
      StringRef code = StringRef(bundle->ptx).split(begin).second;
      ASSERT_FALSE(code.empty()) << begin;
      EXPECT_EQ(code.split(')').first.count(".param "),
                launch.getArray("parameters")->size())
          << begin;
    }
  }
}

TEST_F(BundleCompilerTest, Loads) {
  for (StringRef target :
       {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"}) {
    ASSERT_NO_FATAL_FAILURE(load("masked", target));
    HlaTargetInfo info;
    ASSERT_EQ(hlaBundleGetTarget(loaded, &info), HLA_STATUS_OK);
    EXPECT_EQ(info.arch, target);
    EXPECT_EQ(info.forwardCompatible, !target.ends_with("a"));
    EXPECT_FALSE(info.hasCubin);
    EXPECT_STREQ(hlaBundleGetEntry(loaded), "masked");
    hlaBundleDestroy(loaded);
    loaded = nullptr;
  }
}

TEST_F(BundleCompilerTest, ArgumentsAreChecked) {
  ASSERT_NO_FATAL_FAILURE(load("masked", "sm_80"));
  std::vector<Tensor> tensors = {{1 << 20, kBF16, {2, 7, 3, 64}},
                                 {2 << 20, kBF16, {2, 7, 3, 64}},
                                 {3 << 20, kBF16, {2, 7, 3, 32}},
                                 {4 << 20, kBF16, {2, 7, 3, 32}}};
  int64_t dims[3];
  ASSERT_EQ(check(tensors, dims), HLA_STATUS_OK) << hlaGetLastErrorMessage();
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 7);
  EXPECT_EQ(dims[2], 3);

  std::vector<Tensor> longer = tensors;
  longer[2].shape[1] = 8;
  EXPECT_EQ(check(longer, nullptr), HLA_STATUS_DIM_MISMATCH);
  std::vector<Tensor> wider = tensors;
  wider[3].shape[3] = 64;
  EXPECT_EQ(check(wider, nullptr), HLA_STATUS_SHAPE_MISMATCH);
  std::vector<Tensor> misaligned = tensors;
  misaligned[0].view.data = reinterpret_cast<void *>((1 << 20) + 8);
  EXPECT_EQ(check(misaligned, nullptr), HLA_STATUS_ALIGNMENT);
  std::vector<Tensor> overlapping = tensors;
  overlapping[3].view.data = overlapping[2].view.data;
  EXPECT_EQ(check(overlapping, nullptr), HLA_STATUS_OVERLAP);
}

TEST_F(BundleCompilerTest, StateInPlace) {
  ASSERT_NO_FATAL_FAILURE(load("carried", "sm_90a"));
  ASSERT_EQ(hlaBundleGetNumArguments(loaded), 4u);
  constexpr HlaAccess kAccesses[] = {HLA_ACCESS_READ, HLA_ACCESS_READ,
                                     HLA_ACCESS_READ_WRITE, HLA_ACCESS_WRITE};
  for (auto [i, access] : llvm::enumerate(kAccesses)) {
    HlaArgumentInfo info;
    ASSERT_EQ(hlaBundleGetArgument(loaded, i, &info), HLA_STATUS_OK);
    EXPECT_EQ(info.access, access) << info.name;
  }
  std::vector<Tensor> tensors = {{1 << 20, kBF16, {2, 0, 3, 64}},
                                 {2 << 20, kBF16, {2, 0, 3, 32}},
                                 {3 << 20, kF32, {2, 3, 64, 32}},
                                 {4 << 20, kBF16, {2, 0, 3, 32}}};
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_OK) << hlaGetLastErrorMessage();
  tensors[2].shape[1] = 4;
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_DIM_MISMATCH);
}

// What one kernel hands to the next is in scratch.
TEST_F(BundleCompilerTest, Scratch) {
  ASSERT_NO_FATAL_FAILURE(load("two_kernels", "sm_90a"));
  EXPECT_EQ(bundle->manifest.getArray("launches")->size(), 2u);
  for (int64_t tokens : {0, 1, 100}) {
    std::vector<HlaTensor> views;
    std::vector<Tensor> tensors = {{1 << 20, kBF16, {2, tokens, 3, 32}},
                                   {2 << 20, kBF16, {2, tokens, 3, 32}}};
    for (const Tensor &tensor : tensors)
      views.push_back(tensor.get());
    size_t bytes = 1;
    ASSERT_EQ(hlaBundleGetScratchBytes(loaded, views.data(), 2, &bytes),
              HLA_STATUS_OK)
        << hlaGetLastErrorMessage();
    EXPECT_EQ(bytes, llvm::alignTo(2 * tokens * 3 * 32 * 2, 256)) << tokens;
  }
}

// Heads are y of the grid, batches x; a name alone is limited by it.
TEST_F(BundleCompilerTest, LimitsAreThoseOfTheGrid) {
  ASSERT_NO_FATAL_FAILURE(load("two_kernels", "sm_80"));
  for (int64_t i = 0; i < 3; ++i) {
    HlaDimInfo info;
    ASSERT_EQ(hlaBundleGetDim(loaded, i, &info), HLA_STATUS_OK);
    EXPECT_EQ(info.maximum, i == 2 ? 65535 : 1 << 30) << info.name;
  }
  std::vector<Tensor> tensors = {{1 << 20, kBF16, {1, 1, 65536, 32}},
                                 {2 << 20, kBF16, {1, 1, 65536, 32}}};
  EXPECT_EQ(check(tensors, nullptr), HLA_STATUS_LIMIT);
}

TEST_F(BundleCompilerTest, StaticExtents) {
  ASSERT_NO_FATAL_FAILURE(load("one_chunk", "sm_86"));
  ASSERT_EQ(hlaBundleGetNumDims(loaded), 1u);
  HlaDimInfo dim;
  ASSERT_EQ(hlaBundleGetDim(loaded, 0, &dim), HLA_STATUS_OK);
  EXPECT_STREQ(dim.name, "H");
  HlaArgumentInfo info;
  ASSERT_EQ(hlaBundleGetArgument(loaded, 0, &info), HLA_STATUS_OK);
  EXPECT_EQ(info.extents[1], 16);
  EXPECT_EQ(info.extents[2], -1);
}

// A program is compiled the same each time, and left as it is.
TEST_F(BundleCompilerTest, IsRepeatable) {
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  };
  std::string before = print();
  std::optional<Bundle> first = get("masked", "sm_90a");
  std::optional<Bundle> second = get("masked", "sm_90a");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->ptx, second->ptx);
  EXPECT_TRUE(first->manifest == second->manifest);
  EXPECT_EQ(print(), before);
}

// The model of schedules knows an upper bound of what a kernel needs.
TEST_F(BundleCompilerTest, SharedMemoryIsWithinTheModel) {
  for (StringRef operation :
       {"hla.second_order", "hla.second_order variant(prefix)",
        "hla.scan decay(0.5)", "hla.scan exclusive reverse decay(0.5)"})
    for (int64_t d : {32, 64, 128})
      for (int64_t dv : {32, 64, 128}) {
        ASSERT_NO_FATAL_FAILURE(parse(llvm::formatv(
                                          R"mlir(
!S = tensor<?x?x?x{0}xbf16>
!V = tensor<?x?x?x{1}xbf16>
func.func @f(%q: !S, %k: !S, %v: !V, %e: !V) -> !V {{
  %o = {2} ins(%q, %k, %v : !S, !S, !V) outs(%e : !V) -> !V
  return %o : !V
})mlir",
                                          d, dv, operation)
                                          .str()));
        bundle = get("f", "sm_90a");
        ASSERT_TRUE(bundle);
        int64_t needed = 0;
        ASSERT_FALSE(bundle->manifest.getArray("launches")
                         ->front()
                         .getAsObject()
                         ->getString("dynamic_shared_memory")
                         ->getAsInteger(10, needed));
        EXPECT_LE(needed, getModelledSharedMemory())
            << operation.str() << " " << d << " " << dv;
      }
}

} // namespace
