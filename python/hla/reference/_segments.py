# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Segments of tokens, and how two neighbours compose.

A segment is what a run of tokens does to any state that comes in. It holds the states
that the tokens leave when started from nothing, ρ = Π γ_t, and what cross terms
need. ``a.concatenate(b)`` is a, then b: associative, not commutative, with
``identity`` as its neutral element. A carry is a segment as well, of tokens long past.

Arrays are ``[..., d, dv]``, ρ ``[..., 1, 1]``. Below, S_A and the like are what the
first segment left, and γ_{>t} ρ_t = ρ_B in the second, of n tokens: what comes in
decays by ρ_t until token t, and by γ_{>t} from there to the end.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ._arrays import full, zeros


class _Segment:
    """What the segments share: they differ in fields, ``token``, ``concatenate``."""

    @classmethod
    def identity(cls, like, batch, d, dv):
        """No token: ``batch`` are the dimensions before the last two."""
        shapes = cls.shapes(d, dv)
        values = {n: zeros(like, (*batch, *shape)) for n, shape in shapes.items()}
        return cls(rho=full(like, (*batch, 1, 1), 1.0), **values)

    @classmethod
    def of(cls, q, k, v, gamma):
        """The segment of ``[B, H, T, D]`` tokens, gamma ``[B, H, T]``, one by one."""
        batch, d, dv = tuple(v.shape[:2]), k.shape[3], v.shape[3]
        columns = (
            (
                q[:, :, t, :, None],
                k[:, :, t, :, None],
                v[:, :, t, :, None],
                gamma[:, :, t, None, None],
            )
            for t in range(v.shape[2])
        )
        parts = [cls.token(*x) for x in columns]
        return functools.reduce(cls.concatenate, parts, cls.identity(v, batch, d, dv))


@dataclass(frozen=True)
class ScanSegment(_Segment):
    """Any first-order scan: S = ρ_B S_A + S_B. Linear attention's P, by its name S."""

    S: Any
    rho: Any

    @staticmethod
    def shapes(d, dv):
        return {"S": (d, dv)}

    @classmethod
    def token(cls, q, k, v, gamma):
        return cls(S=k @ _t(v), rho=gamma)

    def concatenate(self, b):
        return ScanSegment(S=b.rho * self.S + b.S, rho=self.rho * b.rho)


@dataclass(frozen=True)
class MaskedSegment(_Segment):
    """Second order masked, decayed causally: with D = Σ q vᵀ, undecayed,

    F_AB = ρ_B F_A + F_B + ρ_B S_Aᵀ D_B

    because u_t = u_t^B + ρ_t S_Aᵀ q_t.
    """

    S: Any
    F: Any
    D: Any
    rho: Any

    @staticmethod
    def shapes(d, dv):
        return {"S": (d, d), "F": (d, dv), "D": (d, dv)}

    @classmethod
    def token(cls, q, k, v, gamma):
        return cls(S=k @ _t(k), F=k @ (_t(k) @ q) @ _t(v), D=q @ _t(v), rho=gamma)

    def concatenate(self, b):
        cross = b.rho * (_t(self.S) @ b.D)
        return MaskedSegment(
            S=b.rho * self.S + b.S,
            F=b.rho * self.F + b.F + cross,
            D=self.D + b.D,
            rho=self.rho * b.rho,
        )


@dataclass(frozen=True)
class SquaredSegment(_Segment):
    """Second order masked, F decayed by γ²: with C = Σ q vᵀ decayed by γ,

    F_AB = ρ_B² F_A + F_B + ρ_B S_Aᵀ C_B

    since γ_{>t}² ρ_t = ρ_B γ_{>t}. C is the paper's, and F = S C − G for G decayed so.
    """

    S: Any
    F: Any
    C: Any
    rho: Any

    @staticmethod
    def shapes(d, dv):
        return {"S": (d, d), "F": (d, dv), "C": (d, dv)}

    @classmethod
    def token(cls, q, k, v, gamma):
        return cls(S=k @ _t(k), F=k @ (_t(k) @ q) @ _t(v), C=q @ _t(v), rho=gamma)

    def concatenate(self, b):
        cross = b.rho * (_t(self.S) @ b.C)
        return SquaredSegment(
            S=b.rho * self.S + b.S,
            F=b.rho * b.rho * self.F + b.F + cross,
            C=b.rho * self.C + b.C,
            rho=self.rho * b.rho,
        )


