# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong input to hla-compile and hla-opt: a message, a nonzero status, no output."""

import pytest
from programs import Program, module
from tool_runner import refused

# hla-compile


def compile_program(tools, directory, text, target="sm_90a"):
    source = directory / "program.mlir"
    source.write_text(text)
    out = directory / "bundle"
    return tools.run("hla-compile", source, "-o", out, f"--target={target}"), out


def nothing_in(path):
    return not path.exists() or not any(p.is_file() for p in path.rglob("*"))


def test_compile_missing_file(tools, tmp_path):
    arguments = ("-o", tmp_path / "bundle", "--target=sm_90a")
    result = tools.run("hla-compile", tmp_path / "absent.mlir", *arguments)
    refused(result, "absent.mlir")


@pytest.mark.parametrize("target", ["sm_70", "sm_9", "gfx942", "", "sm_90a,sm_1"])
def test_compile_unknown_target(tools, tmp_path, target):
    text = module([Program("second_order", "bf16", 64, 64)])
    result, out = compile_program(tools, tmp_path, text, target)
    refused(result, "target")
    assert nothing_in(out)


@pytest.mark.parametrize("d, dv", [(512, 64), (64, 512), (257, 64)])
def test_compile_unsupported_width(tools, tmp_path, d, dv):
    text = module([Program("second_order", "bf16", d, dv)])
    result, out = compile_program(tools, tmp_path, text)
    refused(result, "expected", str(d if d != 64 else dv))
    assert nothing_in(out)


def test_compile_unsupported_dtype(tools, tmp_path):
    text = module([Program("second_order", "f64", 64, 64)])
    result, out = compile_program(tools, tmp_path, text)
    refused(result, "expected", "f64")
    assert nothing_in(out)


def test_compile_into_a_file(tools, tmp_path):
    (tmp_path / "bundle").write_text("in the way")
    text = module([Program("second_order", "bf16", 64, 64)])
    result, out = compile_program(tools, tmp_path, text)
    refused(result, "bundle")
    assert out.read_text() == "in the way"


def test_compile_without_entry_functions(tools, tmp_path):
    result, out = compile_program(tools, tmp_path, "module {}\n")
    refused(result, "expected", "function")
    assert nothing_in(out)


# hla-opt


def test_opt_missing_file(tools, tmp_path):
    result = tools.run("hla-opt", tmp_path / "absent.mlir")
    assert result.returncode != 0 and "absent.mlir" in result.stderr


def test_opt_unknown_pass(tools, tmp_path):
    (tmp_path / "a.mlir").write_text(module([Program("second_order", "bf16", 64, 64)]))
    result = tools.run("hla-opt", tmp_path / "a.mlir", "--hla-no-such-pass")
    assert result.returncode != 0 and "hla-no-such-pass" in result.stderr
