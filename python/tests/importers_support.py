# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the importers' tests share. Import it before `wavesmith`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
MECHANISMS = REPOSITORY / "test" / "data" / "mechanisms"

# The importers are plain Python: they can be tested from the source tree.
if importlib.util.find_spec("wavesmith") is None:
    sys.path.insert(0, str(REPOSITORY / "python"))


def find_tool(name: str) -> str | None:
    """A tool: from $WAVESMITH_OPT and the like, the build folder, or PATH."""
    for candidate in (
        os.environ.get(name.upper().replace("-", "_")),
        str(REPOSITORY / "build" / "bin" / name),
        shutil.which(name),
    ):
        if candidate and Path(candidate).exists():
            return candidate
    return None


def verify(text: str) -> None:
    """Parse and verify MLIR text with wavesmith-opt."""
    tool = find_tool("wavesmith-opt")
    if tool is None:
        pytest.skip("wavesmith-opt is not built; set WAVESMITH_OPT")
    run = subprocess.run(
        [tool, "-", "-o", os.devnull], input=text, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[:4000]


def evaluate(folder: Path, text: str, inputs: dict, results: list[str]) -> list:
    """Results of the module's only function by wavesmith-evaluate, at time 0."""
    tool = find_tool("wavesmith-evaluate")
    if tool is None:
        pytest.skip("wavesmith-evaluate is not built; set WAVESMITH_EVALUATE")
    (folder / "module.mlir").write_text(text)
    command = [tool, str(folder / "module.mlir"), "--scalar=t=0"]
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        command.append(f"--input={name}={folder / name}.npy")
    command += [f"--output={name}={folder / name}.npy" for name in results]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[:4000]
    return [np.load(folder / f"{name}.npy") for name in results]


def max_relative_error(got, wanted, scale) -> float:
    """The largest |got - wanted| / scale, equal values counting as zero."""
    assert got.shape == wanted.shape == scale.shape
    assert np.all(np.isfinite(wanted)) and np.all(np.isfinite(got))
    difference = np.abs(got - wanted)
    assert np.all(scale[difference > 0.0] > 0.0)
    return float(np.max(difference[difference > 0.0] / scale[difference > 0.0], initial=0.0))
