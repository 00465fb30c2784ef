#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the masked second-order operator on a GPU against other ways to compute it.

    python3 benchmarks/run.py --bundles DIR [-o results.json]

DIR is what test/Integration/GPU/make_bundles.py writes. Without --bundles only the
peers are measured. benchmarks/README.md says what the table means.
"""

import argparse
import datetime
import json
import math
import shlex
import sys
from pathlib import Path

import torch

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "benchmarks")]

from hla import reference  # noqa: E402

from measure import (  # noqa: E402
    Problem,
    describe_card,
    measure_ceilings,
    percentiles,
    time_launches,
)

PROBLEMS = (
    Problem(8, 4096, 16, 128),
    Problem(8, 4096, 32, 64),
    Problem(32, 2048, 16, 128),
    Problem(16, 8192, 16, 64),
    Problem(1, 32768, 16, 128),
)

# Launches a candidate is timed over, in rounds that alternate the candidates, so
# that a change of clocks meets all of them.
ROUNDS, LAUNCHES = 4, 15

# Inputs taken in turn hold this many times the second-level cache.
CACHE_MULTIPLE = 4


class Inputs:
    """q, k, v and out of one problem."""

    def __init__(self, problem, seed):
        generator = torch.Generator("cuda").manual_seed(seed)

        def normal():
            return torch.randn(problem.shape, generator=generator, device="cuda")

        q = normal()
        k = (q + normal()) / math.sqrt(2.0)
        # Rows of unit length, as models have them; times do not depend on it.
        q, k = (x / x.norm(dim=-1, keepdim=True) for x in (q, k))
        self.q, self.k, self.v = (x.to(torch.bfloat16) for x in (q, k, normal()))
        self.out = torch.empty_like(self.v)

    def poison(self):
        self.out.fill_(float("nan"))

    @property
    def tensors(self):
        return self.q, self.k, self.v, self.out


class Candidate:
    """A way to compute the operator: ``bind`` gives a launch on fixed tensors."""

    def __init__(self, name, bind, note=""):
        self.name = name
        self.bind = bind
        self.note = note


def our_kernel(directory, target, problem):
    """The compiler's bundle for this width."""
    from hla.runtime import Bundle

    entries = json.loads((directory / "suite.json").read_text())
    wanted = {
        "kind": "Program",
        "operator": "second_order",
        "dtype": "bf16",
        "d": problem.width,
        "dv": problem.width,
    }
    paths = [
        entry["bundle"]
        for entry in entries
        if entry["target"] == target and entry["program"] == wanted
    ]
    if not paths:
        raise SystemExit(
            f"error: expected a bundle of {wanted} for {target} in {directory} "
            "(make_bundles.py writes it), but found none"
        )
    bundle = Bundle(str(directory / paths[0]))

    def bind(inputs):
        stream = torch.cuda.current_stream().cuda_stream
        return lambda: bundle(*inputs.tensors, stream=stream)

    return Candidate("hla", bind, target)


def tuned(name, module, inputs, extra):
    """The module's fastest configuration for these inputs."""
    best = None
    for configuration in module.configurations(
        inputs[0].q.shape[3], inputs[0].v.shape[3]
    ):

        def bind(x, configuration=configuration):
            return lambda: module.launch(*x.tensors, **extra(), **configuration)

        try:
            time = sorted(time_launches([bind(x) for x in inputs], 9))[4]
        except Exception as failure:  # noqa: BLE001
            # A configuration that the card cannot hold is none.
            if "OutOfResources" not in type(failure).__name__:
                raise
            continue
        if best is None or time < best[0]:
            best = time, bind, configuration
    _, bind, configuration = best
    note = ", ".join(f"{k}={v}" for k, v in configuration.items())
    return Candidate(name, bind, note)


def softmax():
    """Causal softmax attention: another operator, for orientation."""

    def bind(inputs):
        q, k, v = (x.transpose(1, 2) for x in inputs.tensors[:3])
        attend = torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(q, k, v, is_causal=True)

    return Candidate("softmax", bind)


