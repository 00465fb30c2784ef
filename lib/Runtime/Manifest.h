//===- Manifest.h - What a bundle says about itself -------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_MANIFEST_H
#define HLA_LIB_RUNTIME_MANIFEST_H

#include "Expression.h"
#include "hla-c/Runtime.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hla::runtime {

constexpr int32_t bundleAbiVersion = 2;

struct TargetSpec {
  std::string arch;
  std::string ptxIsa;
  int32_t major = 0;
  int32_t minor = 0;
  bool forwardCompatible = false;
};

struct FileSpec {
  std::string path;
  std::string sha256;
};

struct DimSpec {
  std::string name;
  int64_t minimum = 0;
  int64_t maximum = INT64_MAX;
};

struct ArgumentSpec {
  std::string name;
  HlaAccess access = HLA_ACCESS_READ;
  HlaDataType dtype = {};
  std::vector<int64_t> extents; // -1 where a dim stands
  std::vector<int32_t> dims;    // -1 where an extent does
  int64_t alignment = 1;
  int64_t strideMultiple = 1;

  bool isWritten() const { return access != HLA_ACCESS_READ; }
};

/// Two expressions of dims that are equal in every launch.
struct ConstraintSpec {
  Expression left;
  Expression right;
};

/// What a tensor map says of the memory that it maps. Dimensions are in CUDA's
/// order, the innermost first.
struct TensorMapSpec {
  HlaDataType dtype = {};
  std::vector<Expression> shape;
  std::vector<Expression> strides; // in elements; the innermost has none
  std::vector<uint32_t> box;
  int32_t swizzle = 0; // in bytes
};

struct ParameterSpec {
  enum class Kind { Argument, Scratch, I32, I64, F32, F64 };
  Kind kind = Kind::I64;
  size_t argument = 0; // Argument: its index
  Expression value;    // Scratch: offset in bytes; I32, I64: the value
  double number = 0;   // F32, F64: the value
  // Argument, Scratch: a map of the memory there in place of its address.
  std::optional<TensorMapSpec> map;
};

struct LaunchSpec {
  std::string kernel;
  std::array<Expression, 3> grid;
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  Expression dynamicSharedMemory;
  std::vector<ParameterSpec> parameters;
};

struct Manifest {
  std::string entry;
  TargetSpec target;
  FileSpec ptx;
  std::optional<FileSpec> cubin;
  std::vector<DimSpec> dims;
  std::vector<ArgumentSpec> arguments;
  std::vector<ConstraintSpec> constraints;
  Expression scratchBytes;
  int64_t scratchAlignment = 1;
  std::vector<LaunchSpec> launches;

  /// Parses and checks the text of a manifest; throws Failure.
  static Manifest parse(std::string_view text);
};

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_MANIFEST_H
