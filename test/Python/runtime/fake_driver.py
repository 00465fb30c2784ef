# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stand-in for the CUDA driver (test/unit/Runtime/FakeCuda.cpp), and where
the libraries under test are."""

import ctypes
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ.get("HLA_BUILD_DIR", ROOT / "build"))
LIBRARIES = {
    "HLA_RUNTIME_LIBRARY": BUILD / "lib" / "libHLARuntime.so",
    "HLA_CUDA_LIBRARY": BUILD / "test" / "unit" / "libHLAFakeCuda.so",
}


class FakeDriver:
    """Steers the stand-in and reads its log."""

    def __init__(self):
        self._library = ctypes.CDLL(str(LIBRARIES["HLA_CUDA_LIBRARY"]))
        self._library.fakeGetLog.restype = ctypes.c_char_p

    def reset(self):
        self._library.fakeReset()

    def fail(self, symbol, result):
        self._library.fakeFail(symbol.encode(), result)

    def set(self, name, value):
        self._library.fakeSet(name.encode(), value)

    @property
    def allocations(self):
        return self._library.fakeGetNumAllocations()

    @property
    def modules(self):
        return self._library.fakeGetNumModules()

    @property
    def log(self):
        return self._library.fakeGetLog().decode()

    @property
    def launches(self):
        """One dict a launch; "parameters" is a list of bytes."""
        launches = []
        for line in self.log.splitlines():
            if line.startswith("cuLaunchKernel"):
                launch = dict(field.split("=") for field in line.split(" ")[1:])
                launch["parameters"] = list(
                    map(bytes.fromhex, launch["parameters"].split(","))
                )
                launches.append(launch)
        return launches
