# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to compute a case, on tensors of one device."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Callable

import numpy as np
import torch

from cases import MASKED
from configurations import Configuration, Problem
from peers import fused
from peers.composition import Composition
from programs import Extents
from timing import time_launches

_TORCH = {"bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32}

# Of products of f32: the type of ``reference.tolerance``, and a factor of its bound.
# tf32 rounds operands to the mantissa of f16; bf16x3 is exact to 2^-15 of a product.
_BOUND_OF_PRECISION = {"ieee": ("f32", 1.0), "tf32": ("f16", 1.0), "bf16x3": ("f16", 2**-4)}

# The peer's nearest mode.
_PEER_PRECISION = {None: "tf32", "ieee": "ieee", "tf32": "tf32", "bf16x3": "tf32x3"}

# How much further from the reference a peer may be: what a library returns from each
# of its calls is rounded, what a kernel keeps is not.
PEER_TOLERANCE = 4.0


class Inputs:
    """The tensors of one case, by the names of its operands."""

    def __init__(self, case, shape, seed):
        self.case = case
        self.program = case.program(shape[3])
        self.extents = case.extents(shape)
        configuration = Configuration(
            self.program, self.extents, features=case.features
        )
        like = torch.empty(0, device="cuda")
        self.problem = Problem(configuration, like, seed, 0)
        self.tensors = {}
        for operand in self.program.operands(self.extents):
            dtype = _TORCH[operand.dtype]
            if operand.reads:
                values = torch.as_tensor(self.problem.inputs[operand.reads])
                tensor = values.to("cuda", dtype).contiguous()
            else:
                tensor = torch.empty(operand.shape, dtype=dtype, device="cuda")
            self.tensors[operand.name] = tensor

    def forget_problem(self):
        """Frees the values in float64."""
        self.problem = None

    def bound(self):
        """How far a kernel's output may be from the expected one."""
        (output,) = (
            o for o in self.program.operands(self.extents) if o.name == "o"
        )
        dtype, factor = self.program.dtype, 1.0
        if self.case.precision:
            dtype, factor = _BOUND_OF_PRECISION[self.case.precision]
        return factor * self.problem.bounds(output, dtype)[0]

    @functools.cached_property
    def padded(self):
        return Padded(self)

    def poison(self):
        self.tensors["o"].fill_(math.nan)

    def output(self):
        return self.tensors["o"]


class Padded:
    """Packed sequences side by side, padded with zeros to the longest."""

    def __init__(self, packed):
        self.case = MASKED
        ends = np.array(packed.extents.lengths)
        counts = np.diff(ends)
        self.extents = Extents(len(counts), int(counts.max()), packed.extents.heads)
        self.program = self.case.program(packed.program.d)
        sequence = np.repeat(np.arange(len(counts)), counts)
        token = np.arange(ends[-1]) - ends[sequence]
        self.at = tuple(torch.as_tensor(x, device="cuda") for x in (sequence, token))
        self.tensors = {}
        for operand in self.program.operands(self.extents):
            source = packed.tensors[operand.name]
            tensor = torch.zeros(operand.shape, dtype=source.dtype, device="cuda")
            tensor[self.at] = source[0]
            self.tensors[operand.name] = tensor

    def poison(self):
        self.tensors["o"].fill_(math.nan)

    def output(self):
        return self.tensors["o"][self.at][None]


@dataclass
class Candidate:
    """bind(on(inputs)) gives a launch, after which on(inputs).output() is the result."""

    name: str
    bind: Callable
    on: Callable = lambda inputs: inputs
    # How the settings read that it is launched with, once it was.
    note: Callable = lambda: ""
    # Of the bound on its error; None where it computes something else.
    tolerance: float | None = 1.0


def bundle_candidate(path, name="hla"):
    """The compiler's kernel."""
    from hla.runtime import Bundle

    bundle = Bundle(str(path))

    def bind(inputs):
        stream = torch.cuda.current_stream().cuda_stream
        tensors = list(inputs.tensors.values())
        return lambda: bundle(*tensors, stream=stream)

    return Candidate(name, bind)


class Tuner:
    """Settings by what they are for: the fastest of ``configurations(width, columns)``.

    As an autotuner does it, once for every key.
    """

    def __init__(self, configurations):
        self.configurations = configurations
        self.chosen = {}

    def __call__(self, call, key):
        if key not in self.chosen:
            width, columns = key[3:5]
            space = self.configurations(width, columns)
            self.chosen[key] = fastest(space, lambda s: [lambda: call(**s)])
        return self.chosen[key]


def fastest(space, launches):
    """The settings of ``space`` whose ``launches(settings)`` take the least time."""
    best = None
    for settings in space:
        try:
            time = sorted(time_launches(launches(settings), 9))[4]
        except Exception as failure:  # noqa: BLE001
            # Settings that the card cannot hold are none.
            if "OutOfResources" not in type(failure).__name__:
                raise
            continue
        if best is None or time < best[0]:
            best = time, settings
    return best[1]


def _describe(settings):
    return ", ".join(f"{k}={v}" for k, v in settings.items())


def fused_candidate(inputs):
    """Masked second order, fused by hand in Triton, as it is fastest on these inputs."""

    def bind(x, settings):
        q, k, v, out = x.tensors.values()
        return lambda: fused.launch(q, k, v, out, **settings)

    q, _, v, _ = inputs[0].tensors.values()
    space = fused.configurations(q.shape[3], v.shape[3])
    settings = fastest(space, lambda s: [bind(x, s) for x in inputs])
    return Candidate(
        "triton_fused",
        lambda x: bind(x, settings),
        note=lambda: _describe(settings),
        tolerance=PEER_TOLERANCE,
    )


def composition_candidate(inputs, tuner):
    """The operator as first-order calls in Triton. inputs: one set, or one padded."""
    program, extents = inputs.program, inputs.extents
    kind, epsilon = program.normalize or ("add", None)
    if kind != "add" or program.scale != 1.0 or program.reading != "causal":
        raise ValueError(f"expected options that are composed here, got {program}")
    constant = None
    if program.decay != 1.0:
        constant = torch.full((1, 1, 1), math.log(program.decay), device="cuda")
        constant = constant.expand(*extents[:3])
    composition = Composition(
        inputs.case.graph(),
        extents[:3],
        inputs.tensors,
        tuner,
        groups=program.groups or (1, 1),
        epsilon=epsilon,
        precision=_PEER_PRECISION[inputs.case.precision],
    )

    def bind(x):
        q, k, v, out = (x.tensors[n] for n in ("q", "k", "v", "o"))
        gates = x.tensors.get("g", constant)
        if gates is not None:
            gates = gates.expand(*extents[:3])
        return lambda: composition.launch(q, k, v, out, gates)

    def note():
        chosen = {f"{k}×{c}": s for (*_, k, c, _, _, _), s in composition.settings.items()}
        return "; ".join(f"{n}: {_describe(s)}" for n, s in chosen.items())

    return Candidate("composition", bind, note=note, tolerance=PEER_TOLERANCE)


def softmax_candidate():
    """Causal softmax attention: another operator, for orientation."""

    def bind(x):
        q, k, v = (x.tensors[n].transpose(1, 2) for n in "qkv")
        attend = torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(q, k, v, is_causal=True)

    return Candidate("softmax", bind, tolerance=None)
