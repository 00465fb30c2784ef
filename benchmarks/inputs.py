# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors of a case, what it computes from them, and how far a kernel may be."""

import functools
import math

import numpy as np
import torch

import configurations
from cases import MASKED
from configurations import Configuration, Problem
from hla import reference
from programs import Extents

_TORCH = {"bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32}


class Inputs:
    """The tensors of one case, by the names of its operands.

    problem: what they hold, in float64, and what is expected of it; None once forgotten.
    """

    def __init__(self, case, shape, seed):
        self.case = case
        self.program = case.program(shape[3])
        self.extents = case.extents(shape)
        configuration = Configuration(self.program, self.extents, seed, case.features)
        drawn = configurations.Inputs(
            configuration, seed, torch.empty(0, device="cuda")
        ).draw()
        self.problem = Problem(configuration, drawn)
        self.tensors, self._initial = {}, {}
        for operand in self.program.operands(self.extents):
            dtype = _TORCH[operand.dtype]
            tensor = torch.full(operand.shape, math.nan, dtype=torch.float32)
            if operand.reads:
                tensor = torch.as_tensor(drawn[operand.reads])
            tensor = tensor.to("cuda", dtype).contiguous()
            self.tensors[operand.name] = tensor
            if operand.writes:
                self._initial[operand.name] = tensor.clone()

    def reset(self):
        """What is written is as it was drawn, or NaN where nothing of it is read."""
        for name, initial in self._initial.items():
            self.tensors[name].copy_(initial)

    def written(self):
        """Tensors by the names of what they hold: the output, and final states."""
        operands = self.program.operands(self.extents)
        return {o.writes: self.tensors[o.name] for o in operands if o.writes}

    def bound(self, error):
        """How far a kernel's output may be, given how far it is.

        What cancels in the problem itself, by ``reference.condition``, takes a while to
        find out, and only an ``error`` above the bound of one that does not needs it.
        """
        dtype = self.case.precision or self.program.dtype
        a_scan = 3 if self.program.is_decayed else 2
        roundings = a_scan * self.program.kind.scans
        bound = reference.tolerance(dtype, roundings=roundings)
        if not math.isfinite(error) or error <= bound:
            return bound
        return reference.tolerance(
            dtype, roundings=roundings, condition=self.problem.conditions["o"].whole
        )

    def forget_problem(self):
        """Frees what is in float64."""
        self.problem = None

    @functools.cached_property
    def padded(self):
        return Padded(self)


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

    def reset(self):
        self.tensors["o"].fill_(math.nan)

    def written(self):
        return {"o": self.tensors["o"][self.at][None]}
