# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random problems on which a correct kernel is accurate."""

import math

import numpy as np

from ._accuracy import dtype_name
from ._arrays import (
    Stream,
    check_layout,
    decode_bfloat16,
    encode_bfloat16,
    namespace,
)

FEATURES = ("normal", "unit", "positive")
GATES = ("sigmoid", "slow", "extreme")

_FULL_NAMES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}


def random_inputs(
    seed,
    shape,
    dv,
    *,
    dtype="f32",
    layout="bthd",
    features=None,
    groups=(1, 1, 1),
    like=None,
):
    """``(q, k, v)``, float64 arrays whose values are exact in ``dtype``.

    shape: (B, T, H, d); the arrays stand in ``layout``. q, k and v have
        H / groups of them heads.
    features: how rows of q and k are drawn:
        "normal": standard normal;
        "unit": of length 1;
        "positive": of length 1, no entry negative: what a normaliser needs. With signed
        features its denominator is a sum that cancels.
        By default unit for f16, which reaches 65504 where operators grow as |q|²|k|²
        and with T, and normal for the other types.
    like: an array of the library, and on the device, that draws them; numpy by default.

    k_t is (q_t + noise)/√2, for the first query head that reads it, so q_t · k_t is near
    |q_t|²/√2. Were it independent of q_t, the one score of a one-token head could come
    out near zero by cancellation, and no bound relative to the result holds for a
    result that cancels.
    """
    batch, tokens, heads, d = shape
    if features is None:
        features = "unit" if dtype_name(dtype) == "f16" else "normal"
    if features not in FEATURES:
        raise ValueError(f"expected features of {FEATURES}, but got {features!r}")
    for group in groups:
        if heads % group:
            raise ValueError(
                f"expected groups that divide {heads} heads, but got {groups}"
            )
    stream = Stream([seed, 0], like)
    of_q, of_k, of_v = (heads // group for group in groups)
    q = stream.normal((batch, tokens, of_q, d))
    nearest = [h * groups[1] // groups[0] for h in range(of_k)]
    k = (q[:, :, nearest] + stream.normal((batch, tokens, of_k, d))) / math.sqrt(2.0)
    v = stream.normal((batch, tokens, of_v, dv))
    if features == "positive":
        q, k = abs(q), abs(k)
    if features != "normal":
        q, k = (x / (x * x).sum(3)[..., None] ** 0.5 for x in (q, k))
    return tuple(round_to(_lay(x, layout), dtype) for x in (q, k, v))


def random_log_decay(
    seed, shape, *, gates="sigmoid", layout="bthd", dtype="f32", like=None
):
    """g ≤ 0, exact in ``dtype``; shape (B, T, H), standing in ``layout``, or (H,).

    sigmoid: log sigmoid(x + 3), x standard normal, as gates are parametrised: decays
        mostly in 0.7 to 1.
    slow: log sigmoid(x + 7): hardly anything is forgotten in some hundred tokens.
    extreme: of these, a tenth each is 0 (nothing forgotten), −1e4 (exp underflows),
        log 1e-12, and −inf (all forgotten).
    """
    if gates not in GATES:
        raise ValueError(f"expected gates of {GATES}, but got {gates!r}")
    stream = Stream([seed, 1], like)
    x = stream.normal(shape)
    xp = namespace(x)
    g = -xp.log1p(xp.exp(-x - (7.0 if gates == "slow" else 3.0)))
    if gates == "extreme":
        kind = stream.uniform(shape)
        extremes = (0.0, -1e4, math.log(1e-12), -math.inf)
        for tenth, value in enumerate(extremes):
            chosen = (kind >= tenth / 10) & (kind < (tenth + 1) / 10)
            g = xp.where(chosen, 0.0 * g + value, g)
    return round_to(_lay(g, layout), dtype)


def round_to(array, dtype):
    """float64 values of ``array`` rounded to ``dtype``."""
    name = dtype_name(dtype)
    xp = namespace(array)
    if xp.__name__ == "torch":
        return array.to(getattr(xp, _FULL_NAMES[name])).to(xp.float64)
    if name == "bf16":
        return decode_bfloat16(encode_bfloat16(array))
    return array.astype(_FULL_NAMES[name]).astype("float64")


def store(array, dtype):
    """``array`` in ``dtype``; bfloat16 as uint16 payloads."""
    name = dtype_name(dtype)
    if name == "bf16":
        return encode_bfloat16(array)
    return np.ascontiguousarray(array, dtype=_FULL_NAMES[name])


def _lay(array, layout):
    """``[B, T, H, ...]``, or ``[H]``, in ``layout``."""
    check_layout(layout)
    return array if array.ndim < 3 or layout == "bthd" else array.swapaxes(1, 2)
