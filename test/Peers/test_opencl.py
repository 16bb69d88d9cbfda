# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in OpenCL C (opencl/local.cl), without its library."""

from __future__ import annotations

import numpy as np
import pytest
from peers_support import (
    CLANG,
    HERE,
    TARGETS,
    assert_same,
    cached,
    compiler_version,
    launch,
    run,
    simulator,
)

pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("optimization", ("-O0", "-O3")),
    pytest.mark.parametrize("version", (4, 5, 6)),
]
u32 = np.uint32


@pytest.fixture
def program(target, optimization, version) -> simulator.Program:
    if not CLANG.exists():
        pytest.skip(f"no {CLANG}: install clang-22")
    path = HERE / "opencl" / "local.cl"
    command = [
        CLANG, "-x", "cl", "-cl-std=CL1.2", "--target=amdgcn-amd-amdhsa", f"-mcpu={target}",
        "-nogpulib", optimization, f"-mcode-object-version={version}", "-Wall", "-Werror", path,
    ]  # fmt: skip
    key = [*command, path.read_text(), compiler_version(CLANG)]
    file = cached(f"local.{target}.hsaco", key, lambda output: run([*command, "-o", output]))
    return simulator.Program(file.read_bytes())


def test_local_arguments(program):
    value = np.random.default_rng(1).integers(0, 1 << 32, 256).astype(u32)
    out = np.zeros_like(value)
    # Behind the kernel's own 256 bytes.
    first, second = 256, 256 + 4 * 128
    launch(
        program, "exchange", grid=2, block=128, args=[value, out, first, second],
        dynamic_lds=12 * 128,
    )  # fmt: skip
    parts, t = value.reshape(2, 128), np.arange(128)
    squares = (parts.astype(np.uint64) ** np.uint64(2) >> np.uint64(32)).astype(u32)
    want = parts[:, ::-1] + squares[:, t ^ 1] + (127 - t & 63).astype(u32)
    assert_same(out, want.reshape(-1))
    with pytest.raises(ValueError, match="argument second"):
        program.launch("exchange", grid=2, block=128, args=[value, out, first, -1])


def test_sizes(program):
    out = np.zeros(96, u32)
    launch(program, "sizes", grid=(3, 1), block=(96, 1), args=[out])
    assert_same(out, np.full(96, 96 + 1000 + 1000000 * 288, u32))