@dataclass(frozen=True)
class PaperSegment(_Segment):
    """The paper's serial recurrence: G_t = γ_t G_{t-1} + k_t k_tᵀ C_{t-1}.

    C_{t-1} holds ρ_{t-1} C_A of what came before, and what token t adds to G decays by
    γ_{>t} from there: all decays of B but γ_t. So with T = Σ_t (Π_{s≠t} γ_s) k_t k_tᵀ

    G_AB = ρ_B G_A + G_B + T_B C_A        T_AB = ρ_B T_A + ρ_A T_B

    For a constant γ, T is γ^{n-1} Σ k kᵀ: the paper's key products *without* decay,
    times ρ_B / γ. Nothing is divided here, so that γ may be 0.
    """

    S: Any
    C: Any
    G: Any
    T: Any
    rho: Any

    @staticmethod
    def shapes(d, dv):
        return {"S": (d, d), "C": (d, dv), "G": (d, dv), "T": (d, d)}

    @classmethod
    def token(cls, q, k, v, gamma):
        outer = k @ _t(k)
        return cls(S=outer, C=q @ _t(v), G=0.0 * (q @ _t(v)), T=outer, rho=gamma)

    def concatenate(self, b):
        return self._concatenate(b, b.T @ self.C)

    def concatenate_as_printed(self, b):
        """The paper's section 4.2, cross term S_B (ρ_B C_A): an erratum.

        It decays the tokens of b twice, once inside S_B. For γ ≠ 1 it is not
        associative and does not give the paper's own recurrence; for γ = 1 the two
        agree. Kept so that a test can show it.
        """
        return self._concatenate(b, b.S @ (b.rho * self.C))

    def _concatenate(self, b, cross):
        return PaperSegment(
            S=b.rho * self.S + b.S,
            C=b.rho * self.C + b.C,
            G=b.rho * self.G + b.G + cross,
            T=b.rho * self.T + self.rho * b.T,
            rho=self.rho * b.rho,
        )


@dataclass(frozen=True)
class AsymmetricSegment(_Segment):
    """Asymmetric: with R = Σ k qᵀ, undecayed,

    E_AB = ρ_B (E_A + R_B P_A) + E_B

    because r_t = r_t^B + ρ_t P_Aᵀ q_t. ``decayed_R`` is R with decay, for the erratum.
    """

    P: Any
    E: Any
    R: Any
    decayed_R: Any
    rho: Any

    @staticmethod
    def shapes(d, dv):
        return {"P": (d, dv), "E": (d, dv), "R": (d, d), "decayed_R": (d, d)}

    @classmethod
    def token(cls, q, k, v, gamma):
        outer = k @ _t(q)
        return cls(
            P=k @ _t(v),
            E=k @ (_t(q) @ k) @ _t(v),
            R=outer,
            decayed_R=outer,
            rho=gamma,
        )

    def concatenate(self, b):
        return self._concatenate(b, b.rho * (b.R @ self.P))

    def concatenate_as_printed(self, b):
        """The paper's decayed concatenation, with a decayed R: the same erratum."""
        return self._concatenate(b, b.decayed_R @ (b.rho * self.P))

    def _concatenate(self, b, cross):
        return AsymmetricSegment(
            P=b.rho * self.P + b.P,
            E=b.rho * self.E + b.E + cross,
            R=self.R + b.R,
            decayed_R=b.rho * self.decayed_R + b.decayed_R,
            rho=self.rho * b.rho,
        )


@dataclass(frozen=True)
class ThirdOrderSegment(_Segment):
    """Third order masked, F = Σ u rᵀ: u and r both grow by what came before, so with
    X = Σ q (r^B)ᵀ, Y = Σ u^B qᵀ and Z = Σ ρ_t q qᵀ

    F_AB = ρ_B (F_A + S_Aᵀ X_B + Y_B P_A + S_Aᵀ Z_B P_A) + F_B
    X_AB = X_A + X_B + Z_B P_A      Y_AB = Y_A + Y_B + S_Aᵀ Z_B      Z_AB = Z_A + ρ_A Z_B

    Six matrices, none of more than d × max(d, dv) elements.
    """

    S: Any
    P: Any
    F: Any
    X: Any
    Y: Any
    Z: Any
    rho: Any

    @staticmethod
    def shapes(d, dv):
        square, wide = (d, d), (d, dv)
        return {"S": square, "P": wide, "F": wide, "X": wide, "Y": square, "Z": square}

    @classmethod
    def token(cls, q, k, v, gamma):
        u, r = k @ (_t(k) @ q), v @ (_t(k) @ q)
        return cls(
            S=k @ _t(k),
            P=k @ _t(v),
            F=u @ _t(r),
            X=q @ _t(r),
            Y=u @ _t(q),
            Z=gamma * (q @ _t(q)),
            rho=gamma,
        )

    def concatenate(self, b):
        left = _t(self.S) @ b.Z
        cross = _t(self.S) @ b.X + b.Y @ self.P + left @ self.P
        return ThirdOrderSegment(
            S=b.rho * self.S + b.S,
            P=b.rho * self.P + b.P,
            F=b.rho * (self.F + cross) + b.F,
            X=self.X + b.X + b.Z @ self.P,
            Y=self.Y + b.Y + left,
            Z=self.Z + self.rho * b.Z,
            rho=self.rho * b.rho,
        )


def masked_states(paper):
    """(S, F) of the masked operator from the paper's (S, C, G), undecayed.

    F = S C − G, since both grow by S_t q_t v_tᵀ a token; and f = S m − h normalised.
    """
    states = {"S": paper["S"], "F": paper["S"] @ paper["C"] - paper["G"]}
    if "m" in paper:
        states["f"] = paper["S"] @ paper["m"] - paper["h"]
    return states


def paper_states(masked, c, m=None):
    """The inverse, for C = Σ q vᵀ (and m = Σ q), which (S, F) do not determine."""
    s = masked["S"]
    states = {"S": s, "C": c, "G": s @ c - masked["F"]}
    if m is not None:
        states |= {"m": m, "h": s @ m - masked["f"]}
    return states


def _t(matrix):
    return matrix.swapaxes(-1, -2)
