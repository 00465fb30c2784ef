# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Second-order linear attention: arXiv 2510.27258, section 3.

With A = L ⊙ (Q Kᵀ) and the prefix statistics S_t = Σ_{i≤t} k_i k_iᵀ,
C_t = Σ_{j≤t} q_j v_jᵀ:

    masked:  O = ((A Aᵀ) ⊙ L) V        the strictly causal operator
    prefix:  o_t = q_tᵀ S_t C_t         equation 3.1: no mask inside the statistics

Written out, o_t sums (q_t·k_i)(k_i·q_j) v_j over i ≤ j ≤ t when masked, and over
i ≤ t, j ≤ t otherwise.
"""

from ._arrays import check_heads, from_heads, namespace, positions, to_heads, zeros
from ._scan import scan

VARIANTS = ("masked", "prefix")


def second_order(q, k, v, *, variant="masked", layout="bthd", decay=1.0):
    """The operator by its definition. Result: o in the shape of v.

    masked: the two T×T matrix products as they stand above. With ``decay`` γ ≠ 1
    this is the causal decay, every scan decayed by γ: the triple (i, j, t) weighs
    γ^{t-i} = γ^{t-j} γ^{j-i}, so the right factor becomes A_γ = Γ ⊙ A and the mask
    Γ itself, Γ_{tj} = γ^{t-j} for j ≤ t.

    prefix: S_t and C_t are summed token by token and multiplied; undecayed only.
    """
    _check_variant(variant)
    q, k, v = (to_heads(x, layout, n) for x, n in ((q, "q"), (k, "k"), (v, "v")))
    check_heads(q, k, v)
    if variant == "masked":
        xp = namespace(v)
        weight = _causal_weight(v, decay)
        scores = xp.tril(q @ k.swapaxes(2, 3))
        return from_heads(
            (weight * (scores @ (weight * scores).swapaxes(2, 3))) @ v, layout
        )
    if decay != 1.0:
        raise ValueError(
            "expected decay 1 with the prefix variant (a decayed product S_t C_t "
            f"has more than one reading), but got {decay}"
        )
    s = zeros(k, (*k.shape[:2], k.shape[3], k.shape[3]))
    c = zeros(v, (*v.shape[:2], k.shape[3], v.shape[3]))
    o = zeros(v, tuple(v.shape))
    for t in range(v.shape[2]):
        s = s + k[:, :, t, :, None] * k[:, :, t, None, :]
        c = c + q[:, :, t, :, None] * v[:, :, t, None, :]
        o[:, :, t] = (q[:, :, t, None, :] @ s @ c)[:, :, 0]
    return from_heads(o, layout)


def second_order_recurrence(
    q, k, v, *, variant="masked", layout="bthd", decay=1.0, output_decay=None
):
    """The operator token by token, as two first-order scans. Result: o like v.

    Let u_t = q_tᵀ S_t = Σ_{i≤t} (q_t·k_i) k_i, the scan of (q, k, k). Then

        masked:  o_t = Σ_{j≤t} Σ_{i≤j} (q_t·k_i)(k_i·q_j) v_j = Σ_{j≤t} (q_t·u_j) v_j
        prefix:  o_t = Σ_{j≤t} Σ_{i≤t} (q_t·k_i)(k_i·q_j) v_j = Σ_{j≤t} (u_t·q_j) v_j

    the scans of (q, u, v) and of (u, q, v): what is masked decides only which of
    the two carries u. ``decay`` decays both scans; ``output_decay`` the second one,
    where it differs (γ² gives the pair (i, j) the weight γ^{2t-i-j}).
    """
    _check_variant(variant)
    outer = decay if output_decay is None else output_decay
    u, _ = scan(q, k, k, layout=layout, decay=decay)
    left, right = (q, u) if variant == "masked" else (u, q)
    return scan(left, right, v, layout=layout, decay=outer)[0]


def second_order_blockwise(
    q, k, v, *, variant="masked", layout="bthd", score_elements=1 << 28
):
    """The operator from rows of scores, as fast as float64 products go. o like v.

    Undecayed, a first-order scan is (L ⊙ (X Yᵀ)) Z, and by the two identities of
    ``second_order_recurrence`` the operator is

        U = (L ⊙ (Q Kᵀ)) K        O = (L ⊙ (Q Uᵀ)) V     masked
                                   O = (L ⊙ (U Qᵀ)) V     prefix

    Rows n..n+r of the lower triangle meet columns 0..n+r only, so that many rows
    of scores are formed at a time, as many as ``score_elements`` allows over all
    heads. No state is carried from one block of rows to the next: a wrong carry in
    a kernel has no counterpart here.
    """
    _check_variant(variant)
    q, k, v = (to_heads(x, layout, n) for x, n in ((q, "q"), (k, "k"), (v, "v")))
    check_heads(q, k, v)
    u = _lower_triangle_product(q, k, k, score_elements)
    left, right = (q, u) if variant == "masked" else (u, q)
    return from_heads(_lower_triangle_product(left, right, v, score_elements), layout)


def _lower_triangle_product(x, y, z, score_elements):
    """(L ⊙ (X Yᵀ)) Z of ``[B, H, T, D]`` arrays."""
    xp = namespace(z)
    batch, heads, length, _ = z.shape
    out = zeros(z, tuple(z.shape))
    # A row of scores is at most length columns in each head.
    rows = max(1, min(1024, score_elements // max(1, batch * heads * length)))
    for begin in range(0, length, rows):
        end = min(begin + rows, length)
        scores = x[:, :, begin:end] @ y[:, :, :end].swapaxes(2, 3)
        # Columns before the block are wholly below the diagonal.
        scores[..., begin:] = xp.tril(scores[..., begin:])
        out[:, :, begin:end] = scores @ z[:, :, :end]
    return out


def _causal_weight(like, decay):
    """Γ: Γ_{tj} = γ^{t-j} for j ≤ t, else 0."""
    xp = namespace(like)
    position = positions(like, like.shape[2])
    lag = position[:, None] - position[None, :]
    return xp.tril(float(decay) ** xp.abs(lag))


def _check_variant(variant):
    if variant not in VARIANTS:
        raise ValueError(
            f"expected variant to be one of {VARIANTS} (operator definitions), but "
            f"got {variant!r}"
        )
