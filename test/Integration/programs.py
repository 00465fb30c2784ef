# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the integration tests: what they take, and their IR.

A program is one entry function; the IR's syntax stands in this file alone. Extents are
dynamic in the types, but for the widths, unless ``mlir`` is given some. ``describe``
and ``from_description`` carry a program through JSON to a machine that has only the
compiled kernel. What a program computes is in ``configurations.py``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

from hla import reference


def state_dtype(dtype):
    """The type of a scan's state: sums are f32, or f64 where an operand is."""
    return "f64" if dtype == "f64" else "f32"


class Slots(NamedTuple):
    """How many states there are, and which one each sequence has."""

    states: int
    numbers: tuple

    @property
    def present(self):
        """The sequences whose number is one of a state."""
        return [i for i, n in enumerate(self.numbers) if 0 <= n < self.states]


class Extents(NamedTuple):
    """B, T, H of the result, the cumulative lengths of packed sequences, and slots."""

    batch: int
    tokens: int
    heads: int
    lengths: tuple | None = None
    slots: Slots | None = None

    @property
    def sequences(self):
        return self.batch if self.lengths is None else len(self.lengths) - 1

    @property
    def states(self):
        return self.sequences if self.slots is None else self.slots.states


class Operand(NamedTuple):
    """One argument or result of an entry function, in the order of its ABI."""

    name: str
    shape: tuple
    dtype: str
    # The array that is read from it, and the one that is written to it, by name.
    reads: str | None = None
    writes: str | None = None

    @property
    def is_sequence(self):
        return self.name in ("q", "k", "v", "o")

    @property
    def is_state(self):
        return self.name.endswith(("_in", "_out"))


class Typed:
    """The types that follow from ``dtype``, ``output`` and ``precision``."""

    @property
    def output_dtype(self):
        return self.output or self.dtype

    @property
    def operand_dtype(self):
        """What a GPU rounds operands of products to."""
        return self.precision or self.dtype


@dataclass(frozen=True)
class Program(Typed):
    """One operator of the dialect, or ``hla.scan``, with its options."""

    operator: str
    dtype: str
    d: int
    dv: int
    layout: str = "bthd"
    variant: str | None = None
    output: str | None = None
    reading: str = "causal"
    exclusive: bool = False
    reverse: bool = False
    decay: float = 1.0
    # "token" or "head": an operand.
    log_decay: str | None = None
    ridge: float = 0.0
    scale: float = 1.0
    normalize: tuple | None = None
    groups: tuple | None = None
    has_lengths: bool = False
    has_slots: bool = False
    carry_in: bool = False
    carry_out: bool = False
    # Results go to arguments rather than to what the function makes; the final
    # states to those that hold the initial ones.
    out_arguments: bool = False
    in_place: bool = False
    # Of every sequence, where the types say it.
    tokens: int | None = None
    # Of products, on a GPU: what the compiler is told beside the program.
    precision: str | None = None

    @property
    def name(self):
        return make_name(self)

    @property
    def is_decayed(self):
        return self.decay != 1.0 or self.log_decay is not None

    @property
    def kind(self):
        """The operator's entry in the reference; None for the scan."""
        if self.operator == "scan":
            return None
        return reference.operator(self.operator, self.variant, self.is_decayed)

    @property
    def states(self):
        """Names and widths of the states, in order."""
        if self.operator == "scan":
            return [reference.State("S", "dv", 0)]
        return self.kind.states(self.normalize is not None)

    def sequence_shape(self, extents, width, group=1):
        heads = extents.heads // group
        if self.layout == "bthd":
            return (extents.batch, extents.tokens, heads, width)
        return (extents.batch, heads, extents.tokens, width)

    def state_shape(self, extents, columns):
        width = {"d": self.d, "dv": self.dv, 1: 1}[columns]
        return (extents.states, extents.heads, self.d, width)

    def operands(self, extents):
        """Arguments, then results that are none."""
        gq, *_, gv = self.groups or (1, 1)
        gk = self.groups[1] if self.groups else 1
        floating = state_dtype(self.dtype)

        def sequence(name, width, group):
            shape = self.sequence_shape(extents, width, group)
            return Operand(name, shape, self.dtype, reads=name)

        arguments = [
            sequence("q", self.d, gq),
            sequence("k", self.d, gk),
            sequence("v", self.dv, gv),
        ]
        if self.log_decay == "token":
            shape = self.sequence_shape(extents, 1)[:3]
            arguments.append(Operand("g", shape, floating, reads="g"))
        elif self.log_decay == "head":
            arguments.append(Operand("g", (extents.heads,), floating, reads="g"))
        if self.has_lengths:
            shape = (len(extents.lengths),)
            arguments.append(Operand("c", shape, "i32", reads="c"))
        if self.has_slots:
            arguments.append(Operand("n", (extents.sequences,), "i32", reads="n"))
        states = [(s.name, self.state_shape(extents, s.columns)) for s in self.states]
        for name, shape in states if self.carry_in else ():
            operand = Operand(f"{name}_in", shape, floating, reads=f"{name}_in")
            if self.in_place:
                operand = operand._replace(writes=f"{name}_out")
            arguments.append(operand)
        shape = self.sequence_shape(extents, self.dv)
        # Tokens of no sequence keep what an argument held: that is read.
        held = "held" if self.has_lengths and self.out_arguments else None
        results = [Operand("o", shape, self.output_dtype, held, "o")]
        if self.carry_out and not self.in_place:
            # And so do states in no slot.
            is_held = self.has_slots and self.out_arguments
            results += [
                Operand(
                    f"{n}_out",
                    shape,
                    floating,
                    f"held_{n}" if is_held else None,
                    f"{n}_out",
                )
                for n, shape in states
            ]
        return arguments + results

    def options(self):
        """The options of ``evaluate`` that are no arrays."""
        options = {"decay": self.decay, "reverse": self.reverse}
        options |= {"layout": self.layout, "groups": self.groups}
        if self.operator == "scan":
            return options | {"exclusive": self.exclusive}
        for name in ("ridge", "scale", "normalize"):
            options[name] = getattr(self, name)
        if self.variant:
            options["variant"] = self.variant
        if self.reading != "causal":
            options["reading"] = self.reading
        return options

    def evaluate(self, q, k, v, **options):
        """By the reference. Result: a ``reference.Result``."""
        return getattr(reference, self.operator)(q, k, v, **options)

    def mlir(self, extents=None):
        """The entry function; with ``extents`` all extents are static."""
        return _Writer(self, extents).write()

    def describe(self):
        return describe(self)


