# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far a result is from the reference, and how far it may be."""

from __future__ import annotations

import math
from typing import NamedTuple

from ._arrays import namespace, to_float64, to_heads

# Half the distance from 1 to the next number: the largest relative rounding error.
_UNIT_ROUNDOFF = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 2.0**-24, "f64": 2.0**-53}

# Below 2^(this − 1) numbers are subnormal and stand as far apart as there.
_LOWEST_EXPONENT = {"bf16": -125, "f16": -13, "f32": -125, "f64": -1021}

_TOLERANCE = {
    "bf16": 4e-3,
    "f16": 6e-4,
    "tf32": 7e-4,
    "bf16x3": 1.5e-5,
    "f32": 1e-5,
    "f64": 1e-12,
}

# Root mean square of what one rounding on the way costs, where operands are rounded.
_ROUNDING = {
    "bf16": 2.0**-8 / math.sqrt(6),
    "f16": 2.0**-11 / math.sqrt(6),
    "tf32": 2.0**-11 / math.sqrt(3),
    "bf16x3": 5.1e-6,
}

_ALIASES = {
    "bfloat16": "bf16",
    "float16": "f16",
    "half": "f16",
    "float32": "f32",
    "float64": "f64",
}


def error(out, ref, stored=None):
    """‖out − ref‖ / ‖ref‖ over all elements, in float64.

    Where ``out`` holds a NaN or an infinity the error is inf: every comparison
    ``error(...) <= tolerance`` then fails. A zero (or empty) reference gives 0 for
    an equal output and inf for any other.

    stored: the type that ``out`` was stored in, whose own rounding then does not
    count: of every element's error, up to half a unit in the last place is free. What
    is left was wrong before it was stored, be it 16 bits wide or not.
    """
    out, ref = _pair(out, ref)
    return _ratio(*_squares(out, ref, None, stored))


def worst_error(out, ref, *, layout="bthd", rows=64, stored=None):
    """The largest ``error`` of any ``rows`` consecutive tokens of any one head.

    Outputs grow with t, so in the error of a whole array the first tokens of a
    head hardly weigh, nor does one head of many. A kernel's mistakes are local
    (one chunk, one head, one ragged end); this is the measure that sees them. It
    is larger than ``error`` for a correct kernel too, having fewer elements to
    average over: ``1.25 * tolerance(dtype, rows=tokens)`` bounds it over some
    thousand blocks. A tail of fewer tokens belongs to the block before it.
    """
    out, ref = _pair(out, ref)
    out, ref = (to_heads(x, layout, n) for x, n in ((out, "out"), (ref, "ref")))
    worst = 0.0
    for block in _blocks(ref.shape[2], rows):
        difference, reference = _squares(
            out[:, :, block], ref[:, :, block], (2, 3), stored
        )
        for d, r in zip(_flatten(difference), _flatten(reference)):
            worst = max(worst, _ratio(d, r))
    return worst


class Condition(NamedTuple):
    """How errors grow, in ``error`` of all, and in ``worst_error``; and on how many
    independent numbers either measure hangs, of the block that hangs on the fewest."""

    whole: float
    worst: float
    whole_numbers: float = math.inf
    worst_numbers: float = math.inf


def condition(
    operator,
    q,
    k,
    v,
    *,
    exact=None,
    samples=(8, 16, 32, 64),
    seed=0,
    layout="bthd",
    **options,
):
    """By how much an operator amplifies errors: ``(output, {state: whole})``.

    The result responds to relative errors of size δ, independent for every number
    that enters or leaves a scan, with an error of condition · δ; this measures it,
    root mean square over ``samples``, in float64. A scan whose terms do not cancel
    has at most √4 = 2 (q, k, v and y), a chain of n scans √(4n). More comes from the
    problem: a difference of large terms (the paper's variants), q · k near zero in a
    result of few terms, a denominator near zero (signed features). There a kernel in
    f32 is as wrong as the problem is ill-conditioned, and the bound has to follow.

    The error's norm is no more certain than the numbers that it is made of are many.
    Where one denominator is near zero, one quotient has all the norm and all the error,
    however many rows there are. Of a Gaussian error of covariance C its square has
    variance 2 tr C², as that of n = (tr C)² / tr C² independent numbers; tr C² is the
    mean square of the scalar product of two samples.

    exact: the result, where it is known.
    samples: how many, each next count where so many times the numbers are less than
        128: the root of the mean of 128 squares is known to 6 %, that of few is now and
        then a third of the truth.
    """
    size = 1e-6
    options |= {"layout": layout, "form": "chunked"}
    exact = exact or operator(q, k, v, **options)
    whole, worst, states = 0.0, 0.0, dict.fromkeys(exact.states, 0.0)
    reference = to_heads(exact.output, layout, "exact")
    differences, numbers = [], 0.0
    for count in samples:
        if len(differences) * numbers >= 128:
            break
        for sample in range(len(differences), count):
            result = operator(q, k, v, perturb=(size, [seed, sample]), **options)
            whole += error(result.output, exact.output) ** 2
            worst += worst_error(result.output, exact.output, layout=layout) ** 2
            for name, state in result.states.items():
                states[name] += error(state, exact.states[name]) ** 2
            output = to_heads(result.output, layout, "output")
            differences.append(output - reference)
        numbers = _numbers([x[None, None] for x in differences])

    def root(total):
        return math.sqrt(total / len(differences)) / size

    of_blocks = (
        _numbers([x[:, :, block] for x in differences])
        for block in _blocks(reference.shape[2])
    )
    output = Condition(root(whole), root(worst), numbers, min(of_blocks))
    return output, {name: root(total) for name, total in states.items()}


