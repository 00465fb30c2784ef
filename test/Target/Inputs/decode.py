# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module with an entry function for every operator of one chunk of tokens whose
states are in memory, out of place, and in place and of slots, as a server has them.

usage: decode.py TOKENS
"""

import dataclasses
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Integration"))
from programs import Program  # noqa: E402

WIDTHS = (32, 64, 128)
KINDS = (
    {"operator": "linear"},
    {"operator": "second_order", "variant": "masked"},
    {"operator": "second_order", "variant": "prefix"},
    {"operator": "asymmetric"},
    {"operator": "third_order", "variant": "masked"},
    {"operator": "second_order", "variant": "masked", "log_decay": "token"},
    {"operator": "second_order", "variant": "masked", "log_decay": "head"},
    {"operator": "second_order", "variant": "masked", "normalize": ("add", 1e-6)},
    {"operator": "second_order", "variant": "masked", "ridge": 0.5},
)

for d in WIDTHS:
    for kind in KINDS:
        program = Program(
            dtype="bf16",
            d=d,
            dv=d,
            tokens=int(sys.argv[1]),
            carry_in=True,
            carry_out=True,
            **kind,
        )
        print(program.mlir())
        print(dataclasses.replace(program, in_place=True, has_slots=True).mlir())
