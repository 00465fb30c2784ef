//===- LaunchRecipe.cpp - launches of a function, in JSON -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchRecipe.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hla;

namespace {

/// Evaluates a function's values to expressions, in program order.
class RecipeBuilder {
public:
  RecipeBuilder(func::FuncOp function, const EntryABI &abi)
      : function(function), abi(abi) {}

  FailureOr<LaunchRecipe> build();

private:
  /// A memref: where it is, and expressions of its extents and strides.
  struct Memory {
    llvm::json::Object pointer;
    SmallVector<std::string> extents, strides;
  };

  void addArguments();
  LogicalResult visit(Operation &op);
  LogicalResult visit(memref::AllocOp alloc);
  void visit(tile::TensorMapOp map);
  LogicalResult visit(gpu::LaunchFuncOp launch);
  /// The expression of an operation on indices, or none.
  std::optional<std::string> evaluate(Operation &op);
  std::string get(Value index) { return indices.lookup(index); }

  func::FuncOp function;
  const EntryABI &abi;
  llvm::DenseMap<Value, std::string> indices;
  llvm::DenseMap<Value, Memory> memories;
  llvm::DenseMap<Value, llvm::json::Object> maps;
  std::string scratch = "0";
  llvm::json::Array launches;
  gpu::GPUModuleOp module;
};

} // namespace

void RecipeBuilder::addArguments() {
  for (auto [argument, value] :
       llvm::zip(abi.arguments, function.getArguments())) {
    Memory memory;
    memory.pointer =
        llvm::json::Object{{"type", "pointer"}, {"argument", argument.name}};
    for (auto [i, dim] : llvm::enumerate(argument.dims)) {
      memory.extents.push_back(dim.isSymbol() ? dim.symbol
                                              : std::to_string(dim.size));
      memory.strides.push_back("stride(" + argument.name + ", " +
                               std::to_string(i) + ")");
    }
    memories.try_emplace(value, std::move(memory));
  }
}

std::optional<std::string> RecipeBuilder::evaluate(Operation &op) {
  llvm::APInt constant;
  if (op.getNumResults() == 1 && matchPattern(&op, m_ConstantInt(&constant)))
    return std::to_string(constant.getSExtValue());
  auto infix = [&](StringRef symbol) {
    return ("(" + get(op.getOperand(0)) + " " + symbol + " " +
            get(op.getOperand(1)) + ")")
        .str();
  };
  auto call = [&](StringRef name) {
    return (name + "(" + get(op.getOperand(0)) + ", " + get(op.getOperand(1)) +
            ")")
        .str();
  };
  return llvm::TypeSwitch<Operation *, std::optional<std::string>>(&op)
      .Case([&](arith::AddIOp) { return infix("+"); })
      .Case([&](arith::SubIOp) { return infix("-"); })
      .Case([&](arith::MulIOp) { return infix("*"); })
      .Case([&](arith::CeilDivSIOp) { return call("ceildiv"); })
      .Case([&](arith::FloorDivSIOp) { return call("floordiv"); })
      .Case([&](arith::MinSIOp) { return call("min"); })
      .Case([&](arith::MaxSIOp) { return call("max"); })
      .Case([&](memref::DimOp dim) -> std::optional<std::string> {
        auto it = memories.find(dim.getSource());
        std::optional<int64_t> i = dim.getConstantIndex();
        if (it == memories.end() || !i)
          return std::nullopt;
        return it->second.extents[*i];
      })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult RecipeBuilder::visit(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity())
    return alloc.emitOpError("expected an intermediate that is contiguous, but "
                             "got ")
           << type;
  Memory memory;
  auto dynamic = alloc.getDynamicSizes().begin();
  for (int64_t size : type.getShape())
    memory.extents.push_back(
        ShapedType::isDynamic(size) ? get(*dynamic++) : std::to_string(size));
  std::string stride = "1";
  for (const std::string &extent : llvm::reverse(memory.extents)) {
    memory.strides.insert(memory.strides.begin(), stride);
    stride = "(" + stride + " * " + extent + ")";
  }
  memory.pointer =
      llvm::json::Object{{"type", "pointer"}, {"scratch", scratch}};
  std::string alignment = std::to_string(kScratchAlignment);
  scratch = "(" + scratch + " + ceildiv(" + stride + " * " +
            std::to_string(type.getElementTypeBitWidth() / 8) + ", " +
            alignment + ") * " + alignment + ")";
  memories.try_emplace(alloc, std::move(memory));
  return success();
}

/// Dimensions from the innermost on, whose blocks are the outermost
/// (`!hla_tile.tensor_map`).
void RecipeBuilder::visit(tile::TensorMapOp map) {
  const Memory &memory = memories.find(map.getTensor())->second;
  tile::TensorMapType type = map.getMap().getType();
  const int64_t blockCols = tile::TensorMapType::kBlockCols;
  const int64_t cols = map.getTensor().getType().getShape().back();
  llvm::json::Array shape{blockCols}, strides, box{blockCols};
  for (int64_t i = type.getBox().size() - 2; i >= 0; --i) {
    shape.push_back(memory.extents[i]);
    strides.push_back(memory.strides[i]);
    box.push_back(type.getBox()[i]);
  }
  shape.push_back(cols / blockCols);
  strides.push_back(blockCols);
  box.push_back(type.getBox().back() / blockCols);
  llvm::json::Object parameter(memory.pointer);
  parameter["type"] = "tensor_map";
  parameter["dtype"] = type.getElementType().isBF16() ? "bf16" : "f16";
  parameter["shape"] = std::move(shape);
  parameter["strides"] = std::move(strides);
  parameter["box"] = std::move(box);
  parameter["swizzle"] = tile::SmemAttr::kBlockBytes;
  maps.try_emplace(map, std::move(parameter));
}

