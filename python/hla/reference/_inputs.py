# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random problems on which a correct kernel is accurate."""

import numpy as np

from ._accuracy import dtype_name
from ._arrays import decode_bfloat16, encode_bfloat16


def random_inputs(seed, shape, dv, *, dtype="f32", layout="bthd"):
    """``(q, k, v)``, float64 arrays whose values are exact in ``dtype``.

    shape: (B, T, H, d); the arrays stand in ``layout``.

    k_t is (q_t + noise)/√2, so q_t · k_t is near |q_t|²/√2. Were it independent of
    q_t, the one score of a one-token head could come out near zero by cancellation,
    and no bound relative to the result holds for a result that cancels.

    f16 reaches 65504 and operators grow as |q|²|k|² and with T, so its q and k have
    unit length. For the other types entries of q and k are standard normal.
    """
    batch, tokens, heads, d = shape
    axes = (batch, tokens, heads) if layout == "bthd" else (batch, heads, tokens)
    random = np.random.default_rng(seed)
    q = random.standard_normal((*axes, d))
    k = (q + random.standard_normal((*axes, d))) / np.sqrt(2.0)
    v = random.standard_normal((*axes, dv))
    if dtype_name(dtype) == "f16":
        q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
    return tuple(round_to(x, dtype) for x in (q, k, v))


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
