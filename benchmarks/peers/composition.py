# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An operator as calls of first-order attention: how it is had from a library.

Every scan of the operator's graph is one call (``chunked.py``, two kernels), and what
stands between two calls is one kernel (``elementwise.py``). Values between steps go
through memory in the type of the inputs, as a library returns them. A normaliser is
the same calls on a value of ones. Where a library has no such call, this is kinder
than one: grouped heads are read in place, and states of a group are computed once.
"""

from typing import NamedTuple

import torch

from steps import Scan, Sum, dependent_on_values, widths
from peers import chunked, elementwise

# Columns of the value of ones: a tile, as a library pads it to. A call with 16 faulted
# on sm_90 with Triton 3.6, as slices of 32 do in ``fused.py``.
ONES = 64


class Key(NamedTuple):
    """What the fastest settings of a call depend on."""

    shape: tuple
    width: int
    columns: int
    precision: str
    dtype: torch.dtype
    is_decayed: bool


class Composition:
    """The launches of one operator on [batch, tokens, heads] = ``shape``.

    graph: steps of ``steps.py``. groups: of the names q, k and v. choose(call, key):
    the settings that ``call(**settings)`` is fastest with; ``key`` names its kernels.
    """

    def __init__(
        self,
        graph,
        shape,
        inputs,
        choose,
        *,
        groups=(1, 1),
        epsilon=None,
        precision=None,
    ):
        between = [s for s in graph if not isinstance(s, Scan)]
        if groups != (1, 1) and {"q", "k", "v"} & {n for s in between for n in s.reads}:
            raise ValueError(
                "expected no groups (a step between two calls reads an input whole), "
                f"but got {groups}"
            )
        self.graph = graph
        self.shape = shape
        self.choose = choose
        self.settings = {}
        self.groups = {"q": groups[0], "k": groups[1], "v": groups[1]}
        self.epsilon = epsilon
        self.precision = precision
        self.q, self.v = inputs["q"], inputs["v"]
        self.width = widths(graph, self.q.shape[3], self.v.shape[3])
        widest = max(*self.width.values(), ONES if epsilon is not None else 0)
        self.states = chunked.workspace(shape, inputs["k"].shape[3], widest, self.v)
        self.buffers = {
            name: self._empty(self.width[name])
            for step in graph
            for name in step.writes
            if name != "o"
        }
        self.ones = self.unit = None
        if epsilon is not None:
            self.ones = dependent_on_values(graph)
            names = {n for s in graph for n in s.writes if n in self.ones}
            self.unit = {n: self._empty(ONES) for n in names}
            one = self._empty(ONES)[:, :, : shape[2] // groups[1]]
            self.unit["v"] = one.contiguous().fill_(1.0)

    def launch(self, q, k, v, out, log_decay=None):
        """All kernels. log_decay: f32 [B, T, H]; undecayed without."""
        values = {**self.buffers, "q": q, "k": k, "v": v, "o": out}
        for step in self.graph:
            self._execute(step, values, log_decay)
        if self.unit is None:
            return
        values |= self.unit
        for step in self.graph:
            if self.ones & set(step.writes):
                self._execute(step, values, log_decay)
        elementwise.divide(out, self.unit["o"], self.epsilon)

    def _execute(self, step, values, log_decay):
        if isinstance(step, Scan):
            self._scan(step, values, log_decay)
        elif isinstance(step, Sum):
            terms = [(values[name], factor) for name, factor in step.terms]
            elementwise.combine(values[step.result], terms)
        else:
            reads = [values[name] for name in step.reads]
            elementwise.third_order_terms(*reads, *(values[n] for n in step.writes))

    def _scan(self, step, values, log_decay):
        q, k, v = (values[name] for name in step.reads)

        def call(**settings):
            chunked.attend(
                q,
                k,
                v,
                values[step.result],
                self.states,
                log_decay=log_decay,
                is_exclusive=step.is_exclusive,
                groups=tuple(self.groups.get(name, 1) for name in step.reads),
                precision=self.precision,
                **settings,
            )

        # Exclusive or not, what is fast does not differ.
        key = Key(
            self.shape,
            k.shape[3],
            v.shape[3],
            self.precision,
            v.dtype,
            log_decay is not None,
        )
        self.settings[key] = self.choose(call, key)
        call(**self.settings[key])

    def _empty(self, width):
        return torch.empty(
            (*self.shape, width), dtype=self.v.dtype, device=self.v.device
        )
