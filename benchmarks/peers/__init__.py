# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other ways to compute the operators on a GPU."""
