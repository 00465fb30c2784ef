# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library, its discovery, and that Python says what the header says."""

import os
import re
import subprocess
import sys

from fake_driver import LIBRARIES, ROOT
from hla import runtime
from hla.runtime import Status, _library

HEADER = (ROOT / "include" / "hla-c" / "Runtime.h").read_text()


def run(code, **environment):
    """Runs Python with only these HLA_* variables; returns what it printed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HLA_")}
    kept["PYTHONPATH"] = str(ROOT / "python")
    kept.update({k: str(v) for k, v in environment.items()})
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_statuses_are_the_headers():
    header = dict(re.findall(r"HLA_STATUS_(\w+) = (\d+)", HEADER))
    assert {status.name: status.value for status in Status} == {
        name: int(value) for name, value in header.items()
    }


def test_functions_are_the_headers():
    declared = set(re.findall(r"HLA_EXPORT [^;()]*?\*?\b(hla\w+)\(", HEADER))
    assert len(declared) > 30
    known = set(_library._CHECKED) | set(_library._PLAIN)
    # Status has its names in Python.
    assert declared - {"hlaStatusGetName"} == known


def test_structures_have_the_headers_fields():
    for name, structure in {
        "HlaDataType": _library.DataType,
        "HlaTensor": _library.Tensor,
        "HlaArgumentInfo": _library.ArgumentInfo,
        "HlaDimInfo": _library.DimInfo,
        "HlaTargetInfo": _library.TargetInfo,
    }.items():
        body = re.search(
            rf"typedef struct {name} {{(.*?)}} {name};", HEADER, re.S
        ).group(1)
        fields = re.findall(r"(\w+);", re.sub(r"///.*", "", body))
        assert len(fields) == len(structure._fields_), name
        for in_c, (in_python, _) in zip(fields, structure._fields_):
            snake = re.sub(r"([A-Z])", lambda m: "_" + m.group(1).lower(), in_c)
            assert snake.endswith(in_python), (name, in_c, in_python)


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", runtime.version())


def test_missing_library():
    code = (
        "from hla import runtime\n"
        "try: runtime.version()\n"
        "except runtime.Error as error: print(error.status.name, error)\n"
    )
    text = run(code, HLA_RUNTIME_LIBRARY="/nowhere/libHLARuntime.so")
    assert text.startswith("FILE_NOT_FOUND expected libHLARuntime.so")
    assert "HLA_RUNTIME_LIBRARY" in text and "/nowhere" in text


def test_library_on_the_loaders_path():
    text = run(
        "from hla import runtime; print(runtime.version())",
        LD_LIBRARY_PATH=LIBRARIES["HLA_RUNTIME_LIBRARY"].parent,
    )
    assert text.strip() == runtime.version()


def test_importing_opens_nothing():
    code = (
        "import hla, hla.runtime; print(hla.__version__, hla.runtime._library._library)"
    )
    text = run(code, HLA_RUNTIME_LIBRARY="/nowhere/libHLARuntime.so")
    assert text.split() == ["0.1.0", "None"]


def test_no_driver():
    code = (
        "from hla import runtime\n"
        "try: runtime.device_count()\n"
        "except runtime.Error as error: print(error.status.name, error)\n"
    )
    text = run(
        code,
        HLA_RUNTIME_LIBRARY=LIBRARIES["HLA_RUNTIME_LIBRARY"],
        HLA_CUDA_LIBRARY="libhla-absent.so.1",
    )
    assert text.startswith(
        "NO_DRIVER expected the CUDA driver's library 'libhla-absent.so.1'"
    )
