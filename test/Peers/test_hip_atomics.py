# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomics (hip/atomics.hip): what they leave, and what they return in some order."""

from __future__ import annotations

import numpy as np
import pytest
from peers_support import TARGETS, assert_same, compile_hip, launch

pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize(
        ("optimization", "options"),
        [("-O0", ()), ("-O3", ()), ("-O3", ("-munsafe-fp-atomics",))],
        ids=["O0", "O3", "O3_unsafe"],
    ),
]
u32 = np.uint32
GRID, BLOCK = 2, 128
N = GRID * BLOCK


@pytest.fixture
def program(target, optimization, options):
    return compile_hip("atomics.hip", target, optimization, options=options)


def check_chain(start, steps, old, final) -> None:
    """Each returned value is one that a step of another had left: with the start,
    the results of all steps are the returned values with the end."""
    left = sorted([int(start), *(int(v) for v in steps)])
    assert left == sorted([int(final), *(int(v) for v in old)])


def check_integers(before: np.ndarray, after: np.ndarray, value: np.ndarray, old: np.ndarray):
    """`old` has a row for each of the first nine operations."""
    dtype = value.dtype.type
    with np.errstate(over="ignore"):
        want = [
            before[0] + value.sum(dtype=value.dtype),
            before[1] - value.sum(dtype=value.dtype),
            before[2] & np.bitwise_and.reduce(value | dtype(0xFF00)),
            before[3] | np.bitwise_or.reduce(value & dtype(0x7777)),
            before[4] ^ np.bitwise_xor.reduce(value),
            min(before[5], value.min()),
            max(before[6], value.max()),
        ]
        assert_same(after[:7], np.array(want, value.dtype), "what atomics leave")
        steps = [
            old[0] + value,
            old[1] - value,
            old[2] & (value | dtype(0xFF00)),
            old[3] | (value & dtype(0x7777)),
            old[4] ^ value,
            np.minimum(old[5], value),
            np.maximum(old[6], value),
            value,
            old[8] * dtype(3) + dtype(1),
        ]
        for number, step in enumerate(steps):
            check_chain(before[number], step, old[number], after[number])
        assert after[9] == before[9] + value.sum(dtype=value.dtype)


@pytest.mark.parametrize("name", ("u32", "i32", "u64", "i64"))
def test_integers(program, name):
    dtype = np.dtype({"u": "uint", "i": "int"}[name[0]] + name[1:])
    info = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    value = rng.integers(info.min, info.max, N, dtype, endpoint=True)
    before = rng.integers(info.min, info.max, 10, dtype, endpoint=True)
    after, old = before.copy(), np.zeros((9, N), dtype)
    launch(program, f"global_{name}", grid=GRID, block=BLOCK, args=[after, value, old])
    check_integers(before, after, value, old)

    before = rng.integers(info.min, info.max, (GRID, 10), dtype, endpoint=True)
    after, old = before.copy(), np.zeros((9, N), dtype)
    launch(program, f"lds_{name}", grid=GRID, block=BLOCK, args=[after, value, old])
    for block in range(GRID):
        part = slice(block * BLOCK, (block + 1) * BLOCK)
        check_integers(before[block], after[block], value[part], old[:, part])


def test_wrapping(program):
    bound = 99
    start = np.array([5, 7, 250, 60], u32)
    at, old = np.concatenate([start, np.zeros(2 * GRID, u32)]), np.zeros((4, N), u32)
    launch(program, "wrapping", grid=GRID, block=BLOCK, args=[at, old, bound])

    def run(value: int, count: int, up: bool) -> tuple[list[int], int]:
        seen = []
        for _ in range(count):
            seen.append(value)
            if up:
                value = 0 if value >= bound else value + 1
            else:
                value = bound if value == 0 or value > bound else value - 1
        return sorted(seen), value

    for row, up, first in ((0, True, 5), (1, False, 7)):
        seen, final = run(first, N, up)
        assert sorted(old[row].tolist()) == seen and at[row] == final
    for row, up, first in ((2, True, 250), (3, False, 60)):
        for block in range(GRID):
            part = old[row, block * BLOCK : (block + 1) * BLOCK]
            seen, final = run(first, BLOCK, up)
            assert sorted(part.tolist()) == seen
            assert at[4 + 2 * block + row - 2] == final