def tolerance(dtype, rows=None, *, roundings=4, condition=1.0, numbers=math.inf):
    """The bound on ``error`` of a kernel whose products take operands of ``dtype``.

    dtype: "bf16", "f16", "f32" or "f64", or a numpy or torch name of one; or "tf32" or
        "bf16x3". On a GPU the precision of products, by default the inputs' type; on a
        CPU the type of the states, f32 or f64, whatever inputs and output are, with
        ``stored`` of ``error`` for a shorter output.
    rows: tokens times heads behind the error, where there are fewer than 64.
    roundings: of what is computed to ``dtype``, and of the result, on the path from the
        inputs: 2 a scan, 3 where it is decayed. Without meaning for f32 and f64.
    condition, numbers: what ``condition`` measures, for the problem at hand.

    ====== =======  ================================================================
    bf16   4e-3     one unit roundoff, 2^-8 = 3.9e-3
    f16    6e-4     1.2 unit roundoffs, 2^-11 = 4.9e-4
    tf32   7e-4     1.4 unit roundoffs, 2^-11
    bf16x3 1.5e-5   2 unit roundoffs, 2^-17 = 7.6e-6
    f32    1e-5     170 unit roundoffs, 2^-24 = 6e-8
    f64    1e-12    9000 unit roundoffs, 2^-53 = 1.1e-16
    ====== =======  ================================================================

    *bf16, f16.* Matrix units take operands of the input type and accumulate in f32,
    so a kernel rounds, per scan, the score (or the state, for the tokens before the
    chunk) before it multiplies on, and its result: four roundings on the way
    through the second-order operator. A decay scales operands before they are
    rounded, which rounds once more. Inputs are taken as they are, sums and states
    are f32 and add less than 1e-5. Rounding to nearest errs uniformly within half an
    ulp; relative to the value, over mantissas spread evenly in [1, 2), that is u/√6
    root mean square. The errors are independent and pass through bilinear maps, so
    they add in quadrature: √4 · u/√6 = 0.82 u, which is 3.2e-3 for bf16 and 4.0e-4
    for f16. The bound is tight: 25 % above for bf16; f16 has 50 %, because entries
    below 2^-14 are subnormal and round coarser. A state kept in the input type is
    caught on long sequences, where its errors accumulate over the chunks.

    *tf32, bf16x3.* The same for f32 inputs, which are rounded as well: twice the
    roundings. √8 · 2^-11/√6 = 5.6e-4 and 25 % for tf32. bf16x3 splits an operand into
    two bf16, which leave 2^-17 of it, and drops the product of the two lower halves,
    each 2^-8/√6 of its operand: √8 · 2^-17/√6 and √4 · 2^-16/6 make 1.0e-5 in
    quadrature, and 50 % for what f32 sums add.

    *Few rows.* The score of one pair of tokens is one number, and its error does not
    average out. Over n rows the root mean square of a Gaussian error stays under
    1 + 4/√(2n) of its expectation with four standard deviations' certainty: with
    three, one of the thousands of problems that a suite draws exceeds it. Below 64
    rows that factor replaces the margin above. Rows of one head grow, so the last
    third of them carries the norm: n is rows/3.

    *Few numbers.* The same holds where the norm hangs on fewer numbers than it has
    rows, and n is these where they are measured, with five standard deviations, as
    neither they nor the condition is known better than to some percent. Decayed rows of
    few columns have few large ones among them, the products of two or three q · k that
    are sums of few terms: a block of 64 rows has 14 to 100 numbers with d = 3, two to
    four with d = dv = 1. Of quotients, the one or two with denominators nearest to zero
    have the norm.

    *f32.* Nothing is rounded but sums. A sum of T terms of random sign in f32 errs by
    about u √T of its size (T = 4096: 64 u), twice along the path, and sums of
    one sign (states that grow) up to a few times more. A wrong or missing term is
    of relative size 1/T or more, far above.

    *f64.* The same with u = 1.1e-16, but the reference errs as much as the kernel;
    1e-12 leaves room for both and still refuses anything that passed through f32.

    *Condition.* All this is for terms that do not cancel, where the condition of a
    path is that of its scans, √4 each: at most 4, of four scans. Above, errors are
    larger in proportion, and so is the bound: condition / 4. Rounded operands make two
    roundings a scan, and bounds that assume fewer scans than four are for a smaller
    condition, √(2 · roundings), 2 of one scan. Above that each number's own error
    counts, which is the same on paths of all lengths: with bf16x3, 5.1e-6/√2 = 3.6e-6
    times the condition, of which kernels have 0.6 to 0.9.
    """
    name = str(dtype) if str(dtype) in _ROUNDING else dtype_name(dtype)
    bound, usual = _TOLERANCE[name], 4.0
    if name in _ROUNDING:
        bound *= math.sqrt(roundings / 4)
        usual = min(4.0, max(2.0, math.sqrt(2 * roundings)))
        expected = math.sqrt(roundings) * _ROUNDING[name]
        some = math.inf if rows is None else rows / 3
        for count, deviations in ((some, 4), (numbers, 5)):
            if count < 64 / 3:
                few = 1 + deviations / math.sqrt(2 * max(1.0, count))
                bound = max(bound, expected * few)
    return bound * max(1.0, condition / usual)


