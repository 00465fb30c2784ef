//===- RunInputsTest.cpp - the arrays of a run ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EntryABITest.h"
#include "Inputs.h"
#include "Npy.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::hla;
using namespace hla_run;

namespace {

/// Grouped heads, log-decays, lengths and states.
constexpr llvm::StringLiteral kPacked = R"mlir(
func.func @f(%q: !Packed {hla.name = "q"}, %k: !Packed {hla.name = "k"}, %g: tensor<1x?x?xf32> {hla.name = "g"},
             %c: !Lengths {hla.name = "c"}, %s: !State {hla.name = "s"}, %e: !Packed) -> (!Packed, !State) {
  %o, %f = hla.linear groups([1, 4]) ins(%q, %k, %k : !Packed, !Packed, !Packed) log_decay(%g : tensor<1x?x?xf32>)
           lengths(%c : !Lengths) carry(%s : !State) outs(%e, %s : !Packed, !State) -> !Packed, !State
  return %o, %f : !Packed, !State
})mlir";

/// Slots of a pool of states.
constexpr llvm::StringLiteral kPool = R"mlir(
func.func @f(%q: !S, %n: tensor<?xi32> {hla.name = "n"}, %s: !State {hla.name = "s"}, %e: !S) -> (!S, !State) {
  %o, %f = hla.linear ins(%q, %q, %q : !S, !S, !S) slots(%n : tensor<?xi32>) carry(%s : !State)
           outs(%e, %s : !S, !State) -> !S, !State
  return %o, %f : !S, !State
})mlir";

/// Lengths without states.
constexpr llvm::StringLiteral kStateless = R"mlir(
func.func @f(%q: !Packed, %c: !Lengths {hla.name = "c"}, %e: !Packed) -> !Packed {
  %o = hla.linear ins(%q, %q, %q : !Packed, !Packed, !Packed) lengths(%c : !Lengths) outs(%e : !Packed) -> !Packed
  return %o : !Packed
})mlir";

class RunInputsTest : public EntryABITest {
protected:
  RunInputsTest() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("hla-run-test", folder));
  }
  ~RunInputsTest() override { llvm::sys::fs::remove_directories(folder); }

  llvm::Expected<Arguments> generate(StringRef program, StringRef text) {
    FailureOr<EntryABI> abi = get(program);
    EXPECT_TRUE(succeeded(abi));
    llvm::Expected<RandomSpec> spec = RandomSpec::parse(text);
    if (!spec)
      return spec.takeError();
    return Arguments::fromRandom(*abi, *spec);
  }
  std::string describeShapes(StringRef program, StringRef text) {
    llvm::Expected<Arguments> arguments = generate(program, text);
    if (!arguments)
      return llvm::toString(arguments.takeError());
    std::string shapes;
    for (const Array &array : arguments->arrays)
      shapes += formatShape(array.getShape()) + " ";
    return shapes;
  }

  /// Writes an array and returns its path.
  std::string save(DType type, ArrayRef<int64_t> shape,
                   ArrayRef<double> values = {}) {
    Array array = llvm::cantFail(Array::create("x", type, shape));
    for (auto [i, value] : llvm::enumerate(values))
      array.set(i, value);
    std::string path = (folder + "/" + Twine(numFiles++) + ".npy").str();
    llvm::cantFail(writeNpy(path, array));
    return path;
  }
  std::string read(StringRef program, ArrayRef<std::string> files) {
    FailureOr<EntryABI> abi = get(program);
    SmallVector<StringRef> paths(files.begin(), files.end());
    auto arguments = Arguments::fromFiles(*abi, paths);
    return arguments ? "ok" : llvm::toString(arguments.takeError());
  }

  llvm::SmallString<64> folder;
  unsigned numFiles = 0;
};

TEST_F(RunInputsTest, Shapes) {
  StringRef shapes = "1x9x8x8 1x9x2x8 1x9x8 4 3x8x8x8 1x9x8x8 ";
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8,N=3"), shapes);
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H1=2,N=3"), shapes);
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8,H1=2,N=3,L=4"), shapes);
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8,L=4"), shapes);
  EXPECT_EQ(describeShapes(kStateless, "1,T=9,H=8,N=3"), "1x9x8x8 4 1x9x8x8 ");
  EXPECT_EQ(describeShapes(kStateless, "1,T=9,H=8,L=1"), "1x9x8x8 1 1x9x8x8 ");
}

