//===- Arguments.cpp - Tensors checked against a manifest -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "DataType.h"
#include "Error.h"

#include <algorithm>

using namespace hla::runtime;

namespace {

[[noreturn]] void fail(HlaStatus status, const std::string &place,
                       const std::string &expected, const std::string &got) {
  throw Failure(status, place + ": expected " + expected + ", but got " + got);
}

std::string placeOf(const ArgumentSpec &spec) {
  return "argument '" + spec.name + "'";
}

std::string placeOf(const Manifest &manifest, const ArgumentSpec &spec,
                    size_t dimension) {
  std::string place =
      placeOf(spec) + ", dimension " + std::to_string(dimension);
  if (spec.dims[dimension] != -1)
    place += " (" + manifest.dims[spec.dims[dimension]].name + ")";
  return place;
}

bool isEmpty(const ExpressionValues::Argument &argument) {
  return std::find(argument.shape.begin(), argument.shape.end(), 0) !=
         argument.shape.end();
}

class ShapeBinder {
public:
  ShapeBinder(const Manifest &manifest) : manifest(manifest) {}

  ExpressionValues bind(const HlaTensor *tensors, size_t count) {
    if (count != manifest.arguments.size())
      fail(HLA_STATUS_ARGUMENT_COUNT, "entry '" + manifest.entry + "'",
           std::to_string(manifest.arguments.size()) + " arguments (" +
               listNames() + ")",
           std::to_string(count));
    values.dims.assign(manifest.dims.size(), 0);
    binders.assign(manifest.dims.size(), nullptr);
    for (size_t i = 0; i < count; ++i)
      bindShape(manifest.arguments[i], tensors[i]);
    for (const ConstraintSpec &constraint : manifest.constraints)
      checkConstraint(constraint);
    checkLimits();
    for (size_t i = 0; i < count; ++i)
      bindStrides(manifest.arguments[i], tensors[i], values.arguments[i]);
    return std::move(values);
  }

private:
  std::string listNames() const {
    std::string names;
    for (const ArgumentSpec &spec : manifest.arguments)
      names += (names.empty() ? "" : ", ") + spec.name;
    return names.empty() ? "none" : names;
  }

  void bindShape(const ArgumentSpec &spec, const HlaTensor &tensor) {
    size_t rank = spec.extents.size();
    if (tensor.rank < 0 || static_cast<size_t>(tensor.rank) != rank)
      fail(HLA_STATUS_RANK_MISMATCH, placeOf(spec),
           "rank " + std::to_string(rank), std::to_string(tensor.rank));
    if (!isSameType(tensor.dtype, spec.dtype))
      fail(HLA_STATUS_DTYPE_MISMATCH, placeOf(spec),
           "element type " + getDataTypeName(spec.dtype),
           getDataTypeName(tensor.dtype));
    if (rank != 0 && tensor.shape == nullptr)
      fail(HLA_STATUS_INVALID_ARGUMENT, placeOf(spec), "a shape", "null");

    for (size_t i = 0; i < rank; ++i) {
      int64_t extent = tensor.shape[i];
      if (extent < 0)
        fail(HLA_STATUS_SHAPE_MISMATCH, placeOf(manifest, spec, i),
             "an extent of at least 0", std::to_string(extent));
      if (spec.dims[i] != -1)
        bindDim(spec, i, extent);
      else if (extent != spec.extents[i])
        fail(HLA_STATUS_SHAPE_MISMATCH, placeOf(manifest, spec, i),
             std::to_string(spec.extents[i]), std::to_string(extent));
    }
    values.arguments.push_back(
        {std::vector<int64_t>(tensor.shape, tensor.shape + rank),
         std::vector<int64_t>(rank, 0)});
  }

  void bindDim(const ArgumentSpec &spec, size_t dimension, int64_t extent) {
    int32_t dim = spec.dims[dimension];
    if (binders[dim] == nullptr) {
      binders[dim] = &spec;
      values.dims[dim] = extent;
    } else if (values.dims[dim] != extent) {
      fail(HLA_STATUS_DIM_MISMATCH, placeOf(manifest, spec, dimension),
           std::to_string(values.dims[dim]) + " (as in '" + binders[dim]->name +
               "')",
           std::to_string(extent));
    }
  }

  void checkConstraint(const ConstraintSpec &constraint) const {
    std::string place = "entry '" + manifest.entry + "'";
    std::string equation =
        constraint.left.getText() + " = " + constraint.right.getText();
    int64_t left = 0, right = 0;
    try {
      left = constraint.left.evaluate(values);
      right = constraint.right.evaluate(values);
    } catch (const Failure &failure) {
      throw Failure(failure.getStatus(), place + ", constraint " + equation +
                                             ": " + failure.getMessage());
    }
    if (left != right)
      fail(HLA_STATUS_CONSTRAINT, place, equation + describeBinders(constraint),
           std::to_string(left) + " and " + std::to_string(right));
  }

