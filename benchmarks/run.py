#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the operators on a GPU against their floors and other ways to compute them.

    run.py compile --tools-dir build/bin -o DIR     where the compiler is
    run.py time --bundles DIR -o RESULTS.json       where the GPU is
    run.py report RESULTS.json                      anywhere: the table and the picture

Without --bundles only the peers are timed. benchmarks/README.md says what the tables
mean.
"""

import argparse
import datetime
import fnmatch
import json
import shlex
import sys
import time
from pathlib import Path

_BENCHMARKS = Path(__file__).resolve().parent
sys.path.insert(0, str(_BENCHMARKS))

import report  # noqa: E402


def _patterns(names):
    """Whether a case's name matches one of ``names``; every one does without."""
    return lambda name: not names or any(fnmatch.fnmatch(name, n) for n in names)


def run_compile(arguments):
    from compilation import compile_all

    entries = compile_all(
        arguments.tools_dir,
        arguments.output,
        arguments.target.split(","),
        _patterns(arguments.only),
    )
    missing = [e for e in entries if "message" in e]
    for e in missing:
        print(f"{e['case']}, {e['width']}, {e['target']}: {e['message']}")
    print(f"{len(entries) - len(missing)} bundles, {len(missing)} without")
    return 0


def run_time(arguments):
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("error: expected a CUDA device that torch can use, found none")
    import triton

    from cases import rows
    from comparison import LAUNCHES, PARTS, Settings
    from timing import describe_card, measure_ceilings
    from workers import Workers

    begin = time.monotonic()
    chosen = _patterns(arguments.only)
    ceilings = measure_ceilings()
    results = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
        "card": describe_card(),
        "command": shlex.join(["python3", *sys.argv]),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "ceilings": vars(ceilings),
        "launches": arguments.rounds * LAUNCHES,
        "rows": [],
    }
    settings = Settings(
        arguments.bundles,
        arguments.target or _default_target(),
        arguments.rounds,
        arguments.softmax,
    )
    workers = Workers(settings, PARTS)
    for row in rows():
        is_wanted = not arguments.table or row.table in arguments.table
        if is_wanted and chosen(row.case.name):
            measured = report.describe(row, ceilings) | workers.measure(row)
            report.relate(measured)
            results["rows"].append(measured)
            seconds = time.monotonic() - begin
            line = f"{seconds:4.0f} s  {report.progress(measured)}"
            print(line, file=sys.stderr, flush=True)
            # A run that is ended early has what it got to.
            _write(arguments.output, results)
    workers.close()
    results["card_after"] = describe_card()
    print(report.markdown(results))
    _write(arguments.output, results)
    return 0 if all(map(report.is_right, results["rows"])) else 1


def _default_target():
    import torch

    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def _write(path, results):
    if path:
        path.write_text(json.dumps(results, indent=1) + "\n")
        report.write(path, results)


def run_report(arguments):
    report.write(arguments.results, json.loads(arguments.results.read_text()))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    only = {"action": "append", "help": "cases whose names match, as 'third*'"}

    command = commands.add_parser("compile", help="write bundles of all cases")
    command.add_argument("--tools-dir", type=Path, required=True)
    command.add_argument("-o", "--output", type=Path, required=True)
    command.add_argument("--target", default="sm_90a", help="one, or several by commas")
    command.add_argument("--only", **only)
    command.set_defaults(run=run_compile)

    command = commands.add_parser("time", help="time bundles and peers")
    command.add_argument("--bundles", type=Path, help="what compile wrote")
    command.add_argument("--target", help="whose bundles; default: the card's")
    command.add_argument("--only", **only)
    command.add_argument("--table", action="append", choices=report.TABLES)
    command.add_argument("--rounds", type=int, default=4, help="of 15 launches")
    command.add_argument("--softmax", action="store_true", help="time softmax too")
    command.add_argument(
        "-o", "--output", type=Path, help="JSON; a .md and a .svg go beside it"
    )
    command.set_defaults(run=run_time)

    command = commands.add_parser("report", help="write the .md and .svg of a JSON")
    command.add_argument("results", type=Path)
    command.set_defaults(run=run_report)

    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
