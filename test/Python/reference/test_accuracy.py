# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error measures, and the bounds against a kernel's arithmetic emulated."""

import math

import numpy as np
import pytest

from hla import reference


def test_error_is_the_relative_frobenius_norm():
    ref = np.array([3.0, 4.0])
    assert reference.error(ref, ref) == 0.0
    assert reference.error(ref + [0.0, 0.5], ref) == pytest.approx(0.1)
    # In float64: the inputs' own type would lose the difference.
    assert reference.error(np.float32([1 + 2**-23]), np.float32([1])) == 2**-23


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_output_never_passes(bad):
    ref = np.ones((1, 100, 1, 4))
    out = ref.copy()
    out[0, 71, 0, 2] = bad
    assert reference.error(out, ref) == math.inf
    assert reference.worst_error(out, ref) == math.inf


def test_error_edges():
    zero = np.zeros((1, 2, 1, 1))
    assert reference.error(zero, zero) == 0.0
    assert reference.error(zero + 1e-100, zero) == math.inf
    assert reference.error(np.zeros((1, 0, 1, 1)), np.zeros((1, 0, 1, 1))) == 0.0
    with pytest.raises(ValueError, match="expected out of ref's shape"):
        reference.error(zero, zero[:, :1])
    with pytest.raises(ValueError, match="expected a finite ref"):
        reference.error(zero, zero + np.inf)


def test_worst_error_joins_the_tail_to_its_block():
    ref = np.ones((1, 130, 1, 1))
    out = ref.copy()
    out[0, 129] = 2.0
    assert reference.worst_error(out, ref) == pytest.approx(math.sqrt(1 / 66))
    out[0, 10] = 9.0
    assert reference.worst_error(out, ref) == pytest.approx(1.0)


def test_worst_error_sees_what_the_whole_hides():
    ref = np.ones((1, 256, 2, 4)) * 1e-3
    ref[0, 128:] = 1.0
    out = ref.copy()
    out[0, 70, 1] *= 2
    assert reference.error(out, ref) < 1e-4
    assert reference.worst_error(out, ref) == pytest.approx(math.sqrt(1 / 64))
    heads = [x.swapaxes(1, 2) for x in (out, ref)]
    assert reference.worst_error(*heads, layout="bhtd") == pytest.approx(0.125)


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_what_storing_rounds_may_be_free(dtype):
    exact = np.random.default_rng(0).standard_normal((1, 128, 2, 16))
    # Large, small and, in f16, subnormal and nothing.
    exact *= np.array([2.0**n for n in (10, 5, 0, -5, -10, -14, -17, -20)] * 2)
    kept = reference.round_to(exact, dtype)
    assert reference.error(kept, exact) > 1e-4
    assert reference.error(kept, exact, stored=dtype) == 0.0
    assert reference.worst_error(kept, exact, stored=dtype) == 0.0
    # No more than half a unit in the last place, though.
    away = exact + (kept - exact) * 1.01
    assert 0.0 < reference.error(away, exact, stored=dtype) < 1e-4
    # Something else is not: an error of f32 before it was stored, one of 16 bits.
    noise = np.random.default_rng(1).standard_normal(exact.shape)
    off = reference.round_to(exact * (1 + 1e-6 * noise), dtype)
    assert reference.error(off, exact, stored=dtype) <= 3e-6
    twice = reference.round_to(exact, "bf16") * (1 + 2**-9 * noise)
    twice = reference.round_to(twice, dtype)
    assert reference.error(twice, exact, stored=dtype) > 3e-4
    off = kept.copy()
    off[0, 70, 1, 0] = np.nan
    assert reference.error(off, exact, stored=dtype) == math.inf


def test_condition_of_what_does_not_cancel():
    q, k, v = reference.random_inputs(1, (1, 50, 2, 16), 16)
    for operator, scans in (
        (reference.linear, 1),
        (reference.second_order, 2),
        (reference.third_order, 2),
    ):
        output, states = reference.condition(operator, q, k, v)
        assert 1.0 < output.whole <= 1.1 * math.sqrt(4 * scans)
        assert output.worst < 4.0
        assert all(0.5 < x < 4.0 for x in states.values())


def test_condition_of_what_does():
    # A scalar q·k near zero; a denominator near zero; both scale errors alike.
    q = np.array([1.0, 1.0]).reshape(1, 1, 1, 2)
    k = np.array([1.0, -1.0 + 1e-3]).reshape(1, 1, 1, 2)
    v = np.ones((1, 1, 1, 4))
    output, states = reference.condition(reference.linear, q, k, v)
    assert 500 < output.whole < 10000
    assert states["P"] < 4.0
    normalised, _ = reference.condition(
        reference.linear, q, k, v + [0, 1, 2, 3], normalize=("add", 1.0)
    )
    assert normalised.whole < 5000


