# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first-order scan against its closed form, its laws and cases done by hand."""

import itertools

import numpy as np
import pytest
from operators import EXACT, KINDS_OF_DECAY, decays, problem, same

from hla import reference

DIRECTIONS = list(itertools.product((False, True), (False, True)))


def carry_of(seed):
    return {"S": np.random.default_rng(seed).standard_normal((2, 3, 5, 4))}


@pytest.mark.parametrize("exclusive, reverse", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS_OF_DECAY)
@pytest.mark.parametrize("tokens", [0, 1, 2, 17])
def test_forms_agree(exclusive, reverse, kind, tokens):
    q, k, v = problem(tokens, tokens)
    options = {"exclusive": exclusive, "reverse": reverse, **decays(1, tokens)[kind]}
    for carry in (None, carry_of(tokens)):
        expected = reference.scan(q, k, v, carry=carry, **options)
        for form, chunk in (("definition", 1), ("chunked", 1), ("chunked", 5)):
            result = reference.scan(
                q, k, v, carry=carry, form=form, chunk=chunk, **options
            )
            same(result, expected)


@pytest.mark.parametrize("exclusive, reverse", DIRECTIONS)
@pytest.mark.parametrize("kind", KINDS_OF_DECAY)
@pytest.mark.parametrize("cut", [0, 1, 9, 13])
def test_two_parts_joined_by_the_carry_equal_the_whole(exclusive, reverse, kind, cut):
    arrays, options = problem(7, 13), decays(7, 13)[kind]
    flags = {"exclusive": exclusive, "reverse": reverse}
    g = options.pop("log_decay", None)

    def run(part, carry):
        if g is not None:
            options["log_decay"] = g[:, part] if g.ndim == 3 else g
        part = [x[:, part] for x in arrays]
        return reference.scan(*part, carry=carry, **flags, **options)

    whole = run(slice(None), carry_of(7))
    parts = [slice(0, cut), slice(cut, 13)]
    y, states = np.full_like(whole.output, np.nan), carry_of(7)
    for part in reversed(parts) if reverse else parts:
        y[:, part], states = run(part, states)
    same(reference.Result(y, states), whole)


def test_no_tokens_yield_the_carry():
    q, k, v = problem(3, 0)
    result = reference.scan(q, k, v, carry=carry_of(3), decay=0.5)
    assert result.output.shape == (2, 0, 3, 4)
    assert np.array_equal(result.states["S"], carry_of(3)["S"])


def test_the_carry_is_not_written():
    carry = carry_of(3)
    reference.scan(*problem(3, 4), carry=carry)
    assert np.array_equal(carry["S"], carry_of(3)["S"])


@pytest.mark.parametrize("decay", [1.0, 0.8])
def test_inclusive_is_decayed_exclusive_plus_own_token(decay):
    # y_t = q_t.(γ S_{t-1} + k_t v_t) = γ q_t.S_{t-1} + (q_t.k_t) v_t
    q, k, v = problem(11, 9)
    options = {"carry": carry_of(11), "decay": decay}
    inclusive = reference.scan(q, k, v, **options).output
    exclusive = reference.scan(q, k, v, exclusive=True, **options).output
    own = (q * k).sum(-1, keepdims=True) * v
    assert reference.error(inclusive, decay * exclusive + own) <= EXACT


@pytest.mark.parametrize("form", reference.FORMS)
def test_groups_are_repeated_heads(form):
    q, k, v = problem(5, 8)
    arrays = q[:, :, :2], k[:, :, :1], v
    repeated = [np.repeat(x, g, axis=2) for x, g in zip(arrays, (3, 6, 2))]
    grouped = reference.scan(*arrays, groups=(3, 6, 2), form=form)
    same(grouped, reference.scan(*repeated))


@pytest.mark.parametrize("exclusive, reverse", DIRECTIONS)
@pytest.mark.parametrize("form", reference.FORMS)
def test_lengths_are_separate_runs(exclusive, reverse, form):
    q, k, v = (x[:1] for x in problem(6, 11))
    lengths = [1, 5, 5, 9]
    options = {"exclusive": exclusive, "reverse": reverse, "form": form}
    carry = np.random.default_rng(1).standard_normal((3, 3, 5, 4))
    out = reference.scan(q, k, v, lengths=lengths, carry={"S": carry}, **options)
    for n, (begin, end) in enumerate(zip(lengths, lengths[1:])):
        part = [x[:, begin:end] for x in (q, k, v)]
        one = reference.scan(*part, carry={"S": carry[n : n + 1]}, **options)
        assert reference.error(out.output[:, begin:end], one.output) <= EXACT
        assert reference.error(out.states["S"][n : n + 1], one.states["S"]) <= EXACT
    assert not out.output[:, [0, 9, 10]].any()


def test_by_hand():
    # d = dv = 1, q = 1, so that y is the state: k v = 2·1, 3·1, 1·4.
    def tokens(*x):
        return np.array(x, dtype=np.float64).reshape(1, -1, 1, 1)

    q, k, v = tokens(1, 1, 10), tokens(2, 3, 1), tokens(1, 1, 4)
    carry = {"S": np.full((1, 1, 1, 1), 8.0)}

    def y(**options):
        out, states = reference.scan(q, k, v, **options)
        return out.reshape(-1).tolist(), states["S"].item()

    assert y() == ([2, 5, 90], 9)
    assert y(exclusive=True) == ([0, 2, 50], 9)
    assert y(reverse=True) == ([9, 7, 40], 9)
    assert y(reverse=True, exclusive=True) == ([7, 4, 0], 9)
    assert y(decay=0.5) == ([2, 4, 60], 6)
    # Carry 8: states 4+2=6, 3+3=6, 3+4=7.
    assert y(decay=0.5, carry=carry) == ([6, 6, 70], 7)
    # Exclusive reads the state as it stands, before the token decays it.
    assert y(decay=0.5, carry=carry, exclusive=True) == ([8, 6, 60], 7)
    # γ = 1, 0, 1/2 by tokens; backwards the carry is decayed by the last one first.
    g = np.array([0.0, -np.inf, np.log(0.5)]).reshape(1, 3, 1)
    assert y(log_decay=g, carry=carry) == ([10, 3, 55], 5.5)
    assert y(log_decay=g, carry=carry, exclusive=True) == ([8, 10, 30], 5.5)
    assert y(log_decay=g, carry=carry, reverse=True) == ([5, 3, 80], 5)


def test_identity_states():
    # With q_t = e_1, k_t = e_t and one value a token, nothing but token 1 is read.
    d = 4
    q = np.zeros((1, d, 1, d))
    q[..., 0] = 1.0
    k = np.eye(d).reshape(1, d, 1, d)
    v = np.arange(1.0, d + 1).reshape(1, d, 1, 1)
    y, states = reference.scan(q, k, v)
    assert y.reshape(-1).tolist() == [1, 1, 1, 1]
    assert states["S"].reshape(-1).tolist() == [1, 2, 3, 4]


def test_refuses_other_shapes():
    q, k, v = problem(1, 3)
    with pytest.raises(ValueError, match="expected q and k of one"):
        reference.scan(q[:, :2], k, v)
    with pytest.raises(ValueError, match="expected v with k's"):
        reference.scan(q, k, v[:, :2])
    with pytest.raises(ValueError, match="expected carry S of shape"):
        reference.scan(q, k, v, carry={"S": np.zeros((1, 3, 5, 4))})
