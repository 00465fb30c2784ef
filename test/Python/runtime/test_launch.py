# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launching a bundle on arrays that come through DLPack."""

import struct
import sys
import threading

import numpy as np
import pytest

from bundles import MAP_PTX, DeviceView, OldDeviceView, arrays, expect
from bundles import take_maps, write_bundle
from hla.runtime import Bundle, Error, Status


@pytest.fixture
def bundle(tmp_path, driver):
    return Bundle(write_bundle(tmp_path))


def test_launch_uses_the_arrays_where_they_are(bundle, driver):
    x, y = arrays()
    assert bundle(x, y) is None
    (launch,) = driver.launches
    assert launch["kernel"] == "scale"
    assert launch["grid"] == "3,2,1"
    assert launch["block"] == "128,1,1"
    assert launch["stream"] == "0"
    parameters = launch["parameters"]
    assert parameters[0] == struct.pack("<Q", x.address)
    assert parameters[1] == struct.pack("<Q", y.address)
    assert parameters[3] == struct.pack("<q", 8)
    assert parameters[4] == struct.pack("<f", 0.5)


def test_names(bundle, driver):
    x, y = arrays()
    bundle(y=y, x=x)
    bundle(x, y=y)
    bundle.launch(x, y)
    addresses = [launch["parameters"][:2] for launch in driver.launches]
    assert addresses[0] == addresses[1] == addresses[2]
    for got, arguments, named in [
        ("none for y", (x,), {}),
        ("none for x, y", (), {}),
        ("3 by position", (x, y, y), {}),
        ("'x' twice", (x, y), {"x": x}),
        ("an unknown 'z'", (x, y), {"z": x}),
    ]:
        with expect(Status.ARGUMENT_COUNT, rf"2 arguments \(x, y\), but got {got}"):
            bundle(*arguments, **named)
    assert len(driver.launches) == 3


def test_strided_and_offset(bundle, driver):
    base = np.zeros((2, 5, 3, 4), np.float32)
    x = DeviceView(base[1].transpose(1, 0, 2)[:, 1:])  # [3, 4, 4], strides 4, 12, 1
    y = DeviceView(np.zeros((3, 4, 4), np.float32))
    assert bundle.check(x, y) == {"N": 3, "M": 4}
    bundle(x, y)
    parameters = driver.launches[0]["parameters"]
    assert parameters[0] == struct.pack(
        "<Q", base.__array_interface__["data"][0] + 4 * 72
    )
    assert parameters[3] == struct.pack("<q", 4)


def test_bfloat16(tmp_path, driver):
    def change(manifest):
        for argument in manifest["arguments"]:
            argument.update(dtype="bf16", alignment=2)

    bundle = Bundle(write_bundle(tmp_path, change))
    x, y = (DeviceView(np.zeros((3, 2, 4), np.uint16), bfloat16=True) for _ in "xy")
    bundle(x, y)
    assert len(driver.launches) == 1
    with expect(
        Status.DTYPE_MISMATCH, "argument 'x': expected element type bf16, but got f16"
    ):
        bundle(DeviceView(np.zeros((3, 2, 4), np.float16)), y)


@pytest.mark.parametrize("make", [DeviceView, OldDeviceView])
def test_memory_is_given_back(bundle, driver, make):
    x, y = (make(np.zeros((3, 2, 4), np.float32)) for _ in "xy")
    before = sys.getrefcount(x.array), sys.getrefcount(y.array)
    bundle(x, y)
    bundle.check(x, y)
    driver.fail("cuLaunchKernel", 1)
    with expect(Status.LAUNCH_FAILED, "kernel 'scale'"):
        bundle(x, y)
    # A failure at the second array gives the first one back.
    with expect(Status.INVALID_ARGUMENT, "argument 'y'"):
        bundle(x, object())
    assert (sys.getrefcount(x.array), sys.getrefcount(y.array)) == before


