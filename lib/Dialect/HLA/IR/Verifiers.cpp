//===- Verifiers.cpp - constraints that hla operations share ----*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verifiers.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hla;

/// How an error says that heads are counted `group` times.
static std::string describeGroup(int64_t group) {
  return group == 1 ? "" : (" in groups of " + Twine(group)).str();
}

LogicalResult WalkVerifier::unify(Extent extent, int64_t size,
                                  const Twine &name, Type type, int64_t group) {
  if (ShapedType::isDynamic(size))
    return success();
  int64_t total;
  if (llvm::MulOverflow(size, group, total))
    return op->emitOpError()
           << "expected " << name << " to have at most "
           << std::numeric_limits<int64_t>::max() / group << " heads"
           << describeGroup(group)
           << " (heads are counted in 64 bits), but got " << type;
  Known &other = known[extent];
  if (ShapedType::isDynamic(other.size)) {
    other = {total, name.str() + describeGroup(group), type};
    return success();
  }
  if (other.size == total)
    return success();
  static constexpr StringLiteral kNames[] = {"batches",   "tokens",   "heads",
                                             "sequences", "segments", "slots"};
  return op->emitOpError() << "expected " << name << describeGroup(group)
                           << " to be of " << other.size << " "
                           << kNames[extent] << ", as " << other.name << " is, "
                           << other.type << " (one loop walks all), but got "
                           << type;
}

LogicalResult WalkVerifier::addSequence(const Twine &name, Type type,
                                        int64_t group, bool allowScalars) {
  auto shaped = cast<ShapedType>(type);
  const int64_t rank = shaped.getRank();
  if (rank != 4 && !(allowScalars && (rank == 3 || rank == 1)))
    return op->emitOpError() << "expected " << name
                             << " to have rank 4 (batch, token, head and "
                                "feature"
                             << (allowScalars ? ", or 3 or 1 for numbers of "
                                                "tokens or heads"
                                              : "")
                             << "), but got " << type;
  if (rank == 4 && (shaped.isDynamicDim(3) || shaped.getDimSize(3) == 0))
    return op->emitOpError() << "expected " << name
                             << " to have a static, positive last dimension "
                                "(kernels are compiled for a head dimension), "
                                "but got "
                             << type;
  if (rank == 1)
    return unify(Head, shaped.getDimSize(0), name, type, group);
  if (lengths && shaped.getDimSize(0) != 1)
    return op->emitOpError()
           << "expected " << name
           << " to have a static batch of 1 (lengths cut the tokens of one "
              "batch), but got "
           << type;
  const int64_t token = layout == HeadLayout::BTHD ? 1 : 2;
  if (failed(unify(Batch, shaped.getDimSize(0), name, type)) ||
      failed(unify(Token, shaped.getDimSize(token), name, type)) ||
      failed(unify(Head, shaped.getDimSize(3 - token), name, type, group)))
    return failure();
  return success();
}

LogicalResult WalkVerifier::addLogDecay(Type type) {
  auto shaped = cast<ShapedType>(type);
  if (shaped.getRank() != 3 && shaped.getRank() != 1)
    return op->emitOpError()
           << "expected log_decay to have rank 3 (batch, token and head) or 1 "
              "(head), but got "
           << type;
  return addSequence("log_decay", type, /*group=*/1, /*allowScalars=*/true);
}

WalkVerifier::Extent WalkVerifier::getStateExtent() const {
  return slots ? Slots : lengths ? Sequences : Batch;
}

LogicalResult WalkVerifier::addStates(const Twine &name, Type type,
                                      ArrayRef<int64_t> shape,
                                      Type elementType) {
  auto shaped = cast<ShapedType>(type);
  const Extent extent = getStateExtent();
  if (shaped.getRank() != 4 || shaped.getShape().drop_front(2) != shape) {
    const char *letter = extent == Slots ? "S" : lengths ? "N" : "B";
    const char *of = extent == Slots ? "slot" : lengths ? "sequence" : "batch";
    return op->emitOpError()
           << "expected " << name << " to have the shape [" << letter << ",H,"
           << shape[0] << "," << shape[1] << "] (one state a " << of
           << " and head), but got " << type;
  }
  if (shaped.getElementType() != elementType)
    return op->emitOpError()
           << "expected " << name << " to have element type " << elementType
           << " (states are f64 where a sequence is, else f32), but got "
           << type;
  if (failed(unify(extent, shaped.getDimSize(0), name, type)) ||
      failed(unify(Head, shaped.getDimSize(1), name, type)))
    return failure();
  return success();
}

