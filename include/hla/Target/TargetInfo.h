//===- TargetInfo.h - limits of the targets ---------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_TARGET_TARGETINFO_H
#define HLA_TARGET_TARGETINFO_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace mlir::hla {

/// What a kernel may use on one target. GPU limits are those of the CUDA C++
/// Programming Guide, "Technical Specifications per Compute Capability".
struct TargetInfo {
  /// Name of the architecture: `cpu`, `sm_80`, …
  llvm::StringLiteral arch;
  bool isGPU;
  /// Compute capability, e.g. 9 and 0.
  unsigned major = 0, minor = 0;
  /// Whether PTX for this target also runs on later compute capabilities.
  bool forwardCompatible = false;
  /// PTX ISA version that code for the target is written in, times ten.
  unsigned ptxVersion = 0;
  /// Shared memory that one thread block may use, in bytes.
  int64_t sharedMemoryPerBlock = 0;
  /// 32-bit registers of a multiprocessor, and the most that a thread may use.
  int64_t registersPerMultiprocessor = 0, registersPerThread = 0;
  /// Multiprocessors of the card that the target is mostly used for, as many as
  /// thread blocks should be at least; 0 where it is not a card.
  int64_t multiprocessors = 0;
  /// Whether `stmatrix` exists.
  bool hasStmatrix = false;
  /// Whether products of groups of four warps (`wgmma`) exist.
  bool hasWgmma = false;

  /// Columns of the tile of rows of `dim` elements: on a GPU a power of two
  /// that warps can share, of which those from `dim` on are zero. Also the rows
  /// and columns of a state's tile.
  int64_t getTileWidth(int64_t dim) const;

  /// Registers that a thread may have if a multiprocessor is to hold `blocks`
  /// blocks of `warps` warps: the most there are for one, or a multiple of 8,
  /// in which they are allocated.
  int64_t getRegistersPerThread(int64_t warps, int64_t blocks = 1) const;

  /// Shared memory, in bytes, that each of `blocks` thread blocks may use that
  /// a multiprocessor holds at a time.
  int64_t getSharedMemoryPerBlock(int64_t blocks) const;

  /// The target named `arch`, or null.
  static const TargetInfo *lookup(llvm::StringRef arch);
  /// The target for a GPU of this compute capability: its own, else the latest
  /// whose code runs on later ones too. Null if there is none.
  static const TargetInfo *select(unsigned major, unsigned minor);
  /// The names of all targets, for messages: `cpu, sm_80, …`.
  static std::string getNames();
};

} // namespace mlir::hla

#endif // HLA_TARGET_TARGETINFO_H
