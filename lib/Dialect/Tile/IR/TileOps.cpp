//===- TileOps.cpp - verification and effects of hla_tile operations ------===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductVerifier.h"
#include "hla/Dialect/HLA/IR/EnumFormat.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

#define GET_OP_CLASSES
#include "hla/Dialect/Tile/IR/TileOps.cpp.inc"

static LogicalResult verifySameElementType(Operation *op, StringRef name,
                                           Type type, StringRef otherName,
                                           Type other) {
  if (getElementTypeOrSelf(type) == getElementTypeOrSelf(other))
    return success();
  return op->emitOpError() << "expected " << name
                           << " to have the element type of " << otherName
                           << ", " << getElementTypeOrSelf(other)
                           << ", but got " << type;
}

/// The same for a tile that copies of a view fill: it may be tf32 where the
/// view is f32.
static LogicalResult verifyLoadedElementType(Operation *op, StringRef name,
                                             Type type, Type view) {
  if (getElementTypeOrSelf(type).isTF32() && getElementTypeOrSelf(view).isF32())
    return success();
  return verifySameElementType(op, name, type, "the view", view);
}

/// Verifies that a tile has `rows` rows, those of what `why` says.
static LogicalResult verifyRows(Operation *op, StringRef name,
                                RankedTensorType type, int64_t rows,
                                StringRef why) {
  if (type.getDimSize(0) == rows)
    return success();
  return op->emitOpError() << "expected " << name << " to have " << rows
                           << " rows (" << why << "), but got " << type;
}

