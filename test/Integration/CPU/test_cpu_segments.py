# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in segments through ``hla-run --device=cpu`` against the float64 reference."""

import pytest
from configurations import Configuration
from programs import Extents, Program, Slots, state_dtype

from hla import reference

# The operators, with the options that their states' levels and decays depend on.
OPERATORS = {
    "linear": {},
    "second_order masked": {},
    "second_order prefix": {},
    "second_order paper": {"decay": 0.95},
    "asymmetric": {},
    "third_order masked": {},
    "third_order paper": {"decay": 0.95},
}


def program(name, dtype="f32", **options):
    operator, _, variant = name.partition(" ")
    return Program(operator, dtype, 16, 8, variant=variant or None, **options)


def check(runner, program, extents, segments, *flags, operand_dtype=None, **rest):
    flags = (f"--segments={segments}", *flags)
    configuration = Configuration(program, Extents(*extents), flags=flags, **rest)
    problem = configuration.problem()
    outputs = runner.run(configuration, problem)
    assert not problem.failures(outputs, operand_dtype or state_dtype(program.dtype))
    return outputs


@pytest.mark.parametrize("tokens", [0, 1, 63, 64, 65, 128, 129, 320, 321])
@pytest.mark.parametrize("reverse", [False, True])
def test_ragged_ends(runner, tokens, reverse):
    carried = {"carry_in": True, "carry_out": True}
    masked = program("second_order masked", reverse=reverse, decay=0.99, **carried)
    check(runner, masked, (1, tokens, 2), 4)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("reverse", [False, True])
def test_every_operator(runner, name, reverse):
    options = OPERATORS[name]
    check(runner, program(name, reverse=reverse, **options), (2, 300, 2), 3)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("log_decay", ["token", "head"])
def test_every_decay(runner, name, log_decay):
    decayed = program(name, log_decay=log_decay)
    check(runner, decayed, (2, 300, 2), 3, gates="slow")


@pytest.mark.parametrize("layout", ["bthd", "bhtd"])
def test_all_options(runner, layout):
    options = {"layout": layout, "groups": (1, 2), "ridge": 0.1, "scale": 0.5}
    options |= {"normalize": ("add", 1e-3), "reading": "squared", "reverse": True}
    options |= {"carry_in": True, "carry_out": True, "log_decay": "token"}
    masked = program("second_order masked", **options)
    check(runner, masked, (2, 300, 4), 5, features="positive", gates="slow")


def test_states_in_place(runner):
    options = {"carry_in": True, "carry_out": True, "in_place": True}
    check(runner, program("second_order masked", **options), (1, 300, 2), 5)


@pytest.mark.parametrize("reverse", [False, True])
def test_states_in_slots(runner, reverse):
    """Entries are of segments, carries and final states of slots."""
    options = {"carry_in": True, "carry_out": True, "has_slots": True}
    masked = program("second_order masked", reverse=reverse, **options)
    for numbers in ((4, 1), (-1, 0), (3, -7)):
        check(runner, masked, (2, 300, 2, None, Slots(5, numbers)), 5)
    in_place = program("second_order masked", in_place=True, **options)
    check(runner, in_place, (2, 300, 2, None, Slots(5, (4, 1))), 5)


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f64"])
def test_types(runner, dtype):
    check(runner, program("second_order masked", dtype), (1, 300, 2), 5)


def test_a_gpus_program(runner):
    masked = Program("second_order", "bf16", 64, 64, variant="masked")
    flags = ("--schedule-target=sm_90a",)
    # So few heads: segments of 512 tokens.
    check(runner, masked, (1, 2100, 2), "auto", *flags, operand_dtype="bf16")


def test_segments_change_no_meaning(runner):
    masked = program("second_order masked")
    one = check(runner, masked, (1, 500, 2), 1)
    several = check(runner, masked, (1, 500, 2), 7)
    assert reference.error(several["o"], one["o"]) <= reference.tolerance("f32")


def test_runs_are_equal(runner):
    masked = program("second_order masked", decay=0.99)
    first = check(runner, masked, (1, 500, 2), 7)
    second = check(runner, masked, (1, 500, 2), 7)
    assert (first["o"] == second["o"]).all()