def test_f32_kernel_within_a_bound_that_follows_the_condition():
    """Signed features of a normaliser, of few dimensions: denominators near zero."""
    conditions = []
    for seed in range(20):
        q, k, v = (
            x.swapaxes(1, 2)
            for x in reference.random_inputs(seed, (1, 40, 1, 2), 3, dtype="f32")
        )
        q = np.random.default_rng(seed).standard_normal(q.shape).astype("f4")
        scores = np.tril(q @ k.astype("f4").swapaxes(2, 3))
        out = (scores @ v.astype("f4")) / scores.sum(-1, keepdims=True)
        options = {"layout": "bhtd", "normalize": ("add", 0.0)}
        ref = reference.linear(q, k, v, **options).output
        output, _ = reference.condition(reference.linear, q, k, v, **options)
        bound = reference.tolerance("f32", condition=output.whole)
        assert reference.error(out, ref) <= bound
        conditions.append(output.whole)
    assert max(conditions) > 50


def test_condition_counts_numbers():
    # One token: of q·k·v, the score's error is one number beside those of v and y.
    q, k, v = reference.random_inputs(2, (1, 1, 1, 1), 64)
    output, _ = reference.condition(reference.linear, q, k, v)
    assert 2.5 < output.whole_numbers < 6.0
    output, _ = reference.condition(reference.linear, q, k, v[..., :1])
    assert output.whole_numbers < 1.1
    # Many, of which no block has as many as all; and one denominator near zero.
    q, k, v = reference.random_inputs(2, (1, 130, 2, 16), 16)
    output, _ = reference.condition(reference.linear, q, k, v)
    assert 64 < output.worst_numbers < output.whole_numbers
    q[0, 100, 1] -= q[0, 100, 1] @ k[0, :101, 1].sum(0) / k[0, :101, 1].sum(0).sum()
    q[0, 100, 1] += 1e-3
    options = {"normalize": ("add", 0.0)}
    output, _ = reference.condition(reference.linear, q, k, v, **options)
    assert output.whole > 50 and output.worst_numbers <= output.whole_numbers < 2.0
    empty = (x[:, :0] for x in (q, k, v))
    output, _ = reference.condition(reference.linear, *empty)
    assert output == (0.0, 0.0, math.inf, math.inf)


def in_parts(a, b):
    """a @ b of bf16x3: both in two parts, without the product of the lower ones."""
    (a, a_rest), (b, b_rest) = (
        (x, reference.round_to(rest - x, "bf16"))
        for x, rest in ((reference.round_to(x, "bf16"), x) for x in (a, b))
    )
    return reference.round_to(a_rest @ b + a @ b_rest + a @ b, "f32")


def test_bounds_of_quotients_of_which_one_counts():
    """Signed features, of a normaliser that is clamped: the norm is that of the one or
    two tokens whose denominators are nearest to zero."""
    ratios, plain, numbers = [], [], []
    for seed in range(60):
        shape = (1, 33, 1, 32)
        inputs = reference.random_inputs(seed, shape, 16, layout="bhtd")
        options = {"layout": "bhtd", "normalize": ("clamp", 0.5)}
        ref = reference.linear(*inputs, **options).output
        output, _ = reference.condition(reference.linear, *inputs, **options)
        if output.whole > 32:
            continue
        q, k, v = inputs
        scores = np.tril(in_parts(q, k.swapaxes(2, 3)))
        count = scores.sum(-1, keepdims=True)
        count = np.copysign(np.maximum(abs(count), 0.5), count)
        out = in_parts(scores, v) / count
        error = reference.error(out, ref)
        options = {"roundings": 2, "condition": output.whole}
        plain.append(error / reference.tolerance("bf16x3", 33, **options))
        options["numbers"] = output.whole_numbers
        ratios.append(error / reference.tolerance("bf16x3", 33, **options))
        numbers.append(output.whole_numbers)
    assert len(ratios) > 30 and min(numbers) < 2.0 and np.median(numbers) < 5.0
    assert 0.4 < max(ratios) <= 1.0 < max(plain)


