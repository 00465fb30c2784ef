# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module with an entry function for every variant, width and type.

usage: programs.py TYPE...
"""

import itertools
import sys

WIDTHS = (32, 64, 128)

for variant, dtype, d, dv in itertools.product(
    ("masked", "prefix"), sys.argv[1:], WIDTHS, WIDTHS
):
    s, v = f"tensor<?x?x?x{d}x{dtype}>", f"tensor<?x?x?x{dv}x{dtype}>"
    print(
        f"func.func @{variant}_{dtype}_{d}_{dv}(%q: {s}, %k: {s}, %v: {v}, %e: {v}) -> {v} {{\n"
        f"  %o = hla.second_order variant({variant}) ins(%q, %k, %v : {s}, {s}, {v}) outs(%e : {v}) -> {v}\n"
        f"  return %o : {v}\n"
        "}"
    )
