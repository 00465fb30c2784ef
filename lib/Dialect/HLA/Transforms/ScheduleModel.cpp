//===- ScheduleModel.cpp - what a schedule needs of a target ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "GroupStages.h"
#include "KernelNeeds.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hla;

/// Whether `warps` warps can share a tile in pieces of 16×8: as many as there
/// are rows of pieces take rows, the others columns.
static bool isShared(int64_t rows, int64_t cols, int64_t warps) {
  const int64_t rowWarps = std::clamp<int64_t>(rows / 16, 1, warps);
  return cols % (8 * (warps / rowWarps)) == 0;
}

/// A warp for every 16 rows of the largest state, so that states are register
/// operands of products, but from four to eight.
static int64_t getDefaultWarps(ArrayRef<VectorType> states) {
  int64_t dim = 16;
  for (VectorType state : states)
    for (int64_t size : state.getShape())
      dim = std::max(dim, size);
  return std::clamp<int64_t>(dim / 16, 4, 8);
}

/// The precision of the narrowest rows, if they are of one type: what is wider
/// beside them, rows that another loop has computed, would be rounded to it in
/// one loop too.
static Precision getPrecisionOf(ArrayRef<Type> inputs) {
  const bool hasBF16 =
      llvm::any_of(inputs, [](Type type) { return type.isBF16(); });
  const bool hasF16 =
      llvm::any_of(inputs, [](Type type) { return type.isF16(); });
  if (hasBF16 == hasF16)
    return Precision::F32;
  return hasBF16 ? Precision::BF16 : Precision::F16;
}

/// Registers of a thread that a schedule may use.
static int64_t getAvailableRegisters(ScheduleAttr schedule,
                                     const TargetInfo &target) {
  return target.getRegistersPerThread(schedule.getWarps(),
                                      schedule.getBlocks());
}

/// Whether the target has registers and shared memory for a schedule.
static bool fits(const KernelNeeds &needs, int64_t stateRegisters,
                 ScheduleAttr schedule, const TargetInfo &target) {
  return needs.getSharedMemory(schedule) <=
             target.getSharedMemoryPerBlock(schedule.getBlocks()) &&
         stateRegisters + needs.getWorkingRegisters(schedule) <=
             getAvailableRegisters(schedule, target);
}

/// With 32 tokens a chunk, products leave the states their registers on every
/// target, and two stages of a second-order operator fit on each;
/// benchmarks/notes/ has the times of others. Slices, each of which reads keys
/// again, are what nothing else fits without; chunks of 16 tokens, of which two
/// warps take one, what wide rows of 32 bits need. Where there is one chunk, of
/// 16 tokens if it has no more, all is loaded once and stored once, which other
/// blocks hide: as many as fit.
/// Null if nothing fits; `last` is what needs the least then.
static ScheduleAttr getGPUDefault(ArrayRef<FusedScanOp> loops,
                                  const TargetInfo &target,
                                  std::optional<Precision> wanted,
                                  ScheduleAttr &last) {
  const bool isSmall = KernelNeeds::areOneChunk(loops, 16);
  for (int64_t chunk : isSmall ? std::array{16, 32} : std::array{32, 16})
    for (int64_t slices = 1; slices <= ScheduleAttr::kMaxSlices; slices *= 2) {
      KernelNeeds needs(loops, target, slices);
      if (slices != 1 && !needs.areSlicesUseful())
        break;
      const Precision precision =
          wanted ? *wanted : getPrecisionOf(needs.getInputTypes());
      const bool isOne = needs.isOneChunk(chunk);
      const int64_t warps = std::min<int64_t>(
          getDefaultWarps(needs.getStates()), chunk == 32 || isOne ? 8 : 2);
      static constexpr std::pair<int64_t, int64_t> kOfOneChunk[] = {
          {1, 4}, {1, 2}, {1, 1}};
      static constexpr std::pair<int64_t, int64_t> kOfMore[] = {{2, 1}, {1, 1}};
      for (auto [stages, blocks] :
           isOne ? ArrayRef(kOfOneChunk) : ArrayRef(kOfMore)) {
        last =
            ScheduleAttr::get(loops.front()->getContext(), chunk, warps, stages,
                              precision, slices, /*groups=*/0, blocks);
        if (fits(needs, needs.getStateRegisters(last), last, target))
          return last;
      }
    }
  return {};
}

int64_t ScheduleModel::countSlices(ArrayRef<FusedScanOp> loops,
                                   const TargetInfo &target,
                                   std::optional<Precision> precision) {
  if (!target.isGPU)
    return 1;
  ScheduleAttr last, schedule = getGPUDefault(loops, target, precision, last);
  return schedule ? schedule.getSlices() : 0;
}

