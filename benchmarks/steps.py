# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every operator as first-order scans and what stands between them.

The floor counts these steps (``measure.py``), and the peers execute them
(``peers/composition.py``). Steps read and write values by name: q, k and v come in,
o goes out.
"""

from typing import NamedTuple


class Scan(NamedTuple):
    """result = scan(q, k, v), decayed as the operator is."""

    result: str
    q: str
    k: str
    v: str
    is_exclusive: bool = False

    @property
    def reads(self):
        return self.q, self.k, self.v

    @property
    def writes(self):
        return (self.result,)


class Sum(NamedTuple):
    """result = Σ factor · value, over ``terms``."""

    result: str
    terms: tuple

    @property
    def reads(self):
        return tuple(name for name, _ in self.terms)

    @property
    def writes(self):
        return (self.result,)


class ThirdOrderTerms(NamedTuple):
    """a = κ u + σ k + κ² k and r = κ p, with κ = q·k and σ = k·y."""

    reads: tuple = ("q", "k", "u", "y", "p")
    writes: tuple = ("a", "r")


def steps(operator, variant=None, *, is_decayed=False, ridge=0.0):
    """The steps of an operator, in order."""
    u, regularize = "u", []
    if ridge:
        u, regularize = "ridged", [Sum("ridged", (("u", 1.0), ("q", ridge)))]
    first = [Scan("u", "q", "k", "k"), *regularize]
    if operator == "linear":
        return [Scan("o", "q", "k", "v")]
    if operator == "asymmetric":
        return [Scan("r", "q", "k", "v"), Scan("o", "q", "k", "r")]
    if operator == "second_order":
        if variant == "prefix":
            return [*first, Scan("o", u, "q", "v")]
        if variant == "paper" and is_decayed:
            return [
                *first,
                Scan("w", "k", "q", "v", True),
                Scan("moments", u, "q", "v"),
                Scan("cross", "q", "k", "w"),
                Sum("o", (("moments", 1.0), ("cross", -1.0))),
            ]
        # Undecayed, the paper's is the masked one.
        return [*first, Scan("o", "q", u, "v")]
    if operator == "third_order":
        if variant == "paper":
            return _THIRD_ORDER_PAPER_DECAYED if is_decayed else _THIRD_ORDER_PAPER
        return [*first, Scan("r", "q", "k", "v"), Scan("o", "q", u, "r")]
    raise ValueError(f"expected an operator of the family, but got {operator!r}")


_THIRD_ORDER_PAPER = [
    Scan("u", "q", "k", "k", True),
    Scan("y", "k", "q", "q", True),
    Scan("p", "q", "k", "v", True),
    ThirdOrderTerms(),
    Scan("first", "q", "a", "v"),
    Scan("second", "q", "k", "r"),
    Sum("o", (("first", 1.0), ("second", 1.0))),
]

_THIRD_ORDER_PAPER_DECAYED = [
    Scan("y", "q", "k", "k"),
    Scan("z", "y", "q", "q"),
    Scan("whole", "z", "k", "v"),
    Scan("w", "k", "q", "q", True),
    Scan("wv", "w", "k", "v", True),
    Scan("first", "q", "k", "wv"),
    Scan("qk", "q", "k", "k", True),
    Scan("qv", "q", "k", "v", True),
    Scan("second", "q", "qk", "qv"),
    Scan("wk", "w", "k", "k", True),
    Scan("third", "q", "wk", "v"),
    Sum("o", (("whole", 1.0), ("first", -1.0), ("second", -1.0), ("third", -1.0))),
]


def widths(graph, d, dv):
    """The width of each value."""
    width = {"q": d, "k": d, "v": dv}
    for step in graph:
        if isinstance(step, Scan):
            width[step.result] = width[step.v]
        elif isinstance(step, Sum):
            width[step.result] = width[step.terms[0][0]]
        else:
            width["a"], width["r"] = width["k"], width["p"]
    return width


def dependent_on_values(graph):
    """The names of values that v enters: a normaliser needs them for v ≡ 1 as well."""
    names = {"v"}
    for step in graph:
        if isinstance(step, ThirdOrderTerms):
            names |= {"r"} if "p" in names else set()
        elif names & set(step.reads):
            names.add(step.result)
    return names
