# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong input to hla-run: one clear message, a nonzero status, no output, no crash."""

from pathlib import Path

import numpy as np
import pytest
from programs import Program, module
from tool_runner import describe, refused, save_npy

PROGRAM = Program("second_order", "f32", 16, 8)
EXTENTS = (1, 6, 2)
SHAPES = {"q": (1, 6, 2, 16), "k": (1, 6, 2, 16), "v": (1, 6, 2, 8)}


class Case:
    """A run of ``hla-run`` that would succeed, for a test to spoil."""

    def __init__(self, tools, directory):
        self.tools = tools
        self.directory = directory
        self.source = directory / "program.mlir"
        self.source.write_text(module([PROGRAM]))
        self.paths = {name: directory / f"{name}.npy" for name in "qkv"}
        for name, shape in SHAPES.items():
            self.save(name, np.ones(shape))
        self.output = directory / "o.npy"
        self.entry = PROGRAM.name
        self.device = "cpu"
        self.flags = []

    def save(self, name, array, dtype="f32"):
        save_npy(self.paths[name], array, dtype)

    def run(self):
        return self.tools.run(
            "hla-run",
            self.source,
            f"--entry={self.entry}",
            f"--device={self.device}",
            "--input=" + ",".join(map(str, self.paths.values())),
            f"--output={self.output}",
            *self.flags,
        )

    def fails(self, *patterns):
        result = self.run()
        refused(result, *patterns)
        assert not self.output.is_file(), "an output was written all the same"


@pytest.fixture
def case(tools, tmp_path):
    return Case(tools, tmp_path)


def test_the_case_is_right_before_it_is_spoilt(case):
    result = case.run()
    assert result.returncode == 0, describe([], result)
    assert np.load(case.output).shape == (1, 6, 2, 8)


# hla-run: files


def test_missing_program(case):
    case.source = case.directory / "absent.mlir"
    case.fails("absent.mlir")


def test_missing_array(case):
    case.paths["k"].unlink()
    case.fails(r"k\.npy")


def test_array_is_no_npy(case):
    case.paths["k"].write_bytes(b"these are not the arrays you look for" * 10)
    case.fails(r"k\.npy", "npy")


def test_empty_array_file(case):
    case.paths["q"].write_bytes(b"")
    case.fails(r"q\.npy")


@pytest.mark.parametrize("keep", [9, 60, 200, -1])
def test_truncated_array(case, keep):
    data = case.paths["v"].read_bytes()
    case.paths["v"].write_bytes(data[:keep])
    case.fails(r"v\.npy")


def test_header_promises_more_than_memory(case):
    # 2^62 elements a row: the size in bytes passes 64 bits.
    shape = "(1, 6, 2, 4611686018427387904)"
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    magic = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    case.paths["v"].write_bytes(magic + header.encode() + b"\0" * 64)
    case.fails(r"v\b")


def test_output_directory_is_missing(case):
    case.output = case.directory / "absent" / "o.npy"
    case.fails("absent")


def test_output_is_a_directory(case):
    case.output = case.directory / "o.npy"
    case.output.mkdir()
    case.fails(r"o\.npy")


# hla-run: arrays that are not what the function takes


def test_wrong_rank(case):
    case.save("k", np.ones((6, 2, 16)))
    case.fails("expected", "k", "rank")


def test_wrong_element_type(case):
    case.save("k", np.ones(SHAPES["k"]), dtype="f64")
    case.fails("expected", "f32", "k", "f64")


def test_integer_array(case):
    np.save(case.paths["v"], np.ones(SHAPES["v"], dtype=np.int32))
    case.fails("expected", "f32", "v")


def test_big_endian_array(case):
    np.save(case.paths["v"], np.ones(SHAPES["v"], dtype=">f4"))
    case.fails("v")


def test_wrong_static_width(case):
    case.save("q", np.ones((1, 6, 2, 24)))
    case.fails("expected", "q", "16", "24")


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", ["k", "v"])
def test_extents_differ(case, name, axis):
    shape = list(SHAPES[name])
    shape[axis] += 1
    case.save(name, np.ones(shape))
    case.fails("expected", str(shape[axis]))


def test_too_few_arrays(case):
    del case.paths["v"]
    case.fails("expected", "3", "2")


def test_too_many_arrays(case):
    case.paths["w"] = case.paths["v"]
    case.fails("expected", "3", "4")


def test_too_many_outputs(case):
    case.flags = [f"--output={case.directory / 'o.npy'},{case.directory / 'p.npy'}"]
    result = case.run()
    assert result.returncode != 0, describe([], result)


# hla-run: the command line


def test_unknown_entry(case):
    case.entry = "nothing"
    case.fails("nothing")


def test_unknown_device(case):
    case.device = "abacus"
    case.fails("abacus")


def test_unknown_schedule_target(case):
    case.flags = ["--schedule-target=sm_1"]
    case.fails("sm_1")


@pytest.mark.parametrize(
    "random",
    ["random:", "random:x,B=1,T=2,H=1", "random:1,B=1,T=-2,H=1", "random:1,B=1,T=2"],
)
def test_bad_random_input(case, random):
    case.paths = {"random": random}
    case.fails("random")


@pytest.mark.skipif(Path("/dev/nvidia0").exists(), reason="there is a GPU")
def test_no_gpu(case):
    program = Program("second_order", "bf16", 64, 64)
    case.source.write_text(module([program]))
    case.entry = program.name
    case.device = "cuda"
    for name in "qkv":
        case.save(name, np.ones((1, 6, 2, 64)), dtype="bf16")
    case.fails("driver|gpu|cuda")


# The program


def test_syntax_error(case):
    case.source.write_text(case.source.read_text().replace("ins(", "in("))
    case.fails(r"program\.mlir:\d+:\d+")


def test_empty_program(case):
    case.source.write_text("")
    case.fails(PROGRAM.name)


def test_program_of_bytes(case):
    case.source.write_bytes(bytes(range(256)))
    result = case.run()
    assert result.returncode != 0, describe([], result)


def test_mixed_dtypes(case):
    text = case.source.read_text()
    case.source.write_text(text.replace("x16xf32", "x16xf16"))
    case.fails("expected", "f16", "f32")


def test_key_of_another_width(case):
    text = module([PROGRAM])
    wide = "tensor<?x?x?x24xf32>"
    text = text.replace("%k: tensor<?x?x?x16xf32>", f"%k: {wide}")
    text = text.replace(
        "tensor<?x?x?x16xf32>, tensor<?x?x?x16xf32>, ",
        f"tensor<?x?x?x16xf32>, {wide}, ",
    )
    case.source.write_text(text)
    case.fails("expected", "16", "24")


def test_dynamic_width(case):
    case.source.write_text(module([PROGRAM]).replace("x16xf32", "x?xf32"))
    case.fails("expected", "static")
