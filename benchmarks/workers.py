# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows measured in a process of their own: a kernel that faults ends one row, not all.

After a fault a device takes nothing more from the process. The next row gets a new
one, and the row itself is measured again in parts, so that the part that faulted is
missing and the other is not.
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

_comparison = None


def _start(settings):
    global _comparison
    from comparison import Comparison

    _comparison = Comparison(settings)


def _measure(row, parts):
    import torch

    try:
        return _comparison.measure(row, parts)
    except Exception as failure:
        # As text: not every exception can be sent.
        said = str(failure).strip().partition("\n")[0]
        raise RuntimeError(f"{type(failure).__name__}: {said}") from None
    finally:
        try:
            torch.cuda.empty_cache()
        except RuntimeError:
            pass


class Workers:
    """One process at a time. settings: a ``comparison.Settings``."""

    def __init__(self, settings, parts):
        self.settings = settings
        self.parts = parts
        self.pool = None

    def measure(self, row):
        """As ``Comparison.measure``, with ``failures`` by parts."""
        try:
            return {**self._submit(row, self.parts), "failures": {}}
        except RuntimeError:
            pass
        whole = {"results": {}, "missing": {}, "failures": {}}
        for part in self.parts:
            try:
                measured = self._submit(row, (part,))
            except RuntimeError as failure:
                whole["failures"][part] = str(failure)
                continue
            whole["results"] |= measured["results"]
            whole["missing"] |= measured["missing"]
            whole["input_sets"] = measured["input_sets"]
        return whole

    def close(self):
        if self.pool:
            self.pool.shutdown(cancel_futures=True)
            self.pool = None

    def _submit(self, row, parts):
        if self.pool is None:
            self.pool = ProcessPoolExecutor(
                1, get_context("spawn"), _start, (self.settings,)
            )
        try:
            return self.pool.submit(_measure, row, parts).result()
        except RuntimeError:
            # BrokenProcessPool is one.
            self.close()
            raise
