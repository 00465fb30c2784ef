#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the programs of the GPU suite, for a machine that has no compiler.

    make_bundles.py --tools-dir build/bin -o DIR [--targets sm_90a,…] [--filter TEXT]

Writes ``DIR/src/NAME.mlir``, a bundle of each for each target under
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

from programs import (  # noqa: E402
    DecayedSecondOrder,
    PreciseSecondOrder,
    Scan,
    SecondOrder,
    module,
)

WIDTHS = (32, 64, 128)


def suite():
    """Every width pair once a variant and type; layouts and scans on fewer."""
    programs = []
    for d, dv in itertools.product(WIDTHS, WIDTHS):
        for dtype, variant in itertools.product(
            ("bf16", "f16", "f32"), ("masked", "prefix")
        ):
            programs.append(SecondOrder(dtype, "bthd", d, dv, variant))
    for d, dv in ((64, 64), (128, 128), (32, 128)):
        for dtype, variant in itertools.product(("bf16", "f16"), ("masked", "prefix")):
            programs.append(SecondOrder(dtype, "bhtd", d, dv, variant))
    for (d, dv), variant, (dtype, precision) in itertools.product(
        ((32, 32), (64, 64), (128, 128), (32, 128), (128, 32)),
        ("masked", "prefix"),
        (("f32", "tf32"), ("f32", "bf16x3")),
    ):
        programs.append(
            PreciseSecondOrder(dtype, "bthd", d, dv, variant, precision)
        )
    # Narrow inputs, whose computed operands are not rounded to them.
    for dtype, precision in itertools.product(
        ("bf16", "f16"), ("tf32", "bf16x3", "f32")
    ):
        programs.append(
            PreciseSecondOrder(dtype, "bhtd", 64, 64, "masked", precision)
        )
    flags = itertools.product((False, True), (False, True), (1.0, 0.95))
    for exclusive, reverse, decay in flags:
        programs.append(
            Scan("bf16", "bthd", 64, 64, exclusive, reverse, decay, True, True)
        )
    programs += [
        Scan("f16", "bhtd", 128, 32, carry_in=True, carry_out=True),
        Scan("bf16", "bhtd", 32, 128, carry_out=True),
        Scan("f32", "bhtd", 64, 32, True, True, 0.9, True, True),
        Scan("f32", "bthd", 128, 128, decay=0.95, carry_in=True, carry_out=True),
        Scan("f16", "bthd", 64, 128, decay=0.95, carry_in=True, carry_out=True),
        DecayedSecondOrder("f32", "bthd", 64, 64),
        DecayedSecondOrder("f16", "bthd", 64, 64),
        Scan("bf16", "bthd", 128, 128),
        DecayedSecondOrder("bf16", "bthd", 64, 64),
    ]
    return programs


def compile_program(tools, out, target, program):
    """Compiles one program; returns its entry of suite.json, or the tool's message."""
    source = out / "src" / f"{program.name}.mlir"
    directory = out / target / program.name
    command = [
        tools / "hla-compile",
        source,
        "-o",
        directory,
        f"--target={target}",
        *program.options,
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
    arguments = parser.parse_args()

    programs = [p for p in suite() if arguments.filter in p.name]
    targets = arguments.targets.split(",")
    out = arguments.output
    (out / "src").mkdir(parents=True, exist_ok=True)
    for program in programs:
        (out / "src" / f"{program.name}.mlir").write_text(module([program]))

    begin = time.monotonic()
    jobs = list(itertools.product(targets, programs))
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
