//===- Inputs.cpp - the arrays of a run -------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Npy.h"
#include "hla/Dialect/HLA/IR/HLA.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cmath>
#include <random>

using namespace hla_run;
using llvm::StringRef;
using llvm::Twine;
using mlir::hla::ABIArgument;
using mlir::hla::ABIDim;
using mlir::hla::EntryABI;

DType hla_run::getDType(mlir::FloatType type) {
  if (type.isBF16())
    return DType::BF16;
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
  if (llvm::Error error = result.addOutputs(abi, std::move(inputs)))
    return error;
  return result;
}

/// Fills `array` with normal values, by the Box–Muller transform: the same on
/// every standard library. Rows of unit length if `isNormalized`.
static void fillRandom(Array &array, std::mt19937_64 &generator,
                       bool isNormalized) {
  auto uniform = [&] { // in (0, 1)
    return (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53;
  };
  int64_t width = array.getShape().back();
  std::vector<double> row(width);
  for (int64_t begin = 0; begin < array.getSize(); begin += width) {
    double norm = 0;
    for (double &value : row) {
      double radius = std::sqrt(-2 * std::log(uniform()));
      value = radius * std::cos(2 * M_PI * uniform());
      norm += value * value;
    }
    double scale = isNormalized ? 1 / std::sqrt(norm) : 1;
    for (auto [i, value] : llvm::enumerate(row))
      array.set(begin + i, value * scale);
  }
}

llvm::Expected<Arguments>
Arguments::fromRandom(const EntryABI &abi, const RandomSpec &spec,
                      llvm::ArrayRef<bool> normalized) {
  Arguments result;
  llvm::SmallVector<StringRef> symbols;
  for (const ABIArgument &argument : abi.arguments)
    for (const ABIDim &dim : argument.dims)
      if (dim.isSymbol() && !llvm::is_contained(symbols, dim.symbol))
        symbols.push_back(dim.symbol);
  for (StringRef symbol : symbols) {
    auto size = spec.sizes.find(symbol);
    if (size == spec.sizes.end())
      return llvm::createStringError("expected --input=random: to give " +
                                     llvm::join(symbols, ", ") +
                                     ", but got no " + symbol);
    result.sizes[symbol] = size->second;
  }
  for (const auto &size : spec.sizes)
    if (!llvm::is_contained(symbols, size.first()))
      return llvm::createStringError("expected --input=random: to give " +
                                     llvm::join(symbols, ", ") + ", but got " +
                                     size.first());
  std::vector<std::optional<Array>> none(abi.arguments.size());
  if (llvm::Error error = result.addOutputs(abi, std::move(none)))
    return error;
  std::mt19937_64 generator(spec.seed);
  for (size_t i = 0; i < abi.arguments.size(); ++i)
    if (abi.arguments[i].isRead() && result.arrays[i].getSize() != 0)
      fillRandom(result.arrays[i], generator, normalized[i]);
  return result;
}

llvm::SmallVector<bool> hla_run::getQueriesAndKeys(mlir::func::FuncOp function,
                                                   size_t numArguments) {
  llvm::SmallVector<bool> result(numArguments, false);
  auto mark = [&](mlir::Value value) {
    auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
    if (argument && argument.getOwner() == &function.getBody().front())
      result[argument.getArgNumber()] = true;
  };
  function.walk([&](mlir::Operation *op) {
    if (auto operatorOp = llvm::dyn_cast<mlir::hla::Operator>(op)) {
      mark(operatorOp.getQuery());
      mark(operatorOp.getKey());
    } else if (auto scan = llvm::dyn_cast<mlir::hla::ScanOp>(op)) {
      mark(scan.getQuery());
      mark(scan.getKey());
    }
  });
  return result;
}
