# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches a bundle of second_order.mlir on a GPU, checks and times it.

    hla-compile examples/second_order.mlir --entry=masked_bf16 --target=sm_90a -o DIR
    PYTHONPATH=python HLA_RUNTIME_LIBRARY=build/lib/libHLARuntime.so python examples/run_bundle.py DIR

Device memory is `hla.runtime.DeviceArray` here, so that nothing but numpy is
needed; arrays of torch, cupy or jax are passed just like it.
"""

import sys
import time

import numpy as np

from hla import reference
from hla.runtime import Bundle, DeviceArray, Error, Status, device_name, synchronize

B, T, H = 2, 1000, 64
LAUNCHES = 100


def to_device(values, dtype):
    array = DeviceArray(values.shape, dtype)
    array.copy_from(reference.store(values, dtype))
    return array


def run(bundle):
    first, last = bundle.arguments[0], bundle.arguments[-1]
    dtype, d, dv = first.dtype, first.shape[3], last.shape[3]
    inputs = reference.random_inputs(0, (B, T, H, d), dv, dtype=dtype)
    arrays = [to_device(values, dtype) for values in inputs]
    out = DeviceArray((B, T, H, dv), dtype)
    out.fill_bytes(0xFF)  # NaN: what the kernel leaves out, the check finds

    bundle(*arrays, out)
    host = np.empty(out.shape, np.uint16)
    out.copy_to(host)
    if dtype == "f16":
        host = host.view(np.float16)
    expected = reference.second_order(*inputs, form="chunked").output
    error = reference.error(host, expected)
    tolerance = reference.tolerance(dtype)

    synchronize()
    begin = time.perf_counter()
    for _ in range(LAUNCHES):
        bundle(*arrays, out)
    synchronize()
    seconds = (time.perf_counter() - begin) / LAUNCHES

    print(f"{device_name()}, B={B} T={T} H={H}")
    print(f"error {error:.2e} (at most {tolerance:.0e} for {dtype})")
    print(f"time {seconds * 1e3:.3f} ms a launch, mean of {LAUNCHES}")
    return error <= tolerance


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} BUNDLE")
    try:
        bundle = Bundle(sys.argv[1])
        print(bundle)
        if not run(bundle):
            sys.exit("expected an error within the tolerance")
    except Error as error:
        unable = (Status.NO_DRIVER, Status.NO_DEVICE, Status.UNSUPPORTED_DEVICE)
        if error.status not in unable:
            sys.exit(str(error))
        print(f"not launched: {error}")


if __name__ == "__main__":
    main()
