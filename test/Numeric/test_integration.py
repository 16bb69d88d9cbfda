# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The integration of FERN's network of 150 nuclides by the reference evaluator:
against FERN's own result, and step by step against a second reading of its files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from numeric_support import run_tool

# A second reading of FERN's files.
from test_importers_fern import FERN, independent_rates

from wavesmith.importers import from_fern
from wavesmith.importers.fern_network import read_network
from wavesmith.importers.mlir_text import format_float

RATES, NETWORK = FERN / "rateLibrary_150.data", FERN / "CUDAnet_150.inp"
#: 150.ini, and the end of 150_test.ref.
FLUX_FRACTION, TIME_FRACTION, TOLERANCE = 0.01, 0.1, 1e-7
START, FIRST_STEP, END = 1e-20, 1.23456789e-22, 1e-9
TEMPERATURE, DENSITY = 7e9, 1e8
INPUTS = ("time", "step", "y", "parameters")

pytestmark = pytest.mark.skipif(
    not FERN.is_dir(), reason=f"FERN's networks are not in {FERN}"
)


def integration_text(max_steps: int = 1_000_000) -> str:
    """A module that integrates the network. FERN holds the sum of mass fractions
    against 1, whatever it is at the start."""
    text = from_fern(RATES, NETWORK)
    species = read_network(NETWORK)
    system = re.search(r"wavesmith\.ode_system (@\S+)", text).group(1)
    weights = ", ".join(f'"{entry.name}" = {float(entry.A)}' for entry in species)
    arguments = ("tensor<?xf64>", "f64", "tensor<?xf64>", f"tensor<{len(species)}x?xf64>",
                 "tensor<2x?xf64>")
    results = (arguments[3], arguments[0], arguments[2], "tensor<?xi32>", "tensor<?xi32>")
    named = [
        [f'{kind} {{wavesmith.name = "{name}"}}' for name, kind in zip(names, kinds)]
        for names, kinds in (
            (("time", "end", "step", "y", "parameters"), arguments),
            (("states", "t1", "h1", "steps", "status"), results),
        )
    ]
    operands = [f"%{i}" for i in "tehyp"]
    function = f"""func.func @integrate({", ".join(
        f"{name}: {kind}" for name, kind in zip(operands, named[0]))}) -> ({", ".join(named[1])}) {{
  %r:5 = wavesmith.ode_integrate {system}({", ".join(operands)})
      method #wavesmith.asymptotic<flux_fraction = {FLUX_FRACTION}, time_fraction = {TIME_FRACTION}, tolerance = {format_float(TOLERANCE)}>
      conserved [{weights}] total 1.0 max_steps {max_steps}
      : ({", ".join(arguments)}) -> ({", ".join(results)})
  return {", ".join(f"%r#{i}" for i in range(5))} : {", ".join(results)}
}}
}}
"""
    # The importer's function is the last thing in its module.
    return text[: text.index("func.func")] + function


def integrate(
    folder: Path,
    inputs: dict[str, np.ndarray],
    record: Sequence[int] = (),
    max_steps: int = 1_000_000,
) -> dict:
    """The results by name, those of --record as `before-<name>`, and the branches."""
    folder.mkdir(exist_ok=True)
    module = folder / "module.mlir"
    module.write_text(integration_text(max_steps))
    options = [f"--scalar=end={END!r}", f"--branches={folder}/branches.json"]
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        options.append(f"--input={name}={folder}/{name}.npy")
    outputs = ["states", "t1", "h1", "steps", "status"]
    options += [f"--output={name}={folder}/{name}.npy" for name in outputs]
    if len(record):
        options.append("--record-steps=" + ",".join(str(int(step)) for step in record))
        options += [f"--record={name}={folder}/before-{name}.npy" for name in INPUTS]
        outputs += [f"before-{name}" for name in INPUTS]
    run_tool("wavesmith-evaluate", module, *options)
    results = {name: np.load(folder / f"{name}.npy") for name in outputs}
    results["branches"] = json.loads((folder / "branches.json").read_text())["zones"]
    return results


def initial() -> dict[str, np.ndarray]:
    """One zone at the start."""
    return {
        "time": np.array([START]),
        "step": np.array([FIRST_STEP]),
        "y": np.array([[entry.abundance] for entry in read_network(NETWORK)]),
        "parameters": np.array([[TEMPERATURE], [DENSITY]]),
    }


