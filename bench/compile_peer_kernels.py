# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of other compilers, for the second group of bench-fidelity.

    build/venv-peers/bin/python bench/compile_peer_kernels.py FOLDER
    build/venv-peers/bin/python bench/compile_peer_kernels.py FOLDER \\
        --target=gfx90a --type=f16 --head-dim=64 --not-causal

Compiles Triton's causal attention of test/Peers/triton_kernels.py for gfx942 without a
GPU, in the configurations that the autotuner of the published comparison chooses from
(HipKittens, triton_baseline_v02.py), or with --all in all that are usually tried on AMD's
GPUs. The second form, which bench-attention uses, compiles it for a target, type, head
dim and mask of choice. Each code object NAME.hsaco has a NAME.json beside it that tells how it is
launched. The packages are those of test/Peers/requirements.txt. Files that are there are
not made again. bench-fidelity calls this where it has no kernels.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

PEERS = Path(__file__).resolve().parents[1] / "test" / "Peers"
HEAD_SIZES = (128, 64)
BLOCK_M = 128
# (keys of a block, warps, stages, wavefronts a SIMD at least)
PUBLISHED = ((128, 4, 1, 2), (64, 4, 1, 2), (64, 4, 1, 3), (64, 4, 1, 1), (32, 4, 1, 2))
ALL = tuple(itertools.product((32, 64, 128), (4, 8), (1, 2), (1, 2, 3)))


def attention_jobs(
    folder: Path, configurations: tuple, head_sizes=HEAD_SIZES, target="gfx942",
    element="bf16", causal=True,
) -> list[dict]:  # fmt: skip
    jobs = []
    # Those of bench-fidelity have the short names.
    kind = "" if (target, element, causal) == ("gfx942", "bf16", True) else (
        f"{target}_{element}_{'causal' if causal else 'full'}_")
    for d, (block_n, warps, stages, waves) in itertools.product(head_sizes, configurations):
        name = f"triton_attention_{kind}d{d}_n{block_n}_warps{warps}_stages{stages}_waves{waves}"
        jobs.append(
            {
                "kernel": "attention",
                "target": target,
                "signature": {
                    **dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"),
                                    "*fp16" if element == "f16" else "*bf16"),
                    "lse_ptr": "*fp32", "scale": "fp32", "queries": "i32", "keys": "i32",
                },
                "divisible": ["q_ptr", "k_ptr", "v_ptr", "out_ptr", "lse_ptr", "queries", "keys"],
                "constants": {"BLOCK_M": BLOCK_M, "BLOCK_N": block_n, "D": d, "CAUSAL": causal},
                "options": {"num_warps": warps, "num_stages": stages, "waves_per_eu": waves},
                "output": str(folder / f"{name}.hsaco"),
            }  # fmt: skip
        )
    return jobs


def compile_one(job: dict) -> str | None:
    """Compile a job where it was not compiled yet; the reason where that fails."""
    # What Triton 3.9 does by itself, with a warning.
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    # The time of a compilation, not of a look into the cache.
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    output = Path(job["output"])
    if output.exists():
        return None
    sys.path.insert(0, str(PEERS))
    import triton_kernels

    start = time.perf_counter()
    try:
        triton_kernels.compile_job(job)
        seconds = time.perf_counter() - start
        path = output.with_suffix(".json")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"compile_seconds": seconds}))
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
    parser.add_argument("--target", default="gfx942", choices=("gfx90a", "gfx942"))
    parser.add_argument("--type", default="bf16", choices=("f16", "bf16"))
    parser.add_argument("--head-dim", type=int, choices=HEAD_SIZES, action="append")
    parser.add_argument("--not-causal", action="store_true")
    parser.add_argument("--all", action="store_true", help="36 configurations a head size")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    configurations = ALL if arguments.all else PUBLISHED
    jobs = [
        job
        for job in attention_jobs(
            arguments.folder, configurations, arguments.head_dim or HEAD_SIZES,
            arguments.target, arguments.type, not arguments.not_causal)
        if arguments.only in job["output"]
    ]
    with multiprocessing.get_context("spawn").Pool(arguments.jobs) as pool:
        failures = [failure for failure in pool.map(compile_one, jobs, chunksize=1) if failure]
    made = [job for job in jobs if Path(job["output"]).exists()]
    for job in made:
        describe(job)
    for failure in failures:
        print(f"not compiled: {failure}", file=sys.stderr)
    print(f"{len(made)} code objects in {arguments.folder}")
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
