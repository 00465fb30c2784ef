# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators: what a user calls, what states they have, and in which forms."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _definitions, _graphs, _scan
from ._arrays import Stream, full
from ._options import Options, normalise
from ._walk import Walk, initial_states

FORMS = ("definition", "recurrence", "chunked")


class Result(NamedTuple):
    """output: float64, in v's layout. states: the final ones by name, in order."""

    output: Any
    states: dict


class State(NamedTuple):
    """One state of an operator, ``[B, H, d, columns]``.

    columns: "d", "dv", or 1 for what the normaliser adds.
    scans: how many scans' results are factors of a term of its sum, and of these
        results, and so on.
    """

    name: str
    columns: Any
    scans: int


@dataclass(frozen=True)
class Operator:
    """order: how many scores a term has. scans: the last scan and those whose results
    are factors of its terms, and of these results, and so on: as many round what
    becomes the output. square: states that v does not enter. wide: those that it
    does, and unit: the same for v ≡ 1; each with its ``scans``."""

    order: int
    scans: int
    square: dict
    wide: dict
    unit: tuple
    definition: Callable
    graph: Callable
    has_ridge: bool = False

    def states(self, is_normalised=False):
        states = [State(n, "d", s) for n, s in self.square.items()]
        states += [State(n, "dv", s) for n, s in self.wide.items()]
        if is_normalised:
            states += [State(n, 1, s) for n, s in zip(self.unit, self.wide.values())]
        return states


def _entry(name, *rest, **options):
    return Operator(
        *rest, getattr(_definitions, name), getattr(_graphs, name), **options
    )


_OPERATORS = {
    "linear": _entry("linear", 1, 1, {}, {"P": 0}, ("m",)),
    "second_order/masked": _entry(
        "second_order_masked", 2, 2, {"S": 0}, {"F": 1}, ("f",), has_ridge=True
    ),
    "second_order/prefix": _entry(
        "second_order_prefix", 2, 2, {"S": 0}, {"C": 0}, ("m",), has_ridge=True
    ),
    "second_order/paper": _entry(
        "second_order_paper",
        2,
        3,
        {"S": 0},
        {"C": 0, "G": 1},
        ("m", "h"),
        has_ridge=True,
    ),
    "asymmetric": _entry("asymmetric", 2, 2, {}, {"P": 0, "E": 1}, ("m", "n")),
    "third_order/masked": _entry(
        "third_order_masked",
        3,
        3,
        {"S": 0},
        {"P": 0, "F": 2},
        ("m", "f"),
        has_ridge=True,
    ),
    "third_order/paper": _entry(
        "third_order_paper",
        3,
        2,
        {"SK": 0, "SQ": 0},
        {"P": 0, "A": 1, "R": 1},
        ("m", "a", "r"),
    ),
    "third_order/paper/decayed": _entry(
        "third_order_paper_decayed",
        3,
        3,
        {"SK": 0, "SQ": 0},
        {"P": 0, "G1": 2, "G2": 2, "G3": 2},
        ("m", "g1", "g2", "g3"),
    ),
}

VARIANTS = {
    "linear": (),
    "second_order": ("masked", "prefix", "paper"),
    "asymmetric": (),
    "third_order": ("masked", "paper"),
}


def operator(name, variant=None, is_decayed=False):
    """The ``Operator`` of a name, and of a variant where it has some, masked by default.

    The paper's third order has other states when it is decayed.
    """
    if name not in VARIANTS:
        raise ValueError(f"expected an operator of {tuple(VARIANTS)}, but got {name!r}")
    variants = VARIANTS[name]
    variant = variant or "masked"
    if variants and variant not in variants:
        raise ValueError(
            f"expected variant of {name} to be one of {variants}, but got {variant!r}"
        )
    key = f"{name}/{variant}" if variants else name
    if is_decayed and f"{key}/decayed" in _OPERATORS:
        key += "/decayed"
    return _OPERATORS[key]