def unit_roundoff(dtype):
    """The largest relative error of rounding to ``dtype``."""
    return _UNIT_ROUNDOFF[dtype_name(dtype)]


def dtype_name(dtype):
    name = getattr(dtype, "__name__", None) or str(dtype)
    name = name.rpartition(".")[2]
    name = _ALIASES.get(name, name)
    if name not in _UNIT_ROUNDOFF:
        raise ValueError(
            f"expected a dtype of {tuple(_UNIT_ROUNDOFF)} (a bound is known for these), "
            f"but got {dtype!r}"
        )
    return name


def _pair(out, ref):
    if tuple(out.shape) != tuple(ref.shape):
        raise ValueError(
            f"expected out of ref's shape {tuple(ref.shape)} (they are compared "
            f"element by element), but got {tuple(out.shape)}"
        )
    out, ref = to_float64(out), to_float64(ref)
    if not bool(namespace(ref).isfinite(ref).all()):
        raise ValueError(
            "expected a finite ref (nothing can be compared with infinity), but it "
            "holds NaN or Inf"
        )
    return out, ref


def _squares(out, ref, axes, stored):
    """Sums of squares of the difference and of ref; a non-finite element gives inf."""
    xp = namespace(ref)
    difference = abs(out - ref)
    if stored is not None:
        free = difference - _half_ulp(ref, dtype_name(stored))
        difference = xp.where(free < 0.0, 0.0 * ref, free)
    square = difference * difference
    square = xp.where(xp.isfinite(square), square, math.inf + 0.0 * ref)
    if axes is None:
        return square.sum(), (ref * ref).sum()
    return square.sum(axes), (ref * ref).sum(axes)


def _half_ulp(ref, name):
    """Half the distance between neighbours in ``name`` where ref lies."""
    xp = namespace(ref)
    # |ref| = mantissa · 2^exponent with a mantissa in [1/2, 1).
    _, exponent = xp.frexp(ref)
    exponent, lowest = to_float64(exponent), float(_LOWEST_EXPONENT[name])
    exponent = xp.where(exponent < lowest, 0.0 * exponent + lowest, exponent)
    return _UNIT_ROUNDOFF[name] * 2.0 ** (exponent - 1.0)


def _blocks(tokens, rows=64):
    """Slices of ``rows`` tokens; fewer at the end belong to the one before."""
    starts = range(0, max(1, tokens - rows + 1), rows)
    return [slice(b, tokens if b == starts[-1] else b + rows) for b in starts]


def _numbers(samples):
    """How many independent numbers a Gaussian error is made of, from ``samples`` of it,
    arrays [B, H, ...]: of that b and h where they are the fewest."""
    xp, count = namespace(samples[0]), len(samples)
    batch, heads = samples[0].shape[:2]
    vectors = xp.stack([x.reshape(batch, heads, -1) for x in samples], 2)
    if math.prod(vectors.shape) == 0:
        return math.inf
    products = vectors @ vectors.swapaxes(2, 3)
    lengths = (vectors * vectors).sum(3)
    # Of two samples, not of one with itself.
    squares = (products * products).sum((2, 3)) - (lengths * lengths).sum(2)
    total, squares = _flatten(lengths.sum(2)), _flatten(squares)
    numbers = [x * (x / y) for x, y in zip(total, squares) if y > 0.0]
    return (1 - 1 / count) * min(numbers, default=math.inf)


def _ratio(difference, reference):
    difference, reference = float(difference), float(reference)
    if reference == 0.0:
        return 0.0 if difference == 0.0 else math.inf
    return math.sqrt(difference / reference)


def _flatten(array):
    return [float(x) for x in array.reshape(-1).tolist()]
