# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the runtime on a stand-in for the CUDA driver."""

import os
import sys
from pathlib import Path

import pytest

# The package of this tree, not one that happens to be installed.
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))

from fake_driver import LIBRARIES, FakeDriver  # noqa: E402
from hla import runtime  # noqa: E402
from hla.runtime import _library  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def libraries():
    """Opens both libraries, and leaves the environment as it was: tests of
    other folders run in this process too."""
    for name, path in LIBRARIES.items():
        if not path.exists():
            pytest.fail(
                f"expected {path} (build HLARuntime and HLAFakeCuda), but got none"
            )
    saved = {name: os.environ.get(name) for name in LIBRARIES}
    os.environ.update({name: str(path) for name, path in LIBRARIES.items()})
    _library._library = None
    runtime.driver_version()
    for name, value in saved.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture
def driver(libraries):
    fake = FakeDriver()
    fake.reset()
    yield fake
    fake.reset()