def linear(q, k, v, *, form="definition", chunk=64, perturb=None, **options):
    """``((Q Kᵀ) ⊙ L) V``: o = scan(q,k,v). States P, and m normalised."""
    options = Options(**options)
    return _apply(operator("linear"), q, k, v, options, form, chunk, perturb)


def second_order(
    q,
    k,
    v,
    *,
    variant="masked",
    reading="causal",
    form="definition",
    chunk=64,
    perturb=None,
    **options,
):
    """masked ``((A Aᵀ) ⊙ L) V``, prefix ``q_tᵀ S_t C_t``, or the paper's Algorithm 1.

    States S, F masked; S, C prefix; S, C, G paper; and f; m; m, h normalised.
    reading: "squared" decays F by γ²; masked has the choice.
    """
    options = Options(**options)
    if reading not in ("causal", "squared"):
        raise ValueError(
            f"expected reading to be causal or squared, but got {reading!r}"
        )
    if reading == "squared" and variant != "masked":
        raise ValueError(
            "expected reading causal (the masked operator alone has a choice), but got "
            f"squared with {variant!r}"
        )
    kind = operator("second_order", variant)
    squared = reading == "squared"
    return _apply(kind, q, k, v, options, form, chunk, perturb, squared)


def asymmetric(q, k, v, *, form="definition", chunk=64, perturb=None, **options):
    """``((A A) ⊙ L) V``: r = scan(q,k,v), o = scan(q,k,r). States P, E, and m, n."""
    options = Options(**options)
    return _apply(operator("asymmetric"), q, k, v, options, form, chunk, perturb)


def third_order(
    q,
    k,
    v,
    *,
    variant="masked",
    form="definition",
    chunk=64,
    perturb=None,
    **options,
):
    """masked ``(((A Aᵀ) A) ⊙ L) V``, or the paper's Algorithm 3.

    States S, P, F masked; SK, SQ, P, A, R paper; SK, SQ, P, G1, G2, G3 paper decayed;
    and m, f; m, a, r; m, g1, g2, g3 normalised.
    """
    options = Options(**options)
    kind = operator("third_order", variant, options.is_decayed)
    return _apply(kind, q, k, v, options, form, chunk, perturb)


def scan(
    q,
    k,
    v,
    *,
    exclusive=False,
    form="recurrence",
    chunk=64,
    perturb=None,
    **options,
):
    """The primitive: y_t = S_tᵀ q_t, or S_{t-1}ᵀ q_t exclusive. State S.

    Its definition is the recurrence; form "definition" is its closed form. Of the
    options it has decay, log_decay, reverse, layout, groups, lengths and carry.
    """
    options = Options(**options)
    _refuse(options.ridge, 0.0, "ridge", "the primitive has none")
    _refuse(options.scale, 1.0, "scale", "the primitive has none")
    _refuse(options.normalize, None, "normalize", "the primitive has none")
    walk = Walk(q, k, v, options, options.groups or (1, 1, 1))
    shape = _state_shape(walk, "dv")
    (state,) = initial_states(["S"], [shape], options.carry, walk.v)
    evaluate = functools.partial(_scan_form(form, chunk, perturb), exclusive=exclusive)

    def formula(q, k, v, gamma, s):
        y, s = evaluate(q, k, v, gamma, s)
        return y, [s]

    rows, (final,) = _over_sequences(walk, form, formula, [state])
    return Result(walk.unwalk(rows), {"S": final})


@dataclass(frozen=True)
class _Problem:
    """What a formula reads beside v and the states."""

    q: Any
    k: Any
    gamma: Any
    ridge: float
    is_squared: bool
    scan_form: Callable

    def scan(self, q, k, v, state, *, gamma=None, exclusive=False):
        gamma = self.gamma if gamma is None else gamma
        return self.scan_form(q, k, v, gamma, state, exclusive=exclusive)