TEST_F(RunInputsTest, SizesThatDoNotFit) {
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=10,N=3"),
            "expected H = 4 * H1 in --input=random:, but got no H1 ≥ 0 for "
            "which 4 * H1 is 10");
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8,H1=3,N=3"),
            "expected H = 4 * H1 in --input=random:, but got 8 and 12");
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8,L=0"),
            "expected L = N + 1 in --input=random:, but got no N ≥ 0 for which "
            "N + 1 is 0");
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H1=9223372036854775807,N=3"),
            "expected 4 * H1 in --input=random: to be of 63 bits, but got H1 = "
            "9223372036854775807");
  EXPECT_EQ(describeShapes(kPacked, "1,H=8,N=3"),
            "expected --input=random: to give T, H, N, but got no T");
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8"),
            "expected --input=random: to give T, H, N, but got no N");
  EXPECT_EQ(describeShapes(kPacked, "1,T=9,H=8,N=3,B=1"),
            "expected --input=random: to give T, H, N, but got B");
  EXPECT_EQ(describeShapes(kStateless, "1,T=9,H=8"),
            "expected --input=random: to give T, H, N, but got no N");
  EXPECT_EQ(describeShapes(kStateless, "1,T=9,H=8,L=0"),
            "expected L = N + 1 in --input=random:, but got no N ≥ 0 for which "
            "N + 1 is 0");
}

TEST_F(RunInputsTest, Contents) {
  bool isAnyEmpty = false, beginsLate = false, endsEarly = false;
  for (int seed = 0; seed < 20; ++seed) {
    llvm::Expected<Arguments> arguments =
        generate(kPacked, std::to_string(seed) + ",T=9,H=8,N=3");
    ASSERT_TRUE(static_cast<bool>(arguments))
        << llvm::toString(arguments.takeError());
    std::vector<Array> &arrays = arguments->arrays;
    EXPECT_EQ(arguments->sizes["N"], 3);

    // A query and a key have unit length, also where the key is a value.
    for (const Array &rows : {std::cref(arrays[0]), std::cref(arrays[1])}) {
      double norm = 0;
      for (int64_t i = 0; i < 8; ++i)
        norm += rows.get(i) * rows.get(i);
      EXPECT_NEAR(norm, 1.0, 1e-5);
    }
    double least = 0;
    for (int64_t i = 0; i < arrays[2].getSize(); ++i) {
      EXPECT_LT(arrays[2].get(i), 0.0);
      least = std::min(least, arrays[2].get(i));
    }
    EXPECT_GT(least, -5.0);
    EXPECT_LT(least, -0.1);

    const Array &lengths = arrays[3];
    EXPECT_EQ(lengths.getType(), DType::I32);
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_GE(lengths.get(i), i == 0 ? 0 : lengths.get(i - 1));
      EXPECT_LE(lengths.get(i), 9);
      isAnyEmpty |= i > 0 && lengths.get(i) == lengths.get(i - 1);
    }
    beginsLate |= lengths.get(0) > 0;
    endsEarly |= lengths.get(3) < 9;
  }
  EXPECT_TRUE(isAnyEmpty && beginsLate && endsEarly);
}

TEST_F(RunInputsTest, Slots) {
  // Different states, and none where there are no more.
  for (int states : {0, 3, 9}) {
    llvm::Expected<Arguments> arguments =
        generate(kPool, "7,B=5,T=1,H=1,S=" + std::to_string(states));
    ASSERT_TRUE(static_cast<bool>(arguments))
        << llvm::toString(arguments.takeError());
    std::set<double> seen;
    int absent = 0;
    for (int64_t i = 0; i < 5; ++i) {
      const double number = arguments->arrays[1].get(i);
      EXPECT_LT(number, states);
      EXPECT_TRUE(number == -1 || seen.insert(number).second);
      absent += number == -1;
    }
    EXPECT_EQ(absent, std::max(0, 5 - states));
  }
  auto f32 = [&](ArrayRef<int64_t> shape) { return save(DType::F32, shape); };
  auto slots = [&](std::vector<double> values) {
    return save(DType::I32, {static_cast<int64_t>(values.size())}, values);
  };
  std::string q = f32({2, 3, 1, 8}), s = f32({4, 1, 8, 8});
  EXPECT_EQ(read(kPool, {q, slots({3, -1}), s}), "ok");
  EXPECT_EQ(read(kPool, {q, slots({3, 4}), s}),
            "'n': slots, position 1: expected at most 3 (of 4 states), but got "
            "4");
  EXPECT_EQ(read(kPool, {q, slots({3, 3}), s}),
            "'n': slots, position 1: expected another number than at position "
            "0 (a final state is one sequence's), but got 3");
}

