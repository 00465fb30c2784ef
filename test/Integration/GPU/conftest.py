# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bundles to test, and the device.

    python3 -m pytest test/Integration/GPU --bundles=DIR

runs on a machine with an NVIDIA GPU, torch, numpy, pytest, this source tree and
libHLARuntime (HLA_RUNTIME_LIBRARY says where), and no compiler. ``make_bundles.py``
writes DIR where the compiler is.
``-m sanitizer`` selects small launches of every bundle, for compute-sanitizer;
``sanitize.py`` runs them.
"""

import os
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "Integration")]

from suite import load_suite  # noqa: E402


def pytest_addoption(parser):
    parser.addoption(
        "--bundles",
        default=os.environ.get("HLA_BUNDLES"),
        help="directory that make_bundles.py wrote (else HLA_BUNDLES)",
    )
    parser.addoption(
        "--shapes",
        type=int,
        default=10,
        help="how many shapes each random program runs on",
    )
    parser.addoption(
        "--shape-seed", type=int, default=20251027, help="what draws those shapes"
    )
    parser.addoption(
        "--shard",
        type=_shard,
        default=(0, 1),
        metavar="I/N",
        help="run the tests I, I + N, I + 2 N, … alone",
    )
    parser.addoption(
        "--bundle-target",
        default=None,
        help="use the bundles of this target; by default the newest that the GPU runs",
    )


def _shard(text):
    index, _, count = text.partition("/")
    index, count = int(index), int(count)
    if not 0 <= index < count:
        raise ValueError(f"expected I/N, 0 <= I < N, but got {text}")
    return index, count


def pytest_configure(config):
    config.addinivalue_line("markers", "sanitizer: small; run under compute-sanitizer")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    index, count = config.getoption("--shard")
    items[:] = items[index::count]


def _capability():
    """The device's compute capability; a missing GPU is a failure, not a skip."""
    import torch

    if not torch.cuda.is_available():
        raise pytest.UsageError("expected a CUDA device that torch can use, found none")
    return torch.cuda.get_device_capability()


def pytest_generate_tests(metafunc):
    """Parametrizes ``case`` over the programs of the suite's fixed list.

    A test function chooses among them by its attribute ``wants``, a predicate of a
    program (``suite.wants`` sets it). ``random_case`` are the programs that were drawn.
    """
    names = [n for n in ("case", "random_case") if n in metafunc.fixturenames]
    if not names:
        return
    directory = metafunc.config.getoption("--bundles")
    if not directory:
        raise pytest.UsageError("expected bundles: --bundles=DIR or HLA_BUNDLES")
    cases = load_suite(
        Path(directory), metafunc.config.getoption("--bundle-target"), _capability()
    )
    is_random = names == ["random_case"]
    wants = getattr(metafunc.function, "wants", lambda program: True)
    chosen = [c for c in cases if c.is_random == is_random and wants(c.program)]
    if not chosen and not is_random:
        raise pytest.UsageError(
            f"expected a bundle for {metafunc.function.__name__} in {directory}"
        )
    metafunc.parametrize(names[0], chosen, ids=lambda c: c.program.name)
