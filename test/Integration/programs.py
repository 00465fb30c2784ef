# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of the integration tests: IR text, inputs, expected values, bounds.

A program is one entry function. Each class says how it is written in the hla
dialect, and what it computes by ``hla.reference``; the IR's syntax stands in this
file alone. ``describe`` and ``from_description`` carry a program through JSON to a
machine that has only the compiled kernel.
"""

from dataclasses import asdict, dataclass, fields, replace
from typing import ClassVar

import numpy as np

from hla import reference


def state_dtype(dtype):
    """The type of a scan's state: sums are f32, or f64 where an operand is."""
    return "f64" if dtype == "f64" else "f32"


@dataclass(frozen=True)
class Operand:
    """One argument or result of an entry function."""

    name: str
    shape: tuple
    dtype: str
    # How far a correct kernel may be from the reference, for an operand written.
    tolerance: float = 0.0
    # Tokens of one head that an error is averaged over, 0 for a state.
    is_sequence: bool = True


@dataclass(frozen=True)
class _Program:
    dtype: str
    layout: str
    d: int
    dv: int

    kind: ClassVar[str]
    # What the compiler's tools are told beside the program.
    options: ClassVar[tuple] = ()

    @property
    def name(self):
        """A function name that tells the parameters."""
        parts = [self.kind]
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool):
                parts += [field.name] if value else []
            elif isinstance(value, float):
                parts += [f"{field.name}{value:g}".replace(".", "p")]
            else:
                parts += [f"d{value}" if isinstance(value, int) else value]
        return "_".join(parts)

    def sequence_shape(self, batch, tokens, heads, width):
        order = (tokens, heads) if self.layout == "bthd" else (heads, tokens)
        return (batch, *order, width)

    def make_inputs(self, seed, batch, tokens, heads):
        """Arguments in order: float64 arrays whose values are exact in ``dtype``."""
        return list(
            reference.random_inputs(
                seed,
                (batch, tokens, heads, self.d),
                self.dv,
                dtype=self.dtype,
                layout=self.layout,
            )
        )

    def input_operands(self, batch, tokens, heads):
        def shape(width):
            return self.sequence_shape(batch, tokens, heads, width)

        return [
            Operand("q", shape(self.d), self.dtype),
            Operand("k", shape(self.d), self.dtype),
            Operand("v", shape(self.dv), self.dtype),
        ]

    def output_operands(self, batch, tokens, heads, scans):
        shape = self.sequence_shape(batch, tokens, heads, self.dv)
        rows = batch * tokens * heads
        bound = reference.tolerance(self.dtype, rows=rows, scans=scans)
        return [Operand("o", shape, self.dtype, bound)]

    # IR text. B, T and H are dynamic, feature widths static.

    def _sequence_type(self, width):
        return f"tensor<?x?x?x{width}x{self.dtype}>"

    def _state_type(self):
        return f"tensor<?x?x{self.d}x{self.dv}x{state_dtype(self.dtype)}>"

    def _empty_sequence(self, result, width):
        kind = self._sequence_type(width)
        return f"""\
    {result} = tensor.empty(%n0, %n1, %n2) : {kind}
"""

    def _extents(self):
        kind = self._sequence_type(self.dv)
        return "".join(
            f"""\
    %c{i} = arith.constant {i} : index
    %n{i} = tensor.dim %v, %c{i} : {kind}
"""
            for i in range(3)
        )

    def _sequence_arguments(self):
        qk, v = self._sequence_type(self.d), self._sequence_type(self.dv)
        return [f"%q: {qk}", f"%k: {qk}", f"%v: {v}"]

    def _function(self, arguments, results, body, values):
        signature = ", ".join(results)
        return f"""\
  func.func @{self.name}({", ".join(arguments)})
      -> ({signature}) {{
{self._extents()}{body}    return {", ".join(values)} : {signature}
  }}
"""

    def describe(self):
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class SecondOrder(_Program):
    """One ``hla.second_order``."""

    variant: str = "masked"

    kind: ClassVar[str] = "second_order"

    def mlir(self):
        qk, v = self._sequence_type(self.d), self._sequence_type(self.dv)
        body = self._empty_sequence("%e", self.dv)
        body += f"""\
    %o = hla.second_order variant({self.variant}) layout({self.layout})
        ins(%q, %k, %v : {qk}, {qk}, {v})
        outs(%e : {v}) -> {v}
"""
        return self._function(self._sequence_arguments(), [v], body, ["%o"])

    def outputs(self, batch, tokens, heads):
        return self.output_operands(batch, tokens, heads, scans=2)

    def expected(self, q, k, v):
        form = reference.second_order_blockwise
        return [form(q, k, v, variant=self.variant, layout=self.layout)]


@dataclass(frozen=True)
class PreciseSecondOrder(SecondOrder):
    """The same, with products of a precision that is not the type's own."""

    precision: str = "tf32"

    kind: ClassVar[str] = "precise_second_order"

    @property
    def options(self):
        return (f"--precision={self.precision}",)

    def outputs(self, batch, tokens, heads):
        (output,) = super().outputs(batch, tokens, heads)
        bound = {
            # As f16 rounds; inputs are rounded too: eight roundings for four.
            "tf32": reference.tolerance("f16", rows=tokens, scans=4),
            # Four roundings to 2^-17, and four products less 2^-16 of theirs.
            "bf16x3": 5e-5,
        }.get(self.precision, output.tolerance)
        return [replace(output, tolerance=max(bound, output.tolerance))]


@dataclass(frozen=True)
class Scan(_Program):
    """One ``hla.scan``, with a carry in, a carry out, both or none."""

    exclusive: bool = False
    reverse: bool = False
    decay: float = 1.0
    carry_in: bool = False
    carry_out: bool = False

    kind: ClassVar[str] = "scan"

    def mlir(self):
        qk, v = self._sequence_type(self.d), self._sequence_type(self.dv)
        state = self._state_type()
        arguments = self._sequence_arguments()
        results, values = [v], ["%o"]
        flags = [x for x in ("exclusive", "reverse") if getattr(self, x)]
        flags += [f"decay({self.decay:e})", f"layout({self.layout})"]
        carry, out, out_types = "", "%e", v
        body = self._empty_sequence("%e", self.dv)
        if self.carry_in:
            arguments.append(f"%s: {state}")
            carry = f" carry(%s : {state})"
        if self.carry_out:
            head_extent = "%n2" if self.layout == "bthd" else "%n1"
            body += f"    %f = tensor.empty(%n0, {head_extent}) : {state}\n"
            out, out_types = "%e, %f", f"{v}, {state}"
            results, values = [v, state], ["%o", "%last"]
        body += f"""\
    {", ".join(values)} = hla.scan {" ".join(flags)}
        ins(%q, %k, %v : {qk}, {qk}, {v}){carry}
        outs({out} : {out_types}) -> {out_types}
"""
        return self._function(arguments, results, body, values)

    def make_inputs(self, seed, batch, tokens, heads):
        inputs = super().make_inputs(seed, batch, tokens, heads)
        if self.carry_in:
            shape = (batch, heads, self.d, self.dv)
            carry = np.random.default_rng(seed + 1).standard_normal(shape)
            inputs.append(reference.round_to(carry, state_dtype(self.dtype)))
        return inputs

    def input_operands(self, batch, tokens, heads):
        operands = super().input_operands(batch, tokens, heads)
        if self.carry_in:
            operands.append(self._state_operand("s", batch, heads))
        return operands

    def outputs(self, batch, tokens, heads):
        # A decay scales operands before they are rounded: half a scan's roundings.
        decayed = self.decay != 1.0
        scans = 1.5 if decayed else 1
        operands = self.output_operands(batch, tokens, heads, scans=scans)
        if self.carry_out:
            # Undecayed, a state is a sum of exact products.
            dtype = self.dtype if decayed else state_dtype(self.dtype)
            rows = batch * tokens * heads
            bound = reference.tolerance(dtype, rows=rows, scans=1)
            operands.append(self._state_operand("last", batch, heads, bound))
        return operands

    def expected(self, q, k, v, carry=None):
        y, final = reference.scan(
            q,
            k,
            v,
            layout=self.layout,
            exclusive=self.exclusive,
            reverse=self.reverse,
            decay=self.decay,
            initial=carry,
        )
        return [y, final] if self.carry_out else [y]

    def _state_operand(self, name, batch, heads, tolerance=0.0):
        shape = (batch, heads, self.d, self.dv)
        return Operand(name, shape, state_dtype(self.dtype), tolerance, False)


@dataclass(frozen=True)
class DecayedSecondOrder(_Program):
    """The masked operator with causal decay, written as its two scans."""

    decay: float = 0.9

    kind: ClassVar[str] = "decayed_second_order"

    def mlir(self):
        qk, v = self._sequence_type(self.d), self._sequence_type(self.dv)
        options = f"decay({self.decay:e}) layout({self.layout})"
        body = self._empty_sequence("%eu", self.d)
        body += self._empty_sequence("%eo", self.dv)
        body += f"""\
    %u = hla.scan {options}
        ins(%q, %k, %k : {qk}, {qk}, {qk})
        outs(%eu : {qk}) -> {qk}
    %o = hla.scan {options}
        ins(%q, %u, %v : {qk}, {qk}, {v})
        outs(%eo : {v}) -> {v}
"""
        return self._function(self._sequence_arguments(), [v], body, ["%o"])

    def outputs(self, batch, tokens, heads):
        return self.output_operands(batch, tokens, heads, scans=3)

    def expected(self, q, k, v):
        form = reference.second_order_recurrence
        return [form(q, k, v, layout=self.layout, decay=self.decay)]


def module(programs):
    """The text of a module that holds ``programs``."""
    return "module {\n" + "\n".join(p.mlir() for p in programs) + "}\n"


def static_module(program, batch, tokens, heads):
    """The module of one operator with B, T and H static in its types."""
    shape = program.sequence_shape(batch, tokens, heads, "")
    extents = "x".join(map(str, shape))
    text = module([program]).replace("tensor<?x?x?x", f"tensor<{extents}")
    return text.replace("tensor.empty(%n0, %n1, %n2)", "tensor.empty()")


def from_description(description):
    """The inverse of ``describe``."""
    classes = (SecondOrder, PreciseSecondOrder, Scan, DecayedSecondOrder)
    kinds = {c.kind: c for c in classes}
    arguments = dict(description)
    return kinds[arguments.pop("kind")](**arguments)
