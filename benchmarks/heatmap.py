# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The picture of a sweep: multiples of the floor over heads and tokens, as SVG."""

import math

from picture import document, text

_TABLE = "sweep"
_SERIES = (("hla", "compiled kernel"), ("triton_fused", "fused by hand in Triton"))

_LEFT, _CELL, _HEIGHT, _GAP, _TOP, _BOTTOM = 84, 76, 34, 40, 92, 58

# From what is at its floor to what takes this many times as long.
_NEAR, _FAR, _FARTHEST = (224, 241, 229), (226, 150, 116), 16.0


def has_cells(results):
    return any(r["table"] == _TABLE for r in results["rows"])


def draw(results):
    """One panel a series: tokens to the right, batch × heads downwards.

    What takes longer than its floor is redder, on a logarithmic scale; under the multiple
    stands the time.
    """
    rows = [r for r in results["rows"] if r["table"] == _TABLE]
    cells = {(r["shape"][0] * r["shape"][2], r["shape"][1]): r for r in rows}
    heads = sorted({h for h, _ in cells})
    tokens = sorted({t for _, t in cells})
    panel = _CELL * len(tokens)
    width = _LEFT + len(_SERIES) * (panel + _GAP)
    height = _TOP + _HEIGHT * len(heads) + _BOTTOM
    parts = [
        text(_LEFT, 24, f"Masked second order, d = {rows[0]['shape'][3]}", "t"),
        text(_LEFT, 44, "multiple of the floor, and milliseconds", "n"),
        text(_LEFT - 14, _TOP - 12, "B · H", "h", "end"),
    ]
    for i, count in enumerate(heads):
        y = _TOP + _HEIGHT * (i + 0.5) + 4
        parts.append(text(_LEFT - 14, y, str(count), "", "end"))
    for i, (series, title) in enumerate(_SERIES):
        left = _LEFT + i * (panel + _GAP)
        parts.append(text(left, _TOP - 28, title, ""))
        for j, count in enumerate(tokens):
            x = left + _CELL * (j + 0.5)
            parts.append(text(x, _TOP - 10, f"T = {count}", "n", "middle"))
            for n, of_heads in enumerate(heads):
                row = cells.get((of_heads, count))
                place = left + _CELL * j, _TOP + _HEIGHT * n
                parts += _cell(row and row["results"].get(series), *place)
    note = "At few tokens the launch itself, some microseconds, is most of the time."
    parts.append(text(_LEFT, height - 20, note, "n"))
    label = "Times over the floor, by heads and tokens"
    return document(width, height, label, parts)


def _cell(result, x, y):
    if not result or not result.get("correct", True):
        return [text(x + _CELL / 2, y + _HEIGHT / 2 + 4, "–", "n", "middle")]
    multiple, middle = result["times_floor"], x + _CELL / 2
    return [
        f'  <rect x="{x + 1}" y="{y + 1}" width="{_CELL - 2}" height="{_HEIGHT - 2}" '
        f'rx="3" fill="{_colour(multiple)}"/>',
        text(middle, y + 15, f"{multiple:.2f}×", "", "middle"),
        text(middle, y + 28, f"{result['median_ms']:.3f}", "s", "middle"),
    ]


def _colour(multiple):
    share = math.log(max(multiple, 1.0)) / math.log(_FARTHEST)
    mixed = (a + (b - a) * min(share, 1.0) for a, b in zip(_NEAR, _FAR))
    return "#" + "".join(f"{round(x):02x}" for x in mixed)
