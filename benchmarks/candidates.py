# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways to compute a case, on tensors of one device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable

import torch

from hla.runtime import Bundle
from peers import chunked, fused, recurrent
from peers.composition import Composition
from timing import time_launches

# The peer's nearest mode.
_PEER_PRECISION = {None: None, "f32": "ieee", "tf32": "tf32", "bf16x3": "tf32x3"}

# How much further from the reference a peer may be: what a library returns from each
# of its calls is rounded, what a kernel keeps is not.
PEER_TOLERANCE = 4.0

# What the recurrent peer takes, by name.
_DECODED = ("q", "k", "v", "S_in", "F_in", "o")


@dataclass
class Candidate:
    """bind(on(inputs)) gives a launch, after which on(inputs).written() has the results."""

    name: str
    bind: Callable
    on: Callable = lambda inputs: inputs
    # How the settings read that it is launched with, once it was.
    note: Callable = lambda: ""
    # Of the bound on its error; None where it computes something else.
    tolerance: float | None = 1.0


def bundle_candidate(path, name, on):
    """The compiler's kernel."""
    bundle = Bundle(str(path))

    def bind(inputs):
        stream = torch.cuda.current_stream().cuda_stream
        tensors = list(inputs.tensors.values())
        return lambda: bundle(*tensors, stream=stream)

    return Candidate(name, bind, on)


class Tuner:
    """The fastest settings of a first-order call, once for every key, as an autotuner."""

    def __init__(self):
        self.chosen = {}

    def __call__(self, call, key):
        if key not in self.chosen:
            space = chunked.configurations(key.width, key.columns, key.precision)
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
    return _tuned("triton_fused", bind, space, inputs)


def _tuned(name, bind, space, inputs):
    """A peer whose ``bind(inputs, settings)`` gives a launch, at its fastest of ``space``."""
    settings = fastest(space, lambda s: [bind(x, s) for x in inputs])
    return Candidate(
        name,
        lambda x: bind(x, settings),
        note=lambda: _describe(settings),
        tolerance=PEER_TOLERANCE,
    )


def composition_candidate(name, inputs, tuner, on=lambda inputs: inputs):
    """The operator as first-order calls in Triton."""
    first = on(inputs[0])
    program, extents = first.program, first.extents
    kind, epsilon = program.normalize or ("add", None)
    if kind != "add" or program.scale != 1.0 or program.reading != "causal":
        raise ValueError(f"expected options that are composed here, got {program}")
    constant = None
    if program.decay != 1.0:
        constant = torch.full((1, 1, 1), math.log(program.decay), device="cuda")
        constant = constant.expand(*extents[:3])
    composition = Composition(
        first.case.graph(),
        extents[:3],
        first.tensors,
        tuner,
        groups=program.groups or (1, 1),
        epsilon=epsilon,
        precision=_PEER_PRECISION[first.case.precision],
    )

    def bind(x):
        q, k, v, out = (x.tensors[n] for n in ("q", "k", "v", "o"))
        gates = x.tensors.get("g", constant)
        if gates is not None:
            gates = gates.expand(*extents[:3])
        return lambda: composition.launch(q, k, v, out, gates)

    def note():
        return "; ".join(
            f"{key.width}×{key.columns}: {_describe(settings)}"
            for key, settings in composition.settings.items()
        )

    return Candidate(name, bind, on, note, PEER_TOLERANCE)


def decode_candidate(inputs):
    """One token of masked second order in Triton, states in place, at its fastest."""

    def bind(x, settings):
        q, k, v, s, f, out = (x.tensors[n] for n in _DECODED)
        return lambda: recurrent.launch(q, k, v, s, f, out, **settings)

    space = recurrent.configurations()
    return _tuned("triton_recurrent", bind, space, inputs)


def softmax_candidate():
    """Causal softmax attention: another operator, for orientation."""

    def bind(x):
        q, k, v = (x.tensors[n].transpose(1, 2) for n in "qkv")
        attend = torch.nn.functional.scaled_dot_product_attention
        return lambda: attend(q, k, v, is_causal=True)

    return Candidate("softmax", bind, tolerance=None)
