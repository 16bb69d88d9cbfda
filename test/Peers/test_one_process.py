# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wavesmith in one process with torch, Triton and IREE, each of which brings an LLVM:
one_process.py compiles with all of them. In the Python of the peers' compilers; torch
is that of this Python, else Debian's (python3-torch) where its Python is the same."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest
from peers_support import BUILD, HERE, has_peer, peers_python

DEBIAN = Path("/usr/lib/python3/dist-packages")
MODULES = {"torch": "torch", "triton": "triton", "iree": "iree.compiler.api"}
#: Runs a program with the packages of Debian behind all others.
RUN = (
    "import runpy, sys; sys.path.append(sys.argv[1]); sys.argv = sys.argv[2:]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)


@functools.cache
def missing(name: str) -> str | None:
    """Why a package cannot be used; None if it can."""
    if has_peer(MODULES[name]):
        return None
    if name == "torch":
        program = "import sys; sys.path.append(sys.argv[1]); import torch; torch.ones(1)"
        done = subprocess.run([peers_python(), "-c", program, DEBIAN], capture_output=True)
        if done.returncode == 0:
            return None
    return f"{peers_python()} has no package {name}" + (
        ", and Debian's python3-torch is not installed for it" if name == "torch" else ""
    )


def compile_with_all(names: tuple[str, ...], folder: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [peers_python(), "-c", RUN, DEBIAN, HERE / "one_process.py", ",".join(names)],
        capture_output=True, text=True, cwd=folder,
        env={**environment, "PYTHONPATH": str(BUILD / "python"), "WAVESMITH_CACHE_DIR": "",
             "TRITON_CACHE_DIR": str(folder / "triton"), "TRITON_DEFAULT_FP_FUSION": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, [*names, *names, "done"]), (
        done.stderr[-4000:]
    )


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    "others", [("torch",), ("triton", "iree"), ("torch", "triton", "iree")], ids="-".join
)
def test_in_one_process(others, is_first, tmp_path):
    """In both orders: Wavesmith's LLVM is loaded before the others, or after them."""
    absent = [reason for reason in map(missing, others) if reason]
    if absent:
        pytest.skip("; ".join(absent))
    names = ("wavesmith", *others)
    compile_with_all(names if is_first else names[::-1], tmp_path)
