//===- Runtime.h - Load and launch compiled bundles -------------*- C -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C interface of libHLARuntime. A bundle is a directory that the compiler
// writes (docs/Bundle.md): a JSON manifest, PTX, and optionally a cubin. This
// library reads it, checks tensors against it and launches its kernels. It
// links neither MLIR nor CUDA; the CUDA driver is opened at run time, on the
// first call that needs it.
//
// Every function that can fail returns an HlaStatus. On failure a message for
// people is kept per thread, see hlaGetLastErrorMessage, and results that the
// call would have stored are left untouched. All functions may be called from
// several threads at once, also on one bundle, except that hlaBundleDestroy
// must be the last use of its bundle.
//
//===----------------------------------------------------------------------===//

#ifndef HLA_C_RUNTIME_H
#define HLA_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HLA_EXPORT __attribute__((visibility("default")))
#else
#define HLA_EXPORT
#endif

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

/// What went wrong, one value for each kind of failure.
typedef enum HlaStatus {
  HLA_STATUS_OK = 0,

  // The call itself.
  HLA_STATUS_INVALID_ARGUMENT = 100, ///< Null handle or result, bad index.
  HLA_STATUS_OUT_OF_MEMORY = 101,    ///< Host memory.
  HLA_STATUS_INTERNAL = 102,         ///< A defect of this library.

  // The bundle.
  HLA_STATUS_FILE_NOT_FOUND = 200,
  HLA_STATUS_FILE_UNREADABLE = 201, ///< Not a regular file, or too large.
  HLA_STATUS_MALFORMED_JSON = 202,
  HLA_STATUS_ABI_MISMATCH = 203, ///< The manifest's abi_version is another.
  HLA_STATUS_MISSING_KEY = 204,
  HLA_STATUS_UNKNOWN_KEY = 205,
  HLA_STATUS_WRONG_TYPE = 206,    ///< A JSON value of the wrong type.
  HLA_STATUS_INVALID_VALUE = 207, ///< A value out of range or inconsistent.
  HLA_STATUS_UNKNOWN_DTYPE = 208,
  HLA_STATUS_INVALID_EXPRESSION = 209,
  HLA_STATUS_UNSAFE_PATH = 210, ///< A file name that leaves the bundle.
  HLA_STATUS_HASH_MISMATCH = 211,

  // The arguments of a launch.
  HLA_STATUS_ARGUMENT_COUNT = 300,
  HLA_STATUS_RANK_MISMATCH = 301,
  HLA_STATUS_DTYPE_MISMATCH = 302,
  HLA_STATUS_SHAPE_MISMATCH = 303, ///< A static or negative extent.
  HLA_STATUS_DIM_MISMATCH = 304,   ///< Two arguments disagree on a dim.
  HLA_STATUS_LIMIT = 305,          ///< A dim outside the bundle's limits.
  HLA_STATUS_STRIDE = 306,
  HLA_STATUS_ALIGNMENT = 307,
  HLA_STATUS_NULL_POINTER = 308,
  HLA_STATUS_OVERLAP = 309,
  HLA_STATUS_READ_ONLY = 310,
  HLA_STATUS_WRONG_DEVICE = 311, ///< Host memory, or another device's.
  HLA_STATUS_SCRATCH = 312,      ///< Scratch too small or misaligned.
  HLA_STATUS_EVALUATION = 313,   ///< Overflow or division by zero.
  HLA_STATUS_LAUNCH_LIMIT = 314, ///< Grid, shared memory or map out of range.
  HLA_STATUS_CONSTRAINT = 315,   ///< Dims are not as the bundle ties them.
  HLA_STATUS_LENGTHS = 316,      ///< Lengths that decrease or leave the tokens.
  HLA_STATUS_SLOTS = 317,        ///< Slots beyond the states, or two the same.

  // The CUDA driver and the device.
  HLA_STATUS_NO_DRIVER = 400,
  HLA_STATUS_NO_DEVICE = 401,
  HLA_STATUS_UNSUPPORTED_DEVICE = 402, ///< The target does not run there.
  HLA_STATUS_DRIVER_TOO_OLD = 403,
  HLA_STATUS_INVALID_KERNEL = 404, ///< The driver refuses the code.
  HLA_STATUS_DEVICE_OUT_OF_MEMORY = 405,
  HLA_STATUS_LAUNCH_FAILED = 406, ///< A launch, or a kernel while it ran.
  HLA_STATUS_DRIVER_ERROR = 407   ///< Any other error of the driver.
} HlaStatus;

