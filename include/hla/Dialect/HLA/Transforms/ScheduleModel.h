//===- ScheduleModel.h - what a schedule needs of a target ------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_DIALECT_HLA_TRANSFORMS_SCHEDULEMODEL_H
#define HLA_DIALECT_HLA_TRANSFORMS_SCHEDULEMODEL_H

#include "hla/Dialect/HLA/IR/HLA.h"

namespace mlir::hla {

/// Decides which schedules of a fused scan a target can hold, and which is a
/// sensible default. The one place where a schedule meets a target's limits
/// before tiles have layouts.
class ScheduleModel {
public:
  /// Columns of a sequence's rows that a GPU's tiles have at most.
  static constexpr int64_t kMaxGPUWidth = 256;

  ScheduleModel(FusedScanOp op, const TargetInfo &target)
      : op(op), target(target) {}

  /// The slices with which the target holds the states and tiles of these loops
  /// in one kernel, by the schedule that `getDefault` would give it, or 0.
  static int64_t countSlices(ArrayRef<FusedScanOp> loops,
                             const TargetInfo &target,
                             std::optional<Precision> precision = std::nullopt);

  /// The precision named `text`, none if that is empty, or failure, with an
  /// error.
  static FailureOr<std::optional<Precision>>
  parsePrecision(StringRef text, function_ref<InFlightDiagnostic()> emitError);

  /// A schedule that `verify` accepts, or failure, with an error at the
  /// operation, if the target cannot execute it at all. `precision` is by
  /// default the inputs' own: of mixed types, f32.
  FailureOr<ScheduleAttr>
  getDefault(std::optional<Precision> precision = std::nullopt);

  /// Emits an error at the operation if the target cannot hold `schedule`.
  LogicalResult verify(ScheduleAttr schedule);

  /// Bytes of shared memory that a thread block needs at most.
  int64_t getSharedMemory(ScheduleAttr schedule);

  /// 32-bit registers of a thread that hold states.
  int64_t getStateRegisters(ScheduleAttr schedule);

private:
  /// Emits an error if the operation itself is none for a GPU.
  LogicalResult verifyGPUOperation();
  /// Emits an error if products of the inputs do not have that precision.
  LogicalResult verifyPrecision(ScheduleAttr schedule);
  ScheduleAttr getGroupDefault(std::optional<Precision> wanted);
  /// Emits an error if groups cannot share the operation out so.
  LogicalResult verifyGroups(ScheduleAttr schedule);

  FusedScanOp op;
  const TargetInfo &target;
};

} // namespace mlir::hla

#endif // HLA_DIALECT_HLA_TRANSFORMS_SCHEDULEMODEL_H
