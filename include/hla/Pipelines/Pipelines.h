//===- Pipelines.h - pass pipelines from hla to a target --------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_PIPELINES_PIPELINES_H
#define HLA_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"
#include "llvm/Support/CommandLine.h"
#include <cstdint>
#include <string>

namespace mlir {
class DialectRegistry;
class OpPassManager;

namespace hla {

/// Options of `hla-to-tile-pipeline`.
struct HLAToTilePipelineOptions
    : public PassPipelineOptions<HLAToTilePipelineOptions> {
  PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Target whose schedule the tile program has: cpu, sm_80, "
                     "sm_86, sm_89, sm_90a, sm_100a or sm_120a"),
      llvm::cl::init("cpu")};
  PassOptions::Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("Precision of products, as in hla-assign-schedule; by "
                     "default what the inputs' types say"),
      llvm::cl::init("")};
  PassOptions::Option<std::string> segments{
      *this, "segments",
      llvm::cl::desc("Segments of a sequence that are walked at once, as in "
                     "hla-split-segments: a number, or auto; by default one"),
      llvm::cl::init("")};
};

/// Appends the passes that turn hla operations on tensors into tile programs.
void buildHLAToTilePipeline(OpPassManager &pm,
                            const HLAToTilePipelineOptions &options);

/// Registers `hla-to-tile-pipeline`.
void registerHLAToTilePipeline();

/// Options of `hla-to-nvvm-pipeline`.
struct HLAToNVVMPipelineOptions
    : public PassPipelineOptions<HLAToNVVMPipelineOptions> {
  PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc(
          "GPU architecture: sm_80, sm_86, sm_89, sm_90a, sm_100a or "
          "sm_120a"),
      llvm::cl::init("sm_80")};
  PassOptions::Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("Precision of products, as in hla-assign-schedule; by "
                     "default what the inputs' types say"),
      llvm::cl::init("")};
  PassOptions::Option<std::string> segments{
      *this, "segments",
      llvm::cl::desc("Segments of a sequence that are walked at once, as in "
                     "hla-split-segments: a number, or auto; by default one"),
      llvm::cl::init("")};
};

/// Appends the passes that turn hla operations on tensors into kernels in the
/// LLVM dialect, each in a gpu.module, launched by gpu.launch_func.
void buildHLAToNVVMPipeline(OpPassManager &pm,
                            const HLAToNVVMPipelineOptions &options);

/// Registers `hla-to-nvvm-pipeline`.
void registerHLAToNVVMPipeline();

/// How the heads of a kernel are spread over a CPU's cores.
enum class CPUParallel {
  Serial, ///< One after the other.
  OpenMP, ///< By the OpenMP runtime.
};

/// Options of `hla-to-cpu-pipeline`.
struct HLAToCPUPipelineOptions
    : public PassPipelineOptions<HLAToCPUPipelineOptions> {
  PassOptions::Option<std::string> scheduleTarget{
      *this, "schedule-target",
      llvm::cl::desc(
          "Target whose schedule and precision the tile program has"),
      llvm::cl::init("cpu")};
  PassOptions::Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("Precision of products, as in hla-assign-schedule; by "
                     "default what the inputs' types say"),
      llvm::cl::init("")};
  PassOptions::Option<std::string> segments{
      *this, "segments",
      llvm::cl::desc("Segments of a sequence that are walked at once, as in "
                     "hla-split-segments: a number, or auto; by default one"),
      llvm::cl::init("")};
  PassOptions::Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Bits of a vector register: 128, 256 or 512; 0 for the "
                     "host's"),
      llvm::cl::init(0)};
  PassOptions::Option<CPUParallel> parallel{
      *this, "parallel", llvm::cl::desc("How heads are spread over cores"),
      llvm::cl::init(CPUParallel::OpenMP),
      llvm::cl::values(
          clEnumValN(CPUParallel::Serial, "serial", "One after the other"),
          clEnumValN(CPUParallel::OpenMP, "openmp", "By the OpenMP runtime"))};
};

/// Appends the passes that turn hla operations on tensors into the LLVM dialect
/// for the host.
void buildHLAToCPUPipeline(OpPassManager &pm,
                           const HLAToCPUPipelineOptions &options);

/// Bits of the host's vector registers.
int64_t getHostVectorBits();

/// Registers `hla-to-cpu-pipeline`.
void registerHLAToCPUPipeline();

} // namespace hla
} // namespace mlir

#endif // HLA_PIPELINES_PIPELINES_H
