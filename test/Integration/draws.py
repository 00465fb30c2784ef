# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random configurations: operators, options, types and shapes that go together.

    draws.py SEED INDEX -o DIR

writes one of them to DIR, program, inputs and expected values, and prints the command
that runs it.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

if __name__ == "__main__":
    _ROOT = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "Integration" / "CPU")]

from configurations import Configuration
from graphs import Graph, Scan
from programs import Extents, Program, Slots, changed_fields

# Operators by how often they are drawn.
WEIGHTS = {
    "scan": 12,
    "linear": 10,
    "second_order/masked": 16,
    "second_order/prefix": 10,
    "second_order/paper": 12,
    "asymmetric": 12,
    "third_order/masked": 12,
    "third_order/paper": 12,
    "graph": 6,
}

# Widths that no vector length divides stand beside the usual ones; large ones are
# slow in float64, and rare.
WIDTHS = {
    1: 4,
    3: 3,
    8: 12,
    16: 14,
    20: 8,
    24: 5,
    32: 14,
    48: 7,
    64: 8,
    80: 3,
    96: 3,
    128: 2,
    160: 1,
    256: 1,
}

# Of GPUs, more are whole tiles.
GPU_WIDTHS = {**WIDTHS, 32: 20, 64: 40, 128: 20, 160: 2, 256: 6}

# Around the chunk lengths 16, 32, 64 and 128.
TOKENS = (0, 1, 2, 7, 15, 16, 17, 31, 33, 48, 63, 64, 65, 100, 127, 129, 150, 200)


class Target(NamedTuple):
    """What a target takes, and how much of it is tested in a second."""

    dtypes: tuple
    outputs: tuple
    tokens: tuple
    widths: dict
    # Multiply-adds of the recurrence, at most, of one configuration.
    work: int
    # Precisions of products, of f32 inputs and of shorter ones.
    precisions: tuple = ()
    # For hla-run.
    flags: tuple = ()


CPU = Target(
    dtypes=("f32", "f32", "bf16", "f16", "f64"),
    outputs=("bf16", "f16", "f32"),
    tokens=TOKENS,
    work=1 << 24,
    widths=WIDTHS,
)
GPU = Target(
    dtypes=("bf16", "bf16", "f16", "f16", "f32"),
    outputs=("bf16", "f16", "f32"),
    tokens=(*TOKENS, 300, 512, 1000),
    work=1 << 30,
    precisions=("tf32", "bf16x3", "f32"),
    widths=GPU_WIDTHS,
)

# The tile programs that GPUs get, those with the least shared memory: on a CPU, as far
# as that takes little time.
TILES = GPU._replace(tokens=TOKENS, work=1 << 22, flags=("--schedule-target=sm_86",))
TARGETS = {"cpu": CPU, "gpu": GPU, "tiles": TILES}


def traits(program):
    """The operator, with its variant, and the names of options that are set, by
    themselves and after the operator's."""
    if isinstance(program, Graph):
        return {"graph"}
    options = set(changed_fields(program))
    names = {program.operator, f"{program.operator}/{program.variant}"}
    return names | options | {f"{program.operator} {x}" for x in options}


