# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second-order operator as arXiv 2510.27258 computes it, and its erratum.

The paper (Algorithm 1) carries, each decayed by γ,

    S_t = γ S_{t-1} + k_t k_tᵀ          m_t = γ m_{t-1} + q_t
    C_t = γ C_{t-1} + q_t v_tᵀ
    G_t = γ G_{t-1} + k_t (k_tᵀ C_{t-1})     h_t = γ h_{t-1} + k_t (k_tᵀ m_{t-1})
    o_t = q_tᵀ (S_t C_t − G_t)               normalised: / (q_tᵀ (S_t m_t − h_t) + ε)

For γ = 1 this is the masked operator: S_t C_t − G_t grows by u_t v_tᵀ a token,
u_t = S_t q_t, because S_t C_t − S_{t-1} C_{t-1} = k_t k_tᵀ C_{t-1} + S_t q_t v_tᵀ.
For γ ≠ 1 it is an operator of its own.
"""

from dataclasses import dataclass, replace
from typing import Any

from ._arrays import check_heads, from_heads, to_heads, zeros


@dataclass(frozen=True)
class PaperSegment:
    """The statistics of a segment of tokens, started from nothing.

    S, C, G, m, h as above, and ``T`` = Σ k_t k_tᵀ without decay, which the paper
    does not carry. Adjacent segments A then B of n tokens compose with ρ_B = γⁿ.
    """

    S: Any
    C: Any
    G: Any
    m: Any
    h: Any
    T: Any
    length: int
    gamma: float

    @property
    def rho(self):
        return self.gamma**self.length

    def concatenate(self, other):
        """This segment followed by ``other``: exact, associative.

        C_{t-1} inside B holds γ^{t-1} C_A of what came before (t counts from 1
        there), so G gains Σ_t γ^{n-t} k_t k_tᵀ γ^{t-1} C_A = γ^{n-1} T_B C_A: the
        powers of γ are the same for every token, and what remains is undecayed.
        """
        return self._concatenate(
            other, self.gamma ** max(other.length - 1, 0) * other.T
        )

    def concatenate_as_printed(self, other):
        """The paper's section 4.2, cross term S_B (ρ_B C_A): an erratum.

        It decays the tokens of ``other`` twice, once inside S_B. For γ ≠ 1 it is
        not associative and does not give the paper's own recurrence; for γ = 1 the
        two agree. Kept so that a test can show it.
        """
        return self._concatenate(other, other.rho * other.S)

    def _concatenate(self, other, cross):
        r = other.rho
        return replace(
            self,
            S=r * self.S + other.S,
            C=r * self.C + other.C,
            G=r * self.G + other.G + cross @ self.C,
            m=r * self.m + other.m,
            h=r * self.h + other.h + cross @ self.m,
            T=self.T + other.T,
            length=self.length + other.length,
        )


def paper_recurrence(
    q, k, v, *, layout="bthd", decay=1.0, normalised=False, epsilon=0.0
):
    """The paper's serial recurrence. Returns ``(o, segment)``.

    o has v's shape; ``segment`` is the ``PaperSegment`` of all tokens, its arrays
    ``[B, H, d, d or dv or 1]``. ``decay`` is one number.
    """
    q, k, v = (to_heads(x, layout, n) for x, n in ((q, "q"), (k, "k"), (v, "v")))
    check_heads(q, k, v)
    batch, heads, length, d = k.shape
    dv = v.shape[3]
    gamma = float(decay)
    s, t_sum = (zeros(k, (batch, heads, d, d)) for _ in range(2))
    c, g = (zeros(v, (batch, heads, d, dv)) for _ in range(2))
    m, h = (zeros(q, (batch, heads, d, 1)) for _ in range(2))
    o = zeros(v, tuple(v.shape))
    for t in range(length):
        # Columns of length d, so that products read as in the equations.
        qt, kt = q[:, :, t, :, None], k[:, :, t, :, None]
        vt = v[:, :, t, :, None]
        g = gamma * g + kt @ (kt.swapaxes(2, 3) @ c)
        h = gamma * h + kt @ (kt.swapaxes(2, 3) @ m)
        s = gamma * s + kt @ kt.swapaxes(2, 3)
        t_sum = t_sum + kt @ kt.swapaxes(2, 3)
        c = gamma * c + qt @ vt.swapaxes(2, 3)
        m = gamma * m + qt
        row = qt.swapaxes(2, 3)
        numerator = (row @ (s @ c - g))[:, :, 0]
        if normalised:
            numerator = numerator / ((row @ (s @ m - h))[:, :, 0] + epsilon)
        o[:, :, t] = numerator
    segment = PaperSegment(s, c, g, m, h, t_sum, length, gamma)
    return from_heads(o, layout), segment
