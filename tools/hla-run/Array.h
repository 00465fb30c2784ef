//===- Array.h - dense arrays of the element types of hla -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TOOLS_HLA_RUN_ARRAY_H
#define HLA_TOOLS_HLA_RUN_ARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hla_run {

/// From the narrowest float to the widest, then what lengths and slots are.
enum class DType { BF16, F16, F32, F64, I32 };

llvm::StringRef getName(DType type);
size_t getBytes(DType type);

/// `2x100x3x64`.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// A dense array in C order.
class Array {
public:
  /// Zeros. Fails if the shape needs more memory than the machine has; `name`
  /// is the array's in that message.
  static llvm::Expected<Array> create(llvm::StringRef name, DType type,
                                      llvm::ArrayRef<int64_t> shape);
  Array(Array &&) = default;
  Array &operator=(Array &&) = default;

  DType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getSize() const { return size; }
  size_t getSizeInBytes() const { return size * getBytes(type); }
  char *getData() { return data.get(); }
  const char *getData() const { return data.get(); }
  /// In elements.
  llvm::SmallVector<int64_t> getStrides() const;

  double get(int64_t index) const;
  /// Rounds to nearest, ties to even; an i32 is given as it is.
  void set(int64_t index, double value);
  /// Fills the array with a NaN, or with -1.
  void poison();
  void copyFrom(const Array &other);

private:
  struct Free {
    void operator()(char *data) const { std::free(data); }
  };

  Array(DType type, llvm::ArrayRef<int64_t> shape) : type(type), shape(shape) {}

  DType type;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t size = 0;
  std::unique_ptr<char, Free> data;
};

/// The number of elements, if it and `bytes` an element fit 63 bits.
std::optional<int64_t> getNumElements(llvm::ArrayRef<int64_t> shape,
                                      size_t bytes);

} // namespace hla_run

#endif // HLA_TOOLS_HLA_RUN_ARRAY_H
