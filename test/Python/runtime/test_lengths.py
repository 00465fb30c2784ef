# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cumulative lengths as arguments; their check, and that of slots."""

import numpy as np
import pytest

from bundles import DeviceView, OldDeviceView, arrays, expect, write_bundle
from hla.runtime import (
    Argument,
    Bundle,
    DeviceArray,
    Status,
    check_lengths,
    check_slots,
)


def with_lengths(manifest):
    """x and y have N = M - 1 rows for M lengths."""
    manifest["dims"].append("L")
    manifest["limits"]["L"] = [1, 1000]
    manifest["constraints"] = [["L", "N + 1"]]
    manifest["arguments"].append(
        {
            "name": "lengths",
            "access": "read",
            "dtype": "i32",
            "shape": ["L"],
            "alignment": 4,
            "stride_multiple": 1,
        }
    )


@pytest.fixture
def bundle(tmp_path):
    return Bundle(write_bundle(tmp_path, with_lengths))


def numbers(*values, dtype=np.int32):
    return np.array(values, dtype)


@pytest.mark.parametrize("make", [DeviceView, OldDeviceView])
def test_arguments(bundle, driver, make):
    assert bundle.arguments[2] == Argument("lengths", "read", "i32", ("L",), 4, 1)
    x, y = arrays(n=3)
    bundle(x, y, make(numbers(0, 1, 1, 5)))
    assert len(driver.launches) == 1
    assert bundle.check(x, y, make(numbers(0, 1, 1, 5))) == {"N": 3, "M": 2, "L": 4}
    constant = numbers(0, 1, 1, 5)
    constant.flags.writeable = False
    bundle(x, y, DeviceView(constant))
    message = (
        r"entry 'scale': expected L = N \+ 1 \(L is dimension 0 of 'lengths', "
        r"N is dimension 0 of 'x'\), but got 3 and 4"
    )
    with expect(Status.CONSTRAINT, message):
        bundle(x, y, make(numbers(0, 1, 1)))
    with expect(Status.CONSTRAINT, message):
        bundle.scratch_bytes(x, y, make(numbers(0, 1, 1)))
    with expect(
        Status.DTYPE_MISMATCH, "'lengths': expected element type i32, but got i64"
    ):
        bundle(x, y, make(numbers(0, 1, 1, 5, dtype=np.int64)))
    with expect(
        Status.DTYPE_MISMATCH, "'lengths': expected element type i32, but got u32"
    ):
        bundle(x, y, make(numbers(0, 1, 1, 5, dtype=np.uint32)))
    with expect(Status.RANK_MISMATCH, "'lengths': expected rank 1, but got 2"):
        bundle(x, y, make(np.zeros((4, 1), np.int32)))
    with expect(Status.WRONG_DEVICE, "'lengths': .* host memory"):
        bundle(x, y, numbers(0, 1, 1, 5))


def list_of_numpy(values):
    return list(numbers(*values))


def on_host(values):
    return numbers(*values)


def on_device(values):
    array = DeviceArray((len(values),), "i32")
    if values:
        array.copy_from(numbers(*values))
    return array


def strided(values):
    return np.repeat(numbers(*values), 3)[::3]


def backwards(values):
    return numbers(*values[::-1])[::-1]


@pytest.mark.parametrize(
    "make", [list, tuple, list_of_numpy, on_host, on_device, strided, backwards]
)
def test_check(driver, make):
    check_lengths(make([0]), 0)
    check_lengths(make([0, 3, 3, 7]), 7)
    check_lengths(make([2, 2**31 - 1]), 2**40)
    for values, tokens, message in [
        ([], 5, "lengths: expected at least 1 number .*, but got none"),
        ([-1, 3], 5, "position 0: expected a start of at least 0, but got -1"),
        ([0, 4, 3, 2], 5, "position 2: expected at least 4 .*, but got 3"),
        ([0, 4, 6, 7], 5, r"position 2: expected at most 5 \(the tokens\), but got 6"),
    ]:
        with expect(Status.LENGTHS, message):
            check_lengths(make(values), tokens)


