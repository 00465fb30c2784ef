# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch compiled bundles on arrays of any framework, without a copy.

    import torch
    from hla.runtime import Bundle

    bundle = Bundle("masked.bundle")
    q, k, v = (torch.randn(8, 4096, 16, 128, device="cuda").bfloat16() for _ in "qkv")
    out = torch.empty_like(v)
    bundle(q, k, v, out, stream=torch.cuda.current_stream())

Arrays come through DLPack: numpy's protocol, spoken by torch, cupy and jax. The
module is pure Python on libHLARuntime, which opens the CUDA driver when it is
first needed; loading and inspecting a bundle needs no GPU.
"""

from ._bundle import Argument, Bundle, Dim, Target
from ._device import (
    DeviceArray,
    Stream,
    compute_capability,
    device_count,
    device_name,
    driver_version,
    synchronize,
)
from ._checks import check_lengths, check_slots
from ._library import Error, Status, version

__all__ = [
    "Argument",
    "Bundle",
    "DeviceArray",
    "Dim",
    "Error",
    "Status",
    "Stream",
    "Target",
    "check_lengths",
    "check_slots",
    "compute_capability",
    "device_count",
    "device_name",
    "driver_version",
    "synchronize",
    "version",
]
