# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ladder's independent programs: the sequential one against FERN's published
abundances, and the HIP kernels on both simulated chips against the sequential one
(bench-ladder itself compares, and fails). Modelled times are not looked at."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from numeric_support import BUILD, REPOSITORY, run_tool

# FERN's public data, which are not part of the repository.
from test_importers_fern import FERN

from wavesmith.importers import from_fern


def fern_network(folder: Path, size: str) -> Path:
    if not FERN.is_dir():
        pytest.skip(f"FERN's networks are not in {FERN}")
    path = folder / f"fern{size}.mlir"
    path.write_text(
        from_fern(FERN / f"rateLibrary_{size}.data", FERN / f"CUDAnet_{size}.inp")
    )
    return path


def make_network(name: str) -> Path:
    """A network of the benchmark; made as it makes it, and kept in the build."""
    path = BUILD / "bench" / "ladder" / f"network-{name}.mlir"
    if not path.exists():
        command = [REPOSITORY / "bench" / "ladder" / "make-network", BUILD, name, path]
        subprocess.run(command, check=True)
    return path


@pytest.fixture(scope="module")
def reaclib_network():
    return make_network("150")


def test_sequential_program_gives_ferns_abundances(tmp_path):
    network = fern_network(tmp_path, "150")
    output = tmp_path / "abundances.txt"
    done = subprocess.run(
        [BUILD / "bin" / "sequential-integration", network, f"--output={output}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "150 states, 1604 terms, F+ 2710, F- 2704" in done.stdout
    assert "steps 31917" in done.stdout.splitlines()
    got = [float(line.split()[1]) for line in output.read_text().splitlines()]
    compared = 0
    for line in (FERN / "150_test.ref").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        number, wanted = line.split(",")
        if float(wanted) > 1e-12:
            assert got[int(number)] == pytest.approx(float(wanted), rel=1e-3, abs=0.0), number
            compared += 1
    assert compared == 148


def check_ladder(folder: Path, network: Path, *options: str) -> dict:
    """The rows by their names."""
    file = folder / "ladder.json"
    run_tool("bench-ladder", f"--network={network}", f"--json={file}", "--steps=12",
             "--zones=2", "--no-sensitivity", "--no-networks", "--no-zone-sweep",
             "--no-whole-integration", *options)  # fmt: skip
    report = json.loads(file.read_text())
    assert report["modelled"] is True
    names = [row["name"] for row in report["rows"]]
    assert names[0] == "hip-start" and "hip-end" in names and len(set(names)) == len(names)
    for row in report["rows"]:
        assert row["steps"] == 12
        # Not 0: other sums and another exp leave something.
        assert 0.0 < row["largest_difference_from_sequential"] <= report["tolerance"] == 1e-10
        assert row["cycles_per_step_per_cu"] > 0
        assert 1 <= row["active_lanes"] <= 64
        assert row["vgpr_spills"] == 0
        check_bound(row)
    return {row["name"]: row for row in report["rows"]}


def check_bound(row) -> None:
    parts = [row[f"bound_{part}_cycles"] for part in ("lds", "issue", "dependency")]
    assert min(parts) >= 0.0 and row["bound_cycles"] == max(parts) > 0.0
    assert row["ratio_to_bound"] == row["cycles_per_step_per_cu"] / row["bound_cycles"]
    # No kernel is faster than its bound, nor its wavefronts faster than their order
    # lets them be; and an order can only add to the dependencies.
    assert row["ratio_to_bound"] >= 1.0
    assert row["in_order_cycles"] <= row["cycles_per_step_per_cu"]
    assert row["bound_dependency_cycles"] <= row["in_order_cycles"]


@pytest.mark.parametrize("chip, units", (("mi250", 104), ("mi300x", 304)))
def test_further_sections(monkeypatch, tmp_path, reaclib_network, chip, units):
    monkeypatch.setenv("WAVESMITH_FERN", str(FERN))
    file = tmp_path / "ladder.json"
    command = ("bench-ladder", f"--chip={chip}", f"--network={reaclib_network}",
               f"--json={file}", "--steps=12", "--no-sensitivity", "--only=wavesmith-final")
    run_tool(*command)
    report = json.loads(file.read_text())
    (row,) = report["rows"]
    check_bound(row)
    assert report["zones"] == units
    assert [r["zones"] for r in report["zone_sweep"]] == [
        units, units * 5 // 4, units * 3 // 2, units * 2]  # fmt: skip
    first, *others = report["zone_sweep"]
    assert first["ratio_to_one_zone_per_cu"] == first["ratio_to_even_shares"] == 1.0
    for entry in others:
        assert entry["workgroups_of_cu"] == 2
        assert entry["ratio_to_one_zone_per_cu"] >= 1.0
    assert [n["name"] for n in report["networks"]] == ["50", "200", "fern-70", "gri30"]
    for entry in report["networks"]:
        if entry["name"] == "fern-70" and not FERN.is_dir():
            assert "FERN" in entry["skipped"] and entry["rows"] == []
            continue
        assert entry["skipped"] is None and entry["rows"][-1]["name"] == "wavesmith-final"
        for other in entry["rows"]:
            check_bound(other)
            assert 0.0 < other["largest_difference_from_sequential"] <= report["tolerance"]
    whole = report["whole_integration"]
    assert whole["steps"] == whole["steps_of_sequential"] > 30_000
    assert 0.0 < whole["largest_difference_from_sequential"] <= whole["tolerance"] == 1e-3

    # What is modelled is the same in every run.
    run_tool(*command)
    again = json.loads(file.read_text())
    for measured in ("cpu", "compile_seconds_measured"):
        del report[measured], again[measured]
    assert again == report


def test_bits_of_rows_do_not_depend_on_their_speed(tmp_path, reaclib_network):
    """With a zone for each compute unit, most of them are not executed to their end,
    and how many are depends on the kernel."""
    file = tmp_path / "ladder.json"
    run_tool("bench-ladder", f"--network={reaclib_network}", f"--json={file}", "--steps=20",
             "--only=re", "--no-sensitivity", "--no-networks", "--no-zone-sweep",
             "--no-whole-integration")  # fmt: skip
    rows = {row["name"]: row for row in json.loads(file.read_text())["rows"]}
    slow, fast = rows["+replicate-in-wavefronts"], rows["+keep-in-registers"]
    assert slow["cycles_per_step_per_cu"] > 5 * fast["cycles_per_step_per_cu"]
    assert slow["has_bits_of_row_before"] and fast["has_bits_of_row_before"]


@pytest.mark.parametrize("chip", ("mi250", "mi300x"))
def test_kernels_agree_with_the_sequential_program(tmp_path, reaclib_network, chip):
    rows = check_ladder(tmp_path, reaclib_network, f"--chip={chip}")
    # These move what is read.
    for name in ("replicate-in-wavefronts", "keep-in-registers", "narrow-tables",
                 "promote-to-lds"):  # fmt: skip
        assert rows[f"+{name}"]["has_bits_of_row_before"], name
    # These round otherwise.
    for name in ("simplify-terms", "combine-divisions", "rewrite-reductions"):
        assert not rows[f"+{name}"]["has_bits_of_row_before"], name


def test_kernels_integrate_ferns_network(tmp_path):
    # From the first step, and where states have come under the asymptotic formula.
    network = fern_network(tmp_path, "150")
    for first in (0, 3000):
        check_ladder(tmp_path, network, f"--first-step={first}", "--only=hip-")


@pytest.mark.parametrize("options, message", (
    (["--chip=mi999"], "got --chip=mi999, expected mi250 or mi300x"),
    (["--steps=1"], "--steps must be at least 2"),
    (["--initial=c12=-1"], "got 'c12=-1' in --initial, expected name=Y with Y >= 0"),
    (["--initial=x1=1"], "the network has no nuclide 'x1', which --initial names"),
    (["--density=0"], "got --density=0, expected a positive number"),
    (["--network=nowhere.mlir"], "cannot read 'nowhere.mlir'"),
))  # fmt: skip
def test_bad_input_is_one_message(reaclib_network, options, message):
    if not any(option.startswith("--network") for option in options):
        options = [f"--network={reaclib_network}", *options]
    done = subprocess.run(
        [BUILD / "bin" / "bench-ladder", *options], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert message in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_network_must_conserve_mass(tmp_path, reaclib_network):
    text = reaclib_network.read_text()
    broken = text.replace('gain ["si28" = 1.0]', 'gain ["si28" = 2.0]', 1)
    assert broken != text
    path = tmp_path / "broken.mlir"
    path.write_text(broken)
    done = subprocess.run(
        [BUILD / "bin" / "bench-ladder", f"--network={path}"], capture_output=True, text=True
    )
    assert done.returncode == 1 and "does not conserve mass: it makes mass numbers of 28" in done.stderr
