# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Composition of segments: an algebra, and where the paper's printed one is not."""

import dataclasses
import functools

import numpy as np
import pytest
from operators import EXACT, OPERATORS, decays, problem

from hla import reference

# A segment, the operator that has its states, and how they are called there.
SEGMENTS = {
    "linear": (reference.ScanSegment, "linear", {"S": "P"}),
    "masked": (reference.MaskedSegment, "masked", {}),
    "squared": (reference.SquaredSegment, "squared", {}),
    "prefix": (reference.PaperSegment, "prefix", {}),
    "paper": (reference.PaperSegment, "paper", {}),
    "asymmetric": (reference.AsymmetricSegment, "asymmetric", {}),
    "third": (reference.ThirdOrderSegment, "third", {}),
}
KINDS = ("undecayed", "constant", "token", "extreme")


def tokens_of(kind, tokens, seed=1):
    """q, k, v as [B, H, T, D] and γ as [B, H, T]; and the same for an operator."""
    arrays = problem(seed, tokens)
    options = decays(seed, tokens)[kind]
    g = options.get(
        "log_decay", np.full((2, tokens, 3), np.log(options.get("decay", 1)))
    )
    heads = [x.swapaxes(1, 2) for x in arrays]
    return [*heads, np.exp(g).swapaxes(1, 2)], arrays, options


def part(heads, begin, end):
    return [x[:, :, begin:end] for x in heads]


def equal(a, b, bound=EXACT):
    for field in dataclasses.fields(b):
        x, y = getattr(a, field.name), getattr(b, field.name)
        assert reference.error(x, y) <= bound, field.name


@pytest.mark.parametrize("name", SEGMENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_associative(name, kind):
    segment, _, _ = SEGMENTS[name]
    heads, _, _ = tokens_of(kind, 9)
    for cuts in ((3, 6), (4, 5), (1, 8), (0, 9)):
        a, b, c = (segment.of(*part(heads, *x)) for x in zip((0, *cuts), (*cuts, 9)))
        equal(a.concatenate(b).concatenate(c), a.concatenate(b.concatenate(c)))


@pytest.mark.parametrize("name", SEGMENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_identity_and_no_more(name, kind):
    segment, _, _ = SEGMENTS[name]
    heads, _, _ = tokens_of(kind, 5)
    a = segment.of(*heads)
    nothing = segment.identity(heads[2], (2, 3), 5, 4)
    equal(nothing.concatenate(a), a)
    equal(a.concatenate(nothing), a)
    equal(segment.of(*part(heads, 2, 2)), nothing)
    # Order matters.
    b, c = segment.of(*part(heads, 0, 2)), segment.of(*part(heads, 2, 5))
    if kind != "undecayed" or name != "linear":
        with pytest.raises(AssertionError):
            equal(b.concatenate(c), c.concatenate(b))


@pytest.mark.parametrize("name", SEGMENTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_segment_has_the_states_of_the_operator(name, kind):
    segment, operator, names = SEGMENTS[name]
    heads, arrays, options = tokens_of(kind, 12)
    parts = [segment.of(*part(heads, t, t + 3)) for t in (0, 3, 6, 9)]
    tree = parts[0].concatenate(parts[1]).concatenate(parts[2].concatenate(parts[3]))
    expected = OPERATORS[operator](*arrays, **options).states
    for state, value in expected.items():
        ours = getattr(tree, {v: k for k, v in names.items()}.get(state, state))
        assert reference.error(ours, value) <= EXACT, state


@pytest.mark.parametrize("name", SEGMENTS)
@pytest.mark.parametrize("kind", ["undecayed", "constant", "token"])
def test_what_follows_a_carry(name, kind):
    """A segment takes any carry, as the operator does: segments of T are summed up
    apart, their carries found by composition."""
    segment, operator, names = SEGMENTS[name]
    heads, arrays, options = tokens_of(kind, 10)
    names = {v: k for k, v in names.items()}
    whole = OPERATORS[operator](*arrays, **options)
    before = segment.of(*part(heads, 0, 6))
    carry = {s: getattr(before, names.get(s, s)) for s in whole.states}
    rest = [x[:, 6:] for x in arrays]
    if "log_decay" in options:
        options["log_decay"] = options["log_decay"][:, 6:]
    out = OPERATORS[operator](*rest, carry=carry, **options).output
    assert reference.error(out, whole.output[:, 6:]) <= EXACT


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.5])
def test_cross_term_is_of_undecayed_key_products(gamma):
    """(ρ_B/γ) T_B C_A with T_B = Σ k kᵀ: what a constant decay makes of T."""
    (q, k, v, _), _, _ = tokens_of("undecayed", 7)
    segment = reference.PaperSegment.of(q, k, v, np.full(v.shape[:3], gamma))
    keys = k.swapaxes(2, 3) @ k
    assert reference.error(segment.T, segment.rho / gamma * keys) <= EXACT


def folds(concatenate, parts):
    left = functools.reduce(concatenate, parts)
    right = functools.reduce(lambda b, a: concatenate(a, b), reversed(parts))
    return left, right


@pytest.mark.parametrize(
    "segment, cross",
    [(reference.PaperSegment, "G"), (reference.AsymmetricSegment, "E")],
    ids=["second order", "asymmetric"],
)
def test_printed_concatenation_is_no_algebra_once_decayed(segment, cross):
    """The erratum: what the paper prints has cross terms of decayed products."""
    for gamma, is_right in ((1.0, True), (0.9, False)):
        heads, _, _ = tokens_of("undecayed", 9)
        heads[3] = np.full(heads[3].shape, gamma)
        whole = segment.of(*heads)
        parts = [segment.of(*part(heads, t, t + 1)) for t in range(9)]
        left, right = folds(segment.concatenate_as_printed, parts)
        states = [getattr(x, cross) for x in (left, right, whole)]
        if is_right:
            assert reference.error(states[0], states[2]) <= EXACT
            assert reference.error(states[1], states[2]) <= EXACT
        else:
            # Not associative: at most one fold yields what the recurrence does.
            assert reference.error(states[0], states[1]) > 0.05
            assert max(reference.error(x, states[2]) for x in states[:2]) > 0.05
        # The corrected one, from either side.
        for fold in folds(segment.concatenate, parts):
            equal(fold, whole)


@pytest.mark.parametrize("normalize", [None, ("add", 1.0)])
def test_conversion_of_states(normalize):
    """(S, F) from (S, C, G) and back: what continues one operator continues the other."""
    arrays = problem(2, 14)
    options = {"normalize": normalize}
    masked = reference.second_order(*arrays, **options)
    paper = reference.second_order(*arrays, variant="paper", **options)
    converted = reference.masked_states(paper.states)
    assert list(converted) == list(masked.states)
    for name, state in masked.states.items():
        assert reference.error(converted[name], state) <= EXACT
    back = reference.paper_states(
        masked.states, paper.states["C"], paper.states.get("m")
    )
    assert set(back) == set(paper.states)
    for name, state in paper.states.items():
        assert reference.error(back[name], state) <= EXACT
    more = problem(3, 6)
    on = reference.second_order(*more, carry=converted, **options)
    other = reference.second_order(
        *more, variant="paper", carry=paper.states, **options
    )
    assert reference.error(on.output, other.output) <= 1e-11
