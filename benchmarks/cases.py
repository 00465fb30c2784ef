# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is timed: operators and options, their shapes, and the programs that they are."""

from __future__ import annotations

import dataclasses
import itertools
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "test" / "Integration")]

import steps  # noqa: E402
from measure import Cost, count_flops  # noqa: E402
from programs import Extents, Program  # noqa: E402

_BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f64": 8, "i32": 4}

# [batch, tokens, heads, width] of every case.
SHAPES = ((8, 4096, 16, 128), (8, 4096, 32, 64))

# Of the masked second order, against the fused kernel as well.
MASKED_SHAPES = (
    *SHAPES,
    (32, 2048, 16, 128),
    (16, 8192, 16, 64),
    (1, 32768, 16, 128),
    (1, 131072, 16, 128),
)


# Of masked second order over heads in all and tokens, to 2²² tokens of all heads.
_SWEEP_HEADS = (1, 4, 16, 64, 128, 512)
_SWEEP_TOKENS = (128, 1024, 8192, 32768, 131072)
SWEEP_SHAPES = tuple(
    (max(1, heads // 16), tokens, min(heads, 16), width)
    for width, heads, tokens in itertools.product((128,), _SWEEP_HEADS, _SWEEP_TOKENS)
    if heads * tokens <= 1 << 22
)

# Of one token.
DECODE_SHAPES = ((64, 1, 16, 128), (256, 1, 16, 128))


@dataclass(frozen=True)
class Case:
    """One row of a table.

    options: of ``Program``. precision: of products of f32, of hla-compile.
    has_lengths: as many tokens, packed as sequences of lengths that differ.
    """

    name: str
    operator: str
    options: dict = field(default_factory=dict)
    dtype: str = "bf16"
    features: str = "unit"
    precision: str | None = None
    has_lengths: bool = False

    def program(self, width):
        return Program(
            self.operator,
            self.dtype,
            width,
            width,
            has_lengths=self.has_lengths,
            **self.options,
        )

    def extents(self, shape):
        batch, tokens, heads, _ = shape
        if not self.has_lengths:
            return Extents(batch, tokens, heads)
        return Extents(1, batch * tokens, heads, lengths(batch * tokens))

    def graph(self):
        program = self.program(64)
        return steps.steps(
            program.operator,
            program.variant,
            is_decayed=program.is_decayed,
            ridge=program.ridge,
        )

    def cost(self, shape):
        """Of the operands, each once (read and written: twice), and of the scans.

        Of sequences shorter than a few chunks the count says nothing: they have fewer
        pairs of tokens, and states that nobody reads. Their floor is that of bytes.
        """
        extents, width = self.extents(shape), shape[3]
        program = self.program(width)
        size = sum(
            int(np.prod(operand.shape)) * _BYTES[operand.dtype]
            for operand in program.operands(extents)
            for _ in filter(None, (operand.reads, operand.writes))
        )
        if self.has_lengths or program.tokens:
            return Cost(size, 0)
        flops = count_flops(
            self.graph(),
            extents.batch * extents.tokens,
            extents.heads,
            width,
            width,
            groups=program.groups or (1, 1),
            is_normalised=program.normalize is not None,
            has_gates=program.log_decay is not None,
        )
        return Cost(size, flops)


def lengths(tokens, shortest=8, longest=256, seed=0):
    """Cumulative lengths of sequences that fill ``tokens``, log-uniform in their range.

    The mean is (longest − shortest) / log(longest / shortest): 72, so that padding to
    the longest is three and a half times the tokens.
    """
    generator = np.random.default_rng(seed)
    ends = [0]
    while ends[-1] < tokens:
        low, high = np.log(shortest), np.log(longest)
        length = round(float(np.exp(generator.uniform(low, high))))
        ends.append(min(tokens, ends[-1] + length))
    return tuple(ends)


def _masked(name, **options):
    fields = {f.name for f in dataclasses.fields(Case)}
    of_case = {n: options.pop(n) for n in tuple(options) if n in fields}
    return Case(name, "second_order", {"variant": "masked", **options}, **of_case)


# A decay of the paper's third order takes min(T, 1/(1 − γ)) of its precision.
_DECAY, _FAST_DECAY = 0.99, 0.9

MASKED = _masked("second order, masked")

OPERATORS = (
    Case("linear", "linear"),
    MASKED,
    Case("second order, prefix", "second_order", {"variant": "prefix"}),
    Case(
        "second order, paper, decay",
        "second_order",
        {"variant": "paper", "decay": _FAST_DECAY},
    ),
    Case("asymmetric", "asymmetric"),
    Case("third order, masked", "third_order", {"variant": "masked"}),
    Case("third order, paper", "third_order", {"variant": "paper"}),
    Case(
        "third order, paper, decay",
        "third_order",
        {"variant": "paper", "decay": _FAST_DECAY},
    ),
)

OPTIONS = (
    _masked("normalised", normalize=("add", 1e-6), features="positive"),
    _masked("ridge", ridge=0.1),
    _masked("decay", decay=_DECAY),
    _masked("decay of a head", log_decay="head"),
    _masked("decay of a token", log_decay="token"),
    _masked("four query heads a key", groups=(1, 4)),
)

# Names as hla-compile has them.
PRECISIONS = tuple(
    _masked(f"f32, {precision}", dtype="f32", precision=precision)
    for precision in ("f32", "bf16x3", "tf32")
)

LENGTHS = (_masked("short sequences", has_lengths=True),)

_CARRIED = {"carry_in": True, "carry_out": True, "tokens": 1}
DECODE = (
    _masked("decode, in place", in_place=True, **_CARRIED),
    _masked("decode, out of place", **_CARRIED),
)


@dataclass(frozen=True)
class Row:
    """A case at a shape, in a table."""

    table: str
    case: Case
    shape: tuple


def rows():
    """All rows: those that are quick to tell about the machine come first."""
    of_tables = [
        Row(table, case, shape)
        for table, cases, shapes in (
            ("operators", OPERATORS, SHAPES),
            ("options", OPTIONS, SHAPES),
            ("precisions", PRECISIONS, SHAPES),
            ("lengths", LENGTHS, SHAPES),
            ("decode", DECODE, DECODE_SHAPES),
            ("sweep", (MASKED,), SWEEP_SHAPES),
        )
        for case, shape in itertools.product(cases, shapes)
    ]
    return [Row("masked", MASKED, shape) for shape in MASKED_SHAPES] + of_tables


def bundles():
    """(case, width) of everything to compile, once each."""
    named = {(r.case.name, r.shape[3]): r.case for r in rows()}
    return [(case, width) for (_, width), case in named.items()]
