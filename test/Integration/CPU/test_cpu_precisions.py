# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of every precision, as a GPU has them, executed on the CPU."""

import pytest
from configurations import Configuration
from programs import Extents, Program, module

from hla import reference

TARGET = "--schedule-target=sm_80"
EXTENTS = Extents(1, 150, 2)

# What products of f32 operands err by, through the roundings of two scans.
BOUNDS = {
    # As f16 rounds; inputs are rounded too: eight roundings for four.
    "tf32": reference.tolerance("f16", roundings=8),
    # Four roundings to 2^-17, and four products less 2^-16 of theirs.
    "bf16x3": 5e-5,
    "f32": reference.tolerance("f32"),
}


def output_error(runner, program, precision):
    flags = (TARGET, f"--precision={precision}")
    configuration = Configuration(program, EXTENTS, flags=flags)
    problem = configuration.problem()
    outputs = runner.run(configuration, problem)
    return reference.error(outputs["o"], problem.expected["o"])


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("variant", [None, "prefix"])
@pytest.mark.parametrize("precision", list(BOUNDS))
def test_precisions(runner, dtype, variant, precision):
    for d, dv in ((64, 64), (128, 32)):
        program = Program("second_order", dtype, d, dv, "bthd", variant)
        bound = max(BOUNDS[precision], reference.tolerance(dtype))
        assert output_error(runner, program, precision) <= bound


@pytest.mark.parametrize("precision, least", [("tf32", 1e-4), ("bf16x3", 2e-6)])
def test_precisions_round(runner, precision, least):
    """A run in f32 would meet their bounds as well."""
    program = Program("second_order", "f32", 64, 64)
    assert output_error(runner, program, precision) > least


@pytest.mark.parametrize("variant", [None, "prefix"])
def test_f16_where_only_the_output_fits(runner, variant):
    """Scores and states leave the range of f16; what is returned does not."""
    program = Program("second_order", "f16", 64, 32, "bthd", variant)
    problem = Configuration(program, EXTENTS).problem()
    scaled = {"q": 64 * problem.inputs["q"], "k": 64 * problem.inputs["k"]}
    scaled["v"] = problem.inputs["v"] / 2**18
    inputs = {name: reference.round_to(x, "f16") for name, x in scaled.items()}
    u = reference.scan(inputs["q"], inputs["k"], inputs["k"]).output
    assert abs(u).max() > 65504
    expected = reference.second_order(
        inputs["q"], inputs["k"], inputs["v"], variant=variant or "masked"
    ).output
    assert abs(expected).max() < 65504
    operands = program.operands(EXTENTS)
    outputs = runner(program, module([program]), operands, inputs, flags=(TARGET,))
    assert reference.error(outputs["o"], expected) <= reference.tolerance("f16")
