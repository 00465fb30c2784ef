# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an operator costs at least: bytes, flops, and the floor that a card gives them."""

import math
from dataclasses import dataclass

from steps import Scan, dependent_on_values, widths

# Chunk length of the floor's arithmetic: the one every kernel compared here has.
FLOOR_CHUNK = 64


@dataclass(frozen=True)
class Cost:
    """What no kernel of the chunked form does with less."""

    bytes: int
    flops: int


def count_flops(
    graph, tokens, heads, d, dv, *, groups=(1, 1), is_normalised=False, has_gates=False
):
    """Flops of a graph's scans, in chunks of C tokens, two for a multiply-add.

    For y = scan(q, k, v) with w(x) the width of x, a chunk of C tokens with the state S
    before it is

        A = tril(Q Kᵀ)            2 · C · w(k)        a token
        Y = A V                   2 · C · w(v)
          + Q S                   2 · w(k) · w(v)
        S ← S + Kᵀ V              2 · w(k) · w(v)

    The masked half of A is included, as matrix units execute it. For w(k) = w(v) = d that
    is 4·C·d + 4·d², the unit of docs/Operators.md. What several scans of an operator
    have in common counts once:

    - A by the pair {q, k}: tril(K Qᵀ) is the other triangle of the same product;
    - A V by (q, k, v), and whether it is exclusive;
    - Q S by (q, k, v): exclusive or not, rows differ by a factor;
    - S by (k, v).

    So masked second order, u = scan(q,k,k) and o = scan(q,u,v), is 8·C·d + 8·d². Grouped
    heads count once for the heads that share a product, but for a state that every
    head decays differently (``has_gates``). A normaliser makes every v, and what depends
    on v, a column wider. What stands between scans is linear in d and not counted, nor
    are a decay's exponentials.
    """
    width = widths(graph, d, dv)
    if is_normalised:
        for name in dependent_on_values(graph):
            width[name] += 1
    group = {"q": groups[0], "k": groups[1], "v": groups[1]}
    # Multiply-adds a token of each product, and of how many heads it is one.
    products = {}
    for step in graph:
        if not isinstance(step, Scan):
            continue
        q, k, v = step.reads
        gq, gk, gv = (group.get(name, 1) for name in step.reads)
        shared = 1 if has_gates else math.gcd(gk, gv)
        scores, state = FLOOR_CHUNK * width[k], width[k] * width[v]
        pair = (min(q, k), max(q, k))
        products[("scores", *pair)] = scores, math.gcd(gq, gk)
        weighted = FLOOR_CHUNK * width[v], math.gcd(gq, gk, gv)
        products["weighted", q, k, v, step.is_exclusive] = weighted
        products["read", q, k, v] = state, math.gcd(gq, shared)
        products["state", k, v] = state, shared
    return sum(2 * n * tokens * heads // g for n, g in products.values())


@dataclass(frozen=True)
class Ceilings:
    """What the card does at most, measured in this run."""

    copy_bytes_per_second: float
    # Of square products of bf16, of f32 through tf32, and of f32.
    matmul_flops_per_second: dict

    def flops_per_second(self, precision):
        """Of products whose operands are "bf16", or f32 in one of three precisions.

        bf16x3 is three products of bf16. f32 is a product of f32, or three of tf32
        that are as exact, whichever the card does faster.
        """
        rates = self.matmul_flops_per_second
        return {
            "bf16": rates["bf16"],
            "tf32": rates["tf32"],
            "bf16x3": rates["bf16"] / 3,
            "f32": max(rates["f32"], rates["tf32"] / 3),
        }[precision]

    def floor_ms(self, cost, precision="bf16"):
        """(milliseconds, "bytes" or "flops"): no kernel of this form is faster."""
        times = {
            "bytes": cost.bytes / self.copy_bytes_per_second,
            "flops": cost.flops / self.flops_per_second(precision),
        }
        bound = max(times, key=times.get)
        return 1e3 * times[bound], bound
