# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One row of the results: every candidate checked, then all timed in turn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch

import candidates as ways
import hla.runtime
from cases import MASKED
from compilation import find
from hla import reference
from inputs import Inputs
from timing import percentiles, time_launches

# Launches of a candidate in a round; rounds alternate the candidates, so that a change
# of clocks meets all of them.
LAUNCHES = 15

# Inputs taken in turn hold this many times the second-level cache.
CACHE_MULTIPLE = 4


# What may fail without the other: the compiler's kernels, and what they compare with.
PARTS = ("hla", "peers")


@dataclass(frozen=True)
class Settings:
    """What all rows share."""

    bundles: Path | None
    target: str
    rounds: int
    has_softmax: bool


class Comparison:
    """Measures rows, one after the other."""

    def __init__(self, settings):
        self.settings = settings
        self.tuner = ways.Tuner()
        self.cache_bytes = torch.cuda.get_device_properties(0).L2_cache_size

    def measure(self, row, parts):
        """The row's results and what is missing, by the names of candidates."""
        size = row.case.cost(row.shape).bytes
        count = max(2, math.ceil(CACHE_MULTIPLE * self.cache_bytes / size))
        inputs = [Inputs(row.case, row.shape, seed) for seed in range(count)]
        for x in inputs[1:]:
            x.forget_problem()

        compared, missing = [], {}
        if "hla" in parts and self.settings.bundles:
            compared, missing = self._bundles(row, inputs)
        if "peers" in parts:
            compared += self._peers(row, inputs)
        checks = {c.name: _check(c, inputs) for c in compared if c.tolerance}
        inputs[0].forget_problem()
        times = {c.name: [] for c in compared}
        for _ in range(self.settings.rounds):
            for c in compared:
                launches = [c.bind(c.on(x)) for x in inputs]
                times[c.name] += time_launches(launches, LAUNCHES)
        results = {
            c.name: {
                **percentiles(times[c.name]),
                **checks.get(c.name, {}),
                "note": c.note(),
            }
            for c in compared
        }
        return {"input_sets": count, "results": results, "missing": missing}

    def _bundles(self, row, inputs):
        """(candidates, why some are none)."""
        wanted = [("hla", row.case, _itself)]
        if row.table == "lengths":
            wanted.append(("hla_padded", MASKED, _padded))
        compared, missing = [], {}
        for name, case, on in wanted:
            width, settings = row.shape[3], self.settings
            path, message = find(settings.bundles, case, width, settings.target)
            if path:
                # What the runtime refuses is missing as well.
                try:
                    candidate = ways.bundle_candidate(path, name, on)
                    candidate.bind(on(inputs[0]))()
                    compared.append(candidate)
                except hla.runtime.Error as error:
                    message = str(error)
            if message:
                missing[name] = message
        return compared, missing

    def _peers(self, row, inputs):
        if row.table == "sweep":
            return [ways.fused_candidate(inputs)]
        if row.table == "decode":
            return [ways.decode_candidate(inputs)]
        if row.table == "masked":
            composition = ways.composition_candidate(
                "two_chunked_calls", inputs, self.tuner
            )
            peers = [ways.fused_candidate(inputs), composition]
            return peers + [ways.softmax_candidate()] * self.settings.has_softmax
        if row.table == "lengths":
            name = "composition_padded"
            return [ways.composition_candidate(name, inputs, self.tuner, _padded)]
        return [ways.composition_candidate("composition", inputs, self.tuner)]


def _itself(inputs):
    return inputs


def _padded(inputs):
    return inputs.padded


def _check(candidate, inputs):
    """Error and bound of the first set, computed after all were reset.

    The error is that of the worst result, and inf where an element of any set is not
    finite.
    """
    sets = [candidate.on(x) for x in inputs]
    for x in sets:
        x.reset()
    for x in sets:
        candidate.bind(x)()
    torch.cuda.synchronize()
    error = math.inf
    if all(bool(torch.isfinite(y).all()) for x in sets for y in x.written().values()):
        expected = inputs[0].problem.expected
        errors = {n: reference.error(y, expected[n]) for n, y in sets[0].written().items()}
        error = max(errors.values())
    bound = candidate.tolerance * inputs[0].bound(error / candidate.tolerance)
    return {"error": error, "bound": bound, "correct": error <= bound}
