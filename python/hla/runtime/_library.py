# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libHLARuntime through ctypes: include/hla-c/Runtime.h in Python."""

import ctypes
import enum
import os
import threading
from ctypes import POINTER, c_char_p, c_float, c_int, c_int32, c_int64, c_size_t
from ctypes import c_uint8, c_uint16, c_uint32, c_void_p

LIBRARY_NAME = "libHLARuntime.so"


class Status(enum.IntEnum):
    """What went wrong, one value for each kind of failure (HlaStatus in C)."""

    OK = 0
    INVALID_ARGUMENT = 100
    OUT_OF_MEMORY = 101
    INTERNAL = 102
    FILE_NOT_FOUND = 200
    FILE_UNREADABLE = 201
    MALFORMED_JSON = 202
    ABI_MISMATCH = 203
    MISSING_KEY = 204
    UNKNOWN_KEY = 205
    WRONG_TYPE = 206
    INVALID_VALUE = 207
    UNKNOWN_DTYPE = 208
    INVALID_EXPRESSION = 209
    UNSAFE_PATH = 210
    HASH_MISMATCH = 211
    ARGUMENT_COUNT = 300
    RANK_MISMATCH = 301
    DTYPE_MISMATCH = 302
    SHAPE_MISMATCH = 303
    DIM_MISMATCH = 304
    LIMIT = 305
    STRIDE = 306
    ALIGNMENT = 307
    NULL_POINTER = 308
    OVERLAP = 309
    READ_ONLY = 310
    WRONG_DEVICE = 311
    SCRATCH = 312
    EVALUATION = 313
    LAUNCH_LIMIT = 314
    CONSTRAINT = 315
    LENGTHS = 316
    SLOTS = 317
    NO_DRIVER = 400
    NO_DEVICE = 401
    UNSUPPORTED_DEVICE = 402
    DRIVER_TOO_OLD = 403
    INVALID_KERNEL = 404
    DEVICE_OUT_OF_MEMORY = 405
    LAUNCH_FAILED = 406
    DRIVER_ERROR = 407


