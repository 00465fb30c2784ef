# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes, flops and graphs of the benchmarks' cases."""

import math

import cases
import measure
import numpy as np
import pytest
from hla import reference
from measure import Ceilings, Cost, count_flops
from programs import Extents, module
from steps import Scan, Sum, ThirdOrderTerms, steps, widths

C, D, DV = measure.FLOOR_CHUNK, 32, 48
CASES = {c.name: c for c, _ in cases.bundles()}


def _flops(*operator, is_decayed=False, **options):
    graph = steps(*operator, is_decayed=is_decayed)
    return count_flops(graph, 1, 1, D, DV, **options)


# One term a product, in the order of the steps: scores, weighted values, read, state.
@pytest.mark.parametrize(
    "operator, expected",
    [
        (("linear",), C * D + C * DV + 2 * D * DV),
        (
            ("second_order", "masked"),
            (C * D + C * D + 2 * D * D) + (C * D + C * DV + 2 * D * DV),
        ),
        # r is weighted by the scores of the first scan.
        (("asymmetric",), C * D + C * DV + 2 * D * DV + C * DV + 2 * D * DV),
        (
            ("third_order", "masked"),
            (2 * C * D + 2 * D * D)
            + (C * DV + 2 * D * DV)
            + (C * D + C * DV + 2 * D * DV),
        ),
    ],
)
def test_flops_of_chunks(operator, expected):
    assert _flops(*operator) == 2 * expected


def test_flops_are_the_documented_unit_for_one_width():
    unit = 4 * C * D + 4 * D * D
    graph = steps("second_order", "masked")
    assert count_flops(graph, 1, 1, D, D) == 2 * unit
    assert count_flops(steps("linear"), 3, 5, D, D) == 15 * unit


def test_a_state_that_several_queries_read_counts_once():
    # q k v: states S, C, G; scores of q·k (twice, one transposed) and u·q.
    expected = (
        (C * D + C * D + 2 * D * D)
        + (C * DV + 2 * D * DV)  # w reads C, and updates it
        + (C * D + C * DV + D * DV)  # u reads C
        + (C * DV + 2 * D * DV)  # G
    )
    assert _flops("second_order", "paper", is_decayed=True) == 2 * expected


def test_a_normaliser_is_one_column():
    more = _flops("second_order", "masked", is_normalised=True)
    assert more - _flops("second_order", "masked") == 2 * (C + 2 * D)


def test_heads_of_a_group_share_what_does_not_depend_on_the_query():
    graph = steps("second_order", "masked")
    one = count_flops(graph, 1, 4, D, DV)
    grouped = count_flops(graph, 1, 4, D, DV, groups=(1, 4))
    assert one - grouped == 3 * 2 * D * D
    assert count_flops(graph, 1, 4, D, DV, groups=(1, 4), has_gates=True) == one


def test_bytes_are_those_of_the_operands():
    shape = (2, 100, 4, 64)
    rows = 2 * 100 * 4
    assert CASES["linear"].cost(shape).bytes == rows * 4 * 64 * 2
    assert CASES["f32, f32"].cost(shape).bytes == rows * 4 * 64 * 4
    gated = CASES["decay of a token"].cost(shape).bytes
    assert gated == rows * (4 * 64 * 2 + 4)
    grouped = CASES["four query heads a key"].cost(shape).bytes
    assert grouped == rows * 64 * 2 * 2 + rows // 4 * 64 * 2 * 2


def test_the_floor_is_what_takes_longer():
    rates = {"bf16": 100.0, "tf32": 60.0, "f32": 10.0}
    ceilings = Ceilings(10.0, rates)
    assert ceilings.floor_ms(Cost(20, 100)) == (2000.0, "bytes")
    assert ceilings.floor_ms(Cost(20, 400)) == (4000.0, "flops")
    # Three products of tf32 are faster than one of f32 here.
    assert ceilings.floor_ms(Cost(20, 400), "f32") == (20000.0, "flops")
    assert ceilings.floor_ms(Cost(20, 400), "bf16x3") == (12000.0, "flops")


def _evaluate(graph, q, k, v, **options):
    """The steps by the reference's scan."""
    values = {"q": q, "k": k, "v": v}
    for step in graph:
        reads = [values[n] for n in step.reads]
        if isinstance(step, Scan):
            y = reference.scan(*reads, exclusive=step.is_exclusive, **options).output
            values[step.result] = y
        elif isinstance(step, Sum):
            values[step.result] = sum(f * values[n] for n, f in step.terms)
        else:
            assert isinstance(step, ThirdOrderTerms)
            q, k, u, y, p = reads
            kappa, sigma = ((q * k).sum(3), (k * y).sum(3))
            kappa, sigma = kappa[..., None], sigma[..., None]
            values["a"] = kappa * u + sigma * k + kappa * kappa * k
            values["r"] = kappa * p
    for name, width in widths(graph, q.shape[3], v.shape[3]).items():
        assert values[name].shape[3] == width, name
    return values["o"]


@pytest.mark.parametrize("name", CASES)
def test_steps_compute_the_operator(name):
    program = CASES[name].program(8)
    gq, gkv = program.groups or (1, 1)
    shape = (2, 21, 4)
    q, k, v = reference.random_inputs(
        0, (*shape, 8), 12, features="positive", groups=(gq, gkv, gkv)
    )
    q, k, v = (np.repeat(x, g, 2) for x, g in zip((q, k, v), (gq, gkv, gkv)))
    options, decays = program.options(), {"decay": program.decay}
    options["groups"] = None
    if program.log_decay:
        of = shape if program.log_decay == "token" else shape[2:]
        decays["log_decay"] = reference.random_log_decay(0, of)
    expected = program.evaluate(q, k, v, **{**options, **decays}).output

    graph = CASES[name].graph()
    out = _evaluate(graph, q, k, v, **decays)
    if program.normalize:
        _, epsilon = program.normalize
        one = np.ones_like(v[..., :1])
        out = out / (_evaluate(graph, q, k, one, **decays) + epsilon)
    assert reference.error(out, expected) < 1e-12


@pytest.mark.parametrize("name", CASES)
def test_programs_are_written(name):
    text = module([CASES[name].program(64)])
    assert f"hla.{CASES[name].operator}" in text


def test_lengths_fill_their_tokens():
    ends = cases.lengths(5000)
    counts = np.diff(ends)
    assert ends[0] == 0 and ends[-1] == 5000
    assert counts.min() >= 1 and counts[:-1].min() >= 8 and counts.max() <= 256
    mean = (256 - 8) / math.log(256 / 8)
    assert abs(counts.mean() / mean - 1) < 0.3


def test_packed_sequences_are_as_many_tokens():
    case = CASES["short sequences"]
    extents = case.extents((8, 4096, 16, 128))
    assert extents == Extents(1, 8 * 4096, 16, cases.lengths(8 * 4096))
    assert case.cost((8, 4096, 16, 128)).flops == 0
