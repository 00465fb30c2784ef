# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the built tools are."""

import os
import sys
from pathlib import Path

# The reference multiplies small matrices, beside running tools.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest  # noqa: E402

_ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "Integration")]

from tool_runner import Runner, Tools  # noqa: E402


def pytest_addoption(parser):
    parser.addoption(
        "--tools-dir",
        default=os.environ.get("HLA_TOOLS_DIR"),
        help="directory of hla-opt, hla-compile and hla-run (else HLA_TOOLS_DIR)",
    )


@pytest.fixture(scope="session")
def tools(pytestconfig):
    directory = pytestconfig.getoption("--tools-dir")
    if not directory:
        pytest.fail("expected the tools' directory: --tools-dir or HLA_TOOLS_DIR")
    directory = Path(directory).resolve()
    for name in ("hla-opt", "hla-compile", "hla-run"):
        if not os.access(directory / name, os.X_OK):
            pytest.fail(f"expected a program {directory / name} (build it first)")
    return Tools(directory)


@pytest.fixture
def runner(tools, tmp_path):
    return Runner(tools, tmp_path)
