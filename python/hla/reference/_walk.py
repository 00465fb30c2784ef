# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From what a user has to what a formula is written on.

A formula sees ``[N, H, T, D]`` arrays, one head of q, k and v for each head of the
result, and tokens in walking order. Layouts, grouped heads, packed sequences and
the direction of the walk are undone here, once for all operators.
"""

from ._arrays import (
    check_layout,
    flip_tokens,
    from_heads,
    full,
    repeat_heads,
    to_float64,
    to_heads,
    zeros,
)
from ._options import token_decays


class Walk:
    """One problem in ``[N, H, T, D]`` arrays.

    q, k, v, gamma: in walking order, packed sequences side by side in N, padded behind
    their last token to the longest. Padding has q, k and v of 0 and γ of 1: it adds
    nothing to any state.
    """

    def __init__(self, q, k, v, options, groups):
        names = ("q", "k", "v")
        q, k, v = (
            repeat_heads(to_heads(x, options.layout, n), g)
            for x, n, g in zip((q, k, v), names, groups)
        )
        _check(q, k, v, groups)
        self.options = options
        self.shape = batch, heads, tokens = tuple(v.shape[:3])
        self.spans = _spans(options.lengths, batch, tokens)
        gamma = token_decays(options, batch, heads, tokens, v)
        if self.spans is not None:
            q, k, v = (self._pack(x, 0.0) for x in (q, k, v))
            gamma = self._pack(gamma[..., None], 1.0)[..., 0]
        elif options.reverse:
            q, k, v, gamma = (flip_tokens(x) for x in (q, k, v, gamma))
        self.q, self.k, self.v, self.gamma = q, k, v, gamma

    @property
    def sequences(self):
        """How many states a head has."""
        return self.shape[0] if self.spans is None else len(self.spans)

    def single(self, n):
        """The arrays of sequence n alone, without padding."""
        begin, end = self.spans[n]
        return [
            x[n : n + 1, :, : end - begin] for x in (self.q, self.k, self.v, self.gamma)
        ]

    def unwalk(self, rows):
        """The inverse, of rows of the result: an array in the user's layout."""
        if self.spans is not None:
            out = zeros(rows, (1, rows.shape[1], self.shape[2], rows.shape[3]))
            for n, (begin, end) in enumerate(self.spans):
                part = rows[n : n + 1, :, : end - begin]
                out[:, :, begin:end] = self._turn(part)
            rows = out
        elif self.options.reverse:
            rows = flip_tokens(rows)
        return from_heads(rows, self.options.layout)

    def _turn(self, array):
        return flip_tokens(array) if self.options.reverse else array

    def _pack(self, array, padding):
        longest = max((end - begin for begin, end in self.spans), default=0)
        shape = (len(self.spans), array.shape[1], longest, array.shape[3])
        out = full(array, shape, padding)
        for n, (begin, end) in enumerate(self.spans):
            out[n, :, : end - begin] = self._turn(array[:, :, begin:end])[0]
        return out


def initial_states(names, shapes, carry, like):
    """The states before the first token, in the order of ``names``."""
    if carry is None:
        return [zeros(like, shape) for shape in shapes]
    if set(carry) != set(names):
        raise ValueError(
            f"expected carry to hold all states, {names}, but got {tuple(carry)}"
        )
    for name, shape in zip(names, shapes):
        if tuple(carry[name].shape) != shape:
            raise ValueError(
                f"expected carry {name} of shape {shape} (one of every sequence and "
                f"head), but got {tuple(carry[name].shape)}"
            )
    # Copies, so that no caller sees its carry change.
    return [to_float64(carry[n]) + zeros(like, s) for n, s in zip(names, shapes)]


def sequence_mask(lengths, tokens, layout="bthd"):
    """Which tokens a sequence holds: a list of T booleans."""
    check_layout(layout)
    inside = [False] * tokens
    for begin, end in _spans(lengths, 1, tokens):
        inside[begin:end] = [True] * (end - begin)
    return inside


def _check(q, k, v, groups):
    if tuple(q.shape) != tuple(k.shape):
        raise ValueError(
            "expected q and k of one batch, number of tokens and width, and heads that "
            f"agree once repeated (groups {groups}), but got {tuple(q.shape)} and "
            f"{tuple(k.shape)}"
        )
    if tuple(v.shape[:3]) != tuple(k.shape[:3]):
        raise ValueError(
            "expected v with k's batch, heads and tokens (k_i v_i is summed over "
            f"tokens), but got {tuple(v.shape[:3])} and {tuple(k.shape[:3])}"
        )


def _spans(lengths, batch, tokens):
    """The first token and the end of each sequence; None without lengths."""
    if lengths is None:
        return None
    if batch != 1:
        raise ValueError(
            "expected one batch where lengths are given (they cut its tokens), but got "
            f"{batch}"
        )
    bounds = [int(x) for x in lengths]
    inside = bounds and bounds[0] >= 0 and bounds[-1] <= tokens
    if not inside or any(a > b for a, b in zip(bounds, bounds[1:])):
        raise ValueError(
            f"expected lengths to ascend from at least 0 to at most {tokens}, but got "
            f"{bounds}"
        )
    return list(zip(bounds, bounds[1:]))
