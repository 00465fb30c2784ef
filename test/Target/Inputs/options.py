# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a module with an entry function for every option, and kind of width, that a
kernel has instructions of its own for."""

PROGRAMS = (
    ("token", (64, 128), "", "%g: tensor<?x?x?xf32>", "log_decay(%g : tensor<?x?x?xf32>)"),
    ("head", (64, 128), "", "%g: tensor<?xf32>", "log_decay(%g : tensor<?xf32>)"),
    ("ridge", (64, 128), "ridge(0.5)", None, ""),
    ("paper", (64,), "variant(paper)", None, ""),
    ("normalised", (64, 128), "normalize(add, 1.0e-6)", None, ""),
    ("padded", (3, 20, 48, 96), "", None, ""),
    ("sliced", (160, 256), "", None, ""),
    ("lengths", (64,), "", "%c: tensor<?xi32>", "lengths(%c : tensor<?xi32>)"),
)

for name, widths, options, argument, clause in PROGRAMS:
    for d in widths:
        batch = "1" if name == "lengths" else "?"
        t = f"tensor<{batch}x?x?x{d}xbf16>"
        arguments = ", ".join(f"%{x}: {t}" for x in "qkve")
        if argument:
            arguments += f", {argument}"
        print(
            f"func.func @{name}_{d}({arguments}) -> {t} {{\n"
            f"  %o = hla.second_order {options} ins(%q, %k, %v : {t}, {t}, {t}) {clause} outs(%e : {t}) -> {t}\n"
            f"  return %o : {t}\n"
            "}"
        )
