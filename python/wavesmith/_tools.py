# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands of the package, wavesmith-opt and the others, and where its C library is."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def folder() -> Path:
    """The folder with `bin`, `include` and `lib`: the one that has the binding.

    Raises:
        ImportError: There is no binding, as in the source tree.
    """
    binding = importlib.util.find_spec("wavesmith._wavesmith")
    if binding is None:
        raise ImportError(
            f"{Path(__file__).parent} is not an installed package: it has no library and no "
            "tools; run `pip install .` in the source tree"
        )
    return Path(binding.origin).parent


def _run(tool: str) -> None:
    """Become the program: its streams, its signals and its status are its own."""
    try:
        os.execv(folder() / "bin" / tool, [tool, *sys.argv[1:]])
    except (ImportError, OSError) as error:
        sys.exit(f"{tool}: error: {error}")


def compile() -> None:
    """The command wavesmith-compile."""
    _run("wavesmith-compile")


def evaluate() -> None:
    """The command wavesmith-evaluate."""
    _run("wavesmith-evaluate")


def opt() -> None:
    """The command wavesmith-opt."""
    _run("wavesmith-opt")


def run() -> None:
    """The command wavesmith-run."""
    _run("wavesmith-run")


def validate() -> None:
    """The command wavesmith-validate."""
    _run("wavesmith-validate")
