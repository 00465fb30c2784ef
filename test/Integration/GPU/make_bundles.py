#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the programs of the GPU suite, for a machine that has no compiler.

    make_bundles.py --tools-dir build/bin -o DIR [--targets sm_90a,…] [--filter TEXT]
                    [--count N --seed S]

compiles a fixed list, and with --count so many random programs, each of which the tests
run on many shapes; every third of these is cut into segments. Writes ``DIR/src/NAME.mlir``, a bundle of each for each target under
``DIR/TARGET/NAME``, and ``DIR/suite.json``, which tells the tests what each bundle
computes.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "Integration")]

from draws import GPU, configurations  # noqa: E402
from graphs import Graph, Scan  # noqa: E402
from programs import Program, module  # noqa: E402

WIDTHS = (32, 64, 128)


def fixed_programs():
    """Every width pair once a variant and type; layouts, scans and precisions on
    fewer."""
    programs = []

    def add(dtype, d, dv, variant=None, layout="bthd", **options):
        program = Program("second_order", dtype, d, dv, layout, variant, **options)
        programs.append(program)

    variants = (None, "prefix")
    for d, dv in itertools.product(WIDTHS, WIDTHS):
        for dtype, variant in itertools.product(("bf16", "f16", "f32"), variants):
            add(dtype, d, dv, variant)
    for d, dv in ((64, 64), (128, 128), (32, 128)):
        for dtype, variant in itertools.product(("bf16", "f16"), variants):
            add(dtype, d, dv, variant, "bhtd")
    for d, dv in ((32, 32), (64, 64), (128, 128), (32, 128), (128, 32)):
        for variant, precision in itertools.product(variants, ("tf32", "bf16x3")):
            add("f32", d, dv, variant, precision=precision)
    # Narrow inputs, whose computed operands are not rounded to them.
    for dtype in ("bf16", "f16"):
        for precision in ("tf32", "bf16x3", "f32"):
            add(dtype, 64, 64, layout="bhtd", precision=precision)

    def add_scan(dtype, d, dv, layout="bthd", **options):
        programs.append(Program("scan", dtype, d, dv, layout, **options))

    carried = {"carry_in": True, "carry_out": True}
    flags = itertools.product((False, True), (False, True), (1.0, 0.95))
    for exclusive, reverse, decay in flags:
        options = {"exclusive": exclusive, "reverse": reverse, "decay": decay}
        add_scan("bf16", 64, 64, **options, **carried)
    add_scan("f16", 128, 32, "bhtd", **carried)
    add_scan("bf16", 32, 128, "bhtd", carry_out=True)
    backward = {"exclusive": True, "reverse": True, "decay": 0.9}
    add_scan("f32", 64, 32, "bhtd", **backward, **carried)
    add_scan("f32", 128, 128, decay=0.95, **carried)
    add_scan("f16", 64, 128, decay=0.95, **carried)
    add_scan("bf16", 128, 128)
    # One token, as a model decodes.
    one = {"tokens": 1, "variant": "masked", **carried}
    for width, in_place in itertools.product((64, 128), (False, True)):
        options = {"in_place": in_place, **one}
        programs.append(Program("second_order", "bf16", width, width, **options))
    for operator in ("linear", "second_order", "asymmetric", "third_order"):
        options = {"tokens": 1, "in_place": True, "has_slots": True, **carried}
        programs.append(Program(operator, "bf16", 128, 128, **options))
    decayed = (Scan("q", "k", "k", decay=0.9), Scan("q", 0, "v", decay=0.9))
    programs += [Graph(dtype, 64, 64, decayed) for dtype in ("bf16", "f16", "f32")]
    return programs


def random_programs(seed, count):
    """``count`` drawn ones, all different."""
    programs = {}
    for configuration in configurations(seed, 2 * count, GPU).values():
        programs[configuration.program.name] = configuration.program
    return list(programs.values())[:count]


def segments_of(index):
    """What ``--segments`` says of a random program, or None."""
    return (str(2 + index // 3 % 5), "auto")[index % 2] if index % 3 == 0 else None


def compile_program(tools, out, target, program, is_random, segments):
    """Compiles one program; returns its entry of suite.json, or the tool's message."""
    source = out / "src" / f"{program.name}.mlir"
    directory = out / target / program.name
    command = [
        tools / "hla-compile",
        source,
        "-o",
        directory,
        f"--target={target}",
        *([f"--precision={program.precision}"] if program.precision else []),
        *([f"--segments={segments}"] if segments else []),
    ]
    result = subprocess.run(
        [str(x) for x in command], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        return f"{program.name} ({target}): {result.stderr.strip()}"
    manifests = sorted(directory.rglob("manifest.json"))
    if len(manifests) != 1:
        return f"{program.name} ({target}): expected one bundle, got {len(manifests)}"
    return {
        "bundle": str(manifests[0].parent.relative_to(out)),
        "target": target,
        "is_random": is_random,
        "segments": segments,
        "program": program.describe(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tools-dir", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--targets", default="sm_90a")
    parser.add_argument(
        "--filter", default="", help="only programs with this in the name"
    )
    parser.add_argument("--count", type=int, default=0, help="random programs")
    parser.add_argument("--seed", type=int, default=20251027)
    arguments = parser.parse_args()

    programs = {p: False for p in fixed_programs() if arguments.filter in p.name}
    segments = {}
    drawn = random_programs(arguments.seed, arguments.count)
    for index, program in enumerate(drawn):
        programs.setdefault(program, True)
        segments[program] = segments_of(index)
    targets = arguments.targets.split(",")
    out = arguments.output
    (out / "src").mkdir(parents=True, exist_ok=True)
    for program in programs:
        (out / "src" / f"{program.name}.mlir").write_text(module([program]))

    begin = time.monotonic()
    jobs = [
        (target, program, is_random, segments.get(program))
        for target in targets
        for program, is_random in programs.items()
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(
            pool.map(lambda job: compile_program(arguments.tools_dir, out, *job), jobs)
        )
    failures = [r for r in results if isinstance(r, str)]
    entries = [r for r in results if not isinstance(r, str)]
    (out / "suite.json").write_text(json.dumps(entries, indent=1) + "\n")
    for failure in failures:
        print(failure, file=sys.stderr)
    seconds = time.monotonic() - begin
    print(f"{len(entries)} bundles, {len(failures)} failures, {seconds:.1f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
