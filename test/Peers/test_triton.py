# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels written in Triton and compiled by it for both targets, against NumPy."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from peers_support import (
    CACHE,
    HERE,
    TARGETS,
    assert_close,
    assert_same,
    launch,
    peers_python,
    require_peer,
    run,
    simulator,
)

bfloat16 = np.dtype(ml_dtypes.bfloat16)
SOURCE = HERE / "triton_kernels.py"


def matmul_job(
    kind: str, accumulator: str, result: str, block=(64, 64, 32), precision="ieee", **options
) -> dict:
    return {
        "kernel": "matmul",
        "signature": {
            "a_ptr": f"*{kind}", "b_ptr": f"*{kind}", "c_ptr": f"*{result}",
            **dict.fromkeys(("m", "n", "k", "stride_a", "stride_b", "stride_c"), "i32"),
        },
        "constants": {
            "BLOCK_M": block[0], "BLOCK_N": block[1], "BLOCK_K": block[2], "GROUP": 2,
            "ACCUMULATOR": accumulator, "PRECISION": precision,
        },
        "options": {"num_warps": 4, **options},
    }  # fmt: skip


def attention_job(d: int, causal: bool, kind: str = "fp16", **options) -> dict:
    return {
        "kernel": "attention",
        "signature": {
            **dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), f"*{kind}"),
            "lse_ptr": "*fp32", "scale": "fp32", "queries": "i32", "keys": "i32",
        },
        "constants": {"BLOCK_M": 128, "BLOCK_N": 64, "D": d, "CAUSAL": causal},
        "options": {"num_warps": 4, "num_stages": 2, **options},
    }  # fmt: skip


def simple_job(kernel: str, signature: dict, constants: dict, **options) -> dict:
    return {"kernel": kernel, "signature": signature, "constants": constants, "options": options}


JOBS = {
    "vector_add": simple_job(
        "vector_add",
        {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32"},
        {"BLOCK": 1024},
    ),
    "softmax": simple_job(
        "softmax",
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "columns": "i32", "stride": "i32"},
        {"BLOCK": 1024},
        num_warps=8,
    ),
    "layer_norm": simple_job(
        "layer_norm",
        {
            "x_ptr": "*fp16", "weight_ptr": "*fp32", "bias_ptr": "*fp32", "out_ptr": "*fp16",
            "mean_ptr": "*fp32", "rstd_ptr": "*fp32", "columns": "i32", "epsilon": "fp32",
        },
        {"BLOCK": 256},
    ),  # fmt: skip
    "matmul_f16": matmul_job("fp16", "float32", "fp16"),
    "matmul_f16_16x16": matmul_job("fp16", "float32", "fp32", matrix_instr_nonkdim=16),
    "matmul_f16_32x32": matmul_job("fp16", "float32", "fp32", (128, 64, 64), matrix_instr_nonkdim=32),
    "matmul_f16_pipelined": matmul_job("fp16", "float32", "fp16", (64, 64, 64), num_stages=3),
    "matmul_bf16": matmul_job("bf16", "float32", "bf16"),
    "matmul_f32": matmul_job("fp32", "float32", "fp32"),
    "matmul_f32_32x32": matmul_job("fp32", "float32", "fp32", matrix_instr_nonkdim=32),
    # gfx942's reduced precision, here for f32.
    "matmul_xf32": matmul_job("fp32", "float32", "fp32", precision="tf32"),
    # The forms of 8-bit floating-point numbers that gfx942 has.
    "matmul_fp8": matmul_job("fp8e4b8", "float32", "fp32"),
    "matmul_bf8": matmul_job("fp8e5b16", "float32", "fp32"),
    "matmul_i8": matmul_job("i8", "int32", "i32"),
    "matmul_f64": matmul_job("fp64", "float64", "fp64", (32, 32, 16)),
    "attention_64": attention_job(64, False),
    "attention_64_causal": attention_job(64, True),
    "attention_128": attention_job(128, False),
    "attention_128_causal": attention_job(128, True),
    "attention_64_bf16": attention_job(64, False, "bf16"),
    # Wavefronts that hold copies of the same values.
    "attention_64_copies": attention_job(64, True, num_warps=8, matrix_instr_nonkdim=32),
    "scan": simple_job("scan", {"x_ptr": "*i32", "out_ptr": "*i32"}, {"BLOCK": 1024}),
    "sort": simple_job("sort", {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 512}),
    "histogram": simple_job(
        "histogram",
        {"x_ptr": "*i32", "counts_ptr": "*i32", "n": "i32"},
        {"BINS": 64, "BLOCK": 512},
    ),
    "random_bits": simple_job("random_bits", {"out_ptr": "*i32", "seed": "i32"}, {"BLOCK": 256}),
    "functions": simple_job("functions", {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 512}),
    "transpose": simple_job(
        "transpose",
        {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "columns": "i32"},
        {"BLOCK": 32},
    ),
    **{
        f"quantize_{kind}": simple_job(
            "quantize", {"x_ptr": "*fp32", "out_ptr": "*fp32"}, {"BLOCK": 256, "TYPE": kind}
        )
        for kind in ("float8e4b8", "float8e5b16", "float8e4nv", "float8e5")
    },
    "recurrence": simple_job(
        "recurrence", dict.fromkeys(("scale_ptr", "offset_ptr", "out_ptr"), "*fp32"), {"BLOCK": 512}
    ),
    "rearranged": simple_job(
        "rearranged",
        {"x_ptr": "*fp32", "index_ptr": "*i32", "out_ptr": "*fp32"},
        {"ROWS": 16, "COLUMNS": 64},
    ),
    "exchanges": simple_job(
        "exchanges", dict.fromkeys(("place_ptr", "x_ptr", "old_ptr"), "*i32"), {"BLOCK": 256}
    ),
}


