# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests the package of this tree, not one that happens to be installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
