# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One token of masked second order as one Triton kernel, states updated in place.

One program has one head. With S = Σ k kᵀ and F = Σ u vᵀ, in f32:

    S ← S + k kᵀ        u = q S        F ← F + u vᵀ        o = q F
"""

import triton
import triton.language as tl


@triton.jit
def _kernel(
    q_base, k_base, v_base, s_base, f_base, o_base, WIDTH: tl.constexpr, ROWS: tl.constexpr
):
    head = tl.program_id(0).to(tl.int64)
    feature = tl.arange(0, WIDTH)
    q = tl.load(q_base + head * WIDTH + feature).to(tl.float32)
    k = tl.load(k_base + head * WIDTH + feature).to(tl.float32)
    v = tl.load(v_base + head * WIDTH + feature).to(tl.float32)
    s_base += head * WIDTH * WIDTH
    f_base += head * WIDTH * WIDTH
    # S is symmetric: its product with a block of its rows is a block of u.
    o = tl.zeros((WIDTH,), dtype=tl.float32)
    for begin in tl.static_range(0, WIDTH, ROWS):
        row = begin + tl.arange(0, ROWS)
        tile = row[:, None] * WIDTH + feature[None, :]
        q_of_rows = tl.load(q_base + head * WIDTH + row).to(tl.float32)
        k_of_rows = tl.load(k_base + head * WIDTH + row).to(tl.float32)
        s = tl.load(s_base + tile) + k_of_rows[:, None] * k[None, :]
        f = tl.load(f_base + tile)
        tl.store(s_base + tile, s)
        u = tl.sum(s * q[None, :], axis=1)
        f += u[:, None] * v[None, :]
        tl.store(f_base + tile, f)
        o += tl.sum(f * q_of_rows[:, None], axis=0)
    tl.store(o_base + head * WIDTH + feature, o.to(o_base.dtype.element_ty))


def configurations():
    """Settings to choose from by time: rows of a state at a time, and warps."""
    return [{"rows": r, "num_warps": w} for r in (8, 16, 32) for w in (2, 4, 8)]


def launch(q, k, v, s, f, out, *, rows, num_warps):
    """``q, k, v, out``: contiguous [B, 1, H, d]; ``s, f``: contiguous [B, H, d, d]."""
    batch, tokens, heads, width = q.shape
    assert tokens == 1 and all(x.is_contiguous() for x in (q, k, v, s, f, out))
    _kernel[(batch * heads,)](
        q, k, v, s, f, out, WIDTH=width, ROWS=rows, num_warps=num_warps
    )
