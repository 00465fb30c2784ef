# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator as a graph of first-order scans.

A function takes the problem ``x`` (q, k, gamma, ridge, is_squared), v and the states,
and returns the rows of the result and the final states. ``x.scan`` is one of the
forms of ``_scan``; it decays by γ where it is not told otherwise.
"""


def linear(x, v, p):
    o, p = x.scan(x.q, x.k, v, p)
    return o, (p,)


def second_order_masked(x, v, s, f):
    """u_j = S_j q_j; o_t = Σ_{j≤t} (q_t · (u_j + λ q_j)) v_j."""
    u, s = x.scan(x.q, x.k, x.k, s)
    gamma = x.gamma * x.gamma if x.is_squared else x.gamma
    o, f = x.scan(x.q, u + x.ridge * x.q, v, f, gamma=gamma)
    return o, (s, f)


def second_order_prefix(x, v, s, c):
    """o_t = C_tᵀ (u_t + λ q_t)."""
    u, s = x.scan(x.q, x.k, x.k, s)
    o, c = x.scan(u + x.ridge * x.q, x.q, v, c)
    return o, (s, c)


def second_order_paper(x, v, s, c, g):
    """w_t = C_{t-1}ᵀ k_t, so that G_t = γ G_{t-1} + k_t w_tᵀ."""
    u, s = x.scan(x.q, x.k, x.k, s)
    w, _ = x.scan(x.k, x.q, v, c, exclusive=True)
    first, c = x.scan(u + x.ridge * x.q, x.q, v, c)
    second, g = x.scan(x.q, x.k, w, g)
    return first - second, (s, c, g)


def asymmetric(x, v, p, e):
    r, p = x.scan(x.q, x.k, v, p)
    o, e = x.scan(x.q, x.k, r, e)
    return o, (p, e)


def third_order_masked(x, v, s, p, f):
    u, s = x.scan(x.q, x.k, x.k, s)
    r, p = x.scan(x.q, x.k, v, p)
    o, f = x.scan(x.q, u + x.ridge * x.q, r, f)
    return o, (s, p, f)


def third_order_paper(x, v, sk, sq, p, a, r):
    """The triples (i, u, j) by which of them are t, the others before: u and j (κ u_t),
    i and j (σ k_t), all three (κ² k_t), i and u (κ p_t)."""
    kappa = (x.q * x.k).sum(3)[..., None]
    u, sk = x.scan(x.q, x.k, x.k, sk, exclusive=True)
    y, sq = x.scan(x.k, x.q, x.q, sq, exclusive=True)
    sigma = (x.k * y).sum(3)[..., None]
    before, p = x.scan(x.q, x.k, v, p, exclusive=True)
    keys = kappa * u + sigma * x.k + kappa * kappa * x.k
    first, a = x.scan(x.q, keys, v, a)
    second, r = x.scan(x.q, x.k, kappa * before, r)
    return first + second, (sk, sq, p, a, r)


def third_order_paper_decayed(x, v, sk, sq, p, g1, g2, g3):
    y, sk_final = x.scan(x.q, x.k, x.k, sk)
    z, sq_final = x.scan(y, x.q, x.q, sq)
    o, p_final = x.scan(z, x.k, v, p)
    w, _ = x.scan(x.k, x.q, x.q, sq, exclusive=True)
    values, _ = x.scan(w, x.k, v, p, exclusive=True)
    first, g1 = x.scan(x.q, x.k, values, g1)
    keys, _ = x.scan(x.q, x.k, x.k, sk, exclusive=True)
    values, _ = x.scan(x.q, x.k, v, p, exclusive=True)
    second, g2 = x.scan(x.q, keys, values, g2)
    keys, _ = x.scan(w, x.k, x.k, sk, exclusive=True)
    third, g3 = x.scan(x.q, keys, v, g3)
    return o - first - second - third, (sk_final, sq_final, p_final, g1, g2, g3)
