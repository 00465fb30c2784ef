# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The definitions against sums over tuples of tokens, and cases done by hand."""

import itertools

import numpy as np
import pytest
from operators import EXACT, OPERATORS, RIDGED, problem

from hla import reference


def score(q, k, b, h, i, j):
    return q[b, i, h] @ k[b, j, h]


def pair_sum(q, k, v, weight):
    """Σ weight(i, j, t) (q_t·k_i)(q_j·k_i) v_j over i, j ≤ t."""
    o = np.zeros_like(v)
    for b, h, t in np.ndindex(v.shape[0], v.shape[2], v.shape[1]):
        for i, j in itertools.product(range(t + 1), repeat=2):
            product = score(q, k, b, h, t, i) * score(q, k, b, h, j, i)
            o[b, t, h] += weight(i, j, t) * product * v[b, j, h]
    return o


def triple_sum(q, k, v, wanted):
    """Σ (q_t·k_i)(q_u·k_i)(q_u·k_j) v_j over i, u, j ≤ t where ``wanted(i, u, j)``."""
    o = np.zeros_like(v)
    for b, h, t in np.ndindex(v.shape[0], v.shape[2], v.shape[1]):
        for i, u, j in itertools.product(range(t + 1), repeat=3):
            if wanted(i, u, j):
                product = score(q, k, b, h, t, i) * score(q, k, b, h, u, i)
                o[b, t, h] += product * score(q, k, b, h, u, j) * v[b, j, h]
    return o


GAMMA = 0.8

