//===- TargetInfo.cpp - limits of the targets -------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "hla/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::hla;

// A block's shared memory is what cudaDevAttrMaxSharedMemoryPerBlockOptin
// reports: the multiprocessor's, less 1 KiB for the system. PTX 8.7 is the
// first version that names every target below. Multiprocessors are those of an
// A100, A40, L40S, H200, B200 and RTX 5090.
static constexpr TargetInfo kTargets[] = {
    {"cpu", /*isGPU=*/false},
    {"sm_80", true, 8, 0, /*forwardCompatible=*/true, 87, 163 << 10, 65536, 255,
     108,
     /*hasStmatrix=*/false},
    {"sm_86", true, 8, 6, true, 87, 99 << 10, 65536, 255, 84, false},
    {"sm_89", true, 8, 9, true, 87, 99 << 10, 65536, 255, 142, false},
    {"sm_90a", true, 9, 0, false, 87, 227 << 10, 65536, 255, 132, true,
     /*hasWgmma=*/true},
    {"sm_100a", true, 10, 0, false, 87, 227 << 10, 65536, 255, 148, true},
    {"sm_120a", true, 12, 0, false, 87, 99 << 10, 65536, 255, 170, true},
};

const TargetInfo *TargetInfo::lookup(llvm::StringRef arch) {
  const auto *it = llvm::find_if(
      kTargets, [&](const TargetInfo &info) { return info.arch == arch; });
  return it == std::end(kTargets) ? nullptr : it;
}

int64_t TargetInfo::getTileWidth(int64_t dim) const {
  // Eight warps share 32 rows of 32 columns in pieces of 16x8.
  constexpr int64_t kLeast = 32;
  if (!isGPU)
    return dim;
  return std::max<int64_t>(llvm::PowerOf2Ceil(dim), kLeast);
}

int64_t TargetInfo::getRegistersPerThread(int64_t warps, int64_t blocks) const {
  return std::min(registersPerThread,
                  registersPerMultiprocessor / (32 * warps * blocks) / 8 * 8);
}

// The system has 1 KiB for itself of each block.
int64_t TargetInfo::getSharedMemoryPerBlock(int64_t blocks) const {
  constexpr int64_t kOfSystem = 1 << 10;
  return (sharedMemoryPerBlock + kOfSystem) / blocks - kOfSystem;
}

const TargetInfo *TargetInfo::select(unsigned major, unsigned minor) {
  const std::pair<unsigned, unsigned> capability(major, minor);
  const TargetInfo *best = nullptr;
  for (const TargetInfo &info : kTargets) {
    const std::pair<unsigned, unsigned> own(info.major, info.minor);
    if (!info.isGPU || own > capability)
      continue;
    if (own == capability || info.forwardCompatible)
      best = &info;
  }
  return best;
}

std::string TargetInfo::getNames() {
  return llvm::join(
      llvm::map_range(kTargets,
                      [](const TargetInfo &info) { return info.arch.str(); }),
      ", ");
}
