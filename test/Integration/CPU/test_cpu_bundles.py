# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GPU suite's programs compile where there is no GPU."""

import json
import subprocess
import sys
from pathlib import Path

from configurations import from_description
from programs import Extents

MAKE_BUNDLES = Path(__file__).resolve().parents[1] / "GPU" / "make_bundles.py"


def test_the_gpu_suite_compiles(tools, tmp_path):
    result = subprocess.run(
        [
            sys.executable,
            str(MAKE_BUNDLES),
            f"--tools-dir={tools.directory}",
            f"--output={tmp_path}",
            "--targets=sm_90a",
            "--filter=d64_dv64",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    entries = json.loads((tmp_path / "suite.json").read_text())
    assert len(entries) >= 10
    for entry in entries:
        program = from_description(entry["program"])
        directory = tmp_path / entry["bundle"]
        manifest = json.loads((directory / "manifest.json").read_text())
        assert manifest["entry"] == program.name
        operands = program.operands(Extents(1, 1, 1))
        assert len(manifest["arguments"]) == len(operands)
        for argument, operand in zip(manifest["arguments"], operands, strict=True):
            assert argument["dtype"] == operand.dtype
        (ptx,) = directory.glob("*.ptx")
        assert ".target sm_90a" in ptx.read_text()
