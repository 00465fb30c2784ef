# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices, streams and device arrays."""

import gc

import numpy as np
import pytest

from bundles import write_bundle
from hla import runtime
from hla.runtime import Bundle, DeviceArray, Error, Status


def test_queries(driver):
    assert runtime.device_count() == 2
    assert runtime.device_name(1) == "Fake GPU 1"
    assert runtime.compute_capability() == (9, 0)
    assert runtime.driver_version() == (12, 8)
    with pytest.raises(Error, match="0 to 1, but got 2") as raised:
        runtime.device_name(2)
    assert raised.value.status is Status.NO_DEVICE


def test_copies(driver):
    array = DeviceArray((3, 2), "f32")
    assert repr(array) == "DeviceArray(f32[3, 2], device=0)"
    assert (array.nbytes, array.size, array.itemsize, array.strides) == (
        24,
        6,
        4,
        (2, 1),
    )
    source = np.arange(6, dtype=np.float32).reshape(3, 2)
    target = np.zeros_like(source)
    array.copy_from(source)
    array.copy_to(target)
    assert np.array_equal(target, source)
    array.copy_from(source.tobytes())
    array.fill_bytes(0xFF)
    array.copy_to(target)
    assert np.isnan(target).all()
    with pytest.raises(Error, match="buffer of 24 bytes, but got 12"):
        array.copy_from(source[:, 0].copy())
    with pytest.raises(
        Error, match="expected bf16, f16, f32, f64 or i32, but got 'i8'"
    ):
        DeviceArray((1,), "i8")
    empty = DeviceArray((0, 4), "bf16")
    empty.copy_from(np.zeros((0, 4), np.uint16))
    empty.fill_bytes(0)


def test_views(driver):
    array = DeviceArray((4, 3, 2), "f16")
    turned = array.transpose(1, 0, 2)
    assert (turned.shape, turned.strides) == ((3, 4, 2), (2, 6, 1))
    part = array.strided((2, 2), (6, 1), offset=6)
    assert part.address == array.address + 12
    with pytest.raises(Error, match="expected a contiguous array"):
        turned.copy_to(np.zeros(24, np.float16))
    for shape, strides, offset in [
        ((4, 6), (6, 1), 1),
        ((2,), (1,), -1),
        ((2,), (-1,), 1),
        ((2, 2), (1,), 0),
    ]:
        with pytest.raises(Error, match="expected a view inside 48 bytes"):
            array.strided(shape, strides, offset)
    # Memory lives as long as any view of it.
    del array, turned
    gc.collect()
    assert driver.allocations == 1
    del part
    gc.collect()
    assert driver.allocations == 0


def test_launch(tmp_path, driver):
    bundle = Bundle(write_bundle(tmp_path))
    x, y = (DeviceArray((3, 2, 4), "f32", device=1) for _ in "xy")
    stream = runtime.Stream(1)
    bundle(x, y, stream=stream)
    stream.synchronize()
    runtime.synchronize(1)
    assert driver.launches[0]["stream"] == str(stream.handle)
    assert driver.launches[0]["device"] == "1"
    driver.fail("cuStreamSynchronize", 700)
    with pytest.raises(Error, match="CUDA_ERROR_ILLEGAL_ADDRESS") as raised:
        stream.synchronize()
    assert raised.value.status is Status.LAUNCH_FAILED
