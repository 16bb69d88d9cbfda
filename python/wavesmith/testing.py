# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of functions."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

from wavesmith.arrays import is_on_gpu

__all__ = ["do_bench"]

_MODES = {"mean": np.mean, "median": np.median, "min": np.min, "max": np.max}


def do_bench(
    function: Callable[[], object],
    *,
    warmup: float = 25.0,
    rep: float = 100.0,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "median",
):
    """Measure how long calls take, by the host's clock.

    A kernel on the simulator takes as long as its simulation, which says nothing of a
    GPU: `autotune` models the time there.

    Args:
        function: called without arguments; it has to wait for what it starts, as
            kernels do in host memory. Where it returns tensors on a GPU, these are
            waited for.
        warmup: milliseconds for calls that are not counted.
        rep: milliseconds for calls that are; at least one is made.
        quantiles: of the times, each from 0 to 1.
        return_mode: "mean", "median", "min" or "max", without quantiles.

    Returns:
        Milliseconds; with quantiles a list of them.
    """
    if return_mode not in _MODES:
        raise ValueError(
            f"unknown return_mode {return_mode!r}: expected one of {', '.join(_MODES)}"
        )
    if quantiles is not None:
        if not np.ndim(quantiles):
            raise ValueError(f"quantiles: expected a list of numbers, got {quantiles!r:.60}")
        if not all(0.0 <= q <= 1.0 for q in quantiles):
            raise ValueError(f"quantiles are from 0 to 1, got {list(quantiles)}")
    start = time.perf_counter()
    _wait_for(function())
    while (time.perf_counter() - start) * 1e3 < warmup:
        _wait_for(function())
    times: list[float] = []
    start = time.perf_counter()
    while not times or (time.perf_counter() - start) * 1e3 < rep:
        before = time.perf_counter()
        _wait_for(function())
        times.append((time.perf_counter() - before) * 1e3)
    if quantiles is not None:
        return [float(q) for q in np.quantile(times, list(quantiles))]
    return float(_MODES[return_mode](times))


def _wait_for(result: object) -> None:
    """Wait for the GPUs that tensors are on."""
    for thing in result if isinstance(result, (tuple, list)) else (result,):
        if is_on_gpu(thing):
            sys.modules["torch"].cuda.synchronize(thing.device)
