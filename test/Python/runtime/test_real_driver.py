# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime on the machine's own CUDA driver, where there is a GPU.

A process opens one driver and this one has the stand-in, so each test is a
process. The kernel is written by hand: it needs no compiler.
"""

import os
import pathlib
import subprocess
import sys

import pytest

from bundles import take_maps, write_bundle
from fake_driver import LIBRARIES, ROOT

# y[n, m, :] = factor * x[n, m, :], and scratch[n] = n; one block for each (n, m).
PTX = """
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 pool[];
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 scratch,
                      .param .u64 stride, .param .f32 factor)
{
  .reg .u32 %r<6>;
  .reg .u64 %a<14>;
  .reg .f32 %f<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ctaid.y;
  mov.u32 %r4, %nctaid.y;
  ld.param.u64 %a1, [x];
  ld.param.u64 %a2, [y];
  ld.param.u64 %a3, [scratch];
  ld.param.u64 %a4, [stride];
  ld.param.f32 %f1, [factor];
  cvt.u64.u32 %a5, %r2;
  mul.lo.u64 %a6, %a5, %a4;
  mad.lo.u32 %r5, %r3, 4, %r1;
  cvt.u64.u32 %a7, %r5;
  add.u64 %a8, %a6, %a7;
  shl.b64 %a8, %a8, 2;
  add.u64 %a9, %a1, %a8;
  ld.global.f32 %f2, [%a9];
  mul.f32 %f3, %f1, %f2;
  mad.lo.u32 %r5, %r2, %r4, %r3;
  mad.lo.u32 %r5, %r5, 4, %r1;
  mul.wide.u32 %a10, %r5, 4;
  add.u64 %a11, %a2, %a10;
  st.global.f32 [%a11], %f3;
  mul.wide.u32 %a12, %r2, 64;
  add.u64 %a13, %a3, %a12;
  st.global.u32 [%a13], %r2;
  ret;
}
"""

# y[n] = scratch[n] = x[n], 8 rows each: those that x lacks are zeros.
MAP_PTX = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 x[128], .param .align 64 .b8 y[128],
                     .param .align 64 .b8 scratch[128])
{
  .shared .align 128 .b8 tile[128];
  .shared .align 8 .b64 barrier;
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %a<5>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 0;
  mov.u32 %r4, tile;
  mov.u32 %r5, barrier;
  mov.b64 %a1, x;
  cvta.param.u64 %a1, %a1;
  mov.b64 %a2, y;
  cvta.param.u64 %a2, %a2;
  mov.b64 %a3, scratch;
  cvta.param.u64 %a3, %a3;
  mbarrier.init.shared::cta.b64 [%r5], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared::cta.b64 %a4, [%r5], 128;
  cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
    [%r4], [%a1, {%r3, %r3, %r2}], [%r5];
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0;
  @!%p2 bra wait;
  cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group
    [%a2, {%r3, %r3, %r2}], [%r4];
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
    [%a3, {%r3, %r2}], [%r4];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
done:
  ret;
}
"""

PRELUDE = """
import sys
import numpy as np
from hla import runtime
from hla.runtime import Bundle, DeviceArray, Stream
bundle = Bundle(sys.argv[1])
"""

CHECK = """
source = np.arange(5 * 6 * 3 * 4, dtype=np.float32).reshape(5, 6, 3, 4)
whole = DeviceArray(source.shape, "f32")
whole.copy_from(source)
x = whole.strided((6, 3, 4), (12, 4, 1), offset=2 * 72)  # source[2]
y = DeviceArray((6, 3, 4), "f32")
result = np.empty(y.shape, np.float32)
for stream in (None, 1, 2, Stream()):
    y.fill_bytes(0xFF, stream)
    bundle(x, y, stream=stream)
    y.copy_to(result, stream)
    assert np.array_equal(result, source[2] * 0.5), (stream, result)
scratch = DeviceArray((96,), "f32")
bundle(x, y, scratch=scratch)
numbers = np.empty(96, np.int32)
scratch.copy_to(numbers)
assert list(numbers[::16]) == [0, 1, 2, 3, 4, 5], numbers
bundle(x.strided((0, 3, 4), (12, 4, 1)), y.strided((0, 3, 4), (12, 4, 1)))
runtime.synchronize()
print("done on", runtime.device_name())
"""

