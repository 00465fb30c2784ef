# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading and inspecting a bundle."""

import gc
import re

import pytest

from bundles import PTX, arrays, write_bundle
from fake_driver import ROOT
from hla.runtime import Argument, Bundle, Dim, Error, Status


def test_description(tmp_path):
    bundle = Bundle(write_bundle(tmp_path))
    assert bundle.entry == "scale"
    assert bundle.dims == {"N": Dim(0, 1000), "M": Dim(0, 2**63 - 1)}
    assert bundle.arguments == (
        Argument("x", "read", "f32", ("N", "M", 4), 4, 1),
        Argument("y", "write", "f32", ("N", "M", 4), 4, 1),
    )
    assert bundle.target.arch == "sm_80"
    assert bundle.target.compute_capability == (8, 0)
    assert bundle.target.forward_compatible and not bundle.target.has_cubin
    assert bundle.manifest["producer"] == "hla 0.1.0"
    text = f"{tmp_path!s}"
    assert repr(bundle) == (
        f"Bundle({text!r}: scale(x: read f32[N, M, 4], y: write f32[N, M, 4]) for sm_80)"
    )


def test_bfloat16(tmp_path):
    def change(manifest):
        for argument in manifest["arguments"]:
            argument["dtype"] = "bf16"

    bundle = Bundle(write_bundle(tmp_path, change))
    assert [argument.dtype for argument in bundle.arguments] == ["bf16", "bf16"]


def test_errors(tmp_path):
    with pytest.raises(Error, match="expected a directory, but got none") as raised:
        Bundle(tmp_path / "absent")
    assert raised.value.status is Status.FILE_NOT_FOUND
    assert isinstance(raised.value, RuntimeError)

    write_bundle(tmp_path)
    (tmp_path / "scale.ptx").write_text(PTX[:-1])
    with pytest.raises(
        Error, match="scale.ptx: expected SHA-256 .*, but got"
    ) as raised:
        Bundle(tmp_path)
    assert raised.value.status is Status.HASH_MISMATCH

    (tmp_path / "manifest.json").write_text('{"format":\n oops}')
    with pytest.raises(Error, match="line 2, column 2") as raised:
        Bundle(tmp_path)
    assert raised.value.status is Status.MALFORMED_JSON


def test_close(tmp_path, driver):
    folder = write_bundle(tmp_path)
    before = driver.modules
    with Bundle(folder) as bundle:
        bundle.launch(*arrays())
        assert driver.modules == before + 1
    assert driver.modules == before
    bundle.close()
    with pytest.raises(Error, match="expected an open bundle"):
        bundle.launch(*arrays())

    bundle = Bundle(folder)
    bundle.prepare(1)
    assert driver.modules == before + 1
    del bundle
    gc.collect()
    assert driver.modules == before


def test_documented_example(tmp_path):
    page = (ROOT / "docs" / "Bundle.md").read_text()
    (example,) = re.findall(r"```json\n(.*?)```", page, re.S)
    (tmp_path / "manifest.json").write_text(example)
    (tmp_path / "masked.ptx").write_text("test")
    (tmp_path / "masked.cubin").write_text("test2")
    bundle = Bundle(tmp_path)
    assert bundle.target.has_cubin
    assert list(bundle.dims) == ["B", "T", "H"]
