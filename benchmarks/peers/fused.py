# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masked second order as one Triton kernel: what a person would fuse by hand.

One program walks the chunks of one head, or of one slice of its values, with both
states in registers. A chunk with carries S = Σ k kᵀ and F = Σ u vᵀ:

    A = tril(Q Kᵀ)        U = A K + Q S        S ← S + Kᵀ K
    B = tril(Q Uᵀ)        O = B V + Q F        F ← F + Uᵀ V

S and U do not depend on the values, so programs of other slices compute them again.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _kernel(
    q_base,
    k_base,
    v_base,
    o_base,
    q_stride_b,
    q_stride_t,
    q_stride_h,
    v_stride_b,
    v_stride_t,
    v_stride_h,
    tokens,
    heads,
    WIDTH: tl.constexpr,
    SLICE: tl.constexpr,
    CHUNK: tl.constexpr,
):
    dtype = q_base.dtype.element_ty
    head = tl.program_id(0)
    batch = (head // heads).to(tl.int64)
    head = (head % heads).to(tl.int64)
    row = tl.arange(0, CHUNK)
    feature = tl.arange(0, WIDTH)
    value = tl.program_id(1) * SLICE + tl.arange(0, SLICE)
    below = row[:, None] >= row[None, :]

    qk_tile = batch * q_stride_b + head * q_stride_h
    qk_tile = qk_tile + row[:, None].to(tl.int64) * q_stride_t + feature[None, :]
    v_tile = batch * v_stride_b + head * v_stride_h
    v_tile = v_tile + row[:, None].to(tl.int64) * v_stride_t + value[None, :]
    q_tile, k_tile = q_base + qk_tile, k_base + qk_tile
    o_tile, v_tile = o_base + v_tile, v_base + v_tile

    s = tl.zeros((WIDTH, WIDTH), dtype=tl.float32)
    f = tl.zeros((WIDTH, SLICE), dtype=tl.float32)
    for begin in range(0, tokens, CHUNK):
        inside = (begin + row < tokens)[:, None]
        q = tl.load(q_tile, mask=inside, other=0.0)
        k = tl.load(k_tile, mask=inside, other=0.0)
        v = tl.load(v_tile, mask=inside, other=0.0)
        a = tl.where(below, tl.dot(q, tl.trans(k)), 0.0).to(dtype)
        u = tl.dot(a, k)
        u = tl.dot(q, s.to(dtype), acc=u).to(dtype)
        s = tl.dot(tl.trans(k), k, acc=s)
        b = tl.where(below, tl.dot(q, tl.trans(u)), 0.0).to(dtype)
        o = tl.dot(b, v)
        o = tl.dot(q, f.to(dtype), acc=o)
        f = tl.dot(tl.trans(u), v, acc=f)
        tl.store(o_tile, o.to(o_base.dtype.element_ty), mask=inside)
        q_tile += CHUNK * q_stride_t
        k_tile += CHUNK * q_stride_t
        v_tile += CHUNK * v_stride_t
        o_tile += CHUNK * v_stride_t


def configurations(width, value_width):
    """Settings to choose from by time: chunk, slice of values, warps, stages."""
    slices = sorted({min(value_width, n) for n in (32, 64, 128)})
    return [
        {"chunk": 64, "slice": n, "num_warps": warps, "num_stages": stages}
        for n in slices
        for warps in (4, 8)
        for stages in (1, 2, 3)
        if warps == 8 or width < 128
        # Slices of 32 with 4 warps fault in Triton 3.6's code for sm_90.
        if warps == 8 or n > 32
    ]


def launch(q, k, v, out, *, chunk, slice, num_warps, num_stages):
    """``out`` of [B, T, H, D] tensors; q and k of one stride, v and out of another."""
    batch, tokens, heads, width = q.shape
    assert q.stride() == k.stride() and v.stride() == out.stride()
    grid = (batch * heads, v.shape[3] // slice)
    _kernel[grid](
        q,
        k,
        v,
        out,
        *q.stride()[:3],
        *v.stride()[:3],
        tokens,
        heads,
        WIDTH=width,
        SLICE=slice,
        CHUNK=chunk,
        num_warps=num_warps,
        num_stages=num_stages,
    )


def second_order(q, k, v, configuration):
    out = torch.empty_like(v)
    launch(q, k, v, out, **configuration)
    return out
