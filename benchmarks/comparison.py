# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One row of the results: every candidate checked, then all timed in turn."""

import gc
import math

import torch

import candidates as ways
from cases import MASKED
from compilation import find
from hla import reference
from peers import chunked
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
        self.tuner = ways.Tuner(chunked.configurations)
        self.cache_bytes = torch.cuda.get_device_properties(0).L2_cache_size

    @property
    def launches(self):
        return self.rounds * LAUNCHES

    def measure(self, row):
        cost = row.case.cost(row.shape)
        count = max(2, math.ceil(CACHE_MULTIPLE * self.cache_bytes / cost.bytes))
        inputs = [ways.Inputs(row.case, row.shape, seed) for seed in range(count)]
        expected, bound = inputs[0].problem.expected["o"], inputs[0].bound()
        for x in inputs:
            x.forget_problem()

        compared, missing = self._candidates(row, inputs)
        errors = {c.name: _error(c, inputs, expected) for c in compared}
        del expected
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
            if c.tolerance is not None:
                result["error"] = errors[c.name]
                result["bound"] = c.tolerance * bound
                result["correct"] = errors[c.name] <= result["bound"]
            results[c.name] = result
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


def _error(candidate, inputs, expected):
    """Of the first set, computed after all were poisoned; inf where any is not finite."""
    sets = [candidate.on(x) for x in inputs]
    for x in sets:
        x.poison()
    for x in sets:
        candidate.bind(x)()
    torch.cuda.synchronize()
    if candidate.tolerance is None:
        return None
    if not all(bool(torch.isfinite(x.output()).all()) for x in sets):
        return math.inf
    return reference.error(sets[0].output(), expected)