/// Verifies that what goes between a column in memory and a tile is a column.
static LogicalResult verifyColumn(Operation *op, Type tile, Type view,
                                  Value slice) {
  if (cast<ShapedType>(view).getRank() == 2)
    return success();
  if (slice)
    return op->emitOpError() << "expected no slice (the view has one number a "
                                "row), but got one of "
                             << view;
  if (cast<ShapedType>(tile).getDimSize(1) == 1)
    return success();
  return op->emitOpError() << "expected the tile to have one column (the view "
                              "has one number a row), but got "
                           << tile;
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

void LaunchOp::build(OpBuilder &b, OperationState &state, Value batches,
                     Value heads, Value parts, ScheduleAttr schedule) {
  state.addOperands({batches, heads});
  if (parts)
    state.addOperands(parts);
  state.addAttribute(getScheduleAttrName(state.name), schedule);
  Region *body = state.addRegion();
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> indices(state.operands.size() +
                                (schedule.getSlices() == 1 ? 0 : 1),
                            b.getIndexType());
  b.createBlock(body, body->end(), indices,
                SmallVector<Location>(indices.size(), state.location));
  ensureTerminator(*body, b, state.location);
}

// launch `(` %b `,` %h (`,` %p)? (`,` %s)? `)` `in` `(` %B `,` %H (`,` %P)? `)`
// `schedule` `(` attr `)` region
ParseResult LaunchOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument, 2> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand, 2> bounds;
  ScheduleAttr schedule;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in"))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(bounds, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("schedule") || parser.parseLParen() ||
      parser.parseCustomAttributeWithFallback(schedule, Type(),
                                              getScheduleAttrName(result.name),
                                              result.attributes) ||
      parser.parseRParen())
    return failure();
  if (bounds.size() < 2 || bounds.size() > 3 ||
      arguments.size() < bounds.size() || arguments.size() > bounds.size() + 1)
    return parser.emitError(loc, "expected two or three indices and bounds "
                                 "(batch, head and part; one more index is the "
                                 "slice), but got ")
           << arguments.size() << " and " << bounds.size();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = index;
  Region *body = result.addRegion();
  if (parser.resolveOperands(bounds, index, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void LaunchOp::print(OpAsmPrinter &p) {
  p << " (";
  llvm::interleaveComma(getBody().getArguments(), p);
  p << ") in (" << getOperands() << ") schedule(";
  p.printStrippedAttrOrType(getSchedule());
  p << ")";
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {getScheduleAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                /*printBlockTerminators=*/true);
}

LogicalResult LaunchOp::verifyRegions() {
  Region &body = getBody();
  const unsigned expected =
      getNumOperands() + (getSchedule().getSlices() == 1 ? 0 : 1);
  if (body.getNumArguments() != expected ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isIndex(); }))
    return emitOpError() << "expected the region to have " << expected
                         << " index arguments (batch, head, and a part and a "
                            "slice if there are several), but got "
                         << body.getArgumentTypes();
  WalkResult result = body.walk([&](Operation *op) {
    Value slice = isa<LoadOp>(op)    ? cast<LoadOp>(op).getSlice()
                  : isa<StoreOp>(op) ? cast<StoreOp>(op).getSlice()
                                     : Value();
    if (!slice || slice == getSlice())
      return WalkResult::advance();
    op->emitOpError() << "expected the slice to be the launch's last index "
                         "(its schedule says how many there are), but got "
                      << slice;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Program operations
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  // load-C1
  if (failed(verifyLoadedElementType(*this, "the tile", getTile().getType(),
                                     getView().getType())))
    return failure();
  // load-C2
  return verifyColumn(*this, getTile().getType(), getView().getType(),
                      getSlice());
}

LogicalResult StoreOp::verify() {
  // store-C1
  if (failed(verifySameElementType(*this, "the tile", getTile().getType(),
                                   "the view", getView().getType())))
    return failure();
  // store-C2
  return verifyColumn(*this, getTile().getType(), getView().getType(),
                      getSlice());
}

LogicalResult DotOp::verify() {
  // dot-C1
  if (failed(verifyProduct(*this)))
    return failure();
  // dot-C2
  bool isF64 = getElementTypeOrSelf(getLhs()).isF64() ||
               getElementTypeOrSelf(getRhs()).isF64();
  Type acc = getElementTypeOrSelf(getAcc());
  if (!acc.isF64() && (isF64 || !acc.isF32()))
    return emitOpError() << "expected acc to have element type "
                         << (isF64 ? "f64" : "f32 or f64")
                         << " (sums are as wide as operands), but got " << acc;
  // dot-C3
  if (getBf16x3() && !acc.isF32())
    return emitOpError() << "expected acc to have element type f32 (operands "
                            "are sums of two bf16), but got "
                         << acc;
  return success();
}

OpFoldResult DotOp::fold(FoldAdaptor) {
  if (matchPattern(getLhs(), m_AnyZeroFloat()) ||
      matchPattern(getRhs(), m_AnyZeroFloat()))
    return getAcc();
  return {};
}

LogicalResult CausalOp::verify() {
  // causal-C1
  ArrayRef<int64_t> shape = getSource().getType().getShape();
  if (shape[0] != shape[1])
    return emitOpError() << "expected a square tile (scores of a chunk against "
                            "itself), but got "
                         << getSource().getType();
  // causal-C2
  if (!getBy())
    return success();
  return verifyRows(*this, "by", getBy().getType(), shape[0],
                    "one a token of the scores");
}

//===----------------------------------------------------------------------===//
// Decays and rows
//===----------------------------------------------------------------------===//

// prefix_sum-C1
LogicalResult PrefixSumOp::verify() {
  return verifyRows(*this, "the result", getSums().getType(),
                    getLogDecays().getType().getDimSize(0),
                    "a sum for every log-decay");
}

// decay-C1
LogicalResult DecayOp::verify() {
  if (getSpan() == Span::All)
    return success();
  return verifyRows(*this, "by", getBy().getType(),
                    getSource().getType().getDimSize(0),
                    "one a row of the tile");
}

OpFoldResult MaskOp::fold(FoldAdaptor adaptor) {
  auto count = dyn_cast_or_null<IntegerAttr>(adaptor.getCount());
  const unsigned dim = getDim() == Dim::Rows ? 0 : 1;
  if (count && count.getInt() >= getSource().getType().getDimSize(dim))
    return getSource();
  return {};
}

LogicalResult SumRowsOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  // sum_rows-C1
  if (failed(verifyRows(*this, "the result", result, source.getDimSize(0),
                        "a sum for every row")))
    return failure();
  // sum_rows-C2
  if (result.getElementTypeBitWidth() >= source.getElementTypeBitWidth())
    return success();
  return emitOpError() << "expected sums that are not narrower than the tile's "
                          "elements, "
                       << source << ", but got " << result;
}

// broadcast-C1
LogicalResult BroadcastOp::verify() {
  RankedTensorType source = getSource().getType();
  if (failed(verifyRows(*this, "the result", getType(), source.getDimSize(0),
                        "those of the column")))
    return failure();
  return verifySameElementType(*this, "the result", getType(), "the column",
                               source);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

// convert_layout-C1
LogicalResult ConvertLayoutOp::verify() {
  RankedTensorType source = getSource().getType(), result = getType();
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType())
    return emitOpError() << "expected the result to have the shape and element "
                            "type of the source, "
                         << source << ", but got " << result;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? getSource() : Value();
}

//===----------------------------------------------------------------------===//
// Scheduled operations
//===----------------------------------------------------------------------===//

void AllocOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getOpResult(0),
                       SideEffects::DefaultResource::get());
}

