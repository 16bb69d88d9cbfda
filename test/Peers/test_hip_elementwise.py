# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One expression a kernel, on all operand types, against the same expression
compiled for the host.

The lines KERNEL1/2/3(...) of hip/*.hip are the list of tests. Operands are random
ones and special ones in all pairs. Results are equal bit for bit: no kernel leaves
the compiler a choice (no contraction, no undefined behaviour).
"""

from __future__ import annotations

import ctypes
import re
import zlib

import numpy as np
import pytest
from peers_support import HERE, TARGETS, assert_same, compile_hip, compile_host, launch

FILES = ("integer.hip", "floating.hip", "packed.hip")
DTYPES = {
    "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
COUNT = 600
BLOCK = 256


def read_kernels(file: str) -> list[tuple[str, str, list[str]]]:
    """(file, kernel, [result type, operand types...]) of each line."""
    kernels = []
    for match in re.finditer(
        r"^KERNEL([123])\(([^()]*)", (HERE / "hip" / file).read_text(), re.MULTILINE
    ):
        number = int(match[1])
        name, *types = [part.strip() for part in match[2].split(",")]
        kernels.append((file, name, types[: number + 1]))
    assert kernels
    return kernels


KERNELS = [kernel for file in FILES for kernel in read_kernels(file)]


def special_values(dtype: np.dtype) -> np.ndarray:
    """The values at which instructions go wrong."""
    if dtype.kind == "f":
        info = np.finfo(dtype)
        positive = [
            0.0, 1.0, 0.5, 1.5, 2.0, 3.0, 2.5, info.max, info.tiny, info.smallest_subnormal,
            info.tiny * 0.75, info.eps, 1 + info.eps, 1 - info.epsneg, np.inf,
        ]  # fmt: skip
        return np.array([*positive, *(-x for x in positive), np.nan], dtype)
    info = np.iinfo(dtype)
    values = {info.min, info.max, 0, 1, 2, 3, info.max - 1, info.max // 2, info.max // 2 + 1, 31}
    if info.min < 0:
        values |= {-1, -2, info.min + 1}
    return np.array(sorted(values), dtype)


def make_operands(name: str, types: list[str]) -> list[np.ndarray]:
    """Operands of COUNT elements: all pairs of special values first (a third operand
    goes through its own at another pace), then random ones."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    operands = []
    for place, kind in enumerate(types):
        dtype = np.dtype(DTYPES[kind])
        special = special_values(dtype)
        if dtype.kind == "f":
            info = np.finfo(dtype)
            # All exponents alike, and half of them near 1.
            wide = rng.uniform(info.minexp - info.nmant, info.maxexp - 1e-3, COUNT)
            near = rng.uniform(-4, 4, COUNT)
            exponent = np.where(rng.random(COUNT) < 0.5, near, wide)
            values = np.exp2(exponent).astype(dtype)
            values = np.where(rng.random(COUNT) < 0.5, -values, values)
        else:
            info = np.iinfo(dtype)
            values = rng.integers(info.min, info.max, COUNT, dtype, endpoint=True)
            # As many small numbers as large ones.
            shift = rng.integers(0, dtype.itemsize * 8, COUNT).astype(dtype)
            values = np.where(rng.random(COUNT) < 0.5, values >> shift, values)
        stride = (1, len(special), 7)[place]
        pairs = min(COUNT * 2 // 3, len(special) ** 2)
        values[:pairs] = special[(np.arange(pairs) // stride) % len(special)]
        operands.append(np.ascontiguousarray(values, dtype))
    return operands


def run_on_host(file: str, name: str, result: np.ndarray, operands: list[np.ndarray]) -> None:
    function = getattr(ctypes.CDLL(str(compile_host(file))), name)
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in [result, *operands]]
    function.restype = None
    function(*pointers, ctypes.c_uint32(result.size))


#: Levels, and the other of LLVM's two ways to select instructions (which leaves some
#: kernels to the first, with a warning).
VARIANTS = {
    "O0": ("-O0",),
    "O1": ("-O1",),
    "O3": ("-O3",),
    "GlobalISel": (
        "-O2", "-Wno-backend-plugin", "-mllvm", "-global-isel", "-mllvm", "-global-isel-abort=2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("file", "name", "types"), KERNELS, ids=[k[1] for k in KERNELS])
def test_elementwise(file, name, types, target, variant):
    optimization, *options = VARIANTS[variant]
    program = compile_hip(file, target, optimization, options=("-ffp-contract=off", *options))
    operands = make_operands(name, types[1:])
    want = np.zeros(COUNT, DTYPES[types[0]])
    run_on_host(file, name, want, operands)
    got = np.zeros_like(want)
    launch(
        program, name, grid=-(-COUNT // BLOCK), block=BLOCK, args=[got, *operands, COUNT]
    )
    assert_same(got, want, f"{name} of {', '.join(types[1:])}")
