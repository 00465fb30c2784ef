# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One meaning of a carry: a sequence is its first part, then the rest from its states."""

import numpy as np
import pytest
from operators import KINDS_OF_DECAY, OPERATORS, decays, problem, states_of

from hla import reference

# Lengths of the parts: 9 = 4 + 5, 64 + 1, five parts, empty ones.
PARTS = [(4, 5), (64, 1), (3, 1, 7, 2, 4), (0, 6), (6, 0), (1, 0, 1)]


def in_parts(operator, arrays, parts, options):
    """Outputs of the parts, put together, and the last one's states."""
    q, k, v = arrays
    options = dict(options)
    carry, reverse = options.pop("carry", None), options.get("reverse", False)
    g = options.pop("log_decay", None)
    ends = np.cumsum(parts)
    spans = [slice(end - n, end) for n, end in zip(parts, ends)]
    out = np.full_like(v, np.nan)
    for part in reversed(spans) if reverse else spans:
        if g is not None:
            options["log_decay"] = g[:, part] if g.ndim == 3 else g
        result = operator(q[:, part], k[:, part], v[:, part], carry=carry, **options)
        out[:, part], carry = result.output, result.states
    return out, carry


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("parts", PARTS, ids=str)
@pytest.mark.parametrize("kind", KINDS_OF_DECAY)
@pytest.mark.parametrize("reverse", [False, True])
def test_parts_equal_the_whole(name, parts, kind, reverse):
    tokens = sum(parts)
    arrays = problem(len(parts), tokens)
    options = {"reverse": reverse, **decays(tokens, tokens)[kind]}
    for carry in (None, states_of(OPERATORS[name], 1, options)):
        options["carry"] = carry
        for form in ("definition", "chunked"):
            options["form"] = form
            whole = OPERATORS[name](*arrays, **options)
            out, states = in_parts(OPERATORS[name], arrays, parts, options)
            assert reference.error(out, whole.output) <= 1e-12
            for state, value in whole.states.items():
                assert reference.error(states[state], value) <= 1e-12, state


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("normalize", [("add", 1e-3), ("clamp", 2.0)])
def test_parts_equal_the_whole_normalised(name, normalize):
    arrays = problem(3, 17, features="positive")
    options = {"normalize": normalize, "log_decay": np.full(3, -0.02), "scale": 0.3}
    whole = OPERATORS[name](*arrays, **options)
    out, states = in_parts(OPERATORS[name], arrays, (3, 1, 7, 2, 4), options)
    assert reference.error(out, whole.output) <= 1e-11
    for state, value in whole.states.items():
        assert reference.error(states[state], value) <= 1e-12, state


def test_states_are_named_and_shaped():
    arrays = problem(1, 3)
    q, _, v = arrays
    for name, variants in reference.VARIANTS.items():
        for variant in variants or (None,):
            for decay in (1.0, 0.5):
                for normalize in (None, ("add", 1.0)):
                    options = {"decay": decay, "normalize": normalize}
                    if variant:
                        options["variant"] = variant
                    result = getattr(reference, name)(*arrays, **options)
                    kind = reference.operator(name, variant, decay != 1.0)
                    states = kind.states(normalize is not None)
                    assert list(result.states) == [s.name for s in states]
                    width = {"d": q.shape[3], "dv": v.shape[3], 1: 1}
                    for state, array in zip(states, result.states.values()):
                        assert array.shape == (2, 3, 5, width[state.columns])
