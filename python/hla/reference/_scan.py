# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first-order causal scan, the one primitive, in three forms.

    S_t = γ_t S_{t-1} + k_t v_tᵀ        S_0 = the carry in
    y_t = S_tᵀ q_t                       inclusive
    y_t = S_{t-1}ᵀ q_t                   exclusive: the state before token t, undecayed

Arrays are ``[B, H, T, D]`` here and tokens in walking order, ``gamma`` is
``[B, H, T]``, states ``[B, H, d, dv]``. Each form returns ``(y, final)``.

Decays are multiplied, one after the other, and never divided: for γ = 0 or 1e-300
the product of a range of decays is no quotient of two prefix products, and with
logarithms no difference of two sums.
"""

from ._arrays import namespace, zeros


def recurrence(q, k, v, gamma, state, exclusive=False):
    """Token by token, as it stands above."""
    y = zeros(v, tuple(v.shape))
    for t in range(v.shape[2]):
        if exclusive:
            y[:, :, t] = _read(q, state, t)
        outer = k[:, :, t, :, None] * v[:, :, t, None, :]
        state = gamma[:, :, t, None, None] * state + outer
        if not exclusive:
            y[:, :, t] = _read(q, state, t)
    return y, state


def _read(q, state, t):
    return (q[:, :, t, None, :] @ state)[:, :, 0]


class Weights:
    """Products of decays over ranges of tokens, all T×T of them.

    Unrolling the recurrence from S_0, with tokens numbered from 1,

        S_t = ρ_t S_0 + Σ_{i ≤ t} Γ_ti k_i v_iᵀ     Γ_ti = γ_{i+1} ⋯ γ_t, ρ_t = γ_1 ⋯ γ_t

    lower: Γ, 0 above the diagonal; ``[B, H, T, T]``.
    carried: ρ, ``[B, H, T, 1]``. total: ρ_T, ``[B, H, 1, 1]``.
    left: Γ_Ti, what remains of token i at the end, ``[B, H, T, 1]``.
    """

    def __init__(self, gamma):
        batch, heads, length = gamma.shape
        self.lower = zeros(gamma, (batch, heads, length, length))
        self.carried = zeros(gamma, (batch, heads, length, 1))
        self.left = zeros(gamma, (batch, heads, length, 1))
        self.total = 1.0 + zeros(gamma, (batch, heads, 1, 1))
        for t in range(length):
            factor = gamma[:, :, t, None]
            if t > 0:
                self.lower[:, :, t, :t] = factor * self.lower[:, :, t - 1, :t]
            self.lower[:, :, t, t] = 1.0
            self.total = factor[..., None] * self.total
            self.carried[:, :, t] = self.total[:, :, 0]
        if length:
            self.left[..., 0] = self.lower[:, :, -1]

    def before(self):
        """Γ and ρ of the token before: what an exclusive read sees."""
        lower, carried = 0.0 * self.lower, 1.0 + 0.0 * self.carried
        lower[:, :, 1:] = self.lower[:, :, :-1]
        carried[:, :, 1:] = self.carried[:, :, :-1]
        return lower, carried

    def final(self, k, v, state):
        """ρ_T S_0 + Σ_i Γ_Ti k_i v_iᵀ."""
        return self.total * state + (self.left * k).swapaxes(2, 3) @ v


def closed_form(q, k, v, gamma, state, exclusive=False):
    """All pairs of tokens, without a state: Y = (Γ ⊙ (Q Kᵀ)) V + ρ ⊙ (Q S_0).

    Exclusive, Γ and ρ are those of the token before.
    """
    weights = Weights(gamma)
    lower, carried = weights.before() if exclusive else (weights.lower, weights.carried)
    y = (lower * (q @ k.swapaxes(2, 3))) @ v + carried * (q @ state)
    return y, weights.final(k, v, state)


def chunked(q, k, v, gamma, state, exclusive=False, chunk=64):
    """The closed form on ``chunk`` tokens at a time, the state carried between."""
    xp = namespace(v)
    y = zeros(v, tuple(v.shape))
    for begin in range(0, v.shape[2], chunk):
        part = slice(begin, min(begin + chunk, v.shape[2]))
        qc, kc, vc, decays = (
            q[:, :, part],
            k[:, :, part],
            v[:, :, part],
            gamma[:, :, part],
        )
        length = decays.shape[2]
        # Row t, column i: γ_t for t > i, else 1. Products down a column are Γ_ti.
        factors = decays[..., None] + zeros(v, (length, length))
        ones = 1.0 + zeros(v, (length, length))
        factors = xp.tril(factors, -1) + xp.triu(ones)
        lower = xp.tril(xp.cumprod(factors, 2))
        carried = xp.cumprod(decays, 2)[..., None]
        left = lower[:, :, -1, :, None]
        if exclusive:
            before = 0.0 * lower
            before[:, :, 1:] = lower[:, :, :-1]
            entering = 1.0 + 0.0 * carried
            entering[:, :, 1:] = carried[:, :, :-1]
        else:
            before, entering = lower, carried
        scores = before * (qc @ kc.swapaxes(2, 3))
        y[:, :, part] = scores @ vc + entering * (qc @ state)
        state = carried[:, :, -1:] * state + (left * kc).swapaxes(2, 3) @ vc
    return y, state
