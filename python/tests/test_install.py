# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`pip install .` into a fresh virtual environment. Only the binding is compiled: the
library is that of the build folder ($WAVESMITH_BUILD, else build/)."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WAVESMITH_BUILD", REPOSITORY / "build"))
LIBRARY = BUILD / "lib" / "libwavesmith.so"

TOOLS = ["wavesmith-compile", "wavesmith-evaluate", "wavesmith-opt", "wavesmith-run",
         "wavesmith-validate"]  # fmt: skip

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


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A fresh environment with the package: its folder, and the variables for programs
    in it. Neither names the build or the source tree; docs, examples and tests are
    copies."""
    if not LIBRARY.exists():
        pytest.skip(f"{LIBRARY} is not built")
    folder = tmp_path_factory.mktemp("installed")
    dropped = ("PYTHON", "WAVESMITH_BUILD", "WAVESMITH_PYTHON", "LD_LIBRARY_PATH")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    environment["PATH"] = os.pathsep.join(
        path for path in environment["PATH"].split(os.pathsep)
        if not Path(path).resolve().is_relative_to(BUILD.resolve())
    )  # fmt: skip
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", env=environment)
    python = folder / "venv" / "bin" / "python"
    # NumPy and what the build needs come from this environment, not from the network.
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])")
    Path(site.strip(), "other.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", REPOSITORY,
        "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check",
        f"--config-settings=build-dir={folder / 'build'}",
        f"--config-settings=cmake.define.WAVESMITH_LIBRARY={LIBRARY}",
        env=environment,
    )
    tree = folder / "tree"
    for part in ("docs", "examples", "test/Docs"):
        shutil.copytree(REPOSITORY / part, tree / part)
    (tree / "python/tests").mkdir(parents=True)
    for name in ("conftest.py", "test_attention.py"):
        shutil.copy(REPOSITORY / "python/tests" / name, tree / "python/tests")
    return folder, python, Path(site.strip(), "wavesmith"), environment


def test_pip_install(installed):
    folder, python, package, environment = installed
    (folder / "program.py").write_text(PROGRAM)
    output = run(python, folder / "program.py", folder / "tree/examples/robertson.mlir",
                 cwd=folder, env=environment)  # fmt: skip
    assert output == "version 0.1.0\n"
    assert sorted(p.name for p in package.iterdir() if p.name != "__pycache__") == sorted([
        f"_wavesmith{sysconfig.get_config_var('EXT_SUFFIX')}", "bin", "importers", "include",
        "lib", "py.typed", "share",
        *(p.name for p in (REPOSITORY / "python" / "wavesmith").glob("*.py*")
          if p.suffix in (".py", ".pyi")),
    ])  # fmt: skip
    assert list(package.parent.glob("wavesmith-*.dist-info/**/LICENSE"))
    help_text = run(python, "-m", "wavesmith.importers", "--help", cwd=folder, env=environment)
    assert "cantera" in help_text
    help_text = run(python, "-m", "wavesmith", "--help", cwd=folder, env=environment)
    assert "python -m wavesmith" in help_text


def test_installed_programs_stand_alone(installed):
    folder, python, package, environment = installed
    programs = sorted((package / "bin").iterdir())
    assert [program.name for program in programs] == TOOLS
    for program in programs:
        needed = dict(re.findall(r"(\S+) => (\S+)", run("ldd", program, env=environment)))
        # MPFR and GMP are carried too; no LLVM is needed.
        for name in ("libwavesmith.so", "libmpfr.so.6", "libgmp.so.10"):
            assert Path(needed[name]).resolve() == (package / "lib" / name).resolve()
        assert not [name for name in needed if re.search("LLVM|MLIR|lld", name)]
        # The command in front of it is on PATH.
        command = python.parent / program.name
        assert run(command, "--help", env=environment) == run(program, "--help", env=environment)
    library = ctypes.CDLL(str(package / "lib" / "libwavesmith.so"))
    assert library.wavesmith_tool_main(b"wavesmith-nothing", 0, None) == -1
    # Its status is that of the program.
    done = subprocess.run([python.parent / "wavesmith-opt", folder / "nothing"], check=False,
                          capture_output=True, text=True, env=environment)  # fmt: skip
    assert done.returncode == 1 and "nothing" in done.stderr


def test_installed_library_in_cmake(installed):
    folder, python, package, environment = installed
    places = {
        option: Path(run(python, "-m", "wavesmith", option, env=environment, cwd=folder).strip())
        for option in ("--include-dir", "--library-dir", "--cmake-dir")
    }
    assert (places["--include-dir"] / "wavesmith-c" / "Wavesmith.h").is_file()
    assert places["--library-dir"] / "libwavesmith.so" == package / "lib" / "libwavesmith.so"
    run("cmake", "-G", "Ninja", "-S", folder / "tree/examples", "-B", folder / "embed",
        f"-DWavesmith_DIR={places['--cmake-dir']}", env=environment)  # fmt: skip
    run("cmake", "--build", folder / "embed", env=environment)
    output = run(folder / "embed" / "compile_and_run", folder / "tree/examples/robertson.mlir",
                 "sim", env=environment)  # fmt: skip
    assert "zone 0: -0.04 0.04 0\n" in output
    needed = run("ldd", folder / "embed" / "compile_and_run", env=environment)
    assert str(package / "lib" / "libwavesmith.so") in needed


@pytest.mark.parametrize(
    "tests, passed",
    [
        ("test/Docs/test_tutorials.py::test_tool", 1),
        ("test/Docs/test_tutorials.py::test_library", 1),
        # On both targets each.
        ("test/Docs/test_tutorials.py::test_python", 2),
        ("python/tests/test_attention.py::test_functions_on_the_simulator", 20),
    ],
)
def test_installed_package_does_the_tutorials(installed, tests, passed):
    folder, python, package, environment = installed
    tree = folder / "tree"
    output = run(
        python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={tree}",
        f"{tree}/{tests}", cwd=folder, env=environment,
    )  # fmt: skip
    assert f"\n{passed} passed" in output


def test_installed_package_runs_the_examples(installed):
    folder, python, package, environment = installed
    output = run(python, folder / "tree/examples/attention_masks.py", cwd=folder, env=environment)
    rows = re.findall(r"(.+?) +(gfx\w+) +(\d+\.\d+)", output)
    means = {(name, target): float(mean) for name, target, mean in rows}
    assert len(means) == 14 and min(means.values()) > 0.0
    # Their numbers against NumPy's are test_attention.py's; the targets agree.
    for (name, _), mean in means.items():
        assert means[name, "gfx90a"] == pytest.approx(mean, abs=1e-3)


def test_folders_need_a_binding():
    """The source tree has no library to point to."""
    done = subprocess.run(
        [sys.executable, "-m", "wavesmith", "--library-dir"], cwd=REPOSITORY / "python",
        capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "python")},
    )  # fmt: skip
    assert done.returncode == 1 and "pip install ." in done.stderr
