# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random problems on which a correct kernel is accurate."""

import numpy as np

from ._accuracy import dtype_name
from ._arrays import check_layout, decode_bfloat16, encode_bfloat16

FEATURES = ("normal", "unit", "positive")
GATES = ("sigmoid", "extreme")


def random_inputs(seed, shape, dv, *, dtype="f32", layout="bthd", features=None):
    """``(q, k, v)``, float64 arrays whose values are exact in ``dtype``.

    shape: (B, T, H, d); the arrays stand in ``layout``.
    features: how rows of q and k are drawn:
        "normal": standard normal;
        "unit": of length 1;
        "positive": of length 1, no entry negative: what a normaliser needs. With signed
        features its denominator is a sum that cancels.
        By default unit for f16, which reaches 65504 where operators grow as |q|²|k|²
        and with T, and normal for the other types.

    k_t is (q_t + noise)/√2, so q_t · k_t is near |q_t|²/√2. Were it independent of
    q_t, the one score of a one-token head could come out near zero by cancellation,
    and no bound relative to the result holds for a result that cancels.
    """
    batch, tokens, heads, d = shape
    q, k = random_features(
        seed, batch, tokens, heads, d, features=features, dtype=dtype
    )
    v = _stream(seed, "v").standard_normal((batch, tokens, heads, dv))
    return tuple(round_to(_lay(x, layout), dtype) for x in (q, k, v))


def random_features(seed, batch, tokens, heads, d, *, features=None, dtype="f32"):
    """q and k of ``random_inputs``, ``[B, T, H, d]``, before they are rounded."""
    if features is None:
        features = "unit" if dtype_name(dtype) == "f16" else "normal"
    if features not in FEATURES:
        raise ValueError(f"expected features of {FEATURES}, but got {features!r}")
    stream = _stream(seed, "qk")
    q = stream.standard_normal((batch, tokens, heads, d))
    k = (q + stream.standard_normal((batch, tokens, heads, d))) / np.sqrt(2.0)
    if features == "positive":
        q, k = abs(q), abs(k)
    if features != "normal":
        q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
    return q, k


def random_log_decay(seed, shape, *, gates="sigmoid", layout="bthd", dtype="f32"):
    """g ≤ 0, exact in ``dtype``; shape (B, T, H), standing in ``layout``, or (H,).

    sigmoid: log sigmoid(x + 3), x standard normal, as gates are parametrised: decays
        mostly in 0.7 to 1.
    extreme: of these, a tenth each is 0 (nothing forgotten), −1e4 (exp underflows),
        log 1e-12, and −inf (all forgotten).
    """
    stream = _stream(seed, "g")
    g = -np.log1p(np.exp(-3.0 - stream.standard_normal(shape)))
    if gates == "extreme":
        kind = stream.integers(0, 10, shape)
        for index, value in enumerate((0.0, -1e4, np.log(1e-12), -np.inf)):
            g = np.where(kind == index, value, g)
    elif gates != "sigmoid":
        raise ValueError(f"expected gates of {GATES}, but got {gates!r}")
    return round_to(_lay(g, layout), dtype)


def round_to(array, dtype):
    """float64 values of ``array`` rounded to ``dtype``."""
    name = dtype_name(dtype)
    if name == "bf16":
        return decode_bfloat16(encode_bfloat16(array))
    short = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[name]
    return array.astype(short).astype(np.float64)


def store(array, dtype):
    """``array`` in ``dtype``; bfloat16 as uint16 payloads."""
    name = dtype_name(dtype)
    if name == "bf16":
        return encode_bfloat16(array)
    return np.ascontiguousarray(
        array, dtype={"f16": np.float16, "f32": np.float32, "f64": np.float64}[name]
    )


def _stream(seed, purpose):
    return np.random.default_rng([seed, *purpose.encode()])


def _lay(array, layout):
    """``[B, T, H, ...]``, or ``[H]``, in ``layout``."""
    check_layout(layout)
    return array if array.ndim < 3 or layout == "bthd" else array.swapaxes(1, 2)