#: Neighbours, so that each shows what its step has done.
SAMPLED = np.sort(np.random.default_rng(31).choice(31_000, 250, replace=False))
SAMPLED = np.unique(np.concatenate([np.arange(50), SAMPLED, SAMPLED + 1]))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return integrate(tmp_path_factory.mktemp("whole"), initial(), record=SAMPLED)


def test_result_of_fern(whole):
    lines = (FERN / "150_test.ref").read_text().splitlines()
    wanted = np.array([float(line.split(",")[1]) for line in lines if line[:1].isdigit()])
    got = whole["states"][:, 0]
    assert got.shape == wanted.shape == (150,)
    assert whole["status"].tolist() == [0] and whole["t1"].tolist() == [END]
    large = wanted > 1e-12
    assert large.sum() > 140
    error = np.abs(got - wanted)[large] / wanted[large]
    assert error.max() <= 1e-3, error.max()
    # The README of the data has this number, from another program.
    assert abs(int(whole["steps"][0]) - 31_917) <= 5
    (branches,) = whole["branches"]
    parts = [branches[name] for name in ("reduced", "stretched", "unchanged")]
    assert min(parts) > 0 and sum(parts) == whole["steps"][0]
    assert min(branches["asymptotic"], branches["euler"]) > 0
    assert branches["asymptotic"] + branches["euler"] == 150 * whole["steps"][0]


def test_steps_against_a_second_reading(whole):
    steps = np.flatnonzero(np.diff(SAMPLED) == 1)
    assert len(steps) > 250
    t, h, Y = (whole[f"before-{name}"][..., steps] for name in INPUTS[:3])
    t1, h1, Y1 = (whole[f"before-{name}"][..., steps + 1] for name in INPUTS[:3])
    rounding = np.finfo(float).eps
    assert np.all(np.abs(t1 - t - h1) <= 2 * rounding * t1)
    ones = np.ones(len(steps))
    (P, P_error), (L, L_error), _ = independent_rates(
        RATES, NETWORK, Y, TEMPERATURE * ones, DENSITY * ones
    )

    def update(d):
        with np.errstate(invalid="ignore", divide="ignore"):
            q = L * d / Y
        return np.where(q > 1.0, (Y + P * d) / (1.0 + q), Y + (P - L) * d)

    A = np.array([[float(entry.A)] for entry in read_network(NETWORK)])
    limit = np.minimum(FLUX_FRACTION / np.abs(P - L).max(axis=0), TIME_FRACTION * t)
    trial = np.minimum(limit, h)
    before, after = (A * Y).sum(axis=0), (A * update(trial)).sum(axis=0)
    change = np.abs(after - before)
    reduced = (np.abs(after - 1.0) > np.abs(before - 1.0)) & (change > TOLERANCE)
    stretched = ~reduced & (change < 0.25 * TOLERANCE)
    factor = np.where(reduced, np.maximum(TOLERANCE / np.maximum(change, 1e-16), 0.1), 1.0)
    factor = np.where(stretched, TOLERANCE / np.maximum(change, 0.9 * TOLERANCE), factor)
    # A change of the sum by 1e-7 has nine digits.
    assert np.all(np.abs(trial * factor - h1) <= 1e-7 * h1)
    assert stretched.any() and not stretched.all()

    scale = np.abs(Y) + h1 * (P + L)
    error = np.abs(update(h1) - Y1)
    assert np.all(error <= 2 * h1 * (P_error + L_error) + 1e-14 * scale)
    # The bound that follows from the exponents is no loose one.
    assert np.max(error[scale > 0] / scale[scale > 0]) <= 1e-11


def test_records_go_on_with_the_same_bits(tmp_path, whole):
    some = [0, 17, len(SAMPLED) // 2, len(SAMPLED) - 1]
    inputs = {name: whole[f"before-{name}"][..., some] for name in INPUTS}
    got = integrate(tmp_path / "rest", inputs)
    assert np.array_equal(got["states"], np.repeat(whole["states"], len(some), axis=1))
    assert np.array_equal(got["steps"], whole["steps"][0] - SAMPLED[some])
    # One step at a time, beside a zone that is broken.
    inputs["y"] = inputs["y"].copy()
    inputs["y"][7, 1] = np.nan
    got = integrate(tmp_path / "one", inputs, max_steps=1)
    assert got["status"].tolist() == [1, 2, 1, 1] and got["steps"].tolist() == [1, 0, 1, 1]
    assert SAMPLED[1] == 1
    assert np.array_equal(got["states"][:, 0], whole["before-y"][:, 1])
    assert got["h1"][0] == whole["before-step"][1]
