# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program computes on given extents, and how far a kernel may be from it."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphs import Graph, Scan
from hla import reference
from programs import Extents, Program, state_dtype

# The largest output that f16 problems have: 65504 is the end.
F16_PEAK = 3e4

# Bounds follow the condition of a problem, and say little where it is large. Draws are
# repeated until it is at most this: half the bits that f32 has to spare above bf16.
WELL_CONDITIONED = 32.0
ATTEMPTS = 6


@dataclass(frozen=True)
class Configuration:
    """A program, its extents, and how its inputs are drawn."""

    program: Any
    extents: Extents
    seed: int = 0
    features: str | None = None
    gates: str = "sigmoid"
    # Whether the types say the extents, and flags of hla-run.
    is_static: bool = False
    flags: tuple = ()

    def problem(self, like=None):
        """Inputs and expected values, in the library and on the device of ``like``."""
        if not self._may_cancel:
            return self._draw(like, self.seed)
        best = None
        for attempt in range(ATTEMPTS):
            problem = self._draw(like, self.seed + attempt)
            if best is None or problem.condition < best.condition:
                best = problem
            if best.condition <= WELL_CONDITIONED:
                break
        return best

    @property
    def _may_cancel(self):
        """Whether some draws have denominators near zero, or differences."""
        p = self.program
        if isinstance(p, Graph):
            return False
        return p.normalize is not None or (p.variant == "paper" and p.is_decayed)

    def _draw(self, like, seed):
        problem = Problem(self, Inputs(self, seed, like).draw())
        if self.program.output_dtype == "f16":
            peak = _peak(problem.expected["o"])
            if peak > F16_PEAK:
                # Linear in v: a power of two brings it within f16.
                shift = math.ceil(math.log2(peak / F16_PEAK))
                problem = Problem(self, Inputs(self, seed, like, shift).draw())
        return problem


@dataclass(frozen=True)
class Inputs:
    """Draws the arrays that a configuration reads.

    v is divided by 2^``shift``, and so are the initial states that it entered.
    """

    configuration: Configuration
    seed: int
    like: Any
    shift: int = 0

    def draw(self):
        """float64 arrays, exact in their types, by the names of operands."""
        p, e = self.configuration.program, self.configuration.extents
        shape = (e.batch, e.tokens, e.heads, p.d)
        layout = {"dtype": p.dtype, "layout": p.layout, "groups": _groups(p)}
        q, k, v = self._features(self.seed, shape, **layout)
        inputs = {"q": q, "k": k, "v": v}
        if getattr(p, "log_decay", None):
            shape = shape[:3] if p.log_decay == "token" else (e.heads,)
            inputs["g"] = self._log_decay(shape, layout=p.layout)
        if p.has_lengths:
            inputs["c"] = np.array(e.lengths, np.int32)
        if getattr(p, "has_slots", False):
            inputs["n"] = np.array(e.slots.numbers, np.int32)
        if getattr(p, "carry_in", False):
            inputs |= self._states("{}_in", ATTEMPTS)
        held = [o for o in p.operands(e) if (o.reads or "").startswith("held")]
        if any(o.is_state for o in held):
            inputs |= self._states("held_{}", 2 * ATTEMPTS)
        if any(o.name == "o" for o in held):
            options = {"dtype": p.output_dtype, "layout": p.layout, "like": self.like}
            shape = (e.batch, e.tokens, e.heads, 1)
            _, _, inputs["held"] = reference.random_inputs(
                self.seed, shape, p.dv, **options
            )
        return inputs

    def _features(self, seed, shape, *, dtype, features=None, **options):
        features = self.configuration.features or features
        q, k, v = reference.random_inputs(
            seed,
            shape,
            self.configuration.program.dv,
            features=features,
            dtype=dtype,
            like=self.like,
            **options,
        )
        return q, k, reference.round_to(v * 2.0**-self.shift, dtype)

    def _log_decay(self, shape, gates=None, **options):
        dtype = state_dtype(self.configuration.program.dtype)
        gates = gates or self.configuration.gates
        return reference.random_log_decay(
            self.seed, shape, gates=gates, dtype=dtype, like=self.like, **options
        )

    def _states(self, pattern, seed):
        """The states that a few other tokens leave: as a user has them, Gram matrices
        where they are those, and denominators that belong to the numerators."""
        p, e = self.configuration.program, self.configuration.extents
        dtype = state_dtype(p.dtype)
        shape = (e.states, 8, e.heads, p.d)
        arrays = self._features(self.seed + seed, shape, dtype=dtype, features="unit")
        options = p.options()
        for name in ("reverse", "groups", "layout", "exclusive"):
            options.pop(name, None)
        if p.log_decay:
            gates = "slow" if self.configuration.gates == "slow" else "sigmoid"
            options["log_decay"] = self._log_decay((e.heads,), gates)
        states = p.evaluate(*arrays, **options).states
        return {
            pattern.format(n): reference.round_to(x, dtype) for n, x in states.items()
        }


