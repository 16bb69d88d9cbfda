#!/usr/bin/env python3
# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of the Python package: a compile that the cache has, and a launch of one zone on
the simulator, by a kernel and by a system. The launch contains the simulation, of a
few dozen instructions. Prints a table; --json=FILE writes it.

    PYTHONPATH=build/python build/venv/bin/python bench/bench-python.py
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

import numpy as np

import wavesmith as ws


@ws.ode_system
def decay(A: ws.State("mol/l")):
    ws.term(1.0, reactants=A)


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
        bench = {"warmup": options.milliseconds / 5, "rep": options.milliseconds}
        rows["cached_compile_milliseconds"] = ws.testing.do_bench(
            lambda: ws.compile(text), **bench
        )
        kernel = decay.compile()["rhs"]
        device, y = ws.Device("sim", "gfx942"), np.ones((1, 1))
        rows["kernel_launch_microseconds"] = 1e3 * ws.testing.do_bench(
            lambda: kernel(t=0.0, y=y, device=device), **bench
        )
        rows["system_launch_microseconds"] = 1e3 * ws.testing.do_bench(
            lambda: decay.rhs(y, device=device), **bench
        )
    for name, value in rows.items():
        print(f"{name.replace('_', ' '):32} {value:12.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
