//===- HLADialect.cpp - the hla dialect and its attributes ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;

#include "hla/Dialect/HLA/IR/HLADialect.cpp.inc"
#include "hla/Dialect/HLA/IR/HLAEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "hla/Dialect/HLA/IR/HLAAttrs.cpp.inc"

void HLADialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "hla/Dialect/HLA/IR/HLAOps.cpp.inc"
      >();
}

void HLADialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "hla/Dialect/HLA/IR/HLAAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef arch) {
  if (!TargetInfo::lookup(arch))
    return emitError() << "expected a known target (one of "
                       << TargetInfo::getNames() << "), but got '" << arch
                       << "'";
  return success();
}

const TargetInfo &TargetAttr::getInfo() const {
  return *TargetInfo::lookup(getArch());
}

TargetAttr TargetAttr::lookup(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<TargetAttr>(kModuleAttrName)
                : TargetAttr();
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t chunk, int64_t warps, int64_t stages,
                                   Precision precision, int64_t slices,
                                   int64_t groups, int64_t blocks) {
  if (chunk < 16 || chunk > 256 || !llvm::isPowerOf2_64(chunk))
    return emitError() << "expected chunk to be a power of two from 16 to 256 "
                          "(scores are cut into 16x16 pieces), but got "
                       << chunk;
  if (groups == 0 && (warps < 1 || warps > 16 || !llvm::isPowerOf2_64(warps)))
    return emitError() << "expected warps to be a power of two from 1 to 16 "
                          "(they cut tiles into equal parts), but got "
                       << warps;
  if (stages < 1 || stages > 8)
    return emitError() << "expected stages to be from 1 to 8, but got "
                       << stages;
  if (slices < 1 || slices > kMaxSlices || !llvm::isPowerOf2_64(slices))
    return emitError() << "expected slices to be a power of two from 1 to "
                       << kMaxSlices
                       << " (they cut tiles into equal parts), but got "
                       << slices;
  if (groups < 0 || groups > kMaxGroups)
    return emitError() << "expected groups to be from 0 to " << kMaxGroups
                       << ", but got " << groups;
  if (groups != 0 && warps != kWarpsOfGroup * groups)
    return emitError() << "expected " << kWarpsOfGroup * groups << " warps ("
                       << kWarpsOfGroup << " for each of " << groups
                       << " groups), but got " << warps;
  if (blocks < 1 || blocks > kMaxBlocks)
    return emitError() << "expected blocks to be from 1 to " << kMaxBlocks
                       << ", but got " << blocks;
  return success();
}

FloatType ScheduleAttr::getOperandType() const {
  Builder b(getContext());
  switch (getPrecision()) {
  case Precision::BF16:
    return b.getBF16Type();
  // What a chunk computes may leave the range of f16: f32's range with f16's
  // bits of mantissa.
  case Precision::F16:
  case Precision::TF32:
    return b.getTF32Type();
  case Precision::F32:
  case Precision::BF16x3:
    return b.getF32Type();
  case Precision::F64:
    return b.getF64Type();
  }
  llvm_unreachable("all precisions are handled");
}

FloatType ScheduleAttr::getAccumulatorType() const {
  Builder b(getContext());
  return getPrecision() == Precision::F64 ? b.getF64Type() : b.getF32Type();
}
