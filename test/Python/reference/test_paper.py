# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The serial recurrence of arXiv 2510.27258 and what its text gets wrong."""

import functools

import numpy as np
import pytest

from hla import reference

EXACT = 1e-12


def problem(seed, tokens, d=4, dv=3):
    return reference.random_inputs(seed, (1, tokens, 2, d), dv, dtype="f64")


def test_undecayed_is_the_masked_operator():
    q, k, v = problem(1, 25)
    out, segment = reference.paper_recurrence(q, k, v)
    assert reference.error(out, reference.second_order(q, k, v)) <= EXACT
    # Two states carry what these three do: S C − G is the second scan's state.
    u, _ = reference.scan(q, k, k)
    _, f = reference.scan(q, u, v)
    assert reference.error(segment.S @ segment.C - segment.G, f) <= EXACT


def test_normalised_divides_by_the_operator_on_ones():
    q, k, v = problem(2, 12)
    out, _ = reference.paper_recurrence(q, k, v, normalised=True, epsilon=0.25)
    ones = np.ones((*v.shape[:3], 1))
    denominator = reference.second_order(q, k, ones) + 0.25
    expected = reference.second_order(q, k, v) / denominator
    assert reference.error(out, expected) <= 1e-10


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.5])
def test_decayed_as_scans(gamma):
    # u = scan(q,k,k), w = scanₓ(k,q,v), o = scan(u,q,v) − scan(q,k,w), each decayed
    # by γ. The exclusive scan reads C_{t-1} undecayed, as G's update does.
    q, k, v = problem(3, 15)
    out, _ = reference.paper_recurrence(q, k, v, decay=gamma)
    u, _ = reference.scan(q, k, k, decay=gamma)
    w, _ = reference.scan(k, q, v, decay=gamma, exclusive=True)
    first, _ = reference.scan(u, q, v, decay=gamma)
    second, _ = reference.scan(q, k, w, decay=gamma)
    assert reference.error(out, first - second) <= EXACT


def segments(gamma, tokens=9):
    q, k, v = problem(4, tokens)

    def one(t):
        return tuple(x[:, t : t + 1] for x in (q, k, v))

    parts = [reference.paper_recurrence(*one(t), decay=gamma)[1] for t in range(tokens)]
    return parts, reference.paper_recurrence(q, k, v, decay=gamma)[1]


def folds(concatenate, parts):
    left = functools.reduce(concatenate, parts)
    right = functools.reduce(lambda b, a: concatenate(a, b), reversed(parts))
    return left, right


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.5])
def test_corrected_concatenation_is_associative_and_serial(gamma):
    parts, whole = segments(gamma)
    for fold in folds(reference.PaperSegment.concatenate, parts):
        for name in ("S", "C", "G", "m", "h", "T"):
            ours, serial = getattr(fold, name), getattr(whole, name)
            assert reference.error(ours, serial) <= EXACT, name


def test_printed_concatenation_is_neither_once_decayed():
    printed = reference.PaperSegment.concatenate_as_printed
    parts, whole = segments(1.0)
    for fold in folds(printed, parts):
        assert reference.error(fold.G, whole.G) <= EXACT

    parts, whole = segments(0.9)
    left, right = folds(printed, parts)
    assert reference.error(left.C, whole.C) <= EXACT
    assert reference.error(left.G, right.G) > 0.05
    assert reference.error(left.G, whole.G) > 0.05
