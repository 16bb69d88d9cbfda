# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times, the choice of a schedule by them, and the command line of the package."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from test_binding import RHS, SPLIT, SYSTEM, check_rhs, make_zones, ws

kernel = pytest.importorskip("wavesmith.kernel")
INPUTS = {"t": 0.0, "y": make_zones(200)}
SIZES = [{"workgroup_size": size} for size in (64, 128, 256)]


def fake_bench(run) -> float:
    """Milliseconds that depend on the schedule alone; the kernel has to run."""
    check_rhs(run(), INPUTS["y"])
    return {64: 3.0, 128: 1.0, 256: 2.0}[run.kernel.schedule["workgroup_size"]]


def test_do_bench():
    calls = []
    time = ws.testing.do_bench(lambda: calls.append(1), warmup=0, rep=0)
    assert len(calls) == 2 and time >= 0.0
    low, high = ws.testing.do_bench(lambda: sum(range(1000)), warmup=1, rep=3, quantiles=[0, 1])
    assert 0.0 < low <= high
    with pytest.raises(ValueError, match="unknown return_mode 'best': expected one of mean"):
        ws.testing.do_bench(lambda: None, return_mode="best")
    with pytest.raises(ValueError, match="quantiles are from 0 to 1, got"):
        ws.testing.do_bench(lambda: None, quantiles=[50])


@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
def test_modelled_times(target):
    tuning = ws.autotune(SYSTEM + RHS, INPUTS, SIZES, target=target, device="sim")
    assert [trial.options for trial in tuning.trials] == SIZES and tuning.measured == 3
    assert {trial.kind for trial in tuning.trials} == {"modelled"}
    times = [trial.milliseconds for trial in tuning.trials]
    assert min(times) == tuning.best.milliseconds > 0.0
    assert tuning.module.target == target
    assert tuning.module["rhs"].schedule["workgroup_size"] == (
        tuning.best.options["workgroup_size"]
    )
    check_rhs(tuning.module(INPUTS, device="sim"), INPUTS["y"])
    assert str(tuning).splitlines()[0].endswith(
        f"(modelled)  workgroup_size={tuning.best.options['workgroup_size']}"
    )


def test_the_callers_bench_and_model():
    tuning = ws.autotune(SYSTEM + RHS, INPUTS, SIZES, device="sim", do_bench=fake_bench)
    assert tuning.best.options == {"workgroup_size": 128} and tuning.best.kind == "do_bench"
    assert [trial.milliseconds for trial in tuning.trials] == [3.0, 1.0, 2.0]
    seen = []

    def model(module, options):
        seen.append((module["rhs"].schedule["workgroup_size"], options))
        return options["workgroup_size"] == 128

    tuning = ws.autotune(SYSTEM + RHS, INPUTS, SIZES, device="sim", do_bench=fake_bench,
                         perf_model=model, top_k=2)  # fmt: skip
    assert [size for size, _ in seen] == [64, 128, 256]
    assert tuning.pruned == [{"workgroup_size": 128}]
    assert tuning.best.options == {"workgroup_size": 256}


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_executors(pool):
    import multiprocessing

    options = {}
    if pool is ProcessPoolExecutor:
        options["mp_context"] = multiprocessing.get_context("spawn")
    with pool(2, **options) as executor:
        tuning = ws.autotune(SYSTEM + RHS, INPUTS, SIZES, device="sim", executor=executor)
    alone = ws.autotune(SYSTEM + RHS, INPUTS, SIZES, device="sim")
    assert tuning.trials == alone.trials


def test_a_store_is_extended(tmp_path):
    store = tmp_path / "folder" / "times.json"
    arguments = {"device": "sim", "do_bench": fake_bench, "store": store}
    first = ws.autotune(SYSTEM + RHS, INPUTS, SIZES[:2], **arguments)
    assert first.measured == 2
    second = ws.autotune(SYSTEM + RHS, INPUTS, SIZES, **arguments)
    assert second.measured == 1 and second.best == first.best
    assert [trial.milliseconds for trial in second.trials] == [3.0, 1.0, 2.0]
    assert ws.autotune(SYSTEM + RHS, INPUTS, SIZES, **arguments).measured == 0
    # Others: inputs, target, kind of time.
    other = {"t": 0.0, "y": make_zones(200)}
    assert ws.autotune(SYSTEM + RHS, other, SIZES, **arguments).measured == 0
    other["t"] = 1.0
    assert ws.autotune(SYSTEM + RHS, other, SIZES[:1], **arguments).measured == 1
    assert ws.autotune(
        SYSTEM + RHS, INPUTS, SIZES[:1], target="gfx90a", **arguments
    ).measured == 1  # fmt: skip
    arguments["do_bench"] = None
    assert ws.autotune(SYSTEM + RHS, INPUTS, SIZES[:1], **arguments).measured == 1
    assert len(json.loads(store.read_text())["trials"]) == 6
    store.write_text("[]")
    with pytest.raises(ValueError, match="is no store of times"):
        ws.autotune(SYSTEM + RHS, INPUTS, SIZES, **arguments)


