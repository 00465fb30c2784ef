# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Higher-order linear attention.

``hla.runtime`` launches kernels that the compiler made; ``hla.reference`` holds
the operators in numpy, written from the mathematics. Import what you need:
neither loads the other.
"""

__version__ = "0.1.0"
