//===- Array.cpp - dense arrays of the element types of hla -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Array.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>
#include <unistd.h>

using namespace hla_run;

llvm::StringRef hla_run::getName(DType type) {
  switch (type) {
  case DType::BF16:
    return "bf16";
  case DType::F16:
    return "f16";
  case DType::F32:
    return "f32";
  case DType::F64:
    return "f64";
  case DType::I32:
    return "i32";
  }
  llvm_unreachable("unknown element type");
}

size_t hla_run::getBytes(DType type) {
  switch (type) {
  case DType::BF16:
  case DType::F16:
    return 2;
  case DType::F32:
  case DType::I32:
    return 4;
  case DType::F64:
    return 8;
  }
  llvm_unreachable("unknown element type");
}

std::string hla_run::formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::optional<int64_t> hla_run::getNumElements(llvm::ArrayRef<int64_t> shape,
                                               size_t bytes) {
  int64_t size = 1, total = 0;
  for (int64_t extent : shape)
    if (extent < 0 || llvm::MulOverflow(size, extent, size))
      return std::nullopt;
  if (llvm::MulOverflow(size, static_cast<int64_t>(bytes), total))
    return std::nullopt;
  return size;
}

llvm::Expected<Array> Array::create(llvm::StringRef name, DType type,
                                    llvm::ArrayRef<int64_t> shape) {
  std::optional<int64_t> size = getNumElements(shape, getBytes(type));
  int64_t memory =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  Array array(type, shape);
  if (size && static_cast<int64_t>(*size * getBytes(type)) <= memory) {
    array.size = *size;
    array.data.reset(static_cast<char *>(
        std::calloc(std::max<size_t>(array.getSizeInBytes(), 1), 1)));
  }
  if (!array.data)
    return llvm::createStringError(
        "expected '" + name + "' to fit the memory of this machine (" +
        std::to_string(memory) + " bytes), but got " + formatShape(shape) +
        " of " + getName(type));
  return array;
}

llvm::SmallVector<int64_t> Array::getStrides() const {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

static const llvm::fltSemantics &getSemantics(DType type) {
  return type == DType::BF16 ? llvm::APFloat::BFloat()
                             : llvm::APFloat::IEEEhalf();
}

double Array::get(int64_t index) const {
  const char *at = data.get() + index * getBytes(type);
  switch (type) {
  case DType::F64: {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  case DType::F32: {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  case DType::I32: {
    int32_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  case DType::BF16: {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof(bits));
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  case DType::F16: {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof(bits));
    double magnitude = std::ldexp(
        static_cast<double>((bits & 0x3ff) | (bits & 0x7c00 ? 0x400 : 0)),
        std::max((bits >> 10) & 31, 1) - 25);
    if ((bits & 0x7c00) == 0x7c00)
      magnitude = bits & 0x3ff ? NAN : INFINITY;
    return bits & 0x8000 ? -magnitude : magnitude;
  }
  }
  llvm_unreachable("unknown element type");
}

void Array::set(int64_t index, double value) {
  char *at = data.get() + index * getBytes(type);
  if (type == DType::F64) {
    std::memcpy(at, &value, sizeof(value));
    return;
  }
  if (type == DType::F32) {
    float rounded = static_cast<float>(value);
    std::memcpy(at, &rounded, sizeof(rounded));
    return;
  }
  if (type == DType::I32) {
    auto number = static_cast<int32_t>(value);
    std::memcpy(at, &number, sizeof(number));
    return;
  }
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(getSemantics(type), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  auto bits = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
  std::memcpy(at, &bits, sizeof(bits));
}

void Array::poison() { std::memset(data.get(), 0xff, getSizeInBytes()); }

void Array::copyFrom(const Array &other) {
  std::memcpy(data.get(), other.data.get(), getSizeInBytes());
}