def targets_of(name: str) -> tuple[str, ...]:
    only_gfx942 = (
        "matmul_xf32", "matmul_fp8", "matmul_bf8", "quantize_float8e4b8", "quantize_float8e5b16",
    )  # fmt: skip
    return ("gfx942",) if name in only_gfx942 else TARGETS


@functools.cache
def compile_all() -> dict[tuple[str, str], Path]:
    """Compile what the cache does not hold, in one process."""
    require_peer("triton")
    version = run([peers_python(), "-c", "import triton; print(triton.__version__)"])
    files, jobs = {}, []
    for name, job in JOBS.items():
        for target in targets_of(name):
            text = json.dumps([job, target, version, SOURCE.read_text()], sort_keys=True)
            folder = CACHE / "triton" / hashlib.sha256(text.encode()).hexdigest()[:24]
            file = folder / f"{name}.{target}.hsaco"
            files[name, target] = file
            if not file.exists():
                folder.mkdir(parents=True, exist_ok=True)
                jobs.append({**job, "target": target, "output": str(file)})
    if jobs:
        # One process a core; Triton compiles one kernel after the other.
        count = min(len(jobs), os.cpu_count() or 1)
        running = []
        for number in range(count):
            listing = CACHE / "triton" / f"jobs-{os.getpid()}-{number}.json"
            listing.write_text(json.dumps(jobs[number::count]))
            environment = {
                **os.environ,
                "TRITON_CACHE_DIR": str(CACHE / "triton" / "cache"),
                # What Triton 3.9 does by itself, with a warning.
                "TRITON_DEFAULT_FP_FUSION": "1",
            }
            running.append(
                subprocess.Popen(
                    [peers_python(), SOURCE, listing], env=environment,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                )
            )  # fmt: skip
        for process in running:
            process.communicate()
            Path(process.args[-1]).unlink()
    return files


def compiled(name: str, target: str) -> tuple[simulator.Program, dict]:
    file = compile_all()[name, target]
    if not file.exists():
        message = file.with_suffix(".err")
        text = message.read_text() if message.exists() else "no output"
        raise AssertionError(f"Triton cannot compile {name} for {target}: {text}")
    return (
        simulator.Program(file.read_bytes()),
        json.loads(file.with_suffix(".json").read_text()),
    )


def launch_triton(name: str, target: str, grid, args: list) -> dict:
    program, metadata = compiled(name, target)
    # Behind the arguments come two pointers for Triton's own use, here unused.
    return launch(
        program, metadata["name"], grid=grid, block=metadata["block"],
        args=[*args, None, None], dynamic_lds=metadata["lds"],
    )  # fmt: skip


targets = pytest.mark.parametrize("target", TARGETS)


