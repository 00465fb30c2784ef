# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DLPack through ctypes: import arrays of other frameworks, export our own.

A producer's ``__dlpack__`` returns a capsule. The consumer takes the managed
tensor out of it, renames the capsule so that nobody takes it twice, and calls
the tensor's deleter when it has done with the memory.
"""

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_uint32
from ctypes import c_uint64, c_void_p, py_object

from ._library import DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED
from ._library import TENSOR_READ_ONLY, DataType, Error, Status, Tensor

_NAME = b"dltensor"
_VERSIONED_NAME = b"dltensor_versioned"
_USED_NAME = b"used_dltensor"
_USED_VERSIONED_NAME = b"used_dltensor_versioned"
_MAJOR_VERSION = 1
_FLAG_READ_ONLY = 1


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("dtype", DataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


# A deleter may touch Python objects: PYFUNCTYPE keeps the interpreter's lock.
_Deleter = ctypes.PYFUNCTYPE(None, c_void_p)


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager_ctx", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("dl_tensor", DLTensor),
    ]


def _python_function(name, result, *parameters):
    function = ctypes.pythonapi[name]
    function.restype = result
    function.argtypes = parameters
    return function


_capsule_new = _python_function("PyCapsule_New", py_object, c_void_p, c_char_p, c_void_p)
_is_valid = _python_function("PyCapsule_IsValid", c_int, py_object, c_char_p)
_get_pointer = _python_function("PyCapsule_GetPointer", c_void_p, py_object, c_char_p)
_set_name = _python_function("PyCapsule_SetName", c_int, py_object, c_char_p)
# The same for a capsule that is being destroyed, which no reference may hold.
_is_valid_address = _python_function("PyCapsule_IsValid", c_int, c_void_p, c_char_p)
_get_pointer_address = _python_function("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)


class Import:
    """An array's memory, borrowed until `release`.

    Attributes:
        tensor: the `Tensor` that C takes; valid until `release`.
    """

    __slots__ = ("tensor", "_address", "_deleter")

    def __init__(self, capsule):
        if _is_valid(capsule, _VERSIONED_NAME):
            self._address = _get_pointer(capsule, _VERSIONED_NAME)
            _set_name(capsule, _USED_VERSIONED_NAME)
            managed = DLManagedTensorVersioned.from_address(self._address)
        elif _is_valid(capsule, _NAME):
            self._address = _get_pointer(capsule, _NAME)
            _set_name(capsule, _USED_NAME)
            managed = DLManagedTensor.from_address(self._address)
        else:
            raise ValueError("expected an unused DLPack capsule from __dlpack__")
        self._deleter = managed.deleter
        self.tensor = Tensor()

        flags = 0
        if isinstance(managed, DLManagedTensorVersioned):
            if managed.major != _MAJOR_VERSION:
                got = f"{managed.major}.{managed.minor}"
                self.release()
                raise ValueError(f"expected DLPack {_MAJOR_VERSION}.x, but got {got}")
            if managed.flags & _FLAG_READ_ONLY:
                flags = TENSOR_READ_ONLY
        source = managed.dl_tensor
        target = self.tensor
        target.data = source.data + source.byte_offset if source.data else None
        target.dtype = source.dtype
        target.rank = source.ndim
        target.shape = source.shape
        target.strides = source.strides
        target.device_type = source.device_type
        target.device_id = source.device_id
        target.flags = flags

    def release(self):
        """Gives the memory back to its producer. Once; then does nothing."""
        deleter, self._deleter = self._deleter, None
        if deleter:
            _Deleter(deleter)(self._address)


def _framework(array):
    return type(array).__module__.partition(".")[0]


def is_immutable(array):
    """Whether the array's type is immutable, which an unversioned DLPack tensor
    cannot say."""
    return _framework(array) in ("jax", "jaxlib")


def describe_device(device_type):
    names = {
        DEVICE_CPU: "host memory",
        DEVICE_CUDA_HOST: "pinned host memory",
        10: "memory of a ROCm device",
    }
    return names.get(device_type, f"memory of DLPack device type {device_type}")


def _export(array, stream):
    try:
        return array.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:
        # A producer from before DLPack 1.0 does not know max_version.
        return array.__dlpack__(stream=stream)


def import_array(array, place, stream, host=False):
    """Borrows the memory of any object with ``__dlpack__``.

    Args:
        array: the object.
        place: what messages call it, "argument 'q'".
        stream: the consumer's stream as ``__dlpack__`` takes it, or None.
        host: whether host memory will do as well; no stream is named for it.

    Raises:
        Error: INVALID_ARGUMENT if the object has no DLPack or refuses to give
            it, WRONG_DEVICE if its memory is no CUDA device's.
    """
    kind = f"{type(array).__module__}.{type(array).__qualname__}"
    if not hasattr(array, "__dlpack__") or not hasattr(array, "__dlpack_device__"):
        raise Error(
            Status.INVALID_ARGUMENT,
            f"{place}: expected an array with __dlpack__ (torch, cupy, jax, ...), but got {kind}",
        )
    device_type = int(array.__dlpack_device__()[0])
    if host and device_type in (DEVICE_CPU, DEVICE_CUDA_HOST):
        stream = None
    elif device_type not in (DEVICE_CUDA, DEVICE_CUDA_MANAGED):
        raise Error(
            Status.WRONG_DEVICE,
            f"{place}: expected memory of a CUDA device, but got {describe_device(device_type)} "
            f"({kind})",
        )
    # jax takes every number for a stream's handle.
    if stream == -1 and _framework(array) in ("jax", "jaxlib"):
        stream = None
    try:
        return Import(_export(array, stream))
    except Exception as error:
        raise Error(
            Status.INVALID_ARGUMENT,
            f"{place}: expected its __dlpack__ to give a tensor, but got "
            f"{type(error).__name__}: {error}",
        ) from error


# ---- Export ------------------------------------------------------------------

# The exported tensors and what keeps each alive, by the tensor's address.
_exports = {}


@_Deleter
def _delete(address):
    _exports.pop(address, None)


@ctypes.PYFUNCTYPE(None, c_void_p)
def _destroy_capsule(capsule):
    for name in (_NAME, _VERSIONED_NAME):
        if _is_valid_address(capsule, name):
            _delete(_get_pointer_address(capsule, name))


def export_array(owner, data, dtype, shape, strides, device, max_version=None, read_only=False):
    """A DLPack capsule of memory that `owner` keeps alive.

    Args:
        owner: held until the consumer has done with the memory.
        data: the address of element [0, ..., 0].
        dtype: a `DataType`.
        shape, strides: in elements.
        device: (DLPack device type, ordinal).
        max_version: the newest (major, minor) that the consumer reads; None
            gives a tensor of before DLPack 1.0, which cannot be marked read only.
    """
    versioned = max_version is not None and max_version[0] >= _MAJOR_VERSION
    managed = DLManagedTensorVersioned() if versioned else DLManagedTensor()
    rank = len(shape)
    sizes = (c_int64 * max(rank, 1))(*shape)
    steps = (c_int64 * max(rank, 1))(*strides)
    tensor = managed.dl_tensor
    tensor.data = data
    tensor.device_type, tensor.device_id = device
    tensor.ndim = rank
    tensor.dtype = dtype
    tensor.shape = ctypes.cast(sizes, POINTER(c_int64))
    tensor.strides = ctypes.cast(steps, POINTER(c_int64))
    managed.deleter = ctypes.cast(_delete, c_void_p).value
    if versioned:
        managed.major, managed.minor = _MAJOR_VERSION, 0
        managed.flags = _FLAG_READ_ONLY if read_only else 0
    address = ctypes.addressof(managed)
    _exports[address] = (managed, sizes, steps, owner)
    name = _VERSIONED_NAME if versioned else _NAME
    return _capsule_new(address, name, ctypes.cast(_destroy_capsule, c_void_p))
