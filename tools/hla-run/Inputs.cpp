//===- Inputs.cpp - the arrays of a run -------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Npy.h"
#include "hla-c/Runtime.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <numeric>
#include <random>

using namespace hla_run;
using llvm::StringRef;
using llvm::Twine;
using mlir::hla::ABIArgument;
using mlir::hla::ABIContent;
using mlir::hla::ABIDim;
using mlir::hla::EntryABI;

DType hla_run::getDType(mlir::Type type) {
  if (type.isBF16())
    return DType::BF16;
  if (type.isInteger(32))
    return DType::I32;
  if (type.isF16())
    return DType::F16;
  return type.isF32() ? DType::F32 : DType::F64;
}

llvm::Expected<RandomSpec> RandomSpec::parse(StringRef text) {
  RandomSpec spec;
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  auto fail = [&](StringRef got) {
    return llvm::createStringError("expected --input=random:SEED,NAME=VALUE,… "
                                   "with numbers ≥ 0, but got '" +
                                   got + "' in 'random:" + text + "'");
  };
  if (parts[0].getAsInteger(10, spec.seed))
    return fail(parts[0]);
  for (StringRef part : llvm::drop_begin(parts)) {
    auto [name, value] = part.split('=');
    int64_t size;
    if (name.empty() || value.getAsInteger(10, size) || size < 0 ||
        !spec.sizes.insert({name, size}).second)
      return fail(part);
  }
  return spec;
}

/// Checks the shape of an input; learns the values of symbols, and `from` which
/// argument.
static llvm::Error bindShape(const ABIArgument &argument,
                             llvm::ArrayRef<int64_t> shape,
                             llvm::StringMap<int64_t> &sizes,
                             llvm::StringMap<std::string> &from) {
  if (shape.size() != argument.dims.size())
    return llvm::createStringError(
        "expected '" + argument.name + "' to have rank " +
        Twine(argument.dims.size()) + ", but got " + Twine(shape.size()) +
        " (" + formatShape(shape) + ")");
  for (auto [i, dim] : llvm::enumerate(argument.dims)) {
    int64_t expected = dim.size;
    std::string why;
    if (dim.isSymbol()) {
      expected = sizes.try_emplace(dim.symbol, shape[i]).first->second;
      StringRef first =
          from.try_emplace(dim.symbol, argument.name).first->second;
      why = (" (" + dim.symbol + ", as in '" + first + "')").str();
    }
    if (shape[i] != expected)
      return llvm::createStringError(
          "expected dimension " + Twine(i) + " of '" + argument.name +
          "' to be " + Twine(expected) + why + ", but got " + Twine(shape[i]));
  }
  return llvm::Error::success();
}

llvm::Error Arguments::addOutputs(const EntryABI &abi,
                                  std::vector<std::optional<Array>> inputs) {
  for (auto [argument, input] : llvm::zip(abi.arguments, inputs)) {
    if (input) {
      arrays.push_back(std::move(*input));
      continue;
    }
    llvm::SmallVector<int64_t> shape;
    for (const ABIDim &dim : argument.dims) {
      if (dim.isSymbol() && !sizes.contains(dim.symbol))
        return llvm::createStringError("expected an input to have the extent " +
                                       dim.symbol + " of '" + argument.name +
                                       "', but none has");
      shape.push_back(dim.isSymbol() ? sizes.lookup(dim.symbol) : dim.size);
    }
    llvm::Expected<Array> array =
        Array::create(argument.name, getDType(argument.elementType), shape);
    if (!array)
      return array.takeError();
    array->poison();
    arrays.push_back(std::move(*array));
  }
  return llvm::Error::success();
}

/// The fewest tokens that lengths cut, or states that slots number.
static int64_t getRange(const ABIArgument &argument, const Sizes &sizes) {
  int64_t range = std::numeric_limits<int32_t>::max();
  for (const ABIDim &dim : argument.ranges)
    if (!dim.isSymbol() || sizes.contains(dim.symbol))
      range =
          std::min(range, dim.isSymbol() ? sizes.lookup(dim.symbol) : dim.size);
  return range;
}

/// Whether states that slots number are written, each by one sequence then.
static bool areWritten(const EntryABI &abi, const ABIArgument &slots) {
  return llvm::any_of(abi.arguments, [&](const ABIArgument &argument) {
    return argument.isWritten() &&
           llvm::any_of(slots.ranges, [&](const ABIDim &states) {
             const ABIDim &first = argument.dims.front();
             return first.symbol == states.symbol && first.size == states.size;
           });
  });
}

/// Checks the numbers in an input from a file.
static llvm::Error checkContent(const EntryABI &abi,
                                const ABIArgument &argument, const Array &array,
                                const Sizes &sizes) {
  const auto *integers = reinterpret_cast<const int32_t *>(array.getData());
  HlaStatus status = HLA_STATUS_OK;
  if (argument.content == ABIContent::Lengths)
    status =
        hlaCheckLengths(integers, array.getSize(), getRange(argument, sizes));
  if (argument.content == ABIContent::Slots)
    status = hlaCheckSlots(integers, array.getSize(), getRange(argument, sizes),
                           /*shared=*/!areWritten(abi, argument));
  if (status != HLA_STATUS_OK)
    return llvm::createStringError("'" + argument.name +
                                   "': " + hlaGetLastErrorMessage());
  if (argument.content == ABIContent::LogDecay)
    for (int64_t i = 0; i < array.getSize(); ++i)
      if (array.get(i) > 0.0)
        return llvm::createStringError(
            "expected '" + argument.name +
            "' to have no number above 0 (a log-decay: nothing is amplified), "
            "but got " +
            std::to_string(array.get(i)) + " at " + Twine(i));
  return llvm::Error::success();
}

