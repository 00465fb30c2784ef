# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices, streams and plain device arrays, for where no framework is."""

import ctypes
import weakref

from ._dlpack import export_array
from ._library import DEVICE_CUDA, DataType, Error, Status, call, data_type_name, library


def device_count():
    """The number of CUDA devices. Raises `Error` (NO_DRIVER, NO_DEVICE)."""
    count = ctypes.c_int32()
    call("hlaDeviceGetCount", ctypes.byref(count))
    return count.value


def device_name(device=0):
    """The name of a CUDA device."""
    name = ctypes.create_string_buffer(256)
    call("hlaDeviceGetName", device, name, len(name))
    return name.value.decode("utf-8", "replace")


def compute_capability(device=0):
    """The compute capability of a CUDA device as (major, minor)."""
    major, minor = ctypes.c_int32(), ctypes.c_int32()
    call("hlaDeviceGetComputeCapability", device, ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def driver_version():
    """The CUDA version of the driver as (major, minor). Raises `Error`
    (NO_DRIVER)."""
    version = ctypes.c_int32()
    call("hlaDriverGetVersion", ctypes.byref(version))
    return version.value // 1000, version.value % 1000 // 10


def stream_handle(stream):
    """The CUstream of None (0, the legacy default stream), an integer, or a
    stream object of torch, cupy or cuda.core."""
    if stream is None:
        return 0
    handle = stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        handle = (protocol() if callable(protocol) else protocol)[1]
    elif hasattr(stream, "cuda_stream"):
        handle = stream.cuda_stream
    elif hasattr(stream, "ptr"):
        handle = stream.ptr
    if isinstance(handle, bool) or not isinstance(handle, int) or handle < 0:
        raise Error(
            Status.INVALID_ARGUMENT,
            f"stream: expected None, a CUstream's integer or a stream object, but got {stream!r}",
        )
    return handle


def synchronize(device=0, stream=None):
    """Waits for a stream's work. Raises `Error` (LAUNCH_FAILED) if a kernel on
    it failed."""
    call("hlaStreamSynchronize", device, stream_handle(stream))


class Stream:
    """A CUDA stream that does not synchronise with the legacy default stream."""

    def __init__(self, device=0):
        handle = ctypes.c_void_p()
        call("hlaStreamCreate", device, ctypes.byref(handle))
        self.device = device
        self.handle = handle.value
        destroy = library().hlaStreamDestroy
        weakref.finalize(self, destroy, device, handle.value).atexit = False

    def __cuda_stream__(self):
        return 0, self.handle

    def synchronize(self):
        """Waits for the stream's work."""
        synchronize(self.device, self)


class DeviceArray:
    """A strided array in device memory, with DLPack and copies to and from the
    host. No arithmetic: use a framework for that.

    Attributes:
        shape: extents.
        strides: strides in elements.
        dtype: "bf16", "f16", "f32", "f64" or "i32".
        device: CUDA ordinal.
        address: the address of element [0, ..., 0].
    """

    def __init__(self, shape, dtype, device=0):
        """Allocates a row-major array; its contents are undefined.

        Raises `Error`: UNKNOWN_DTYPE, DEVICE_OUT_OF_MEMORY, NO_DRIVER, NO_DEVICE.
        """
        self._type = DataType()
        call("hlaDataTypeFromName", dtype.encode(), ctypes.byref(self._type))
        self.shape = tuple(int(extent) for extent in shape)
        strides = []
        size = 1
        for extent in reversed(self.shape):
            strides.insert(0, size)
            size *= extent
        self.strides = tuple(strides)
        self.device = device
        data = ctypes.c_void_p()
        call("hlaDeviceAllocate", device, self.nbytes, ctypes.byref(data))
        self.address = data.value or 0
        self._memory = _Memory(device, self.address, self.nbytes)

    @property
    def dtype(self):
        return data_type_name(self._type)

    @property
    def itemsize(self):
        """Bytes an element."""
        return self._type.bits // 8

    @property
    def size(self):
        """The number of elements."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.size * self.itemsize

    def strided(self, shape, strides, offset=0):
        """A view of the same memory.

        Args:
            shape: extents.
            strides: strides in elements, none negative.
            offset: of the view's first element from this array's, in elements.

        Raises `Error` (INVALID_ARGUMENT) if the view leaves the memory.
        """
        view = object.__new__(DeviceArray)
        view.__dict__.update(self.__dict__)
        view.shape = tuple(int(extent) for extent in shape)
        view.strides = tuple(int(stride) for stride in strides)
        view.address = self.address + offset * self.itemsize
        last = sum((extent - 1) * stride for extent, stride in zip(view.shape, view.strides))
        end = view.address + (last + 1) * self.itemsize if view.size else view.address
        inside = self._memory.address <= view.address and end <= self._memory.end
        if len(view.shape) != len(view.strides) or min(view.strides, default=0) < 0 or not inside:
            raise Error(
                Status.INVALID_ARGUMENT,
                f"expected a view inside {self._memory.nbytes} bytes, but got shape {view.shape}, "
                f"strides {view.strides}, offset {offset}",
            )
        return view

    def transpose(self, *axes):
        """A view with the dimensions in another order, as numpy's."""
        return self.strided([self.shape[a] for a in axes], [self.strides[a] for a in axes])

    def fill_bytes(self, value, stream=None):
        """Sets each byte of a contiguous array; 0xff makes every element NaN."""
        self._require_contiguous()
        call("hlaMemset", self.device, self.address, value, self.nbytes, stream_handle(stream))

    def copy_from(self, source, stream=None):
        """Copies from a contiguous host buffer (numpy's or bytes) of `nbytes`,
        and waits for the copy. bf16 has no numpy type: pass its 16 bits."""
        self._require_contiguous()
        view = self._require_bytes(source)
        kind = ctypes.c_char * self.nbytes
        # ctypes takes no address of memory that is read only.
        buffer = kind.from_buffer_copy(view) if view.readonly else kind.from_buffer(view)
        call("hlaMemcpyHostToDevice", self.device, self.address, ctypes.addressof(buffer),
             self.nbytes, stream_handle(stream))

    def copy_to(self, target, stream=None):
        """Copies into a writable contiguous host buffer of `nbytes`, and waits
        for the copy."""
        self._require_contiguous()
        buffer = (ctypes.c_char * self.nbytes).from_buffer(self._require_bytes(target))
        call("hlaMemcpyDeviceToHost", self.device, ctypes.addressof(buffer), self.address,
             self.nbytes, stream_handle(stream))

    def __dlpack_device__(self):
        return DEVICE_CUDA, self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        """A DLPack capsule. Orders nothing: this array knows no stream of its
        own, and copies have ended when they return."""
        return export_array(self._memory, self.address, self._type, self.shape, self.strides,
                            (DEVICE_CUDA, self.device), max_version)

    def __repr__(self):
        extents = ", ".join(map(str, self.shape))
        return f"DeviceArray({self.dtype}[{extents}], device={self.device})"

    def _require_contiguous(self):
        size = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent > 1 and stride != size and self.size:
                raise Error(
                    Status.STRIDE,
                    f"expected a contiguous array, but got shape {self.shape}, strides "
                    f"{self.strides}",
                )
            size *= extent

    def _require_bytes(self, buffer):
        view = memoryview(buffer)
        if view.nbytes != self.nbytes or not view.c_contiguous:
            raise Error(
                Status.INVALID_ARGUMENT,
                f"expected a contiguous buffer of {self.nbytes} bytes, but got {view.nbytes}",
            )
        return view.cast("B") if view.nbytes else memoryview(bytearray())


class _Memory:
    """An allocation, freed with the last array that is a view of it."""

    def __init__(self, device, address, nbytes):
        self.address = address
        self.nbytes = nbytes
        self.end = address + nbytes
        free = library().hlaDeviceFree
        weakref.finalize(self, free, device, address).atexit = False
