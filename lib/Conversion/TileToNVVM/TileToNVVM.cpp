//===- TileToNVVM.cpp - tile kernels as LLVM functions ----------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "Patterns.h"
#include "hla/Conversion/Passes.h"
#include "hla/Dialect/Tile/IR/Tile.h"
#include "hla/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::hla {
#define GEN_PASS_DEF_CONVERTHLATILETONVVM
#include "hla/Conversion/Passes.h.inc"
} // namespace mlir::hla

using namespace mlir;
using namespace mlir::hla;
using namespace mlir::hla::tile;

void tile::populateTypeConversions(TypeConverter &converter) {
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](RankedTensorType type,
         SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        if (isa_and_nonnull<LaneAttr>(type.getEncoding())) {
          types.assign(LaneAttr::getRegisters(type.getShape()),
                       type.getElementType());
          return success();
        }
        if (!isa_and_nonnull<FragAttr>(type.getEncoding()))
          return failure();
        Type element = type.getElementType();
        if (element.getIntOrFloatBitWidth() == 16)
          element = VectorType::get({2}, element);
        else if (element.isTF32())
          element = Float32Type::get(element.getContext());
        else if (!element.isF32() && !element.isInteger(1))
          return failure();
        types.assign(FragAttr::getRegisters(type), element);
        return success();
      });
  converter.addConversion([](TensorMapType type) -> Type {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  converter.addConversion([](SignalsType type) -> Type {
    return getPointerType(type.getContext(), NVVM::NVVMMemorySpace::Shared);
  });
  converter.addConversion([](MemRefType type, SmallVectorImpl<Type> &types)
                              -> std::optional<LogicalResult> {
    MLIRContext *context = type.getContext();
    if (isa_and_nonnull<SmemAttr>(type.getMemorySpace())) {
      types.push_back(getPointerType(context, NVVM::NVVMMemorySpace::Shared));
      return success();
    }
    Type i64 = IntegerType::get(context, 64);
    types.push_back(getPointerType(context, NVVM::NVVMMemorySpace::Global));
    types.append(std::max<int64_t>(type.getRank() - 1, 1), i64);
    if (type.getRank() <= 2)
      types.push_back(i64);
    return success();
  });
}

namespace {

/// A kernel's function: its arguments are those of `gpu.launch_func`, memrefs
/// as a pointer and all strides but the last, which is 1, for a matrix its
/// number of rows, and for a column stride and number; indices as i32.
struct ConvertKernel : OpConversionPattern<gpu::GPUFuncOp> {
  ConvertKernel(const TypeConverter &converter, MLIRContext *context,
                const TargetInfo &target)
      : OpConversionPattern(converter, context), target(target) {}

  LogicalResult
  matchAndRewrite(gpu::GPUFuncOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    DenseI32ArrayAttr block = op.getKnownBlockSizeAttr();
    if (!block || block.size() != 3 || block[0] < 32 || block[0] % 32 ||
        block[1] != 1 || block[2] != 1)
      return op.emitOpError()
             << "expected a known_block_size of whole warps in "
                "one dimension (tiles are shared out among "
                "them), but got "
             << block;
    TypeConverter::SignatureConversion signature(op.getNumArguments());
    for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
      SmallVector<Type> types;
      if (type.isIndex())
        types.push_back(rewriter.getI32Type());
      else if (!isa<MemRefType, TensorMapType>(type) ||
               failed(getTypeConverter()->convertType(type, types)))
        return op.emitOpError() << "expected arguments to be memrefs, indices "
                                   "or tensor maps, but got "
                                << type;
      signature.addInputs(i, types);
    }
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(getContext()), signature.getConvertedTypes());
    auto kernel =
        LLVM::LLVMFuncOp::create(rewriter, op.getLoc(), op.getName(), type);
    kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    rewriter.getUnitAttr());
    kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    rewriter.getUnitAttr());
    kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), block);
    // Saying how many registers there are keeps the assembler from spilling for
    // the sake of more thread blocks at once.
    auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttrName);
    const int64_t registers = target.getRegistersPerThread(
        block[0] / 32, schedule ? schedule.getBlocks() : 1);
    kernel->setAttr(
        NVVM::NVVMDialect::getMaxnregAttrName(),
        rewriter.getI32IntegerAttr(static_cast<int32_t>(registers)));
    for (auto [i, type] : llvm::enumerate(op.getArgumentTypes()))
      if (isa<TensorMapType>(type))
        passByValue(kernel, signature.getInputMapping(i)->inputNo);
    for (StringRef name : {kScheduleAttrName, kSharedMemoryAttrName})
      if (Attribute attribute = op->getAttr(name))
        kernel->setAttr(name, attribute);
    rewriter.inlineRegionBefore(op.getBody(), kernel.getBody(),
                                kernel.getBody().end());
    rewriter.applySignatureConversion(&kernel.getBody().front(), signature,
                                      getTypeConverter());
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// A tensor map's bytes are the parameter.
  static void passByValue(LLVM::LLVMFuncOp kernel, unsigned argument) {
    Builder b(kernel.getContext());
    constexpr unsigned kBytes = 128, kAlignment = 64;
    kernel.setArgAttr(
        argument, LLVM::LLVMDialect::getByValAttrName(),
        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), kBytes)));
    kernel.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(kAlignment));
    kernel.setArgAttr(argument, NVVM::NVVMDialect::getGridConstantAttrName(),
                      b.getUnitAttr());
  }

  const TargetInfo &target;
};

