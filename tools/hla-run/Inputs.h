//===- Inputs.h - the arrays of a run ---------------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_INPUTS_H
#define HLA_TOOLS_HLA_RUN_INPUTS_H

#include "Array.h"
#include "Sizes.h"
#include "hla/Dialect/HLA/Transforms/EntryABI.h"

namespace hla_run {

DType getDType(mlir::Type type);

/// What `--input=random:SEED,NAME=VALUE,…` says.
struct RandomSpec {
  uint64_t seed = 0;
  Sizes sizes;

  static llvm::Expected<RandomSpec> parse(llvm::StringRef text);
};

/// The arrays of all arguments of an entry: inputs read or generated, others
/// filled with NaN.
class Arguments {
public:
  /// From one file for each argument that is read, in order.
  static llvm::Expected<Arguments>
  fromFiles(const mlir::hla::EntryABI &abi,
            llvm::ArrayRef<llvm::StringRef> paths);
  /// Normal values, but for what an argument's content asks for: queries and
  /// keys have rows of unit length, so that what they are multiplied with keeps
  /// its size in any element type; log-decays are those of gates that are
  /// mostly open; lengths are of sequences anywhere among the tokens, some
  /// empty.
  static llvm::Expected<Arguments> fromRandom(const mlir::hla::EntryABI &abi,
                                              const RandomSpec &spec);

  std::vector<Array> arrays;
  /// The values of the ABI's symbols.
  Sizes sizes;

private:
  llvm::Error addOutputs(const mlir::hla::EntryABI &abi,
                         std::vector<std::optional<Array>> inputs);
};

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_INPUTS_H
