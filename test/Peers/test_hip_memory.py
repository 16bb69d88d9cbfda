# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways to memory (hip/memory.hip), against NumPy."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from peers_support import TARGETS, assert_close, assert_same, compile_hip, launch, simulator

pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("optimization", ("-O0", "-O1", "-O3")),
]
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64


@pytest.fixture
def program(target, optimization) -> simulator.Program:
    return compile_hip("memory.hip", target, optimization)


def words(seed: int, *shape: int, dtype=u32) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(info.min, info.max, shape, dtype, endpoint=True)


def test_narrow_loads(program):
    n = 192
    a, b, c, d = (words(i, n, dtype=t) for i, t in enumerate((u8, np.int8, u16, np.int16)))
    total, out8, out16 = np.zeros(n, np.int64), np.zeros(n, u8), np.zeros(n, u16)
    launch(program, "narrow_loads", grid=3, block=64, args=[a, b, c, d, total, out8, out16])
    wide = [array.astype(np.int64) for array in (a, b, c, d)]
    assert_same(total, wide[0] + 1000 * wide[1] + 1000000 * wide[2] - 1000000000 * wide[3])
    assert_same(out8, a + b.view(u8))
    assert_same(out16, c ^ d.view(u16))


def test_half_registers(program):
    n = 128
    a, b = words(1, 2 * n, dtype=u8), words(2, 2 * n, dtype=u16)
    out, high = np.zeros(n, u32), np.zeros(n, u16)
    launch(program, "half_registers", grid=2, block=64, args=[a, b, out, high])
    pairs = a.astype(u16).reshape(n, 2) * b.reshape(n, 2) + np.array([3, 5], u16)
    assert_same(out, pairs.view(u32).reshape(n))
    assert_same(high, pairs[:, 1].copy())


def test_wide_accesses(program):
    n = 128
    data = words(3, 3 * n, 4)
    out16, out12, out8 = np.zeros((n, 4), u32), np.zeros((n, 4), u32), np.zeros((n, 2), u32)
    launch(program, "wide_accesses", grid=2, block=64, args=[data, out16, out12, out8])
    at = n + np.arange(n)
    a, b, c = data[at - 16], data[at + 16], data[at]
    assert_same(out16, a + b[:, ::-1])
    # A vector of three takes the room of four.
    assert_same(out12[:, :3].copy(), (c + a)[:, :3].copy())
    assert_same(out8, (c ^ b)[:, [1, 3]])


def test_flat_pointers(program):
    n = 256
    data = words(4, n)
    out = np.zeros(2 * n, u32)
    launch(program, "flat_pointers", grid=4, block=64, args=[data, out])
    neighbour = (3 * np.roll(data.reshape(4, 64), -1, axis=1)).reshape(n)
    written = data % u32(4) + u32(7)
    kind = data % u32(3)
    assert_same(out[:n], np.where(kind == 2, written, u32(0)))
    assert_same(out[n:], np.where(kind == 0, neighbour, written))


def test_private_array(program):
    n = 128
    data = words(5, n, 24)
    out = np.zeros((n, 16), u32)
    launch(program, "private_array", grid=2, block=64, args=[data, out])
    want = np.zeros_like(out)
    for k in range(24):
        want[np.arange(n), data[:, k] & 15] += u32(k + 1)
    assert_same(out, want)


def test_private_large(program):
    n = 128
    data = words(6, n, 32)
    out, tags = np.zeros(n), np.zeros(n, u8)
    launch(program, "private_large", grid=2, block=64, args=[data, out, tags])
    values = np.tile(0.25 * np.arange(100), (n, 1))
    seen = np.tile(np.arange(200, dtype=u32), (n, 1))
    for k in range(32):
        values[np.arange(n), data[:, k] % 100] += data[:, k]
        seen[np.arange(n), data[:, k] % 200] ^= 0x55
    tag = np.zeros(n, u32)
    for k in range(200):
        tag = tag * u32(31) + seen[:, k]
    # Sums of quarters below 2^53: exact in any order.
    assert_same(out, values @ np.arange(1.0, 101.0))
    assert_same(tags, (tag ^ tag >> u32(8)).astype(u8))