class Draw:
    """The configuration of one seed and index."""

    def __init__(self, seed, index, target):
        self.random = random.Random(f"{seed}/{index}")
        self.target = target

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, *options):
        return self.random.choice(options)

    def weighted(self, weights):
        return self.random.choices(list(weights), list(weights.values()))[0]

    def configuration(self):
        kind = self.weighted(WEIGHTS)
        program = self.graph() if kind == "graph" else self.program(kind)
        return self.on_extents(program)

    def common(self):
        dtype = self.random.choice(self.target.dtypes)
        precision = None
        if self.target.precisions and self.chance(0.7 if dtype == "f32" else 0.15):
            precision = self.choice(*self.target.precisions)
        output = self.random.choice(self.target.outputs) if self.chance(0.25) else None
        return {
            "dtype": dtype,
            "layout": self.choice("bthd", "bhtd"),
            "d": self.weighted(self.target.widths),
            "dv": self.weighted(self.target.widths),
            # States, and so sums, are f64 for f64 inputs; shorter outputs are stored.
            "output": None if output == dtype else output,
            "precision": precision,
        }

    def program(self, kind):
        operator, _, variant = kind.partition("/")
        fields = self.common()
        fields |= {"operator": operator, "variant": variant or None}
        if fields["variant"] == "masked" and self.chance(0.5):
            fields["variant"] = None
        fields["reverse"] = self.chance(0.25)
        fields |= self.decay()
        if operator == "scan":
            fields["exclusive"] = self.chance(0.5)
        else:
            fields |= self.options(kind, fields["d"])
        if variant == "paper" and fields.get("normalize") and "decay" in fields:
            # As ``on_extents`` says of log-decays.
            fields["decay"] = 0.999
        fields["has_lengths"] = self.chance(0.25)
        if self.chance(0.3):
            fields["groups"] = self.groups(operator)
        carry = self.choice("", "", "in", "out", "both", "both")
        fields["carry_in"] = carry in ("in", "both")
        fields["carry_out"] = carry in ("out", "both")
        fields["in_place"] = carry == "both" and self.chance(0.3)
        fields["out_arguments"] = self.chance(0.3)
        fields["has_slots"] = bool(carry) and self.chance(0.3)
        if fields["has_slots"] and carry == "out":
            # An argument says how many states there are.
            fields["out_arguments"] = True
        return Program(**fields)

    def decay(self):
        kind = self.choice("", "", "constant", "constant", "token", "token", "head")
        if kind == "constant":
            return {"decay": self.choice(0.99, 0.9, 0.9, 0.5, 1e-12)}
        return {"log_decay": kind} if kind else {}

    def options(self, kind, d):
        options = {}
        if kind == "second_order/masked" and self.chance(0.25):
            options["reading"] = "squared"
        has_ridge = kind.startswith("second_order") or kind == "third_order/masked"
        if has_ridge and self.chance(0.25):
            options["ridge"] = self.choice(0.01, 0.5, 2.0)
        if self.chance(0.25):
            options["scale"] = self.choice(1 / math.sqrt(d), 0.5, 2.0)
        if self.chance(0.25):
            options["normalize"] = self.choice(
                ("add", 1e-6), ("add", 1.0), ("clamp", 1e-3), ("clamp", 0.5)
            )
        return options

    def groups(self, operator):
        g = self.choice(2, 3, 4)
        if operator == "scan":
            return self.choice((g, 1, 1), (1, g, g), (1, 1, g), (1, g, 1))
        return self.choice((1, g), (1, g), (g, 1))

    def graph(self):
        """Two to four scans; rows that v entered are values only, the last one's are
        among them, so that the result is linear in v."""
        count = self.random.randint(2, 4)
        reverse = self.chance(0.25)
        keys, values, scans = ["q", "k"], ["v"], []
        for i in range(count):
            is_last = i == count - 1
            # What a scan may read, the latest more often.
            key_pool = keys + keys[2:] * 2
            value_pool = values + values[1:] * 2
            of_keys = not is_last and self.chance(0.5)
            value = self.random.choice(key_pool if of_keys else value_pool)
            (keys if of_keys else values).append(i)
            turn = self.chance(0.1)
            scans.append(
                Scan(
                    self.random.choice(key_pool),
                    self.random.choice(key_pool),
                    value,
                    exclusive=self.chance(0.3),
                    reverse=reverse != turn,
                    decay=self.choice(1.0, 1.0, 0.9, 0.5),
                )
            )
        return Graph(**self.common(), scans=tuple(scans))

    def on_extents(self, program):
        features = self.choice(None, None, "normal", "unit")
        gates = self.choice("sigmoid", "sigmoid", "extreme")
        most = max(self.target.tokens)
        if getattr(program, "normalize", None):
            # Signed features make denominators cross zero, where the result jumps:
            # seldom, for few tokens, clamped to what is well away from zero, and not
            # where products round so much that they change a sign.
            is_signed = program.normalize == ("clamp", 0.5) and self.chance(0.3)
            is_signed &= not self.rounds(program)
            features = "normal" if is_signed else "positive"
            most = 33 if is_signed else most
            if program.variant == "paper" and program.is_decayed:
                # Its denominators are differences, positive only where little is
                # forgotten; in the third order they cancel then, the more the longer.
                gates = "slow"
                if program.operator == "third_order":
                    most = 17
        flags = self.target.flags
        if flags and program.precision:
            flags += (f"--precision={program.precision}",)
        return Configuration(
            program,
            self.extents(program, most),
            seed=self.random.randrange(1 << 30),
            features=features,
            gates=gates,
            is_static=self.chance(0.15),
            flags=flags,
        )

    def rounds(self, program):
        """Whether products take operands of fewer bits than f32."""
        return bool(self.target.precisions) and program.operand_dtype not in (
            "bf16x3",
            "f32",
        )

    def extents(self, program, most):
        batch = 1 if program.has_lengths else self.random.randint(1, 2)
        tokens = self.choice(*(t for t in self.target.tokens if t <= most))
        groups = getattr(program, "groups", None) or (1,)
        heads = math.lcm(*groups) * self.random.randint(1, 2)
        a_token = batch * heads * program.d * (program.d + program.dv)
        # Fewer tokens where the widths are large, as ragged as before.
        while tokens > 17 and a_token * tokens > self.target.work:
            tokens //= 2
        lengths = self.lengths(tokens) if program.has_lengths else None
        extents = Extents(batch, tokens, heads, lengths)
        if not getattr(program, "has_slots", False):
            return extents
        return extents._replace(slots=self.slots(program, extents.sequences))

    def lengths(self, tokens):
        """With slack, empty sequences, and one that takes all, now and then."""
        count = self.choice(0, 1, 2, 3, 5, 9)
        first = self.random.randint(0, min(3, tokens)) if self.chance(0.3) else 0
        last = self.random.randint(first, tokens) if self.chance(0.5) else tokens
        cuts = [self.random.randint(first, last) for _ in range(max(0, count - 1))]
        if cuts and self.chance(0.4):
            cuts += [cuts[0]]
        bounds = sorted([first, *cuts, *([last] if count else [])])
        return tuple(bounds)


    def slots(self, program, sequences):
        """Different states in any order, some of none; of fewer states than sequences
        now and then; two sequences of one state where none is written."""
        states = max(1, sequences + self.choice(-1, 0, 1, 3))
        numbers = list(range(states))
        if states < sequences or self.chance(0.5):
            numbers += [-1, -(2**31)] * sequences
        chosen = self.random.sample(numbers, sequences)
        if not program.carry_out and sequences > 1 and self.chance(0.5):
            chosen[0] = chosen[-1]
        return Slots(states, tuple(chosen))


def configurations(seed, count, target=CPU):
    """``count`` configurations by their indices, on which, with the seed, each depends
    alone."""
    return {i: Draw(seed, i, target).configuration() for i in range(count)}


def more_configurations(program, seed, count, target):
    """``count`` configurations of one program."""
    return [
        Draw(f"{seed}/{program.name}", i, target).on_extents(program)
        for i in range(count)
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("index", type=int)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--target", choices=TARGETS, default="cpu")
    arguments = parser.parse_args()
    target = TARGETS[arguments.target]
    configuration = Draw(arguments.seed, arguments.index, target).configuration()
    print(configuration)
    problem = configuration.problem()
    arguments.output.mkdir(parents=True, exist_ok=True)
    from tool_runner import Runner

    runner = Runner(None, arguments.output)
    command = runner.prepare(*runner.arguments(configuration, problem))[0]
    for name, array in problem.expected.items():
        np.save(arguments.output / f"expected_{name}.npy", array)
    print("hla-run", *command)


if __name__ == "__main__":
    main()