  /// Where the dims of a constraint come from: " (H is dimension 2 of 'o')".
  std::string describeBinders(const ConstraintSpec &constraint) const {
    std::vector<size_t> dims = constraint.left.getDims();
    for (size_t dim : constraint.right.getDims())
      if (std::find(dims.begin(), dims.end(), dim) == dims.end())
        dims.push_back(dim);
    std::string text;
    for (size_t dim : dims) {
      const ArgumentSpec &spec = *binders[dim];
      size_t dimension = std::find(spec.dims.begin(), spec.dims.end(), dim) -
                         spec.dims.begin();
      text += (text.empty() ? " (" : ", ") + manifest.dims[dim].name +
              " is dimension " + std::to_string(dimension) + " of '" +
              spec.name + "'";
    }
    return text.empty() ? text : text + ")";
  }

  void checkLimits() const {
    for (size_t i = 0; i < manifest.dims.size(); ++i) {
      const DimSpec &dim = manifest.dims[i];
      if (values.dims[i] < dim.minimum || values.dims[i] > dim.maximum)
        fail(HLA_STATUS_LIMIT, "dimension " + dim.name,
             "a size from " + std::to_string(dim.minimum) + " to " +
                 std::to_string(dim.maximum) + " (a limit of this bundle)",
             std::to_string(values.dims[i]));
    }
  }

  void bindStrides(const ArgumentSpec &spec, const HlaTensor &tensor,
                   ExpressionValues::Argument &argument) const {
    size_t rank = argument.shape.size();
    bool empty = isEmpty(argument);
    int64_t rowMajor = 1;
    for (size_t i = rank; i-- > 0;) {
      int64_t extent = argument.shape[i];
      int64_t stride = tensor.strides ? tensor.strides[i] : rowMajor;
      if (__builtin_mul_overflow(rowMajor, std::max<int64_t>(extent, 1),
                                 &rowMajor))
        fail(HLA_STATUS_SHAPE_MISMATCH, placeOf(spec),
             "a number of elements of 64 bits", "more");
      if (extent > 1 && !empty) {
        checkStride(spec, i, i + 1 == rank, stride);
        argument.strides[i] = stride;
      }
    }
  }

  void checkStride(const ArgumentSpec &spec, size_t dimension, bool isLast,
                   int64_t stride) const {
    if (isLast && stride != 1)
      fail(HLA_STATUS_STRIDE, placeOf(manifest, spec, dimension),
           "stride 1 (the last dimension is contiguous)",
           std::to_string(stride));
    if (stride < 0)
      fail(HLA_STATUS_STRIDE, placeOf(manifest, spec, dimension),
           "a stride of at least 0", std::to_string(stride));
    if (!isLast && stride % spec.strideMultiple != 0)
      fail(HLA_STATUS_STRIDE, placeOf(manifest, spec, dimension),
           "a stride that is a multiple of " +
               std::to_string(spec.strideMultiple) +
               " elements (the kernel loads vectors)",
           std::to_string(stride));
  }

  const Manifest &manifest;
  std::vector<const ArgumentSpec *> binders;
  ExpressionValues values;
};

/// Elements of a written argument must be distinct. Taking the dimensions by
/// stride, each must step over all that the smaller ones reach; this holds for
/// every view that slicing and transposing make.
void checkNoSelfOverlap(const Manifest &manifest, const ArgumentSpec &spec,
                        const ExpressionValues::Argument &argument) {
  std::vector<size_t> order;
  for (size_t i = 0; i < argument.shape.size(); ++i)
    if (argument.shape[i] > 1)
      order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return argument.strides[a] < argument.strides[b];
  });
  int64_t reach = 0; // cannot overflow: bindMemory found the whole range
  for (size_t i : order) {
    if (argument.strides[i] <= reach)
      fail(HLA_STATUS_OVERLAP, placeOf(manifest, spec, i),
           "a stride above " + std::to_string(reach) +
               " (elements that are written must not coincide)",
           std::to_string(argument.strides[i]));
    reach += (argument.shape[i] - 1) * argument.strides[i];
  }
}