def test_register_index(program):
    n = 128
    rng = np.random.default_rng(7)
    data, which = rng.standard_normal((16, n)), words(8, 9)
    out = np.zeros(n)
    launch(program, "register_index", grid=2, block=64, args=[data, which, out])
    values, total = data.copy(), np.zeros(n)
    for k in range(8):
        at = which[k] & 15
        total = total + values[at]
        values[(at + 3) & 15] = total
    assert_same(out, total + values[which[8] & 15])


def test_lds_widths(program):
    blocks, n = 2, 256
    data = words(9, blocks, n)
    out = np.zeros((blocks, n), u64)
    launch(program, "lds_widths", grid=blocks, block=n, args=[data, out])
    t = np.arange(n, dtype=u32)
    a, b = (t + 1) % n, (t * 5 + 2) % n
    long = data.astype(u64)
    square = long * long
    quads = np.stack([data, np.broadcast_to(t, data.shape), data ^ t, data + t], -1)
    total = data.astype(np.int8)[:, a].astype(u64) + data.astype(u8)[:, b]
    shorts = (data >> u32(3)).astype(u16)
    total += shorts.view(np.int16)[:, a].astype(u64) * u64(3) + shorts[:, b]
    total += long[:, a] * (~data)[:, b].astype(u64)
    total ^= square[:, a] + square[:, b]
    quad = (quads[:, b] - quads[:, a, ::-1]).astype(u64)
    total += (quad[..., 0] << u64(32) | quad[..., 1]) ^ (quad[..., 2] << u64(32) | quad[..., 3])
    assert_same(out, total)


def test_lds_dynamic(program):
    count = 700
    data = words(10, 3, count)
    out = np.zeros_like(data)
    launch(
        program, "lds_dynamic", grid=3, block=128, args=[data, out, count],
        dynamic_lds=4 * count,
    )  # fmt: skip
    assert_same(out, data[:, ::-1] + np.arange(count, dtype=u32))
    # The same with too little of it is an error, not a wrong result.
    with pytest.raises(simulator.DeviceError, match="LDS"):
        program.launch(
            "lds_dynamic", grid=3, block=128, args=[data, out, count], dynamic_lds=4 * count - 4
        )


