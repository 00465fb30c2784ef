# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the table that hla-compile prints; fails unless it has as many kernels as
said, each assembled, and with no spill, stack frame or remark of the assembler."""

import sys

expected = int(sys.argv[1])
header, *lines = sys.stdin.read().splitlines()
spills = header.split().index("spills")
rows = [
    line.split()
    for line in lines
    if len(line.split()) >= 7 and "_kernel" in line.split()[0]
]
faults = [line for line in lines if line.split()[:1] not in [row[:1] for row in rows]]
faults += [" ".join(row) for row in rows if row[spills] != "0"]
print(f"{len(rows)} kernels, {len(faults)} faults")
print("\n".join(faults))
sys.exit(faults != [] or len(rows) != expected)
