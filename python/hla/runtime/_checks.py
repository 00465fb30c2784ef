# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of cumulative lengths and slots, which a launch cannot see."""

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
    numbers = _read("lengths", lengths, Status.LENGTHS, stream)
    call("hlaCheckLengths", numbers, len(numbers), tokens)


def check_slots(slots, states, shared=False, stream=None):
    """Checks the numbers of the states that sequences have.

    Sequence ``b`` begins with state ``slots[b]`` of a pool, and leaves its final
    state there. A negative number is no state: the sequence begins with zeros, and
    its final state goes nowhere. A launch does not look at slots, which are in
    device memory; this does, and waits for a copy if they are there.

    Args:
        slots: numbers of 32 bits, one a batch or sequence: an array of any
            framework, on a GPU or the host, or a sequence of Python integers.
        states: how many states the pool has, S.
        shared: whether several sequences may have one state, as they may where
            final states are not written.
        stream: what the copy from a GPU is ordered by, as in `Bundle.launch`.

    Raises `Error`: SLOTS with the first position at which there is ``states`` or
    more, or a number that came before; DTYPE_MISMATCH, RANK_MISMATCH and those of
    an array.
    """
    numbers = _read("slots", slots, Status.SLOTS, stream)
    call("hlaCheckSlots", numbers, len(numbers), states, shared)


def _read(name, values, status, stream):
    """The numbers on the host. ``status``: of one that has no 32 bits."""
    if hasattr(values, "__dlpack__"):
        return _read_array(name, values, stream)
    return _read_sequence(name, values, status)


def _read_sequence(name, values, status):
    try:
        numbers = list(values)
    except TypeError as error:
        raise Error(
            Status.INVALID_ARGUMENT,
            f"{name}: expected an array or a sequence of integers, but got {values!r}",
        ) from error
    for position, number in enumerate(numbers):
        try:
            number = operator.index(number)
        except TypeError as error:
            raise Error(
                Status.INVALID_ARGUMENT,
                f"{name}, position {position}: expected an integer, but got {number!r}",
            ) from error
        if not -(2**31) <= number < 2**31:
            raise Error(
                status,
                f"{name}, position {position}: expected a number of 32 bits, but got {number}",
            )
    return (ctypes.c_int32 * len(numbers))(*numbers)


def _read_array(name, array, stream):
    handle = stream_handle(stream)
    borrowed = import_array(array, name, handle or 1, host=True)
    try:
        return _read_tensor(name, borrowed.tensor, handle)
    finally:
        borrowed.release()


def _read_tensor(name, tensor, stream):
    dtype = tensor.dtype
    if (dtype.code, dtype.bits, dtype.lanes) != (0, 32, 1):
        raise Error(
            Status.DTYPE_MISMATCH,
            f"{name}: expected element type i32, but got {data_type_name(dtype)}",
        )
    if tensor.rank != 1:
        raise Error(Status.RANK_MISMATCH, f"{name}: expected rank 1, but got {tensor.rank}")
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
