# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors on a GPU, on torch's current stream: with a fake HIP library and a fake torch,
since no machine here has a GPU (fake_gpu.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BUILD
from test_binding import RHS, SYSTEM, ws


@pytest.mark.parametrize("library", ["libWavesmithFakeHIP.so", "libWavesmithFakeHIPR0600.so"])
def test_tensors_on_a_gpu(library, tmp_path):
    path = BUILD / "lib" / library
    if not path.exists():
        pytest.skip(f"{path} is not built")
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("fake_gpu.py"), SYSTEM + RHS],
        capture_output=True, text=True,
        env={"PYTHONPATH": str(Path(ws.__file__).parents[1]), "WAVESMITH_HIP_LIBRARY": str(path),
             "WAVESMITH_CACHE_DIR": os.environ["WAVESMITH_CACHE_DIR"]},
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr[-3000:]
