# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator, under every option: its definition equals its graph of scans."""

import numpy as np
import pytest
from operators import (
    KINDS_OF_DECAY,
    OPERATORS,
    ORDERS,
    RIDGED,
    decays,
    problem,
    same,
    states_of,
)

from hla import reference


def forms(operator, q, k, v, bound=1e-12, chunks=(1, 4, 64), **options):
    """Compares all forms; returns the definition's result."""
    expected = operator(q, k, v, form="definition", **options)
    same(operator(q, k, v, form="recurrence", **options), expected, bound)
    for chunk in chunks:
        result = operator(q, k, v, form="chunked", chunk=chunk, **options)
        same(result, expected, bound)
    return expected


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", KINDS_OF_DECAY)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("tokens", [0, 1, 2, 17])
def test_forms_agree(name, kind, reverse, tokens):
    q, k, v = problem(tokens, tokens)
    options = {"reverse": reverse, **decays(tokens, tokens)[kind]}
    forms(OPERATORS[name], q, k, v, **options)
    carry = states_of(OPERATORS[name], tokens, options)
    forms(OPERATORS[name], q, k, v, carry=carry, **options)


@pytest.mark.parametrize("name", [n for n in OPERATORS if n != "third_paper"])
def test_forms_agree_on_any_carry(name):
    """A state need not be one that tokens leave. (SK and SQ must be symmetric: the
    paper's third order multiplies by them from either side.)"""
    q, k, v = problem(2, 9)
    stream = np.random.default_rng(2)
    states = OPERATORS[name](q, k, v).states
    carry = {n: stream.standard_normal(x.shape) for n, x in states.items()}
    forms(OPERATORS[name], q, k, v, carry=carry, decay=0.9)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kind", ["undecayed", "constant", "token"])
@pytest.mark.parametrize("normalize", [("add", 1e-6), ("add", 2.0), ("clamp", 3.0)])
def test_forms_agree_normalised(name, kind, normalize):
    # 1e-10: with decay the paper's denominators are differences.
    q, k, v = problem(3, 13, features="positive")
    options = {"normalize": normalize, "scale": 0.5, **decays(3, 13)[kind]}
    carry = states_of(OPERATORS[name], 3, options)
    forms(OPERATORS[name], q, k, v, 1e-10, **options)
    forms(OPERATORS[name], q, k, v, 1e-10, carry=carry, **options)


@pytest.mark.parametrize("name", RIDGED)
@pytest.mark.parametrize("kind", ["undecayed", "extreme"])
def test_forms_agree_ridged(name, kind):
    q, k, v = problem(4, 13)
    options = decays(4, 13)[kind]
    ridged = forms(OPERATORS[name], q, k, v, ridge=0.7, **options)
    plain = OPERATORS[name](q, k, v, **options)
    assert reference.error(ridged.output, plain.output) > 0.01


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("layout", ["bthd", "bhtd"])
@pytest.mark.parametrize("lengths", [[0, 4, 4, 11], [2, 3, 9], [5], [0, 0], [0, 12]])
def test_forms_agree_on_packed_sequences(name, layout, lengths):
    q, k, v = (x[:1] for x in problem(5, 12, layout=layout))
    g = reference.random_log_decay(5, (1, 12, 3), layout=layout, dtype="f64")
    for options in ({}, {"log_decay": g, "reverse": True}):
        options |= {"layout": layout, "lengths": lengths}
        forms(OPERATORS[name], q, k, v, **options)


@pytest.mark.parametrize("name", OPERATORS)
def test_no_tokens_yield_the_carry(name):
    q, k, v = problem(6, 0)
    carry = states_of(OPERATORS[name], 6, {"decay": 0.5})
    before = {n: x.copy() for n, x in carry.items()}
    result = OPERATORS[name](q, k, v, decay=0.5, carry=carry)
    assert result.output.shape == v.shape
    for state in carry:
        assert np.array_equal(result.states[state], before[state])
        assert np.array_equal(carry[state], before[state])


@pytest.mark.parametrize("name", OPERATORS)
def test_causal(name):
    q, k, v = problem(7, 10)
    whole = OPERATORS[name](q, k, v, decay=0.9).output
    part = OPERATORS[name](*(x[:, :6] for x in (q, k, v)), decay=0.9).output
    assert reference.error(part, whole[:, :6]) <= 1e-12
    back = OPERATORS[name](q, k, v, decay=0.9, reverse=True).output
    part = OPERATORS[name](*(x[:, 6:] for x in (q, k, v)), decay=0.9, reverse=True)
    assert reference.error(part.output, back[:, 6:]) <= 1e-12


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", ["definition", "recurrence", "chunked"])
def test_nothing_is_nan_where_everything_is_forgotten(name, form):
    q, k, v = problem(8, 9)
    g = np.full((2, 9, 3), -np.inf)
    forgotten = OPERATORS[name](q, k, v, log_decay=g, form=form).output
    # Every token alone, in a batch of its own.
    alone = [x.reshape(-1, 1, *x.shape[2:]) for x in (q, k, v)]
    expected = OPERATORS[name](*alone).output.reshape(v.shape)
    if name in ("paper", "third_paper"):
        # These read statistics from before the token that forgets.
        assert np.isfinite(forgotten).all()
    else:
        assert reference.error(forgotten, expected) <= 1e-12


@pytest.mark.parametrize("name", OPERATORS)
def test_homogeneous(name):
    # Of degree n in q and k each, and linear in v: what scale means.
    q, k, v = problem(9, 7)
    whole = OPERATORS[name](q, k, v, scale=0.25).output
    parts = OPERATORS[name](0.5 * q, 0.5 * k, v).output
    assert reference.error(whole, parts) <= 1e-12
    factor = 0.25 ** ORDERS[name]
    expected = factor * OPERATORS[name](q, k, v).output
    assert reference.error(whole, expected) <= 1e-12


@pytest.mark.parametrize("name", OPERATORS)
def test_long_and_undecayed(name):
    q, k, v = reference.random_inputs(1, (1, 700, 1, 4), 3, dtype="f64")
    by_token = OPERATORS[name](q, k, v, form="recurrence")
    by_chunk = OPERATORS[name](q, k, v, form="chunked", chunk=128)
    same(by_chunk, by_token)


@pytest.mark.parametrize("name", OPERATORS)
def test_torch_gives_numpy_results(name):
    torch = pytest.importorskip("torch")
    q, k, v = reference.random_inputs(3, (1, 20, 2, 8), 4, dtype="bf16")
    g = reference.random_log_decay(3, (1, 20, 2), gates="extreme")
    tensors = [torch.from_numpy(x).to(torch.bfloat16) for x in (q, k, v)]
    for options in (
        {"reverse": True, "normalize": ("clamp", 0.1)},
        {"lengths": [0, 3, 3, 15]},
    ):
        for form in ("definition", "recurrence", "chunked"):
            options["form"] = form
            result = OPERATORS[name](*tensors, log_decay=torch.from_numpy(g), **options)
            expected = OPERATORS[name](q, k, v, log_decay=g, **options)
            assert result.output.dtype == torch.float64
            assert reference.error(result.output.numpy(), expected.output) <= 1e-12
            for state, value in expected.states.items():
                assert reference.error(result.states[state].numpy(), value) <= 1e-12