AddressRange findRange(const ArgumentSpec &spec, const HlaTensor &tensor,
                       const ExpressionValues::Argument &argument) {
  if (isEmpty(argument))
    return {};
  uint64_t last = 0;
  bool overflows = false;
  for (size_t i = 0; i < argument.shape.size(); ++i) {
    uint64_t step = 0;
    overflows |= __builtin_mul_overflow(
        static_cast<uint64_t>(argument.shape[i] - 1),
        static_cast<uint64_t>(argument.strides[i]), &step);
    overflows |= __builtin_add_overflow(last, step, &last);
  }
  // Kernels compute element offsets in signed 64 bits.
  overflows |= last >= static_cast<uint64_t>(INT64_MAX) / 8;
  AddressRange range;
  range.begin = reinterpret_cast<uint64_t>(tensor.data);
  overflows |= __builtin_add_overflow(
      range.begin, (last + 1) * (spec.dtype.bits / 8), &range.end);
  if (overflows)
    fail(HLA_STATUS_STRIDE, placeOf(spec), "addresses of 64 bits",
         "strides that leave them");
  return range;
}

void checkPointer(const ArgumentSpec &spec, const HlaTensor &tensor,
                  const ExpressionValues::Argument &argument) {
  if (isEmpty(argument))
    return;
  if (tensor.data == nullptr)
    fail(HLA_STATUS_NULL_POINTER, placeOf(spec), "a pointer to its elements",
         "null");
  auto address = reinterpret_cast<uint64_t>(tensor.data);
  if (address % static_cast<uint64_t>(spec.alignment) != 0)
    fail(HLA_STATUS_ALIGNMENT, placeOf(spec),
         "a pointer aligned to " + std::to_string(spec.alignment) + " bytes",
         toHex(address));
}

std::string describeDevice(int32_t type, int32_t id) {
  switch (type) {
  case HLA_DEVICE_CPU:
    return "host memory";
  case HLA_DEVICE_CUDA:
    return "memory of device " + std::to_string(id);
  case 3:
    return "pinned host memory";
  default:
    return "memory of DLPack device type " + std::to_string(type);
  }
}

void checkDevice(const ArgumentSpec &spec, const HlaTensor &tensor,
                 int32_t &device, std::string &binder) {
  if (tensor.deviceType == HLA_DEVICE_CUDA_MANAGED)
    return;
  std::string got = describeDevice(tensor.deviceType, tensor.deviceId);
  if (tensor.deviceType != HLA_DEVICE_CUDA || tensor.deviceId < 0)
    fail(HLA_STATUS_WRONG_DEVICE, placeOf(spec), "memory of a CUDA device",
         got);
  if (device == -1) {
    device = tensor.deviceId;
    binder = spec.name;
  } else if (device != tensor.deviceId) {
    fail(HLA_STATUS_WRONG_DEVICE, placeOf(spec),
         "memory of device " + std::to_string(device) + " (as '" + binder +
             "')",
         got);
  }
}

} // namespace

ExpressionValues hla::runtime::bindShapes(const Manifest &manifest,
                                          const HlaTensor *tensors,
                                          size_t count) {
  return ShapeBinder(manifest).bind(tensors, count);
}

BoundMemory hla::runtime::bindMemory(const Manifest &manifest,
                                     const HlaTensor *tensors,
                                     const ExpressionValues &values) {
  BoundMemory memory;
  std::string binder;
  for (size_t i = 0; i < manifest.arguments.size(); ++i) {
    const ArgumentSpec &spec = manifest.arguments[i];
    const ExpressionValues::Argument &argument = values.arguments[i];
    checkDevice(spec, tensors[i], memory.device, binder);
    checkPointer(spec, tensors[i], argument);
    memory.ranges.push_back(findRange(spec, tensors[i], argument));
    if (!spec.isWritten())
      continue;
    if ((tensors[i].flags & HLA_TENSOR_READ_ONLY) != 0)
      fail(HLA_STATUS_READ_ONLY, placeOf(spec),
           "memory that may be written (the kernel writes it)",
           "a read-only tensor");
    if (!isEmpty(argument))
      checkNoSelfOverlap(manifest, spec, argument);
  }
  for (size_t i = 0; i < memory.ranges.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (memory.ranges[i].overlaps(memory.ranges[j]) &&
          (manifest.arguments[i].isWritten() ||
           manifest.arguments[j].isWritten()))
        fail(HLA_STATUS_OVERLAP, placeOf(manifest.arguments[i]),
             "memory apart from '" + manifest.arguments[j].name +
                 "' (one of them is written)",
             toHex(memory.ranges[i].begin) + " to " +
                 toHex(memory.ranges[i].end) + " against " +
                 toHex(memory.ranges[j].begin) + " to " +
                 toHex(memory.ranges[j].end));
  return memory;
}
