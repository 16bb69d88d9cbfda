#!/usr/bin/env python3
# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The speed of a plain matrix product written at the workgroup level
(test/Numeric/tile_gemm.py), which the same passes take to machine code as attention.
Modelled by the simulator: no GPU has run it. Prints a table; --json=FILE writes it.

    PYTHONPATH=build/python build/venv/bin/python bench/bench-gemm.py
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test" / "Numeric"))
import numeric_support as support  # noqa: E402
from tile_gemm import TILE_M, TILE_N, WAVES, gemm_text  # noqa: E402
from wavesmith import simulator  # noqa: E402

#: Architecture, chip that is modelled, and its peak of f16 and bf16 products in flops a
#: second: lib/Target has the sources. The chip mi210 is one GCD of an MI250.
CHIPS = [("gfx942", "mi300x", 1307.4e12), ("gfx90a", "mi210", 181.0e12)]


def model(folder: Path, target: str, chip: str, peak: float, element: str, size) -> dict:
    import ml_dtypes

    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}[element]
    m, n, k = size
    random = np.random.default_rng(1)
    a = random.standard_normal((m, k)).astype(dtype)
    b = random.standard_normal((k, n)).astype(dtype)
    path = support.compile_text(folder, gemm_text(element, 32, 8), target)
    resources = json.loads(path.with_suffix(".json").read_text())["kernels"][0]["resources"]
    time = simulator.launch(
        path.read_bytes(), grid=(-(-n // TILE_N), -(-m // TILE_M)), block=64 * WAVES,
        args=[a, b, np.zeros((m, n), np.float32), m, n, k], model_time=chip).modelled_time
    flops = 2 * m * n * k / time["seconds"]
    return {
        "chip": chip, "type": element, "m": m, "n": n, "k": k,
        "modelled_tflops": flops / 1e12, "share_of_peak": flops / peak,
        "mfma_busy": time["shares"]["MFMA"], "limit": time["limit"],
        "lds_conflict_cycles": time["lds_conflict_cycles"],
        "vgprs": resources["vgprs"], "spills": resources["vgpr_spills"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, nargs=3, default=(4864, 4096, 2048),
                        metavar=("M", "N", "K"),
                        help="the product, N and K multiples of 8 (4864 4096 2048: 1,216 "
                             "workgroups, four for each compute unit of MI300X)")
    parser.add_argument("--json", type=Path, help="write the rows as JSON")
    options = parser.parse_args()
    rows = []
    print("Modelled by the simulator; nothing here was measured on a GPU.")
    print(f"{'chip':<8}{'type':<6}{'TFLOP/s':>8}{'of peak':>9}{'MFMA busy':>11}  limit")
    with tempfile.TemporaryDirectory() as folder:
        for target, chip, peak in CHIPS:
            for element in ("f16", "bf16"):
                row = model(Path(folder), target, chip, peak, element, options.size)
                rows.append(row)
                print(f"{chip:<8}{element:<6}{row['modelled_tflops']:>8.0f}"
                      f"{row['share_of_peak']:>9.1%}{row['mfma_busy']:>11.1%}  {row['limit']}",
                      flush=True)
    if options.json:
        options.json.write_text(json.dumps({"modelled": True, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
