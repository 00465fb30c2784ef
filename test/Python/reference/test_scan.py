# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first-order scan against its closed form, its laws and cases done by hand."""

import itertools

import numpy as np
import pytest

from hla import reference

EXACT = 1e-12

OPTIONS = [
    {"exclusive": exclusive, "reverse": reverse, "decay": decay}
    for exclusive, reverse, decay in itertools.product(
        (False, True), (False, True), (1.0, 0.9)
    )
]


def problem(seed, tokens, d=5, dv=3):
    q, k, v = reference.random_inputs(seed, (2, tokens, 3, d), dv, dtype="f64")
    carry = np.random.default_rng(seed + 1).standard_normal((2, 3, d, dv))
    return q, k, v, carry


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("tokens", [0, 1, 2, 17])
def test_recurrence_equals_closed_form(options, tokens):
    q, k, v, carry = problem(tokens, tokens)
    for initial in (None, carry):
        y, final = reference.scan(q, k, v, initial=initial, **options)
        expected = reference.scan_quadratic(q, k, v, initial=initial, **options)
        assert reference.error(y, expected[0]) <= EXACT
        assert reference.error(final, expected[1]) <= EXACT


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("cut", [0, 1, 9, 13])
def test_two_parts_joined_by_the_carry_equal_the_whole(options, cut):
    q, k, v, carry = problem(7, 13)
    whole, final = reference.scan(q, k, v, initial=carry, **options)
    parts = [slice(0, cut), slice(cut, 13)]
    if options["reverse"]:
        parts.reverse()
    y = np.full_like(whole, np.nan)
    state = carry
    for part in parts:
        y[:, part], state = reference.scan(
            q[:, part], k[:, part], v[:, part], initial=state, **options
        )
    assert reference.error(y, whole) <= EXACT
    assert reference.error(state, final) <= EXACT


def test_no_tokens_yield_the_carry():
    q, k, v, carry = problem(3, 0)
    y, final = reference.scan(q, k, v, initial=carry, decay=0.5)
    assert y.shape == (2, 0, 3, 3)
    assert np.array_equal(final, carry)


def test_the_carry_is_not_written():
    q, k, v, carry = problem(3, 4)
    before = carry.copy()
    reference.scan(q, k, v, initial=carry)
    assert np.array_equal(carry, before)


@pytest.mark.parametrize("decay", [1.0, 0.8])
def test_inclusive_is_decayed_exclusive_plus_own_token(decay):
    # y_t = q_t.(γ S_{t-1} + k_t v_t) = γ q_t.S_{t-1} + (q_t.k_t) v_t
    q, k, v, carry = problem(11, 9)
    inclusive, _ = reference.scan(q, k, v, initial=carry, decay=decay)
    exclusive, _ = reference.scan(q, k, v, initial=carry, decay=decay, exclusive=True)
    own = (q * k).sum(-1, keepdims=True) * v
    assert reference.error(inclusive, decay * exclusive + own) <= EXACT


@pytest.mark.parametrize("exclusive", [False, True])
def test_reverse_is_forward_on_flipped_tokens(exclusive):
    q, k, v, carry = problem(5, 8)
    options = {"exclusive": exclusive, "decay": 0.7, "initial": carry}
    backward, last = reference.scan(q, k, v, reverse=True, **options)
    flipped, final = reference.scan(q[:, ::-1], k[:, ::-1], v[:, ::-1], **options)
    assert np.array_equal(backward, flipped[:, ::-1])
    assert np.array_equal(last, final)


def test_layouts_and_per_head_decay():
    q, k, v, carry = problem(13, 6)
    decay = [0.5, 1.0, 0.25]
    y, final = reference.scan(q, k, v, initial=carry, decay=decay)
    heads = [np.ascontiguousarray(x.swapaxes(1, 2)) for x in (q, k, v)]
    other, _ = reference.scan(*heads, layout="bhtd", initial=carry, decay=decay)
    assert np.array_equal(y.swapaxes(1, 2), other)
    for head, gamma in enumerate(decay):
        one = [x[:, :, head : head + 1] for x in (q, k, v)]
        alone, state = reference.scan(
            *one, initial=carry[:, head : head + 1], decay=gamma
        )
        assert np.array_equal(alone, y[:, :, head : head + 1])
        assert np.array_equal(state, final[:, head : head + 1])


def test_by_hand():
    # d = dv = 1, q = 1, so that y is the state: k v = 2·1, 3·1, 1·4.
    def tokens(*x):
        return np.array(x, dtype=np.float64).reshape(1, -1, 1, 1)

    q, k, v = tokens(1, 1, 10), tokens(2, 3, 1), tokens(1, 1, 4)
    carry = np.full((1, 1, 1, 1), 8.0)

    def y(**options):
        out, final = reference.scan(q, k, v, **options)
        return out.reshape(-1).tolist(), final.item()

    assert y() == ([2, 5, 90], 9)
    assert y(exclusive=True) == ([0, 2, 50], 9)
    assert y(reverse=True) == ([9, 7, 40], 9)
    assert y(reverse=True, exclusive=True) == ([7, 4, 0], 9)
    assert y(decay=0.5) == ([2, 4, 60], 6)
    # Carry 8: states 4+2=6, 3+3=6, 3+4=7.
    assert y(decay=0.5, initial=carry) == ([6, 6, 70], 7)
    # Exclusive reads the state as it stands, before the token decays it.
    assert y(decay=0.5, initial=carry, exclusive=True) == ([8, 6, 60], 7)


def test_identity_states():
    # With q_t = e_1, k_t = e_t and one value a token, nothing but token 1 is read.
    d = 4
    q = np.zeros((1, d, 1, d))
    q[..., 0] = 1.0
    k = np.eye(d).reshape(1, d, 1, d)
    v = np.arange(1.0, d + 1).reshape(1, d, 1, 1)
    y, final = reference.scan(q, k, v)
    assert y.reshape(-1).tolist() == [1, 1, 1, 1]
    assert final.reshape(-1).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["q", "k", "v"])
def test_refuses_wrong_rank(name):
    arrays = dict(zip("qkv", problem(1, 3)))
    arrays[name] = arrays[name][0]
    with pytest.raises(ValueError, match=f"expected {name} of rank 4"):
        reference.scan(arrays["q"], arrays["k"], arrays["v"])


def test_refuses_other_shapes():
    q, k, v, carry = problem(1, 3)
    with pytest.raises(ValueError, match="expected q and k of one shape"):
        reference.scan(q[:, :2], k, v)
    with pytest.raises(ValueError, match="expected v with k's"):
        reference.scan(q, k, v[:, :2])
    with pytest.raises(ValueError, match="expected initial of shape"):
        reference.scan(q, k, v, initial=carry[:1])
    with pytest.raises(ValueError, match="expected layout"):
        reference.scan(q, k, v, layout="tbhd")