def test_streams(bundle, driver):
    class TorchStream:
        cuda_stream = 7

    class CupyStream:
        ptr = 8

    class CudaStream:
        def __cuda_stream__(self):
            return 0, 9

    # What is given, what the launch gets, and what __dlpack__ is asked for.
    for given, handle, protocol in [
        (None, 0, 1),
        (0, 0, 1),
        (1, 1, 1),
        (2, 2, 2),
        (12345, 12345, 12345),
        (TorchStream(), 7, 7),
        (CupyStream(), 8, 8),
        (CudaStream(), 9, 9),
    ]:
        x, y = arrays()
        bundle(x, y, stream=given)
        assert driver.launches[-1]["stream"] == str(handle)
        assert x.streams == y.streams == [protocol]
        bundle(x, y, stream=given, sync=False)
        assert driver.launches[-1]["stream"] == str(handle)
        assert x.streams == y.streams == [protocol, -1]
    for bad in (-1, True, "stream", 1.0):
        with expect(Status.INVALID_ARGUMENT, "stream: expected"):
            bundle(*arrays(), stream=bad)


def test_devices(bundle, driver):
    bundle(*arrays(device=(2, 1)))
    assert driver.launches[-1]["device"] == "1"
    bundle(*arrays(device=(13, 0)))
    x, _ = arrays()
    _, y = arrays(device=(2, 1))
    with expect(
        Status.WRONG_DEVICE,
        r"argument 'y': .* device 0 \(as 'x'\), but got .* device 1",
    ):
        bundle(x, y)
    with expect(
        Status.WRONG_DEVICE, r"argument 'x': .*got host memory \(numpy.ndarray\)"
    ):
        bundle(np.zeros((3, 2, 4), np.float32), y)
    with expect(
        Status.INVALID_ARGUMENT, "expected an array with __dlpack__.*builtins.list"
    ):
        bundle([1.0], y)


def test_shapes(bundle):
    x, y = arrays()
    message = r"argument 'y', dimension 0 \(N\): expected 3 \(as in 'x'\), but got 4"
    with expect(Status.DIM_MISMATCH, message):
        bundle(x, DeviceView(np.zeros((4, 2, 4), np.float32)))
    with expect(Status.RANK_MISMATCH, "argument 'x': expected rank 3, but got 2"):
        bundle.check(DeviceView(np.zeros((3, 4), np.float32)), y)
    with expect(Status.LIMIT, "dimension N.*1001"):
        bundle(*arrays(n=1001))
    with expect(Status.STRIDE, "argument 'x', dimension 2"):
        bundle(DeviceView(np.zeros((3, 2, 8), np.float32)[..., ::2]), y)
    with expect(Status.OVERLAP, "argument 'y'.*apart from 'x'"):
        bundle(x, x)


def test_empty(bundle, driver):
    bundle(*arrays(n=0))
    bundle(*arrays(m=0))
    assert driver.launches == []


def test_read_only(bundle, driver):
    x, y = arrays()
    x.array.flags.writeable = False
    bundle(x, y)
    with expect(Status.READ_ONLY, "argument 'y'.*read-only"):
        bundle(y, x)

    # jax arrays never change, and their tensors may not say so.
    class Array(OldDeviceView):
        pass

    Array.__module__ = "jaxlib._jax"
    immutable = Array(np.zeros((3, 2, 4), np.float32))
    bundle(immutable, y, sync=False)
    assert immutable.streams == [None]
    with expect(Status.READ_ONLY, "argument 'y'.*read-only"):
        bundle(x, immutable)


def test_refusing_producers(bundle):
    class Refusing(DeviceView):
        def __dlpack__(self, **_):
            raise BufferError("requires grad")

    class Strange(DeviceView):
        def __dlpack__(self, **_):
            return "no capsule"

    x, y = arrays()
    with expect(Status.INVALID_ARGUMENT, "argument 'x': .*BufferError: requires grad"):
        bundle(Refusing(x.array), y)
    with expect(
        Status.INVALID_ARGUMENT, "argument 'y': .*ValueError: .*DLPack capsule"
    ):
        bundle(x, Strange(y.array))


