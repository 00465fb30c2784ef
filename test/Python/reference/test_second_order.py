# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of the second-order operator against its definition."""

import numpy as np
import pytest

from hla import reference

EXACT = 1e-12
VARIANTS = ("masked", "prefix")


def problem(seed, tokens, d=5, dv=3, layout="bthd"):
    return reference.random_inputs(
        seed, (2, tokens, 3, d), dv, dtype="f64", layout=layout
    )


def triple_sum(q, k, v, masked):
    """o_t = Σ (q_t·k_i)(k_i·q_j) v_j over i, j ≤ t, and i ≤ j if masked."""
    o = np.zeros_like(v)
    batch, tokens, heads, _ = v.shape
    for b, h, t in np.ndindex(batch, heads, tokens):
        for j in range(t + 1):
            for i in range((j if masked else t) + 1):
                score = (q[b, t, h] @ k[b, i, h]) * (k[b, i, h] @ q[b, j, h])
                o[b, t, h] += score * v[b, j, h]
    return o


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("tokens", [0, 1, 2, 9])
def test_definition_is_the_triple_sum(variant, tokens):
    q, k, v = problem(tokens, tokens)
    expected = triple_sum(q, k, v, masked=variant == "masked")
    out = reference.second_order(q, k, v, variant=variant)
    assert reference.error(out, expected) <= EXACT


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("layout", ["bthd", "bhtd"])
@pytest.mark.parametrize("tokens", [0, 1, 2, 33])
def test_forms_agree(variant, layout, tokens):
    q, k, v = problem(tokens, tokens, layout=layout)
    options = {"variant": variant, "layout": layout}
    expected = reference.second_order(q, k, v, **options)
    recurrence = reference.second_order_recurrence(q, k, v, **options)
    assert reference.error(recurrence, expected) <= EXACT
    # From one row of scores at a time to all of them at once.
    for score_elements in (1, 400, 1 << 20):
        blocks = reference.second_order_blockwise(
            q, k, v, score_elements=score_elements, **options
        )
        assert reference.error(blocks, expected) <= EXACT


def test_layouts_are_one_operator():
    q, k, v = problem(2, 6)
    heads = [x.swapaxes(1, 2) for x in (q, k, v)]
    expected = reference.second_order(q, k, v)
    out = reference.second_order(*heads, layout="bhtd")
    assert np.array_equal(out.swapaxes(1, 2), expected)


def test_causal():
    for variant in VARIANTS:
        q, k, v = problem(4, 10)
        whole = reference.second_order(q, k, v, variant=variant)
        part = reference.second_order(q[:, :6], k[:, :6], v[:, :6], variant=variant)
        assert reference.error(part, whole[:, :6]) <= EXACT


def test_prefix_counts_the_pairs_that_the_mask_drops():
    # prefix − masked = q_t.(S_t C_t) − o_t = q_t.G_t with the paper's G.
    q, k, v = problem(6, 1)
    one = [reference.second_order(q, k, v, variant=x) for x in VARIANTS]
    assert reference.error(*one) <= EXACT
    q, k, v = problem(6, 7)
    many = [reference.second_order(q, k, v, variant=x) for x in VARIANTS]
    assert reference.error(*many) > 0.1


def test_causal_decay():
    # The triple (i, j, t) weighs γ^{t-i}; with γ² outside, γ^{2t-i-j}.
    gamma = 0.9
    q, k, v = problem(8, 8)
    out = reference.second_order_recurrence(q, k, v, decay=gamma)
    assert reference.error(out, reference.second_order(q, k, v, decay=gamma)) <= EXACT
    squared = reference.second_order_recurrence(
        q, k, v, decay=gamma, output_decay=gamma**2
    )
    expected = np.zeros_like(v)
    for b, h, t in np.ndindex(2, 3, 8):
        for j in range(t + 1):
            for i in range(j + 1):
                score = (q[b, t, h] @ k[b, i, h]) * (k[b, i, h] @ q[b, j, h])
                expected[b, t, h] += gamma ** (2 * t - i - j) * score * v[b, j, h]
    assert reference.error(squared, expected) <= EXACT


def test_by_hand():
    # d = dv = 1: masked o_t = q_t Σ_{j≤t} q_j v_j Σ_{i≤j} k_i².
    def tokens(*x):
        return np.array(x, dtype=np.float64).reshape(1, -1, 1, 1)

    q, k, v = tokens(1, 2, 1), tokens(1, 1, 2), tokens(3, 1, -1)
    # S = 1, 2, 6; q v = 3, 2, -1; masked F = 3, 7, 1; prefix S C = 3, 2·5, 6·4.
    masked = reference.second_order(q, k, v).reshape(-1).tolist()
    prefix = reference.second_order(q, k, v, variant="prefix").reshape(-1).tolist()
    assert masked == [3, 14, 1]
    assert prefix == [3, 20, 24]


def test_refuses_what_it_does_not_define():
    q, k, v = problem(1, 3)
    with pytest.raises(ValueError, match="expected variant"):
        reference.second_order(q, k, v, variant="third")
    with pytest.raises(ValueError, match="expected decay 1"):
        reference.second_order(q, k, v, variant="prefix", decay=0.5)


def test_torch_gives_numpy_results():
    torch = pytest.importorskip("torch")
    q, k, v = reference.random_inputs(3, (1, 20, 2, 8), 4, dtype="bf16")
    tensors = [torch.from_numpy(x).to(torch.bfloat16) for x in (q, k, v)]
    for form in (
        reference.second_order,
        reference.second_order_recurrence,
        reference.second_order_blockwise,
    ):
        for variant in VARIANTS:
            out = form(*tensors, variant=variant)
            assert out.dtype == torch.float64
            expected = form(q, k, v, variant=variant)
            assert reference.error(out.numpy(), expected) <= EXACT