def test_candidates_that_fail():
    bad = [{"workgroup_size": 100}, {"workgroup_size": 128}]
    tuning = ws.autotune(SYSTEM + RHS, INPUTS, bad, device="sim")
    assert tuning.trials[0].milliseconds is None and "100" in tuning.trials[0].error
    assert tuning.best.options == bad[1]
    with pytest.raises(ValueError, match="no candidate compiles and runs"):
        ws.autotune(SYSTEM + RHS, INPUTS, bad[:1], device="sim")
    with pytest.raises(ValueError, match="no input or scalar 'z'"):
        ws.autotune(SYSTEM + RHS, {**INPUTS, "z": 1.0}, SIZES[:1], device="sim")
    with pytest.raises(ValueError, match="expected at least one candidate"):
        ws.autotune(SYSTEM + RHS, INPUTS, [])
    with pytest.raises(ValueError, match="expected kernel=, one of"):
        ws.autotune(SYSTEM + RHS + SPLIT, INPUTS, SIZES[:1], device="sim")
    assert ws.autotune(
        SYSTEM + RHS + SPLIT, INPUTS, SIZES[:1], device="sim", kernel="split"
    ).measured == 1  # fmt: skip
    with pytest.raises(ValueError, match="top_k is for perf_model"):
        ws.autotune(SYSTEM + RHS, INPUTS, SIZES, top_k=1)


def test_an_integration():
    @ws.ode_system
    def net(A: ws.State("mol/l", mass=1), B: ws.State("mol/l", mass=1), k: ws.Parameter("1/s")):
        ws.reaction(k, "A -> B")

    zones = 5
    inputs = {
        "time": np.full(zones, 1e-9), "end": 1e-3, "step": np.full(zones, 1e-10),
        "y": np.tile([[1.0], [0.0]], zones), "parameters": np.ones((1, zones)),
    }  # fmt: skip
    tuning = ws.autotune(
        net.text("integrate"), inputs,
        [{"workgroup_size": 64, "threads_per_zone": n} for n in (1, 8, 64)], device="sim",
    )  # fmt: skip
    assert all(trial.milliseconds for trial in tuning.trials)
    assert tuning.module["integrate"].schedule["threads_per_zone"] == (
        tuning.best.options["threads_per_zone"]
    )
    y, t, *_ = tuning.module(inputs, device="sim")
    assert t.tolist() == [1e-3] * zones
    np.testing.assert_allclose(y[0], np.exp(-1e-3), atol=1e-4)


# The command line ---------------------------------------------------------------


def command(*arguments, folder: Path) -> subprocess.CompletedProcess:
    package = str(Path(ws.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "wavesmith", *map(str, arguments)], text=True,
        capture_output=True, cwd=folder,
        env={"PYTHONPATH": package, "WAVESMITH_CACHE_DIR": str(folder / "cache")},
    )  # fmt: skip


def test_command_line(tmp_path):
    done = command("--help", folder=tmp_path)
    assert done.returncode == 0 and "python -m wavesmith" in done.stdout
    assert command("version", folder=tmp_path).stdout.strip() == ws.version()
    (tmp_path / "model.py").write_text(
        "import wavesmith as ws\n\n@ws.ode_system\n"
        "def net(A: ws.State('mol/l')):\n    ws.term(2.0, reactants=A)\n"
    )
    done = command("compile", "model.py:net", "-o", "k.hsaco", "--target=gfx90a", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = ws.load(tmp_path / "k.hsaco")
    assert loaded(t=0.0, y=np.ones((1, 3)), device="sim").tolist() == [[-2.0] * 3]
    (tmp_path / "system.mlir").write_text(SYSTEM + RHS)
    done = command("compile", "system.mlir", "-o", "k.s", "--emit=amdgcn", folder=tmp_path)
    assert done.returncode == 0 and "s_endpgm" in (tmp_path / "k.s").read_text()
    done = command("compile", "model.py:nat", "-o", "k.hsaco", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: model.py has no system 'nat', only net\n"
    done = command("compile", "none.py:net", "-o", "k.hsaco", folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "error: cannot read none.py\n")
    done = command("cache", "--clear", folder=tmp_path)
    assert done.returncode == 0 and " files, " in done.stdout
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]
