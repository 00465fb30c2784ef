# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the package of this tree, not one that happens to be installed."""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve()
sys.path[:0] = [str(_HERE.parents[3] / "python"), str(_HERE.parent)]
