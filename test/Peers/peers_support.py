# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of peers' code objects share: compilers, a cache, comparisons.

Everything compiled is kept under build/peers/, under a key of the compiler, the
command and the sources, so that a second run compiles nothing.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("WAVESMITH_BUILD", ROOT / "build"))
CACHE = BUILD / "peers"
try:
    from wavesmith import simulator
except ImportError:
    sys.path.insert(0, str(BUILD / "python"))
    try:
        from wavesmith import simulator
    except ImportError as error:
        pytest.skip(f"the binding is not built: {error}", allow_module_level=True)

TARGETS = ("gfx90a", "gfx942")
#: Host threads of a launch that is not checked; results do not depend on it.
THREADS = os.cpu_count() or 1
LLVM_BIN = Path("/usr/lib/llvm-22/bin")
CLANG = LLVM_BIN / "clang"
#: The device's math library and the constants that control it; Debian's is older
#: than gfx942, whose math is gfx940's.
ISA_VERSION = {"gfx90a": "oclc_isa_version_90a", "gfx942": "oclc_isa_version_940"}
BITCODE = ("opencl", "ocml", "ockl", "oclc_daz_opt_off", "oclc_unsafe_math_off",
           "oclc_finite_only_off", "oclc_correctly_rounded_sqrt_on",
           "oclc_wavefrontsize64_on")  # fmt: skip


# ===----------------------------------------------------------------------=== #
# Compilers
# ===----------------------------------------------------------------------=== #


def run(command: list, **options) -> str:
    """Run a compiler; what it says is the failure's text."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )
    assert done.returncode == 0, (
        f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n"
        f"{done.stderr[-4000:]}"
    )
    return done.stdout


def cached(name: str, key: list, make) -> Path:
    """The file build/peers/<hash of key>/<name>; `make` writes it where there is
    none."""
    text = "\0".join(str(part) for part in key)
    path = CACHE / hashlib.sha256(text.encode()).hexdigest()[:24] / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        make(temporary)
        temporary.rename(path)
    return path


@functools.cache
def compiler_version(compiler: Path) -> str:
    return run([compiler, "--version"])


@functools.cache
def sources(folder: Path) -> str:
    """The contents of all headers of a folder."""
    return "\0".join(path.read_text() for path in sorted(folder.glob("*.h")))


@functools.cache
def bitcode_folder() -> Path:
    for folder in sorted(Path("/usr/lib").glob("*/amdgcn/bitcode")):
        if (folder / "ocml.bc").exists():
            return folder
    pytest.skip("no ocml.bc under /usr/lib/*/amdgcn/bitcode: install rocm-device-libs")


@functools.cache
def compile_hip(
    source: str,
    target: str,
    optimization: str = "-O3",
    version: int = 5,
    options: tuple[str, ...] = (),
) -> simulator.Program:
    """Compile hip/<source> to a code object with clang, without ROCm."""
    if not CLANG.exists():
        pytest.skip(f"no {CLANG}: install clang-22")
    path = HERE / "hip" / source
    folder = bitcode_folder()
    command = [
        CLANG, "-x", "hip", f"--offload-arch={target}", "-nogpuinc", "-nogpulib",
        "--cuda-device-only", "--no-gpu-bundle-output", "-std=c++17", optimization,
        f"-mcode-object-version={version}", "-Wall", "-Wno-unused-function", "-Werror",
        *options, path,
    ]  # fmt: skip
    for library in (*BITCODE, ISA_VERSION[target.split(":")[0]]):
        command += ["-Xclang", "-mlink-builtin-bitcode", "-Xclang", folder / f"{library}.bc"]
    key = [*command, path.read_text(), sources(path.parent), compiler_version(CLANG)]
    file = cached(
        f"{path.stem}.{target}.hsaco", key, lambda output: run([*command, "-o", output])
    )
    return simulator.Program(file.read_bytes())


@functools.cache
def compile_host(source: str, options: tuple[str, ...] = ()) -> Path:
    """Compile hip/<source> for the host, as a shared library."""
    path = HERE / "hip" / source
    command = [
        CLANG, "-x", "c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-ffp-contract=off",
        "-Wall", "-Wno-unused-function", "-Werror", *options, path, "-lm",
    ]  # fmt: skip
    key = [*command, path.read_text(), sources(path.parent), compiler_version(CLANG)]
    return cached(f"{path.stem}.so", key, lambda output: run([*command, "-o", output]))


def peers_python() -> Path:
    """The Python that has the peers' compilers."""
    path = Path(os.environ.get("WAVESMITH_PEERS_PYTHON", BUILD / "venv-peers/bin/python"))
    if not path.exists():
        pytest.skip(f"no {path}: ./check makes it from test/Peers/requirements.txt")
    return path