@pytest.mark.parametrize("d, dv", [(1, 1), (3, 3), (3, 64)])
def test_bounds_of_narrow_rows_that_are_forgotten(d, dv):
    """A block of them hangs on fewer numbers than it has rows."""

    def short(x):
        return reference.round_to(x, "bf16")

    tokens, decay, ratios, plain = 150, 0.9, [], []
    steps = np.arange(tokens)[:, None] - np.arange(tokens)
    weights = np.tril(decay ** np.maximum(steps, 0))
    for seed in range(200):
        shape = (1, tokens, 2, d)
        inputs = reference.random_inputs(seed, shape, dv, dtype="bf16", layout="bhtd")
        options = {"layout": "bhtd", "decay": decay, "form": "chunked"}
        q, k, v = inputs
        scores = weights * (q @ k.swapaxes(2, 3))
        ref = scores @ (scores @ v)
        scores = short(scores)
        out = short(scores @ short(scores @ v))
        worst = reference.worst_error(out, ref, layout="bhtd")
        bound = 1.25 * reference.tolerance("bf16", tokens)
        plain.append(worst / bound)
        if worst > 0.8 * bound:
            output, _ = reference.condition(reference.asymmetric, *inputs, **options)
            bound = 1.25 * reference.tolerance(
                "bf16", tokens, condition=output.worst, numbers=output.worst_numbers
            )
        ratios.append(worst / bound)
    assert max(ratios) <= 1.0
    assert max(plain) > (1.0 if dv == 1 else 0.7)


def test_bfloat16_storage():
    values = np.array([0.0, -0.0, 1.0, -2.5, 3e38, np.inf, -np.inf, np.nan])
    kept = reference.decode_bfloat16(reference.encode_bfloat16(values))
    assert np.array_equal(kept[:4], values[:4])
    assert np.isposinf(kept[5]) and np.isneginf(kept[6]) and np.isnan(kept[7])
    # Ties go to the even payload: 1 + 1/256 down, 1 + 3/256 up.
    ties = reference.round_to(np.array([1 + 2**-8, 1 + 3 * 2**-8]), "bf16")
    assert ties.tolist() == [1.0, 1 + 2**-6]
    void = reference.encode_bfloat16(np.array([1.5])).view("V2")
    assert reference.to_float64(void).tolist() == [1.5]
    with pytest.raises(ValueError, match="two-byte elements"):
        reference.decode_bfloat16(np.zeros(2, np.float32))


def test_bfloat16_agrees_with_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = np.random.default_rng(0).standard_normal(10000).astype(np.float32)
    theirs = values.astype(ml_dtypes.bfloat16)
    assert np.array_equal(reference.encode_bfloat16(values), theirs.view(np.uint16))
    assert np.array_equal(reference.to_float64(theirs), theirs.astype(np.float64))


def kernel(q, k, v, dtype, variant, chunk=64, scores="lower", state=None):
    """A chunked kernel's arithmetic on [B, H, T, D]: operands of products rounded to
    ``dtype``, sums and states in f32. ``scores`` and ``state`` make it wrong."""

    def short(x):
        return reference.round_to(x, dtype)

    def wide(x):
        return reference.round_to(x, state or "f32")

    def mask(x):
        return np.tril(x, -1 if scores == "strict" else 0)

    batch, heads, tokens, d = q.shape
    s, f = np.zeros((batch, heads, d, d)), np.zeros((batch, heads, d, v.shape[3]))
    out = np.zeros_like(v)
    for t in range(0, tokens, chunk):
        part = slice(t, t + chunk)
        qc, kc, vc = q[:, :, part], k[:, :, part], v[:, :, part]
        u = short(short(mask(qc @ kc.swapaxes(2, 3))) @ kc + qc @ short(s))
        s = wide(s + kc.swapaxes(2, 3) @ kc)
        left, right = (qc, u) if variant == "masked" else (u, qc)
        inner = short(mask(left @ right.swapaxes(2, 3)))
        out[:, :, part] = short(inner @ vc + left @ short(f))
        f = wide(f + right.swapaxes(2, 3) @ vc)
    return out


