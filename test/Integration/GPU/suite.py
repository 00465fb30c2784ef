# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled programs of the suite, as make_bundles.py left them."""

import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from configurations import from_description
from programs import Program


def wants(predicate):
    """Restricts a test to the programs that satisfy ``predicate``."""

    def mark(function):
        function.wants = predicate
        return function

    return mark


def is_plain(program):
    """The one program of tests that are not about what is computed."""
    return program == Program("second_order", "bf16", 64, 64)


@dataclass(frozen=True)
class Case:
    """A program and where its bundle is."""

    program: Any
    path: Path
    # Drawn, rather than of the fixed list.
    is_random: bool

    @property
    def bundle(self):
        return open_bundle(self.path)


@functools.cache
def open_bundle(path):
    from hla.runtime import Bundle

    return Bundle(str(path))


def load_suite(directory, target, capability):
    """The cases of ``target``; where None, of the newest one that the device runs."""
    path = directory / "suite.json"
    try:
        entries = json.loads(path.read_text())
    except FileNotFoundError:
        raise pytest.UsageError(
            f"expected {path} (make_bundles.py writes it)"
        ) from None
    if target is None:
        runnable = {e["target"] for e in entries if _runs_on(e["target"], capability)}
        if not runnable:
            raise pytest.UsageError(
                f"expected bundles that compute capability {capability} runs, but got "
                f"targets {sorted({e['target'] for e in entries})}"
            )
        target = max(runnable, key=_version)
    return [
        Case(from_description(e["program"]), directory / e["bundle"], e["is_random"])
        for e in entries
        if e["target"] == target
    ]


def _version(target):
    number, exact = re.fullmatch(r"sm_(\d+)(a?)", target).groups()
    return divmod(int(number), 10), bool(exact)


def _runs_on(target, capability):
    """PTX runs on later chips too, unless it uses features of one (suffix a)."""
    version, exact = _version(target)
    return version == capability if exact else version <= capability
