# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lanes that read each other (hip/crosslane.hip), against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from peers_support import TARGETS, assert_close, assert_same, compile_hip, launch

pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("optimization", ("-O0", "-O3")),
]
u32 = np.uint32
WAVES = 3
LANE = np.arange(64)


def run(target: str, optimization: str, kernel: str, value: np.ndarray) -> np.ndarray:
    out = np.zeros_like(value)
    launch(
        compile_hip("crosslane.hip", target, optimization), kernel,
        grid=WAVES, block=64, args=[value, out],
    )  # fmt: skip
    return out


def values(seed: int, dtype=u32) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal((WAVES, 64)).astype(dtype)
    return rng.integers(0, 1 << 32, (WAVES, 64)).astype(dtype)


def flag(value: np.ndarray, bit: int) -> np.ndarray:
    return (value >> u32(bit)) & u32(1)


def ballot(flags: np.ndarray) -> np.ndarray:
    return np.sum(flags.astype(np.uint64) << LANE.astype(np.uint64), -1, keepdims=True)


def permuted(value: np.ndarray) -> np.ndarray:
    out = np.zeros_like(value)
    out[:, (LANE * 5 + 3) % 64] = value
    return out


@pytest.mark.parametrize(
    ("kernel", "want"),
    [
        ("bpermute", lambda v: v[:, (LANE * 5 + 3) % 64]),
        ("bpermute_far", lambda v: v[:, (LANE + 100) % 64]),
        ("permute", permuted),
        ("swizzle_xor", lambda v: v[:, LANE ^ 31]),
        ("swizzle_broadcast", lambda v: v[:, (LANE & 32) + 3]),
        ("swizzle_quad", lambda v: v[:, LANE ^ 3]),
        ("readlane", lambda v: (v[:, [17]] + v[range(WAVES), v[0, :WAVES] & 63][:, None])
         .repeat(64, 1)),
        ("readfirstlane", lambda v: v[:, :1] + LANE.astype(u32)),
        ("ballot_count", lambda v: (flag(v, 0).sum(1, keepdims=True).astype(u32)
         + (ballot(flag(v, 1)) >> np.uint64(32)).astype(u32)).repeat(64, 1)),
        ("prefix_count", lambda v: (np.cumsum(flag(v, 2), 1) - flag(v, 2) + LANE).astype(u32)),
    ],
)  # fmt: skip
def test_lanes(target, optimization, kernel, want):
    value = values(1)
    assert_same(run(target, optimization, kernel, value), want(value))


NONE = -1


def within_row(lane: int, to: int) -> int:
    return (lane & ~15) + to if 0 <= to < 16 else NONE


@pytest.mark.parametrize(
    ("kernel", "source", "rows", "banks", "zero"),
    [
        ("dpp_quad", lambda i: i ^ 3, 15, 15, False),
        ("dpp_row_shl_1", lambda i: within_row(i, (i & 15) + 1), 15, 15, False),
        ("dpp_row_shl_3_zero", lambda i: within_row(i, (i & 15) + 3), 15, 15, True),
        ("dpp_row_shr_2", lambda i: within_row(i, (i & 15) - 2), 15, 15, False),
        ("dpp_row_ror_5", lambda i: within_row(i, (i - 5) & 15), 15, 15, False),
        ("dpp_wave_shl", lambda i: i + 1 if i < 63 else NONE, 15, 15, False),
        ("dpp_wave_rol", lambda i: (i + 1) % 64, 15, 15, False),
        ("dpp_wave_shr", lambda i: i - 1, 15, 15, False),
        ("dpp_wave_ror", lambda i: (i - 1) % 64, 15, 15, False),
        ("dpp_mirror", lambda i: i ^ 15, 15, 15, False),
        ("dpp_half_mirror", lambda i: i ^ 7, 15, 15, False),
        ("dpp_bcast_15", lambda i: (i & ~15) - 1, 0xA, 15, False),
        ("dpp_bcast_31", lambda i: 31 if i >= 32 else NONE, 0xC, 15, False),
        ("dpp_newbcast_5", lambda i: (i & ~15) + 5, 15, 15, False),
        ("dpp_masks", lambda i: within_row(i, (i & 15) - 1), 0x5, 0x6, True),
    ],
)
def test_dpp(target, optimization, kernel, source, rows, banks, zero):
    value = values(2)
    want = np.zeros_like(value)
    for lane in range(64):
        enabled = rows >> (lane // 16) & 1 and banks >> (lane % 16 // 4) & 1
        at = source(lane)
        if enabled and at != NONE:
            want[:, lane] = value[:, at]
        elif enabled and zero:
            want[:, lane] = 0
        else:
            want[:, lane] = 7000 + lane
    assert_same(run(target, optimization, kernel, value), want)


def test_divergent(target, optimization):
    value = values(3)
    got = run(target, optimization, "divergent", value)
    want = np.ones_like(value)
    for wave in range(WAVES):
        active = value[wave] % 3 != 0
        first = value[wave][active][0]
        mask = int(np.sum((1 << LANE.astype(object))[active & (value[wave] % 2 == 1)]))
        for lane in np.flatnonzero(active):
            following = (lane + 1) % 64
            total = int(first) ^ (mask & 0xFFFFFFFF)
            # Lanes that are out give 0 by the permutation, and leave the old value
            # by DPP.
            total += int(value[wave, following]) if active[following] else 0
            before = lane - 1
            total += int(value[wave, before]) if lane % 16 and active[before] else 11
            want[wave, lane] = total & 0xFFFFFFFF
    assert_same(got, want)


@pytest.mark.parametrize(
    ("kernel", "dtype", "unit"),
    [
        ("scan_u32", np.uint32, 0),
        ("scan_u64", np.uint64, 0),
        ("scan_f32", np.float32, 2.0**-24),
        ("scan_f64", np.float64, 2.0**-53),
    ],
)
def test_scan(target, optimization, kernel, dtype, unit):
    value = values(4, dtype)
    got = run(target, optimization, kernel, value)
    if not unit:
        assert_same(got, np.cumsum(value, 1, dtype=dtype))
        return
    exact = np.cumsum(value.astype(np.longdouble), 1)
    # Six levels of sums.
    bound = 6 * unit * np.cumsum(np.abs(value.astype(np.float64)), 1) * (1 + 1e-6)
    assert_close(got, exact, atol=bound)


def test_butterfly(target, optimization):
    value = values(5, np.float64)
    got = run(target, optimization, "butterfly_f64", value)
    want = value.copy()
    for mask in (32, 16, 8, 4, 2, 1):
        want = want + want[:, LANE ^ mask]
    assert_same(got, want)
