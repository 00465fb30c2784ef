# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One row of the results: every candidate checked, then all timed in turn."""

import gc
import math

import torch

import candidates as ways
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


class Comparison:
    """Settings that all rows share."""

    def __init__(self, ceilings, bundles, target, rounds, has_softmax):
        self.ceilings = ceilings
        self.bundles = bundles
        self.target = target
        self.rounds = rounds
        self.has_softmax = has_softmax
        self.tuner = ways.Tuner()
        self.cache_bytes = torch.cuda.get_device_properties(0).L2_cache_size

    @property
    def launches(self):
        return self.rounds * LAUNCHES

    def measure(self, row):
        cost = row.case.cost(row.shape)
        count = max(2, math.ceil(CACHE_MULTIPLE * self.cache_bytes / cost.bytes))
        inputs = [Inputs(row.case, row.shape, seed) for seed in range(count)]
        for x in inputs[1:]:
            x.forget_arrays()

        compared, missing = self._candidates(row, inputs)
        checks = {c.name: _check(c, inputs) for c in compared if c.tolerance}
        inputs[0].forget_arrays()
        times = {c.name: [] for c in compared}
        for _ in range(self.rounds):
            for c in compared:
                launches = [c.bind(c.on(x)) for x in inputs]
                times[c.name] += time_launches(launches, LAUNCHES)

        precision = row.case.precision or "bf16"
        floor, bound_by = self.ceilings.floor_ms(cost, precision)
        results = {}
        for c in compared:
            result = percentiles(times[c.name])
            result["times_floor"] = result["median_ms"] / floor
            result["note"] = c.note()
            results[c.name] = result | checks.get(c.name, {})
        lengths = inputs[0].extents.lengths
        del inputs, compared
        gc.collect()
        return {
            "table": row.table,
            "case": row.case.name,
            "shape": row.shape,
            "sequences": len(lengths) - 1 if lengths else None,
            "bytes": cost.bytes,
            "flops": cost.flops,
            "floor_ms": floor,
            "floor_bound_by": bound_by,
            "input_sets": count,
            "results": results,
            "missing": missing,
        }

    def _candidates(self, row, inputs):
        """(candidates, why some are none)."""
        compared, missing = [], {}

        def add_bundle(case, name="hla", on=lambda x: x):
            if not self.bundles:
                return
            path, message = find(self.bundles, case, row.shape[3], self.target)
            if not path:
                missing[name] = message
                return
            candidate = ways.bundle_candidate(path, name)
            candidate.on = on
            # What the driver refuses is missing as well.
            try:
                candidate.bind(on(inputs[0]))()
                torch.cuda.synchronize()
            except Exception as failure:  # noqa: BLE001
                missing[name] = str(failure)
                return
            compared.append(candidate)

        add_bundle(row.case)
        if row.table == "lengths":
            add_bundle(MASKED, "hla_padded", lambda x: x.padded)
            composition = ways.composition_candidate(inputs[0].padded, self.tuner)
            composition.name, composition.on = "composition_padded", lambda x: x.padded
        else:
            composition = ways.composition_candidate(inputs[0], self.tuner)
        if row.table == "masked":
            compared.append(ways.fused_candidate(inputs))
            composition.name = "two_chunked_calls"
        compared.append(composition)
        if row.table == "masked" and self.has_softmax:
            compared.append(ways.softmax_candidate())
        return compared, missing


def _check(candidate, inputs):
    """Error and bound of the first set, computed after all were poisoned.

    The error is inf where an element of any set is not finite.
    """
    sets = [candidate.on(x) for x in inputs]
    for x in sets:
        x.poison()
    for x in sets:
        candidate.bind(x)()
    torch.cuda.synchronize()
    error = math.inf
    if all(bool(torch.isfinite(x.output()).all()) for x in sets):
        error = reference.error(sets[0].output(), inputs[0].exact.output)
    bound = candidate.tolerance * inputs[0].bound(error / candidate.tolerance)
    return {"error": error, "bound": bound, "correct": error <= bound}