int64_t AllocOp::getSlotBytes() {
  MemRefType type = getRing().getType();
  return type.getDimSize(1) * type.getDimSize(2) *
         getStorageBits(type.getElementType()) / 8;
}

LogicalResult AllocOp::verify() {
  // alloc-C1
  int64_t offset = getOffsetAttr().getInt();
  if (offset < 0 || offset % 128)
    return emitOpError() << "expected the offset to be a multiple of 128 "
                            "(swizzles are relative to it), but got "
                         << offset;
  // alloc-C2
  MemRefType ring = getRing().getType();
  return cast<SmemAttr>(ring.getMemorySpace())
      .verifyEncoding(ring.getShape().drop_front(), ring.getElementType(),
                      [&] { return emitOpError(); });
}

LogicalResult SlotOp::verify() {
  // slot-C1
  MemRefType ring = getRing().getType();
  auto expected =
      MemRefType::get(ring.getShape().drop_front(), ring.getElementType(),
                      MemRefLayoutAttrInterface(), ring.getMemorySpace());
  if (getBuffer().getType() != expected)
    return emitOpError() << "expected the buffer to be " << expected
                         << " (a slot of the ring), but got "
                         << getBuffer().getType();
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  // copy_async-C1
  if (failed(verifyLoadedElementType(*this, "the buffer", getBuffer().getType(),
                                     getView().getType())))
    return failure();
  // copy_async-C2
  auto smem =
      cast<SmemAttr>(cast<MemRefType>(getBuffer().getType()).getMemorySpace());
  if (smem.getOrder() != Order::Row)
    return emitOpError() << "expected the buffer to be stored by rows (as the "
                            "view is), but got "
                         << getBuffer().getType();
  return success();
}

// copy_wait-C1
LogicalResult CopyWaitOp::verify() {
  int64_t pending = getPendingAttr().getInt();
  if (pending < 0)
    return emitOpError() << "expected pending not to be negative, but got "
                         << pending;
  return success();
}

// round-C1
LogicalResult RoundOp::verify() {
  auto buffer = cast<MemRefType>(getBuffer().getType());
  if (buffer.getElementType().isTF32() &&
      cast<SmemAttr>(buffer.getMemorySpace()).getOrder() == Order::Row)
    return success();
  return emitOpError() << "expected a buffer of tf32, stored by rows, but got "
                       << buffer;
}

/// Verifies that a fragment and a buffer hold the same tile.
static LogicalResult verifyTransfer(Operation *op, RankedTensorType tile,
                                    MemRefType buffer) {
  if (isa_and_nonnull<FragAttr>(tile.getEncoding()) &&
      tile.getShape() == buffer.getShape() &&
      tile.getElementType() == buffer.getElementType())
    return success();
  return op->emitOpError() << "expected the tile to be a fragment with the "
                              "shape and element type of the buffer, "
                           << buffer << ", but got " << tile;
}

// write-C1
LogicalResult WriteOp::verify() {
  return verifyTransfer(*this, getTile().getType(),
                        cast<MemRefType>(getBuffer().getType()));
}

// read-C1
LogicalResult ReadOp::verify() {
  return verifyTransfer(*this, getTile().getType(),
                        cast<MemRefType>(getBuffer().getType()));
}

//===----------------------------------------------------------------------===//
// Effects of operations that may read buffers
//===----------------------------------------------------------------------===//

void DotOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand *operand : {&getLhsMutable(), &getRhsMutable()})
    if (isa<MemRefType>(operand->get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), operand,
                           SideEffects::DefaultResource::get());
}

Speculation::Speculatability DotOp::getSpeculatability() {
  return Speculation::Speculatable;
}