/// The status's name without its prefix, "HASH_MISMATCH"; "UNKNOWN" for a
/// value that is none. Never null.
HLA_EXPORT const char *hlaStatusGetName(HlaStatus status);

/// The message of the last call that failed on this thread, or "". It stays
/// valid until the next failure on this thread; a success does not clear it.
HLA_EXPORT const char *hlaGetLastErrorMessage(void);

/// The library's version, "MAJOR.MINOR.PATCH".
HLA_EXPORT const char *hlaGetVersion(void);

/// The `abi_version` of the manifests that this library reads.
HLA_EXPORT int32_t hlaGetBundleAbiVersion(void);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Type codes of HlaDataType, as DLPack numbers them.
enum {
  HLA_TYPE_CODE_INT = 0,
  HLA_TYPE_CODE_FLOAT = 2,
  HLA_TYPE_CODE_BFLOAT = 4
};

/// An element type, field by field DLPack's DLDataType. A bundle's arguments
/// are f32, f64 and f16 (HLA_TYPE_CODE_FLOAT with 32, 64 and 16 bits), bf16
/// (HLA_TYPE_CODE_BFLOAT, 16 bits) and i32 (HLA_TYPE_CODE_INT, 32 bits), with
/// one lane.
typedef struct HlaDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} HlaDataType;

/// Memory kinds of HlaTensor, as DLPack numbers them.
enum { HLA_DEVICE_CPU = 1, HLA_DEVICE_CUDA = 2, HLA_DEVICE_CUDA_MANAGED = 13 };

/// Flags of HlaTensor.
enum { HLA_TENSOR_READ_ONLY = 1 };

/// A strided view of memory that the caller owns. From a DLTensor `t`: data is
/// `(char *)t.data + t.byte_offset`, the rest is copied field by field.
typedef struct HlaTensor {
  void *data;             ///< Address of element [0, ..., 0].
  HlaDataType dtype;      ///< Element type.
  int32_t rank;           ///< Number of dimensions.
  const int64_t *shape;   ///< `rank` extents.
  const int64_t *strides; ///< `rank` strides in elements; null: row-major.
  int32_t deviceType;     ///< HLA_DEVICE_*.
  int32_t deviceId;       ///< CUDA ordinal; ignored for managed memory.
  uint32_t flags;         ///< HLA_TENSOR_*, or 0.
} HlaTensor;

/// Stores the element type that a manifest calls `name` ("bf16", "f16", "f32",
/// "f64", "i32").
HLA_EXPORT HlaStatus hlaDataTypeFromName(const char *name, HlaDataType *dtype);

/// Checks the cumulative lengths of packed sequences, `count` numbers in host
/// memory: at least one, the first not negative, none below the one before, all
/// at most `tokens`. Else it fails with HLA_STATUS_LENGTHS and a message with
/// the first position at fault. A launch does not look at lengths: they are in
/// device memory.
HLA_EXPORT HlaStatus hlaCheckLengths(const int32_t *lengths, size_t count,
                                     int64_t tokens);

/// Checks the slots of sequences, `count` numbers of states in host memory: all
/// below `states`, and no two of those that are not negative the same, unless
/// `shared` is not 0 (final states are not written then). A negative number is
/// no state. Else it fails with HLA_STATUS_SLOTS and a message with the first
/// position at fault. A launch does not look at slots: they are in device
/// memory.
HLA_EXPORT HlaStatus hlaCheckSlots(const int32_t *slots, size_t count,
                                   int64_t states, int32_t shared);

//===----------------------------------------------------------------------===//
// Bundles
//===----------------------------------------------------------------------===//

typedef struct HlaBundle HlaBundle;

/// How a kernel uses an argument.
typedef enum HlaAccess {
  HLA_ACCESS_READ = 0,
  HLA_ACCESS_WRITE = 1,
  HLA_ACCESS_READ_WRITE = 2
} HlaAccess;

/// What a bundle asks of one argument. Pointers live as long as the bundle.
typedef struct HlaArgumentInfo {
  const char *name;
  HlaAccess access;
  HlaDataType dtype;
  int32_t rank;
  const int64_t *extents; ///< `rank` extents; -1 where a dim stands.
  const int32_t *dims;    ///< `rank` indices of dims; -1 where an extent does.
  int64_t alignment;      ///< Of the data pointer, in bytes.
  int64_t strideMultiple; ///< Outer strides are multiples, in elements.
} HlaArgumentInfo;

/// A symbolic dimension. `name` lives as long as the bundle.
typedef struct HlaDimInfo {
  const char *name;
  int64_t minimum; ///< Inclusive.
  int64_t maximum; ///< Inclusive.
} HlaDimInfo;

