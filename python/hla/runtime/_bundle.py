# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled bundle as a callable."""

import ctypes
import json
import os
import typing
import weakref

from ._device import stream_handle
from ._dlpack import import_array, is_immutable
from ._library import ArgumentInfo, DimInfo, Error, Status, TargetInfo, Tensor
from ._library import TENSOR_READ_ONLY, call, data_type_name, library

_ACCESS = ("read", "write", "read_write")


class Argument(typing.NamedTuple):
    """What a bundle asks of one argument.

    Attributes:
        name: its name.
        access: "read", "write" or "read_write".
        dtype: "bf16", "f16", "f32", "f64" or "i32".
        shape: an extent (int) or the name of a dim (str) for each dimension.
        alignment: of the data pointer, in bytes.
        stride_multiple: strides but the last, which is 1, are multiples of this
            number of elements.
    """

    name: str
    access: str
    dtype: str
    shape: tuple
    alignment: int
    stride_multiple: int

    def __str__(self):
        extents = ", ".join(map(str, self.shape))
        return f"{self.name}: {self.access} {self.dtype}[{extents}]"


class Dim(typing.NamedTuple):
    """The sizes that a symbolic dimension may have, both ends included."""

    minimum: int
    maximum: int


class Target(typing.NamedTuple):
    """What a bundle runs on.

    Attributes:
        arch: "sm_90a".
        ptx_isa: "8.7".
        compute_capability: (major, minor).
        forward_compatible: whether it runs on later capabilities too.
        has_cubin: whether machine code comes with the PTX.
    """

    arch: str
    ptx_isa: str
    compute_capability: tuple
    forward_compatible: bool
    has_cubin: bool