def measured(seed, shape, dv, dtype, variant="masked", **wrong):
    """The two errors of the emulated kernel as fractions of their bounds."""
    batch, tokens, heads, _ = shape
    q, k, v = reference.random_inputs(seed, shape, dv, dtype=dtype, layout="bhtd")
    options = {"variant": variant, "layout": "bhtd", "form": "chunked"}
    ref = reference.second_order(q, k, v, **options).output
    out = kernel(q, k, v, dtype, variant, **wrong)
    whole = reference.error(out, ref)
    worst = reference.worst_error(out, ref, layout="bhtd")
    return (
        whole / reference.tolerance(dtype, rows=batch * heads * tokens),
        worst / (1.25 * reference.tolerance(dtype, rows=tokens)),
    )


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("variant", ["masked", "prefix"])
@pytest.mark.parametrize("d, dv", [(32, 64), (128, 32)])
@pytest.mark.parametrize(
    "tokens, heads", [(1, 1), (1, 40), (2, 3), (15, 3), (65, 2), (400, 1)]
)
def test_bounds_hold(dtype, variant, d, dv, tokens, heads):
    for seed in range(5):
        whole, worst = measured(seed, (1, tokens, heads, d), dv, dtype, variant)
        assert whole <= 1.0 and worst <= 1.0


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_bounds_are_tight(dtype):
    shape = (1, 512, 2, 64)
    assert measured(0, shape, 64, dtype)[0] > (0.7 if dtype == "bf16" else 0.5)
    # The diagonal dropped.
    assert measured(0, shape, 64, dtype, scores="strict")[0] > 2.0
    # The state kept in the short type.
    assert measured(0, (1, 4096, 1, 32), 32, dtype, state=dtype)[0] > 1.2


def test_f32_bound():
    whole, worst = measured(0, (1, 1024, 1, 32), 32, "f32")
    assert whole <= 1.0 and worst <= 1.0


@pytest.mark.parametrize("gates", ["sigmoid", "extreme"])
def test_log_decays(gates):
    g = reference.random_log_decay(3, (2, 500, 3), gates=gates)
    assert g.shape == (2, 500, 3) and (g <= 0).all()
    assert np.array_equal(g, g.astype(np.float32))
    heads = reference.random_log_decay(3, (2, 500, 3), gates=gates, layout="bhtd")
    assert np.array_equal(heads.swapaxes(1, 2), g)
    extremes = {float(x) for x in np.unique(g[(g < -20) | (g == 0)])}
    wanted = {0.0, -1e4, -math.inf, float(np.float32(np.log(1e-12)))}
    assert extremes == (wanted if gates == "extreme" else set())
    assert 0.7 < np.exp(np.median(g)) < 1.0


@pytest.mark.parametrize("features", ["normal", "unit", "positive"])
def test_features(features):
    q, k, v = reference.random_inputs(4, (1, 50, 2, 8), 3, features=features)
    assert v.shape == (1, 50, 2, 3)
    length = np.linalg.norm(q, axis=-1)
    assert (np.abs(length - 1) < 1e-6).all() == (features != "normal")
    assert (np.concatenate([q, k]) >= 0).all() == (features == "positive")
    assert (q * k).sum(-1).mean() > 0.5
    with pytest.raises(ValueError, match="expected features"):
        reference.random_inputs(4, (1, 2, 1, 8), 3, features="odd")


def test_tolerance_names():
    assert reference.tolerance("bf16") == 4e-3
    assert reference.tolerance(np.float32) == reference.tolerance("f32") == 1e-5
    assert reference.tolerance(np.dtype("float64")) == 1e-12
    assert reference.tolerance("torch.bfloat16") == 4e-3
    bounds = [reference.tolerance("bf16", roundings=n) for n in (2, 4, 6)]
    assert bounds == sorted(bounds) and bounds[1] == 4e-3
    assert reference.tolerance("bf16", 1) > 4e-3
    assert reference.tolerance("f32", 1) == 1e-5
    assert reference.tolerance("f32", condition=4.0) == 1e-5
    assert reference.tolerance("f32", condition=40.0) == pytest.approx(1e-4)
    # Numbers count, as a third of rows does, where they are fewer.
    few = reference.tolerance("bf16", 90, numbers=2)
    assert 1.0 < few / reference.tolerance("bf16", 6) < 1.2
    assert few == reference.tolerance("bf16", numbers=2)
    assert reference.tolerance("bf16", 6, numbers=6) == reference.tolerance("bf16", 6)
    assert reference.tolerance("bf16", numbers=30) == 4e-3
    assert reference.tolerance("f32", numbers=1) == 1e-5
    # The errors of what cancels are the same on paths of all lengths.
    bounds = [
        reference.tolerance("bf16x3", roundings=n, condition=20) for n in (2, 4, 8)
    ]
    assert bounds == pytest.approx([1.5e-5 * 20 / math.sqrt(8)] * 3)
    assert reference.tolerance("bf16x3", roundings=2, condition=2.0) < 1.1e-5
    assert reference.tolerance("tf32") == 7e-4 > reference.tolerance("f16")
    assert reference.tolerance("bf16x3", 4) > reference.tolerance("bf16x3") == 1.5e-5
    for name in ("int8", "tf33"):
        with pytest.raises(ValueError, match="expected a dtype"):
            reference.tolerance(name)
    with pytest.raises(ValueError, match="expected a dtype"):
        reference.unit_roundoff("tf32")
