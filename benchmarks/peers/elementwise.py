# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands between first-order calls, each as one kernel.

A compiler of elementwise code (torch.compile) fuses as much: every operand is read
once, every result written once, arithmetic is f32.
"""

import triton
import triton.language as tl

_BLOCK = 1024
_ROWS = 16


@triton.jit
def _combine_kernel(
    a_base,
    b_base,
    c_base,
    d_base,
    out_base,
    a_factor,
    b_factor,
    c_factor,
    d_factor,
    size,
    COUNT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < size
    out = a_factor * tl.load(a_base + at, mask=inside).to(tl.float32)
    out += b_factor * tl.load(b_base + at, mask=inside).to(tl.float32)
    if COUNT > 2:
        out += c_factor * tl.load(c_base + at, mask=inside).to(tl.float32)
    if COUNT > 3:
        out += d_factor * tl.load(d_base + at, mask=inside).to(tl.float32)
    tl.store(out_base + at, out.to(out_base.dtype.element_ty), mask=inside)


def combine(out, terms):
    """out = Σ factor · tensor over two to four ``(tensor, factor)``, contiguous."""
    tensors, factors = zip(*terms)
    spare = 4 - len(terms)
    size = out.numel()
    _combine_kernel[(triton.cdiv(size, _BLOCK),)](
        *tensors,
        *tensors[:1] * spare,
        out,
        *map(float, factors),
        *[0.0] * spare,
        size,
        COUNT=len(terms),
        BLOCK=_BLOCK,
    )


@triton.jit
def _divide_kernel(
    out_base,
    denominator_base,
    epsilon,
    rows,
    COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = row[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    inside = (row < rows)[:, None]
    denominator = tl.load(denominator_base + row * COLUMNS, mask=row < rows, other=1.0)
    out = tl.load(out_base + at, mask=inside).to(tl.float32)
    out = out / (denominator.to(tl.float32) + epsilon)[:, None]
    tl.store(out_base + at, out.to(out_base.dtype.element_ty), mask=inside)


def divide(out, denominator, epsilon):
    """out /= the first column of ``denominator`` + ε."""
    rows = out.numel() // out.shape[3]
    _divide_kernel[(triton.cdiv(rows, _ROWS),)](
        out,
        denominator,
        float(epsilon),
        rows,
        COLUMNS=denominator.shape[3],
        WIDTH=out.shape[3],
        ROWS=_ROWS,
    )


@triton.jit
def _third_order_kernel(
    q_base,
    k_base,
    u_base,
    y_base,
    p_base,
    a_base,
    r_base,
    rows,
    WIDTH: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):
    dtype = a_base.dtype.element_ty
    row = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    at = row * WIDTH + tl.arange(0, WIDTH)[None, :]
    value_at = row * VALUE_WIDTH + tl.arange(0, VALUE_WIDTH)[None, :]
    inside = row < rows
    q = tl.load(q_base + at, mask=inside).to(tl.float32)
    k = tl.load(k_base + at, mask=inside).to(tl.float32)
    u = tl.load(u_base + at, mask=inside).to(tl.float32)
    y = tl.load(y_base + at, mask=inside).to(tl.float32)
    p = tl.load(p_base + value_at, mask=inside).to(tl.float32)
    kappa = tl.sum(q * k, 1)[:, None]
    sigma = tl.sum(k * y, 1)[:, None]
    a = kappa * u + (sigma + kappa * kappa) * k
    tl.store(a_base + at, a.to(dtype), mask=inside)
    tl.store(r_base + value_at, (kappa * p).to(dtype), mask=inside)


def third_order_terms(q, k, u, y, p, a, r):
    """a = κ u + (σ + κ²) k and r = κ p, with κ = q·k and σ = k·y in each row."""
    rows = q.numel() // q.shape[3]
    _third_order_kernel[(triton.cdiv(rows, _ROWS),)](
        q,
        k,
        u,
        y,
        p,
        a,
        r,
        rows,
        WIDTH=q.shape[3],
        VALUE_WIDTH=p.shape[3],
        ROWS=_ROWS,
    )