class Bundle:
    """A compiled function, loaded from the bundle's directory.

    Attributes:
        path: the directory.
        entry: the name of the function that was compiled.
        target: a `Target`.
        arguments: a tuple of `Argument`, in the order of a call; outputs are
            arguments too, at the end.
        dims: a dict from the name of each symbolic dimension to its `Dim`.
        manifest: the manifest as Python values.

    Bundles are safe to use from several threads.
    """

    def __init__(self, path):
        """Reads and checks the bundle. Needs no GPU.

        Raises `Error`: FILE_NOT_FOUND, MALFORMED_JSON, ABI_MISMATCH,
        HASH_MISMATCH and the other statuses of a bundle (docs/Runtime.md).
        """
        self.path = os.fspath(path)
        handle = ctypes.c_void_p()
        call("hlaBundleLoad", os.fsencode(self.path), ctypes.byref(handle))
        self._handle = handle.value
        opened = library()
        self._finalizer = weakref.finalize(self, opened.hlaBundleDestroy, self._handle)
        # At exit the driver may be gone before us, and takes its modules along.
        self._finalizer.atexit = False
        self.entry = opened.hlaBundleGetEntry(self._handle).decode()
        self.manifest = json.loads(opened.hlaBundleGetManifest(self._handle))
        self.dims = dict(map(self._dim, range(opened.hlaBundleGetNumDims(self._handle))))
        self.arguments = tuple(
            map(self._argument, range(opened.hlaBundleGetNumArguments(self._handle)))
        )
        self.target = self._target()

    # ---- Launching -----------------------------------------------------------

    def __call__(self, *arrays, stream=None, scratch=None, sync=True, **named):
        """The same as `launch`."""
        self.launch(*arrays, stream=stream, scratch=scratch, sync=sync, **named)

    def launch(self, *arrays, stream=None, scratch=None, sync=True, **named):
        """Launches the kernels on the arrays' device, without waiting for them.

        Args:
            arrays, named: one object with ``__dlpack__`` for each of
                `arguments`, by position first and then by name. They are used
                where they are, never copied. Keep them alive until the kernels
                have ended, as with any asynchronous launch.
            stream: None for the legacy default stream, the integer of a
                CUstream, or a stream object of torch, cupy or cuda.core.
            scratch: None, to allocate what is needed in the order of the
                stream, or a contiguous array of at least `scratch_bytes` bytes.
            sync: whether each array's framework is asked to let the stream wait
                for the array's pending work, as DLPack's ``stream`` does. False
                asks for nothing (-1): the caller has ordered it. jax arrays,
                which know no -1, are then taken with no stream named.

        Later work on another stream does not wait for the kernels by itself.

        Raises `Error`: the statuses of arguments and of the driver
        (docs/Runtime.md). If it raises for the arguments, nothing was launched.
        """
        handle = stream_handle(stream)
        # DLPack keeps 0 back, as it could be either default stream.
        protocol = (handle or 1) if sync else -1
        ordered = self._order(arrays, named)
        imports = []
        try:
            tensors = self._import(ordered, protocol, imports)
            address, size = self._import_scratch(scratch, protocol, imports)
            call(
                "hlaBundleLaunch", self._alive(), tensors, len(ordered), handle, address, size
            )
        finally:
            for borrowed in imports:
                borrowed.release()

    def prepare(self, device=-1):
        """Loads the kernels on a device ahead of the first launch.

        Args:
            device: a CUDA ordinal, or -1 for the current context's device.

        Raises `Error`: UNSUPPORTED_DEVICE, DRIVER_TOO_OLD, INVALID_KERNEL,
        NO_DRIVER, NO_DEVICE.
        """
        call("hlaBundlePrepare", self._alive(), device)

    # ---- Checking ------------------------------------------------------------

    def check(self, *arrays, **named):
        """Checks the arrays as `launch` does, and launches nothing.

        Returns: a dict from each dim's name to its size in these arrays.
        """
        sizes = (ctypes.c_int64 * max(len(self.dims), 1))()
        self._with_tensors("hlaBundleCheckArguments", arrays, named, sizes)
        return dict(zip(self.dims, sizes))

    def scratch_bytes(self, *arrays, **named):
        """The bytes of scratch that a launch on the arrays needs."""
        size = ctypes.c_size_t()
        self._with_tensors("hlaBundleGetScratchBytes", arrays, named, ctypes.byref(size))
        return size.value

    # ---- Lifetime ------------------------------------------------------------

    def close(self):
        """Unloads the kernels; those in flight must have ended. Once; further
        calls do nothing. Otherwise done when the object is collected."""
        self._finalizer()
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        arguments = ", ".join(map(str, self.arguments))
        return f"Bundle({self.path!r}: {self.entry}({arguments}) for {self.target.arch})"

    # ---- Implementation ------------------------------------------------------

    def _alive(self):
        if self._handle is None:
            raise Error(
                Status.INVALID_ARGUMENT, f"expected an open bundle, but got {self!r} closed"
            )
        return self._handle

    def _dim(self, index):
        info = DimInfo()
        call("hlaBundleGetDim", self._handle, index, ctypes.byref(info))
        return info.name.decode(), Dim(info.minimum, info.maximum)

    def _argument(self, index):
        info = ArgumentInfo()
        call("hlaBundleGetArgument", self._handle, index, ctypes.byref(info))
        names = list(self.dims)
        shape = tuple(
            info.extents[i] if info.dims[i] == -1 else names[info.dims[i]]
            for i in range(info.rank)
        )
        return Argument(
            info.name.decode(),
            _ACCESS[info.access],
            data_type_name(info.dtype),
            shape,
            info.alignment,
            info.stride_multiple,
        )

    def _target(self):
        info = TargetInfo()
        call("hlaBundleGetTarget", self._handle, ctypes.byref(info))
        return Target(
            info.arch.decode(),
            info.ptx_isa.decode(),
            (info.major, info.minor),
            bool(info.forward_compatible),
            bool(info.has_cubin),
        )

    def _order(self, arrays, named):
        """The arrays in the order of `arguments`."""
        if not named and len(arrays) == len(self.arguments):
            return arrays
        names = [argument.name for argument in self.arguments]
        given = dict(zip(names, arrays))
        expected = f"{len(names)} arguments ({', '.join(names)})"
        problem = None
        if len(arrays) > len(names):
            problem = f"{len(arrays)} by position"
        for name, array in named.items():
            if name in given:
                problem = problem or f"{name!r} twice"
            elif name not in names:
                problem = problem or f"an unknown {name!r}"
            given[name] = array
        missing = [name for name in names if name not in given]
        if missing:
            problem = problem or f"none for {', '.join(missing)}"
        if problem:
            raise Error(
                Status.ARGUMENT_COUNT,
                f"entry {self.entry!r}: expected {expected}, but got {problem}",
            )
        return [given[name] for name in names]

    def _import(self, arrays, stream, imports):
        """Borrows each array; `imports` gets what must be released."""
        tensors = (Tensor * max(len(arrays), 1))()
        for i, (argument, array) in enumerate(zip(self.arguments, arrays)):
            borrowed = import_array(array, f"argument {argument.name!r}", stream)
            imports.append(borrowed)
            if is_immutable(array):
                borrowed.tensor.flags |= TENSOR_READ_ONLY
            tensors[i] = borrowed.tensor
        return tensors

    def _import_scratch(self, scratch, stream, imports):
        if scratch is None:
            return None, 0
        borrowed = import_array(scratch, "scratch", stream)
        imports.append(borrowed)
        tensor = borrowed.tensor
        if tensor.flags & TENSOR_READ_ONLY or is_immutable(scratch):
            raise Error(
                Status.READ_ONLY,
                "scratch: expected memory that may be written, but got a read-only tensor",
            )
        elements = 1
        for i in reversed(range(tensor.rank)):
            if tensor.strides and tensor.shape[i] > 1 and tensor.strides[i] != elements:
                raise Error(
                    Status.SCRATCH,
                    f"scratch, dimension {i}: expected stride {elements} (contiguous memory), but "
                    f"got {tensor.strides[i]}",
                )
            elements *= tensor.shape[i]
        return tensor.data, elements * tensor.dtype.bits * tensor.dtype.lanes // 8

    def _with_tensors(self, function, arrays, named, result):
        ordered = self._order(arrays, named)
        imports = []
        try:
            tensors = self._import(ordered, None, imports)
            call(function, self._alive(), tensors, len(ordered), result)
        finally:
            for borrowed in imports:
                borrowed.release()
