# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators, one by one, and problems for them."""

import functools

import numpy as np

from hla import reference

EXACT = 1e-12

# Every operator and variant, by a name for tests.
OPERATORS = {
    "linear": reference.linear,
    "masked": reference.second_order,
    "squared": functools.partial(reference.second_order, reading="squared"),
    "prefix": functools.partial(reference.second_order, variant="prefix"),
    "paper": functools.partial(reference.second_order, variant="paper"),
    "asymmetric": reference.asymmetric,
    "third": reference.third_order,
    "third_paper": functools.partial(reference.third_order, variant="paper"),
}
ORDERS = {
    "linear": 1,
    "masked": 2,
    "squared": 2,
    "prefix": 2,
    "paper": 2,
    "asymmetric": 2,
    "third": 3,
    "third_paper": 3,
}
RIDGED = ("masked", "squared", "prefix", "paper", "third")

BATCH, HEADS, D, DV = 2, 3, 5, 4


def problem(seed, tokens, *, layout="bthd", features="normal", heads=(3, 3)):
    """q, k and v; ``heads`` of q, and of k and v."""
    shapes = [(BATCH, tokens, h, n) for h, n in zip((*heads, heads[1]), (D, D, DV))]
    stream = np.random.default_rng(seed)
    q, k, v = (stream.standard_normal(shape) for shape in shapes)
    if features == "positive":
        q, k = abs(q), abs(k)
    if layout == "bhtd":
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    return q, k, v


def decays(seed, tokens):
    """The options of every kind of decay, by a name."""
    batch = (BATCH, tokens, HEADS)
    extreme = reference.random_log_decay(seed, batch, gates="extreme", dtype="f64")
    gates = reference.random_log_decay(seed, batch, dtype="f64")
    return {
        "undecayed": {},
        "constant": {"decay": 0.9},
        "tiny": {"decay": 1e-12},
        "head": {"log_decay": np.array([-0.1, 0.0, -np.inf])},
        "token": {"log_decay": gates},
        "extreme": {"log_decay": extreme},
    }


KINDS_OF_DECAY = tuple(decays(0, 1))


def states_of(operator, seed, options):
    """A carry that has the states of ``operator`` under ``options``."""
    past = problem(seed + 1000, 6, features="positive")
    mild = {n: x for n, x in options.items() if n in ("decay", "normalize")}
    if "log_decay" in options:
        mild["log_decay"] = np.full(HEADS, -0.1)
    return operator(*past, **mild).states


def same(result, expected, bound=EXACT):
    """Whether outputs and states agree; ``error`` is inf for NaN."""
    assert reference.error(result.output, expected.output) <= bound
    assert list(result.states) == list(expected.states)
    for name, state in expected.states.items():
        assert reference.error(result.states[name], state) <= bound, name
