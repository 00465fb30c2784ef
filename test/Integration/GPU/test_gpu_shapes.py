# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every bundle over lengths, head counts and memory layouts, against float64."""

import math

import pytest
import torch
from device import VIEWS, launch, make_problem
from suite import wants

from hla import reference

TOKENS = (0, 1, 2, 7, 15, 63, 64, 65, 500, 4096)
# B, H of 1, 3 and 128 heads in all.
HEADS = ((1, 1), (1, 3), (8, 16))


def known_tokens(program):
    return getattr(program, "tokens", None)


def run(case, extents, kind="dense", seed=0):
    batch, tokens, heads = extents
    extents = (batch, known_tokens(case.program) or tokens, heads)
    problem = make_problem(case.program, extents, kind, seed)
    launch(case, problem.arguments)
    problem.check()
    return problem


def is_operator(program):
    is_one = getattr(program, "operator", None) == "second_order"
    return is_one and not known_tokens(program)


def carries(program):
    if known_tokens(program):
        return False
    return getattr(program, "carry_in", False) and program.carry_out


@wants(is_operator)
@pytest.mark.parametrize("batch, heads", HEADS)
@pytest.mark.parametrize("tokens", TOKENS)
def test_second_order(case, batch, heads, tokens):
    run(case, (batch, tokens, heads), seed=tokens)


def is_long(program):
    exact = program.dtype in ("bf16", "f32") and program.precision is None
    return is_operator(program) and exact and (program.d, program.dv) == (64, 64)


@wants(is_long)
def test_long_and_undecayed(case):
    """States grow for 131072 tokens: no sum loses what a token adds, none overflows.

    A sum errs in proportion to the root of its terms, of which the bound of f32 has
    4096 in view; that of bf16 has a margin that is larger. Sums of tensor cores, which
    truncate, err in proportion to their terms: at this length more than f16 does.
    """
    tokens, program = 131072, case.program
    problem = make_problem(program, (1, tokens, 1))
    launch(case, problem.arguments)
    torch.cuda.synchronize()
    out, ref = problem.outputs[0].view, problem.problem.expected["o"]
    growth = reference.tolerance("f32") * (math.sqrt(tokens / 4096) - 1)
    bound = reference.tolerance(program.operand_dtype) + growth
    assert reference.error(out, ref) <= bound


@wants(known_tokens)
@pytest.mark.parametrize("batch, heads", HEADS)
def test_known_tokens(case, batch, heads):
    run(case, (batch, known_tokens(case.program), heads))


@wants(lambda program: not is_operator(program) and not known_tokens(program))
@pytest.mark.parametrize("batch, heads", HEADS)
@pytest.mark.parametrize("tokens", [t for t in TOKENS if t <= 500])
def test_scans(case, batch, heads, tokens):
    run(case, (batch, tokens, heads), seed=tokens)


@pytest.mark.parametrize("kind", VIEWS)
def test_views(case, kind):
    for extents in ((2, 65, 3), (3, 500, 2)):
        run(case, extents, kind)


@pytest.mark.parametrize("batch, heads", [(0, 2), (2, 0), (0, 0)])
def test_no_heads(case, batch, heads):
    run(case, (batch, 5, heads))


@wants(lambda program: is_operator(program) and program.dtype == "bf16")
def test_each_tensor_has_its_own_strides(case):
    """A stride taken from the wrong argument shows where all four differ."""
    extents = (2, 130, 3)
    problems = [make_problem(case.program, extents, kind) for kind in VIEWS]
    problem = problems[0]
    for index in range(3):
        name = "qkv"[index]
        problem.read[name] = problems[index + 1].read[name]
    launch(case, problem.arguments)
    problem.check()


@pytest.mark.sanitizer
def test_small(case):
    """Ragged ends and views in few, short launches, for compute-sanitizer."""
    for tokens in (0, 1, 15, 65, 130):
        run(case, (1, tokens, 3), "sliced")


@wants(is_operator)
def test_launches_are_reproducible(case):
    problem = make_problem(case.program, (2, 300, 5))
    launch(case, problem.arguments)
    first = problem.outputs[0].view.clone()
    problem.outputs[0].poison()
    launch(case, problem.arguments)
    assert torch.equal(first, problem.outputs[0].view)


@wants(is_operator)
def test_later_tokens_do_not_reach_back(case):
    """Bit for bit: what stands behind token t is multiplied by zero or not at all."""
    axis = 1 if case.program.layout == "bthd" else 2
    problem = make_problem(case.program, (1, 200, 2))
    launch(case, problem.arguments)
    first = problem.outputs[0].view.clone()
    for cut in (1, 50, 64, 129):
        for tensor in problem.inputs:
            tail = tensor.view.narrow(axis, cut, 200 - cut)
            tail.copy_(tail.flip(axis) * -0.5)
        problem.outputs[0].poison()
        launch(case, problem.arguments)
        out = problem.outputs[0].view
        assert torch.equal(out.narrow(axis, 0, cut), first.narrow(axis, 0, cut))
        problem = make_problem(case.program, (1, 200, 2))


@wants(carries)
@pytest.mark.parametrize("cut", [0, 1, 64, 77])
def test_the_carry_joins_two_launches(case, cut):
    program = case.program
    axis = 1 if program.layout == "bthd" else 2
    extents = (2, 150, 3)
    whole = make_problem(program, extents)
    *sequences, carry = whole.inputs
    y, last = whole.outputs
    middle = torch.full_like(last.view, float("nan"))
    spans = [(0, cut), (cut, 150 - cut)]
    if program.reverse:
        spans.reverse()
    for (begin, length), states in zip(
        spans, ((carry.view, middle), (middle, last.view))
    ):
        part = [x.view.narrow(axis, begin, length) for x in sequences]
        initial, final = states
        launch(case, [*part, initial, y.view.narrow(axis, begin, length), final])
    # The middle state is f32, so the parts meet the bounds of the whole.
    whole.check()
