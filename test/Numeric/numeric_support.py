# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the numeric tests share: compile, run on the simulated device, evaluate by
the reference. Import it before `wavesmith`.

The folder of the build is $WAVESMITH_BUILD, else build/. A tool that is not there
is a failure, not a reason to skip.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]
MECHANISMS = REPOSITORY / "test" / "data" / "mechanisms"
EXAMPLES = REPOSITORY / "examples"
BUILD = Path(os.environ.get("WAVESMITH_BUILD", REPOSITORY / "build"))
TARGETS = ("gfx90a", "gfx942")
FORMS = ("straight_line", "table")

for folder in (REPOSITORY / "python", REPOSITORY / "python" / "tests"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def run_tool(name: str, *arguments) -> None:
    """Run a tool of the build; its message fails the test."""
    command = [str(BUILD / "bin" / name), *map(str, arguments)]
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, f"{' '.join(command)}: {result.stderr[:4000]}"


def compile_text(folder: Path, text: str, target: str, form: str = "auto") -> Path:
    """Compile a module; the path of the code object, with its .json beside it."""
    (folder / "module.mlir").write_text(text)
    code_object = folder / f"{target}-{form}.hsaco"
    run_tool("wavesmith-compile", folder / "module.mlir", f"--target={target}",
             f"--form={form}", "-o", code_object)
    description = json.loads(code_object.with_suffix(".json").read_text())
    assert description["target"] == target
    return code_object


def _save(folder: Path, inputs: dict[str, np.ndarray]) -> list[str]:
    options = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        options.append(f"--input={name}={folder / name}.npy")
    return options


def run_device(
    folder: Path, code_object: Path, inputs: dict[str, np.ndarray], results, threads: int = 2
) -> list[np.ndarray]:
    """Results of the code object's only kernel on the simulator, at time 0. The
    simulator's checker runs along and must find nothing."""
    outputs = {name: folder / f"device-{name}.npy" for name in results}
    report = folder / "report.json"
    run_tool("wavesmith-run", code_object, "--device=sim", "--check", "--scalar=t=0",
             f"--threads={threads}", f"--report={report}", *_save(folder, inputs),
             *(f"--output={name}={path}" for name, path in outputs.items()))
    written = json.loads(report.read_text())
    assert written["device"]["kind"] == "simulator"
    assert written["findings"] == []
    return [np.load(path) for path in outputs.values()]


def run_reference(
    folder: Path, text: str, inputs: dict[str, np.ndarray], results
) -> list[np.ndarray]:
    """Results of the module's only function by the reference, at time 0."""
    (folder / "reference.mlir").write_text(text)
    outputs = {name: folder / f"reference-{name}.npy" for name in results}
    run_tool("wavesmith-evaluate", folder / "reference.mlir", "--scalar=t=0",
             *_save(folder, inputs),
             *(f"--output={name}={path}" for name, path in outputs.items()))
    return [np.load(path) for path in outputs.values()]


def assert_same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    """Every bit is the same, the sign of zero too; any NaN equals any NaN."""
    assert got.dtype == wanted.dtype == np.float64
    assert got.shape == wanted.shape
    same = got.view(np.uint64) == wanted.view(np.uint64)
    same |= np.isnan(got) & np.isnan(wanted)
    if not same.all():
        where = np.argwhere(~same)
        first = tuple(int(i) for i in where[0])
        raise AssertionError(
            f"{len(where)} of {same.size} elements differ, the first at {first}: got "
            f"{got[first]!r} ({got[first].hex()}), wanted {wanted[first]!r} "
            f"({wanted[first].hex()})"
        )


def max_relative_error(got, wanted, scale) -> float:
    """The largest |got - wanted| / scale, equal values counting as zero."""
    assert got.shape == wanted.shape == scale.shape
    assert np.all(np.isfinite(got)) and np.all(np.isfinite(wanted))
    difference = np.abs(got - wanted)
    differ = difference > 0.0
    assert np.all(scale[differ] > 0.0)
    return float(np.max(difference[differ] / scale[differ], initial=0.0))