def test_constant_table(program):
    n = 128
    data = words(11, 2, n // 2)
    out = np.zeros_like(data)
    launch(program, "constant_table", grid=2, block=64, args=[data, out])
    primes = [p for p in range(2, 158) if all(p % q for q in range(2, p))]
    table = np.array(primes, u32)
    assert_same(out, table[data % 37] * table[:2, None])


def test_structure(program):
    n = 128
    rng = np.random.default_rng(12)
    data = rng.standard_normal(n, np.float32)
    weights = rng.standard_normal(5, np.float32)
    # A pointer within a structure: the metadata does not know of it.
    memory = simulator.Memory()
    address = memory.allocate(data.nbytes, "input")
    memory.write(address, data)
    mask = (1 << 63) + 12345
    layout = "<dbxH5fQQ"
    out = np.zeros(n)
    launch(
        program, "structure", grid=2, block=64, memory=memory,
        args=[struct.pack(layout, 1.5, -7, 60000, *weights, address, mask), 200, out, -300, 0.25],
    )  # fmt: skip
    i = np.arange(n)
    want = 1.5 * data.astype(float) * weights[i % 5].astype(float) + 60000 - 7 + 200 - 300
    want += 0.25 * float(mask >> 40)
    # The compiler may contract.
    assert_close(out, want, rtol=1e-15)
    memory.release(address)
    with pytest.raises(simulator.DeviceError, match="structure"):
        program.launch(
            "structure", grid=2, block=64, memory=memory,
            args=[struct.pack(layout, 1, 0, 0, *weights, address, mask), 0, out, 0, 0.0],
        )  # fmt: skip


def test_dimensions(program):
    block, grid = (4, 3, 5), (3, 4, 2)
    shape = [b * g for b, g in zip(block, grid)][::-1]
    out = np.zeros(shape, u32)
    launch(program, "dimensions", grid=grid, block=block, args=[out, shape[2], shape[1]])
    z, y, x = np.indices(shape, u32)
    want = (x % 4) | (y % 3) << 4 | (z % 5) << 8 | (x // 4) << 12 | (y // 3) << 16
    want |= (z // 5) << 20 | u32(4 << 24 | 5 << 28)
    assert_same(out, want)


def test_buffers(program):
    n, valid = 128, 100
    # The memory goes on behind the end of the buffer: only the descriptor stops it.
    data = words(13, 256)
    out = np.full((n, 4), 77, u32)
    launch(program, "buffers", grid=2, block=64, args=[data, out, 4 * valid])
    seen = np.zeros(1024, u32)
    seen[:valid] = data[:valid]
    raw8, raw16 = seen.view(u8), seen.view(u16)
    i = np.arange(n)

    def many(first: np.ndarray, count: int) -> list[np.ndarray]:
        return [seen[first + k] for k in range(count)]

    word, pair, quad = seen[i], many(i + 2, 2), many(i + 5, 4)
    byte, half = raw8[i + i // 64], raw16[i + 1]
    want = np.stack(
        [word + pair[0], pair[1] ^ quad[0], quad[1] + quad[2] + byte, quad[3] + half], -1
    ).astype(u32)
    want[valid:] = 77
    assert_same(out, want)


def test_lds_direct(program):
    data = words(14, 2, 256)
    out = np.zeros_like(data)
    launch(program, "lds_direct", grid=2, block=256, args=[data, out])
    t = np.arange(256, dtype=u32)
    assert_same(out, data[:, (t * 7 + 3) % 256] + t)


def test_lds_rows(program):
    data = words(21, 256, 3)
    out, rows = np.zeros(256, u32), 100
    launch(program, "lds_rows", grid=1, block=256, args=[data, out, rows])
    t = np.arange(256, dtype=u32)
    loaded = np.where(t < rows, data[:, 2], u32(0))
    assert_same(out, loaded[(t * 7 + 3) % 256] + t)


def test_hints(program):
    data = words(15, 128)
    twice, out = np.zeros_like(data), np.zeros_like(data)
    launch(program, "hints", grid=2, block=64, args=[data, twice, out])
    assert_same(twice, data * u32(2))
    assert_same(out, data ^ (data * u32(2)))


def test_scalar_loads(program):
    data, index = words(16, 40, dtype=u64), np.array([7, 39, 0, 20, 33], u32)
    out = np.zeros((5, 64), u64)
    launch(program, "scalar_loads", grid=5, block=64, args=[data, index, out])
    total = data.reshape(5, 8) @ np.arange(1, 9, dtype=u64)
    assert_same(out, (total ^ data[index])[:, None] + np.arange(64, dtype=u64))


def test_device_variables(program):
    # They live as long as the memory, and each memory has its own.
    for _ in range(2):
        memory = simulator.Memory()
        for k in (1, 2):
            out = np.zeros(5, u32)
            report = program.launch(
                "device_variables", grid=1, block=64, args=[out], memory=memory, check=True
            )
            assert report.findings == []
            assert_same(out, np.array([10 + k, 20 + 2 * k, 30 + 3 * k, 40 + 4 * k, 3 * k], u32))


def test_private_packed(program):
    n = 128
    data = words(12, 64 * n, dtype=u8)
    out = np.zeros((n, 128), u8)
    launch(program, "private_packed", grid=1, block=n, args=[data, out])
    want = np.zeros_like(out)
    for t in range(n):
        row = want[t]
        row[:] = t
        row[7:71] = data[64 * t : 64 * t + 64]
        size, first = 70 + (t & 1), t & 3
        row[3 : 3 + size] = row[first : first + size].copy()
        i = int(data[t]) % 5
        record = struct.pack("<BIHQ", i, t * i, t, ~(t << i) & (1 << 64) - 1)
        row[90 + (t & 7) :][: len(record)] = list(record)
    assert_same(out, want)
