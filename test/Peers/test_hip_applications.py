# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as applications have them (hip/applications.hip, hip/matrix.hip), against
NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from peers_support import TARGETS, assert_close, assert_same, compile_hip, launch

pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("optimization", ("-O0", "-O1", "-O3")),
]
u32 = np.uint32
EPSILON = 2.0**-53


@pytest.fixture
def program(target, optimization):
    return compile_hip("applications.hip", target, optimization)


@pytest.fixture
def matrix_program(target, optimization):
    return compile_hip("matrix.hip", target, optimization)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_reduce(program):
    value, out = rng(1).standard_normal(5000), np.zeros(3)
    launch(program, "reduce_lds", grid=3, block=256, args=[value, out, value.size])
    parts = [value[np.arange(value.size) // 256 % 3 == block] for block in range(3)]
    want = [part.sum() for part in parts]
    # Seven elements each, then a tree of eight levels.
    bound = [15 * EPSILON * np.abs(part).sum() for part in parts]
    assert_close(out, np.array(want), atol=np.array(bound))


def test_find_largest(program):
    value = rng(2).integers(-500, 500, (4, 1000)).astype(np.float32)
    out, place = np.zeros(4, np.float32), np.zeros(4, u32)
    launch(program, "find_largest", grid=4, block=256, args=[value, out, place, 1000])
    assert_same(out, value.max(1))
    # The first of equal ones: each work-item's first, and the least place among them.
    assert_same(place, value.argmax(1).astype(u32))


def test_scan(program):
    value = rng(3).integers(0, 1 << 32, (3, 512)).astype(u32)
    out = np.zeros_like(value)
    launch(program, "scan_block", grid=3, block=256, args=[value, out])
    assert_same(out, np.cumsum(value, 1, dtype=u32) - value)


def test_histogram(program):
    value = (rng(4).standard_normal(6000) * 30 + 128).astype(np.uint8)
    bins = np.zeros(256, u32)
    launch(program, "histogram", grid=4, block=256, args=[value, bins, value.size])
    assert_same(bins, np.bincount(value, minlength=256).astype(u32))


def test_sort(program):
    keys = rng(5).integers(0, 1 << 32, (2, 512)).astype(u32)
    want = np.sort(keys, 1)
    launch(program, "sort_block", grid=2, block=256, args=[keys])
    assert_same(keys, want)


def test_transpose(program):
    rows, columns = 70, 101
    value = rng(6).standard_normal((rows, columns))
    out = np.zeros((columns, rows))
    launch(
        program, "transpose", grid=(4, 3), block=(32, 8), args=[value, out, rows, columns]
    )
    assert_same(out, value.T.copy())


@pytest.mark.parametrize(("kernel", "per_row"), [("sparse_rows", 1), ("sparse_waves", 64)])
def test_sparse(program, kernel, per_row):
    rows, columns = 90, 70
    generator = rng(7)
    # Rows of very different lengths, some of them empty.
    length = np.minimum(generator.geometric(0.08, rows) - 1, columns)
    starts = np.concatenate([[0], np.cumsum(length)]).astype(u32)
    index = np.concatenate([np.sort(generator.permutation(columns)[:n]) for n in length])
    value, x = generator.standard_normal(index.size), generator.standard_normal(columns)
    dense = np.zeros((rows, columns))
    dense[np.repeat(np.arange(rows), length), index] = value
    y = np.full(rows, np.nan)
    launch(
        program, kernel, grid=-(-rows * per_row // 128), block=128,
        args=[starts, index.astype(u32), value, x, y, rows],
    )  # fmt: skip
    bound = columns * EPSILON * (np.abs(dense) @ np.abs(x))
    assert_close(y, dense @ x, atol=bound)


def test_solve(program):
    count = 150
    matrices, right = rng(8).standard_normal((count, 8, 8)), rng(9).standard_normal((count, 8))
    out = np.zeros((8, count))
    launch(
        program, "solve_small", grid=3, block=64,
        args=[np.ascontiguousarray(matrices.transpose(1, 2, 0)),
              np.ascontiguousarray(right.T), out, count],
    )  # fmt: skip
    solution = out.T
    # Elimination with pivots is stable backwards: the residual is small against |A||x|,
    # by n^2 growth at the most here.
    residual = np.einsum("sij,sj->si", matrices, solution) - right
    scale = np.einsum("sij,sj->si", np.abs(matrices), np.abs(solution)) + np.abs(right)
    assert_close(residual, np.zeros_like(residual), atol=64 * EPSILON * scale.max(1, keepdims=True))


def test_stencil(program):
    nx, ny, nz = 37, 19, 9
    value = rng(10).standard_normal((nz, ny, nx)).astype(np.float32)
    out = value.copy()
    launch(
        program, "stencil", grid=(-(-nx // 16), -(-ny // 8)), block=(16, 8),
        args=[value, out, nx, ny, nz],
    )  # fmt: skip
    exact = value.astype(np.float64)
    want = exact.copy()
    c = slice(1, -1)
    neighbours = [
        exact[c, c, :-2], exact[c, c, 2:], exact[c, :-2, c], exact[c, 2:, c],
        exact[:-2, c, c], exact[2:, c, c],
    ]  # fmt: skip
    want[c, c, c] = 0.4 * exact[c, c, c] + 0.1 * sum(neighbours)
    bound = 0.4 * np.abs(exact[c, c, c]) + 0.1 * sum(map(np.abs, neighbours))
    limit = np.zeros_like(want)
    # Constants, six sums and two products in f32.
    limit[c, c, c] = 9 * 2.0**-24 * bound
    assert_close(out, want, atol=limit)


def test_softmax(program):
    value = rng(11).standard_normal((3, 1000)).astype(np.float32) * 5
    out = np.zeros_like(value)
    launch(program, "softmax", grid=3, block=256, args=[value, out, 1000])
    weight = np.exp(value.astype(np.float64) - value.max(1, keepdims=True))
    # exp of ocml is good to 3 units, of an argument that is rounded (up to 40 2^-24).
    assert_close(out, weight / weight.sum(1, keepdims=True), rtol=6e-6)


def test_reaction_rates(program):
    species, reactions, zones, block = 12, 30, 100, 64
    generator = rng(12)
    temperature = generator.uniform(500, 3000, zones)
    y = generator.uniform(0, 1, (species, zones))
    arrhenius = np.stack(
        [np.exp(generator.uniform(-2, 5, reactions)), generator.uniform(-1, 2, reactions),
         generator.uniform(0, 9000, reactions)], 1,
    )  # fmt: skip
    reactants = generator.integers(-1, species, (reactions, 3)).astype(np.int32)
    change = np.where(
        generator.random((species, reactions)) < 0.2, generator.integers(-2, 3, (species, reactions)), 0
    ).astype(float)
    starts, terms, factors = [0], [], []
    for row in change:
        terms += np.flatnonzero(row).tolist()
        factors += row[row != 0].tolist()
        starts.append(len(terms))
    out = np.full((species, zones), np.nan)
    launch(
        program, "reaction_rates", grid=2, block=block, dynamic_lds=8 * block * reactions,
        args=[temperature, y, out, arrhenius, reactants, np.array(starts, u32),
              np.array(terms, u32), np.array(factors), species, reactions, zones],
    )  # fmt: skip
    rate = arrhenius[:, :1] * np.exp(
        arrhenius[:, 1:2] * np.log(temperature) - arrhenius[:, 2:] / temperature
    )
    for k in range(3):
        rate *= np.where(reactants[:, k : k + 1] >= 0, y[reactants[:, k]], 1)
    # The argument of exp, up to 20, carries its own error of a few units.
    assert_close(out, change @ rate, atol=100 * EPSILON * (np.abs(change) @ rate))


def test_bodies(program):
    n = 128
    positions = rng(13).standard_normal((n, 4)).astype(np.float32)
    positions[:, 3] = np.abs(positions[:, 3])
    out = np.zeros((n, 3), np.float32)
    launch(program, "bodies", grid=2, block=64, args=[positions, out, n])
    exact = positions.astype(np.float64)
    offset = exact[None, :, :3] - exact[:, None, :3]
    weight = exact[:, 3] * ((offset**2).sum(-1) + np.float32(0.01)) ** -1.5
    terms = offset * weight[..., None]
    # 128 sums of terms with some eight roundings each.
    assert_close(out, terms.sum(1), atol=140 * 2.0**-24 * np.abs(terms).sum(1))


def test_fourier(program):
    value = rng(14).standard_normal((3, 256, 2)).astype(np.float32)
    out = np.zeros_like(value)
    launch(program, "fourier", grid=3, block=128, args=[value, out])
    want = np.fft.fft(value[..., 0].astype(float) + 1j * value[..., 1])
    # The error of eight stages is about eight units of the norm.
    scale = np.linalg.norm(value)
    assert_close(out[..., 0], want.real, atol=10 * 2.0**-24 * scale)
    assert_close(out[..., 1], want.imag, atol=10 * 2.0**-24 * scale)


def test_mandelbrot(target, optimization):
    # Without contraction: the number of steps depends on each rounding.
    program = compile_hip(
        "applications.hip", target, optimization, options=("-ffp-contract=off",)
    )
    width, height, limit = 48, 32, 60
    out = np.zeros((height, width), u32)
    launch(program, "mandelbrot", grid=(3, 2), block=(16, 16), args=[out, width, height, limit])
    j, i = np.indices(out.shape).astype(float)
    cx, cy = -2.0 + 3.0 * i / width, -1.5 + 3.0 * j / height
    x, y = np.zeros_like(cx), np.zeros_like(cx)
    want = np.zeros_like(out)
    with np.errstate(all="ignore"):
        for _ in range(limit):
            inside = x * x + y * y < 4.0
            x, y = (
                np.where(inside, x * x - y * y + cx, x),
                np.where(inside, 2 * x * y + cy, y),
            )
            want += inside
    assert_same(out, want)


@pytest.mark.parametrize(
    ("kernel", "dtype", "tile", "block", "sizes"),
    [
        ("gemm_f16", np.float16, 64, 256, (128, 192, 96)),
        ("gemm_bf16", ml_dtypes.bfloat16, 16, 64, (48, 64, 80)),
        ("gemm_f32", np.float32, 32, 64, (64, 96, 50)),
        ("gemm_f64", np.float64, 16, 64, (48, 64, 52)),
        ("gemm_i8", np.int8, 16, 64, (48, 64, 96)),
    ],
)
def test_gemm(matrix_program, kernel, dtype, tile, block, sizes):
    m, n, k = sizes
    generator = rng(15)
    if np.dtype(dtype) == np.int8:
        a, b = generator.integers(-128, 128, (m, k), dtype), generator.integers(-128, 128, (k, n), dtype)
        result = np.int32
    else:
        a = generator.standard_normal((m, k)).astype(dtype)
        b = generator.standard_normal((k, n)).astype(dtype)
        result = np.float64 if dtype == np.float64 else np.float32
    c = np.zeros((m, n), result)
    counters = launch(
        matrix_program, kernel, grid=(n // tile, m // tile), block=block, args=[a, b, c, m, n, k]
    )
    assert counters["SQ_INSTS_MFMA"] > 0
    if result == np.int32:
        assert_same(c, a.astype(np.int32) @ b.astype(np.int32))
        return
    a, b = a.astype(np.float64), b.astype(np.float64)
    unit = EPSILON if result == np.float64 else 2.0**-24
    assert_close(c, a @ b, atol=k * unit * (np.abs(a) @ np.abs(b)))


def test_gemm_blocks(matrix_program):
    a, b = rng(16).standard_normal((2, 3, 16, 4, 4)).astype(np.float16)
    c = np.zeros((3, 16, 4, 4), np.float32)
    launch(matrix_program, "gemm_blocks", grid=3, block=64, args=[a, b, c])
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert_close(c, a @ b, atol=4 * 2.0**-24 * (np.abs(a) @ np.abs(b)))
