# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs through ``hla-run --device=cpu`` against the float64 reference."""

import math

import pytest
from configurations import Configuration
from graphs import Graph, Scan
from programs import Extents, Program, module, state_dtype

from hla import reference

DTYPES = ("f32", "bf16", "f16", "f64")
LAYOUTS = ("bthd", "bhtd")


def second_order(dtype, d, dv, variant="masked", layout="bthd"):
    return Program("second_order", dtype, d, dv, layout, variant)


def check(runner, program, extents, *, flags=(), operand_dtype=None, save=None, **rest):
    """Runs ``program`` on B, T, H = ``extents`` and compares all outputs."""
    configuration = Configuration(program, Extents(*extents), flags=flags, **rest)
    problem = configuration.problem()
    outputs = runner.run(configuration, problem, **(save or {}))
    operand_dtype = operand_dtype or state_dtype(program.dtype)
    assert not problem.failures(outputs, operand_dtype)


def case_id(value):
    return "x".join(map(str, value))


@pytest.mark.parametrize("variant", ["masked", "prefix"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tokens", [0, 1, 2, 63, 64, 65])
def test_ragged_ends(runner, variant, dtype, tokens):
    check(runner, second_order(dtype, 32, 64, variant), (2, tokens, 2))


@pytest.mark.parametrize("extents", [(0, 5, 2), (2, 5, 0), (2, 0, 2)], ids=case_id)
def test_empty_extents(runner, extents):
    carried = {"carry_in": True, "carry_out": True}
    check(runner, Program("scan", "f32", 16, 8, "bhtd", **carried), extents)
    check(runner, second_order("bf16", 16, 8), extents)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("extents", [(1, 1, 1), (2, 70, 3)], ids=case_id)
def test_static_extents(runner, layout, extents):
    program = second_order("f32", 16, 8, layout=layout)
    check(runner, program, extents, is_static=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("decay", [1.0, 0.9])
def test_every_scan(runner, dtype, exclusive, reverse, decay):
    options = {"exclusive": exclusive, "reverse": reverse, "decay": decay}
    carried = {"carry_in": True, "carry_out": True}
    check(runner, Program("scan", dtype, 16, 32, **options, **carried), (1, 75, 2))


def test_the_carry_joins_two_runs(runner):
    program = Program("scan", "f32", 16, 16, decay=0.95, carry_in=True, carry_out=True)
    whole = Configuration(program, Extents(1, 100, 2)).problem()

    def part(begin, end, state):
        inputs = {n: whole.inputs[n][:, begin:end] for n in "qkv"} | {"S_in": state}
        operands = program.operands(Extents(1, end - begin, 2))
        return runner(program, module([program]), operands, inputs)

    first = part(0, 37, whole.inputs["S_in"])
    second = part(37, 100, first["S_out"])
    bound = reference.tolerance("f32")
    y = whole.expected["o"]
    assert reference.error(first["o"], y[:, :37]) <= bound
    assert reference.error(second["o"], y[:, 37:]) <= bound
    assert reference.error(second["S_out"], whole.expected["S_out"]) <= bound


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("operator", ["linear", "second_order", "third_order"])
def test_long_and_undecayed(runner, operator, dtype):
    """States grow for 131072 tokens: no sum loses what a token adds, none overflows.

    A sum errs in proportion to the root of its terms, of which the bound of f32 has
    4096 in view.
    """
    tokens = 131072
    program = Program(operator, dtype, 8, 8)
    configuration = Configuration(program, Extents(1, tokens, 1))
    problem = configuration.problem()
    out = runner.run(configuration, problem)["o"]
    bound = reference.tolerance("f32") * math.sqrt(tokens / 4096)
    assert reference.error(out, problem.expected["o"], stored=dtype) <= bound


GPU_SCHEDULE = ["--schedule-target=sm_80"]


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("variant", ["masked", "prefix"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gpu_schedule_on_the_cpu(runner, dtype, variant, layout):
    # The tile program that a GPU gets, its operands rounded alike, in the JIT.
    for d, dv in ((64, 64), (128, 32), (32, 128)):
        program = second_order(dtype, d, dv, variant, layout)
        extents = (1, 150, 2)
        check(runner, program, extents, flags=GPU_SCHEDULE, operand_dtype=dtype)


def test_gpu_schedule_of_a_scan(runner):
    options = {"exclusive": True, "reverse": True, "decay": 0.9}
    carried = {"carry_in": True, "carry_out": True}
    program = Program("scan", "bf16", 64, 64, **options, **carried)
    check(runner, program, (1, 150, 2), flags=GPU_SCHEDULE, operand_dtype="bf16")


def test_operator_of_fourth_order_by_hand(runner):
    """A user's own operator: o_t = Σ_{j≤t} (q_t·u_j) r_j of two second-order rows."""
    scans = (
        Scan("q", "k", "k"),
        Scan("q", 0, "k"),
        Scan("q", "k", "v"),
        Scan("q", 1, 2),
    )
    check(runner, Graph("f32", 16, 24, scans), (2, 90, 2))


def test_fortran_order_files(runner):
    # numpy writes the order of the array it was given; values are what counts.
    program = second_order("f32", 16, 8)
    check(runner, program, (2, 9, 3), save={"fortran_order": True})


def test_bfloat16_files_of_raw_bytes(runner):
    program = second_order("bf16", 16, 8)
    check(runner, program, (2, 9, 3), save={"bfloat16": "|V2"})


def test_one_file_of_several_entries(runner):
    entries = [second_order("f32", 16, 8, variant) for variant in ("masked", "prefix")]
    extents = Extents(1, 20, 2)
    for program in entries:
        problem = Configuration(program, extents, seed=3).problem()
        operands = program.operands(extents)
        outputs = runner(program, module(entries), operands, problem.inputs)
        assert not problem.failures(outputs, "f32")


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_generated_input_and_check(tools, runner, dtype):
    program = second_order(dtype, 64, 32)
    source = runner.write("program.mlir", module([program]))
    arguments = (source, f"--entry={program.name}", "--device=cpu", "--check")
    result = tools.run_ok("hla-run", *arguments, "--input=random:7,B=2,T=100,H=3")
    assert "error" in result.stdout, result.stdout


def test_results_are_reproducible(runner):
    configuration = Configuration(second_order("f32", 48, 64), Extents(2, 130, 3))
    problem = configuration.problem()
    first = runner.run(configuration, problem)["o"]
    second = runner.run(configuration, problem)["o"]
    assert (first == second).all()
