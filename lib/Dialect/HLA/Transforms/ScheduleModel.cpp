//===- ScheduleModel.cpp - what a schedule needs of a target ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/HLA/Transforms/ScheduleModel.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace mlir::hla;

/// Registers of a thread that a kernel needs beside its states: fragments of
/// scores and of one product, operands on their way, and addresses.
static constexpr int64_t kWorkingRegisters = 112;

/// Whether `warps` warps can share a tile in pieces of 16×8: as many as there
/// are rows of pieces take rows, the others columns.
static bool isShared(int64_t rows, int64_t cols, int64_t warps) {
  const int64_t rowWarps = std::clamp<int64_t>(rows / 16, 1, warps);
  return cols % (8 * (warps / rowWarps)) == 0;
}

/// A head dimension that the fragments of a GPU's tensor cores divide.
static bool isGPUHeadDim(int64_t dim) {
  return dim == 32 || dim == 64 || dim == 128;
}

/// A warp for every 16 rows of the largest state, so that states are register
/// operands of products.
static int64_t getDefaultWarps(ArrayRef<VectorType> states) {
  int64_t dim = 16;
  for (VectorType state : states)
    for (int64_t size : state.getShape())
      dim = std::max(dim, size);
  return dim / 16;
}

/// 32-bit registers of a thread that states of these types take.
static int64_t countRegisters(ArrayRef<VectorType> states, int64_t warps) {
  int64_t elements = 0;
  for (VectorType state : states)
    elements += state.getNumElements();
  return elements / (32 * warps);
}

/// Whether a sequence has rows that are operands of products, not one number a
/// token or a head.
static bool hasRows(Value sequence) {
  return cast<ShapedType>(sequence.getType()).getRank() == 4;
}

static SmallVector<VectorType> getStateTypes(FusedScanOp op) {
  return llvm::map_to_vector(op.getStateArguments(), [](BlockArgument state) {
    return cast<VectorType>(state.getType());
  });
}

bool ScheduleModel::holdsStates(ArrayRef<VectorType> states,
                                const TargetInfo &target) {
  if (!target.isGPU)
    return true;
  const int64_t warps = getDefaultWarps(states);
  return countRegisters(states, warps) + kWorkingRegisters <=
         target.getRegistersPerThread(warps);
}

/// Bytes of an element in shared memory, where tf32 is an f32.
static int64_t getBytes(Type elementType) {
  return elementType.isTF32() ? 4 : elementType.getIntOrFloatBitWidth() / 8;
}

/// The precision of the narrowest rows, if they are of one type: what is wider
/// beside them, rows that another loop has computed, would be rounded to it in
/// one loop too.
static Precision getPrecisionOf(OperandRange inputs) {
  auto any = [&](auto predicate) {
    return llvm::any_of(inputs, [&](Value input) {
      return hasRows(input) && predicate(getElementTypeOrSelf(input));
    });
  };
  const bool hasBF16 = any([](Type type) { return type.isBF16(); });
  const bool hasF16 = any([](Type type) { return type.isF16(); });
  if (hasBF16 == hasF16)
    return Precision::F32;
  return hasBF16 ? Precision::BF16 : Precision::F16;
}

LogicalResult ScheduleModel::verifyGPUOperation() {
  if (op.getNumStates() == 0)
    return op.emitOpError(
        "expected a state (a kernel's warps are shared out by "
        "states), but got none");
  for (BlockArgument state : op.getStateArguments())
    if (Type type = getElementTypeOrSelf(state); type.isF64())
      return op.emitOpError() << "expected states of f32 on " << target.arch
                              << " (its tensor cores add up in f32), but got "
                              << state.getType();
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (hasRows(input) && getElementTypeOrSelf(input).isF64())
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
    if (!isGPUHeadDim(dim))
      return op.emitOpError()
             << "expected head dimensions of 32, 64 or 128 on " << target.arch
             << ", but got " << dim << " in " << sequence.getType();
  }
  return success();
}

