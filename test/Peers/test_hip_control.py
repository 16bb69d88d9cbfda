# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops and calls (hip/control.hip), and the forms of code objects."""

from __future__ import annotations

import numpy as np
import pytest
from peers_support import TARGETS, assert_close, assert_same, compile_hip, launch

u32 = np.uint32
#: What to compile with: levels, calls that stay calls, arguments in registers
#: before the kernel starts, versions of the code object.
VARIANTS = {
    "O0": ("-O0", 5, ()),
    "O1": ("-O1", 5, ()),
    "O3": ("-O3", 5, ()),
    "Os": ("-Os", 5, ()),
    "no_inline": ("-O2", 5, ("-fno-inline",)),
    "preload": ("-O3", 5, ("-mllvm", "-amdgpu-kernarg-preload-count=8")),
    "v4": ("-O3", 4, ()),
    "v6": ("-O3", 6, ()),
    "v4_O0": ("-O0", 4, ()),
    "lines": ("-O1", 5, ("-g",)),
    "no_xnack": ("-O3", 5, ()),
}
pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("variant", VARIANTS),
]


@pytest.fixture
def program(target, variant):
    optimization, version, options = VARIANTS[variant]
    if variant == "no_xnack":
        target += ":sramecc+:xnack-"
    program = compile_hip("control.hip", target, optimization, version, options)
    assert program.description["code_object_version"] == version
    return program


def words(seed: int, n: int = 256) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 32, n).astype(u32)


def apply(program, kernel: str, value: np.ndarray, *more) -> np.ndarray:
    out = np.zeros_like(value)
    launch(program, kernel, grid=value.size // 128, block=128, args=[value, out, *more])
    return out


def each(function, value: np.ndarray) -> np.ndarray:
    return np.array([function(int(v)) & 0xFFFFFFFF for v in value]).astype(u32)


def test_collatz(program):
    def steps(v: int) -> int:
        count = 0
        while v != 1:
            v, count = (3 * v + 1 if v & 1 else v >> 1), count + 1
        return count

    value = words(1) % u32(100000) + u32(1)
    assert_same(apply(program, "collatz", value), each(steps, value))


def test_switches(program):
    def switch(v: int) -> int:
        case, result = v % 12, 12345
        if case == 6:
            return 66
        if case == 0:
            result = v + 1
        elif case in (1, 2):
            result = (v * 3 if case == 1 else 0) + (v >> 2)
        elif case in (3, 4):
            result = v.bit_count()
        elif case == 5:
            result = 0
            for k in range((v >> 4) % 7):
                result = result * 5 + k
        elif case == 7:
            result = v // 7 if v > 1000000 else v % 13
        elif case == 9:
            result = ~v
        return result ^ 0x5A5A

    value = words(2)
    value[::3] %= u32(2000000)
    assert_same(apply(program, "switches", value), each(switch, value))


def test_nested(program):
    def nested(v: int) -> int:
        total = 0
        for i in range(20):
            if v >> (i % 8) & 1:
                continue
            for j in range(10):
                if i * j > v % 50:
                    break
                total += i ^ j
                if total > 400:
                    return total
            total += 3
        return total + 100000

    value = words(3)
    assert_same(apply(program, "nested", value), each(nested, value))


def test_calls(program):
    def mix(a: int, b: int) -> int:
        return ((a ^ b << 7 & 0xFFFFFFFF) * 2654435761) & 0xFFFFFFFF

    def calls(i: int, v: int) -> int:
        mixed = mix(v, i)
        if v & 1:
            mixed = (mixed + mix(mixed, 17)) & 0xFFFFFFFF
        low, high = v + i * (v % 7), v % 100 - 3
        tail = [v, i, 2, 3, 4, 5]
        tail[0] = (tail[0] + (v ^ (v ^ 3))) & 0xFFFFFFFF
        tail[5] += v % 6
        total = low + high
        for entry in tail:
            total = (total * 3 + entry) & 0xFFFFFFFFFFFFFFFF
        return total ^ mixed

    value = words(4)
    coefficients = np.random.default_rng(4).standard_normal(6)
    out, sums = np.zeros(value.size, np.uint64), np.zeros(value.size)
    launch(program, "calls", grid=2, block=128, args=[value, coefficients, out, sums])
    want = [calls(i, int(v)) for i, v in enumerate(value)]
    assert_same(out, np.array(want, np.uint64))
    x = (value % 10) * 0.1
    want = np.array(
        [np.polyval(coefficients[: 3 + v % 4], at) for v, at in zip(value.astype(int), x)]
    )
    # Six steps that the compiler may contract.
    assert_close(sums, want, atol=1e-15 * np.abs(coefficients).sum())


def test_indirect(program):
    functions = (lambda v: 2 * v, lambda v: v * v, lambda v: ~v)
    value = words(5)

    def indirect(v: int) -> int:
        return functions[v % 3](v) + functions[(v >> 8) % 3]((v + 1) & 0xFFFFFFFF)

    assert_same(apply(program, "indirect", value), each(indirect, value))


def test_recursion(program):
    def ackermann(m: int, n: int) -> int:
        if m == 0:
            return n + 1
        return ackermann(m - 1, ackermann(m, n - 1) if n else 1)

    value = words(6)
    assert_same(
        apply(program, "recursion", value), each(lambda v: ackermann(v % 3, v // 3 % 4), value)
    )


def test_priorities(program):
    value = words(7)
    assert_same(apply(program, "priorities", value), (value * u32(3) + u32(1)) ^ u32(64))


def test_rounding(program):
    value = np.random.default_rng(8).standard_normal(256) * 1000
    out = np.zeros_like(value)
    launch(program, "rounding", grid=2, block=128, args=[value, out])
    part = value / 1024  # Exact.
    nearest = value + part
    # Knuth's two-sum: what the rounding to nearest lost.
    virtual = nearest - value
    lost = (value - (nearest - virtual)) + (part - virtual)
    away = (lost != 0) & (np.signbit(lost) != np.signbit(nearest))
    want = np.where(away, np.nextafter(nearest, 0), nearest)
    assert (want != nearest).any()
    assert_same(out, want)


def test_barriers(program):
    value, rounds = words(9, 512), 9
    out = np.zeros_like(value)
    launch(program, "barriers", grid=2, block=256, args=[value, out, rounds])
    want = value.reshape(2, 256).copy()
    t = np.arange(256)
    for k in range(rounds):
        following = want[:, (t + 64 + k) % 256]
        for j in range(3):
            following = np.where(j < t // 64, following * u32(3) + u32(j), following)
        want += following
    assert_same(out, want.reshape(-1))