/// What a bundle runs on. Pointers live as long as the bundle.
typedef struct HlaTargetInfo {
  const char *arch;   ///< "sm_90a".
  const char *ptxIsa; ///< "8.7".
  int32_t computeCapabilityMajor;
  int32_t computeCapabilityMinor;
  int32_t forwardCompatible; ///< Runs on later capabilities too.
  int32_t hasCubin;
} HlaTargetInfo;

/// Reads the bundle in `directory` and checks all of it: the manifest's
/// structure and expressions, and the hash of each file. Needs no GPU.
HLA_EXPORT HlaStatus hlaBundleLoad(const char *directory, HlaBundle **bundle);

/// Unloads the bundle's kernels from every context and frees it; kernels in
/// flight must have ended. Null is allowed.
HLA_EXPORT void hlaBundleDestroy(HlaBundle *bundle);

/// The name of the function that was compiled; null for a null bundle.
HLA_EXPORT const char *hlaBundleGetEntry(const HlaBundle *bundle);

/// The text of manifest.json; null for a null bundle.
HLA_EXPORT const char *hlaBundleGetManifest(const HlaBundle *bundle);

/// The number of arguments of a launch; 0 for a null bundle.
HLA_EXPORT size_t hlaBundleGetNumArguments(const HlaBundle *bundle);

/// Stores what the bundle asks of argument `index`, counted from 0. The bundle
/// owns the strings and arrays that `info` points to. An index out of range, a
/// null `bundle` and a null `info` are HLA_STATUS_INVALID_ARGUMENT.
HLA_EXPORT HlaStatus hlaBundleGetArgument(const HlaBundle *bundle, size_t index,
                                          HlaArgumentInfo *info);

/// The number of symbolic dimensions; 0 for a null bundle.
HLA_EXPORT size_t hlaBundleGetNumDims(const HlaBundle *bundle);

/// Stores the name and the limits of dim `index`, counted from 0. The bundle
/// owns the name. An index out of range, a null `bundle` and a null `info` are
/// HLA_STATUS_INVALID_ARGUMENT.
HLA_EXPORT HlaStatus hlaBundleGetDim(const HlaBundle *bundle, size_t index,
                                     HlaDimInfo *info);

/// Stores what the bundle runs on. The bundle owns the strings. A null `bundle`
/// and a null `info` are HLA_STATUS_INVALID_ARGUMENT.
HLA_EXPORT HlaStatus hlaBundleGetTarget(const HlaBundle *bundle,
                                        HlaTargetInfo *info);

/// Checks `arguments` as hlaBundleLaunch does, up to the driver: count, types,
/// shapes, constraints, strides, alignment, memory kind and overlap, and what
/// the kernels' tensor maps ask of them. Stores each dim's value in `dims` (as
/// many as the bundle has) unless that is null. Needs no GPU.
HLA_EXPORT HlaStatus hlaBundleCheckArguments(const HlaBundle *bundle,
                                             const HlaTensor *arguments,
                                             size_t numArguments,
                                             int64_t *dims);

/// Stores the bytes of scratch that a launch on `arguments` needs. Looks at
/// types, shapes and strides only: data, device and flags may be unset. Needs
/// no GPU.
HLA_EXPORT HlaStatus hlaBundleGetScratchBytes(const HlaBundle *bundle,
                                              const HlaTensor *arguments,
                                              size_t numArguments,
                                              size_t *bytes);

//===----------------------------------------------------------------------===//
// Launching
//
// A call that takes a device (a CUDA ordinal) works in the current CUDA context
// if that is one of this device, else in the device's primary context, which is
// retained once and for the life of the process. The caller's current context
// is the same before and after. Device -1 stands for the current context's
// device, or device 0 where no context is current. A stream is a CUstream (or
// cudaStream_t) of that context; null is the legacy default stream.
//===----------------------------------------------------------------------===//

/// Loads the bundle's kernels on `device`, compiling PTX where there is no
/// fitting cubin. Done once a context; hlaBundleLaunch does it on first use.
HLA_EXPORT HlaStatus hlaBundlePrepare(HlaBundle *bundle, int32_t device);

