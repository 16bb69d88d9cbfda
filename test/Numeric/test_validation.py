# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wavesmith-validate: honest passes pass, broken ones are caught, for a
right-hand side, an integration and workgroups written by hand."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import cantera as ct
import numpy as np
import pytest

from numeric_support import BUILD, EXAMPLES, REPOSITORY, TARGETS
from test_cooperative import CONSERVED, TEXT

from wavesmith.importers import from_cantera

WORKGROUPS = REPOSITORY / "test" / "Workgroup"
BY_HAND = ("stencil", "sparse_product", "gemm")


def validate(folder: Path, module: Path, target: str, *options: str, status: int = 0) -> dict:
    """The table of a run with that status."""
    table = folder / "table.json"
    command = [str(BUILD / "bin" / "wavesmith-validate"), str(module), f"--target={target}",
               "--device=sim", f"--json={table}", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == status, (result.returncode, result.stderr, result.stdout[-3000:])
    return json.loads(table.read_text())


def integration(folder: Path, conserved: str = "all") -> tuple[Path, list[str]]:
    module = folder / "integrate.mlir"
    module.write_text(TEXT.replace("CONSERVED", CONSERVED[conserved]))
    return module, ["--scalar=time=1e-3", "--scalar=end=0.02", "--scalar=step=1e-5", "--zones=3",
                    "--no-time"]


def failures(row: dict) -> str:
    return "; ".join(row["failures"])


@pytest.mark.parametrize("target", TARGETS)
def test_right_hand_sides(tmp_path: Path, target: str) -> None:
    gri = tmp_path / "gri.mlir"
    gri.write_text(from_cantera(ct.Solution("gri30.yaml")))
    for module in (EXAMPLES / "robertson.mlir", gri):
        table = validate(tmp_path, module, target, "--zones=70", "--test-passes=test-nothing")
        assert table["meaning"] == "problem level" and len(table["rows"]) >= 2
        for row in table["rows"]:
            assert row["passed"] and row["differ_from_evaluator"] == 0
            assert row["max_relative_error"] == 0
            assert row["results"][0]["size"] >= 70 * 3
            assert row["launch"]["findings"] == []
            assert row["launch"]["modelled_time"]["cycles"] > 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size,threads", [(128, 128), (64, 16)])
def test_integration(tmp_path: Path, target: str, size: int, threads: int) -> None:
    module, options = integration(tmp_path)
    table = validate(tmp_path, module, target, *options, "--passes=none", "--restarts=5",
                     f"--workgroup-size={size}", f"--threads-per-zone={threads}",
                     "--test-passes=test-nothing,test-lanes")
    first, same, lanes = table["rows"]
    for row in (first, same):
        assert row["bound"] == "exact" and row["max_relative_error"] == 0
        assert row["zones_with_other_steps"] == 0
    assert same["differ_from_before"] == 0
    # Sums in another order: single steps are what is bounded.
    assert lanes["annotation_changes"] and lanes["bound"] == "one step"
    assert lanes["differ_from_evaluator"] == 0
    # Of 5 a zone, those that a zone does not reach are left out.
    assert 10 <= lanes["single_steps"]["steps"] <= 15
    assert lanes["single_steps"]["max_error"] <= 1e-12
    steps = {r["name"]: r["size"] for r in first["results"]}
    assert steps == {"states": 15, "t1": 3, "h1": 3, "steps": 3, "status": 3}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BY_HAND)
def test_workgroups_by_hand(tmp_path: Path, target: str, name: str) -> None:
    table = validate(tmp_path, WORKGROUPS / f"{name}.mlir", target, "--passes=none", "--zones=9",
                     "--test-passes=test-nothing,test-lanes")
    assert table["meaning"] == "workgroup level"
    first, same, lanes = table["rows"]
    for row in (first, same):
        assert row["bound"] == "exact" and row["max_relative_error"] == 0
    assert lanes["differ_from_evaluator"] == 0 and lanes["bound"] == "rounding errors"
    # The stencil has its only reduction in 64 lanes already.
    if name == "stencil":
        assert not lanes["annotation_changes"] and lanes["differ_from_before"] == 0
    else:
        assert lanes["annotation_changes"] and lanes["differ_from_before"] > 0
        assert 0 < lanes["over_bound"] <= 1
        # The bound is no more than a few roundings of what is added up.
        assert lanes["max_relative_error"] < 1e-13


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["sparse_product", "gemm", "integration"])
@pytest.mark.parametrize("broken", ["test-hidden-lanes", "test-segment-bound",
                                    "test-swapped-operand"])
