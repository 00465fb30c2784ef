//===- CudaApi.h - The part of the CUDA driver API in use -------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Declarations of the driver's stable binary interface, so that neither
// building nor running needs a CUDA toolkit. Names drop the prefix "cu".
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_CUDAAPI_H
#define HLA_LIB_RUNTIME_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace hla::runtime::cuda {

using Result = int;
using Device = int;
using DevicePtr = unsigned long long;
using Context = struct ContextHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Stream = struct StreamHandle *;
using Event = struct EventHandle *;

// Results that are told apart.
constexpr Result success = 0;
constexpr Result errorOutOfMemory = 2;
constexpr Result errorStubLibrary = 34;
constexpr Result errorNoDevice = 100;
constexpr Result errorInvalidImage = 200;
constexpr Result errorNoBinaryForGpu = 209;
constexpr Result errorInvalidPtx = 218;
constexpr Result errorJitCompilerNotFound = 221;
constexpr Result errorUnsupportedPtxVersion = 222;
constexpr Result errorJitCompilationDisabled = 223;
constexpr Result errorNotFound = 500;
constexpr Result errorIllegalAddress = 700;
constexpr Result errorLaunchOutOfResources = 701;
constexpr Result errorLaunchTimeout = 702;
constexpr Result errorAssert = 710;
constexpr Result errorHardwareStackError = 714;
constexpr Result errorIllegalInstruction = 715;
constexpr Result errorMisalignedAddress = 716;
constexpr Result errorInvalidAddressSpace = 717;
constexpr Result errorInvalidPc = 718;
constexpr Result errorLaunchFailed = 719;
constexpr Result errorSystemDriverMismatch = 803;
constexpr Result errorCompatNotSupportedOnDevice = 804;

// CUdevice_attribute.
constexpr int deviceAttributeComputeCapabilityMajor = 75;
constexpr int deviceAttributeComputeCapabilityMinor = 76;
constexpr int deviceAttributeMaxSharedMemoryPerBlockOptin = 97;

// CUfunction_attribute.
constexpr int functionAttributeSharedSizeBytes = 1;
constexpr int functionAttributeMaxDynamicSharedSizeBytes = 8;
constexpr int functionAttributeNonPortableClusterSizeAllowed = 14;

// CUjit_option.
constexpr int jitErrorLogBuffer = 5;
constexpr int jitErrorLogBufferSizeBytes = 6;

// CUstream_flags.
constexpr unsigned streamNonBlocking = 1;

// CUlaunchAttributeID.
constexpr int launchAttributeClusterDimension = 4;

/// CUlaunchAttribute: an identifier, padding to 8 bytes, a union of 64.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72, "as in the driver");

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned dynamicSharedMemory;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};
static_assert(sizeof(LaunchConfig) == 56, "as in the driver");

// CUtensorMapDataType.
constexpr int tensorMapFloat16 = 6;
constexpr int tensorMapFloat32 = 7;
constexpr int tensorMapFloat64 = 8;
constexpr int tensorMapBFloat16 = 9;

// CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion and
// CUtensorMapFloatOOBfill.
constexpr int tensorMapInterleaveNone = 0;
constexpr int tensorMapSwizzleNone = 0;
constexpr int tensorMapSwizzle32 = 1;
constexpr int tensorMapSwizzle64 = 2;
constexpr int tensorMapSwizzle128 = 3;
constexpr int tensorMapPromotionL2256 = 3;
constexpr int tensorMapFillZeros = 0;

/// CUtensorMap: bytes that only the driver and the device read.
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};
static_assert(sizeof(TensorMap) == 128, "as in the driver");

