# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of the lit tests.

Run them with `ninja check-hla`, or one of them with
`lit -v build/test --filter=fuse-scans`.

Parameters (`lit --param NAME=VALUE`):

roundtrip=1   every hla-opt run also prints what it has parsed, as text and as
              bytecode, parses that again and compares (--verify-roundtrip).

Features, for REQUIRES:

ptxas         an assembler is found: HLA_PTXAS, PATH, CUDA's or the venv's
ptxas-sm_90a  ... and it knows that target; one such feature a target
numpy         %python can import numpy

Substitutions: %python, %ptxas, %cmake, %cxx, %examples, %hla_source_root,
%hla_build_root, %mlir_dir. The project's tools, and FileCheck, not, count and
split-file, go by their names.
"""

import os
import re
import shutil
import subprocess

import lit.formats

config.name = "HLA"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "Python", "Integration", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.hla_build_root, "test")

hla_tools_dir = os.path.join(config.hla_build_root, "bin")
config.environment["PATH"] = os.pathsep.join(
    [hla_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
)
config.environment["PYTHONPATH"] = os.path.join(config.hla_source_root, "python")


def find_ptxas():
    candidates = [
        os.environ.get("HLA_PTXAS"),
        shutil.which("ptxas"),
        "/usr/local/cuda/bin/ptxas",
        os.path.join(config.hla_build_root, "venv", "bin", "ptxas"),
    ]
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return path
    return None


def ptxas_targets(ptxas):
    """The targets that this assembler lists in its help."""
    text = subprocess.run([ptxas, "--help"], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"'(sm_\d+[a-z]?)'", text)))


ptxas = find_ptxas()
if ptxas:
    targets = ptxas_targets(ptxas)
    config.available_features.add("ptxas")
    config.available_features.update(f"ptxas-{target}" for target in targets)
    config.environment["HLA_PTXAS"] = ptxas
    lit_config.note(f"ptxas: {ptxas}, {len(targets)} targets")
else:
    lit_config.note("ptxas: not found; tests that assemble PTX are unsupported")

has_numpy = (
    subprocess.run(
        [config.python, "-c", "import numpy"], capture_output=True
    ).returncode
    == 0
)
if has_numpy:
    config.available_features.add("numpy")

roundtrip = lit_config.params.get("roundtrip", "0") not in ("", "0")
if roundtrip:
    hla_opt = os.path.join(hla_tools_dir, "hla-opt")
    config.substitutions.append(
        (r"(?<![-/\w.])hla-opt(?![-\w.])", f"{hla_opt} --verify-roundtrip")
    )

config.substitutions += [
    ("%python", config.python),
    ("%ptxas", ptxas or "ptxas-not-found"),
    ("%cmake", config.cmake),
    ("%cxx", config.cxx_compiler),
    ("%examples", os.path.join(config.hla_source_root, "examples")),
    ("%hla_source_root", config.hla_source_root),
    ("%hla_build_root", config.hla_build_root),
    ("%mlir_dir", config.mlir_dir),
]
