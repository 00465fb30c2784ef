# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of three libraries, two layouts and one storage format, made one.

The formulas of this package are written once, on ``[B, H, T, D]`` float64 arrays
with operators that numpy, CuPy and torch share (``@``, broadcasting, ``swapaxes``,
``tril``, ``cumprod``). What the libraries do not share is here.
"""

import importlib

import numpy as np

LAYOUTS = ("bthd", "bhtd")


def namespace(array):
    """The module whose functions take ``array``: numpy, cupy or torch."""
    root = type(array).__module__.partition(".")[0]
    return importlib.import_module(root) if root in ("cupy", "torch") else np


def to_float64(array):
    """``array`` in float64, same library, same device; exact for every shorter type.

    A numpy array of a two-byte void type or of uint16 is read as bfloat16: the
    first is how numpy stores ml_dtypes.bfloat16, the second the bare payload.
    """
    xp = namespace(array)
    if xp.__name__ == "torch":
        return array.to(xp.float64)
    array = xp.asarray(array)
    if xp is np and (array.dtype.kind == "V" or array.dtype == np.uint16):
        return decode_bfloat16(array)
    return array.astype(xp.float64)


def decode_bfloat16(array):
    """float64 values of a numpy array of bfloat16 payloads (two bytes an element).

    bfloat16 is the upper half of a float32, so widening is a shift.
    """
    array = np.ascontiguousarray(array)
    if array.dtype.itemsize != 2:
        raise ValueError(
            "expected an array of two-byte elements (bfloat16 payloads), but got "
            f"dtype {array.dtype}"
        )
    bits = array.view(np.uint16).astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32).astype(np.float64)


def encode_bfloat16(array):
    """uint16 payloads of ``array`` rounded to bfloat16, ties to even.

    Values pass through float32 first; a double rounding would need a float64
    whose bits 24 to 53 are a float32 tie, which random data does not hold and
    float32 data cannot.
    """
    wide = np.ascontiguousarray(array, dtype=np.float32)
    bits = wide.view(np.uint32)
    # Adding half an ulp less one, plus the lowest kept bit, carries into the kept
    # half exactly when the dropped half is above the tie, or on it and odd.
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
    # The carry would turn a NaN with a full payload into an infinity.
    rounded = np.where(np.isnan(wide), np.uint32(0x7FC0), rounded)
    return rounded.astype(np.uint16)


def check_layout(layout):
    if layout not in LAYOUTS:
        raise ValueError(
            f"expected layout to be one of {LAYOUTS} (axes by letter), but got "
            f"{layout!r}"
        )


def to_heads(array, layout, name):
    """``array`` as a float64 ``[B, H, T, D]`` array."""
    check_layout(layout)
    if len(array.shape) != 4:
        raise ValueError(
            f"expected {name} of rank 4 (layout {layout}), but got shape "
            f"{tuple(array.shape)}"
        )
    array = to_float64(array)
    return array.swapaxes(1, 2) if layout == "bthd" else array


def from_heads(array, layout):
    """The inverse of ``to_heads`` on a result."""
    return array.swapaxes(1, 2) if layout == "bthd" else array


def repeat_heads(array, group):
    """``[B, H, T, D]`` with every head ``group`` times in a row."""
    if group == 1:
        return array
    heads = array.shape[1] * group
    return array[:, [head // group for head in range(heads)]]


def flip_tokens(array):
    """``[B, H, T, ...]`` with its tokens in the opposite order."""
    return namespace(array).flip(array, (2,))


def full(like, shape, value):
    """A float64 array of one value in the library and on the device of ``like``."""
    xp = namespace(like)
    if xp.__name__ == "torch":
        return xp.full(shape, value, dtype=xp.float64, device=like.device)
    return xp.full(shape, value, dtype=xp.float64)


def zeros(like, shape):
    """A float64 array of zeros in the library and on the device of ``like``."""
    return full(like, shape, 0.0)


class Stream:
    """Random float64 arrays, in the library and on the device of ``like`` (numpy).

    The numbers of one seed differ between libraries.
    """

    def __init__(self, seed, like=None):
        """seed: a list of integers."""
        self._like = np.zeros(0) if like is None else like
        self._xp = namespace(self._like)
        if self._xp.__name__ == "torch":
            state = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
            generator = self._xp.Generator(self._like.device)
            self._options = {
                "generator": generator.manual_seed(state >> 1),
                "dtype": self._xp.float64,
                "device": self._like.device,
            }
        else:
            self._generator = np.random.default_rng(seed)

    def normal(self, shape):
        if self._xp.__name__ == "torch":
            return self._xp.randn(shape, **self._options)
        return self._xp.asarray(self._generator.standard_normal(shape))

    def uniform(self, shape):
        """In [0, 1)."""
        if self._xp.__name__ == "torch":
            return self._xp.rand(shape, **self._options)
        return self._xp.asarray(self._generator.random(shape))
