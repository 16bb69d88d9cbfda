# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every matrix instruction that clang has a builtin for (hip/mfma.hip), dense and
sparse, with small integers, which all types hold exactly: C plus a plain product of
integers is the only right result. Places in registers are those that AMD's matrix
instruction calculator prints, written down here as formulas."""

from __future__ import annotations

import re

import numpy as np
import pytest
from peers_support import TARGETS, assert_same, compile_hip, launch

pytestmark = pytest.mark.parametrize("target", TARGETS)
LANES = np.arange(64)
#: How many kernels a target has: none may go missing.
COUNT = {"gfx90a": (27, 0), "gfx942": (32, 14)}
#: Floats of eight bits: 0 to 3, gfx942's formats.
EIGHT_BITS = {"fp8": (0, 0x40, 0x48, 0x4C), "bf8": (0, 0x40, 0x44, 0x46)}


def encode(kind: str, values: np.ndarray) -> np.ndarray:
    """Integers from -3 to 3 as the bytes of a type, along a new last axis."""
    if kind in EIGHT_BITS:
        magnitude = np.array(EIGHT_BITS[kind], np.uint8)[np.abs(values)]
        encoded = magnitude | np.where(values < 0, 0x80, 0).astype(np.uint8)
    elif kind == "bf16":
        encoded = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        types = {"f16": np.float16, "f32": np.float32, "xf32": np.float32,
                 "f64": np.float64, "i8": np.int8, "i32": np.int32}  # fmt: skip
        encoded = values.astype(types[kind])
    return encoded.view(np.uint8).reshape(*values.shape, encoded.dtype.itemsize)


class Shape:
    """What a name such as smfmac_f32_16x16x32_f16 says."""

    def __init__(self, name: str):
        match = re.fullmatch(
            r"(mfma|smfmac)_(f32|f64|i32)_(\d+)x(\d+)x(\d+)_?(\w+?)(_1k)?", name
        )
        kind, self.result, m, n, k, types = match.groups()[:6]
        self.sparse = kind == "smfmac"
        self.m, self.n, self.k = int(m), int(n), int(k)
        self.a, _, b = types.partition("_")
        self.b = b or self.a
        is_f64 = self.result == "f64"
        self.result_bytes = 8 if is_f64 else 4
        # Each lane has the same number of bytes of A, 4 or 8, whatever the shape.
        lane_bytes = {"f32": 4, "xf32": 8, "f16": 8, "f64": 8}.get(self.a)
        if self.a == "bf16":
            lane_bytes = 8 if match[7] or self.sparse else 4
        elif lane_bytes is None:
            lane_bytes = 8 if "_" + types in name else 4
        self.kept = lane_bytes // encode(self.a, np.zeros(1, int)).shape[-1]
        #: Elements of B, and of A before what is left out, of a lane.
        self.inner = self.kept * (2 if self.sparse else 1)
        self.blocks = 64 * self.inner // (self.m * self.k)

    def places(self, size: int):
        """Block, row (or column) and the first k of each lane's elements of A or B."""
        if self.result == "f64" and self.blocks > 1:
            return LANES // 4 % 4, LANES % 4, LANES // 16
        group = LANES // size
        if self.blocks > 1:
            return group, LANES % size, np.zeros_like(LANES)
        return np.zeros_like(LANES), LANES % size, group * self.inner

    def results(self):
        """Block, row and column of each lane's elements of C and D: [lane, register]."""
        count = self.m * self.n * self.blocks // 64
        lane, register = LANES[:, None], np.arange(count)[None, :]
        if self.result == "f64":
            if self.blocks > 1:
                return lane // 4 % 4, lane // 16, lane % 4
            return 0 * register, 4 * register + lane // 16, lane % 16
        if self.m == 4:
            return lane // 4, register, lane % 4 + 0 * register
        each = self.m * self.n // 64
        within = register % each
        row = 8 * (within // 4) if self.m == 32 else 0
        row = row + 4 * (lane // self.m) + within % 4
        return register // each + 0 * lane, row, lane % self.n + 0 * register


def check(program, name: str, generator: np.random.Generator) -> None:
    shape = Shape(name)
    a = generator.integers(-3, 4, (shape.blocks, shape.m, shape.k))
    b = generator.integers(-3, 4, (shape.blocks, shape.k, shape.n))
    block, row, first = shape.places(shape.m)
    step = np.arange(shape.inner)
    arguments = []
    if shape.sparse:
        # Two of each four elements are kept, in order: their places take two bits.
        pairs = np.array([(i, j) for i in range(4) for j in range(i + 1, 4)])
        chosen = pairs[generator.integers(0, len(pairs), (64, shape.kept // 2))]
        index = (chosen.reshape(64, -1) << 2 * np.arange(shape.kept)).sum(1)
        step_of_a = 4 * (np.arange(shape.kept) // 2) + chosen.reshape(64, -1)
        whole = np.zeros_like(a)
        at = block[:, None], row[:, None], first[:, None] + step_of_a
        whole[at] = a[at]
        lanes_of_a, a = a[at], whole
        # What lies above the bits of these elements means nothing.
        arguments = [(index | (0x5A << 2 * shape.kept)).astype(np.uint32).view(np.int32)]
    else:
        lanes_of_a = a[block[:, None], row[:, None], first[:, None] + step]
    block, column, first = shape.places(shape.n)
    lanes_of_b = b[block[:, None], first[:, None] + step, column[:, None]]
    c = generator.integers(-100, 100, (shape.blocks, shape.m, shape.n))
    want = c + a @ b

    at = shape.results()
    lanes_of_c = encode(shape.result, c[at])
    d = np.zeros_like(lanes_of_c)
    launch(
        program, name, grid=1, block=64,
        args=[encode(shape.a, lanes_of_a), encode(shape.b, lanes_of_b), lanes_of_c, d, *arguments],
    )  # fmt: skip
    assert_same(d, encode(shape.result, want[at]), name)


def test_every_builtin(target):
    program = compile_hip("mfma.hip", target, "-O1")
    names = sorted(program.kernels)
    dense = [name for name in names if name.startswith("mfma_")]
    assert (len(dense), len(names) - len(dense)) == COUNT[target]
    # The instructions really are there.
    for name in names:
        opcodes = {i["opcode"] for i in program.disassemble(name)}
        assert any(opcode.startswith(("V_MFMA", "V_SMFMAC")) for opcode in opcodes), name
    for number, name in enumerate(names):
        check(program, name, np.random.default_rng(100 + number))
