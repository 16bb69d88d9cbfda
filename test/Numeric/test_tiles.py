# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles of a workgroup on the simulated device: matrix products of any size against
f64, the checker along."""

from __future__ import annotations

import json

import numpy as np
import pytest

import numeric_support as support
from tile_gemm import TILE_M, TILE_N, WAVES, gemm_text

ml_dtypes = pytest.importorskip("ml_dtypes")
from wavesmith import simulator  # noqa: E402  (numeric_support sets the path)

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
#: (m, n, k, vector): whole tiles; tiles that stick out; single rows; nothing to sum.
SIZES = [(128, 128, 64, 4), (136, 264, 72, 4), (129, 3, 7, 1), (1, 1, 1, 1), (3, 130, 65, 1),
         (5, 4, 0, 1)]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Code objects by element, instruction, vector and target, made once."""
    cache = {}

    def get(element, instruction, vector, target):
        key = (element, instruction, vector, target)
        if key not in cache:
            folder = tmp_path_factory.mktemp("gemm")
            path = support.compile_text(folder, gemm_text(element, instruction, vector), target)
            cache[key] = path
        return cache[key]

    return get


@pytest.mark.parametrize("target", support.TARGETS)
@pytest.mark.parametrize("instruction", [32, 16])
@pytest.mark.parametrize("element", DTYPES)
def test_gemm(compiled, element, instruction, target):
    random = np.random.default_rng(7)
    dtype = DTYPES[element]
    for m, n, k, vector in SIZES:
        path = compiled(element, instruction, vector, target)
        kernel = json.loads(path.with_suffix(".json").read_text())["kernels"][0]
        assert kernel["grid"] == ["n ceildiv 128", "m ceildiv 128"]
        if instruction == 32:  # The other one has more operands than registers.
            assert kernel["resources"]["scratch_bytes"] == kernel["resources"]["vgpr_spills"] == 0
        a = random.uniform(-1, 1, (m, k)).astype(dtype)
        b = random.uniform(-1, 1, (k, n)).astype(dtype)
        c = np.full((m, n), np.nan, np.float32)
        report = simulator.launch(
            path.read_bytes(), grid=(-(-n // TILE_N), -(-m // TILE_M)), block=64 * WAVES,
            args=[a if k else None, b if k else None, c, m, n, k], check=True)
        assert report.findings == []
        exact_a, exact_b = a.astype(np.float64), b.astype(np.float64)
        # Products are exact or rounded once; every addition of f32 may lose as much
        # as half a unit in the last place of the sum of magnitudes, rounding down
        # twice that.
        bound = (k + 2) * 2.0**-23 * (np.abs(exact_a) @ np.abs(exact_b)) + 1e-37
        assert np.all(np.abs(c - exact_a @ exact_b) <= bound)


def test_outside_is_zero(compiled):
    """What lies behind a row or the last row does not get in, were it NaN."""
    m, n, k = 5, 6, 7
    path = compiled("f16", 32, 1, "gfx942")
    random = np.random.default_rng(8)
    a = random.uniform(-1, 1, (m, k)).astype(np.float16)
    b = random.uniform(-1, 1, (k, n)).astype(np.float16)
    a_long = np.concatenate([a.ravel(), np.full(300, np.nan, np.float16)])
    b_long = np.concatenate([b.ravel(), np.full(300, np.nan, np.float16)])
    c_long = np.full(m * n + 300, 3.0, np.float32)
    simulator.launch(path.read_bytes(), grid=(1, 1), block=64 * WAVES,
                     args=[a_long, b_long, c_long, m, n, k], check=True)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c_long[: m * n].reshape(m, n), exact, atol=1e-5)
    assert np.all(c_long[m * n :] == 3.0)


@pytest.mark.parametrize("target,chip,least", [("gfx942", "mi300x", 0.45), ("gfx90a", "mi210", 0.7)])
def test_share_of_peak(compiled, target, chip, least):
    """A plain product by hand keeps the matrix units busy, by the simulator's model, with
    no bank conflict: 608 workgroups, two for each compute unit of MI300X."""
    m, n, k = 128 * 19, 128 * 32, 1024
    random = np.random.default_rng(9)
    a = random.standard_normal((m, k)).astype(np.float16)
    b = random.standard_normal((k, n)).astype(np.float16)
    report = simulator.launch(
        compiled("f16", 32, 8, target).read_bytes(), grid=(n // TILE_N, m // TILE_M),
        block=64 * WAVES, args=[a, b, np.zeros((m, n), np.float32), m, n, k], model_time=chip)
    assert report.modelled_time["lds_conflict_cycles"] == 0
    assert report.modelled_time["shares"]["MFMA"] >= least
