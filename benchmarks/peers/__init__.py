# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Other ways to compute the masked second-order operator on a GPU."""
