# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles that are not as they were written, or not for this machine."""

import hashlib
import json
import re
import shutil

import pytest
import torch
from device import make_problem
from suite import is_plain, wants


def edited(case, directory, edit):
    from hla.runtime import Bundle

    copy = directory / "bundle"
    shutil.copytree(case.path, copy)
    edit(copy)
    problem = make_problem(case.program, (1, 5, 1))
    with pytest.raises(Exception) as caught:
        bundle = Bundle(str(copy))
        bundle(*problem.arguments)
    torch.cuda.synchronize()
    assert problem.outputs[0].untouched()
    return str(caught.value)


def ptx_of(directory):
    return next(directory.glob("*.ptx"))


@wants(is_plain)
def test_edited_ptx(case, tmp_path):
    def edit(copy):
        ptx_of(copy).write_text(ptx_of(copy).read_text().replace("add", "sub", 1))

    assert "cut or edited" in edited(case, tmp_path, edit)


@wants(is_plain)
def test_truncated_ptx(case, tmp_path):
    def edit(copy):
        ptx_of(copy).write_bytes(ptx_of(copy).read_bytes()[:1000])

    assert edited(case, tmp_path, edit)


@wants(is_plain)
def test_missing_ptx(case, tmp_path):
    message = edited(case, tmp_path, lambda copy: ptx_of(copy).unlink())
    assert ".ptx" in message


@wants(is_plain)
@pytest.mark.parametrize("keep", [0, 1, 100, -2])
def test_truncated_manifest(case, tmp_path, keep):
    def edit(copy):
        path = copy / "manifest.json"
        path.write_bytes(path.read_bytes()[:keep])

    assert "manifest.json" in edited(case, tmp_path, edit)


@wants(is_plain)
def test_manifest_of_another_abi(case, tmp_path):
    def edit(copy):
        path = copy / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest["abi_version"] += 1
        path.write_text(json.dumps(manifest))

    assert "abi_version" in edited(case, tmp_path, edit)


@wants(is_plain)
def test_ptx_newer_than_the_driver(case, tmp_path):
    """Well formed and rightly hashed: only the driver can tell."""

    def edit(copy):
        path = copy / "manifest.json"
        manifest = json.loads(path.read_text())
        text = re.sub(r"\.version \d+\.\d+", ".version 99.9", ptx_of(copy).read_text())
        ptx_of(copy).write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        manifest["files"]["ptx"]["sha256"] = digest
        # The driver looks at PTX only where no machine code fits.
        manifest["files"].pop("cubin", None)
        path.write_text(json.dumps(manifest))

    message = edited(case, tmp_path, edit)
    assert "expected" in message and "driver" in message.lower()


@wants(is_plain)
def test_bundle_of_another_chip(case, tmp_path):
    def edit(copy):
        path = copy / "manifest.json"
        manifest = json.loads(path.read_text())
        major, _ = torch.cuda.get_device_capability()
        other = 12 if major != 12 else 9
        manifest["target"]["arch"] = f"sm_{other}0a"
        manifest["target"]["compute_capability"] = [other, 0]
        manifest["target"]["forward_compatible"] = False
        path.write_text(json.dumps(manifest))

    message = edited(case, tmp_path, edit)
    assert "expected" in message and "compute capability" in message


def test_missing_bundle(tmp_path):
    from hla.runtime import Bundle

    with pytest.raises(Exception, match="absent"):
        Bundle(str(tmp_path / "absent"))