LogicalResult WalkVerifier::addSegmentStates(const Twine &name, Type type,
                                             ArrayRef<int64_t> shape,
                                             Type elementType) {
  auto shaped = cast<ShapedType>(type);
  if (shaped.getRank() != 5 || shaped.getShape().drop_front(3) != shape ||
      shaped.getElementType() != elementType)
    return op->emitOpError()
           << "expected " << name << " to have the shape [N-1,B,H," << shape[0]
           << "," << shape[1] << "] of " << elementType
           << " (one state a segment, batch and head), but got " << type;
  return failure(failed(unify(Segments, shaped.getDimSize(0), name, type)) ||
                 failed(unify(Batch, shaped.getDimSize(1), name, type)) ||
                 failed(unify(Head, shaped.getDimSize(2), name, type)));
}

LogicalResult WalkVerifier::finish() {
  if (slots && failed(unify(lengths ? Sequences : Batch,
                            cast<ShapedType>(slots.getType()).getDimSize(0),
                            "slots", slots.getType())))
    return failure();
  if (!lengths)
    return success();
  auto type = cast<ShapedType>(lengths.getType());
  if (type.isDynamicDim(0))
    return success();
  if (type.getDimSize(0) == 0)
    return op->emitOpError() << "expected lengths to have at least one element "
                                "(where the first sequence begins), but got "
                             << type;
  return unify(Sequences, type.getDimSize(0) - 1, "lengths", type);
}

LogicalResult hla::verifyThreeSequences(Operation *op) {
  auto sizes =
      cast<DenseI32ArrayAttr>(*op->getInherentAttr("operandSegmentSizes"));
  static constexpr StringLiteral kNames[] = {"query", "key", "value"};
  for (auto [i, name] : llvm::enumerate(kNames))
    if (sizes[i] != 1)
      return op->emitOpError()
             << "expected 1 " << name
             << " (a scan is of three sequences), but got " << sizes[i];
  return success();
}

LogicalResult hla::verifySameWidth(Operation *op, StringRef name, Type type,
                                   StringRef otherName, Type other,
                                   StringRef why) {
  int64_t size = cast<ShapedType>(type).getDimSize(3);
  int64_t expected = cast<ShapedType>(other).getDimSize(3);
  if (size == expected)
    return success();
  return op->emitOpError() << "expected " << name
                           << " to have a last dimension "
                           << "of " << expected << ", as " << otherName
                           << " has, " << other << " (" << why << "), but got "
                           << type;
}

LogicalResult hla::verifyDecay(Operation *op, double decay, bool hasLogDecay) {
  if (!(decay > 0.0 && decay <= 1.0))
    return op->emitOpError() << "expected decay to be in (0, 1] (a prefix is "
                                "forgotten, never amplified), but got "
                             << decay;
  if (hasLogDecay && decay != 1.0)
    return op->emitOpError() << "expected decay to be 1 where log_decay is "
                                "given (one of them decays), but got "
                             << decay;
  return success();
}

LogicalResult hla::verifyGroups(Operation *op,
                                std::optional<ArrayRef<int64_t>> groups,
                                size_t count, StringRef what) {
  if (!groups)
    return success();
  if (groups->size() != count)
    return op->emitOpError()
           << "expected groups to have " << count << " numbers (" << what
           << "), but got " << groups->size();
  for (int64_t group : *groups)
    if (group < 1)
      return op->emitOpError() << "expected groups to be positive (so many "
                                  "heads read one), but got "
                               << group;
  return success();
}

FloatType hla::getStateElementType(ValueRange sequences) {
  Builder b(sequences.front().getContext());
  bool isF64 = llvm::any_of(sequences, [](Value sequence) {
    return getElementTypeOrSelf(sequence).isF64();
  });
  return isF64 ? cast<FloatType>(b.getF64Type())
               : cast<FloatType>(b.getF32Type());
}
