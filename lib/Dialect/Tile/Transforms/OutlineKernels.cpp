//===- OutlineKernels.cpp - tile programs as GPU kernels --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::hla::tile {
#define GEN_PASS_DEF_HLATILEOUTLINEKERNELS
#include "hla/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::hla::tile

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

/// Copies constants that the launch's region uses into it.
static void sinkConstants(LaunchOp launch) {
  Region &body = launch.getBody();
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(body, captured);
  OpBuilder b = OpBuilder::atBlockBegin(&body.front());
  for (Value value : captured) {
    Operation *definition = value.getDefiningOp();
    if (definition && matchPattern(definition, m_Constant()))
      replaceAllUsesInRegionWith(value, b.clone(*definition)->getResult(0),
                                 body);
  }
}

namespace {

struct OutlineKernels
    : hla::tile::impl::HLATileOutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<LaunchOp> launches;
    module.walk([&](LaunchOp launch) { launches.push_back(launch); });
    if (launches.empty())
      return;
    auto target =
        module->getAttrOfType<TargetAttr>(TargetAttr::kModuleAttrName);
    if (target && !target.getInfo().isGPU) {
      module.emitError("expected a GPU as the module's target (its kernels are "
                       "outlined), but got ")
          << target;
      return signalPassFailure();
    }
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
    SymbolTable symbols(module);
    for (LaunchOp launch : launches)
      outline(launch, symbols);
  }

  /// The module of the kernels of one function.
  gpu::GPUModuleOp getKernelModule(func::FuncOp entry, SymbolTable &symbols) {
    std::string name = (entry.getSymName() + "_kernels").str();
    if (auto existing = symbols.lookup<gpu::GPUModuleOp>(name))
      return existing;
    OpBuilder b(&getContext());
    auto kernels = gpu::GPUModuleOp::create(b, entry.getLoc(), name);
    symbols.insert(kernels);
    return kernels;
  }

  /// Creates the kernel, with the launch's body as its own.
  gpu::GPUFuncOp createKernel(LaunchOp launch, ValueRange captured,
                              SymbolTable &symbols) {
    auto entry = launch->getParentOfType<func::FuncOp>();
    gpu::GPUModuleOp kernels = getKernelModule(entry, symbols);
    ImplicitLocOpBuilder b(launch.getLoc(), &getContext());
    auto kernel =
        gpu::GPUFuncOp::create(b, (entry.getSymName() + "_kernel").str(),
                               b.getFunctionType(captured.getTypes(), {}));
    SymbolTable(kernels).insert(kernel);
    kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
    kernel->setAttr(kScheduleAttrName, launch.getSchedule());
    auto threads = static_cast<int32_t>(32 * launch.getSchedule().getWarps());
    kernel.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({threads, 1, 1}));

    Block &body = kernel.getBody().front();
    b.setInsertionPointToStart(&body);
    IRMapping mapping;
    mapping.map(launch.getBatch(),
                gpu::BlockIdOp::create(b, gpu::Dimension::x));
    mapping.map(launch.getHead(), gpu::BlockIdOp::create(b, gpu::Dimension::y));
    // Slices of a part are neighbours.
    Value last;
    if (launch.getPart() || launch.getSlice())
      last = gpu::BlockIdOp::create(b, gpu::Dimension::z);
    if (launch.getPart() && launch.getSlice()) {
      Value slices =
          arith::ConstantIndexOp::create(b, launch.getSchedule().getSlices());
      mapping.map(launch.getSlice(), arith::RemUIOp::create(b, last, slices));
      mapping.map(launch.getPart(), arith::DivUIOp::create(b, last, slices));
    } else if (last) {
      mapping.map(launch.getBody().getArguments().back(), last);
    }
    mapping.map(captured, kernel.getArguments());
    for (Operation &op : launch.getBody().front().without_terminator())
      b.clone(op, mapping);
    gpu::ReturnOp::create(b);
    return kernel;
  }

  void outline(LaunchOp launch, SymbolTable &symbols) {
    sinkConstants(launch);
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(launch.getBody(), captured);
    gpu::GPUFuncOp kernel =
        createKernel(launch, captured.getArrayRef(), symbols);

    ImplicitLocOpBuilder b(launch.getLoc(), launch);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value shares = launch.getSlice() ? arith::ConstantIndexOp::create(
                                           b, launch.getSchedule().getSlices())
                                     : one;
    if (Value parts = launch.getParts())
      shares =
          launch.getSlice() ? arith::MulIOp::create(b, parts, shares) : parts;
    Value threads =
        arith::ConstantIndexOp::create(b, 32 * launch.getSchedule().getWarps());
    // Batches, of which there may be more, where a grid may be larger.
    gpu::LaunchFuncOp::create(
        b, kernel,
        gpu::KernelDim3{launch.getBatches(), launch.getHeads(), shares},
        gpu::KernelDim3{threads, one, one},
        /*dynamicSharedMemorySize=*/Value(), captured.getArrayRef());
    launch.erase();
  }
};

} // namespace