MAPS = """
if runtime.compute_capability() < (9, 0):
    print("no tensor maps")
    sys.exit()
source = np.arange(6 * 7 * 4, dtype=np.float32).reshape(6, 7, 4) + 1
whole = DeviceArray(source.shape, "f32")
whole.copy_from(source)
y = DeviceArray((6, 8, 4), "f32")
scratch = DeviceArray((6 * 32,), "f32")
result = np.empty(y.shape, np.float32)

def check(x, rows, n):
    out = y.strided((n, 8, 4), (32, 4, 1))
    y.fill_bytes(0xFF)
    scratch.fill_bytes(0xFF)
    bundle(x, out, scratch=scratch)
    expected = np.zeros((n, 8, 4), np.float32)
    expected[:, : rows.shape[1]] = rows
    y.copy_to(result)
    assert np.array_equal(result[:n], expected), result
    assert np.isnan(result[n:]).all(), result
    rest = np.empty(6 * 32, np.float32)
    scratch.copy_to(rest)
    assert np.array_equal(rest[: n * 32].reshape(expected.shape), expected), rest

check(whole, source, 6)
check(whole.strided((6, 3, 4), (28, 8, 1)), source[:, :6:2], 6)
check(whole.strided((4, 6, 4), (4, 28, 1)), source[:, :4].transpose(1, 0, 2), 4)
check(whole.strided((1, 7, 4), (3, 4, 1)), source[:1], 1)  # strides that nothing uses
check(whole.strided((6, 1, 4), (28, 3, 1)), source[:, :1], 6)
bundle(whole.strided((0, 7, 4), (28, 4, 1)), y.strided((0, 8, 4), (32, 4, 1)))
try:  # a broadcast, which is the driver's to take or to refuse
    check(whole.strided((6, 7, 4), (0, 4, 1)), source[:1].repeat(6, 0), 6)
except runtime.Error as error:
    assert error.status is runtime.Status.DRIVER_ERROR, error
    print("refused:", error)
runtime.synchronize()
print("done on", runtime.device_name())
"""

FAULT = """
x, y = DeviceArray((1, 1, 4), "f32"), DeviceArray((1, 1, 4), "f32")
class Wild(DeviceArray):  # an address that no allocation has
    def __init__(self): pass
wild = Wild()
wild.__dict__.update(y.__dict__)
wild.address = 1 << 40
bundle(x, wild)
try:
    runtime.synchronize()
except runtime.Error as error:
    print(error.status.name, error)
"""

LENGTHS = """
lengths = DeviceArray((4,), "i32")
for values in ([0, 2, 2, 9], [0, 3, 2, 9], [0, 2, 2, 10]):
    lengths.copy_from(np.array(values, np.int32))
    try:
        runtime.check_lengths(lengths, 9, stream=Stream())
        print("fits")
    except runtime.Error as error:
        print(error.status.name, str(error).split(":")[0])
"""

FAILURE = """
try:
    bundle.prepare()
except runtime.Error as error:
    print(error.status.name, error)
"""


def run(folder, code):
    """Runs Python on the real driver; skips where there is none."""
    environment = {k: v for k, v in os.environ.items() if k != "HLA_CUDA_LIBRARY"}
    environment["HLA_RUNTIME_LIBRARY"] = str(LIBRARIES["HLA_RUNTIME_LIBRARY"])
    environment["PYTHONPATH"] = str(ROOT / "python")

    def start(program):
        return subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    probe = start("from hla import runtime; runtime.device_count()")
    if probe.returncode != 0:
        assert "hla.runtime._library.Error: " in probe.stderr, probe.stderr
        pytest.skip(probe.stderr.strip().splitlines()[-1])
    done = start(PRELUDE + code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("shared", [0, 90000, "1024 * dim(x, 2)"])
def test_kernel(tmp_path, shared):
    def change(manifest):
        manifest["launches"][0]["block"] = [4, 1, 1]
        manifest["launches"][0]["dynamic_shared_memory"] = shared

    folder = write_bundle(pathlib.Path(tmp_path), change, PTX)
    assert run(folder, CHECK).startswith("done on")


def test_tensor_maps(tmp_path):
    text = run(write_bundle(tmp_path, take_maps, MAP_PTX), MAPS)
    if text == "no tensor maps":
        pytest.skip("a GPU from before sm_90")
    assert "done on" in text


def test_lengths(tmp_path):
    lines = run(write_bundle(tmp_path, None, PTX), LENGTHS).splitlines()
    assert lines == ["fits", "LENGTHS lengths, position 2", "LENGTHS lengths, position 3"]


def test_fault(tmp_path):
    text = run(write_bundle(tmp_path, None, PTX), FAULT)
    assert text.startswith("LAUNCH_FAILED waiting for a stream"), text


def test_refusals(tmp_path):
    def target(arch, major):
        def change(manifest):
            manifest["target"].update(
                arch=arch, compute_capability=[major, 0], forward_compatible=False
            )

        return change

    text = run(write_bundle(tmp_path / "a", target("sm_70a", 7), PTX), FAILURE)
    assert text.startswith(
        "UNSUPPORTED_DEVICE expected a device of compute capability 7.0"
    ), text
    newer = PTX.replace(".version 7.0", ".version 99.0")
    text = run(write_bundle(tmp_path / "b", None, newer), FAILURE)
    assert text.startswith(("DRIVER_TOO_OLD", "INVALID_KERNEL")), text
    broken = PTX.replace("st.global.f32", "st.nowhere.f32")
    text = run(write_bundle(tmp_path / "c", None, broken), FAILURE)
    assert text.startswith("INVALID_KERNEL compiling scale.ptx") and "log: " in text, (
        text
    )

    def fewer(manifest):
        manifest["launches"][0]["parameters"].pop()

    text = run(write_bundle(tmp_path / "d", fewer, PTX), FAILURE)
    if text:  # drivers before CUDA 12.4 cannot say
        assert text.startswith("INVALID_KERNEL kernel 'scale', parameter 4"), text
