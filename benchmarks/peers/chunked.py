# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""First-order causal linear attention as two Triton kernels, over chunks of 64 tokens.

This is a call of a library of chunked linear attention, in the style of
flash-linear-attention, and what the higher orders are composed of without a compiler
(``composition.py``). With γ_t = exp g_t and G the sums of g from the chunk's first
token on,

 1. a pass over the chunks of a head that writes the state before each chunk to
    memory, one program a tile of the state:

        S ← exp(G_last) S + Σ_i exp(G_last − G_i) k_i v_iᵀ

 2. a kernel over all chunks at once, with E = G, or G − g exclusive, and i < t then:

        o_t = Σ_{i ≤ t} exp(E_t − G_i) (q_t·k_i) v_i + exp(E_t) Sᵀ q_t

Log-decays are finite. The states of every chunk go through memory, in the type of
the inputs. Groups divide one another.
"""

import torch
import triton
import triton.language as tl

CHUNK = 64


@triton.jit
def _states_kernel(
    k_base,
    v_base,
    g_base,
    s_base,
    k_stride_b,
    k_stride_t,
    k_stride_h,
    v_stride_b,
    v_stride_t,
    v_stride_h,
    g_stride_b,
    g_stride_t,
    g_stride_h,
    tokens,
    heads,
    K_GROUP: tl.constexpr,
    V_GROUP: tl.constexpr,
    STATE_GROUP: tl.constexpr,
    IS_DECAYED: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDTH: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    TILE_K: tl.constexpr,
    TILE_V: tl.constexpr,
    CHUNK: tl.constexpr,
):
    state_index = tl.program_id(2).to(tl.int64)
    state_heads = heads // STATE_GROUP
    batch = state_index // state_heads
    head = state_index % state_heads * STATE_GROUP
    feature = tl.program_id(0) * TILE_K + tl.arange(0, TILE_K)
    value = tl.program_id(1) * TILE_V + tl.arange(0, TILE_V)
    row = tl.arange(0, CHUNK)
    chunks = tl.cdiv(tokens, CHUNK)

    # Read transposed: the product below is kᵀ v.
    k_tile = k_base + batch * k_stride_b + head // K_GROUP * k_stride_h
    k_tile = k_tile + feature[:, None] + row[None, :].to(tl.int64) * k_stride_t
    v_tile = v_base + batch * v_stride_b + head // V_GROUP * v_stride_h
    v_tile = v_tile + row[:, None].to(tl.int64) * v_stride_t + value[None, :]
    g_tile = g_base + batch * g_stride_b + head * g_stride_h
    g_tile = g_tile + row.to(tl.int64) * g_stride_t
    s_tile = s_base + state_index * chunks * WIDTH * VALUE_WIDTH
    s_tile = s_tile + feature[:, None] * VALUE_WIDTH + value[None, :]

    state = tl.zeros((TILE_K, TILE_V), dtype=tl.float32)
    for begin in range(0, tokens, CHUNK):
        tl.store(s_tile, state.to(s_base.dtype.element_ty))
        inside = begin + row < tokens
        k = tl.load(k_tile, mask=inside[None, :], other=0.0)
        v = tl.load(v_tile, mask=inside[:, None], other=0.0)
        if IS_DECAYED:
            g = tl.load(g_tile, mask=inside, other=0.0)
            last = tl.sum(g, 0)
            k = (k * tl.exp(last - tl.cumsum(g, 0))[None, :]).to(k.dtype)
            state = state * tl.exp(last)
            g_tile += CHUNK * g_stride_t
        state = tl.dot(k, v, acc=state, input_precision=PRECISION)
        k_tile += CHUNK * k_stride_t
        v_tile += CHUNK * v_stride_t
        s_tile += WIDTH * VALUE_WIDTH


@triton.jit
def _output_kernel(
    q_base,
    k_base,
    v_base,
    g_base,
    s_base,
    o_base,
    q_stride_b,
    q_stride_t,
    q_stride_h,
    k_stride_b,
    k_stride_t,
    k_stride_h,
    v_stride_b,
    v_stride_t,
    v_stride_h,
    g_stride_b,
    g_stride_t,
    g_stride_h,
    o_stride_b,
    o_stride_t,
    o_stride_h,
    tokens,
    heads,
    Q_GROUP: tl.constexpr,
    K_GROUP: tl.constexpr,
    V_GROUP: tl.constexpr,
    STATE_GROUP: tl.constexpr,
    IS_EXCLUSIVE: tl.constexpr,
    IS_DECAYED: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDTH: tl.constexpr,
    VALUE_WIDTH: tl.constexpr,
    TILE_K: tl.constexpr,
    TILE_V: tl.constexpr,
    CHUNK: tl.constexpr,
):
    dtype = q_base.dtype.element_ty
    chunk = tl.program_id(1)
    head_index = tl.program_id(2).to(tl.int64)
    batch = head_index // heads
    head = head_index % heads
    value = tl.program_id(0) * TILE_V + tl.arange(0, TILE_V)
    row = tl.arange(0, CHUNK)
    token = (chunk * CHUNK + row).to(tl.int64)
    inside = token < tokens

    q_rows = batch * q_stride_b + head // Q_GROUP * q_stride_h + token * q_stride_t
    k_rows = batch * k_stride_b + head // K_GROUP * k_stride_h + token * k_stride_t
    v_rows = batch * v_stride_b + head // V_GROUP * v_stride_h + token * v_stride_t
    o_rows = batch * o_stride_b + head * o_stride_h + token * o_stride_t
    s_tile = batch * (heads // STATE_GROUP) + head // STATE_GROUP
    s_tile = s_tile * tl.cdiv(tokens, CHUNK) + chunk
    s_tile = s_base + s_tile * WIDTH * VALUE_WIDTH

    scores = tl.zeros((CHUNK, CHUNK), dtype=tl.float32)
    o = tl.zeros((CHUNK, TILE_V), dtype=tl.float32)
    for start in tl.static_range(0, WIDTH, TILE_K):
        feature = start + tl.arange(0, TILE_K)
        q = tl.load(
            q_base + q_rows[:, None] + feature[None, :],
            mask=inside[:, None],
            other=0.0,
        )
        k = tl.load(
            k_base + k_rows[None, :] + feature[:, None],
            mask=inside[None, :],
            other=0.0,
        )
        state = tl.load(s_tile + feature[:, None] * VALUE_WIDTH + value[None, :])
        scores = tl.dot(q, k, acc=scores, input_precision=PRECISION)
        o = tl.dot(q, state, acc=o, input_precision=PRECISION)
    if IS_EXCLUSIVE:
        visible = row[:, None] > row[None, :]
    else:
        visible = row[:, None] >= row[None, :]
    if IS_DECAYED:
        g_rows = batch * g_stride_b + head * g_stride_h + token * g_stride_t
        g = tl.load(g_base + g_rows, mask=inside, other=0.0)
        key_sum = tl.cumsum(g, 0)
        query_sum = key_sum
        if IS_EXCLUSIVE:
            query_sum = key_sum - g
        gap = query_sum[:, None] - key_sum[None, :]
        # An exponent that is not visible may be positive, and large.
        scores = scores * tl.exp(tl.where(visible, gap, 0.0))
        o = o * tl.exp(query_sum)[:, None]
    scores = tl.where(visible, scores, 0.0).to(dtype)
    v = tl.load(
        v_base + v_rows[:, None] + value[None, :], mask=inside[:, None], other=0.0
    )
    o = tl.dot(scores, v, acc=o, input_precision=PRECISION)
    tl.store(
        o_base + o_rows[:, None] + value[None, :],
        o.to(o_base.dtype.element_ty),
        mask=inside[:, None],
    )


def configurations(width, value_width, precision=None):
    """Settings to choose from by time: the tile of both kernels, warps, stages.

    precision: of products of f32, whose tiles take twice the memory; and products
    without matrix units take minutes to compile where a warp has many.
    """
    tiles, warps, stages = (64, 128), (4, 8), (2, 3, 4)
    if precision is not None:
        tiles, stages = (64,), (2, 3)
    if precision == "ieee":
        warps, stages = (8,), (2,)
    tiles = sorted({min(width, value_width, n) for n in tiles})
    return [
        {"tile": t, "num_warps": w, "num_stages": s}
        for t in tiles
        for w in warps
        for s in stages
    ]


def workspace(shape, width, value_width, like):
    """The states of every chunk, for calls on [batch, tokens, heads] = ``shape``."""
    batch, tokens, heads = shape
    chunks = (tokens + CHUNK - 1) // CHUNK
    count = batch * heads * chunks * width * value_width
    return torch.empty(count, dtype=like.dtype, device=like.device)


def attend(
    q,
    k,
    v,
    out,
    states,
    *,
    log_decay=None,
    is_exclusive=False,
    groups=(1, 1, 1),
    precision=None,
    tile,
    **options,
):
    """``out`` of [B, T, H / group, D] tensors whose last stride is 1.

    log_decay: f32 [B, T, H], by strides of 0 also one of every head, or of all.
    precision: of products of f32: tf32, tf32x3 or ieee; None for other types.
    """
    batch, tokens, heads, value_width = out.shape
    width = k.shape[3]
    state_group = min(groups[1:]) if log_decay is None else 1
    # A pointer to anything where none is read.
    g, g_strides = out, (0, 0, 0)
    if log_decay is not None:
        g, g_strides = log_decay, log_decay.stride()
    shared = {
        "K_GROUP": groups[1],
        "V_GROUP": groups[2],
        "STATE_GROUP": state_group,
        "IS_DECAYED": log_decay is not None,
        # Without meaning for other types than f32, and never None.
        "PRECISION": precision or "ieee",
        "WIDTH": width,
        "VALUE_WIDTH": value_width,
        "TILE_K": min(tile, width),
        "TILE_V": min(tile, value_width),
        "CHUNK": CHUNK,
        **options,
    }
    tiles_k, tiles_v = width // shared["TILE_K"], value_width // shared["TILE_V"]
    chunks = (tokens + CHUNK - 1) // CHUNK
    q_strides, k_strides, v_strides, o_strides = (
        x.stride()[:3] for x in (q, k, v, out)
    )
    _states_kernel[(tiles_k, tiles_v, batch * heads // state_group)](
        k, v, g, states, *k_strides, *v_strides, *g_strides, tokens, heads, **shared
    )
    _output_kernel[(tiles_v, chunks, batch * heads)](
        q,
        k,
        v,
        g,
        states,
        out,
        *q_strides,
        *k_strides,
        *v_strides,
        *g_strides,
        *o_strides,
        tokens,
        heads,
        Q_GROUP=groups[0],
        IS_EXCLUSIVE=is_exclusive,
        **shared,
    )