class Error(RuntimeError):
    """A failure of the runtime.

    Attributes:
        status: the kind of failure, a `Status`.
    """

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class DataType(ctypes.Structure):
    """HlaDataType, which is DLPack's DLDataType."""

    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Tensor(ctypes.Structure):
    """HlaTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("dtype", DataType),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("flags", c_uint32),
    ]


class ArgumentInfo(ctypes.Structure):
    """HlaArgumentInfo."""

    _fields_ = [
        ("name", c_char_p),
        ("access", c_int),
        ("dtype", DataType),
        ("rank", c_int32),
        ("extents", POINTER(c_int64)),
        ("dims", POINTER(c_int32)),
        ("alignment", c_int64),
        ("stride_multiple", c_int64),
    ]


class DimInfo(ctypes.Structure):
    """HlaDimInfo."""

    _fields_ = [("name", c_char_p), ("minimum", c_int64), ("maximum", c_int64)]


class TargetInfo(ctypes.Structure):
    """HlaTargetInfo."""

    _fields_ = [
        ("arch", c_char_p),
        ("ptx_isa", c_char_p),
        ("major", c_int32),
        ("minor", c_int32),
        ("forward_compatible", c_int32),
        ("has_cubin", c_int32),
    ]


DEVICE_CPU = 1
DEVICE_CUDA = 2
DEVICE_CUDA_HOST = 3
DEVICE_CUDA_MANAGED = 13
TENSOR_READ_ONLY = 1

# Functions that return an HlaStatus, by their parameters.
_CHECKED = {
    "hlaDataTypeFromName": [c_char_p, POINTER(DataType)],
    "hlaCheckLengths": [c_void_p, c_size_t, c_int64],
    "hlaCheckSlots": [c_void_p, c_size_t, c_int64, c_int32],
    "hlaBundleLoad": [c_char_p, POINTER(c_void_p)],
    "hlaBundleGetArgument": [c_void_p, c_size_t, POINTER(ArgumentInfo)],
    "hlaBundleGetDim": [c_void_p, c_size_t, POINTER(DimInfo)],
    "hlaBundleGetTarget": [c_void_p, POINTER(TargetInfo)],
    "hlaBundleCheckArguments": [c_void_p, POINTER(Tensor), c_size_t, POINTER(c_int64)],
    "hlaBundleGetScratchBytes": [c_void_p, POINTER(Tensor), c_size_t, POINTER(c_size_t)],
    "hlaBundlePrepare": [c_void_p, c_int32],
    "hlaBundleLaunch": [c_void_p, POINTER(Tensor), c_size_t, c_void_p, c_void_p, c_size_t],
    "hlaDriverGetVersion": [POINTER(c_int32)],
    "hlaDeviceGetCount": [POINTER(c_int32)],
    "hlaDeviceGetName": [c_int32, c_char_p, c_size_t],
    "hlaDeviceGetComputeCapability": [c_int32, POINTER(c_int32), POINTER(c_int32)],
    "hlaDeviceAllocate": [c_int32, c_size_t, POINTER(c_void_p)],
    "hlaDeviceFree": [c_int32, c_void_p],
    "hlaMemcpyHostToDevice": [c_int32, c_void_p, c_void_p, c_size_t, c_void_p],
    "hlaMemcpyDeviceToHost": [c_int32, c_void_p, c_void_p, c_size_t, c_void_p],
    "hlaMemset": [c_int32, c_void_p, c_uint8, c_size_t, c_void_p],
    "hlaStreamCreate": [c_int32, POINTER(c_void_p)],
    "hlaStreamDestroy": [c_int32, c_void_p],
    "hlaStreamSynchronize": [c_int32, c_void_p],
    "hlaEventCreate": [c_int32, POINTER(c_void_p)],
    "hlaEventDestroy": [c_int32, c_void_p],
    "hlaEventRecord": [c_int32, c_void_p, c_void_p],
    "hlaEventElapsedTime": [c_int32, c_void_p, c_void_p, POINTER(c_float)],
}

_PLAIN = {
    "hlaGetLastErrorMessage": (c_char_p, []),
    "hlaGetVersion": (c_char_p, []),
    "hlaGetBundleAbiVersion": (c_int32, []),
    "hlaBundleDestroy": (None, [c_void_p]),
    "hlaBundleGetEntry": (c_char_p, [c_void_p]),
    "hlaBundleGetManifest": (c_char_p, [c_void_p]),
    "hlaBundleGetNumArguments": (c_size_t, [c_void_p]),
    "hlaBundleGetNumDims": (c_size_t, [c_void_p]),
}

_lock = threading.Lock()
_library = None


def _open():
    """Opens the library: HLA_RUNTIME_LIBRARY, else beside this file, else by
    the loader's path."""
    named = os.environ.get("HLA_RUNTIME_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBRARY_NAME)
    if named:
        candidates = [named]
    elif os.path.exists(beside):
        candidates = [beside]
    else:
        candidates = [LIBRARY_NAME, LIBRARY_NAME + ".0"]
    reasons = []
    for candidate in candidates:
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            reasons.append(str(error))
    raise Error(
        Status.FILE_NOT_FOUND,
        f"expected {LIBRARY_NAME} (named by HLA_RUNTIME_LIBRARY, beside {beside}, or on "
        f"the loader's path), but got {'; '.join(reasons)}",
    )


def library():
    """The library with its functions declared, opened on first use."""
    global _library
    if _library is not None:
        return _library
    with _lock:
        if _library is None:
            opened = _open()
            for name, parameters in _CHECKED.items():
                getattr(opened, name).argtypes = parameters
                getattr(opened, name).restype = c_int
            for name, (result, parameters) in _PLAIN.items():
                getattr(opened, name).argtypes = parameters
                getattr(opened, name).restype = result
            _library = opened
    return _library


def call(name, *arguments):
    """Calls a function that returns a status; raises `Error` unless it is OK."""
    opened = library()
    status = getattr(opened, name)(*arguments)
    if status != Status.OK:
        message = opened.hlaGetLastErrorMessage().decode("utf-8", "replace")
        raise Error(Status(status), message)


# What messages and manifests call DLPack's type codes.
_PREFIXES = {0: "i", 1: "u", 2: "f", 4: "bf", 5: "c", 6: "bool"}


def data_type_name(dtype):
    """The manifest's name of a DataType, and a like one of every other."""
    prefix = _PREFIXES.get(dtype.code, f"type{dtype.code}_")
    return f"{prefix}{dtype.bits}" + (f"x{dtype.lanes}" if dtype.lanes != 1 else "")


def version():
    """The library's version, "MAJOR.MINOR.PATCH"."""
    return library().hlaGetVersion().decode()