@pytest.mark.parametrize("name", ("f32", "f64"))
def test_floats(program, name):
    dtype = np.dtype(name.replace("f", "float"))
    # Integers: their sum is exact in any order.
    value = np.random.default_rng(2).integers(-1000, 1000, N).astype(dtype)
    at = np.zeros(3 + 3 * GRID, dtype)
    at[:3] = 0.5
    launch(program, f"float_{name}", grid=GRID, block=BLOCK, args=[at, value])
    parts = value.reshape(GRID, BLOCK)
    zero = np.zeros(GRID, dtype)
    want = [[value.sum() + 0.5, min(value.min(), 0.5), max(value.max(), 0.5)]]
    want += np.stack(
        [parts.sum(1), np.minimum(parts.min(1), zero), np.maximum(parts.max(1), zero)], 1
    ).tolist()
    assert_same(at, np.array(want, dtype).reshape(-1))


def test_packed_halves(program):
    value = np.random.default_rng(3).integers(-20, 20, (N, 2)).astype(np.float16)
    at = np.zeros((7, 2), np.float16)
    launch(program, "packed_halves", grid=GRID, block=BLOCK, args=[at, value])
    assert_same(at, np.stack([value[k::7].sum(0) for k in range(7)]))


def test_flat(program):
    value = np.random.default_rng(4).integers(0, 1 << 32, N).astype(u32)
    at, out = np.zeros(16, u32), np.zeros((GRID, 16), u32)
    launch(program, "flat_atomics", grid=GRID, block=BLOCK, args=[at, value, out])
    want_at, want_out = np.zeros_like(at), np.zeros_like(out)
    for i, v in enumerate(value):
        if v & 1:
            np.add.at(want_out, (i // BLOCK, v // 2 % 16), v)
        else:
            np.add.at(want_at, v // 2 % 16, v)
    assert_same(at, want_at)
    assert_same(out, want_out)


def test_last_block(program):
    blocks = 7
    value = np.random.default_rng(5).integers(0, 1 << 32, blocks * BLOCK).astype(u32)
    counter, partial, out = np.zeros(1, u32), np.zeros(blocks, u32), np.zeros(1, u32)
    launch(
        program, "last_block", grid=blocks, block=BLOCK,
        args=[counter, partial, value, out, blocks],
    )  # fmt: skip
    assert counter[0] == blocks
    assert_same(out, value.sum(dtype=u32, keepdims=True))


def test_spin_lock(program):
    lock, count = np.zeros(1, u32), np.zeros(1, u32)
    launch(program, "spin_lock", grid=3, block=256, args=[lock, count])
    assert lock[0] == 0 and count[0] == 3 * 256 // 64


def test_flags(program):
    waves = GRID * BLOCK // 64
    data, flag, out = np.zeros(N, u32), np.zeros(waves, u32), np.zeros(N, u32)
    launch(program, "flags", grid=GRID, block=BLOCK, args=[data, flag, out])
    want = (3 * np.arange(waves)[:, None] + np.arange(64)).astype(u32)
    assert_same(data, want.reshape(-1))
    assert_same(out[64:].copy(), want[:-1].reshape(-1))
    assert flag.all()


def test_look_back(program):
    blocks = 8
    value = np.random.default_rng(6).integers(0, 1000, 64 * blocks).astype(u32)
    out, state = np.zeros_like(value), np.zeros(blocks + 1, u32)
    launch(program, "look_back", grid=blocks, block=64, args=[value, out, state])
    assert_same(out, (np.cumsum(value) - value).astype(u32))