def _apply(kind, q, k, v, options, form, chunk, perturb, is_squared=False):
    if not kind.has_ridge:
        _refuse(options.ridge, 0.0, "ridge", "the operator has no one Gram matrix S")
    gq, gkv = options.groups or (1, 1)
    walk = Walk(q, k, v, options, (gq, gkv, gkv))
    specs = kind.states(options.normalize is not None)
    shapes = [_state_shape(walk, s.columns) for s in specs]
    names = [s.name for s in specs]
    states = initial_states(names, shapes, options.carry, walk.v)
    formula = kind.definition if form == "definition" else kind.graph
    scan_form = _scan_form(form, chunk, perturb)
    squares, wides = len(kind.square), len(kind.square) + len(kind.wide)
    factor = options.scale**kind.order

    def evaluate(q, k, v, gamma, *states):
        x = _Problem(q, k, gamma, options.ridge, is_squared, scan_form)
        square, wide, unit = states[:squares], states[squares:wides], states[wides:]
        numerator, final = formula(x, v, *square, *wide)
        if options.normalize is None:
            return factor * numerator, list(final)
        ones = full(v, (*v.shape[:3], 1), 1.0)
        denominator, unit = formula(x, ones, *square, *unit)
        with np.errstate(divide="ignore", invalid="ignore"):
            rows = normalise(
                factor * numerator, factor * denominator, options.normalize
            )
        return rows, [*final, *unit[squares:]]

    rows, final = _over_sequences(walk, form, evaluate, states)
    return Result(walk.unwalk(rows), dict(zip(names, final)))


def _over_sequences(walk, form, formula, states):
    """formula(q, k, v, gamma, *states) → rows, states, on all sequences of the walk.

    The definition gets one sequence at a time, the other forms all at once.
    """
    if walk.spans is None:
        return formula(walk.q, walk.k, walk.v, walk.gamma, *states)
    if form != "definition":
        # v ≡ 1 is 1 on padding too, but there q and k are 0, and so is each product
        # that reaches a state.
        rows, final = formula(walk.q, walk.k, walk.v, walk.gamma, *states)
        return rows, final
    rows = full(walk.v, tuple(walk.v.shape), 0.0)
    final = [1.0 * s for s in states]
    for n, (begin, end) in enumerate(walk.spans):
        part, last = formula(*walk.single(n), *(s[n : n + 1] for s in states))
        rows[n : n + 1, :, : end - begin] = part
        for whole, one in zip(final, last):
            whole[n : n + 1] = one
    return rows, final


def _state_shape(walk, columns):
    d, dv = walk.k.shape[3], walk.v.shape[3]
    width = {"d": d, "dv": dv, 1: 1}[columns]
    return (walk.sequences, walk.shape[1], d, width)


def _scan_form(form, chunk, perturb):
    if form not in FORMS:
        raise ValueError(f"expected form to be one of {FORMS}, but got {form!r}")
    if form == "definition":
        evaluate = _scan.closed_form
    elif form == "recurrence":
        evaluate = _scan.recurrence
    else:
        evaluate = functools.partial(_scan.chunked, chunk=chunk)
    return evaluate if perturb is None else _perturbed(evaluate, *perturb)


def _perturbed(evaluate, size, seed):
    """``evaluate`` with every number that goes in or out times 1 + size·ξ, ξ normal."""
    calls = itertools.count()

    def blur(x):
        stream = Stream([*seed, next(calls)], x)
        return x * (1.0 + size * stream.normal(tuple(x.shape)))

    def scan(q, k, v, gamma, state, exclusive=False):
        q, k, v, state = (blur(x) for x in (q, k, v, state))
        y, final = evaluate(q, k, v, gamma, state, exclusive=exclusive)
        return blur(y), blur(final)

    return scan


def _refuse(value, expected, name, why):
    if value != expected:
        raise ValueError(f"expected {name} {expected} ({why}), but got {value!r}")
