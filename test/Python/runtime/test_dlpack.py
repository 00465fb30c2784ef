# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DLPack capsules: ownership on both sides, and versions."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

from hla.runtime import _dlpack
from hla.runtime._dlpack import DLManagedTensorVersioned, Import, export_array
from hla.runtime._library import TENSOR_READ_ONLY, DataType


class Owner:
    pass


def export(**options):
    """A capsule of a [2, 3] array of f32 and a weak reference to its owner."""
    owner = Owner()
    capsule = export_array(
        owner, 4096, DataType(2, 32, 1), (2, 3), (3, 1), (2, 5), **options
    )
    return capsule, weakref.ref(owner)


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])
def test_round_trip(version):
    capsule, owner = export(max_version=version)
    borrowed = Import(capsule)
    del capsule
    gc.collect()
    tensor = borrowed.tensor
    assert (tensor.data, tensor.rank) == (4096, 2)
    assert (tensor.shape[0], tensor.shape[1]) == (2, 3)
    assert (tensor.strides[0], tensor.strides[1]) == (3, 1)
    assert (tensor.device_type, tensor.device_id) == (2, 5)
    assert (tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes) == (2, 32, 1)
    assert tensor.flags == 0
    assert owner() is not None
    borrowed.release()
    borrowed.release()
    assert owner() is None
    assert not _dlpack._exports


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_unused_capsule(version):
    capsule, owner = export(max_version=version)
    assert owner() is not None
    del capsule
    assert owner() is None


def test_capsule_is_used_once():
    capsule, owner = export()
    borrowed = Import(capsule)
    with pytest.raises(ValueError, match="unused DLPack capsule"):
        Import(capsule)
    borrowed.release()
    assert owner() is None


def test_read_only():
    capsule, _ = export(max_version=(1, 0), read_only=True)
    borrowed = Import(capsule)
    assert borrowed.tensor.flags == TENSOR_READ_ONLY
    borrowed.release()


def test_other_major_version():
    capsule, owner = export(max_version=(1, 0))
    get_pointer = ctypes.pythonapi["PyCapsule_GetPointer"]
    get_pointer.restype = ctypes.c_void_p
    get_pointer.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address = get_pointer(capsule, b"dltensor_versioned")
    DLManagedTensorVersioned.from_address(address).major = 2
    with pytest.raises(ValueError, match="expected DLPack 1.x, but got 2.0"):
        Import(capsule)
    assert owner() is None


def test_numpy_reads_our_capsules():
    source = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

    class Exporter:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(
            self, *, stream=None, max_version=None, dl_device=None, copy=None
        ):
            address = source.__array_interface__["data"][0]
            return export_array(
                source,
                address,
                DataType(2, 32, 1),
                (2, 4, 3),
                (12, 1, 4),
                (1, 0),
                max_version,
            )

    result = np.from_dlpack(Exporter())
    assert np.array_equal(result, source.transpose(0, 2, 1))
    del result
    gc.collect()
    assert not _dlpack._exports


def test_byte_offset_and_null():
    capsule, _ = export(max_version=(1, 0))
    managed = next(iter(_dlpack._exports.values()))[0]
    managed.dl_tensor.byte_offset = 64
    borrowed = Import(capsule)
    assert borrowed.tensor.data == 4096 + 64
    borrowed.release()
    capsule, _ = export(max_version=(1, 0))
    managed = next(iter(_dlpack._exports.values()))[0]
    managed.dl_tensor.data = None
    borrowed = Import(capsule)
    assert borrowed.tensor.data is None
    borrowed.release()
