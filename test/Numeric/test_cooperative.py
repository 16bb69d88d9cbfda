# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled integrations with several threads a zone: bit for bit the reference
evaluator, in every mapping, on both targets, under the simulator's checker."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from numeric_support import run_tool

#: A network with rates that depend on the temperature, on nothing and on the
#: states (X is a catalyst's activity), terms of each order, and a state that
#: nothing makes.
TEXT = """
wavesmith.ode_system @net states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l", "D" : "mol/l", "E" : "mol/l"]
    parameters ["T" : "K", "X" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %X = wavesmith.parameter "X"
  %k1 = wavesmith.arrhenius %T A 3.0e+02 b 0.5 E 4.0e+07
  %k2 = wavesmith.arrhenius %T A 2.0e+05 b -0.5 E 2.0e+07
  %k3 = arith.constant 5.0 : f64
  %k4 = wavesmith.reaclib %T sets [[1.0, 0.0, -0.5, 0.1, 0.0, 0.0, 0.2], [0.5, 0.001, -0.2, 0.1, 0.0, 0.0, 0.1]]
  %d = wavesmith.state "D"
  %share = arith.divf %d, %X : f64
  %k5 = arith.mulf %share, %k3 : f64
  %t = wavesmith.time
  %k6 = arith.mulf %t, %k1 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  wavesmith.term %k2 : "l/mol/s" orders ["A" = 1.0, "B" = 1.0] loss ["A" = 1.0, "B" = 1.0] gain ["C" = 1.0, "D" = 1.0]
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 2.0] gain ["A" = 1.0, "D" = 1.0]
  wavesmith.term %k4 : "l^2/mol^2/s" orders ["C" = 3.0] loss ["C" = 3.0] gain ["A" = 3.0]
  wavesmith.term %k3 : "1/s" orders ["C" = 1.0] loss ["C" = 1.0] gain ["D" = 1.0]
  wavesmith.term %k5 : "1/s" orders ["D" = 1.0] loss ["D" = 1.0] gain ["A" = 1.0]
  wavesmith.term %k6 : "1/s" orders ["E" = 1.0] loss ["E" = 1.0] gain ["A" = 1.0]
}
func.func @integrate(%t: tensor<?xf64> {wavesmith.name = "time"}, %end: f64 {wavesmith.name = "end"},
    %h: tensor<?xf64> {wavesmith.name = "step"}, %y: tensor<5x?xf64> {wavesmith.name = "y"},
    %p: tensor<2x?xf64> {wavesmith.name = "p"})
    -> (tensor<5x?xf64> {wavesmith.name = "states"}, tensor<?xf64> {wavesmith.name = "t1"},
        tensor<?xf64> {wavesmith.name = "h1"}, tensor<?xi32> {wavesmith.name = "steps"},
        tensor<?xi32> {wavesmith.name = "status"}) {
  %r:5 = wavesmith.ode_integrate @net(%t, %end, %h, %y, %p)
      method #wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-05>
      CONSERVED max_steps 400
      : (tensor<?xf64>, f64, tensor<?xf64>, tensor<5x?xf64>, tensor<2x?xf64>)
      -> (tensor<5x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>)
  return %r#0, %r#1, %r#2, %r#3, %r#4
      : tensor<5x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xi32>, tensor<?xi32>
}
"""
CONSERVED = {
    "all": 'conserved ["A" = 1.0, "B" = 1.0, "C" = 1.0, "D" = 1.0, "E" = 1.0] total 1.0',
    "some": 'conserved ["D" = 1.0, "B" = 0.5]',
    "none": "",
}
RESULTS = ("states", "t1", "h1", "steps", "status")


def zones() -> dict[str, np.ndarray]:
    """Seven zones; one starts with NaN, one after the end, one runs out of steps."""
    random = np.random.default_rng(4)
    y = random.uniform(0.05, 0.3, (5, 7))
    y[4] = 0.0
    y[4, 0] = 0.2
    y[1, 2] = np.nan
    time = np.full(7, 1e-3)
    time[3] = 3.0
    step = random.uniform(1e-6, 1e-4, 7)
    step[5] = 1e-9
    return {"time": time, "step": step, "y": y,
            "p": np.stack([random.uniform(600.0, 2500.0, 7), random.uniform(1.0, 4.0, 7)])}


def run(folder: Path, tool: str, first: Path, inputs, *options) -> list[np.ndarray]:
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        arguments.append(f"--input={name}={folder / name}.npy")
    outputs = [folder / f"{tool}-{name}.npy" for name in RESULTS]
    run_tool(tool, first, "--scalar=end=0.5", *arguments, *options,
             *(f"--output={name}={path}" for name, path in zip(RESULTS, outputs)))
    return [np.load(path) for path in outputs]