# Options as they are written, in the order of the syntax.
_OPTIONS = {
    "exclusive": lambda p: "exclusive" if p.exclusive else "",
    "variant": lambda p: f"variant({p.variant})" if p.variant else "",
    "reading": lambda p: f"reading({p.reading})" if p.reading != "causal" else "",
    "ridge": lambda p: f"ridge({number(p.ridge)})" if p.ridge else "",
    # The scan's flag stands before the decay, an operator's behind its options.
    "reverse scan": lambda p: "reverse" if p.reverse and p.operator == "scan" else "",
    "decay": lambda p: f"decay({number(p.decay)})" if p.decay != 1.0 else "",
    "scale": lambda p: f"scale({number(p.scale)})" if p.scale != 1.0 else "",
    "normalize": lambda p: (
        f"normalize({p.normalize[0]}, {number(p.normalize[1])})" if p.normalize else ""
    ),
    "reverse": lambda p: "reverse" if p.reverse and p.operator != "scan" else "",
    "layout": lambda p: f"layout({p.layout})" if p.layout != "bthd" else "",
    "groups": lambda p: f"groups({list(p.groups)})" if p.groups else "",
}


def number(value):
    """A float as MLIR reads it, every bit of it."""
    return f"{value:.17e}"


class _Writer:
    """Writes a ``Program``."""

    def __init__(self, program, extents):
        self.program = program
        self.is_static = extents is not None
        # Any extents give the operands' names, ranks and widths.
        lengths = (0,) if program.has_lengths else None
        slots = Slots(0, ()) if program.has_slots else None
        some = extents or Extents(1, 1, 0, lengths, slots)
        self.operands = {o.name: o for o in program.operands(some)}
        self.lines = []

    def write(self):
        p = self.program
        operands = self.operands.values()
        arguments = [o for o in operands if o.reads or p.out_arguments]
        results = [o for o in operands if o.writes]
        destinations = {}
        for o in results:
            is_argument = o.reads or p.out_arguments
            destinations[o.name] = f"%{o.name}" if is_argument else self.make(o)
        # The order of the operator: the output, then states.
        results.sort(key=lambda o: o.name != "o")
        outs = ", ".join(destinations[o.name] for o in results)
        types = ", ".join(self.type(o) for o in results)
        values = ", ".join(f"%r{i}" for i in range(len(results)))
        options = " ".join(x for x in (f(p) for f in _OPTIONS.values()) if x)
        clauses = f"    {values} = hla.{p.operator} {options}\n"
        clauses += f"        ins({self.listed('qkv')})"
        clauses += f" log_decay({self.listed('g')})" if p.log_decay else ""
        clauses += f" lengths({self.listed('c')})" if p.has_lengths else ""
        clauses += f" slots({self.listed('n')})" if p.has_slots else ""
        if p.carry_in:
            clauses += (
                f"\n        carry({self.listed(f'{s.name}_in' for s in p.states)})"
            )
        signature = ", ".join(f"%{o.name}: {self.type(o)}" for o in arguments)
        return (
            f"  func.func @{p.name}({signature})\n      -> ({types}) {{\n"
            + "".join(f"    {line}\n" for line in self.lines)
            + f"{clauses}\n        outs({outs} : {types}) -> {types}\n"
            + f"    return {values} : {types}\n  }}\n"
        )

    def listed(self, names):
        operands = [self.operands[n] for n in names]
        values = ", ".join(f"%{o.name}" for o in operands)
        return f"{values} : {', '.join(self.type(o) for o in operands)}"

    def type(self, operand):
        rank = len(operand.shape)
        fixed = {4: 1 if operand.is_sequence else 2}.get(rank, 0)
        dims = [
            str(n) if self.is_static or i >= rank - fixed else "?"
            for i, n in enumerate(operand.shape)
        ]
        # With lengths there is one batch, which the type says.
        has_batch = operand.is_sequence or (operand.name == "g" and rank == 3)
        if self.program.has_lengths and has_batch:
            dims[0] = "1"
        if self.program.tokens is not None and has_batch:
            dims[1 if self.program.layout == "bthd" else 2] = str(self.program.tokens)
        return f"tensor<{'x'.join([*dims, operand.dtype])}>"

    def make(self, operand):
        """Appends what makes a destination; returns its name."""
        extents = [
            self.extent(operand, i)
            for i, n in enumerate(self.type(operand)[7:].split("x"))
            if n == "?"
        ]
        kind = self.type(operand)
        self.lines.append(
            f"%e_{operand.name} = tensor.empty({', '.join(extents)}) : {kind}"
        )
        return f"%e_{operand.name}"

    def extent(self, operand, dim):
        """An index: one extent of a result, from the arguments."""
        p = self.program
        head = 2 if p.layout == "bthd" else 1
        if not operand.is_sequence:
            if dim == 0 and p.has_slots:
                return self.dim(f"{p.states[0].name}_in", 0)
            if dim == 0 and p.has_lengths:
                return self.sequences()
            # Of [B, H, d, dv], as of a sequence.
            dim = 0 if dim == 0 else head
        if dim != head:
            return self.dim("v", dim)
        heads = self.dim("v", dim)
        group = self.program.groups[-1] if self.program.groups else 1
        return heads if group == 1 else self.arith("muli", heads, group, "heads")

    def sequences(self):
        if self.program.carry_in:
            return self.dim(f"{self.program.states[0].name}_in", 0)
        return self.arith("subi", self.dim("c", 0), 1, "sequences")

    def dim(self, name, dim):
        value = f"%{name}_{dim}"
        self.once(f"%c{dim} = arith.constant {dim} : index")
        kind = self.type(self.operands[name])
        self.once(f"{value} = tensor.dim %{name}, %c{dim} : {kind}")
        return value

    def arith(self, op, value, constant, name):
        self.once(f"%c{constant} = arith.constant {constant} : index")
        self.once(f"%{name} = arith.{op} {value}, %c{constant} : index")
        return f"%{name}"

    def once(self, line):
        if line not in self.lines:
            self.lines.append(line)


