# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a result reads like."""

import xml.etree.ElementTree

import picture
import pytest
import report


def _result(ms, **more):
    times = {"median_ms": ms, "p10_ms": ms, "p90_ms": ms, "count": 60}
    return {**times, "times_floor": ms / 0.1, "note": "", **more}


def _row(table, case, results, missing=None):
    return {
        "table": table,
        "case": case,
        "shape": [8, 4096, 16, 128],
        "sequences": None,
        "bytes": 5e8,
        "flops": 1e11,
        "floor_ms": 0.1,
        "floor_bound_by": "bytes",
        "input_sets": 2,
        "failures": {},
        "results": results,
        "missing": missing or {},
    }


@pytest.fixture
def results():
    right = {"error": 3e-3, "bound": 4e-3, "correct": True}
    wrong = {"error": 0.5, "bound": 4e-3, "correct": False}
    return {
        "date": "2026-12-01T00:00:00+00:00",
        "card": {"name": "a card", "driver_version": "1"},
        "command": "python3 benchmarks/run.py time",
        "torch": "2",
        "triton": "3",
        "launches": 60,
        "ceilings": {
            "copy_bytes_per_second": 4e12,
            "matmul_flops_per_second": {"bf16": 8e14, "tf32": 4e14, "f32": 5e13},
        },
        "rows": [
            _row(
                "operators",
                "linear",
                {"hla": _result(0.2, **right), "composition": _result(0.4, **right)},
            ),
            _row(
                "operators",
                "asymmetric",
                {"hla": _result(0.1, **wrong), "composition": _result(0.5, **right)},
            ),
            _row(
                "operators",
                "a < b",
                {"composition": _result(0.3, **right)},
                {"hla": "expected something else"},
            ),
        ],
    }


def _line(text, name):
    (line,) = [x for x in text.splitlines() if x.startswith(f"| {name} |")]
    return [x.strip() for x in line.strip("|").split("|")]


def test_a_row_has_times_multiples_and_the_ratio(results):
    cells = _line(report.markdown(results), "linear")
    assert cells[-3:] == ["0.200 (2.00×)", "0.400 (4.00×)", "0.50"]


def test_what_is_wrong_has_no_time(results):
    cells = _line(report.markdown(results), "asymmetric")
    assert cells[-3:] == ["WRONG, error 5.0e-01", "0.500 (5.00×)", "–"]


def test_what_is_missing_is_a_dash_with_its_reason(results):
    text = report.markdown(results)
    assert _line(text, "a < b")[-3:] == ["–", "0.300 (3.00×)", "–"]
    assert "hla –: expected something else" in text


def test_the_picture_shows_what_is_right(results):
    root = xml.etree.ElementTree.fromstring(picture.draw(results))
    titles = [x.text for x in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == [
        "linear: 2.00×",
        "linear: 4.00×",
        "asymmetric: 5.00×",
        "a < b: 3.00×",
    ]


def test_files_stand_beside_the_results(results, tmp_path):
    report.write(tmp_path / "name.json", results)
    assert "(name.svg)" in (tmp_path / "name.md").read_text()
    assert (tmp_path / "name.svg").read_text().startswith("<svg")
