//===- AssignSchedule.cpp - a schedule for every fused scan -----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/IR/HLA.h"
#include "hla/Dialect/HLA/Transforms/Passes.h"
#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hla {
#define GEN_PASS_DEF_HLAASSIGNSCHEDULE
#include "hla/Dialect/HLA/Transforms/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;

namespace {

struct AssignSchedule : hla::impl::HLAAssignScheduleBase<AssignSchedule> {
  using HLAAssignScheduleBase::HLAAssignScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto emitError = [&] { return module.emitError("hla-assign-schedule: "); };
    auto targetAttr =
        TargetAttr::getChecked(emitError, &getContext(), StringRef(target));
    if (!targetAttr)
      return signalPassFailure();
    module->setAttr(TargetAttr::kModuleAttrName, targetAttr);

    FailureOr<std::optional<Precision>> wanted =
        ScheduleModel::parsePrecision(precision, emitError);
    if (failed(wanted))
      return signalPassFailure();

    WalkResult result = module.walk([&](FusedScanOp op) {
      ScheduleModel model(op, targetAttr.getInfo());
      if (ScheduleAttr schedule = op.getScheduleAttr())
        return WalkResult(model.verify(schedule));
      FailureOr<ScheduleAttr> schedule = model.getDefault(*wanted);
      if (failed(schedule))
        return WalkResult::interrupt();
      op.setScheduleAttr(*schedule);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
