# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator by its definition.

Arrays are ``[B, H, T, D]``, rows of Q, K, V. With A = L ⊙ (Q Kᵀ), L the lower triangle
with its diagonal, Γ and ρ the products of decays (``_scan.Weights``) and A_Γ = Γ ⊙ A:
what is masked is written as products of T×T matrices, with the states that came in
as further terms, each operator being linear in every one of them. What the paper
defines by a serial algorithm is that algorithm.

A function takes the problem ``x`` (q, k, gamma, ridge, is_squared), v and the states,
and returns the rows of the result and the final states. S, SK and SQ are Gram
matrices, so symmetric.
"""

from ._arrays import namespace, zeros
from ._scan import Weights


def linear(x, v, p):
    """O = A_Γ V + ρ ⊙ (Q P)."""
    w = Weights(x.gamma)
    return w.lower * _scores(x) @ v + w.carried * (x.q @ p), (w.final(x.k, v, p),)


def second_order_masked(x, v, s, f):
    """O = (Γ_F ⊙ W) V + ρ_F ⊙ (Q F), W = A A_Γᵀ + Q Sᵀ (ρ ⊙ Q)ᵀ + λ Q Qᵀ.

    W_tj, for j ≤ t, is q_t · (S_j + λ I) q_j, with S_j the keys up to j as j sees
    them. Γ_F and ρ_F decay by γ, or by γ² (``reading="squared"``).
    """
    w, inner, rows, s_final = _second_moment(x, s)
    outer = Weights(x.gamma * x.gamma) if x.is_squared else w
    o = outer.lower * inner @ v + outer.carried * (x.q @ f)
    return o, (s_final, outer.final(rows, v, f))


def second_order_prefix(x, v, s, c):
    """o_t = q_tᵀ (S_t + λ I) C_t, equation 3.1.

    As products: O = (Γ ⊙ (A_Γ (K Qᵀ) + …)) V: the keys run to t as the values do.
    """
    w = Weights(x.gamma)
    rows = _read_second_moment(x, w, s)
    o = w.lower * (rows @ x.q.swapaxes(2, 3)) @ v + w.carried * (rows @ c)
    return o, (w.final(x.k, x.k, s), w.final(x.q, v, c))


def second_order_paper(x, v, s, c, g):
    """Algorithm 1, every statistic decayed by γ_t:

    S_t = γ S_{t-1} + k kᵀ     C_t = γ C_{t-1} + q vᵀ     G_t = γ G_{t-1} + k (kᵀ C_{t-1})
    o_t = q_tᵀ ((S_t + λ I) C_t − G_t)
    """
    o = zeros(v, tuple(v.shape))
    for t in range(v.shape[2]):
        gamma, q, k, row = _token(x, v, t)
        g = gamma * g + k @ (_t(k) @ c)
        s = gamma * s + k @ _t(k)
        c = gamma * c + q @ row
        o[:, :, t] = (_t(q) @ (s @ c - g) + x.ridge * _t(q) @ c)[:, :, 0]
    return o, (s, c, g)


def asymmetric(x, v, p, e):
    """O = A_Γ (A_Γ V + ρ ⊙ (Q P)) + ρ ⊙ (Q E)."""
    w = Weights(x.gamma)
    scores = w.lower * _scores(x)
    rows = scores @ v + w.carried * (x.q @ p)
    o = scores @ rows + w.carried * (x.q @ e)
    return o, (w.final(x.k, v, p), w.final(x.k, rows, e))


def third_order_masked(x, v, s, p, f):
    """O = (Γ ⊙ W) (A_Γ V + ρ ⊙ (Q P)) + ρ ⊙ (Q F), W as of the masked second order."""
    w, inner, left, s_final = _second_moment(x, s)
    right = w.lower * _scores(x) @ v + w.carried * (x.q @ p)
    o = w.lower * inner @ right + w.carried * (x.q @ f)
    return o, (s_final, w.final(x.k, v, p), w.final(left, right, f))


def third_order_paper(x, v, sk, sq, p, a, r):
    """Algorithm 3 without decay; statistics on the right are those before token t:

    G¹ += k kᵀ SQ P     G² += SK q qᵀ P     G³ += SK SQ k vᵀ
    SK += k kᵀ          SQ += q qᵀ          P += k vᵀ
    o_t = q_tᵀ (SK SQ P − G¹ − G² − G³)

    Three G always come as their sum. It begins as SK SQ P − A − R, where A and R hold
    the triples (i, u, j) with j, and without j, at the largest index: R grows by
    k (kᵀ q) (qᵀ P), i = u = t with j before; A is what else there is.
    """
    g = sk @ sq @ p - a - r
    o = zeros(v, tuple(v.shape))
    for t in range(v.shape[2]):
        _, q, k, row = _token(x, v, t)
        g = g + k @ (_t(k) @ sq @ p) + (sk @ q) @ (_t(q) @ p) + (sk @ sq @ k) @ row
        r = r + k @ ((_t(k) @ q) @ (_t(q) @ p))
        sk, sq, p = sk + k @ _t(k), sq + q @ _t(q), p + k @ row
        o[:, :, t] = (_t(q) @ (sk @ sq @ p - g))[:, :, 0]
    return o, (sk, sq, p, sk @ sq @ p - g - r, r)


def third_order_paper_decayed(x, v, sk, sq, p, g1, g2, g3):
    """Algorithm 3 with every statistic decayed by γ_t."""
    o = zeros(v, tuple(v.shape))
    for t in range(v.shape[2]):
        gamma, q, k, row = _token(x, v, t)
        g1 = gamma * g1 + k @ (_t(k) @ sq @ p)
        g2 = gamma * g2 + (sk @ q) @ (_t(q) @ p)
        g3 = gamma * g3 + (sk @ sq @ k) @ row
        sk, sq = gamma * sk + k @ _t(k), gamma * sq + q @ _t(q)
        p = gamma * p + k @ row
        o[:, :, t] = (_t(q) @ (sk @ sq @ p - g1 - g2 - g3))[:, :, 0]
    return o, (sk, sq, p, g1, g2, g3)


def _scores(x):
    return x.q @ x.k.swapaxes(2, 3)


def _read_second_moment(x, w, s):
    """Rows q_tᵀ (S_t + λ I)."""
    return w.lower * _scores(x) @ x.k + w.carried * (x.q @ s) + x.ridge * x.q


def _second_moment(x, s):
    """Γ and ρ; W of the masked operators; the rows (S_j + λ I) q_j; the final S.

    W comes from scores of tokens, A A_Γᵀ, not from the rows: that is the definition.
    """
    w = Weights(x.gamma)
    a = namespace(x.q).tril(_scores(x))
    carried = (x.q @ s.swapaxes(2, 3)) @ (w.carried * x.q).swapaxes(2, 3)
    ridge = x.ridge * x.q @ x.q.swapaxes(2, 3)
    inner = a @ (w.lower * a).swapaxes(2, 3) + carried + ridge
    return w, inner, _read_second_moment(x, w, s), w.final(x.k, x.k, s)


def _token(x, v, t):
    """γ, q and k as columns and v as a row, so that products read as in the paper."""
    gamma = x.gamma[:, :, t, None, None]
    return gamma, x.q[:, :, t, :, None], x.k[:, :, t, :, None], v[:, :, t, None, :]


def _t(column):
    return column.swapaxes(2, 3)