PAIRS = {
    "masked": lambda i, j, t: (i <= j) * GAMMA ** (t - i),
    "squared": lambda i, j, t: (i <= j) * GAMMA ** (2 * t - i - j),
    "prefix": lambda i, j, t: GAMMA ** (2 * t - i - j),
    # What Algorithm 1 leaves of pairs j < i: C decays until i, G from there on.
    "paper": lambda i, j, t: GAMMA ** (2 * t - i - j) - (j < i) * GAMMA ** (t - j - 1),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("tokens", [1, 2, 8])
def test_second_order_is_a_sum_over_pairs(name, tokens):
    q, k, v = problem(tokens, tokens)
    out = OPERATORS[name](q, k, v, decay=GAMMA).output
    assert reference.error(out, pair_sum(q, k, v, PAIRS[name])) <= EXACT


def test_asymmetric_is_a_sum_over_pairs():
    # Σ (q_t·k_i)(q_i·k_j) v_j over j ≤ i ≤ t, decayed from j to i, from i to t.
    q, k, v = problem(1, 8)
    expected = np.zeros_like(v)
    for b, h, t in np.ndindex(2, 3, 8):
        for i in range(t + 1):
            for j in range(i + 1):
                product = score(q, k, b, h, t, i) * score(q, k, b, h, i, j)
                expected[b, t, h] += GAMMA ** (t - j) * product * v[b, j, h]
    out = reference.asymmetric(q, k, v, decay=GAMMA).output
    assert reference.error(out, expected) <= EXACT


def is_masked(i, u, j):
    return i <= u and j <= u


def is_paper(i, u, j):
    return sorted((i, u, j))[1] == max(i, u, j)


@pytest.mark.parametrize("tokens", [1, 2, 6])
def test_third_order_is_a_sum_over_triples(tokens):
    q, k, v = problem(tokens, tokens)
    masked = reference.third_order(q, k, v).output
    paper = reference.third_order(q, k, v, variant="paper").output
    assert reference.error(masked, triple_sum(q, k, v, is_masked)) <= EXACT
    assert reference.error(paper, triple_sum(q, k, v, is_paper)) <= EXACT


def test_the_paper_s_third_order_is_another_operator():
    """Theorem 7.1 says that Algorithm 3 computes the masked (((A Aᵀ) A) ⊙ L) V. It
    drops triples with i, j < u, and keeps those with i = j > u."""
    q, k, v = problem(3, 1)
    one = [
        reference.third_order(q, k, v, variant=x).output for x in ("masked", "paper")
    ]
    assert reference.error(*one) <= EXACT
    q, k, v = problem(3, 6)
    masked = reference.third_order(q, k, v).output
    paper = reference.third_order(q, k, v, variant="paper").output
    assert reference.error(paper, masked) > 0.1
    dropped = triple_sum(q, k, v, lambda i, u, j: i < u and j < u)
    kept = triple_sum(q, k, v, lambda i, u, j: i == j and i > u)
    assert reference.error(paper + dropped - kept, masked) <= EXACT


def test_algorithm_1_without_decay_is_the_masked_operator():
    q, k, v = problem(4, 25)
    masked = reference.second_order(q, k, v)
    paper = reference.second_order(q, k, v, variant="paper")
    assert reference.error(paper.output, masked.output) <= EXACT
    both = [
        reference.second_order(
            *problem(4, 25, features="positive"), variant=x, normalize=("add", 0.5)
        ).output
        for x in ("masked", "paper")
    ]
    assert reference.error(*both) <= EXACT


def test_algorithm_3_without_decay_is_its_decayed_form_at_1():
    # One has states A, R, the other G¹, G², G³; a log-decay of 0 decays nothing.
    q, k, v = problem(5, 20)
    options = {"variant": "paper", "log_decay": np.zeros(3)}
    for form in reference.FORMS:
        plain = reference.third_order(q, k, v, variant="paper", form=form)
        decayed = reference.third_order(q, k, v, form=form, **options)
        assert reference.error(decayed.output, plain.output) <= EXACT
        s, g = plain.states, decayed.states
        total = s["SK"] @ s["SQ"] @ s["P"] - g["G1"] - g["G2"] - g["G3"]
        assert reference.error(total, s["A"] + s["R"]) <= EXACT


def test_prefix_counts_the_pairs_that_the_mask_drops():
    q, k, v = problem(6, 7)
    prefix = reference.second_order(q, k, v, variant="prefix").output
    masked = reference.second_order(q, k, v).output
    dropped = pair_sum(q, k, v, lambda i, j, t: j < i)
    assert reference.error(prefix, masked + dropped) <= EXACT
    assert reference.error(prefix, masked) > 0.1


@pytest.mark.parametrize("name", RIDGED)
def test_ridge_is_added_to_the_gram_matrix(name):
    # S + λI where the output reads it: the carry S = λI, undecayed.
    if name == "third":
        zero = {"P": np.zeros((2, 3, 5, 4)), "F": np.zeros((2, 3, 5, 4))}
    else:
        zero = {n: np.zeros((2, 3, 5, 4)) for n in ("F", "C", "G")}
    q, k, v = problem(7, 9)
    names = OPERATORS[name](q, k, v).states
    carry = {n: zero[n] for n in names if n != "S"}
    carry["S"] = 0.3 * np.eye(5) + np.zeros((2, 3, 5, 5))
    ridged = OPERATORS[name](q, k, v, ridge=0.3)
    carried = OPERATORS[name](q, k, v, carry=carry)
    assert reference.error(ridged.output, carried.output) <= EXACT


def tokens_of_one(*x):
    return np.array(x, dtype=np.float64).reshape(1, -1, 1, 1)


def test_by_hand():
    # d = dv = 1.
    q, k, v = tokens_of_one(1, 2, 1), tokens_of_one(1, 1, 2), tokens_of_one(3, 1, -1)

    def out(name, **options):
        return OPERATORS[name](q, k, v, **options).output.reshape(-1).tolist()

    # S = 1, 2, 6; q v = 3, 2, -1; u = S q = 1, 4, 6; u v = 3, 4, -6; F = 3, 7, 1.
    assert out("masked") == [3, 14, 1]
    # C = 3, 5, 4; u C.
    assert out("prefix") == [3, 20, 24]
    # P = 3, 4, 2; r = q P = 3, 8, 2; k r = 3, 8, 4; E = 3, 11, 15.
    assert out("linear") == [3, 8, 2]
    assert out("asymmetric") == [3, 22, 15]
    # u r = 3, 32, 12; F = 3, 35, 47.
    assert out("third") == [3, 70, 47]
    # κ = 1, 2, 2; p = 0, 6, 4; r = 0, 12, 8; k r = 0, 12, 16; R = 0, 12, 28.
    # u = S q before = 0, 2, 2; σ = k² SQ before = 0, 1, 20;
    # a = κ u + σ k + κ² k = 1, 4+1+4, 4+40+8; a v = 3, 9, -52; A = 3, 12, -40.
    assert out("third_paper") == [3, 48, -12]
    # γ = 1/2: S = 1, 1.5, 4.75; C = 3, 3.5, 0.75; w = k C before = 0, 3, 7.
    # G = 0, 3, 15.5; o = q (S C − G).
    assert out("paper", decay=0.5) == [3, 4.5, 4.75 * 0.75 - 15.5]
    # Scores times 2: to the power of the order.
    assert out("third", scale=2.0) == [24, 560, 376]


def test_normalisers_by_hand():
    q, k, v = tokens_of_one(1, 1, -2), tokens_of_one(1, -1.5, 1), tokens_of_one(2, 4, 6)

    def out(*normalize):
        return reference.linear(q, k, v, normalize=normalize).output.reshape(-1)

    # P = 2, -4, 2: num = 2, -4, -4. m = 1, -0.5, 0.5: den = 1, -0.5, -1.
    assert out("add", 0.0).tolist() == [2, 8, 4]
    assert out("add", 1.0).tolist() == [1, -8, -np.inf]
    assert out("clamp", 0.75).tolist() == [2, -4 / -0.75, 4]
    zero = reference.linear(0 * q, k, v, normalize=("clamp", 0.5)).output
    assert zero.reshape(-1).tolist() == [0, 0, 0]