/// Checks `arguments`, then launches the bundle's kernels on `stream`, on the
/// arguments' device, and returns without waiting for them.
///
/// `scratch` is device memory of at least hlaBundleGetScratchBytes bytes that
/// nothing else uses until the kernels have ended. If it is null and scratch is
/// needed, memory is allocated and freed in the order of `stream`.
///
/// Nothing was launched if the status is HLA_STATUS_INVALID_ARGUMENT, one of
/// those of arguments (from HLA_STATUS_ARGUMENT_COUNT to
/// HLA_STATUS_LENGTHS), HLA_STATUS_NO_DRIVER, HLA_STATUS_NO_DEVICE,
/// HLA_STATUS_UNSUPPORTED_DEVICE or HLA_STATUS_INVALID_KERNEL. After any other
/// failure some of the bundle's kernels may run, and written arguments hold
/// anything. A kernel that fails while it runs is reported by a later call,
/// such as hlaStreamSynchronize.
HLA_EXPORT HlaStatus hlaBundleLaunch(HlaBundle *bundle,
                                     const HlaTensor *arguments,
                                     size_t numArguments, void *stream,
                                     void *scratch, size_t scratchBytes);

//===----------------------------------------------------------------------===//
// Device helpers, for tools that link no CUDA
//===----------------------------------------------------------------------===//

/// The driver's CUDA version as 1000 * major + 10 * minor.
HLA_EXPORT HlaStatus hlaDriverGetVersion(int32_t *version);

/// The number of CUDA devices, at least one: none is HLA_STATUS_NO_DEVICE.
HLA_EXPORT HlaStatus hlaDeviceGetCount(int32_t *count);

/// Stores the device's name, cut to `size` bytes with the terminating zero.
HLA_EXPORT HlaStatus hlaDeviceGetName(int32_t device, char *name, size_t size);

/// Stores the compute capability of a device, 9 and 0 of an H100. A device that
/// does not exist, -1 included, is HLA_STATUS_NO_DEVICE, a null result
/// HLA_STATUS_INVALID_ARGUMENT.
HLA_EXPORT HlaStatus hlaDeviceGetComputeCapability(int32_t device,
                                                   int32_t *major,
                                                   int32_t *minor);

/// Allocates device memory, aligned to 256 bytes. Zero bytes give null.
HLA_EXPORT HlaStatus hlaDeviceAllocate(int32_t device, size_t bytes,
                                       void **data);
/// Frees what hlaDeviceAllocate gave; null is allowed.
HLA_EXPORT HlaStatus hlaDeviceFree(int32_t device, void *data);

/// Copies `bytes` from host memory in the order of `stream`, and waits for the
/// copy. A null `target` or `source` is HLA_STATUS_INVALID_ARGUMENT, unless
/// there are no bytes.
HLA_EXPORT HlaStatus hlaMemcpyHostToDevice(int32_t device, void *target,
                                           const void *source, size_t bytes,
                                           void *stream);

/// Copies `bytes` to host memory in the order of `stream`, and waits for the
/// copy and for all work before it: reports the failure of a kernel that ran on
/// `stream`. A null `target` or `source` is HLA_STATUS_INVALID_ARGUMENT, unless
/// there are no bytes.
HLA_EXPORT HlaStatus hlaMemcpyDeviceToHost(int32_t device, void *target,
                                           const void *source, size_t bytes,
                                           void *stream);

/// Sets each byte to `value` in the order of `stream`; does not wait.
HLA_EXPORT HlaStatus hlaMemset(int32_t device, void *target, uint8_t value,
                               size_t bytes, void *stream);

/// A stream that does not synchronise with the legacy default stream.
HLA_EXPORT HlaStatus hlaStreamCreate(int32_t device, void **stream);
/// Frees what hlaStreamCreate gave; null is allowed. Work that is on the stream
/// still runs to its end.
HLA_EXPORT HlaStatus hlaStreamDestroy(int32_t device, void *stream);
/// Waits for the stream's work. Reports the failure of a kernel that ran on it.
HLA_EXPORT HlaStatus hlaStreamSynchronize(int32_t device, void *stream);

/// Events measure time on a stream.
HLA_EXPORT HlaStatus hlaEventCreate(int32_t device, void **event);
/// Frees what hlaEventCreate gave; null is allowed.
HLA_EXPORT HlaStatus hlaEventDestroy(int32_t device, void *event);
/// Marks the end of all work that is on `stream` now; does not wait. A null
/// `event` is HLA_STATUS_INVALID_ARGUMENT.
HLA_EXPORT HlaStatus hlaEventRecord(int32_t device, void *event, void *stream);
/// Waits for `stop` and stores the time between the events, in milliseconds.
HLA_EXPORT HlaStatus hlaEventElapsedTime(int32_t device, void *start,
                                         void *stop, float *milliseconds);

#ifdef __cplusplus
}
#endif

#endif // HLA_C_RUNTIME_H
