# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Higher-order linear attention in float64, written from the mathematics.

This is what every kernel of the project is compared with, so it shares no code
and no algorithm with the compiler.

Conventions. ``q_t, k_t`` are rows of length ``d``, ``v_t`` rows of length ``dv``.
Arrays are ``[B, T, H, D]`` (``layout="bthd"``) or ``[B, H, T, D]`` (``"bhtd"``);
states are always ``[B, H, d, dv]``. Inputs may be numpy, CuPy or torch arrays of
any float type (bfloat16 numpy arrays as ml_dtypes writes them included); results
are float64 arrays of the same library on the same device. ``L`` is the lower
triangle with its diagonal.

Each operator takes ``(q, k, v, **options)``, the fields of ``Options``, returns a
``Result`` (the output, and the final states by name) and comes in three forms:

``form="definition"``
    products of T×T matrices under a mask; the paper's variants by the paper's serial
    algorithms; the scan by its closed form. One packed sequence at a time.
``form="recurrence"``
    the operator's graph of first-order scans, each token by token.
``form="chunked"``
    the same graph, ``chunk`` tokens at a time: for long sequences.

======================  ===========================================================
``scan``                the first-order causal scan, the primitive
``linear``              ``((Q Kᵀ) ⊙ L) V``
``second_order``        masked ``((A Aᵀ) ⊙ L) V``, prefix ``q_tᵀ S_t C_t``, and paper
``asymmetric``          ``((A A) ⊙ L) V``
``third_order``         masked ``(((A Aᵀ) A) ⊙ L) V``, and paper
``operator``            an operator's order and states, by its name
``ScanSegment``, …      what a run of tokens does to a state, and how two compose
``masked_states``, …    (S, F) from the paper's (S, C, G), and back
``error``, …            the error measures, with ``condition`` and ``tolerance``
``random_inputs``, …    problems for kernels; ``store`` puts them into a type
======================  ===========================================================
"""

from ._accuracy import (
    Condition,
    condition,
    error,
    tolerance,
    unit_roundoff,
    worst_error,
)
from ._arrays import decode_bfloat16, encode_bfloat16, to_float64
from ._inputs import (
    random_inputs,
    random_log_decay,
    round_to,
    store,
)
from ._operators import (
    FORMS,
    VARIANTS,
    Operator,
    Result,
    State,
    asymmetric,
    linear,
    operator,
    scan,
    second_order,
    third_order,
)
from ._options import Options
from ._segments import (
    AsymmetricSegment,
    MaskedSegment,
    PaperSegment,
    ScanSegment,
    SquaredSegment,
    ThirdOrderSegment,
    masked_states,
    paper_states,
)
from ._walk import sequence_mask

__all__ = [
    "FORMS",
    "VARIANTS",
    "AsymmetricSegment",
    "Condition",
    "MaskedSegment",
    "Operator",
    "Options",
    "PaperSegment",
    "Result",
    "ScanSegment",
    "SquaredSegment",
    "State",
    "ThirdOrderSegment",
    "asymmetric",
    "condition",
    "decode_bfloat16",
    "encode_bfloat16",
    "error",
    "linear",
    "masked_states",
    "operator",
    "paper_states",
    "random_inputs",
    "random_log_decay",
    "round_to",
    "scan",
    "second_order",
    "sequence_mask",
    "store",
    "third_order",
    "to_float64",
    "tolerance",
    "unit_roundoff",
    "worst_error",
]
