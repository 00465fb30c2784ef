//===- Copies.cpp - copies of tensors as loops ------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::hla;

/// The dimension that a loop takes for tokens: the rows of a state, or what the
/// function's other loops take.
static HeadLayout getLayout(memref::CopyOp copy) {
  auto type = cast<MemRefType>(copy.getTarget().getType());
  HeadLayout layout = HeadLayout::BHTD;
  if (type.isDynamicDim(2))
    copy->getParentOfType<FunctionOpInterface>()->walk(
        [&](FusedScanOp loop) { layout = loop.getLayout(); });
  return layout;
}

void hla::replaceCopies(Operation *root) {
  SmallVector<memref::CopyOp> copies;
  root->walk([&](memref::CopyOp copy) {
    auto type = dyn_cast<MemRefType>(copy.getTarget().getType());
    if (type && type.getRank() == 4 && !type.isDynamicDim(3) &&
        isa<FloatType>(type.getElementType()))
      copies.push_back(copy);
  });
  for (memref::CopyOp copy : copies) {
    OpBuilder b(copy);
    Location loc = copy.getLoc();
    auto schedule = ScheduleAttr::get(b.getContext(), /*chunk=*/32, /*warps=*/4,
                                      /*stages=*/1, Precision::F32);
    auto loop = FusedScanOp::create(
        b, loc, TypeRange(), /*reverse=*/false, getLayout(copy),
        /*groups=*/DenseI64ArrayAttr(), /*carry_in=*/ArrayRef<bool>(),
        /*carry_out=*/ArrayRef<bool>(), schedule, copy.getSource(),
        /*lengths=*/Value(), /*carries=*/ValueRange(), copy.getTarget());
    Block *body = b.createBlock(&loop.getBody());
    Value row = body->addArgument(
        FusedScanOp::getRowType(copy.getSource().getType()), loc);
    YieldOp::create(b, loc, row);
    copy.erase();
  }
}