def test_check_of_views(driver):
    device = on_device([9, 0, 9, 2, 9, 1])
    with expect(Status.LENGTHS, "position 2: expected at least 2 .*, but got 1"):
        check_lengths(device.strided((3,), (2,), 1), 9)
    check_lengths(device.strided((4,), (0,), 3), 9)
    managed = DeviceView(numbers(0, 4, 3), device=(13, 0))
    with expect(Status.LENGTHS, "position 2"):
        check_lengths(managed, 9)
    pinned = DeviceView(numbers(0, 4, 3), device=(3, 0))
    with expect(Status.LENGTHS, "position 2"):
        check_lengths(pinned, 9)
    assert pinned.streams == [None]


def test_check_is_ordered_by_the_stream(driver):
    lengths = DeviceView(numbers(0, 4))
    check_lengths(lengths, 9)
    check_lengths(lengths, 9, stream=12)
    assert lengths.streams == [1, 12]
    driver.fail("cuMemcpyDtoHAsync", 700)
    with expect(Status.LAUNCH_FAILED, "ILLEGAL_ADDRESS"):
        check_lengths(lengths, 9)


def test_check_refuses(driver):
    with expect(Status.DTYPE_MISMATCH, "expected element type i32, but got i64"):
        check_lengths(numbers(0, 1, dtype=np.int64), 5)
    with expect(Status.DTYPE_MISMATCH, "expected element type i32, but got f32"):
        check_lengths(numbers(0, 1, dtype=np.float32), 5)
    with expect(Status.RANK_MISMATCH, "expected rank 1, but got 2"):
        check_lengths(np.zeros((2, 2), np.int32), 5)
    with expect(
        Status.INVALID_ARGUMENT, "position 1: expected an integer, but got 1.5"
    ):
        check_lengths([0, 1.5], 5)
    with expect(
        Status.INVALID_ARGUMENT, "expected an array or a sequence of integers.*got 7"
    ):
        check_lengths(7, 5)
    with expect(
        Status.LENGTHS, "position 1: expected a number of 32 bits, but got 2147483648"
    ):
        check_lengths([0, 2**31], 2**40)
    with expect(Status.WRONG_DEVICE, "lengths: .*memory of a ROCm device"):
        check_lengths(DeviceView(numbers(0, 1), device=(10, 0)), 5)
    with expect(Status.INVALID_ARGUMENT, "at least 0 tokens"):
        check_lengths([0], -1)


@pytest.mark.parametrize(
    "make", [list, tuple, list_of_numpy, on_host, on_device, strided, backwards]
)
def test_check_of_slots(driver, make):
    check_slots(make([]), 0)
    check_slots(make([3, 0, -1, 2, -1]), 4)
    check_slots(make([3, 0, 3]), 4, shared=True)
    for values, states, message in [
        ([0, 4], 4, r"position 1: expected at most 3 \(of 4 states\), but got 4"),
        ([-1, 0], 0, r"position 1: expected at most -1 \(of 0 states\), but got 0"),
        ([2, 1, 2], 4, "slots, position 2: expected another number than at position 0"),
    ]:
        with expect(Status.SLOTS, message):
            check_slots(make(values), states)


def test_check_of_slots_refuses(driver):
    with expect(Status.SLOTS, "position 0: expected at most 3"):
        check_slots([4, 4], 4, shared=True)
    with expect(Status.SLOTS, "slots, position 0: expected a number of 32 bits"):
        check_slots([2**31], 4)
    with expect(Status.DTYPE_MISMATCH, "slots: expected element type i32, but got i64"):
        check_slots(numbers(0, 1, dtype=np.int64), 5)
    with expect(Status.INVALID_ARGUMENT, "at least 0 states"):
        check_slots([0], -1)
