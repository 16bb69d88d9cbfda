# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`pip install .` into a fresh virtual environment. Only the binding is compiled: the
library is that of the build folder ($WAVESMITH_BUILD, else build/)."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WAVESMITH_BUILD", REPOSITORY / "build"))
LIBRARY = BUILD / "lib" / "libwavesmith.so"

PROGRAM = """
import sys
from pathlib import Path

import numpy as np
import wavesmith as ws

assert ws.__file__.startswith(sys.prefix), ws.__file__
y = np.random.default_rng(0).uniform(0.0, 1.0, (3, 100))
r1, r2, r3 = 0.04 * y[0], 3e7 * (y[1] * y[1]), 1e4 * y[1] * y[2]
for target in ("gfx90a", "gfx942"):
    kernel = ws.compile(Path(sys.argv[1]), target=target)
    got = kernel(t=0.0, y=y, device="sim")
    assert np.allclose(got, [r3 - r1, r1 - r2 - r3, r2], rtol=1e-13, atol=0.0)
    assert kernel.report["device"]["kind"] == "simulator"
print("version", ws.version())
"""


def run(*command, **options) -> str:
    """The standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL, **options,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def test_pip_install(tmp_path):
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is not built")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv", env=environment)
    python = tmp_path / "venv" / "bin" / "python"
    # NumPy and what the build needs come from this environment, not from the network.
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")
    Path(site.strip(), "other.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", REPOSITORY,
        "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check",
        f"--config-settings=build-dir={tmp_path / 'build'}",
        f"--config-settings=cmake.define.WAVESMITH_LIBRARY={LIBRARY}",
        env=environment,
    )
    (tmp_path / "program.py").write_text(PROGRAM)
    example = REPOSITORY / "examples" / "robertson.mlir"
    # From another folder, without the library of the build.
    output = run(python, tmp_path / "program.py", example, cwd=tmp_path, env=environment)
    assert output == "version 0.1.0\n"
    package = Path(site.strip(), "wavesmith")
    assert sorted(p.name for p in package.iterdir() if p.name != "__pycache__") == sorted([
        f"_wavesmith{sysconfig.get_config_var('EXT_SUFFIX')}", "importers", "libwavesmith.so",
        "py.typed", *(p.name for p in (REPOSITORY / "python" / "wavesmith").glob("*.py*")
                      if p.suffix in (".py", ".pyi")),
    ])
    help_text = run(python, "-m", "wavesmith.importers", "--help", cwd=tmp_path, env=environment)
    assert "cantera" in help_text
    help_text = run(python, "-m", "wavesmith", "--help", cwd=tmp_path, env=environment)
    assert "python -m wavesmith" in help_text
    # The tutorial, and FlexAttention's examples against NumPy, on both targets.
    output = run(
        python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={REPOSITORY}",
        f"{REPOSITORY / 'test' / 'Docs' / 'test_tutorials.py'}::test_python", cwd=tmp_path,
        env=environment,
    )
    assert "2 passed" in output
    output = run(
        python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={REPOSITORY}",
        f"{REPOSITORY / 'python/tests/test_attention.py'}::test_functions_on_the_simulator",
        cwd=tmp_path, env=environment,
    )
    assert "20 passed" in output
