# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The picture of results: how many times its floor each operator takes, as SVG."""

from xml.sax.saxutils import escape

_TABLES = ("operators", "options", "precisions")
_SERIES = (("hla", "compiled kernel"), ("composition", "first-order calls"))

_LEFT, _PANEL, _GAP, _TOP, _LINE, _BOTTOM = 196, 300, 40, 78, 24, 34

_STYLE = """\
    text { font-family: ui-sans-serif, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933; font-size: 12px; }
    .t { font-size: 14px; font-weight: 600; }
    .n { fill: #5c6875; }
    .hla { fill: #3f7fcf; }
    .composition { fill: #cc9840; }
    .range { stroke: #d5dbe1; stroke-width: 2; }
    .grid { stroke: #e8ecf0; stroke-width: 1; }
    .floor { stroke: #5da877; stroke-width: 1.5; }"""


def draw(results):
    """Dots on one line an operator, one panel a shape; the floor is at 1."""
    rows = [r for r in results["rows"] if r["table"] in _TABLES]
    shapes = list(dict.fromkeys(tuple(r["shape"]) for r in rows))
    names = list(dict.fromkeys(r["case"] for r in rows))
    largest = max(
        (x["times_floor"] for r in rows for n, x in r["results"].items()), default=1.0
    )
    step = _step(largest)
    end = step * (int(largest / step) + 1)

    width = _LEFT + max(1, len(shapes)) * (_PANEL + _GAP)
    height = _TOP + _LINE * len(names) + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        'aria-label="Times of each operator over its floor">',
        f"  <style>\n{_STYLE}\n  </style>",
        f'  <rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(),
    ]
    for i, name in enumerate(names):
        y = _TOP + _LINE * (i + 0.5)
        parts.append(_text(_LEFT - 12, y + 4, name, "", "end"))
    for i, shape in enumerate(shapes):
        left = _LEFT + i * (_PANEL + _GAP)
        of_shape = {r["case"]: r for r in rows if tuple(r["shape"]) == shape}
        parts += _panel(left, shape, names, of_shape, end, step)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _step(largest):
    """Distance of grid lines: at most eight."""
    return next((s for s in (1, 2, 5, 10, 20, 50) if largest / s < 8), 100)


def _legend():
    x, parts = _LEFT, []
    for series, title in _SERIES:
        parts.append(f'  <circle class="{series}" cx="{x}" cy="20" r="5"/>')
        parts.append(_text(x + 11, 24, title, ""))
        x += 150
    parts.append(f'  <line class="floor" x1="{x}" y1="13" x2="{x}" y2="27"/>')
    parts.append(_text(x + 9, 24, "floor: bytes or flops, whichever takes longer", ""))
    return parts


def _panel(left, shape, names, rows, end, step):
    def at(value):
        return left + _PANEL * value / end

    bottom = _TOP + _LINE * len(names)
    title = "B, T, H, d = " + ", ".join(map(str, shape))
    parts = [_text(left, _TOP - 24, title, "t")]
    for n in range(int(end / step) + 1):
        x = at(n * step)
        parts.append(_line("grid", x, _TOP - 8, x, bottom))
        parts.append(_text(x, bottom + 18, f"{n * step}×", "n", "middle"))
    parts.append(_line("floor", at(1), _TOP - 8, at(1), bottom))
    for i, name in enumerate(names):
        y = _TOP + _LINE * (i + 0.5)
        results = rows[name]["results"] if name in rows else {}
        shown = {
            series: results[series]["times_floor"]
            for series, _ in _SERIES
            if series in results and results[series].get("correct", True)
        }
        if len(shown) > 1:
            parts.append(
                _line("range", at(min(shown.values())), y, at(max(shown.values())), y)
            )
        for series, value in shown.items():
            parts.append(
                f'  <circle class="{series}" cx="{at(value):.1f}" cy="{y:.1f}" r="5">'
                f"<title>{escape(name)}: {value:.2f}×</title></circle>"
            )
    return parts


def _line(kind, x1, y1, x2, y2):
    return (
        f'  <line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" '
        f'x2="{x2:.1f}" y2="{y2:.1f}"/>'
    )


def _text(x, y, text, kind, anchor="start"):
    return (
        f'  <text class="{kind}" x="{x:.1f}" y="{y:.1f}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )
