//===- Copies.cpp - copies of tensors as loops ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::hla;

/// Whether a memref has rows that kernels read and write.
static bool hasRowsOfKernels(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getRank() == 4 && memref.getDimSize(3) > 0 &&
         memref.getDimSize(3) <= ScheduleModel::kMaxGPUWidth &&
         memref.isLastDimUnitStride() &&
         isa<BFloat16Type, Float16Type, Float32Type>(memref.getElementType());
}

/// Dimensions as the function's other loops have them. Of a state, whose heads
/// come before its rows, either will do.
static HeadLayout getLayout(Operation *function) {
  HeadLayout layout = HeadLayout::BTHD;
  function->walk([&](FusedScanOp loop) { layout = loop.getLayout(); });
  return layout;
}

/// A loop for the copy, or null if the target cannot execute it.
static FusedScanOp createLoop(memref::CopyOp copy, HeadLayout layout,
                              const TargetInfo &target) {
  OpBuilder b(copy);
  Location loc = copy.getLoc();
  auto loop = FusedScanOp::create(
      b, loc, TypeRange(), /*reverse=*/false, layout,
      /*groups=*/DenseI64ArrayAttr(), /*carry_in=*/ArrayRef<bool>(),
      /*carry_out=*/ArrayRef<bool>(), /*schedule=*/ScheduleAttr(),
      copy.getSource(), /*lengths=*/Value(), /*slots=*/Value(),
      /*carries=*/ValueRange(), copy.getTarget());
  Block *body = b.createBlock(&loop.getBody());
  Value row = body->addArgument(
      FusedScanOp::getRowType(copy.getSource().getType()), loc);
  YieldOp::create(b, loc, row);
  if (ScheduleModel::countSlices(loop, target) == 0) {
    loop.erase();
    return {};
  }
  loop.setScheduleAttr(*ScheduleModel(loop, target).getDefault());
  return loop;
}

void hla::replaceCopies(Operation *root, const TargetInfo &target) {
  SmallVector<std::pair<memref::CopyOp, HeadLayout>> copies;
  root->walk([&](memref::CopyOp copy) {
    if (hasRowsOfKernels(copy.getSource().getType()) &&
        hasRowsOfKernels(copy.getTarget().getType()))
      copies.push_back(
          {copy, getLayout(copy->getParentOfType<FunctionOpInterface>())});
  });
  for (auto [copy, layout] : copies)
    if (createLoop(copy, layout, target))
      copy.erase();
}
