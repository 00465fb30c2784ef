#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times compilation from an operator to PTX, and says where the time goes.

    python3 benchmarks/compile_time.py --tools-dir build/bin [-o results.json]

Runs ``hla-compile --time-report=FILE`` and reads the file: ``{"stages": [{"name",
"ms"}, …]}`` in the order of the stages. The sum without ``assemble`` (ptxas) and
``write`` (files) is the time from the parsed text to PTX in process.
"""

import argparse
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "Integration")]

from programs import Program, module  # noqa: E402

PROGRAMS = (
    Program("second_order", "bf16", 64, 64),
    Program("second_order", "bf16", 128, 128),
)

# Stages that come after the PTX is there.
AFTER_PTX = ("assemble", "write")


def compile_once(tool, source, directory, target):
    """(stage → ms, milliseconds of the whole process)."""
    report = directory / "time.json"
    command = [tool, source, "-o", directory / "bundle", f"--target={target}"]
    command.append(f"--time-report={report}")
    begin = time.perf_counter()
    result = subprocess.run(
        [str(x) for x in command], capture_output=True, text=True, check=False
    )
    process = 1e3 * (time.perf_counter() - begin)
    if result.returncode != 0:
        raise SystemExit(f"error: {shlex.join(map(str, command))}\n{result.stderr}")
    stages = json.loads(report.read_text())["stages"]
    return {stage["name"]: stage["ms"] for stage in stages}, process


def measure(tool, program, target, runs):
    """Medians of ``runs`` compilations after one that warms the file cache."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        source = directory / "program.mlir"
        source.write_text(module([program]))
        compile_once(tool, source, directory, target)
        samples = [compile_once(tool, source, directory, target) for _ in range(runs)]
    names = list(samples[0][0])
    to_ptx = [
        sum(ms for stage, ms in stages.items() if stage not in AFTER_PTX)
        for stages, _ in samples
    ]
    return {
        "program": program.name,
        "target": target,
        "runs": runs,
        "to_ptx_ms": statistics.median(to_ptx),
        "to_ptx_worst_ms": max(to_ptx),
        "process_ms": statistics.median(process for _, process in samples),
        "stages": {n: statistics.median(s[n] for s, _ in samples) for n in names},
    }


def markdown(report):
    names = list(dict.fromkeys(n for row in report["rows"] for n in row["stages"]))
    header = ["program", "target", "op to PTX", "worst", *names, "process"]
    lines = [header, ["---"] * len(header)]
    for row in report["rows"]:
        lines.append(
            [
                row["program"],
                row["target"],
                f"{row['to_ptx_ms']:.0f}",
                f"{row['to_ptx_worst_ms']:.0f}",
                *(f"{row['stages'].get(n, 0.0):.1f}" for n in names),
                f"{row['process_ms']:.0f}",
            ]
        )
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"""\
# Compile time, {report["date"][:10]}

Milliseconds, medians of {report["runs"]} runs on {report["machine"]}.

    {report["command"]}

{rows}
"""


def machine():
    """The processor's name and how many this process may use."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{len(os.sched_getaffinity(0))} cores of {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tools-dir", type=Path, required=True)
    parser.add_argument("--targets", default="sm_80,sm_90a")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("-o", "--output", type=Path, help="JSON; a .md goes beside it")
    arguments = parser.parse_args()
    tool = arguments.tools_dir / "hla-compile"
    if not os.access(tool, os.X_OK):
        raise SystemExit(f"error: expected a program {tool} (build it first)")
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
        "command": shlex.join(["python3", *sys.argv]),
        "machine": machine(),
        "runs": arguments.runs,
        "rows": [
            measure(tool, program, target, arguments.runs)
            for target in arguments.targets.split(",")
            for program in PROGRAMS
        ],
    }
    text = markdown(report)
    print(text)
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=1) + "\n")
        arguments.output.with_suffix(".md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
