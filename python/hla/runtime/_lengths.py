# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A check of cumulative lengths, which a launch cannot see."""

import ctypes
import operator

from ._device import stream_handle
from ._dlpack import import_array
from ._library import DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, Error, Status
from ._library import call, data_type_name

_BYTES = ctypes.sizeof(ctypes.c_int32)


def check_lengths(lengths, tokens, stream=None):
    """Checks the cumulative lengths of packed sequences.

    Sequence ``n`` is the tokens from ``lengths[n]`` to ``lengths[n + 1]``, the
    last not included. A launch does not look at lengths, which are in device
    memory; this does, and waits for a copy if they are there.

    Args:
        lengths: N + 1 numbers of 32 bits: an array of any framework, on a GPU
            or the host, or a sequence of Python integers.
        tokens: the number of tokens that the sequences are packed in, T.
        stream: what the copy from a GPU is ordered by, as in `Bundle.launch`.

    Raises `Error`: LENGTHS if there is none, or with the first position at which
    they begin below zero, decrease, or end past ``tokens``; DTYPE_MISMATCH,
    RANK_MISMATCH and those of an array.
    """
    if hasattr(lengths, "__dlpack__"):
        numbers = _read_array(lengths, stream)
    else:
        numbers = _read_sequence(lengths)
    call("hlaCheckLengths", numbers, len(numbers), tokens)


def _read_sequence(lengths):
    try:
        numbers = list(lengths)
    except TypeError as error:
        raise Error(
            Status.INVALID_ARGUMENT,
            f"lengths: expected an array or a sequence of integers, but got {lengths!r}",
        ) from error
    for position, number in enumerate(numbers):
        try:
            number = operator.index(number)
        except TypeError as error:
            raise Error(
                Status.INVALID_ARGUMENT,
                f"lengths, position {position}: expected an integer, but got {number!r}",
            ) from error
        if not -(2**31) <= number < 2**31:
            raise Error(
                Status.LENGTHS,
                f"lengths, position {position}: expected a number of 32 bits, but got {number}",
            )
    return (ctypes.c_int32 * len(numbers))(*numbers)


def _read_array(array, stream):
    handle = stream_handle(stream)
    borrowed = import_array(array, "lengths", handle or 1, host=True)
    try:
        return _read_tensor(borrowed.tensor, handle)
    finally:
        borrowed.release()


def _read_tensor(tensor, stream):
    dtype = tensor.dtype
    if (dtype.code, dtype.bits, dtype.lanes) != (0, 32, 1):
        raise Error(
            Status.DTYPE_MISMATCH,
            f"lengths: expected element type i32, but got {data_type_name(dtype)}",
        )
    if tensor.rank != 1:
        raise Error(Status.RANK_MISMATCH, f"lengths: expected rank 1, but got {tensor.rank}")
    count = tensor.shape[0]
    if count == 0:
        return (ctypes.c_int32 * 0)()
    stride = tensor.strides[0] if tensor.strides and count > 1 else 1
    # All memory between the first and the last number.
    span = (ctypes.c_int32 * ((count - 1) * abs(stride) + 1))()
    first = tensor.data + min(0, (count - 1) * stride) * _BYTES
    if tensor.device_type in (DEVICE_CPU, DEVICE_CUDA_HOST):
        ctypes.memmove(span, first, ctypes.sizeof(span))
    else:
        device = tensor.device_id if tensor.device_type == DEVICE_CUDA else -1
        call("hlaMemcpyDeviceToHost", device, span, first, ctypes.sizeof(span), stream)
    if stride == 1:
        return span
    numbers = [span[0]] * count if stride == 0 else span[::stride]
    return (ctypes.c_int32 * count)(*numbers)
