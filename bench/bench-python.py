#!/usr/bin/env python3
# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of the Python package: a compile that the cache has, and what a launch of one
zone on the simulator takes beyond the simulation, by a kernel, by a system, and of an
attention of one tile, with a mask that has a name and with functions of one's own. Of
each call the time that the library measures around the simulation
(`Kernel.host_seconds`) is subtracted. Medians; a table, and with --json=FILE the same
as JSON.

    PYTHONPATH=build/python build/venv/bin/python bench/bench-python.py
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import wavesmith as ws
from wavesmith import _attention


@ws.ode_system
def decay(A: ws.State("mol/l"), T: ws.Parameter("K")):
    ws.term(1e7 * ws.math.exp(-5000.0 / T), reactants=A)


SLOPES = np.full(1, 0.5, np.float32)


def alibi(score, b, h, q_idx, kv_idx):
    return score - SLOPES[h] * abs(q_idx - kv_idx)


def is_before(b, h, q_idx, kv_idx):
    return kv_idx <= q_idx


def launch_times(
    call: Callable[[], object], kernel: ws.Kernel, milliseconds: float
) -> tuple[float, float]:
    """Microseconds of a launch: beyond the simulation, and of the simulation."""
    beyond, simulation = [], []
    end = time.perf_counter() + 1e-3 * milliseconds
    for _ in range(100):
        call()
    while not beyond or time.perf_counter() < end:
        before = time.perf_counter()
        call()
        after = time.perf_counter()
        simulation.append(kernel.host_seconds)
        beyond.append(after - before - kernel.host_seconds)
    return 1e6 * statistics.median(beyond), 1e6 * statistics.median(simulation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the table as JSON")
    parser.add_argument("--mechanism", default="gri30.yaml",
                        help="what is compiled: a file of Cantera (gri30.yaml)")  # fmt: skip
    parser.add_argument("--milliseconds", type=float, default=500.0,
                        help="how long each is measured (500)")  # fmt: skip
    options = parser.parse_args()
    rows: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WAVESMITH_CACHE_DIR"] = folder
        text = ws.load_mechanism(options.mechanism).to_mlir()
        ws.compile(text)
        rows["cached_compile_milliseconds"] = ws.testing.do_bench(
            lambda: ws.compile(text), warmup=options.milliseconds / 5, rep=options.milliseconds
        )
        kernel = decay.compile()["rhs"]
        device, y, T = ws.Device("sim", "gfx942"), np.ones((1, 1)), np.full((1, 1), 300.0)
        q = np.ones((1, 1, 16, 16), np.float32)
        ws.attention(q, q, q, causal=True, device=device)
        mask = ws.create_block_mask(is_before, None, None, 16, 16)
        ws.flex_attention(q, q, q, alibi, mask, device=device)
        attention, flex = _attention._kernels.values()
        for name, called, call in (
            ("kernel", kernel, lambda: kernel(t=0.0, y=y, parameters=T, device=device)),
            ("system", kernel, lambda: decay.rhs(300.0, y, device=device)),
            ("attention", attention.kernel,
             lambda: ws.attention(q, q, q, causal=True, device=device)),
            ("flex_attention", flex.kernel,
             lambda: ws.flex_attention(q, q, q, alibi, mask, device=device)),
        ):  # fmt: skip
            beyond, simulation = launch_times(call, called, options.milliseconds)
            rows[f"{name}_launch_overhead_microseconds"] = beyond
            rows[f"{name}_launch_simulation_microseconds"] = simulation
    for name, value in rows.items():
        print(f"{name.replace('_', ' '):42} {value:12.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