TEST_F(RunInputsTest, NoTokensAndNoSequences) {
  llvm::Expected<Arguments> arguments = generate(kPacked, "1,T=0,H=4,N=2");
  ASSERT_TRUE(static_cast<bool>(arguments))
      << llvm::toString(arguments.takeError());
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ(arguments->arrays[3].get(i), 0);
  EXPECT_EQ(describeShapes(kPacked, "1,T=2,H=4,N=0"),
            "1x2x4x8 1x2x1x8 1x2x4 1 0x4x8x8 1x2x4x8 ");
}

TEST_F(RunInputsTest, Files) {
  auto f32 = [&](ArrayRef<int64_t> shape) { return save(DType::F32, shape); };
  std::string q = f32({1, 9, 8, 8}), k = f32({1, 9, 2, 8}), g = f32({1, 9, 8}),
              s = f32({3, 8, 8, 8}), o = f32({1, 9, 8, 8});
  auto lengths = [&](std::vector<double> values) {
    return save(DType::I32, {static_cast<int64_t>(values.size())}, values);
  };
  std::string c = lengths({0, 2, 2, 9});
  EXPECT_EQ(read(kPacked, {q, k, g, c, s, o}), "ok");
  EXPECT_EQ(read(kPacked, {q, f32({1, 9, 3, 8}), g, c, s, o}),
            "expected H = 4 * H1 in the shapes of inputs, but got 8 and 12");
  EXPECT_EQ(read(kPacked, {q, k, g, lengths({0, 2, 9}), s, o}),
            "expected L = N + 1 in the shapes of inputs, but got 3 and 4");
  EXPECT_EQ(read(kPacked, {q, k, g, lengths({0, 3, 2, 9}), s, o}),
            "'c': lengths, position 2: expected at least 3 (cumulative lengths "
            "don't decrease), but got 2");
  EXPECT_EQ(
      read(kPacked, {q, k, g, lengths({0, 2, 2, 10}), s, o}),
      "'c': lengths, position 3: expected at most 9 (the tokens), but got "
      "10");
  EXPECT_EQ(read(kPacked, {q, k, g, lengths({-1, 2, 2, 9}), s, o}),
            "'c': lengths, position 0: expected a start of at least 0, but got "
            "-1");
  std::string wrong = save(DType::F32, {4});
  EXPECT_EQ(read(kPacked, {q, k, g, wrong, s, o}),
            "expected '" + wrong +
                "' to hold i32 ('<i4'), but got f32 "
                "('<f4')");
  std::vector<double> decays(72, -0.5);
  decays[5] = -INFINITY;
  EXPECT_EQ(read(kPacked, {q, k, save(DType::F32, {1, 9, 8}, decays), c, s, o}),
            "ok");
  decays[7] = 0.25;
  EXPECT_EQ(read(kPacked, {q, k, save(DType::F32, {1, 9, 8}, decays), c, s, o}),
            "expected 'g' to have no number above 0 (a log-decay: nothing is "
            "amplified), but got 0.250000 at 7");
}

TEST_F(RunInputsTest, IntegersOfFiles) {
  std::string path = save(DType::I32, {3}, {-2147483648.0, 0, 2147483647});
  llvm::Expected<Array> array = readNpy(path, DType::I32);
  ASSERT_TRUE(static_cast<bool>(array)) << llvm::toString(array.takeError());
  EXPECT_EQ(array->get(0), -2147483648.0);
  EXPECT_EQ(array->get(2), 2147483647.0);
  array->poison();
  EXPECT_EQ(array->get(1), -1.0);
}

} // namespace
