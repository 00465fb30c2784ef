# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Higher-order linear attention in float64, written from the mathematics.

This is what every kernel of the project is compared with, so it shares no code
and no algorithm with the compiler: each operator exists as its definition, and
next to it in forms that are faster to evaluate, each with its derivation, and
tested against the definition to 1e-12.

Conventions. ``q_t, k_t`` are rows of length ``d``, ``v_t`` rows of length ``dv``.
Arrays are ``[B, T, H, D]`` (``layout="bthd"``) or ``[B, H, T, D]`` (``"bhtd"``);
states are always ``[B, H, d, dv]``. Inputs may be numpy, CuPy or torch arrays of
any float type (bfloat16 numpy arrays as ml_dtypes writes them included); results
are float64 arrays of the same library on the same device. ``L`` is the lower
triangle with its diagonal.

============================  =====================================================
``scan``                      the first-order causal scan, token by token
``scan_quadratic``            the same by its closed form
``second_order``              masked ``((A Aᵀ) ⊙ L) V``, prefix ``q_tᵀ S_t C_t``
``second_order_recurrence``   the same token by token, with two states
``second_order_blockwise``    the same by rows of scores, for long sequences
``paper_recurrence``          the serial recurrence of arXiv 2510.27258
``PaperSegment``              its segment statistics and their two concatenations
``error``, ``worst_error``    the error measures
``tolerance``                 the bound that a correct kernel meets
``random_inputs``             problems on which it does; ``store`` puts them into a type
============================  =====================================================
"""

from ._accuracy import error, tolerance, unit_roundoff, worst_error
from ._arrays import decode_bfloat16, encode_bfloat16, to_float64
from ._inputs import random_inputs, round_to, store
from ._paper import PaperSegment, paper_recurrence
from ._scan import scan, scan_quadratic
from ._second_order import (
    second_order,
    second_order_blockwise,
    second_order_recurrence,
)

__all__ = [
    "PaperSegment",
    "decode_bfloat16",
    "encode_bfloat16",
    "error",
    "paper_recurrence",
    "random_inputs",
    "round_to",
    "scan",
    "scan_quadratic",
    "second_order",
    "second_order_blockwise",
    "second_order_recurrence",
    "store",
    "to_float64",
    "tolerance",
    "unit_roundoff",
    "worst_error",
]
