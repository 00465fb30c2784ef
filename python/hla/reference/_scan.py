# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first-order causal scan: the one primitive.

    S_t = γ S_{t-1} + k_t v_tᵀ        S_0 = the carry in
    y_t = q_tᵀ S_t                     inclusive
    y_t = q_tᵀ S_{t-1}                 exclusive: the state before token t, undecayed

A reverse scan is the same on the tokens in the opposite order: its carry enters
behind the last token and its final state is the one after the first token.
"""

from ._arrays import (
    check_heads,
    from_heads,
    namespace,
    per_head,
    positions,
    to_float64,
    to_heads,
    zeros,
)


def scan(
    q,
    k,
    v,
    *,
    layout="bthd",
    exclusive=False,
    reverse=False,
    decay=1.0,
    initial=None,
):
    """The scan by its recurrence, token by token, all heads at once.

    q, k: tokens of length d; v: tokens of length dv, in ``layout``.
    decay: γ, one number or one per head.
    initial: ``[B, H, d, dv]`` carry in; zero where None.

    Returns ``(y, final)``: y in the shape of v, and the ``[B, H, d, dv]`` carry out.
    """
    q, k, v = (to_heads(x, layout, n) for x, n in ((q, "q"), (k, "k"), (v, "v")))
    check_heads(q, k, v)
    state = _initial_state(initial, k, v)
    gamma = per_head(decay, k)
    y = zeros(v, tuple(v.shape))
    tokens = range(v.shape[2])
    for t in reversed(tokens) if reverse else tokens:
        if exclusive:
            y[:, :, t] = _read(q, state, t)
        state = gamma * state + k[:, :, t, :, None] * v[:, :, t, None, :]
        if not exclusive:
            y[:, :, t] = _read(q, state, t)
    return from_heads(y, layout), state


def scan_quadratic(
    q,
    k,
    v,
    *,
    layout="bthd",
    exclusive=False,
    reverse=False,
    decay=1.0,
    initial=None,
):
    """The scan by its closed form, with no state. Arguments and results of ``scan``.

    Unrolling the recurrence from S_0, with tokens numbered from 1 in scan order,

        S_t = γᵗ S_0 + Σ_{i ≤ t} γ^{t-i} k_i v_iᵀ

    so, with e = 0 inclusive and e = 1 exclusive,

        y_t = γ^{t-e} q_tᵀ S_0 + Σ_{i ≤ t-e} γ^{t-e-i} (q_t · k_i) v_i

    ``decay`` is one number here.
    """
    q, k, v = (to_heads(x, layout, n) for x, n in ((q, "q"), (k, "k"), (v, "v")))
    check_heads(q, k, v)
    xp = namespace(v)
    state = _initial_state(initial, k, v)
    length = v.shape[2]
    # Rank of each token in scan order, from 1, and each token's distance behind
    # the one that reads.
    rank = positions(v, length)
    rank = length - rank if reverse else rank + 1
    lag = rank[:, None] - rank[None, :] - float(exclusive)
    weight = xp.where(lag >= 0, float(decay) ** xp.abs(lag), 0.0 * lag)
    carried = float(decay) ** (rank - float(exclusive))
    y = (weight * (q @ k.swapaxes(2, 3))) @ v + carried[:, None] * (q @ state)
    left = float(decay) ** (float(length) - rank)
    final = float(decay) ** length * state + (left[:, None] * k).swapaxes(2, 3) @ v
    return from_heads(y, layout), final


def _read(q, state, t):
    return (q[:, :, t, None, :] @ state)[:, :, 0]


def _initial_state(initial, k, v):
    shape = (k.shape[0], k.shape[1], k.shape[3], v.shape[3])
    if initial is None:
        return zeros(v, shape)
    if tuple(initial.shape) != shape:
        raise ValueError(
            f"expected initial of shape {shape} (a state of [B, H, d, dv]), but got "
            f"{tuple(initial.shape)}"
        )
    # A copy, so that no caller sees its carry change.
    return to_float64(initial) + zeros(v, shape)