struct ConvertReturn : OpConversionPattern<gpu::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::ReturnOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

struct ConvertBlockId : OpConversionPattern<gpu::BlockIdOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(gpu::BlockIdOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type i32 = rewriter.getI32Type();
    Value id;
    if (op.getDimension() == gpu::Dimension::x)
      id = NVVM::BlockIdXOp::create(rewriter, op.getLoc(), i32);
    else if (op.getDimension() == gpu::Dimension::y)
      id = NVVM::BlockIdYOp::create(rewriter, op.getLoc(), i32);
    else
      id = NVVM::BlockIdZOp::create(rewriter, op.getLoc(), i32);
    rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(
        op, rewriter.getIndexType(), id);
    return success();
  }
};

struct ConvertTileToNVVM
    : hla::impl::ConvertHLATileToNVVMBase<ConvertTileToNVVM> {
  void runOnOperation() override {
    gpu::GPUModuleOp kernels = getOperation();
    TargetAttr target = TargetAttr::lookup(kernels);
    if (!target || !target.getInfo().isGPU) {
      kernels.emitOpError("expected the module around it to have a GPU target "
                          "(hla-assign-schedule writes one)");
      return signalPassFailure();
    }
    declareSharedMemory(kernels);
    setIndexWidth(kernels);

    TypeConverter converter;
    populateTypeConversions(converter);
    // A kernel's indices are passed as i32.
    converter.addSourceMaterialization(
        [](OpBuilder &b, IndexType type, ValueRange values, Location loc) {
          return arith::IndexCastOp::create(b, loc, type, values).getResult();
        });
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertKernel>(converter, &getContext(), target.getInfo());
    patterns.add<ConvertReturn, ConvertBlockId>(converter, &getContext());
    populateElementwisePatterns(converter, patterns);
    populateColumnPatterns(converter, patterns);
    populateRowPatterns(converter, patterns);
    populateMatrixPatterns(converter, target.getInfo(), patterns);
    populateDeviceMemoryPatterns(converter, patterns);
    populateSharedMemoryPatterns(converter, patterns);
    populateGroupPatterns(converter, patterns);
    populateAsyncDotPatterns(converter, patterns);
    populateBoxPatterns(converter, patterns);

    ConversionTarget legal(getContext());
    legal.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect,
                          vector::VectorDialect>();
    legal.addIllegalDialect<HLATileDialect, memref::MemRefDialect,
                            gpu::GPUDialect>();
    legal.addLegalOp<gpu::GPUModuleOp>();
    legal.addDynamicallyLegalDialect<arith::ArithDialect>([](Operation *op) {
      auto isConverted = [](Type type) {
        return isa<RankedTensorType, MemRefType>(type);
      };
      return llvm::none_of(op->getOperandTypes(), isConverted) &&
             llvm::none_of(op->getResultTypes(), isConverted);
    });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         legal);
    if (failed(applyFullConversion(kernels, legal, std::move(patterns))))
      return signalPassFailure();
    kernels.walk(sinkRoundings);
  }

  /// Moves what rounds registers to its first use: the assembler keeps much of
  /// this order, and a state of many registers need not be there twice.
  static void sinkRoundings(Block *block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block))) {
      if (!isa<arith::TruncFOp, vector::FromElementsOp, arith::BitcastOp,
               NVVM::ConvertFloatToTF32Op>(op))
        continue;
      Operation *first = nullptr;
      for (Operation *user : op.getUsers()) {
        Operation *ancestor = block->findAncestorOpInBlock(*user);
        if (!first || ancestor->isBeforeInBlock(first))
          first = ancestor;
      }
      if (first)
        op.moveBefore(first);
    }
  }

  /// Counts of tokens and the like have 32 bits in a kernel, which saves
  /// registers for states; addresses have 64.
  static void setIndexWidth(gpu::GPUModuleOp kernels) {
    MLIRContext *context = kernels.getContext();
    Attribute width = IntegerAttr::get(IntegerType::get(context, 32), 32);
    auto index = DataLayoutEntryAttr::get(IndexType::get(context), width);
    kernels->setAttr(DLTIDialect::kDataLayoutAttrName,
                     DataLayoutSpecAttr::get(context, {index}));
  }

  static void declareSharedMemory(gpu::GPUModuleOp kernels) {
    OpBuilder b = OpBuilder::atBlockBegin(kernels.getBody());
    LLVM::GlobalOp::create(
        b, kernels.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
        /*isConstant=*/false, LLVM::Linkage::External, kSharedMemoryName,
        /*value=*/Attribute(), /*alignment=*/1024,
        static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  }
};

} // namespace