@functools.cache
def has_peer(module: str) -> bool:
    return (
        subprocess.run(
            [peers_python(), "-c", f"import {module}"], capture_output=True
        ).returncode
        == 0
    )


def require_peer(module: str) -> None:
    if not has_peer(module):
        pytest.skip(f"{peers_python()} has no package {module}")


# ===----------------------------------------------------------------------=== #
# Launches
# ===----------------------------------------------------------------------=== #


def launch(program: simulator.Program, kernel: str, **parameters) -> dict[str, int]:
    """Launch a kernel of a peer's compiler in checker mode, which has to be silent, and
    once more without it, which has to change nothing: neither results nor counters.
    """
    # Far above what any test needs: a hang is a failure, not a wait.
    parameters.setdefault("max_instructions", 1 << 27)
    arrays = [a for a in parameters["args"] if isinstance(a, np.ndarray) and a.flags.writeable]
    before = [array.copy() for array in arrays]
    checked = program.launch(kernel, check=True, **parameters)
    assert not checked.findings, "the checker is not silent: " + "; ".join(
        f"{f['kind']}: {f['message']}, at {f['pc']:#x} {f['instruction']!r}, workgroup "
        f"{f['workgroup']}, wave {f['wave']}, {f['count']} times" for f in checked.findings
    )
    results = [array.copy() for array in arrays]
    for array, kept in zip(arrays, before):
        array[...] = kept
    plain = program.launch(kernel, threads=THREADS, **parameters)
    assert plain.counters == checked.counters
    for array, result in zip(arrays, results):
        assert array.tobytes() == result.tobytes(), "the checker changes a result"
    return plain.counters


# ===----------------------------------------------------------------------=== #
# Comparisons
# ===----------------------------------------------------------------------=== #


def assert_same(got: np.ndarray, want: np.ndarray, what: str = "") -> None:
    """Equal bit for bit, but for the payloads of NaN."""
    assert got.shape == want.shape and got.dtype == want.dtype
    integers = np.dtype(f"u{got.dtype.itemsize}")
    same = got.view(integers) == want.view(integers)
    if got.dtype.kind == "f" or got.dtype.kind == "V":
        same |= np.isnan(got) & np.isnan(want)
    bad = np.flatnonzero(~same)
    assert not len(bad), (
        f"{what}: {len(bad)} of {got.size} elements differ, first {bad[0]}: "
        f"got {got.flat[bad[0]]!r}, expected {want.flat[bad[0]]!r}"
    )


def assert_close(
    got: np.ndarray, want: np.ndarray, *, rtol: float = 0.0, atol: float | np.ndarray = 0.0,
    what: str = "",
) -> None:
    """|got - want| <= atol + rtol |want| in every element; nothing is NaN."""
    assert got.shape == want.shape
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    error = np.abs(got - want)
    limit = atol + rtol * np.abs(want)
    bad = np.flatnonzero(~(error <= limit))
    if len(bad):
        with np.errstate(all="ignore"):
            worst = int(np.nanargmax(np.where(limit > 0, error / limit, error)))
        raise AssertionError(
            f"{what}: {len(bad)} of {got.size} elements are too far off, the worst, {worst}: "
            f"got {got.flat[worst]!r}, expected {want.flat[worst]!r}; first {bad[0]}: "
            f"got {got.flat[bad[0]]!r}, expected {want.flat[bad[0]]!r}"
        )