def measure(problem, arguments, ceilings):
    """One row of the results."""
    from peers import chunked, fused

    cache = torch.cuda.get_device_properties(0).L2_cache_size
    count = max(2, math.ceil(CACHE_MULTIPLE * cache / problem.bytes))
    inputs = [Inputs(problem, seed) for seed in range(count)]
    workspace = chunked.workspace(inputs[0].q, inputs[0].v)

    candidates = []
    if arguments.bundles:
        candidates.append(our_kernel(arguments.bundles, arguments.target, problem))
    candidates.append(tuned("triton_fused", fused, inputs, dict))
    candidates.append(
        tuned("two_chunked_calls", chunked, inputs, lambda: {"states_and_u": workspace})
    )

    first = inputs[0]
    expected = reference.second_order(first.q, first.k, first.v, form="chunked").output
    bound = reference.tolerance("bf16")
    errors = {}
    for candidate in candidates:
        for x in inputs:
            x.poison()
        for x in inputs:
            candidate.bind(x)()
        torch.cuda.synchronize()
        errors[candidate.name] = reference.error(first.out, expected)
        if not all(bool(torch.isfinite(x.out).all()) for x in inputs):
            errors[candidate.name] = math.inf
    if arguments.softmax:
        candidates.append(softmax())

    times = {candidate.name: [] for candidate in candidates}
    for _ in range(ROUNDS):
        for candidate in candidates:
            launches = [candidate.bind(x) for x in inputs]
            times[candidate.name] += time_launches(launches, LAUNCHES)

    floor, bound_by = ceilings.floor_ms(problem)
    results = {}
    for candidate in candidates:
        result = percentiles(times[candidate.name])
        result["times_floor"] = result["median_ms"] / floor
        result["note"] = candidate.note
        if candidate.name in errors:
            result["error"] = errors[candidate.name]
            result["correct"] = errors[candidate.name] <= bound
        results[candidate.name] = result
    return {
        "shape": problem.shape,
        "floor_ms": floor,
        "floor_bound_by": bound_by,
        "input_sets": count,
        "results": results,
    }


def table(report):
    """The Markdown table of a report."""
    names = list(report["rows"][0]["results"])
    ours = "hla" in names
    header = ["B, T, H, d", "floor", *names]
    header += ["hla / triton_fused"] if ours else []
    lines = [header, ["---"] * len(header)]
    for row in report["rows"]:
        cells = [
            ", ".join(map(str, row["shape"])),
            f"{row['floor_ms']:.3f} ({row['floor_bound_by']})",
        ]
        for name in names:
            result = row["results"][name]
            cell = f"{result['median_ms']:.3f} ({result['times_floor']:.2f}×)"
            if not result.get("correct", True):
                cell = f"WRONG, error {result['error']:.1e}"
            cells.append(cell)
        if ours:
            medians = [row["results"][n]["median_ms"] for n in ("hla", "triton_fused")]
            cells.append(f"{medians[0] / medians[1]:.2f}")
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown(report):
    card, ceilings = report["card"], report["ceilings"]
    notes = [
        f"- {', '.join(map(str, row['shape']))}: "
        + "; ".join(
            f"{name} error {result['error']:.1e}"
            + (f" ({result['note']})" if result["note"] else "")
            for name, result in row["results"].items()
            if "error" in result
        )
        for row in report["rows"]
    ]
    return f"""\
# Masked second order, bf16, forward: {card["name"]}, {report["date"][:10]}

Milliseconds, median of {ROUNDS * LAUNCHES} launches, and in parentheses the multiple of the
floor. Driver {card["driver_version"]}, torch {report["torch"]}, Triton {report["triton"]}.
Ceilings in this run: copy {ceilings["copy_bytes_per_second"] / 1e9:.0f} GB/s, bf16 matmul
{ceilings["matmul_flops_per_second"] / 1e12:.0f} TFLOP/s.

    {report["command"]}

{table(report)}

Errors against float64, and what was chosen:

{chr(10).join(notes)}
"""


def default_target():
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bundles", type=Path, help="what make_bundles.py wrote")
    parser.add_argument("--target", help="whose bundles; default: the card's")
    parser.add_argument("--softmax", action="store_true", help="time softmax too")
    parser.add_argument("--only", type=int, action="append", help="rows, from 0")
    parser.add_argument("-o", "--output", type=Path, help="JSON; a .md goes beside it")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("error: expected a CUDA device that torch can use, found none")
    import triton

    arguments.target = arguments.target or default_target()
    ceilings = measure_ceilings()
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
        "card": describe_card(),
        "command": shlex.join(["python3", *sys.argv]),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "ceilings": vars(ceilings),
        "rows": [],
    }
    for index, problem in enumerate(PROBLEMS):
        if arguments.only and index not in arguments.only:
            continue
        report["rows"].append(measure(problem, arguments, ceilings))
        torch.cuda.empty_cache()
    report["card_after"] = describe_card()

    text = markdown(report)
    print(text)
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=1) + "\n")
        arguments.output.with_suffix(".md").write_text(text)
    right = all(
        result.get("correct", True)
        for row in report["rows"]
        for result in row["results"].values()
    )
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