FailureOr<std::optional<Precision>>
ScheduleModel::parsePrecision(StringRef text,
                              function_ref<InFlightDiagnostic()> emitError) {
  if (text.empty())
    return std::optional<Precision>();
  std::optional<Precision> precision = symbolizePrecision(text);
  if (!precision)
    return emitError() << "expected precision to be bf16, f16, tf32, bf16x3, "
                          "f32 or f64, but got '"
                       << text << "'";
  return precision;
}

LogicalResult ScheduleModel::verifyGPUOperation() {
  for (BlockArgument state : op.getStateArguments())
    if (Type type = getElementTypeOrSelf(state); type.isF64())
      return op.emitOpError() << "expected states of f32 on " << target.arch
                              << " (its tensor cores add up in f32), but got "
                              << state.getType();
  // A log-decay may be f64.
  auto isOperand = [](BlockArgument argument) {
    return llvm::any_of(argument.getUses(), [](OpOperand &use) {
      auto step = dyn_cast<StepOp>(use.getOwner());
      return step &&
             (&use == &step.getQueryMutable() ||
              &use == &step.getKeyMutable() || &use == &step.getValueMutable());
    });
  };
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if ((hasRows(input) || isOperand(op.getBody().getArgument(i))) &&
        getElementTypeOrSelf(input).isF64())
      return op.emitOpError()
             << "expected input #" << i << " to be bf16, f16 or f32 on "
             << target.arch << " (its tensor cores add up in f32), but got "
             << input.getType();
  for (Value sequence :
       llvm::concat<Value>(SmallVector<Value>(op.getInputs()),
                           SmallVector<Value>(op.getSequenceOutputs()))) {
    if (!hasRows(sequence))
      continue;
    int64_t dim = cast<ShapedType>(sequence.getType()).getDimSize(3);
    if (dim > kMaxGPUWidth)
      return op.emitOpError()
             << "expected head dimensions of at most " << kMaxGPUWidth << " on "
             << target.arch << ", but got " << dim << " in "
             << sequence.getType();
  }
  return success();
}

int64_t ScheduleModel::getSharedMemory(ScheduleAttr schedule) {
  return KernelNeeds(op, target, schedule.getSlices())
      .getSharedMemory(schedule);
}

int64_t ScheduleModel::getStateRegisters(ScheduleAttr schedule) {
  if (schedule.getGroups())
    return GroupStages(op).getStateRegisters(schedule.getGroups());
  return KernelNeeds(op, target, schedule.getSlices())
      .getStateRegisters(schedule);
}

LogicalResult ScheduleModel::verifyPrecision(ScheduleAttr schedule) {
  Precision precision = schedule.getPrecision();
  if (precision == Precision::F64)
    return op.emitOpError()
           << "expected a schedule of precision bf16, f16, tf32, bf16x3 or f32 "
           << "on " << target.arch
           << " (its tensor cores add up in f32), but got " << schedule;
  if (precision != Precision::BF16 && precision != Precision::F16)
    return success();
  // Rows of f32 are what another loop has computed, if there are others.
  Type narrow = precision == Precision::BF16
                    ? Type(BFloat16Type::get(op.getContext()))
                    : Type(Float16Type::get(op.getContext()));
  const bool hasNarrow = llvm::any_of(op.getInputs(), [&](Value input) {
    return getElementTypeOrSelf(input) == narrow;
  });
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    Type type = getElementTypeOrSelf(input);
    if (hasRows(input) && type != narrow && !(hasNarrow && type.isF32()))
      return op.emitOpError()
             << "expected input #" << i << " to be "
             << stringifyPrecision(precision)
             << " (products in that precision take inputs as they are; tf32, "
             << "bf16x3 and f32 take all), but got " << input.getType()
             << " and " << schedule;
  }
  return success();
}

LogicalResult ScheduleModel::verifyGroups(ScheduleAttr schedule) {
  GroupStages stages(op);
  if (std::string obstacle =
          stages.getObstacle(target, schedule.getPrecision());
      !obstacle.empty())
    return op.emitOpError() << "expected a schedule without groups ("
                            << obstacle << "), but got " << schedule;
  if (schedule.getChunk() != GroupStages::kChunk || schedule.getStages() < 2 ||
      schedule.getSlices() != 1)
    return op.emitOpError() << "expected a schedule of groups with chunks of "
                            << GroupStages::kChunk
                            << ", two stages or more, and one slice (a product "
                               "has as many rows, "
                               "and copies run ahead), but got "
                            << schedule;
  if (schedule.getGroups() <= stages.getNumStages())
    return success();
  return op.emitOpError() << "expected a schedule of at most "
                          << stages.getNumStages()
                          << " groups (the loop's scans that share no "
                             "registers), but got "
                          << schedule;
}