/// The parameters of a kernel are what its arguments are converted to
/// (`convert-hla-tile-to-nvvm`): a memref's pointer and all strides but the
/// last, for a matrix its number of rows, for a list its stride and number;
/// indices; and tensor maps.
LogicalResult RecipeBuilder::visit(gpu::LaunchFuncOp launch) {
  llvm::json::Array parameters;
  for (Value operand : launch.getKernelOperands()) {
    if (auto map = maps.find(operand); map != maps.end()) {
      parameters.push_back(llvm::json::Object(map->second));
      continue;
    }
    auto it = memories.find(operand);
    if (it == memories.end()) {
      parameters.push_back(
          llvm::json::Object{{"type", "i32"}, {"value", get(operand)}});
      continue;
    }
    const Memory &memory = it->second;
    parameters.push_back(llvm::json::Object(memory.pointer));
    ArrayRef<std::string> strides = memory.strides;
    for (const std::string &stride :
         strides.take_front(std::max<size_t>(strides.size() - 1, 1)))
      parameters.push_back(
          llvm::json::Object{{"type", "i64"}, {"value", stride}});
    if (memory.extents.size() <= 2)
      parameters.push_back(
          llvm::json::Object{{"type", "i64"}, {"value", memory.extents[0]}});
  }

  Operation *kernel =
      SymbolTable::lookupNearestSymbolFrom(launch, launch.getKernel());
  auto shared =
      kernel ? kernel->getAttrOfType<IntegerAttr>(tile::kSharedMemoryAttrName)
             : IntegerAttr();
  if (!shared)
    return launch.emitOpError("expected a kernel whose shared memory is known "
                              "(a pass that schedules it writes it), but got ")
           << launch.getKernel();
  auto parent = kernel->getParentOfType<gpu::GPUModuleOp>();
  if (module && parent != module)
    return launch.emitOpError("expected all kernels to be in one module (a "
                              "bundle has one file of code), but got '")
           << module.getName() << "' and '" << parent.getName() << "'";
  module = parent;
  llvm::json::Array block;
  gpu::KernelDim3 threads = launch.getBlockSizeOperandValues();
  for (Value size : {threads.x, threads.y, threads.z}) {
    llvm::APInt constant;
    if (!matchPattern(size, m_ConstantInt(&constant)))
      return launch.emitOpError("expected constant block sizes, but got ")
             << size;
    block.push_back(constant.getSExtValue());
  }
  gpu::KernelDim3 blocks = launch.getGridSizeOperandValues();
  const Value sizes[] = {blocks.x, blocks.y, blocks.z};
  for (auto [size, maxBlocks, name] :
       llvm::zip(sizes, kMaxGrid, StringRef("xyz"))) {
    llvm::APInt constant;
    if (matchPattern(size, m_ConstantInt(&constant)) &&
        constant.getSExtValue() > maxBlocks)
      return launch.emitOpError("expected at most ")
             << maxBlocks << " blocks in " << name
             << " (the largest grid of a device), but got "
             << constant.getSExtValue();
  }
  launches.push_back(llvm::json::Object{
      {"kernel", launch.getKernelName().getValue()},
      {"grid", llvm::json::Array{get(blocks.x), get(blocks.y), get(blocks.z)}},
      {"block", std::move(block)},
      {"cluster", llvm::json::Array{1, 1, 1}},
      {"dynamic_shared_memory", std::to_string(shared.getInt())},
      {"parameters", std::move(parameters)}});
  return success();
}

LogicalResult RecipeBuilder::visit(Operation &op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    return visit(alloc);
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return visit(launch);
  if (auto map = dyn_cast<tile::TensorMapOp>(op);
      map && memories.count(map.getTensor())) {
    visit(map);
    return success();
  }
  if (auto cast = dyn_cast<memref::CastOp>(op);
      cast && memories.count(cast.getSource())) {
    memories.try_emplace(cast, memories.lookup(cast.getSource()));
    return success();
  }
  if (isa<func::ReturnOp>(op))
    return success();
  if (auto dim = dyn_cast<memref::DimOp>(op);
      dim && memories.count(dim.getSource()))
    if (std::optional<int64_t> i = dim.getConstantIndex()) {
      size_t rank = memories.lookup(dim.getSource()).extents.size();
      if (*i < 0 || *i >= static_cast<int64_t>(rank))
        return dim.emitError("expected the dimension of an extent to be from 0 "
                             "to ")
               << rank - 1 << ", but got " << *i;
    }
  if (std::optional<std::string> expression = evaluate(op)) {
    indices[op.getResult(0)] = *expression;
    return success();
  }
  return op.emitError("expected launches of kernels and arithmetic on extents "
                      "(all that a launcher without a compiler can do), but "
                      "got ")
         << op.getName();
}

FailureOr<LaunchRecipe> RecipeBuilder::build() {
  addArguments();
  for (Operation &op : function.getBody().front())
    if (failed(visit(op)))
      return failure();
  LaunchRecipe recipe;
  recipe.launches = std::move(launches);
  recipe.scratchBytes = scratch;
  recipe.module = module;
  return recipe;
}

FailureOr<LaunchRecipe> hla::getLaunchRecipe(func::FuncOp function,
                                             const EntryABI &abi) {
  return RecipeBuilder(function, abi).build();
}