def test_broken_passes_are_caught(tmp_path: Path, target: str, name: str, broken: str) -> None:
    options: list[str] = []
    module = WORKGROUPS / f"{name}.mlir"
    if name == "integration":
        module, options = integration(tmp_path)
        options += ["--workgroup-size=64", "--threads-per-zone=32", "--restarts=3"]
    table = validate(tmp_path, module, target, *options, "--passes=none",
                     f"--test-passes=test-nothing,{broken}", status=1)
    assert not table["passed"]
    *honest, row = table["rows"]
    assert all(entry["passed"] for entry in honest)
    assert not row["passed"]
    if broken == "test-hidden-lanes":
        assert "which the pass does not announce" in failures(row)
    elif broken == "test-segment-bound":
        # Its code has the bits of its own meaning; the error gives it away.
        assert row["differ_from_evaluator"] == 0
        assert row["over_bound"] == "Infinity" or row["over_bound"] > 1e6
    else:
        assert "differ from the stage before" in failures(row)
        assert "changes what its code means" in failures(row)


@pytest.mark.parametrize("target", TARGETS)
def test_a_race_is_caught(tmp_path: Path, target: str) -> None:
    module, options = integration(tmp_path)
    table = validate(tmp_path, module, target, *options, "--passes=none", "--workgroup-size=128",
                     "--threads-per-zone=128", "--test-passes=test-dropped-barrier", status=1)
    first, row = table["rows"]
    assert first["passed"] and not first["launch"]["findings"]
    assert not row["passed"] and "race" in failures(row)


def test_the_row_after_a_broken_pass_is_judged_for_itself(tmp_path: Path) -> None:
    """What a broken pass has changed is no fault of the next one."""
    table = validate(tmp_path, WORKGROUPS / "gemm.mlir", "gfx90a", "--passes=none",
                     "--test-passes=test-nothing,test-swapped-operand,test-dropped-barrier",
                     status=1)
    row = table["rows"][-1]
    assert row["pass"] == "test-dropped-barrier"
    assert row["differ_from_evaluator"] == 0 and row["differ_from_before"] == 0
    assert row["failures"] == ["no change of annotations is announced, and the results differ "
                               "from the meaning"]


def test_a_bound_may_be_given(tmp_path: Path) -> None:
    options = ["--passes=none", "--test-passes=test-lanes"]
    module = WORKGROUPS / "sparse_product.mlir"
    loose = validate(tmp_path, module, "gfx90a", *options, "--max-error=1e-12")["rows"][1]
    assert loose["bound"] == "given"
    error = loose["max_relative_error"]
    assert 0 < error < 1e-12 and math.isclose(loose["over_bound"], error / 1e-12)
    tight = validate(tmp_path, module, "gfx90a", *options, f"--max-error={error / 2}", status=1)
    assert "times its bound (given)" in failures(tight["rows"][1])


def test_inputs_come_from_the_seed_alone(tmp_path: Path) -> None:
    """Same seed, same run; another one, another result; given arrays are used."""
    module = WORKGROUPS / "sparse_product.mlir"
    options = ["--passes=none", "--test-passes=test-lanes"]

    def error(*more: str) -> float:
        return validate(tmp_path, module, "gfx942", *options, *more)["rows"][1]["results"][0]

    assert error("--seed=3") == error("--seed=3")
    assert error("--seed=3") != error("--seed=4")
    # Powers of two times one value: every order of a sum is as good.
    np.save(tmp_path / "x.npy", np.zeros((5, 8)))
    assert error(f"--input=x={tmp_path}/x.npy")["size"] == 5 * 6
    assert error(f"--input=x={tmp_path}/x.npy")["max_relative_error"] == 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("size,threads", [(128, 128), (64, 16)])
def test_the_compilers_own_passes(tmp_path: Path, target: str, size: int, threads: int) -> None:
    """Each of them, added one by one, on an integration."""
    module, options = integration(tmp_path)
    table = validate(tmp_path, module, target, *options, "--restarts=4",
                     f"--workgroup-size={size}", f"--threads-per-zone={threads}")
    rows = table["rows"]
    assert rows[0]["pass"] == "" and len(rows) > 3
    assert all(row["passed"] and row["differ_from_evaluator"] == 0 for row in rows)
    # They do something: sums in lanes, and no more of it hidden.
    changed = [row["pass"] for row in rows if row["annotation_changes"]]
    assert "wavesmith-rewrite-reductions" in changed
    assert all(row["announces_change"] for row in rows if row["annotation_changes"])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BY_HAND)
def test_the_compilers_own_passes_by_hand(tmp_path: Path, target: str, name: str) -> None:
    table = validate(tmp_path, WORKGROUPS / f"{name}.mlir", target, "--zones=9", "--no-time")
    assert len(table["rows"]) > 3
    assert all(row["passed"] and row["differ_from_evaluator"] == 0 for row in table["rows"])
