# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a tool is run, and how arrays go through files."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from programs import module

from hla import reference

# A wrong run must not hang the suite; a right one takes well under a second.
TIMEOUT_SECONDS = 120

# What a crash prints where the exit status does not tell.
CRASH_MARKS = (
    "Stack dump",
    "PLEASE submit a bug report",
    "Assertion",
    "LLVM ERROR",
    "terminate called",
    "Segmentation fault",
)


@dataclass(frozen=True)
class Tools:
    """Runs the tools of one build."""

    directory: Path

    def run(self, name, *arguments, cwd=None):
        command = [str(self.directory / name), *map(str, arguments)]
        try:
            result = subprocess.run(
                command,
                cwd=cwd,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_SECONDS,
            )
        except subprocess.TimeoutExpired:
            pytest.fail(f"no end after {TIMEOUT_SECONDS} s: {' '.join(command)}")
        for mark in CRASH_MARKS:
            assert mark not in result.stderr, describe(command, result)
        assert 0 <= result.returncode < 128, describe(command, result)
        return result

    def run_ok(self, name, *arguments, cwd=None):
        result = self.run(name, *arguments, cwd=cwd)
        assert result.returncode == 0, describe([name, *map(str, arguments)], result)
        return result


def describe(command, result):
    return (
        f"{' '.join(command)}\nstatus {result.returncode}\n"
        f"stdout: {result.stdout}\nstderr: {result.stderr}"
    )


def refused(result, *patterns):
    """One message, on stderr, that matches every pattern; a nonzero status."""
    text = describe([], result)
    assert result.returncode != 0, text
    assert len(re.findall(r"\berror\b:", result.stderr, re.IGNORECASE)) == 1, text
    for pattern in patterns:
        assert re.search(pattern, result.stderr, re.IGNORECASE), (pattern, text)


def save_npy(path, array, dtype, *, fortran_order=False, bfloat16="<V2"):
    """Writes ``array`` as ``dtype``; bfloat16 under the type string given.

    numpy stores an ml_dtypes.bfloat16 array as ``<V2``, and stores that file's array
    again, which it loads as raw bytes, as ``|V2``.
    """
    if dtype == "i32":
        stored = np.ascontiguousarray(array, np.int32)
    else:
        stored = reference.store(array, dtype)
    if dtype == "bf16":
        stored = stored.view(np.dtype("V2"))
    if fortran_order:
        stored = np.asfortranarray(stored)
    np.save(path, stored)
    if dtype == "bf16":
        data = path.read_bytes()
        path.write_bytes(data.replace(b"'|V2'", f"'{bfloat16}'".encode(), 1))


def load_npy(path, dtype):
    """The array in ``path`` in float64, after checking that its type is ``dtype``."""
    array = np.load(path)
    names = {
        "bf16": ("|V2", "<V2", "<u2"),
        "f16": ("<f2",),
        "f32": ("<f4",),
        "f64": ("<f8",),
    }
    assert array.dtype.str in names[dtype], (array.dtype.str, dtype)
    return reference.to_float64(array)


class Runner:
    """Runs a program with ``hla-run`` on the files of one directory."""

    def __init__(self, tools, directory):
        self.tools = tools
        self.directory = directory

    def write(self, name, text):
        path = self.directory / name
        path.write_text(text)
        return path

    def prepare(self, program, text, operands, inputs, flags=(), **save):
        """Writes what a run reads; returns its command line and its results' paths."""
        source = self.write("program.mlir", text)
        paths, results = [], {}
        for operand in operands:
            if operand.reads:
                paths.append(self.directory / f"{operand.name}.npy")
                save_npy(paths[-1], inputs[operand.reads], operand.dtype, **save)
            if operand.writes:
                results[operand.name] = self.directory / f"out_{operand.name}.npy"
        command = [
            source,
            f"--entry={program.name}",
            "--device=cpu",
            "--input=" + ",".join(map(str, paths)),
            "--output=" + ",".join(map(str, results.values())),
            *flags,
        ]
        return command, results

    def __call__(self, program, text, operands, inputs, flags=(), **save):
        """Output arrays in float64, by their operands' names."""
        command, results = self.prepare(program, text, operands, inputs, flags, **save)
        self.tools.run_ok("hla-run", *command)
        return {
            o.name: load_npy(results[o.name], o.dtype) for o in operands if o.writes
        }

    @staticmethod
    def arguments(configuration, problem):
        """What ``prepare`` takes, of a configuration."""
        program, extents = configuration.program, configuration.extents
        text = module([program], extents if configuration.is_static else None)
        operands = program.operands(extents)
        return program, text, operands, problem.inputs, configuration.flags

    def run(self, configuration, problem, **save):
        return self(*self.arguments(configuration, problem), **save)
