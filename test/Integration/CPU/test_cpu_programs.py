# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs through ``hla-run --device=cpu`` against the float64 reference.

Configurations are drawn from a fixed seed, so that a failure is the same failure
tomorrow. ``HLA_TEST_SEED=N`` draws others, ``HLA_TEST_CONFIGS=N`` how many.
"""

import os
import random

import pytest
from programs import (
    DecayedSecondOrder,
    PreciseSecondOrder,
    Scan,
    SecondOrder,
    module,
    static_module,
)

from hla import reference

SEED = int(os.environ.get("HLA_TEST_SEED", "20251027"))
COUNT = int(os.environ.get("HLA_TEST_CONFIGS", "60"))

DTYPES = ("f32", "bf16", "f16", "f64")
LAYOUTS = ("bthd", "bhtd")
# Widths that no vector length divides stand beside the usual ones.
WIDTHS = (1, 5, 8, 16, 24, 32, 48, 64, 96, 128)
GPU_WIDTHS = (32, 64, 128)
# Around the chunk lengths 16, 32, 64 and 128.
TOKENS = (0, 1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 200, 300)


def check(runner, program, extents, flags=(), seed=0, text=None, **save):
    """Runs ``program`` on B, T, H = ``extents`` and compares all outputs."""
    inputs = program.make_inputs(seed, *extents)
    outputs = program.outputs(*extents)
    results = runner(
        program,
        text or module([program]),
        inputs,
        program.input_operands(*extents),
        outputs,
        (*program.options, *flags),
        **save,
    )
    for operand, out, ref in zip(
        outputs, results, program.expected(*inputs), strict=True
    ):
        assert out.shape == operand.shape
        assert reference.error(out, ref) <= operand.tolerance, operand.name
        if operand.is_sequence:
            bound = 1.25 * max(
                operand.tolerance,
                reference.tolerance(program.dtype, rows=max(1, extents[1])),
            )
            worst = reference.worst_error(out, ref, layout=program.layout)
            assert worst <= bound, operand.name


def draw(stream, kind):
    common = {
        "dtype": stream.choice(DTYPES),
        "layout": stream.choice(LAYOUTS),
        "d": stream.choice(WIDTHS),
        "dv": stream.choice(WIDTHS),
    }
    if kind == "second_order":
        program = SecondOrder(**common, variant=stream.choice(("masked", "prefix")))
    elif kind == "scan":
        program = Scan(
            **common,
            exclusive=stream.random() < 0.5,
            reverse=stream.random() < 0.5,
            decay=stream.choice((1.0, 1.0, 0.99, 0.5)),
            carry_in=stream.random() < 0.5,
            carry_out=stream.random() < 0.5,
        )
    else:
        program = DecayedSecondOrder(**common, decay=stream.choice((0.99, 0.5)))
    extents = (stream.randint(1, 2), stream.choice(TOKENS), stream.randint(1, 3))
    return program, extents


def configurations():
    stream = random.Random(SEED)
    kinds = ("second_order", "second_order", "scan", "second_order", "scan", "dag")
    return [draw(stream, kinds[i % len(kinds)]) for i in range(COUNT)]


def case_id(value):
    return value.name if hasattr(value, "name") else "x".join(map(str, value))


@pytest.mark.parametrize("program, extents", configurations(), ids=case_id)
def test_random(runner, program, extents):
    check(runner, program, extents, seed=SEED)


@pytest.mark.parametrize("variant", ["masked", "prefix"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tokens", [0, 1, 2, 63, 64, 65])
def test_ragged_ends(runner, variant, dtype, tokens):
    program = SecondOrder(dtype, "bthd", 32, 64, variant)
    check(runner, program, (2, tokens, 2))


@pytest.mark.parametrize("extents", [(0, 5, 2), (2, 5, 0), (2, 0, 2)], ids=case_id)
def test_empty_extents(runner, extents):
    carried = {"carry_in": True, "carry_out": True}
    check(runner, Scan("f32", "bhtd", 16, 8, **carried), extents)
    check(runner, SecondOrder("bf16", "bthd", 16, 8), extents)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("extents", [(1, 1, 1), (2, 70, 3)], ids=case_id)
def test_static_extents(runner, layout, extents):
    program = SecondOrder("f32", layout, 16, 8)
    check(runner, program, extents, text=static_module(program, *extents))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("decay", [1.0, 0.9])
def test_every_scan(runner, dtype, exclusive, reverse, decay):
    program = Scan(dtype, "bthd", 16, 32, exclusive, reverse, decay, True, True)
    check(runner, program, (1, 75, 2))


def test_the_carry_joins_two_runs(runner):
    program = Scan("f32", "bthd", 16, 16, decay=0.95, carry_in=True, carry_out=True)
    q, k, v, carry = program.make_inputs(1, 1, 100, 2)
    y, state = program.expected(q, k, v, carry)

    def part(begin, end, initial):
        extents = (1, end - begin, 2)
        inputs = [x[:, begin:end] for x in (q, k, v)] + [initial]
        operands = program.input_operands(*extents)
        outputs = program.outputs(*extents)
        return runner(program, module([program]), inputs, operands, outputs)

    first, middle = part(0, 37, carry)
    second, last = part(37, 100, middle)
    bound = reference.tolerance("f32")
    assert reference.error(first, y[:, :37]) <= bound
    assert reference.error(second, y[:, 37:]) <= bound
    assert reference.error(last, state) <= bound


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("variant", ["masked", "prefix"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gpu_schedule_on_the_cpu(runner, dtype, variant, layout):
    # The tile program that a GPU gets, its operands rounded alike, in the JIT.
    for d, dv in ((64, 64), (128, 32), (32, 128)):
        program = SecondOrder(dtype, layout, d, dv, variant)
        check(runner, program, (1, 150, 2), ["--schedule-target=sm_80"])


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
def test_gpu_schedule_of_a_scan(runner, dtype):
    program = Scan(dtype, "bthd", 64, 64, True, True, 0.9, True, True)
    check(runner, program, (1, 150, 2), ["--schedule-target=sm_80"])


@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("variant", ["masked", "prefix"])
@pytest.mark.parametrize("precision", ["tf32", "bf16x3", "f32"])
def test_precisions(runner, dtype, variant, precision):
    for d, dv in ((64, 64), (128, 32)):
        program = PreciseSecondOrder(dtype, "bthd", d, dv, variant, precision)
        check(runner, program, (1, 150, 2), ["--schedule-target=sm_80"])


def output_error(runner, program, inputs, extents, flags):
    """The error of the only output for these inputs."""
    outputs, operands = program.outputs(*extents), program.input_operands(*extents)
    text = module([program])
    (out,) = runner(program, text, inputs, operands, outputs, flags)
    (ref,) = program.expected(*inputs)
    return reference.error(out, ref)


@pytest.mark.parametrize("precision, least", [("tf32", 1e-4), ("bf16x3", 2e-6)])
def test_precisions_round(runner, precision, least):
    """A run in f32 would meet their bounds as well."""
    program = PreciseSecondOrder("f32", "bthd", 64, 64, "masked", precision)
    extents = (1, 150, 2)
    inputs = program.make_inputs(0, *extents)
    flags = [*program.options, "--schedule-target=sm_80"]
    assert output_error(runner, program, inputs, extents, flags) > least


@pytest.mark.parametrize("variant", ["masked", "prefix"])
def test_f16_where_only_the_output_fits(runner, variant):
    """Scores and states leave the range of f16; what is returned does not."""
    program = SecondOrder("f16", "bthd", 64, 32, variant)
    extents = (1, 150, 2)
    q, k, v = program.make_inputs(0, *extents)
    inputs = [reference.round_to(x, "f16") for x in (64 * q, 64 * k, v / 2**18)]
    u, _ = reference.scan(64 * q, 64 * k, 64 * k, layout="bthd")
    assert abs(u).max() > 65504
    error = output_error(
        runner, program, inputs, extents, ["--schedule-target=sm_80"]
    )
    assert error <= reference.tolerance("f16")


def test_fortran_order_files(runner):
    # numpy writes the order of the array it was given; values are what counts.
    check(runner, SecondOrder("f32", "bthd", 16, 8), (2, 9, 3), fortran_order=True)


def test_bfloat16_files_of_raw_bytes(runner):
    check(runner, SecondOrder("bf16", "bthd", 16, 8), (2, 9, 3), bfloat16="|V2")


def test_one_file_of_several_entries(runner):
    entries = [
        SecondOrder("f32", "bthd", 16, 8, variant) for variant in ("masked", "prefix")
    ]
    extents = (1, 20, 2)
    for program in entries:
        inputs = program.make_inputs(3, *extents)
        (out,) = runner(
            program,
            module(entries),
            inputs,
            program.input_operands(*extents),
            program.outputs(*extents),
        )
        (ref,) = program.expected(*inputs)
        assert reference.error(out, ref) <= reference.tolerance("f32")


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_generated_input_and_check(tools, runner, dtype):
    program = SecondOrder(dtype, "bthd", 64, 32)
    source = runner.write("program.mlir", module([program]))
    arguments = (source, f"--entry={program.name}", "--device=cpu", "--check")
    result = tools.run_ok("hla-run", *arguments, "--input=random:7,B=2,T=100,H=3")
    assert "error" in result.stdout, result.stdout


def test_results_are_reproducible(runner):
    program = SecondOrder("f32", "bthd", 48, 64)
    extents = (2, 130, 3)
    inputs = program.make_inputs(5, *extents)
    operands, outputs = program.input_operands(*extents), program.outputs(*extents)
    text = module([program])
    (first,) = runner(program, text, inputs, operands, outputs)
    (second,) = runner(program, text, inputs, operands, outputs)
    assert (first == second).all()