@targets
def test_vector_add(target):
    n = 5000
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, n), np.float32)
    out = np.full(n, np.nan, np.float32)
    counters = launch_triton("vector_add", target, -(-n // 1024), [x, y, out, n])
    assert_same(out, x + y)
    assert counters["SQ_WAVES"] == 5 * 4


@targets
def test_softmax(target):
    rows, columns = 7, 781
    x = np.random.default_rng(2).standard_normal((rows, columns), np.float32) * 4
    out = np.zeros_like(x)
    launch_triton("softmax", target, rows, [x, out, columns, columns])
    shifted = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    want = shifted / shifted.sum(1, keepdims=True)
    # x - max and its product with log2(e), up to 2^5, are rounded to f32: a
    # relative error of 2^5 2^-24 in exp; sum and division add little.
    assert_close(out, want, rtol=4e-6, atol=1e-30)


@targets
def test_layer_norm(target):
    rows, columns = 5, 1000
    rng = np.random.default_rng(3)
    x = (rng.standard_normal((rows, columns)) * 2 - 1).astype(np.float16)
    weight, bias = rng.standard_normal((2, columns), np.float32)
    out = np.zeros_like(x)
    mean, rstd = np.zeros((2, rows), np.float32)
    mean, rstd = np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    launch_triton(
        "layer_norm", target, rows, [x, weight, bias, out, mean, rstd, columns, 1e-5]
    )
    exact = x.astype(np.float64)
    want_mean = exact.mean(1)
    want_rstd = 1 / np.sqrt(exact.var(1) + 1e-5)
    # Sums of 1,000 elements, in f32 trees of depth 10.
    assert_close(mean, want_mean, atol=4e-6)
    assert_close(rstd, want_rstd, rtol=4e-6)
    want = (exact - want_mean[:, None]) * want_rstd[:, None] * weight + bias
    # One rounding to f16, and f32's errors before it.
    assert_close(out, want, rtol=2.0**-11 * 1.01, atol=2e-5)


def random_matrix(rng, shape, dtype) -> np.ndarray:
    if np.dtype(dtype).kind == "i":
        return rng.integers(-128, 128, shape, dtype)
    return rng.standard_normal(shape).astype(dtype)


MATMULS = {
    # Types of the operands and the result, and the roundings besides those of the
    # sum: relative to the result, and to the sum of the products' magnitudes.
    "matmul_f16": (np.float16, np.float16, 2.0**-11, 0),
    "matmul_f16_16x16": (np.float16, np.float32, 0, 0),
    "matmul_f16_32x32": (np.float16, np.float32, 0, 0),
    "matmul_f16_pipelined": (np.float16, np.float16, 2.0**-11, 0),
    "matmul_bf16": (bfloat16, bfloat16, 2.0**-8, 0),
    "matmul_f32": (np.float32, np.float32, 0, 0),
    "matmul_f32_32x32": (np.float32, np.float32, 0, 0),
    # Ten bits of each operand are kept.
    "matmul_xf32": (np.float32, np.float32, 0, 2 * 2.0**-10),
    "matmul_fp8": (ml_dtypes.float8_e4m3fnuz, np.float32, 0, 0),
    "matmul_bf8": (ml_dtypes.float8_e5m2fnuz, np.float32, 0, 0),
    "matmul_i8": (np.int8, np.int32, 0, 0),
    "matmul_f64": (np.float64, np.float64, 0, 0),
}


@pytest.mark.parametrize(
    ("name", "target"), [(name, target) for name in MATMULS for target in targets_of(name)]
)
def test_matmul(name, target):
    dtype, result, rounding, operand_rounding = MATMULS[name]
    m, n, k = 150, 200, 136
    rng = np.random.default_rng(4)
    a, b = random_matrix(rng, (m, k), dtype), random_matrix(rng, (k, n), dtype)
    c = np.zeros((m, n), result)
    block_m = JOBS[name]["constants"]["BLOCK_M"]
    block_n = JOBS[name]["constants"]["BLOCK_N"]
    grid = -(-m // block_m) * -(-n // block_n)
    counters = launch_triton(name, target, grid, [a, b, c, m, n, k, k, n, n])
    assert counters["SQ_INSTS_MFMA"] > 0 or name == "matmul_f64"
    if np.dtype(dtype).kind == "i":
        assert_same(c, a.astype(np.int32) @ b.astype(np.int32))
        return
    a, b = a.astype(np.float64), b.astype(np.float64)
    # The bound of a dot product of k terms in any order: k u sum |a b|, u of the
    # accumulator; on top the rounding of the result.
    unit = 2.0**-53 if dtype == np.float64 else 2.0**-24
    bound = (k * unit + operand_rounding) * (np.abs(a) @ np.abs(b))
    assert_close(c, a @ b, rtol=rounding, atol=bound * (1 + rounding))


def attend_exactly(q, k, v, scale, causal):
    """Attention in f64, and the logarithm (base 2) of the sum of exponentials."""
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    score = np.einsum("hqd,hkd->hqk", q, k) * scale
    if causal:
        score = np.where(np.tri(*score.shape[1:], dtype=bool), score, -np.inf)
    largest = score.max(-1, keepdims=True)
    weight = np.exp(score - largest)
    total = weight.sum(-1, keepdims=True)
    lse = (largest + np.log(total))[..., 0] / np.log(2)
    return np.einsum("hqk,hkd->hqd", weight / total, v), lse


@targets
@pytest.mark.parametrize(
    ("name", "d", "causal", "dtype", "tolerance"),
    [
        # Triton's own test of its attention demands 1e-2 in f16, with inputs and
        # scale as these.
        ("attention_64", 64, False, np.float16, 1e-2),
        ("attention_64_causal", 64, True, np.float16, 1e-2),
        ("attention_128", 128, False, np.float16, 1e-2),
        ("attention_128_causal", 128, True, np.float16, 1e-2),
        ("attention_64_copies", 64, True, np.float16, 1e-2),
        # Eight times the unit of f16.
        ("attention_64_bf16", 64, False, bfloat16, 8e-2),
    ],
)
def test_attention(name, d, causal, dtype, tolerance, target):
    heads, length, scale = 2, 1024, 0.5
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal((3, heads, length, d)) * 0.5).astype(dtype)
    out = np.zeros_like(q)
    lse = np.zeros((heads, length), np.float32)
    counters = launch_triton(
        name, target, (length // 128, heads), [q, k, v, out, lse, scale, length, length]
    )
    assert counters["SQ_INSTS_MFMA"] > 0
    want, want_lse = attend_exactly(q, k, v, scale, causal)
    assert_close(out, want, atol=tolerance)
    # Scores up to about 30 in f32, from products that are exact.
    assert_close(lse, want_lse, atol=1e-4)


@targets
def test_scan(target):
    x = np.random.default_rng(6).integers(-100, 100, 4096, np.int32)
    out = np.zeros_like(x)
    launch_triton("scan", target, 4, [x, out])
    assert_same(out, np.cumsum(x.reshape(4, -1), 1, dtype=np.int32).reshape(-1))


@targets
def test_sort(target):
    x = np.random.default_rng(7).standard_normal(2048, np.float32)
    out = np.zeros_like(x)
    launch_triton("sort", target, 4, [x, out])
    assert_same(out, np.sort(x.reshape(4, -1), 1).reshape(-1))


@targets
def test_histogram(target):
    x = np.random.default_rng(8).integers(0, 64, 3000, np.int32)
    counts = np.zeros(64, np.int32)
    launch_triton("histogram", target, 6, [x, counts, x.size])
    assert_same(counts, np.bincount(x, minlength=64).astype(np.int32))


def philox(counters: np.ndarray, seed: int) -> np.ndarray:
    """Philox4x32-10 with counters (c, 0, 0, 0) and key (seed, 0)."""
    c = np.zeros((4, counters.size), np.uint64)
    c[0] = counters
    key = [seed & 0xFFFFFFFF, seed >> 32]
    low = np.uint64(0xFFFFFFFF)
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = np.array(
            [
                (second >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
                second & low,
                (first >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
                first & low,
            ]
        )
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c.astype(np.uint32)


@targets
def test_random_bits(target):
    out = np.zeros(4 * 1024, np.uint32)
    launch_triton("random_bits", target, 4, [out, 12345])
    assert_same(out.reshape(-1, 4), philox(np.arange(1024), 12345).T.copy())


@targets
def test_functions(target):
    n = 1024
    x = np.random.default_rng(9).uniform(0.01, 20, n).astype(np.float32)
    out = np.zeros((8, n), np.float32)
    launch_triton("functions", target, 2, [x, out])
    exact = x.astype(np.float64)
    erf = np.vectorize(__import__("math").erf)(exact)
    # Fast functions of Triton: a few units of f32; exp by exp2 has the rounding of
    # its argument (up to 29) on top; sin and cos of up to 20 are reduced in f32 by
    # ocml in several parts.
    for got, want, rtol, atol in zip(
        out,
        [np.exp(exact), np.log(exact), np.sin(exact), np.cos(exact), np.sqrt(exact), erf,
         1 / np.sqrt(exact), 1 / (1 + np.exp(-exact))],
        [4e-6, 4e-7, 4e-7, 4e-7, 4e-7, 4e-7, 4e-7, 4e-7],
        [0, 1e-7, 1e-7, 1e-7, 0, 0, 0, 0],
    ):  # fmt: skip
        assert_close(got, want, rtol=rtol, atol=atol)


@targets
def test_transpose(target):
    rows, columns = 70, 101
    x = np.random.default_rng(10).standard_normal((rows, columns), np.float32)
    out = np.zeros((columns, rows), np.float32)
    launch_triton("transpose", target, (3, 4), [x, out, rows, columns])
    assert_same(out, x.T.copy())


@pytest.mark.parametrize(
    ("kind", "dtype", "target"),
    [
        ("float8e4b8", ml_dtypes.float8_e4m3fnuz, "gfx942"),
        ("float8e5b16", ml_dtypes.float8_e5m2fnuz, "gfx942"),
        *((k, d, t) for t in TARGETS for k, d in (
            ("float8e4nv", ml_dtypes.float8_e4m3fn), ("float8e5", ml_dtypes.float8_e5m2))),
    ],
)  # fmt: skip
def test_quantize(kind, dtype, target):
    n = 1024
    largest = float(ml_dtypes.finfo(dtype).max)
    x = np.random.default_rng(11).standard_normal(n).astype(np.float32) * np.float32(largest / 4)
    x[::3] *= np.float32(2.0**-12)
    x[::7] = np.clip(x[::7], -largest, largest)
    x[:4] = [0, largest, -largest, 2.0**-9]
    if target == "gfx942" and kind in ("float8e4b8", "float8e5b16"):
        x[4:6] = [largest * 1.5, -1e30]  # what FP16_OVFL is for
    else:
        x = np.clip(x, -largest, largest)
    out = np.zeros_like(x)
    launch_triton(f"quantize_{kind}", target, n // 256, [x, out])
    assert_same(out, np.clip(x, -largest, largest).astype(dtype).astype(np.float32))


@targets
def test_recurrence(target):
    n = 512
    rng = np.random.default_rng(12)
    scale = rng.uniform(0.5, 1.0, n).astype(np.float32)
    offset = rng.uniform(0.0, 1.0, n).astype(np.float32)
    out = np.zeros_like(scale)
    launch_triton("recurrence", target, 1, [scale, offset, out])
    want, y = np.zeros(n), 0.0
    for i in range(n):
        want[i] = y = float(scale[i]) * y + float(offset[i])
    # All terms are positive: nine levels of the scan, each with a product and a sum.
    assert_close(out, want, rtol=32 * 2.0**-24)


@targets
def test_rearranged(target):
    rows, columns = 16, 64
    rng = np.random.default_rng(13)
    x = rng.standard_normal((rows, columns), np.float32)
    index = rng.integers(0, columns, (rows, columns)).astype(np.int32)
    out = np.zeros(2 * rows * columns, np.float32)
    launch_triton("rearranged", target, 1, [x, index, out])
    gathered = np.take_along_axis(x, index.astype(np.int64), 1)
    both = np.stack([gathered, gathered[:, ::-1]], 2)
    assert_same(out, both.transpose(2, 1, 0).reshape(-1).copy())


@targets
def test_exchanges(target):
    n = 512
    x = np.random.default_rng(14).integers(0, 1 << 20, n).astype(np.int32)
    place = np.zeros(n + 16, np.int32)
    place[:n:2] = 7
    before, old = place[:n].copy(), np.zeros((2, n), np.int32)
    launch_triton("exchanges", target, 2, [place, x, old])
    assert_same(old[0], before)
    assert_same(old[1], np.where(before == 7, x, before))
    assert_same(place[:n].copy(), x + 1)
    largest = np.zeros(16, np.int32)
    np.maximum.at(largest, x & 15, x)
    assert_same(place[n:].copy(), largest)