@dataclass
class Problem:
    """Inputs of a configuration, and what it computes from them."""

    configuration: Configuration
    inputs: dict

    def __post_init__(self):
        self.program = self.configuration.program
        self.extents = self.configuration.extents

    def _arguments(self):
        """What ``evaluate`` of the program takes."""
        options = self.program.options()
        if "g" in self.inputs:
            options["log_decay"] = self.inputs["g"]
        if "c" in self.inputs:
            options["lengths"] = self.extents.lengths
        carry = {
            n.removesuffix("_in"): self._of_sequences(x)
            for n, x in self.inputs.items()
            if n.endswith("_in")
        }
        options |= {"carry": carry} if carry else {}
        return [self.inputs[n] for n in "qkv"], options

    def _of_sequences(self, states):
        """The initial states of sequences: zero where a slot is no state."""
        slots = self.extents.slots
        if slots is None:
            return states
        present = slots.present
        numbers = [n if i in present else 0 for i, n in enumerate(slots.numbers)]
        # A copy.
        carry = states[numbers]
        for i in set(range(len(numbers))).difference(present):
            carry[i] = 0.0
        return carry

    @functools.cached_property
    def _result(self):
        arrays, options = self._arguments()
        return self.program.evaluate(*arrays, form="chunked", **options)

    @property
    def expected(self):
        """o, and the final states, by name."""
        return _named(*self._result)

    @functools.cached_property
    def conditions(self):
        """What errors of o, and of the final states, may grow by, by name."""
        arrays, options = self._arguments()
        output, states = reference.condition(
            self.program.evaluate,
            *arrays,
            exact=self._result,
            seed=self.configuration.seed,
            **options,
        )
        states = {n: reference.Condition(x, x) for n, x in states.items()}
        return _named(output, states)

    @property
    def condition(self):
        """The worst one."""
        return max(x.worst for x in self.conditions.values())

    def _roundings(self, operand):
        """How often numbers are rounded on their way to an operand: see ``tolerance``."""
        p = self.program
        a_scan = 3 if p.is_decayed else 2
        # Where little but the token itself is left, its score meets itself in all
        # scans, and its errors add up in place of averaging out.
        if self._is_short_lived:
            a_scan *= 2
        if operand.writes != "o":
            name = operand.writes.removesuffix("_out")
            scans = {s.name: s.scans for s in p.states}[name]
            # A state is a sum of products, of operands that a decay may scale, and
            # that tf32 rounds where they are f32.
            rounds_inputs = p.dtype == "f32" and getattr(p, "precision", None) == "tf32"
            own = (1 if p.is_decayed else 0) + (2 if rounds_inputs else 0)
            return a_scan * scans + own
        if isinstance(p, Graph):
            return a_scan * p.roundings_of_scans
        return a_scan * (p.kind.scans if p.kind else 1)

    @property
    def _is_short_lived(self):
        """Whether a token forgets most of what came before."""
        decay = getattr(self.program, "decay", 1.0)
        gates = self.configuration.gates
        has_gates = bool(getattr(self.program, "log_decay", None))
        return decay < 0.5 or (has_gates and gates == "extreme")

    @property
    def _memory(self):
        """How many tokens a state remembers, about."""
        decay = getattr(self.program, "decay", 1.0)
        if getattr(self.program, "log_decay", None):
            # Of sigmoids: the token itself and one or two.
            return 2
        return 1.0 / (1.0 - decay) if decay < 1.0 else math.inf

    def failures(self, outputs, operand_dtype):
        """What is wrong with ``outputs``, arrays by operands' names: a list of messages.

        ``operand_dtype``: the type that products take; a result of another type is
        stored in it, which is no error.
        """
        messages = []
        for operand in self.program.operands(self.extents):
            if not operand.writes:
                continue
            out, name = outputs[operand.name], operand.name
            if tuple(out.shape) != operand.shape:
                messages.append(f"{name}: shape {tuple(out.shape)}")
                continue
            if name == "o" and self.program.has_lengths:
                out, is_touched = self._without_slack(out)
                if is_touched:
                    messages.append("o: tokens of no sequence were written")
            if operand.is_state and self.extents.slots is not None:
                out, is_touched = self._in_slots(operand, out)
                if is_touched:
                    messages.append(f"{name}: states in no slot were written")
            messages += self._too_far(operand, out, operand_dtype)
        return messages

    def _too_far(self, operand, out, operand_dtype):
        """Compares one operand written with what is expected, in both measures."""
        ref = self.expected[operand.writes]
        if operand.is_state and self.extents.slots is not None:
            ref = ref[self.extents.slots.present]
        roundings = self._roundings(operand)
        if roundings == 0:
            operand_dtype = state_dtype(self.program.dtype)
        stored = operand.dtype if operand.dtype != operand_dtype else None
        tokens, heads = self.extents.tokens, self.extents.heads
        if self.extents.lengths:
            # Tokens of no sequence say nothing.
            tokens = self.extents.lengths[-1] - self.extents.lengths[0]
        # The norm of rows of few numbers hangs on few of them: powers of q·k spread far.
        tokens = max(1, tokens * min(1.0, min(self.program.d, self.program.dv) / 8))
        if operand.name != "o":
            # A state is as exact as what it remembers averages out.
            tokens = max(1, min(tokens, self._memory))
        rows = tokens * heads * self.extents.batch

        # f64 may become 16 bits by way of f32, which moves what is near a tie.
        is_twice = operand_dtype == "f64" and stored in ("bf16", "f16")
        extra = reference.unit_roundoff("f32") if is_twice else 0.0

        def bounds(condition):
            whole, worst = (
                reference.tolerance(
                    operand_dtype, n, roundings=roundings, condition=x, numbers=m
                )
                for n, x, m in zip((rows, tokens), condition[:2], condition[2:])
            )
            return whole + extra, 1.25 * max(whole, worst) + extra

        errors = [reference.error(out, ref, stored=stored)]
        if operand.name == "o":
            layout = self.program.layout
            errors.append(reference.worst_error(out, ref, layout=layout, stored=stored))
        limits = bounds(reference.Condition(1.0, 1.0))
        if all(x <= bound for x, bound in zip(errors, limits)):
            return []
        # Only here is it worth what it takes to know the condition.
        limits = bounds(self.conditions[operand.writes])
        return [
            f"{operand.name}: {what} error {x:.2e} > {bound:.2e}"
            for what, x, bound in zip(("whole", "worst"), errors, limits)
            if not x <= bound
        ]

    def _without_slack(self, out):
        """out with 0 for tokens of no sequence; whether one is not as it was: what was
        held there, or the NaN of an output that is poisoned."""
        p, e = self.program, self.extents
        inside = reference.sequence_mask(e.lengths, e.tokens)
        outside = [t for t, x in enumerate(inside) if not x]
        axis = 1 if p.layout == "bthd" else 2
        index = (slice(None),) * axis + (outside,)
        slack = out[index]
        out = 1.0 * out
        out[index] = 0.0
        if "held" in self.inputs:
            return out, bool((slack != self.inputs["held"][index]).any())
        return out, bool((slack == slack).any())


    def _in_slots(self, operand, out):
        """The final states of the sequences that have one; whether another one is not
        as it was."""
        slots = self.extents.slots
        written = [slots.numbers[i] for i in slots.present]
        others = [i for i in range(slots.states) if i not in written]
        rest = out[others]
        if operand.reads:
            is_touched = bool((rest != self.inputs[operand.reads][others]).any())
        else:
            is_touched = bool((rest == rest).any())
        return out[written], is_touched


def _named(output, states):
    return {"o": output, **{f"{name}_out": x for name, x in states.items()}}


def _groups(program):
    """Of q, k and v."""
    groups = getattr(program, "groups", None) or (1, 1)
    return (*groups, groups[-1])[:3]


def _peak(array):
    return float(abs(array).max()) if math.prod(array.shape) else 0.0


def from_description(description):
    """The inverse of a program's ``describe``."""
    description = dict(description)
    kind = {"Program": Program, "Graph": Graph}[description.pop("kind")]
    fields = {n: tuple(x) if isinstance(x, list) else x for n, x in description.items()}
    if kind is Graph:
        fields["scans"] = tuple(Scan(*x) for x in fields["scans"])
    return kind(**fields)
