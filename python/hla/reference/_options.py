# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The options that all operators share, and the normaliser."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._arrays import check_layout, full, namespace, to_float64

NORMALIZERS = ("add", "clamp")


@dataclass(frozen=True)
class Options:
    """What every operator takes beside q, k and v.

    decay: γ, in [0, 1]: the constant that every scan decays by.
    log_decay: g ≤ 0, by which they decay as well: γ_t = decay · exp(g_t); of every
        token, ``[B, T, H]`` (``[B, H, T]`` for bhtd), or of every head, ``[H]``.
        −inf forgets everything before the token.
    ridge: λ, as if S were S + λI wherever the output reads it.
    scale: σ multiplies q·k in each score, so outputs (and what normalises them) by
        σⁿ, n the operator's order. States are unscaled.
    normalize: ("add", ε): divide by den + ε; ("clamp", ε): by den, moved to ±ε
        where it is nearer to 0; den is the operator on v ≡ 1.
    reverse: walk from the last token to the first.
    layout: "bthd" or "bhtd".
    groups: (gq, gkv): head h reads head h // gq of q, h // gkv of k and v; a scan
        has three, for q, k and v.
    lengths: N+1 cumulative lengths, c_0 ≤ … ≤ c_N ≤ T: sequence n is the tokens
        from c_n up to c_{n+1}, for B = 1. Tokens of no sequence come out as 0.
        States are ``[N, H, ...]``.
    carry: the initial states by name, all or none; zero where None.
    """

    decay: float = 1.0
    log_decay: Any = None
    ridge: float = 0.0
    scale: float = 1.0
    normalize: tuple | None = None
    reverse: bool = False
    layout: str = "bthd"
    groups: tuple | None = None
    lengths: Any = None
    carry: Mapping[str, Any] | None = None

    def __post_init__(self):
        check_layout(self.layout)
        if not 0.0 <= self.decay <= 1.0:
            raise ValueError(
                "expected decay in [0, 1] (a prefix is forgotten, never amplified), "
                f"but got {self.decay}"
            )
        if not (self.ridge >= 0.0 and math.isfinite(self.ridge)):
            raise ValueError(
                "expected ridge to be finite and not negative (λI is added to a Gram "
                f"matrix), but got {self.ridge}"
            )
        if not math.isfinite(self.scale):
            raise ValueError(f"expected scale to be finite, but got {self.scale}")
        if self.normalize is not None:
            kind, epsilon = self.normalize
            if kind not in NORMALIZERS:
                raise ValueError(
                    f"expected normalize to be one of {NORMALIZERS} with its ε, but "
                    f"got {self.normalize!r}"
                )
            if not (epsilon >= 0.0 and math.isfinite(epsilon)):
                raise ValueError(
                    "expected ε of normalize to be finite and not negative, but got "
                    f"{epsilon}"
                )

    @property
    def is_decayed(self):
        return self.decay != 1.0 or self.log_decay is not None


def normalise(numerator, denominator, normalize):
    """numerator / denominator, kept from 0 as ``normalize`` says."""
    kind, epsilon = normalize
    if kind == "add":
        return numerator / (denominator + epsilon)
    xp = namespace(denominator)
    size = abs(denominator)
    size = xp.where(size < epsilon, 0.0 * size + epsilon, size)
    return numerator / xp.where(denominator >= 0.0, size, -size)


def token_decays(options, batch, heads, tokens, like):
    """γ_t as a float64 ``[B, H, T]`` array."""
    gamma = full(like, (batch, heads, tokens), float(options.decay))
    if options.log_decay is None:
        return gamma
    g = to_float64(options.log_decay)
    order = (tokens, heads) if options.layout == "bthd" else (heads, tokens)
    if tuple(g.shape) not in ((batch, *order), (heads,)):
        raise ValueError(
            f"expected log_decay of shape {(batch, *order)} or {(heads,)} (one of "
            f"every token, or of every head), but got {tuple(g.shape)}"
        )
    if not bool((g <= 0.0).all()):
        raise ValueError(
            "expected log_decay ≤ 0 (a prefix is forgotten, never amplified), but got "
            "a positive number or NaN"
        )
    if g.ndim == 1:
        g = g[None, :, None]
    elif options.layout == "bthd":
        g = g.swapaxes(1, 2)
    return gamma * namespace(g).exp(g)
