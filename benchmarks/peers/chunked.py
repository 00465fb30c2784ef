# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masked second order as two first-order linear attentions, each of two kernels.

This is how the operator is had from a library of chunked linear attention, in the
style of flash-linear-attention: u = attend(q, k, k), then o = attend(q, u, v). A
call is

 1. a pass over the chunks of a head that writes the state before each chunk to
    memory, one program a tile of the state;
 2. a kernel over all chunks at once: O = tril(Q Kᵀ) V + Q S.

Everything between the calls, and the states of every chunk, goes through memory.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _states_kernel(
    k_base,
    v_base,
    s_base,
    k_stride_b,
    k_stride_t,
    k_stride_h,
    v_stride_b,
    v_stride_t,
    v_stride_h,
    tokens,
    heads,
    WIDTH: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    TILE_K: tl.constexpr,
    TILE_V: tl.constexpr,
    CHUNK: tl.constexpr,
):
    head_index = tl.program_id(2)
    batch = (head_index // heads).to(tl.int64)
    head = (head_index % heads).to(tl.int64)
    feature = tl.program_id(0) * TILE_K + tl.arange(0, TILE_K)
    value = tl.program_id(1) * TILE_V + tl.arange(0, TILE_V)
    row = tl.arange(0, CHUNK)
    chunks = tl.cdiv(tokens, CHUNK)

    # Read transposed: the product below is kᵀ v.
    k_tile = k_base + batch * k_stride_b + head * k_stride_h
    k_tile = k_tile + feature[:, None] + row[None, :].to(tl.int64) * k_stride_t
    v_tile = v_base + batch * v_stride_b + head * v_stride_h
    v_tile = v_tile + row[:, None].to(tl.int64) * v_stride_t + value[None, :]
    s_tile = s_base + head_index.to(tl.int64) * chunks * WIDTH * VALUE_WIDTH
    s_tile = s_tile + feature[:, None] * VALUE_WIDTH + value[None, :]

    state = tl.zeros((TILE_K, TILE_V), dtype=tl.float32)
    for begin in range(0, tokens, CHUNK):
        tl.store(s_tile, state.to(s_base.dtype.element_ty))
        inside = begin + row < tokens
        k = tl.load(k_tile, mask=inside[None, :], other=0.0)
        v = tl.load(v_tile, mask=inside[:, None], other=0.0)
        state = tl.dot(k, v, acc=state)
        k_tile += CHUNK * k_stride_t
        v_tile += CHUNK * v_stride_t
        s_tile += WIDTH * VALUE_WIDTH


@triton.jit
def _output_kernel(
    q_base,
    k_base,
    v_base,
    s_base,
    o_base,
    k_stride_b,
    k_stride_t,
    k_stride_h,
    v_stride_b,
    v_stride_t,
    v_stride_h,
    tokens,
    heads,
    WIDTH: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    TILE_K: tl.constexpr,
    TILE_V: tl.constexpr,
    CHUNK: tl.constexpr,
):
    dtype = q_base.dtype.element_ty
    chunk = tl.program_id(1)
    head_index = tl.program_id(2)
    batch = (head_index // heads).to(tl.int64)
    head = (head_index % heads).to(tl.int64)
    value = tl.program_id(0) * TILE_V + tl.arange(0, TILE_V)
    row = tl.arange(0, CHUNK)
    token = (chunk * CHUNK + row).to(tl.int64)
    inside = token < tokens

    qk_rows = batch * k_stride_b + head * k_stride_h + token * k_stride_t
    v_rows = batch * v_stride_b + head * v_stride_h + token * v_stride_t
    s_tile = head_index.to(tl.int64) * tl.cdiv(tokens, CHUNK) + chunk
    s_tile = s_base + s_tile * WIDTH * VALUE_WIDTH

    scores = tl.zeros((CHUNK, CHUNK), dtype=tl.float32)
    o = tl.zeros((CHUNK, TILE_V), dtype=tl.float32)
    for start in tl.static_range(0, WIDTH, TILE_K):
        feature = start + tl.arange(0, TILE_K)
        q = tl.load(
            q_base + qk_rows[:, None] + feature[None, :],
            mask=inside[:, None],
            other=0.0,
        )
        k = tl.load(
            k_base + qk_rows[None, :] + feature[:, None],
            mask=inside[None, :],
            other=0.0,
        )
        state = tl.load(s_tile + feature[:, None] * VALUE_WIDTH + value[None, :])
        scores = tl.dot(q, k, acc=scores)
        o = tl.dot(q, state, acc=o)
    scores = tl.where(row[:, None] >= row[None, :], scores, 0.0).to(dtype)
    v = tl.load(
        v_base + v_rows[:, None] + value[None, :], mask=inside[:, None], other=0.0
    )
    o = tl.dot(scores, v, acc=o)
    tl.store(
        o_base + v_rows[:, None] + value[None, :],
        o.to(o_base.dtype.element_ty),
        mask=inside[:, None],
    )


def configurations(width, value_width):
    """Settings to choose from by time: the tile of both kernels, warps, stages."""
    tiles = sorted({min(width, value_width, n) for n in (64, 128)})
    return [
        {"chunk": 64, "tile": n, "num_warps": warps, "num_stages": stages}
        for n in tiles
        for warps in (4, 8)
        for stages in (2, 3, 4)
    ]


def workspace(q, v, chunk=64):
    """States of every chunk and u, allocated once."""
    batch, tokens, heads, width = q.shape
    chunks = (tokens + chunk - 1) // chunk
    count = batch * heads * chunks * width * max(width, v.shape[3])
    return torch.empty(count, dtype=q.dtype, device=q.device), torch.empty_like(q)


def _attend(q, k, v, out, states, chunk, tile, **options):
    batch, tokens, heads, width = q.shape
    value_width = v.shape[3]
    assert q.stride() == k.stride() and v.stride() == out.stride()
    strides = (*k.stride()[:3], *v.stride()[:3])
    shape = {
        "WIDTH": width,
        "VALUE_WIDTH": value_width,
        "TILE_K": min(tile, width),
        "TILE_V": min(tile, value_width),
        "CHUNK": chunk,
    }
    tiles_k, tiles_v = width // shape["TILE_K"], value_width // shape["TILE_V"]
    chunks = (tokens + chunk - 1) // chunk
    _states_kernel[(tiles_k, tiles_v, batch * heads)](
        k, v, states, *strides, tokens, heads, **shape, **options
    )
    _output_kernel[(tiles_v, chunks, batch * heads)](
        q, k, v, states, out, *strides, tokens, heads, **shape, **options
    )


def launch(q, k, v, out, *, states_and_u, **configuration):
    """``out`` of [B, T, H, D] tensors; q and k of one stride, v and out of another."""
    states, u = states_and_u
    _attend(q, k, k, u, states, **configuration)
    _attend(q, u, v, out, states, **configuration)


def second_order(q, k, v, configuration):
    out = torch.empty_like(v)
    launch(q, k, v, out, states_and_u=workspace(q, v), **configuration)
    return out