def test_scratch(bundle, driver):
    x, y = arrays()
    assert bundle.scratch_bytes(x, y) == 192
    bundle(x, y)
    assert "cuMemAllocAsync 192 0" in driver.log
    driver.reset()

    memory = np.zeros(256, np.uint8)
    start = -memory.__array_interface__["data"][0] % 16
    scratch = DeviceView(memory[start : start + 192])
    bundle(x, y, scratch=scratch)
    assert "cuMemAllocAsync" not in driver.log
    assert driver.launches[0]["parameters"][2] == struct.pack("<Q", scratch.address)
    with expect(Status.SCRATCH, "at least 192 bytes.*but got 191"):
        bundle(x, y, scratch=DeviceView(memory[start : start + 191]))
    with expect(Status.SCRATCH, "contiguous"):
        bundle(x, y, scratch=DeviceView(np.zeros(400, np.uint8)[::2]))
    with expect(Status.WRONG_DEVICE, "scratch: expected memory of a CUDA device"):
        bundle(x, y, scratch=memory)


def aligned(shape):
    """Zeros of f32 at a multiple of 16 bytes, on the device."""
    memory = np.zeros(int(np.prod(shape)) + 4, np.float32)
    start = -memory.__array_interface__["data"][0] % 16 // 4
    return DeviceView(memory[start : start + memory.size - 4].reshape(shape))


def test_tensor_maps(tmp_path, driver):
    bundle = Bundle(write_bundle(tmp_path, take_maps, MAP_PTX))
    assert [p["type"] for p in bundle.manifest["launches"][0]["parameters"]] == [
        "tensor_map"
    ] * 3
    base, y = aligned((3, 4, 6, 4)), aligned((3, 8, 4))
    x = DeviceView(base.array[:, 1, 1:])  # [3, 5, 4], strides 96, 4, 1
    bundle(x, y)
    assert (
        f"cuTensorMapEncodeTiled type=7 rank=3 address={x.address} extents=4,5,3 "
        "strides=16,384 box=4,8,1 interleave=0 swizzle=0 promotion=3 fill=0"
    ) in driver.log
    parameters = driver.launches[0]["parameters"]
    assert [len(parameter) for parameter in parameters] == [128] * 3
    assert parameters[0][:8] == struct.pack("<Q", x.address)
    assert parameters[1][:8] == struct.pack("<Q", y.address)

    bundle(DeviceView(x.array[:, :0]), y)
    assert driver.launches[1]["parameters"][0] == bytes(128)
    driver.fail("cuTensorMapEncodeTiled", 1)
    with expect(
        Status.DRIVER_ERROR,
        r"kernel 'copy', parameter 0 \(tensor map of 'x'\), f32 \[4, 5, 3\] at 0x.*"
        "but got CUDA_ERROR_INVALID_VALUE",
    ):
        bundle(x, y)
    assert len(driver.launches) == 2 and driver.allocations == 0

    def change(manifest):
        take_maps(manifest)
        manifest["arguments"][0]["alignment"] = 4
        manifest["arguments"][0]["stride_multiple"] = 1

    loose = Bundle(write_bundle(tmp_path, change, MAP_PTX))
    with expect(Status.ALIGNMENT, r"parameter 0 \(tensor map of 'x'\).*16 bytes"):
        loose.check(DeviceView(aligned((25,)).array[1:].reshape(3, 2, 4)), y)
    x = aligned((3, 10)).array[:, :8]
    x = np.lib.stride_tricks.as_strided(x, (3, 2, 4), (40, 16, 4))
    message = r"strides\[1\] = stride\(x, 0\): .*multiple of 4 elements .*got 10"
    with expect(Status.STRIDE, message):
        loose.check(DeviceView(x), y)


def test_driver_errors(bundle, driver):
    driver.set("driver_version", 11080)
    driver.fail("ptx", 222)
    with expect(Status.DRIVER_TOO_OLD, "PTX ISA 7.0.*CUDA 11.8"):
        bundle.prepare()
    driver.reset()
    driver.set("major", 7)
    with expect(Status.UNSUPPORTED_DEVICE, "8.0 or later.*sm_80.*Fake GPU 0 of 7.0"):
        bundle(*arrays())


def test_threads(bundle, driver):
    failures = []

    def work(n):
        try:
            for _ in range(50):
                bundle(*arrays(n=n))
        except Error as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(driver.launches) == 200
