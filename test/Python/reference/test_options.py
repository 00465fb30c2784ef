# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the options mean: each in terms of operators without it."""

import numpy as np
import pytest
from operators import EXACT, OPERATORS, decays, problem, same, states_of

from hla import reference

FORMS = reference.FORMS


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "groups, heads", [((1, 3), (3, 1)), ((3, 1), (1, 3)), ((2, 3), (3, 2))]
)
def test_groups_are_repeated_heads(name, form, groups, heads):
    q, k, v = problem(1, 9, heads=heads)
    whole = OPERATORS[name](q, k, v, groups=groups, form=form, decay=0.9)
    repeated = [
        np.repeat(x, g, axis=2) for x, g in zip((q, k, v), (groups[0], *groups[1:] * 2))
    ]
    same(whole, OPERATORS[name](*repeated, decay=0.9))
    # Head 1 of the result reads head 1 // g of each.
    alone = [
        x[:, :, 1 // g : 1 // g + 1]
        for x, g in zip((q, k, v), (groups[0], *groups[1:] * 2))
    ]
    one = OPERATORS[name](*alone, decay=0.9).output
    assert reference.error(whole.output[:, :, 1:2], one) <= EXACT


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
def test_layouts_are_one_operator(name, form):
    q, k, v = problem(2, 6)
    g = decays(2, 6)["extreme"]["log_decay"]
    expected = OPERATORS[name](q, k, v, log_decay=g, form=form)
    heads = [x.swapaxes(1, 2) for x in (q, k, v, g)]
    out = OPERATORS[name](*heads[:3], log_decay=heads[3], layout="bhtd", form=form)
    assert np.array_equal(out.output.swapaxes(1, 2), expected.output)
    for state in expected.states:
        assert np.array_equal(out.states[state], expected.states[state])


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_carried", [False, True])
def test_reverse_is_forward_on_flipped_tokens(name, form, is_carried):
    q, k, v = problem(3, 8)
    options = decays(3, 8)["token"]
    if is_carried:
        options["carry"] = states_of(OPERATORS[name], 3, options)
    backward = OPERATORS[name](q, k, v, reverse=True, form=form, **options)
    options["log_decay"] = options["log_decay"][:, ::-1]
    flipped = OPERATORS[name](q[:, ::-1], k[:, ::-1], v[:, ::-1], **options)
    same(backward, flipped._replace(output=flipped.output[:, ::-1]))


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("normalize", [None, ("add", 1e-3)])
def test_lengths_are_separate_runs(name, form, reverse, normalize):
    """With slack before, an empty sequence, slack behind."""
    lengths = [2, 6, 6, 7, 15]
    q, k, v = (x[:1] for x in problem(4, 18, features="positive"))
    g = reference.random_log_decay(4, (1, 18, 3), dtype="f64")
    options = {"reverse": reverse, "normalize": normalize, "form": form}
    # A carry of every sequence, N in place of B.
    past = problem(5, 6, features="positive")
    past = [np.concatenate([x, x[::-1]]) for x in past]
    carry = OPERATORS[name](
        *past, log_decay=np.full(3, -0.1), normalize=normalize
    ).states
    out = OPERATORS[name](
        q,
        k,
        v,
        log_decay=g,
        lengths=np.array(lengths, np.int32),
        carry=carry,
        **options,
    )
    inside = np.zeros(18, bool)
    for n, (begin, end) in enumerate(zip(lengths, lengths[1:])):
        part = [x[:, begin:end] for x in (q, k, v, g)]
        initial = {s: x[n : n + 1] for s, x in carry.items()}
        one = OPERATORS[name](*part[:3], log_decay=part[3], carry=initial, **options)
        assert reference.error(out.output[:, begin:end], one.output) <= EXACT
        for state in carry:
            assert (
                reference.error(out.states[state][n : n + 1], one.states[state])
                <= EXACT
            )
        inside[begin:end] = True
    assert (out.output[:, ~inside] == 0.0).all()
    assert reference.sequence_mask(lengths, 18) == inside.tolist()


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
def test_decays_of_every_kind_are_one_decay(name, form):
    q, k, v = problem(5, 7)
    gamma = 0.85
    options = {"form": form}
    constant = OPERATORS[name](q, k, v, decay=gamma, **options)
    g = np.log(gamma)
    head = OPERATORS[name](q, k, v, log_decay=np.full(3, g), **options)
    token = OPERATORS[name](q, k, v, log_decay=np.full((2, 7, 3), g), **options)
    half = np.full((2, 7, 3), g / 2)
    both = OPERATORS[name](q, k, v, decay=gamma**0.5, log_decay=half, **options)
    for other in (head, token, both):
        same(other, constant)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
def test_heads_and_batches_do_not_meet(name, form):
    q, k, v = problem(6, 6)
    g = decays(6, 6)["extreme"]["log_decay"]
    whole = OPERATORS[name](q, k, v, log_decay=g, form=form).output
    for b, h in np.ndindex(2, 3):
        one = (slice(b, b + 1), slice(None), slice(h, h + 1))
        alone = OPERATORS[name](q[one], k[one], v[one], log_decay=g[one], form=form)
        assert reference.error(alone.output, whole[one]) <= EXACT


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("form", FORMS)
def test_normalised_divides_by_the_operator_on_ones(name, form):
    q, k, v = problem(7, 9, features="positive")
    options = {"decay": 0.95, "scale": 0.5, "form": form}
    plain = OPERATORS[name](q, k, v, **options)
    ones = OPERATORS[name](q, k, np.ones((*v.shape[:3], 1)), **options)
    den = ones.output
    add = OPERATORS[name](q, k, v, normalize=("add", 0.3), **options)
    clamp = OPERATORS[name](q, k, v, normalize=("clamp", 1.5), **options)
    assert reference.error(add.output, plain.output / (den + 0.3)) <= EXACT
    held = np.where(den >= 0, np.maximum(den, 1.5), np.minimum(den, -1.5))
    assert reference.error(clamp.output, plain.output / held) <= EXACT
    # Its states stand behind the others: those that v enters, for v ≡ 1.
    names = list(add.states)
    assert names[: len(plain.states)] == list(plain.states)
    wide = [n for n, x in plain.states.items() if x.shape[3] == v.shape[3]]
    for unit, state in zip(names[len(plain.states) :], wide, strict=True):
        assert reference.error(add.states[unit], ones.states[state]) <= EXACT


REFUSED = {
    "decay": ({"decay": 1.5}, "expected decay in"),
    "log_decay": ({"log_decay": np.full(3, 0.1)}, "expected log_decay ≤ 0"),
    "log_decay NaN": ({"log_decay": np.full(3, np.nan)}, "expected log_decay ≤ 0"),
    "log_decay shape": ({"log_decay": np.zeros((2, 3))}, "log_decay of shape"),
    "ridge": ({"ridge": -1.0}, "expected ridge"),
    "scale": ({"scale": np.inf}, "expected scale"),
    "normalize": ({"normalize": ("max", 1.0)}, "expected normalize"),
    "epsilon": ({"normalize": ("add", -1.0)}, "expected ε"),
    "layout": ({"layout": "tbhd"}, "expected layout"),
    "groups": ({"groups": (1, 2)}, "expected q and k of one"),
    "lengths": ({"lengths": [0, 3]}, "expected one batch"),
    "carry": ({"carry": {"S": np.zeros((2, 3, 5, 5))}}, "expected carry to hold"),
    "form": ({"form": "fast"}, "expected form"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refuses(what):
    options, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        reference.second_order(*problem(8, 4), **options)


@pytest.mark.parametrize("lengths", [[0, 9], [-1, 2], [3, 2], [], [0, 2, 1]])
def test_refuses_lengths(lengths):
    one = [x[:1] for x in problem(8, 4)]
    with pytest.raises(ValueError, match="expected lengths to ascend"):
        reference.linear(*one, lengths=lengths)


def test_refuses_what_an_operator_does_not_have():
    arrays = problem(9, 3)
    for name in ("linear", "asymmetric", "third_paper"):
        with pytest.raises(ValueError, match="expected ridge"):
            OPERATORS[name](*arrays, ridge=0.5)
    with pytest.raises(ValueError, match="expected variant"):
        reference.second_order(*arrays, variant="third")
    with pytest.raises(ValueError, match="expected reading"):
        reference.second_order(*arrays, variant="prefix", reading="squared")
    with pytest.raises(ValueError, match="expected scale 1"):
        reference.scan(*arrays, scale=2.0)
    with pytest.raises(ValueError, match="expected an operator"):
        reference.operator("fourth_order")
    q, k, v = arrays
    with pytest.raises(ValueError, match="expected q of rank 4"):
        reference.linear(q[0], k, v)
    with pytest.raises(ValueError, match="expected v with k's"):
        reference.linear(q, k, v[:, :2])
    shape = {"P": np.zeros((1, 3, 5, 4))}
    with pytest.raises(ValueError, match="expected carry P of shape"):
        reference.linear(q, k, v, carry=shape)
