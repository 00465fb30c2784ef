# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles and arrays for the tests of the runtime."""

import copy
import ctypes
import hashlib
import json

import numpy as np
import pytest

from hla.runtime import Error
from hla.runtime._dlpack import DLManagedTensor, DLManagedTensorVersioned

PTX = """.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u64 s,
  .param .b64 stride, .param .f32 factor) { ret; }
"""

MANIFEST = {
    "format": "hla-bundle",
    "abi_version": 2,
    "producer": "hla 0.1.0",
    "entry": "scale",
    "target": {
        "arch": "sm_80",
        "ptx_isa": "7.0",
        "compute_capability": [8, 0],
        "forward_compatible": True,
    },
    "files": {"ptx": {"path": "scale.ptx"}},
    "dims": ["N", "M"],
    "limits": {"N": [0, 1000]},
    "arguments": [
        {
            "name": "x",
            "access": "read",
            "dtype": "f32",
            "shape": ["N", "M", 4],
            "alignment": 4,
            "stride_multiple": 1,
        },
        {
            "name": "y",
            "access": "write",
            "dtype": "f32",
            "shape": ["N", "M", 4],
            "alignment": 4,
            "stride_multiple": 1,
        },
    ],
    "scratch": {"bytes": "64 * N", "alignment": 16},
    "launches": [
        {
            "kernel": "scale",
            "grid": ["N", "M", 1],
            "block": [128, 1, 1],
            "cluster": [1, 1, 1],
            "dynamic_shared_memory": 0,
            "parameters": [
                {"type": "pointer", "argument": "x"},
                {"type": "pointer", "argument": "y"},
                {"type": "pointer", "scratch": 0},
                {"type": "i64", "value": "stride(x, 0)"},
                {"type": "f32", "value": 0.5},
            ],
        }
    ],
}


MAP_PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry copy(.param .align 64 .b8 x[128], .param .align 64 .b8 y[128],
  .param .align 64 .b8 s[128]) { ret; }
"""


def take_maps(manifest):
    """Makes the manifest one of a kernel that takes tensor maps of x, y and
    scratch. A box is 8 rows of 4 numbers, and y has as many rows."""
    manifest["target"].update(
        arch="sm_90", ptx_isa="8.0", compute_capability=[9, 0]
    )
    x, y = manifest["arguments"]
    x.update(alignment=16, stride_multiple=4)
    y.update(alignment=16, stride_multiple=4, shape=["N", 8, 4])
    manifest["scratch"] = {"bytes": "128 * N", "alignment": 256}

    def tensor_map(name, rows):
        return {
            "type": "tensor_map",
            "argument": name,
            "dtype": "f32",
            "shape": [4, rows, "N"],
            "strides": [f"stride({name}, 1)", f"stride({name}, 0)"],
            "box": [4, 8, 1],
            "swizzle": 0,
        }

    scratch = {
        "type": "tensor_map",
        "scratch": 0,
        "dtype": "f32",
        "shape": [32, "N"],
        "strides": [32],
        "box": [32, 1],
        "swizzle": 0,
    }
    manifest["launches"][0].update(
        kernel="copy",
        grid=["N", 1, 1],
        block=[32, 1, 1],
        parameters=[tensor_map("x", "M"), tensor_map("y", 8), scratch],
    )


def write_bundle(folder, change=None, ptx=PTX):
    """Writes a bundle and returns its folder; `change` edits the manifest."""
    manifest = copy.deepcopy(MANIFEST)
    manifest["files"]["ptx"]["sha256"] = hashlib.sha256(ptx.encode()).hexdigest()
    if change:
        change(manifest)
    folder.mkdir(exist_ok=True)
    (folder / "scale.ptx").write_text(ptx)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


_get_pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)


class DeviceView:
    """A numpy array that says it is on a CUDA device.

    The capsule is numpy's own, with the device and, for bf16, the type changed.
    """

    def __init__(self, array, device=(2, 0), versioned=True, bfloat16=False):
        self.array = array
        self.device = device
        self.versioned = versioned
        self.bfloat16 = bfloat16
        self.streams = []

    @property
    def address(self):
        return self.array.__array_interface__["data"][0]

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None):
        self.streams.append(stream)
        if self.versioned:
            capsule = self.array.__dlpack__(max_version=max_version)
            address = _get_pointer(capsule, b"dltensor_versioned")
            tensor = DLManagedTensorVersioned.from_address(address).dl_tensor
        else:
            capsule = self.array.__dlpack__()
            address = _get_pointer(capsule, b"dltensor")
            tensor = DLManagedTensor.from_address(address).dl_tensor
        tensor.device_type, tensor.device_id = self.device
        if self.bfloat16:
            tensor.dtype.code = 4
        return capsule


class OldDeviceView(DeviceView):
    """A producer from before DLPack 1.0."""

    def __init__(self, array):
        super().__init__(array, versioned=False)

    def __dlpack__(self, stream=None):
        return super().__dlpack__(stream=stream)


def arrays(n=3, m=2, **options):
    """x and y for the bundle above."""
    return (
        DeviceView(np.ones((n, m, 4), np.float32), **options),
        DeviceView(np.zeros((n, m, 4), np.float32), **options),
    )


def expect(status, match):
    """Expects an `Error` of this status."""

    class Expectation:
        def __enter__(self):
            self.raises = pytest.raises(Error, match=match)
            self.raised = self.raises.__enter__()

        def __exit__(self, *details):
            result = self.raises.__exit__(*details)
            assert self.raised.value.status is status
            return result

    return Expectation()
