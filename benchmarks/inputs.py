# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors of a case, what it computes from them, and how far a kernel may be."""

import functools
import math

import numpy as np
import torch

from cases import MASKED
from hla import reference
from programs import Extents

_TORCH = {"bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32}

# Of products of f32: the type of ``reference.tolerance``, and a factor of its bound.
# tf32 rounds operands to the mantissa of f16; bf16x3 is exact to 2^-15 of a product.
_BOUND_OF_PRECISION = {"f32": ("f32", 1), "tf32": ("tf32", 1), "bf16x3": ("bf16x3", 1)}


class Inputs:
    """The tensors of one case, by the names of its operands.

    arrays: what they hold, in float64.
    """

    def __init__(self, case, shape, seed):
        self.case = case
        self.program = case.program(shape[3])
        self.extents = case.extents(shape)
        self.arrays = self._draw(seed)
        self.tensors = {}
        for operand in self.program.operands(self.extents):
            dtype = _TORCH[operand.dtype]
            if operand.reads:
                values = torch.as_tensor(self.arrays[operand.reads])
                tensor = values.to("cuda", dtype).contiguous()
            else:
                tensor = torch.empty(operand.shape, dtype=dtype, device="cuda")
            self.tensors[operand.name] = tensor

    def _draw(self, seed):
        p, e = self.program, self.extents
        shape = (e.batch, e.tokens, e.heads)
        like = torch.empty(0, device="cuda")
        gq, gkv = p.groups or (1, 1)
        q, k, v = reference.random_inputs(
            seed,
            (*shape, p.d),
            p.dv,
            dtype=p.dtype,
            features=self.case.features,
            groups=(gq, gkv, gkv),
            like=like,
        )
        arrays = {"q": q, "k": k, "v": v}
        if p.log_decay:
            shape = shape if p.log_decay == "token" else shape[2:]
            arrays["g"] = reference.random_log_decay(seed, shape, like=like)
        if p.has_lengths:
            arrays["c"] = np.array(e.lengths, np.int32)
        return arrays

    def _arguments(self):
        options = self.program.options()
        if "g" in self.arrays:
            options["log_decay"] = self.arrays["g"]
        if "c" in self.arrays:
            options["lengths"] = self.extents.lengths
        return [self.arrays[n] for n in "qkv"], options

    @functools.cached_property
    def exact(self):
        """The output in float64, and the states."""
        arrays, options = self._arguments()
        return self.program.evaluate(*arrays, form="chunked", **options)

    def bound(self, error):
        """How far a kernel's output may be, given how far it is.

        What cancels in the problem itself, by ``reference.condition``, takes a while to
        find out, and only an ``error`` above the bound of one that does not needs it.
        """
        dtype, factor = self.program.dtype, 1
        if self.case.precision:
            dtype, factor = _BOUND_OF_PRECISION[self.case.precision]
        a_scan = 3 if self.program.is_decayed else 2
        roundings = a_scan * self.program.kind.scans
        bound = factor * reference.tolerance(dtype, roundings=roundings)
        if not math.isfinite(error) or error <= bound:
            return bound
        arrays, options = self._arguments()
        condition, _ = reference.condition(
            self.program.evaluate, *arrays, exact=self.exact, **options
        )
        return factor * reference.tolerance(
            dtype, roundings=roundings, condition=condition.whole
        )

    def forget_arrays(self):
        """Frees what is in float64."""
        self.arrays = None
        self.__dict__.pop("exact", None)

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