def sequence_type(layout, width, dtype, extents=None):
    """The type of a sequence of H heads; with ``extents`` static."""
    dims = ["?"] * 3
    if extents is not None:
        b, t, h = extents.batch, extents.tokens, extents.heads
        dims = (b, t, h) if layout == "bthd" else (b, h, t)
    return f"tensor<{'x'.join(map(str, [*dims, width, dtype]))}>"


def module(programs, extents=None):
    """The text of a module that holds ``programs``."""
    return "module {\n" + "\n".join(p.mlir(extents) for p in programs) + "}\n"


def changed_fields(program):
    """The fields that differ from their defaults, and those without one."""
    return {
        f.name: getattr(program, f.name)
        for f in dataclasses.fields(program)
        if getattr(program, f.name) != f.default
    }


_NAMED_BY_VALUE = (
    "operator",
    "dtype",
    "layout",
    "variant",
    "normalize",
    "precision",
)


def make_name(program, *parts):
    """A function name that tells the parameters."""
    parts = list(parts)
    for name, value in changed_fields(program).items():
        if isinstance(value, tuple):
            value = "_".join(map(str, value))
        if value is True:
            parts.append(name)
        elif name in _NAMED_BY_VALUE:
            parts.append(value)
        else:
            parts.append(f"{name}{value}")
    text = "_".join(parts)
    return "".join(
        c if c.isalnum() or c == "_" else {"-": "m"}.get(c, "p") for c in text
    )


def describe(program):
    return {"kind": type(program).__name__, **changed_fields(program)}
