# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments on the device: random values, poisoned surroundings, views of all kinds."""

import dataclasses
import itertools
from dataclasses import dataclass
from typing import Any

import torch
from configurations import Configuration
from programs import Extents, Slots

TORCH = {
    "i32": torch.int32,
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
    """A poisoned tensor laid out as ``kind`` says.

    padded: rows of w + 8 elements. sliced: the middle of a tensor that is larger in
    every dimension, as one of three packed projections is. transposed: dimensions 1
    and 2 in the other order in memory. Rows stay aligned as they are when dense, to 16
    bytes for widths of 8. Tensors of one dimension are dense, and those of three are
    not transposed, which would take their last stride from 1.
    """
    *outer, w = shape
    order, start = list(range(len(shape))), [0] * len(shape)
    if kind not in VIEWS:
        raise ValueError(f"expected a view of {VIEWS}, but got {kind!r}")
    if kind == "padded":
        extents = (*outer, w + 8)
    elif kind == "sliced" and outer:
        extents = (*(n + i + 1 for i, n in enumerate(outer)), 3 * w)
        start = [*(i // 2 + 1 for i in range(len(outer))), w]
    else:
        extents = shape
    if kind == "transposed" and len(shape) == 4:
        order[1], order[2] = 2, 1
    # Strides of the dimensions as they stand in memory, outermost first.
    stride, strides = 1, [0] * len(shape)
    for i in reversed(order):
        strides[i] = stride
        stride *= max(extents[i], 1)
    offset = GUARD + sum(s * t for s, t in zip(start, strides))
    return strided(shape, strides, dtype, offset)


def strided(shape, strides, dtype, offset=GUARD):
    """A poisoned tensor of these strides, with guards before and behind."""
    last = sum((max(n, 1) - 1) * s for n, s in zip(shape, strides))
    # Without elements the view still needs a place to stand.
    size = offset + last + 1 + GUARD
    buffer = torch.empty(size + size % 2, dtype=TORCH[dtype], device="cuda")
    return Guarded(buffer.as_strided(shape, strides, offset), buffer).poison()


@dataclass
class Launch:
    """A configuration's arguments on the device, inputs filled and outputs poisoned."""

    problem: Any
    # By names of operands; one that is read and written is in both.
    read: dict
    written: dict

    @property
    def program(self):
        return self.problem.program

    @property
    def inputs(self):
        return list(self.read.values())

    @property
    def outputs(self):
        return list(self.written.values())

    @property
    def arguments(self):
        """In the order of the ABI."""
        return [x.view for x in (self.read | self.written).values()]

    def check(self):
        """Outputs against what the inputs, as they are now, should give; surroundings
        against the poison. Inputs that the kernel overwrites are as they were drawn."""
        torch.cuda.synchronize()
        inputs = dict(self.problem.inputs)
        for operand in self.program.operands(self.problem.extents):
            if operand.reads and not operand.writes and operand.dtype != "i32":
                inputs[operand.reads] = self.read[operand.name].view.double()
        problem = dataclasses.replace(self.problem, inputs=inputs)
        for name, out in self.written.items():
            assert out.surroundings_untouched(), f"written outside {name}"
        outputs = {name: out.view for name, out in self.written.items()}
        failures = problem.failures(outputs, self.program.operand_dtype)
        assert not failures, failures


def make_launch(configuration, views, state_views=("dense",)):
    """Arguments of ``configuration``; each takes the next of the views, in turn."""
    problem = configuration.problem(torch.zeros(0, device="cuda"))
    views, state_views = itertools.cycle(views), itertools.cycle(state_views)
    read, written = {}, {}
    for operand in configuration.program.operands(configuration.extents):
        kind = next(state_views if operand.is_state else views)
        tensor = guarded(operand.shape, operand.dtype, kind)
        if operand.reads:
            values = problem.inputs[operand.reads]
            read[operand.name] = tensor.fill(torch.as_tensor(values))
        if operand.writes:
            written[operand.name] = tensor
    return Launch(problem, read, written)


def make_problem(program, extents, kind="dense", seed=0):
    """Arguments of ``program`` at B, T, H = ``extents``, all sequences of one view."""
    extents = Extents(*extents)
    if getattr(program, "has_slots", False):
        extents = extents._replace(slots=some_slots(extents.sequences))
    return make_launch(Configuration(program, extents, seed), (kind,))


def some_slots(sequences):
    """From the last of more states than sequences; every third one is no state."""
    states = sequences + 2
    nowhere = itertools.cycle((-1, states, 2**31 - 1, -(2**31)))
    numbers = [
        next(nowhere) if i % 3 == 1 else states - 1 - i for i in range(sequences)
    ]
    return Slots(states, tuple(numbers))


def launch(case, arguments, stream=None):
    """Launches the case's bundle on torch tensors, on torch's current stream."""
    stream = stream or torch.cuda.current_stream()
    case.bundle(*arguments, stream=stream.cuda_stream)