@pytest.mark.parametrize("conserved", CONSERVED)
@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
def test_every_mapping_has_the_bits_of_the_reference(
    tmp_path: Path, target: str, conserved: str
) -> None:
    module = tmp_path / "module.mlir"
    module.write_text(TEXT.replace("CONSERVED", CONSERVED[conserved]))
    inputs = zones()
    wanted = run(tmp_path, "wavesmith-evaluate", module, inputs)
    status = wanted[4]
    assert status[2] == 2 and status[3] == 0 and wanted[3][3] == 0
    assert 0 in np.delete(status, [2, 3]) or 1 in status
    for size, threads in ((64, 64), (256, 256), (1024, 1024), (64, 8), (128, 32), (64, 1)):
        code = tmp_path / f"{size}-{threads}.hsaco"
        run_tool("wavesmith-compile", module, f"--target={target}",
                 f"--workgroup-size={size}", f"--threads-per-zone={threads}", "--passes=none",
                 "-o", code)
        report = tmp_path / "report.json"
        got = run(tmp_path, "wavesmith-run", code, inputs, "--device=sim", "--check",
                  f"--report={report}")
        assert json.loads(report.read_text())["findings"] == []
        for name, a, b in zip(RESULTS, got, wanted):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b, equal_nan=True), (size, threads, name)


#: In the order in which they run.
PASSES = ["simplify-terms", "combine-divisions", "rewrite-reductions",
          "replicate-in-wavefronts", "keep-in-registers", "narrow-tables", "promote-to-lds",
          "place-in-banks", "eliminate-barriers"]
SUBSETS = [PASSES, *([name] for name in PASSES), PASSES[1:], PASSES[:5], PASSES[3:7],
           ["keep-in-registers", "promote-to-lds", "place-in-banks"],
           ["simplify-terms", "keep-in-registers"],
           ["rewrite-reductions", "keep-in-registers", "narrow-tables", "eliminate-barriers"],
           ["rewrite-reductions", "replicate-in-wavefronts", "promote-to-lds"]]


@pytest.mark.parametrize("passes", SUBSETS, ids="+".join)
@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
def test_passes_have_the_bits_of_their_code(
    tmp_path: Path, target: str, passes: list[str]
) -> None:
    """Whatever passes run: the bits of what they leave at the workgroup level, by the
    evaluator, and near the description's."""
    module = tmp_path / "module.mlir"
    module.write_text(TEXT.replace("CONSERVED", CONSERVED["all"]))
    inputs = zones()
    meant = run(tmp_path, "wavesmith-evaluate", module, inputs)
    names = [f"wavesmith-{name}" for name in passes]
    for size, threads in ((256, 256), (128, 32), (64, 64)):
        pipeline = ",".join([
            f"wavesmith-attach-target{{architecture={target}}}",
            f"wavesmith-select-schedule{{workgroup-size={size} threads-per-zone={threads}}}",
            "wavesmith.ode_system(cse)", "convert-wavesmith-ode-to-workgroup",
            *(name for name in names if name != "wavesmith-eliminate-barriers")])
        annotated = tmp_path / "annotated.mlir"
        run_tool("wavesmith-opt", module, f"--pass-pipeline=builtin.module({pipeline})",
                 "-o", annotated)
        wanted = run(tmp_path, "wavesmith-evaluate", annotated, inputs)
        code, report = tmp_path / "k.hsaco", tmp_path / "report.json"
        run_tool("wavesmith-compile", module, f"--target={target}",
                 f"--workgroup-size={size}", f"--threads-per-zone={threads}",
                 "--passes=" + ",".join(names), "-o", code)
        got = run(tmp_path, "wavesmith-run", code, inputs, "--device=sim", "--check",
                  f"--report={report}")
        assert json.loads(report.read_text())["findings"] == []
        for name, a, b in zip(RESULTS, got, wanted):
            assert np.array_equal(a, b, equal_nan=True), (size, threads, name)
        # 400 steps with sums in another order: the step size is steered by a
        # difference of totals that is some 1e-10 of them.
        for name, a, b in zip(RESULTS, got, meant):
            assert np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True), name


def test_zones_are_alone(tmp_path: Path) -> None:
    """The bits of a zone do not depend on how many others there are."""
    module, code = tmp_path / "module.mlir", tmp_path / "k.hsaco"
    module.write_text(TEXT.replace("CONSERVED", CONSERVED["all"]))
    run_tool("wavesmith-compile", module, "--target=gfx90a", "-o", code)
    inputs = zones()
    together = run(tmp_path, "wavesmith-run", code, inputs, "--device=sim")
    for zone in (0, 6):
        one = {name: np.ascontiguousarray(array[..., zone:zone + 1])
               for name, array in inputs.items()}
        alone = run(tmp_path, "wavesmith-run", code, one, "--device=sim")
        for a, b in zip(alone, together):
            assert np.array_equal(a, b[..., zone:zone + 1])
