# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The picture of results: how many times its floor each operator takes, as SVG."""

import math
from xml.sax.saxutils import escape

# Tables, and what their rows are headed by.
_TABLES = {
    "operators": "operators",
    "options": "options (masked)",
    "precisions": "precisions (masked)",
}
_SERIES = (("hla", "compiled kernel"), ("composition", "first-order calls"))

_LEFT, _PANEL, _GAP, _TOP, _LINE, _BOTTOM = 196, 300, 56, 78, 24, 34

_STYLE = """\
    text { font-family: ui-sans-serif, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933; font-size: 12px; }
    .t { font-size: 14px; font-weight: 600; }
    .n, .h { fill: #5c6875; }
    .h { font-style: italic; }
    .s { font-size: 10px; fill: #5c6875; }
    .hla { fill: #3f7fcf; }
    .composition { fill: #cc9840; }
    .range { stroke: #d5dbe1; stroke-width: 2; }
    .grid { stroke: #e8ecf0; stroke-width: 1; }
    .floor { stroke: #5da877; stroke-width: 1.5; }"""


def draw(results):
    """Dots on one line an operator, one panel a shape; the floor is at 1, on the left.

    Multiples are on a logarithmic scale.
    """
    rows = [r for r in results["rows"] if r["table"] in _TABLES]
    shapes = list(dict.fromkeys(tuple(r["shape"]) for r in rows))
    lines = []
    for table, heading in _TABLES.items():
        names = dict.fromkeys(r["case"] for r in rows if r["table"] == table)
        lines += [(None, heading)] * bool(names) + [(table, n) for n in names]
    largest = max(
        (r["results"][n]["times_floor"] for r in rows for n, _ in _shown(r)), default=2
    )
    doublings = max(1, math.ceil(math.log2(largest)))

    width = _LEFT + max(1, len(shapes)) * (_PANEL + _GAP)
    height = _TOP + _LINE * len(lines) + _BOTTOM
    parts = _legend()
    for i, (table, name) in enumerate(lines):
        y = _TOP + _LINE * (i + 0.5)
        kind = "" if table else "h"
        parts.append(text(_LEFT - 14, y + 4, name, kind, "end"))
    for i, shape in enumerate(shapes):
        left = _LEFT + i * (_PANEL + _GAP)
        of_shape = {
            (r["table"], r["case"]): r for r in rows if tuple(r["shape"]) == shape
        }
        found = [of_shape.get(line) for line in lines]
        parts += _panel(left, shape, found, doublings)
    return document(width, height, "Times of each operator over its floor", parts)


def document(width, height, label, parts):
    """The SVG of ``parts`` on white; ``label`` is its text for who cannot see it."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(label)}">',
        f"  <style>\n{_STYLE}\n  </style>",
        f'  <rect width="{width}" height="{height}" fill="#ffffff"/>',
        *parts,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _shown(row):
    """(series, multiple of the floor) of what is there and right."""
    return [
        (series, row["results"][series]["times_floor"])
        for series, _ in _SERIES
        if row["results"].get(series, {"correct": False}).get("correct", True)
    ]


def _legend():
    x, parts = _LEFT, []
    for series, title in _SERIES:
        parts.append(f'  <circle class="{series}" cx="{x}" cy="20" r="5"/>')
        parts.append(text(x + 11, 24, title, ""))
        x += 150
    parts.append(f'  <line class="floor" x1="{x}" y1="13" x2="{x}" y2="27"/>')
    parts.append(text(x + 9, 24, "floor: bytes or flops, whichever takes longer", ""))
    return parts


def _panel(left, shape, rows, doublings):
    def at(multiple):
        # What is faster than its floor stands on it.
        return left + _PANEL * math.log2(max(multiple, 1.0)) / doublings

    bottom = _TOP + _LINE * len(rows)
    title = "B, T, H, d = " + ", ".join(map(str, shape))
    parts = [text(left, _TOP - 24, title, "t")]
    for n in range(doublings + 1):
        kind = "grid" if n else "floor"
        parts.append(_line(kind, at(2**n), _TOP - 8, at(2**n), bottom))
        parts.append(text(at(2**n), bottom + 18, f"{2**n}×", "n", "middle"))
    for i, row in enumerate(rows):
        y = _TOP + _LINE * (i + 0.5)
        shown = _shown(row) if row else []
        if len(shown) > 1:
            first, last = (at(value) for _, value in shown)
            parts.append(_line("range", first, y, last, y))
        for series, value in shown:
            parts.append(
                f'  <circle class="{series}" cx="{at(value):.1f}" cy="{y:.1f}" r="5">'
                f"<title>{escape(row['case'])}: {value:.2f}×</title></circle>"
            )
    return parts


def _line(kind, x1, y1, x2, y2):
    return (
        f'  <line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" '
        f'x2="{x2:.1f}" y2="{y2:.1f}"/>'
    )


def text(x, y, text, kind, anchor="start"):
    return (
        f'  <text class="{kind}" x="{x:.1f}" y="{y:.1f}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