LogicalResult ScheduleModel::verify(ScheduleAttr schedule) {
  if (!target.isGPU && schedule.getSlices() != 1)
    return op.emitOpError()
           << "expected a schedule of one slice on " << target.arch
           << " (it has no thread blocks), but got " << schedule;
  if (!target.isGPU)
    return success();
  if (failed(verifyGPUOperation()))
    return failure();
  if (failed(verifyPrecision(schedule)))
    return failure();
  if (schedule.getGroups() && failed(verifyGroups(schedule)))
    return failure();
  const int64_t warps =
      schedule.getGroups() ? ScheduleAttr::kWarpsOfGroup : schedule.getWarps();
  KernelNeeds needs(op, target, schedule.getSlices());
  if (schedule.getSlices() != 1 && !needs.areSlicesUseful())
    return op.emitOpError()
           << "expected a schedule of one slice (rows or states that leave the "
              "loop are summed over in it, or too narrow to be cut), but got "
           << schedule;
  for (VectorType state : needs.getStates())
    if (!isShared(state.getDimSize(0), state.getDimSize(1), warps))
      return op.emitOpError()
             << "expected a schedule whose warps can share a state of "
             << state.getDimSize(0) << "x" << state.getDimSize(1)
             << " (in pieces of 16x8), but got " << schedule;
  const int64_t shared = needs.getSharedMemory(schedule),
                most = target.getSharedMemoryPerBlock(schedule.getBlocks());
  if (shared > most)
    return op.emitOpError() << "expected a schedule that needs at most " << most
                            << " bytes of shared memory (" << target.arch
                            << " has no more for a thread block), but got "
                            << schedule << ", which needs " << shared;
  const int64_t available = getAvailableRegisters(schedule, target),
                working = needs.getWorkingRegisters(schedule),
                states = getStateRegisters(schedule);
  if (states + working > available)
    return op.emitOpError()
           << "expected a schedule whose states need at most "
           << available - working << " registers of a thread (" << target.arch
           << " has " << available << ", and products need " << working
           << "), but got " << schedule << ", which needs " << states;
  return success();
}

/// A group for each stage, two blocks a multiprocessor and three chunks a ring,
/// or what of that fits first; all warps share every product where nothing
/// does, which a remark explains. Null there.
ScheduleAttr ScheduleModel::getGroupDefault(std::optional<Precision> wanted) {
  if (!target.hasWgmma)
    return {};
  const KernelNeeds needs(op, target, /*slices=*/1);
  const Precision precision =
      wanted ? *wanted : getPrecisionOf(needs.getInputTypes());
  GroupStages stages(op);
  std::string obstacle = stages.getObstacle(target, precision);
  const int64_t most =
      std::min(stages.getNumStages(), ScheduleAttr::kMaxGroups);
  for (int64_t groups = obstacle.empty() ? most : 0; groups > 0; --groups)
    for (int64_t blocks : {2, 1})
      for (int64_t chunks : {3, 2}) {
        auto schedule = ScheduleAttr::get(op.getContext(), GroupStages::kChunk,
                                          ScheduleAttr::kWarpsOfGroup * groups,
                                          chunks, precision,
                                          /*slices=*/1, groups, blocks);
        if (fits(needs, stages.getStateRegisters(groups), schedule, target))
          return schedule;
      }
  if (obstacle.empty())
    obstacle = "states and tiles do not fit";
  op.emitRemark("executed by warps that share every product (mma.sync), not by "
                "groups (wgmma): ")
      << obstacle;
  return {};
}

FailureOr<ScheduleAttr>
ScheduleModel::getDefault(std::optional<Precision> wanted) {
  if (!target.isGPU) {
    // Products in f32 at least; in f64 if anything is.
    bool isF64 = llvm::any_of(op.getOperands(), [](Value operand) {
      return getElementTypeOrSelf(operand).isF64();
    });
    Precision precision = isF64 ? Precision::F64 : Precision::F32;
    return ScheduleAttr::get(op.getContext(), /*chunk=*/16, /*warps=*/1,
                             /*stages=*/1, wanted.value_or(precision));
  }
  if (failed(verifyGPUOperation()))
    return failure();
  if (ScheduleAttr groups = getGroupDefault(wanted))
    return groups;
  // What does not fit says why.
  ScheduleAttr last, schedule = getGPUDefault(op, target, wanted, last);
  if (failed(verify(schedule ? schedule : last)))
    return failure();
  return schedule;
}
