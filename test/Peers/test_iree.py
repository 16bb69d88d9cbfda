# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dispatches that IREE compiles ahead of time for both targets, against NumPy.

Each function of iree/*.mlir becomes one dispatch: a kernel whose arguments are the
function's, then its result. The workgroup's size is in the code object, the number
of workgroups in IREE's IR beside it.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest
from peers_support import (
    HERE,
    TARGETS,
    assert_close,
    assert_same,
    cached,
    launch,
    peers_python,
    require_peer,
    run,
    simulator,
)


@functools.cache
def iree_compile() -> tuple[Path, str]:
    require_peer("iree.compiler")
    tool = peers_python().parent / "iree-compile"
    return tool, run([tool, "--version"])


def compile_dispatch(source: str, target: str) -> tuple[simulator.Program, list[int]]:
    """The code object and the number of workgroups."""
    tool, version = iree_compile()
    path = HERE / "iree" / source
    options = [
        "--iree-hal-target-device=hip", f"--iree-rocm-target={target}",
        "--iree-input-demote-f64-to-f32=false",
    ]  # fmt: skip

    def make(output: Path) -> None:
        folder = output.parent / "stages"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        run(
            [tool, path, *options, f"--dump-compilation-phases-to={folder}",
             f"--iree-hal-dump-executable-binaries-to={folder}", "-o", "/dev/null"]
        )  # fmt: skip
        binaries = list(folder.glob("*.hsaco"))
        (stage,) = folder.glob("*.executable-targets.mlir")
        assert len(binaries) == 1, f"expected one dispatch, got {binaries}"
        output.with_name("grid.json").write_text(json.dumps(find_grid(stage.read_text())))
        output.write_bytes(binaries[0].read_bytes())

    key = [version, path.read_text(), *options]
    file = cached(f"{path.stem}.{target}.hsaco", key, make)
    return (
        simulator.Program(file.read_bytes()),
        json.loads(file.with_name("grid.json").read_text()),
    )


def find_grid(text: str) -> list[int]:
    """The constants that the only hal.executable.export returns."""
    body = re.search(r"hal\.executable\.export.*?hal\.return ([^:]*):", text, re.DOTALL)
    assert body, "no number of workgroups"
    constants = dict(re.findall(r"(%\w+) = arith\.constant (\d+) : index", body[0]))
    return [int(constants[name.strip()]) for name in body[1].split(",")]


def dispatch(source: str, target: str, arrays: list[np.ndarray], out: np.ndarray) -> dict:
    program, grid = compile_dispatch(source, target)
    ((name, kernel),) = program.kernels.items()
    return launch(
        program, name, grid=grid, block=kernel["required_workgroup_size"],
        args=[*arrays, out],
    )  # fmt: skip


pytestmark = pytest.mark.parametrize("target", TARGETS)


def normal(seed: int, dtype, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(
    ("source", "dtype", "m", "k", "n"),
    [
        ("matmul_f16.mlir", np.float16, 128, 256, 192),
        ("matmul_f32.mlir", np.float32, 70, 130, 90),
    ],
)
def test_matmul(target, source, dtype, m, k, n):
    a, b = normal(1, dtype, m, k), normal(2, dtype, k, n)
    c = np.zeros((m, n), np.float32)
    counters = dispatch(source, target, [a, b], c)
    if dtype == np.float16:
        assert counters["SQ_INSTS_MFMA"] > 0
    a, b = a.astype(np.float64), b.astype(np.float64)
    # A dot product of k terms in f32, in any order.
    assert_close(c, a @ b, atol=k * 2.0**-24 * (np.abs(a) @ np.abs(b)))


def test_matmul_i8(target):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-128, 128, shape, np.int8) for shape in ((64, 128), (128, 64)))
    c = np.zeros((64, 64), np.int32)
    dispatch("matmul_i8.mlir", target, [a, b], c)
    assert_same(c, a.astype(np.int32) @ b.astype(np.int32))


def test_softmax(target):
    x = normal(4, np.float32, 12, 1000) * np.float32(4)
    out = np.zeros_like(x)
    dispatch("softmax.mlir", target, [x], out)
    weight = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    # x - max and its product with log2(e), up to 2^5, are rounded to f32: a
    # relative error of 2^5 2^-24 in exp; sum and division add little.
    assert_close(out, weight / weight.sum(1, keepdims=True), rtol=4e-6, atol=1e-30)


def test_pointwise_f64(target):
    x, scale = normal(5, np.float64, 40, 60), normal(6, np.float64, 40)
    out = np.zeros_like(x)
    dispatch("pointwise_f64.mlir", target, [x, scale], out)
    # ocml's exp is good to one unit, tanh to two; a product.
    assert_close(out, np.exp(x) * np.tanh(scale)[:, None], rtol=4 * 2.0**-52)


def test_reduction(target):
    x = normal(7, np.float32, 20, 3000)
    out = np.zeros(20, np.float32)
    dispatch("reduction.mlir", target, [x], out)
    # Sums in parts of at most 3,000 / 64 elements, then in trees.
    assert_close(out, (x.astype(np.float64) ** 2).sum(1), rtol=60 * 2.0**-24)


def test_convolution(target):
    x, w = normal(8, np.float16, 1, 18, 34, 16), normal(9, np.float16, 3, 3, 16, 32)
    out = np.zeros((1, 16, 32, 32), np.float32)
    dispatch("convolution.mlir", target, [x, w], out)
    x, w = x.astype(np.float64), w.astype(np.float64)
    want, bound = np.zeros(out.shape), np.zeros(out.shape)
    for i in range(3):
        for j in range(3):
            window = x[:, i : i + 16, j : j + 32]
            want += window @ w[i, j]
            bound += np.abs(window) @ np.abs(w[i, j])
    assert_close(out, want, atol=3 * 3 * 16 * 2.0**-24 * bound)


def test_attention(target):
    q, k, v = (normal(10 + i, np.float16, 2, 256, 64) * np.float16(0.5) for i in range(3))
    out = np.zeros_like(q)
    counters = dispatch("attention.mlir", target, [q, k, v], out)
    assert counters["SQ_INSTS_MFMA"] > 0
    q, k, v = (array.astype(np.float64) for array in (q, k, v))
    score = 0.5 * np.einsum("hmk,hnk->hmn", q, k)
    weight = np.exp(score - score.max(-1, keepdims=True))
    # As Triton's own test of its attention in f16.
    assert_close(out, weight / weight.sum(-1, keepdims=True) @ v, atol=1e-2)
