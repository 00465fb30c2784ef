# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Markdown of results, and the picture beside it."""

import heatmap
import picture

TABLES = (
    "masked",
    "operators",
    "options",
    "precisions",
    "lengths",
    "decode",
    "sweep",
)

_TITLES = {
    "masked": "Masked second order, bf16",
    "operators": "Operators, bf16",
    "options": "Options of masked second order, bf16",
    "precisions": "Masked second order, f32",
    "lengths": "Sequences of 8 to 256 tokens, packed and padded, bf16",
    "decode": "One token, masked second order, bf16 with states of f32",
    "sweep": "Masked second order over heads and tokens, bf16",
}

# The candidate that ours is compared with in the last column.
_PEERS = {
    "masked": "triton_fused",
    "lengths": "hla_padded",
    "decode": "triton_recurrent",
    "sweep": "triton_fused",
}

_NONE = "–"


def write(path, results):
    """The files beside the JSON ``path``."""
    path.with_suffix(".md").write_text(markdown(results, path))
    path.with_suffix(".svg").write_text(picture.draw(results))
    if heatmap.has_cells(results):
        _sweep_picture(path).write_text(heatmap.draw(results))


def _sweep_picture(path):
    return path.with_name(f"{path.stem}-sweep.svg")


def describe(row, ceilings):
    """What a row of results says before anything was measured."""
    cost, lengths = row.case.cost(row.shape), row.case.extents(row.shape).lengths
    floor, bound_by = ceilings.floor_ms(cost, row.case.precision or "bf16")
    return {
        "table": row.table,
        "case": row.case.name,
        "shape": row.shape,
        "sequences": len(lengths) - 1 if lengths else None,
        "bytes": cost.bytes,
        "flops": cost.flops,
        "floor_ms": floor,
        "floor_bound_by": bound_by,
    }


def relate(row):
    """Adds the multiples of the floor."""
    for result in row["results"].values():
        result["times_floor"] = result["median_ms"] / row["floor_ms"]


def is_right(row):
    """Whether all that was there ran, and was right."""
    return not row["failures"] and all(
        result.get("correct", True) for result in row["results"].values()
    )


def progress(row):
    """One line about a row."""
    parts = [f"{n} {_cell(row, n)}" for n in (*row["results"], *row["missing"])]
    parts += [f"{part} FAILED: {why}" for part, why in row["failures"].items()]
    return f"{row['table']}: {row['case']}, {_shape(row)}: {', '.join(parts)}"


def markdown(results, path=None):
    """With ``path``, of the JSON, the pictures beside it as well."""
    card, ceilings = results["card"], results["ceilings"]
    rates = ceilings["matmul_flops_per_second"]
    image = f"\n![Times over the floor, by operator]({path.stem}.svg)\n" if path else ""
    if path and heatmap.has_cells(results):
        name = _sweep_picture(path).name
        image += f"\n![Times over the floor, by heads and tokens]({name})\n"
    sections = [
        f"## {_TITLES[table]}\n\n{_table(table, rows)}\n\n{_notes(rows)}\n"
        for table in TABLES
        if (rows := [r for r in results["rows"] if r["table"] == table])
    ]
    return f"""\
# Forward on {card["name"]}, {results["date"][:10]}

Milliseconds, median of {results["launches"]} launches, and in parentheses the multiple of the
floor. Driver {card["driver_version"]}, torch {results["torch"]}, Triton {results["triton"]}.
Ceilings in this run: copy {ceilings["copy_bytes_per_second"] / 1e9:.0f} GB/s, matmul of bf16
{rates["bf16"] / 1e12:.0f}, of tf32 {rates["tf32"] / 1e12:.0f}, of f32 {rates["f32"] / 1e12:.0f} TFLOP/s.

    {results["command"]}
{image}
{chr(10).join(sections)}"""


def _table(table, rows):
    names = list(dict.fromkeys(n for r in rows for n in _candidates(r)))
    peer = _PEERS.get(table, "composition")
    has_ratio = "hla" in names and peer in names
    is_named = table != "masked"
    has_errors = table == "precisions"
    header = ["operator"] if is_named else []
    header += ["B, T, H, d", "GFLOP", "MB", "floor"]
    for name in names:
        header += [name, "error"] if has_errors else [name]
    header += [f"hla / {peer}"] if has_ratio else []
    lines = [header, ["---"] * len(header)]
    for row in rows:
        cells = [row["case"]] if is_named else []
        cells += [
            _shape(row),
            f"{row['flops'] / 1e9:.0f}" if row["flops"] else _NONE,
            f"{row['bytes'] / 1e6:.0f}",
            f"{row['floor_ms']:.3f} ({row['floor_bound_by']})",
        ]
        for name in names:
            cells.append(_cell(row, name))
            if has_errors:
                error = row["results"].get(name, {}).get("error")
                cells.append(_NONE if error is None else f"{error:.1e}")
        if has_ratio:
            cells.append(_ratio(row, peer))
        lines.append(cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _candidates(row):
    """Ours first, be it there or not."""
    names = [*row["results"], *row["missing"]]
    return sorted(names, key=lambda n: not n.startswith("hla"))


def _cell(row, name):
    result = row["results"].get(name)
    if result is None:
        return _NONE
    if not result.get("correct", True):
        return f"WRONG, error {result['error']:.1e}"
    return f"{result['median_ms']:.3f} ({result['times_floor']:.2f}×)"


def _ratio(row, peer):
    pair = [row["results"].get(n) for n in ("hla", peer)]
    if not all(r and r.get("correct", True) for r in pair):
        return _NONE
    return f"{pair[0]['median_ms'] / pair[1]['median_ms']:.2f}"


def _shape(row):
    text = ", ".join(map(str, row["shape"]))
    return f"{text}; {row['sequences']} sequences" if row["sequences"] else text


def _notes(rows):
    """Errors against float64, settings that were chosen, and what is missing, and why."""
    lines = ["Errors against float64, and what was chosen:", ""]
    for row in rows:
        parts = [
            f"{name} error {r['error']:.1e}" + (f" ({r['note']})" if r["note"] else "")
            for name, r in row["results"].items()
            if "error" in r
        ]
        parts += [f"{name} {_NONE}: {why}" for name, why in row["missing"].items()]
        parts += [f"{part} failed: {why}" for part, why in row["failures"].items()]
        lines.append(f"- {row['case']}, {_shape(row)}: {'; '.join(parts)}")
    return "\n".join(lines)
