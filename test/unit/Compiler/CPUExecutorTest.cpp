//===- CPUExecutorTest.cpp - running entry functions on views ---*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Compiler/CPUExecutor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <thread>

using namespace mlir;
using namespace mlir::hla;

namespace {

constexpr llvm::StringLiteral kProgram = R"mlir(
!S = tensor<?x?x?x8xf32>
func.func @scan(%q: !S {hla.name = "q"}, %k: !S {hla.name = "k"},
                %v: !S {hla.name = "v"}, %o: !S {hla.name = "o"}) -> !S {
  %r = hla.scan ins(%q, %k, %v : !S, !S, !S) outs(%o : !S) -> !S
  return %r : !S
}

func.func @grouped(%q: !S {hla.name = "q"}, %k: !S {hla.name = "k"},
                   %o: !S {hla.name = "o"}) -> !S {
  %r = hla.scan groups([1, 3, 3]) ins(%q, %k, %k : !S, !S, !S) outs(%o : !S) -> !S
  return %r : !S
}

!P = tensor<1x?x?x8xf32>
!States = tensor<?x?x8x8xf32>
func.func @packed(%q: !P {hla.name = "q"}, %c: tensor<?xi32> {hla.name = "c"},
                  %s: !States {hla.name = "s"}, %o: !P {hla.name = "o"}) -> !P {
  %r = hla.scan ins(%q, %q, %q : !P, !P, !P) lengths(%c : tensor<?xi32>) carry(%s : !States) outs(%o : !P) -> !P
  return %r : !P
}
)mlir";

constexpr int64_t kBatches = 2, kTokens = 37, kHeads = 3, kWidth = 8;
constexpr int64_t kSize = kBatches * kTokens * kHeads * kWidth;

/// A [B,T,H,D] tensor somewhere in memory that is otherwise filled with -7.
struct Buffer {
  explicit Buffer(ArrayRef<int64_t> strides)
      : strides(strides), data(4 * kSize, -7.0f) {}

  float &at(int64_t b, int64_t t, int64_t h, int64_t i) {
    return data[b * strides[0] + t * strides[1] + h * strides[2] + i];
  }
  StridedView view() {
    return {data.data(), {kBatches, kTokens, kHeads, kWidth}, strides};
  }
  /// Writes `value(b, t, h, i)` everywhere.
  template <typename F> void fill(F value) {
    forEach([&](int64_t b, int64_t t, int64_t h, int64_t i) {
      at(b, t, h, i) = value(b, t, h, i);
    });
  }
  template <typename F> static void forEach(F body) {
    for (int64_t b = 0; b < kBatches; ++b)
      for (int64_t t = 0; t < kTokens; ++t)
        for (int64_t h = 0; h < kHeads; ++h)
          for (int64_t i = 0; i < kWidth; ++i)
            body(b, t, h, i);
  }

  SmallVector<int64_t> strides;
  std::vector<float> data;
};

const int64_t kDense[] = {kTokens * kHeads * kWidth, kHeads *kWidth, kWidth, 1};
/// Heads outermost, rows 3 elements apart.
const int64_t kStrided[] = {kTokens * 11, 11, kBatches * kTokens * 11, 1};

class CPUExecutorTest : public ::testing::Test {
protected:
  CPUExecutorTest() : context(makeRegistry()) {}

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerCPUExecutorDialects(registry);
    return registry;
  }

  llvm::Expected<std::unique_ptr<CPUExecutor>>
  compile(StringRef program, StringRef entry, StringRef target = "cpu") {
    auto module = parseSourceString<ModuleOp>(program, &context);
    HLAToCPUPipelineOptions options;
    options.parallel = CPUParallel::Serial;
    options.scheduleTarget = target.str();
    return CPUExecutor::create(*module, entry, options);
  }

  MLIRContext context;
};

float query(int64_t b, int64_t t, int64_t h, int64_t i) {
  return std::sin(static_cast<float>(b + 3 * t + 5 * h + 7 * i));
}
float key(int64_t b, int64_t t, int64_t h, int64_t i) {
  return std::cos(static_cast<float>(2 * b + t + 4 * h + 3 * i));
}
float value(int64_t b, int64_t t, int64_t h, int64_t i) {
  return std::sin(static_cast<float>(b * t + h - i));
}

/// y_t = Σ_{s ≤ t} (q_t · k_s) v_s.
double expected(int64_t b, int64_t t, int64_t h, int64_t j) {
  double sum = 0;
  for (int64_t s = 0; s <= t; ++s) {
    double score = 0;
    for (int64_t i = 0; i < kWidth; ++i)
      score += static_cast<double>(query(b, t, h, i)) * key(b, s, h, i);
    sum += score * value(b, s, h, j);
  }
  return sum;
}

TEST_F(CPUExecutorTest, DenseAndStridedViews) {
  auto executor = compile(kProgram, "scan");
  ASSERT_TRUE(static_cast<bool>(executor))
      << llvm::toString(executor.takeError());
  for (ArrayRef<int64_t> inStrides : {ArrayRef(kDense), ArrayRef(kStrided)})
    for (ArrayRef<int64_t> outStrides :
         {ArrayRef(kDense), ArrayRef(kStrided)}) {
      Buffer q(inStrides), k(outStrides), v(inStrides), o(outStrides);
      q.fill(query);
      k.fill(key);
      v.fill(value);
      llvm::Error error =
          (*executor)->run({q.view(), k.view(), v.view(), o.view()});
      ASSERT_FALSE(static_cast<bool>(error))
          << llvm::toString(std::move(error));
      double difference = 0, norm = 0;
      Buffer::forEach([&](int64_t b, int64_t t, int64_t h, int64_t i) {
        double reference = expected(b, t, h, i);
        difference += std::pow(o.at(b, t, h, i) - reference, 2);
        norm += reference * reference;
      });
      EXPECT_LT(std::sqrt(difference / norm), 1e-6);
      // Nothing between the rows is written.
      int64_t untouched = llvm::count(o.data, -7.0f);
      EXPECT_EQ(untouched, static_cast<int64_t>(o.data.size()) - kSize);
    }
}

TEST_F(CPUExecutorTest, SeveralThreads) {
  auto executor = compile(kProgram, "scan");
  ASSERT_TRUE(static_cast<bool>(executor))
      << llvm::toString(executor.takeError());
  Buffer q(kDense), k(kDense), v(kDense), o(kDense), p(kDense);
  q.fill(query);
  k.fill(key);
  v.fill(value);
  auto run = [&](Buffer &output) {
    for (int i = 0; i < 20; ++i)
      llvm::cantFail(
          (*executor)->run({q.view(), k.view(), v.view(), output.view()}));
  };
  std::thread other([&] { run(p); });
  run(o);
  other.join();
  EXPECT_EQ(o.data, p.data);
}

TEST_F(CPUExecutorTest, WrongArguments) {
  auto executor = compile(kProgram, "scan");
  ASSERT_TRUE(static_cast<bool>(executor))
      << llvm::toString(executor.takeError());
  Buffer q(kDense);
  auto message = [&](auto change) {
    SmallVector<StridedView> views(4, q.view());
    change(views);
    llvm::Error error = (*executor)->run(views);
    return error ? llvm::toString(std::move(error)) : std::string("no error");
  };
  using Views = SmallVector<StridedView>;
  EXPECT_EQ(message([](Views &v) { v.pop_back(); }),
            "expected 4 arguments, but got 3");
  EXPECT_EQ(message([](Views &v) { v[1].shape.pop_back(); }),
            "expected 'k' to have rank 4, but got 3");
  EXPECT_EQ(message([](Views &v) { v[1].shape[3] = 9; }),
            "expected dimension 3 of 'k' to be 8, but got 9");
  EXPECT_EQ(message([](Views &v) { v[2].shape[1] = 36; }),
            "expected dimension 1 of 'v' to be T = 37, but got 36");
  EXPECT_EQ(message([](Views &v) { v[3].shape[0] = -1; }),
            "expected dimension 0 of 'o' to be B = 2, but got -1");
  EXPECT_EQ(
      message([](Views &v) { v[0].strides[3] = 2; }),
      "expected the last stride of 'q' to be 1 (rows are contiguous), but "
      "got 2");
  EXPECT_EQ(message([](Views &v) { v[3].data = nullptr; }),
            "expected 'o' to have data, but got a null pointer");
}

// Extents that the function ties are refused before anything runs.
TEST_F(CPUExecutorTest, Constraints) {
  std::vector<float> memory(4096, 0.0f);
  auto view = [&](ArrayRef<int64_t> shape) {
    StridedView view{memory.data(), SmallVector<int64_t>(shape), {}};
    int64_t stride = 1;
    for (int64_t extent : llvm::reverse(shape)) {
      view.strides.insert(view.strides.begin(), stride);
      stride *= extent;
    }
    return view;
  };
  auto message = [&](StringRef entry, ArrayRef<StridedView> views) {
    auto executor = compile(kProgram, entry);
    llvm::Error error =
        executor ? (*executor)->run(views) : executor.takeError();
    return error ? llvm::toString(std::move(error)) : std::string("no error");
  };
  auto q = view({1, 2, 6, 8}), o = q, k = view({1, 2, 3, 8});
  EXPECT_EQ(message("grouped", {q, k, o}),
            "expected H = 3 * H1 in the shapes of arguments, but got 6 and 9");
  k = view({1, 2, INT64_MAX, 8});
  EXPECT_EQ(message("grouped", {q, k, o}),
            "expected H = 3 * H1 in the shapes of arguments, but got 6 and "
            "more than 63 bits");
  auto s = view({2, 6, 8, 8});
  EXPECT_EQ(message("packed", {q, view({2}), s, o}),
            "expected L = N + 1 in the shapes of arguments, but got 2 and 3");
  EXPECT_EQ(message("packed", {q, view({0}), view({0, 6, 8, 8}), o}),
            "expected 'c' to have at least 1 number (N + 1 for N sequences), "
            "but got none");
}

TEST_F(CPUExecutorTest, WrongPrograms) {
  auto message = [&](auto executor) {
    return executor ? std::string("no error")
                    : llvm::toString(executor.takeError());
  };
  EXPECT_EQ(message(compile(kProgram, "f")),
            "expected a function 'f' in the program (the entry), but got none");
  EXPECT_NE(message(compile(kProgram, "scan", "nothing")).find("nothing"),
            std::string::npos);
}

} // namespace