int64_t ScheduleModel::getSharedMemory(ScheduleAttr schedule) {
  const int64_t chunk = schedule.getChunk();
  const int64_t bytes = getBytes(schedule.getOperandType());
  auto chunkBytes = [&](Type row, int64_t elementBytes) {
    return chunk * cast<ShapedType>(row).getShape().back() * elementBytes;
  };
  auto rowBytes = [&](Type row) { return chunkBytes(row, bytes); };
  int64_t total = 0;
  for (Value input : op.getInputs())
    if (hasRows(input))
      total +=
          schedule.getStages() *
          chunkBytes(input.getType(), getBytes(getElementTypeOrSelf(input)));
  // Wider outputs are stored from registers.
  for (Value output : op.getSequenceOutputs())
    if (hasRows(output) && getBytes(getElementTypeOrSelf(output)) == 2)
      total += chunkBytes(output.getType(), 2);
  Block &body = op.getBody().front();
  for (StepOp step : body.getOps<StepOp>()) {
    total += chunk * chunk * bytes;
    if (llvm::any_of(step.getRow().getUsers(), llvm::IsaPred<StepOp>))
      total += rowBytes(step.getRow().getType());
    // Rows that are scaled are written again.
    if (step.getLogDecay() || step.getDecay().convertToDouble() != 1.0)
      total += std::max(rowBytes(step.getKey().getType()),
                        rowBytes(step.getValue().getType()));
    // A state is an operand in registers if every warp has columns of its own.
    ArrayRef<int64_t> state = step.getState().getType().getShape();
    if (state[1] < 16 * schedule.getWarps())
      total += state[0] * state[1] * bytes;
  }
  // Every warp's part of a sum, at most.
  for ([[maybe_unused]] RowSumOp sum : body.getOps<RowSumOp>())
    total += chunk * schedule.getWarps() * 4;
  return total;
}

int64_t ScheduleModel::getStateRegisters(ScheduleAttr schedule) {
  return countRegisters(getStateTypes(op), schedule.getWarps());
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

LogicalResult ScheduleModel::verify(ScheduleAttr schedule) {
  if (!target.isGPU)
    return success();
  if (failed(verifyGPUOperation()))
    return failure();
  if (failed(verifyPrecision(schedule)))
    return failure();
  auto verifyShared = [&](StringRef what, int64_t rows,
                          int64_t cols) -> LogicalResult {
    if (isShared(rows, cols, schedule.getWarps()))
      return success();
    return op.emitOpError() << "expected a schedule whose warps can share "
                            << what << " of " << rows << "x" << cols
                            << " (in pieces of 16x8), but got " << schedule;
  };
  if (failed(verifyShared("scores", schedule.getChunk(), schedule.getChunk())))
    return failure();
  for (BlockArgument state : op.getStateArguments()) {
    ArrayRef<int64_t> shape = cast<ShapedType>(state.getType()).getShape();
    if (failed(verifyShared("a state", shape[0], shape[1])))
      return failure();
  }
  if (int64_t shared = getSharedMemory(schedule);
      shared > target.sharedMemoryPerBlock)
    return op.emitOpError()
           << "expected a schedule that needs at most "
           << target.sharedMemoryPerBlock << " bytes of shared memory ("
           << target.arch << " has no more for a thread block), but got "
           << schedule << ", which needs " << shared;
  int64_t available = target.getRegistersPerThread(schedule.getWarps());
  if (int64_t states = getStateRegisters(schedule);
      states + kWorkingRegisters > available)
    return op.emitOpError()
           << "expected a schedule whose states need at most "
           << available - kWorkingRegisters << " registers of a thread ("
           << target.arch << " has " << available << ", and products need "
           << kWorkingRegisters << "), but got " << schedule << ", which needs "
           << states;
  return success();
}

FailureOr<ScheduleAttr>
ScheduleModel::getDefault(std::optional<Precision> wanted) {
  auto getPrecision = [&] {
    if (wanted)
      return *wanted;
    if (target.isGPU)
      return getPrecisionOf(op.getInputs());
    // Products in f32 at least; in f64 if anything is.
    bool isF64 = llvm::any_of(op.getOperands(), [](Value operand) {
      return getElementTypeOrSelf(operand).isF64();
    });
    return isF64 ? Precision::F64 : Precision::F32;
  };
  auto get = [&](int64_t chunk, int64_t warps, int64_t stages) {
    return ScheduleAttr::get(op.getContext(), chunk, warps, stages,
                             getPrecision());
  };
  if (!target.isGPU)
    return get(/*chunk=*/16, /*warps=*/1, /*stages=*/1);
  if (failed(verifyGPUOperation()))
    return failure();
  const int64_t warps = getDefaultWarps(getStateTypes(op));
  // With 32 tokens a chunk, products leave the states their registers on every
  // target, and two stages of a second-order operator fit on each;
  // benchmarks/notes/ has the times of others.
  ScheduleAttr schedule = get(/*chunk=*/32, warps, /*stages=*/2);
  if (getSharedMemory(schedule) > target.sharedMemoryPerBlock)
    schedule = get(/*chunk=*/32, warps, /*stages=*/1);
  if (failed(verify(schedule)))
    return failure();
  return schedule;
}