/// The functions in use: member, exported symbol, parameters. These are in
/// every driver since CUDA 11.2, the first that allocates in stream order.
#define HLA_CUDA_FUNCTIONS(F)                                                  \
  F(init, cuInit, (unsigned flags))                                            \
  F(driverGetVersion, cuDriverGetVersion, (int *version))                      \
  F(getErrorName, cuGetErrorName, (Result error, const char **text))           \
  F(getErrorString, cuGetErrorString, (Result error, const char **text))       \
  F(deviceGetCount, cuDeviceGetCount, (int *count))                            \
  F(deviceGet, cuDeviceGet, (Device * device, int ordinal))                    \
  F(deviceGetName, cuDeviceGetName, (char *name, int size, Device device))     \
  F(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, int attribute, Device device))                                \
  F(primaryCtxRetain, cuDevicePrimaryCtxRetain,                                \
    (Context * context, Device device))                                        \
  F(ctxGetCurrent, cuCtxGetCurrent, (Context * context))                       \
  F(ctxGetDevice, cuCtxGetDevice, (Device * device))                           \
  F(ctxPushCurrent, cuCtxPushCurrent_v2, (Context context))                    \
  F(ctxPopCurrent, cuCtxPopCurrent_v2, (Context * context))                    \
  F(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (Module * module, const void *image, unsigned numOptions, int *options,    \
     void **values))                                                           \
  F(moduleUnload, cuModuleUnload, (Module module))                             \
  F(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function * function, Module module, const char *name))                    \
  F(funcGetAttribute, cuFuncGetAttribute,                                      \
    (int *value, int attribute, Function function))                            \
  F(funcSetAttribute, cuFuncSetAttribute,                                      \
    (Function function, int attribute, int value))                             \
  F(launchKernel, cuLaunchKernel,                                              \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ,        \
     unsigned blockX, unsigned blockY, unsigned blockZ,                        \
     unsigned dynamicSharedMemory, Stream stream, void **parameters,           \
     void **extra))                                                            \
  F(memAlloc, cuMemAlloc_v2, (DevicePtr * data, size_t bytes))                 \
  F(memFree, cuMemFree_v2, (DevicePtr data))                                   \
  F(memAllocAsync, cuMemAllocAsync,                                            \
    (DevicePtr * data, size_t bytes, Stream stream))                           \
  F(memFreeAsync, cuMemFreeAsync, (DevicePtr data, Stream stream))             \
  F(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (DevicePtr target, const void *source, size_t bytes, Stream stream))       \
  F(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *target, DevicePtr source, size_t bytes, Stream stream))             \
  F(memsetD8Async, cuMemsetD8Async,                                            \
    (DevicePtr target, unsigned char value, size_t bytes, Stream stream))      \
  F(streamCreate, cuStreamCreate, (Stream * stream, unsigned flags))           \
  F(streamDestroy, cuStreamDestroy_v2, (Stream stream))                        \
  F(streamSynchronize, cuStreamSynchronize, (Stream stream))                   \
  F(eventCreate, cuEventCreate, (Event * event, unsigned flags))               \
  F(eventDestroy, cuEventDestroy_v2, (Event event))                            \
  F(eventRecord, cuEventRecord, (Event event, Stream stream))                  \
  F(eventSynchronize, cuEventSynchronize, (Event event))                       \
  F(eventElapsedTime, cuEventElapsedTime,                                      \
    (float *milliseconds, Event start, Event stop))

/// Newer functions, null where the driver lacks them.
#define HLA_CUDA_OPTIONAL_FUNCTIONS(F)                                         \
  F(launchKernelEx, cuLaunchKernelEx, /* 11.8 */                               \
    (const LaunchConfig *config, Function function, void **parameters,         \
     void **extra))                                                            \
  F(funcGetParamInfo, cuFuncGetParamInfo, /* 12.4 */                           \
    (Function function, size_t index, size_t *offset, size_t *size))           \
  F(ctxGetId, cuCtxGetId, /* 12.0 */                                           \
    (Context context, unsigned long long *id))                                 \
  F(tensorMapEncodeTiled, cuTensorMapEncodeTiled, /* 12.0 */                   \
    (TensorMap * map, int dataType, uint32_t rank, void *address,              \
     const uint64_t *extents, const uint64_t *strides, const uint32_t *box,    \
     const uint32_t *elementStrides, int interleave, int swizzle,              \
     int promotion, int fill))

/// The driver's entry points.
struct Api {
#define HLA_CUDA_MEMBER(member, symbol, parameters)                            \
  Result(*member) parameters = nullptr;
  HLA_CUDA_FUNCTIONS(HLA_CUDA_MEMBER)
  HLA_CUDA_OPTIONAL_FUNCTIONS(HLA_CUDA_MEMBER)
#undef HLA_CUDA_MEMBER
};

} // namespace hla::runtime::cuda

#endif // HLA_LIB_RUNTIME_CUDAAPI_H