llvm::Expected<Arguments>
Arguments::fromFiles(const EntryABI &abi, llvm::ArrayRef<StringRef> paths) {
  size_t count = llvm::count_if(abi.arguments, [](const ABIArgument &argument) {
    return argument.isRead();
  });
  if (paths.size() != count)
    return llvm::createStringError("expected " + Twine(count) +
                                   " files in --input (" +
                                   "one for each argument that '" + abi.entry +
                                   "' reads), but got " + Twine(paths.size()));
  Arguments result;
  llvm::StringMap<std::string> from;
  std::vector<std::optional<Array>> inputs;
  const StringRef *path = paths.begin();
  for (const ABIArgument &argument : abi.arguments) {
    inputs.emplace_back();
    if (!argument.isRead())
      continue;
    llvm::Expected<Array> array =
        readNpy(*path++, getDType(argument.elementType));
    if (!array)
      return array.takeError();
    if (llvm::Error error =
            bindShape(argument, array->getShape(), result.sizes, from))
      return error;
    inputs.back() = std::move(*array);
  }
  if (llvm::Error error =
          propagateSizes(abi, result.sizes, "the shapes of inputs"))
    return error;
  for (auto [argument, input] : llvm::zip(abi.arguments, inputs))
    if (input)
      if (llvm::Error error = checkContent(abi, argument, *input, result.sizes))
        return error;
  if (llvm::Error error = result.addOutputs(abi, std::move(inputs)))
    return error;
  return result;
}

namespace {

/// Random numbers that are the same with every standard library.
class Generator {
public:
  explicit Generator(uint64_t seed) : bits(seed) {}

  /// In (0, 1).
  double uniform() {
    return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53;
  }
  /// By the Box–Muller transform.
  double normal() {
    double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * M_PI * uniform());
  }

private:
  std::mt19937_64 bits;
};

} // namespace

/// Normal values, in rows of unit length if `isNormalized`.
static void fillNormal(Array &array, Generator &generator, bool isNormalized) {
  int64_t width = array.getShape().back();
  std::vector<double> row(width);
  for (int64_t begin = 0; begin < array.getSize(); begin += width) {
    double norm = 0;
    for (double &value : row) {
      value = generator.normal();
      norm += value * value;
    }
    double scale = isNormalized ? 1 / std::sqrt(norm) : 1;
    for (auto [i, value] : llvm::enumerate(row))
      array.set(begin + i, value * scale);
  }
}

/// log σ(x + 2) of normal x: most gates are open, and a decay is about 0.86.
static void fillLogDecays(Array &array, Generator &generator) {
  for (int64_t i = 0; i < array.getSize(); ++i)
    array.set(i, -std::log1p(std::exp(-2.0 - generator.normal())));
}

/// Cuts anywhere among the tokens, so that sequences may be empty and the first
/// and last tokens of none.
static void fillLengths(Array &array, Generator &generator, int64_t tokens) {
  std::vector<int64_t> cuts(array.getSize());
  for (int64_t &cut : cuts)
    cut = std::min<int64_t>(generator.uniform() * (tokens + 1), tokens);
  llvm::sort(cuts);
  for (auto [i, cut] : llvm::enumerate(cuts))
    array.set(i, cut);
}

/// Different numbers of states in any order, and below 0 where there are no
/// more.
static void fillSlots(Array &array, Generator &generator, int64_t states) {
  std::vector<int64_t> numbers(std::max(states, array.getSize()), -1);
  std::iota(numbers.begin(), numbers.begin() + states, 0);
  for (int64_t i = 0; i < array.getSize(); ++i) {
    const int64_t rest = numbers.size() - i;
    std::swap(
        numbers[i],
        numbers[i + std::min<int64_t>(generator.uniform() * rest, rest - 1)]);
    array.set(i, numbers[i]);
  }
}

llvm::Expected<Arguments> Arguments::fromRandom(const EntryABI &abi,
                                                const RandomSpec &spec) {
  Arguments result;
  llvm::Expected<Sizes> sizes = solveSizes(abi, spec.sizes);
  if (!sizes)
    return sizes.takeError();
  result.sizes = std::move(*sizes);
  std::vector<std::optional<Array>> none(abi.arguments.size());
  if (llvm::Error error = result.addOutputs(abi, std::move(none)))
    return error;
  Generator generator(spec.seed);
  for (auto [argument, array] : llvm::zip(abi.arguments, result.arrays)) {
    if (!argument.isRead() || array.getSize() == 0)
      continue;
    if (argument.content == ABIContent::Lengths)
      fillLengths(array, generator, getRange(argument, result.sizes));
    else if (argument.content == ABIContent::Slots)
      fillSlots(array, generator, getRange(argument, result.sizes));
    else if (argument.content == ABIContent::LogDecay)
      fillLogDecays(array, generator);
    else
      fillNormal(array, generator, argument.content == ABIContent::QueryOrKey);
  }
  return result;
}
