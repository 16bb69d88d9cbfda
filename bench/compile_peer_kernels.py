# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of other compilers, for the second group of bench-fidelity.

    build/venv-peers/bin/python bench/compile_peer_kernels.py FOLDER

Compiles Triton's causal attention of test/Peers/triton_kernels.py for gfx942, in the
configurations that are usually tried on AMD's GPUs, without a GPU. Each code object
NAME.hsaco has a NAME.json beside it that tells how it is launched; code objects that
are equal to an earlier one are left out. The packages are those of
test/Peers/requirements.txt. Files that are there are not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import multiprocessing
import os
import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "test" / "Peers"
HEAD_SIZES = (128, 64)
BLOCK_M = 128
BLOCKS_N = (32, 64, 128)
WARPS = (4, 8)
WAVES_PER_EU = (1, 2, 3)
STAGES = (1, 2)


def attention_jobs(folder: Path) -> list[dict]:
    jobs = []
    for d, block_n, warps, stages, waves in itertools.product(
        HEAD_SIZES, BLOCKS_N, WARPS, STAGES, WAVES_PER_EU
    ):
        name = f"triton_attention_d{d}_n{block_n}_warps{warps}_stages{stages}_waves{waves}"
        jobs.append(
            {
                "kernel": "attention",
                "target": "gfx942",
                "signature": {
                    **dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), "*bf16"),
                    "lse_ptr": "*fp32", "scale": "fp32", "queries": "i32", "keys": "i32",
                },
                "divisible": ["q_ptr", "k_ptr", "v_ptr", "out_ptr", "lse_ptr", "queries", "keys"],
                "constants": {"BLOCK_M": BLOCK_M, "BLOCK_N": block_n, "D": d, "CAUSAL": True},
                "options": {"num_warps": warps, "num_stages": stages, "waves_per_eu": waves},
                "output": str(folder / f"{name}.hsaco"),
            }  # fmt: skip
        )
    return jobs


def compile_one(job: dict) -> str | None:
    """Compile a job where it was not compiled yet; the reason where that fails."""
    # What Triton 3.9 does by itself, with a warning.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    output = Path(job["output"])
    if output.exists():
        return None
    sys.path.insert(0, str(PEERS))
    import triton_kernels

    try:
        triton_kernels.compile_job(job)
    except Exception as error:  # noqa: BLE001, one configuration that does not work is no reason to stop
        return f"{output.stem}: {type(error).__name__}: {str(error).splitlines()[0]}"
    return None


def describe(job: dict) -> None:
    """Add to the file beside a code object what bench-fidelity has to know."""
    path = Path(job["output"]).with_suffix(".json")
    launch = json.loads(path.read_text())
    launch |= {
        "kernel": launch["name"],
        "threads": launch["block"],
        "shared_memory": launch["lds"],
        "target": job["target"],
        "compiler": f"triton {launch['version']}",
        # In the order of the kernel's own; "pointer", "f32" or "i32".
        "arguments": [
            {
                "name": name,
                "kind": "pointer" if kind.startswith("*") else {"fp32": "f32"}.get(kind, kind),
            }
            for name, kind in job["signature"].items()
        ]
        # Triton's own two: scratch of the launch and of the profiler, of no bytes.
        + [{"name": name, "kind": "pointer"} for name in ("scratch", "profile_scratch")],
        # Rows of queries that a workgroup has in x; heads of all batches in y.
        "grid": ["queries / block_m", "heads"],
        "block_m": job["constants"]["BLOCK_M"],
        "block_n": job["constants"]["BLOCK_N"],
        "head_size": job["constants"]["D"],
        "options": job["options"],
    }
    path.write_text(json.dumps(launch, indent=1, sort_keys=True) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="configurations whose name contains this")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    jobs = [job for job in attention_jobs(arguments.folder) if arguments.only in job["output"]]
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        failures = [failure for failure in pool.map(compile_one, jobs, chunksize=1) if failure]
    seen: dict[str, str] = {}
    for job in jobs:
        code = Path(job["output"])
        if not code.exists():
            continue
        describe(job)
        # The name of a kernel's file is not in its code.
        key = hashlib.sha256(code.read_bytes()).hexdigest()
        if key in seen:
            print(f"{code.stem} is the same code as {seen[key]}")
            code.unlink()
            code.with_suffix(".json").unlink()
        else:
            seen[key] = code.stem
    for failure in failures:
        print(f"not compiled: {failure}", file=sys.stderr)
    print(f"{len(seen)} code objects in {arguments.folder}")
    return 0 if seen else 1


if __name__ == "__main__":
    sys.exit(main())
