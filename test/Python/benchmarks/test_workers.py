# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row that faults is missing, and the next one is measured."""

import pytest
import workers

PARTS = ("hla", "peers")

# What is measured here: rows are names, and faults by them.
_COMPARISON = """
import os

class Comparison:
    def __init__(self, settings):
        self.settings = settings
        self.rows = 0

    def measure(self, row, parts):
        self.rows += 1
        if row == "raises" and "hla" in parts:
            raise ValueError("no such kernel\\nand more")
        if row == "dies" and "peers" in parts:
            os._exit(3)
        results = {part: (self.settings, self.rows) for part in parts}
        return {"input_sets": 2, "results": results, "missing": {}}
"""

_TORCH = """
class cuda:
    def empty_cache():
        raise RuntimeError("the device takes nothing more")
"""


@pytest.fixture
def measure(tmp_path, monkeypatch):
    (tmp_path / "comparison.py").write_text(_COMPARISON)
    (tmp_path / "torch.py").write_text(_TORCH)
    monkeypatch.syspath_prepend(str(tmp_path))
    process = workers.Workers("settings", PARTS)
    yield process.measure
    process.close()


def test_rows_share_a_process(measure):
    assert measure("one")["results"]["hla"] == ("settings", 1)
    second = measure("two")
    assert second["results"] == {part: ("settings", 2) for part in PARTS}
    assert second["failures"] == {} and second["input_sets"] == 2


def test_what_raises_is_missing(measure):
    row = measure("raises")
    assert list(row["results"]) == ["peers"]
    assert row["failures"] == {"hla": "ValueError: no such kernel"}


def test_what_dies_is_missing_and_the_next_row_is_not(measure):
    row = measure("dies")
    assert list(row["results"]) == ["hla"]
    assert list(row["failures"]) == ["peers"]
    assert list(measure("next")["results"]) == list(PARTS)
