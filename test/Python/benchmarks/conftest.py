# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the benchmarks of this tree, as far as they need no GPU."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(_ROOT / "python"), str(_ROOT / "benchmarks")]
