# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are graphs of ``hla.scan``, as a user writes an operator of his own."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

from hla import reference
from programs import (
    Operand,
    Typed,
    describe,
    make_name,
    number,
    sequence_type,
    state_dtype,
)


class Scan(NamedTuple):
    """One scan: its operands are "q", "k", "v" or the number of an earlier scan."""

    query: str | int
    key: str | int
    value: str | int
    exclusive: bool = False
    reverse: bool = False
    decay: float = 1.0


@dataclass(frozen=True)
class Graph(Typed):
    """Scans, one after the other; the last one's rows are the result.

    What a scan hands to another is a tensor of the states' type: sums.
    """

    dtype: str
    d: int
    dv: int
    scans: tuple
    layout: str = "bthd"
    output: str | None = None

    precision: str | None = None

    has_lengths = False

    @property
    def name(self):
        scans = []
        for s in self.scans:
            flags = ("x" if s.exclusive else "") + ("r" if s.reverse else "")
            decay = f"{s.decay:g}" if s.decay != 1.0 else ""
            scans.append("".join(map(str, s[:3])) + flags + decay)
        return make_name(dataclasses.replace(self, scans=tuple(scans)), "graph")

    def width(self, operand):
        """The width of a scan's operand."""
        if isinstance(operand, int):
            return self.width(self.scans[operand].value)
        return self.dv if operand == "v" else self.d

    @property
    def roundings_of_scans(self):
        """The last scan and those whose results are factors of its terms, and of these
        results, and so on. The errors of one row that is a factor n times add up to n
        times as much, as those of n² rows do."""
        factors = [0] * len(self.scans)
        factors[-1] = 1
        for i in reversed(range(len(self.scans))):
            for operand in self.scans[i][:3]:
                if isinstance(operand, int):
                    factors[operand] += factors[i]
        return sum(n * n for n in factors)

    @property
    def is_decayed(self):
        return any(s.decay != 1.0 for s in self.scans)

    def operands(self, extents):
        b, t, h = extents.batch, extents.tokens, extents.heads
        order = (b, t, h) if self.layout == "bthd" else (b, h, t)
        widths = {"q": self.d, "k": self.d, "v": self.dv}
        operands = [Operand(n, (*order, w), self.dtype, n) for n, w in widths.items()]
        shape = (*order, self.width(len(self.scans) - 1))
        return [*operands, Operand("o", shape, self.output_dtype, writes="o")]

    def options(self):
        """The options of ``evaluate`` that are no arrays."""
        return {"layout": self.layout}

    def evaluate(self, q, k, v, perturb=None, **options):
        """By the reference. Result: a ``reference.Result`` without states."""
        values = {"q": q, "k": k, "v": v}
        for i, s in enumerate(self.scans):
            values[i] = reference.scan(
                *(values[x] for x in s[:3]),
                exclusive=s.exclusive,
                reverse=s.reverse,
                decay=s.decay,
                perturb=perturb and (perturb[0], [*perturb[1], i]),
                **options,
            ).output
        return reference.Result(values[len(self.scans) - 1], {})

    def mlir(self, extents=None):
        def kind(width, dtype):
            return sequence_type(self.layout, width, dtype, extents)

        types = {
            "q": kind(self.d, self.dtype),
            "k": kind(self.d, self.dtype),
            "v": kind(self.dv, self.dtype),
        }
        signature = ", ".join(f"%{n}: {t}" for n, t in types.items())
        lines = []
        sizes = ""
        if extents is None:
            for i in range(3):
                lines.append(f"%c{i} = arith.constant {i} : index")
                lines.append(f"%n{i} = tensor.dim %v, %c{i} : {types['v']}")
            sizes = "%n0, %n1, %n2"
        for i, s in enumerate(self.scans):
            is_last = i == len(self.scans) - 1
            dtype = self.output_dtype if is_last else state_dtype(self.dtype)
            types[i] = kind(self.width(s.value), dtype)
            operands = ", ".join(f"%{self._value(x)}" for x in s[:3])
            inputs = ", ".join(types[x] for x in s[:3])
            options = ["exclusive"] if s.exclusive else []
            options += ["reverse"] if s.reverse else []
            options += [f"decay({number(s.decay)})"] if s.decay != 1.0 else []
            options += [f"layout({self.layout})"] if self.layout != "bthd" else []
            lines += [
                f"%e{i} = tensor.empty({sizes}) : {types[i]}",
                f"%r{i} = hla.scan {' '.join(options)}",
                f"    ins({operands} : {inputs})",
                f"    outs(%e{i} : {types[i]}) -> {types[i]}",
            ]
        body = "".join(f"    {line}\n" for line in lines)
        last = len(self.scans) - 1
        return (
            f"  func.func @{self.name}({signature}) -> {types[last]} {{\n{body}"
            f"    return %r{last} : {types[last]}\n  }}\n"
        )

    def _value(self, operand):
        return f"r{operand}" if isinstance(operand, int) else operand

    def describe(self):
        return describe(self)
