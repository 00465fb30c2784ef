# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The generator covers what there is, and its comparison finds what is wrong."""

import collections

import numpy as np
import pytest
from draws import CPU, WEIGHTS, Draw, configurations, traits
from programs import state_dtype

from hla import reference

DRAWN = list(configurations(1, 600).values())


def test_every_operator_with_every_option():
    counts = collections.Counter(t for c in DRAWN for t in traits(c.program))
    for kind in WEIGHTS:
        operator, _, variant = kind.partition("/")
        assert counts[operator] >= 20, kind
        if variant == "masked":
            assert counts[f"{operator}/None"] >= 10 <= counts[kind], kind
        elif variant:
            assert counts[kind] >= 20, kind
        options = ["layout", "output", "reverse", "decay", "log_decay", "groups"]
        options += ["has_lengths", "has_slots", "carry_in", "carry_out", "out_arguments", "in_place"]
        options += ["exclusive"] if operator == "scan" else ["scale", "normalize"]
        options += ["ridge"] if operator in ("second_order", "third_order") else []
        for option in options if operator != "graph" else ():
            assert counts[f"{operator} {option}"] >= 1, (kind, option)
    assert counts["reading"] >= 5


def test_every_type_and_shape():
    types = collections.Counter(c.program.dtype for c in DRAWN)
    assert set(types) == set(CPU.dtypes) and min(types.values()) >= 80
    extents = [c.extents for c in DRAWN]
    assert {0, 1, 63, 64, 65} <= {e.tokens for e in extents}
    assert {1, 20, 48, 80, 96} <= {c.program.d for c in DRAWN}
    packed = [e for e in extents if e.lengths is not None]
    assert any(e.lengths[-1] < e.tokens for e in packed), "no slack behind"
    assert any(e.lengths[0] > 0 for e in packed), "no slack before"
    assert any(len(e.lengths) == 1 for e in packed), "never no sequence at all"
    assert any(a == b for e in packed for a, b in zip(e.lengths, e.lengths[1:]))
    assert sum(c.is_static for c in DRAWN) >= 50
    assert sum(c.gates == "extreme" for c in DRAWN) >= 50


def test_a_configuration_depends_on_its_seed_and_index_alone():
    again = configurations(1, 3)
    assert list(again.values()) == DRAWN[:3]
    assert [Draw(1, i, CPU).configuration() for i in again] == DRAWN[:3]
    first, second = (DRAWN[0].problem().inputs for _ in range(2))
    assert all(np.array_equal(first[name], second[name]) for name in first)


def slack_of(problem):
    """An index of the tokens of no sequence; None where there are none."""
    p, e = problem.program, problem.extents
    if not p.has_lengths:
        return None
    inside = reference.sequence_mask(e.lengths, e.tokens)
    outside = [t for t, x in enumerate(inside) if not x]
    return (slice(None),) * (1 if p.layout == "bthd" else 2) + (outside,)


def in_slots(problem, operand, states):
    """Final states where their slots are, among those that stay."""
    slots = problem.extents.slots
    out = np.full(operand.shape, np.nan)
    if operand.reads:
        out[:] = problem.inputs[operand.reads]
    for i in slots.present:
        out[slots.numbers[i]] = states[i]
    return out


def perfect(problem):
    """What a kernel without any error but that of storing gives."""
    outputs = {}
    for operand in problem.program.operands(problem.extents):
        if operand.writes:
            exact = problem.expected[operand.writes]
            out = reference.round_to(exact, operand.dtype)
            if operand.is_state and problem.extents.slots is not None:
                out = in_slots(problem, operand, out)
            outputs[operand.name] = out
    slack = slack_of(problem)
    if slack is not None:
        held = problem.inputs.get("held")
        outputs["o"][slack] = np.nan if held is None else held[slack]
    return outputs


@pytest.mark.parametrize("index", range(60))
def test_the_comparison(index):
    problem = DRAWN[index].problem()
    outputs, p = perfect(problem), problem.program
    operand_dtype = state_dtype(p.dtype)
    slack = slack_of(problem)
    assert not problem.failures(outputs, operand_dtype)

    def fails(name, change):
        wrong = outputs[name].copy()
        return bool(problem.failures(outputs | {name: change(wrong)}, operand_dtype))

    slots = problem.extents.slots

    def written(name):
        """The part of an output that is written whole."""
        if name == "o" or slots is None:
            return slice(None)
        return [slots.numbers[i] for i in slots.present][:1]

    def first(name, value):
        def change(array):
            part = array[written(name)]
            part.reshape(-1)[0] = value
            array[written(name)] = part
            return array

        return change

    def touch_slack(array):
        array[slack] = 77.0
        return array

    def touch_state(array, number):
        array[number] = 77.0
        return array

    # Ten times what the condition allows, and what no storing hides.
    excess = 10 * reference.tolerance(operand_dtype, condition=problem.condition)
    excess += 0.0 if p.output_dtype in ("f32", "f64") else 0.01
    for name, out in outputs.items():
        assert fails(name, lambda x: x[..., :-1])
        has_slack = name == "o" and slack is not None and bool(slack[-1])
        if out[written(name)].size and not has_slack:
            for value in (np.nan, np.inf):
                assert fails(name, first(name, value))
        used = slots.numbers if slots else range(len(out))
        unused = set(range(len(out))).difference(used)
        if name != "o" and unused and out.size:
            assert fails(name, lambda x: touch_state(x, min(unused)))
        if has_slack and out.size:
            assert fails("o", touch_slack)
        seen = problem.expected.get(name, out)
        if name != "o" and slots is not None:
            seen = seen[slots.present]
        if np.any(seen):
            assert fails(name, lambda x: x * (1 + excess))
