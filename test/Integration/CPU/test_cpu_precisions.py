# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of every precision, as a GPU has them, executed on the CPU."""

import pytest
from configurations import Configuration
from programs import Extents, Program, module

from hla import reference

TARGET = "--schedule-target=sm_80"
EXTENTS = Extents(1, 150, 2)


def run(runner, program, precision):
    flags = (TARGET, f"--precision={precision}")
    configuration = Configuration(program, EXTENTS, flags=flags)
    problem = configuration.problem()
    return problem, runner.run(configuration, problem)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("variant", [None, "prefix"])
@pytest.mark.parametrize("precision", ["tf32", "bf16x3", "f32"])
def test_precisions(runner, dtype, variant, precision):
    for d, dv in ((64, 64), (128, 32)):
        program = Program("second_order", dtype, d, dv, "bthd", variant)
        problem, outputs = run(runner, program, precision)
        assert not problem.failures(outputs, precision)


@pytest.mark.parametrize("precision, least", [("tf32", 1e-4), ("bf16x3", 2e-6)])
def test_precisions_round(runner, precision, least):
    """A run in f32 would meet their bounds as well."""
    program = Program("second_order", "f32", 64, 64)
    problem, outputs = run(runner, program, precision)
    assert reference.error(outputs["o"], problem.expected["o"]) > least


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
