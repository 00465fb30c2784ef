# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of launches, and the card's ceilings."""

import statistics
import subprocess
import time

import torch

from measure import Ceilings

# A cycle of the spin kernel takes at least this long on any card.
_SHORTEST_CYCLE_SECONDS = 1 / 2.6e9


def measure_ceilings():
    """The ceilings of the current device."""
    copies = _copy_rate(1 << 32)
    rates = {
        "bf16": _matmul_rate(8192, torch.bfloat16),
        "tf32": _matmul_rate(8192, torch.float32, allow_tf32=True),
        "f32": _matmul_rate(4096, torch.float32),
    }
    return Ceilings(copies, rates)


def _copy_rate(size):
    """Bytes read and written a second, copying ``size`` bytes."""
    source = torch.empty(size, dtype=torch.uint8, device="cuda").random_(0, 256)
    target = torch.empty_like(source)
    return 2 * size / _seconds(lambda: target.copy_(source))


def _matmul_rate(size, dtype, allow_tf32=False):
    """Flops a second of a square product, on random values."""
    a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.empty_like(a)
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allow_tf32
    seconds = _seconds(lambda: torch.matmul(a, b, out=out))
    torch.backends.cuda.matmul.allow_tf32 = before
    return 2 * size**3 / seconds


def _seconds(launch):
    """The median of 30 launches, of two times: the first is the card's way up."""
    return 1e-3 * min(statistics.median(time_launches([launch], 30)) for _ in range(2))


def time_launches(launches, count):
    """Milliseconds of ``count`` launches, taken in turn from ``launches``.

    The device first spins for longer than the host needs to queue everything, so
    that no launch waits for the host and an event pair times the kernels alone.
    """
    for launch in launches:
        launch()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for i in range(count):
        launches[i % len(launches)]()
    enqueue = time.perf_counter() - begin
    torch.cuda.synchronize()

    spin = 2 * enqueue + 2e-3
    for _ in range(6):
        events = [
            [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            for _ in range(count)
        ]
        torch.cuda._sleep(int(spin / _SHORTEST_CYCLE_SECONDS))
        for i, (start, stop) in enumerate(events):
            start.record()
            launches[i % len(launches)]()
            stop.record()
        queued_in_time = not events[0][0].query()
        torch.cuda.synchronize()
        if queued_in_time:
            return [start.elapsed_time(stop) for start, stop in events]
        spin *= 2
    raise RuntimeError(
        f"expected {count} launches to be queued within {spin:.3f} s (their times "
        "would contain the host's), but the device was done waiting"
    )


def percentiles(times):
    """Median, tenth and ninetieth percentile."""
    deciles = statistics.quantiles(times, n=10)
    return {
        "median_ms": statistics.median(times),
        "p10_ms": deciles[0],
        "p90_ms": deciles[-1],
        "count": len(times),
    }


def describe_card():
    """Card, driver and clocks, as nvidia-smi says them."""
    fields = "name,driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu"
    try:
        line = subprocess.run(
            ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return {"name": torch.cuda.get_device_name(), "driver_version": "unknown"}
    return dict(zip(fields.split(","), (x.strip() for x in line.split(","))))
