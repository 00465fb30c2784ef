# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles of every case, and the compiler's message for a case that has none.

A directory holds ``src/NAME.mlir``, a bundle of each under ``TARGET/NAME``, and
``bundles.json``, a list of what is compiled: ``{"case", "width", "target", "bundle"}``,
with ``"message"`` in place of a bundle where there is none.
"""

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

from cases import bundles
from programs import module

LIST = "bundles.json"
TIMEOUT_SECONDS = 120

# What a message begins with: the tool's name, FILE:LINE:COLUMN.
_PLACE = re.compile(r"^((hla-compile|\S+:\d+:\d+|error): )+")
_LONGEST = 240


def compile_all(tools, out, targets, patterns):
    """Writes ``out``; returns its list. patterns: accept a case's name."""
    (out / "src").mkdir(parents=True, exist_ok=True)
    jobs = [
        (target, case, width)
        for target in targets
        for case, width in bundles()
        if patterns(case.name)
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        entries = list(pool.map(lambda job: _compile(tools, out, *job), jobs))
    (out / LIST).write_text(json.dumps(entries, indent=1) + "\n")
    return entries


def _compile(tools, out, target, case, width):
    name = f"{case.name}_{width}".replace(", ", "_").replace(" ", "_")
    source, directory = out / "src" / f"{name}.mlir", out / target / name
    source.write_text(module([case.program(width)]))
    command = [tools / "hla-compile", source, "-o", directory, f"--target={target}"]
    command.append("--segments=auto")
    if case.precision:
        command.append(f"--precision={case.precision}")
    command = [str(x) for x in command]
    entry = {"case": case.name, "width": width, "target": target}
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {**entry, "message": f"no end within {TIMEOUT_SECONDS} s"}
    if result.returncode != 0:
        return {**entry, "message": _message(result), "command": shlex.join(command)}
    manifests = sorted(directory.rglob("manifest.json"))
    if len(manifests) != 1:
        return {**entry, "message": f"expected one bundle, got {len(manifests)}"}
    return {**entry, "bundle": str(manifests[0].parent.relative_to(out))}


def _message(result):
    """The first line said, without the place in a file that nobody will see."""
    lines = [_PLACE.sub("", x.strip()) for x in result.stderr.splitlines() if x.strip()]
    said = lines[0] if lines else f"hla-compile ended with {result.returncode}"
    said = said.partition("  Try: ")[0]
    if result.returncode < 0:
        said = f"hla-compile ended by signal {-result.returncode}: {said}"
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


def find(directory, case, width, target):
    """(path of a bundle or None, why there is none)."""
    entries = json.loads((directory / LIST).read_text())
    for entry in entries:
        wanted = (case.name, width, target)
        if (entry["case"], entry["width"], entry["target"]) == wanted:
            path = entry.get("bundle")
            return (directory / path if path else None), entry.get("message")
    return None, f"not compiled for {target}"
