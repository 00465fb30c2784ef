# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments on the device: random values, poisoned surroundings, views of all kinds."""

import math
from dataclasses import dataclass
from typing import Any

import torch

from hla import reference

TORCH = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
}

# A NaN in bf16 and f16, and, twice over, in f32. No kernel writes this one.
SENTINEL = 0x7FA5

# Elements before, behind and between: far enough for a whole tile to stray into.
GUARD = 8192

# Layouts of one argument in memory.
VIEWS = ("dense", "padded", "sliced", "transposed")


@dataclass
class Guarded:
    """A tensor that is a view of a larger buffer full of sentinels."""

    view: Any
    buffer: Any

    def fill(self, values):
        self.view.copy_(values)
        return self

    def poison(self):
        self.buffer.view(torch.int16).fill_(SENTINEL)
        return self

    def untouched(self):
        """Whether the whole buffer, the view included, is as poison() left it."""
        return bool((self.buffer.view(torch.int16) == SENTINEL).all())

    def surroundings_untouched(self):
        """Whether every element outside the view is as poison() left it."""
        changed = (self.buffer.view(torch.int16) != SENTINEL).reshape(
            self.buffer.numel(), -1
        )
        changed = changed.any(1)
        offset = self.view.storage_offset()
        inside = changed.as_strided(self.view.shape, self.view.stride(), offset)
        inside.fill_(False)
        return not bool(changed.any())


def guarded(shape, dtype, kind="dense"):
    """A poisoned ``[a, b, c, w]`` tensor laid out as ``kind`` says.

    padded: rows of w + 8 elements. sliced: the middle of a tensor that is larger in
    every dimension, as one of three packed projections is. transposed: dimensions 1
    and 2 in the other order in memory. Rows stay aligned to 16 bytes.
    """
    a, b, c, w = shape
    if kind == "dense":
        extents, order, start = (a, b, c, w), (0, 1, 2, 3), (0, 0, 0, 0)
    elif kind == "padded":
        extents, order, start = (a, b, c, w + 8), (0, 1, 2, 3), (0, 0, 0, 0)
    elif kind == "sliced":
        extents, order, start = (a + 2, b + 3, c + 1, 3 * w), (0, 1, 2, 3), (1, 2, 1, w)
    elif kind == "transposed":
        extents, order, start = (a, c, b, w), (0, 2, 1, 3), (0, 0, 0, 0)
    else:
        raise ValueError(f"expected a view of {VIEWS}, but got {kind!r}")
    strides = [math.prod(max(n, 1) for n in extents[i + 1 :]) for i in range(4)]
    offset = GUARD + sum(s * t for s, t in zip(start, (strides[i] for i in order)))
    return strided(shape, [strides[i] for i in order], dtype, offset)


def strided(shape, strides, dtype, offset=GUARD):
    """A poisoned tensor of these strides, with guards before and behind."""
    last = sum((max(n, 1) - 1) * s for n, s in zip(shape, strides))
    # Without elements the view still needs a place to stand.
    size = offset + last + 1 + GUARD
    buffer = torch.empty(size + size % 2, dtype=TORCH[dtype], device="cuda")
    return Guarded(buffer.as_strided(shape, strides, offset), buffer).poison()


def random_values(program, seed, batch, tokens, heads):
    """``make_inputs`` of the program, by the device's generator: same distribution."""
    generator = torch.Generator("cuda").manual_seed(seed)

    def normal(shape):
        return torch.randn(shape, generator=generator, device="cuda")

    qk = program.sequence_shape(batch, tokens, heads, program.d)
    q = normal(qk)
    k = (q + normal(qk)) / math.sqrt(2.0)
    v = normal(program.sequence_shape(batch, tokens, heads, program.dv))
    if program.dtype == "f16":
        # Operators grow as |q|²|k|² and with T, and f16 ends at 65504.
        q, k = (x / x.norm(dim=-1, keepdim=True) for x in (q, k))
    values = [x.to(TORCH[program.dtype]) for x in (q, k, v)]
    if getattr(program, "carry_in", False):
        values.append(normal((batch, heads, program.d, program.dv)))
    return values


@dataclass
class Problem:
    """A program's arguments of one size, inputs filled and outputs poisoned."""

    program: Any
    extents: tuple
    inputs: list
    outputs: list

    @property
    def arguments(self):
        return [x.view for x in (*self.inputs, *self.outputs)]

    def expected(self):
        return self.program.expected(*(x.view for x in self.inputs))

    def check(self):
        """Outputs against the reference, surroundings against the poison."""
        torch.cuda.synchronize()
        for operand, out, ref in zip(
            self.program.outputs(*self.extents),
            self.outputs,
            self.expected(),
            strict=True,
        ):
            assert out.surroundings_untouched(), f"written outside {operand.name}"
            error = reference.error(out.view, ref)
            assert error <= operand.tolerance, (operand.name, error)
            if operand.is_sequence and out.view.numel():
                tolerance = reference.tolerance(
                    self.program.dtype, rows=self.extents[1]
                )
                worst = reference.worst_error(out.view, ref, layout=self.program.layout)
                bound = 1.25 * max(tolerance, operand.tolerance)
                assert worst <= bound, (operand.name, worst)


def make_problem(program, extents, kind="dense", seed=0):
    """Inputs and outputs of ``program`` at B, T, H = ``extents``, all of one view."""
    values = random_values(program, seed, *extents)

    def allocate(operand):
        layout = kind if operand.is_sequence else "dense"
        return guarded(operand.shape, operand.dtype, layout)

    inputs = [
        allocate(operand).fill(value)
        for operand, value in zip(program.input_operands(*extents), values, strict=True)
    ]
    outputs = [allocate(operand) for operand in program.outputs(*extents)]
    return Problem(program, extents, inputs, outputs)


def launch(case, arguments, stream=None):
    """Launches the case's bundle on torch tensors, on torch's current stream."""
    stream = stream or torch.cuda.current_stream()
    case.bundle(*arguments, stream=stream.cuda_stream)
