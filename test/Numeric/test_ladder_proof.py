# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ladder's final kernel proven: whole integrations to 1e-9 s on the simulated
device, and single steps from 1,000 states of the reference. The network is that of
bench-ladder, 150 nuclides of REACLIB; FERN's own is a second one where its files are."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from numeric_support import BUILD, TARGETS, run_tool

from test_cooperative import PASSES
from test_ladder import FERN, fern_network, make_network

from wavesmith.importers.fern_network import read_network

INPUTS = ("time", "step", "y", "parameters")
RESULTS = ("states", "t1", "h1", "steps", "status")
END = 1e-9
NETWORKS = ("reaclib", "fern")
#: Restarts of one launch.
SAMPLES = 1000


@dataclass
class Network:
    """A system's text without its function, and what its states are called."""

    folder: Path
    head: str
    system: str
    states: list[str]

    @property
    def mass_numbers(self) -> np.ndarray:
        short = {"n": 1, "p": 1, "d": 2, "t": 3}
        return np.array(
            [short.get(name) or int(re.search(r"\d+", name).group()) for name in self.states],
            dtype=float,
        )

    def module(self, name: str, function: str) -> Path:
        path = self.folder / f"{name}.mlir"
        path.write_text(self.head + function + "}\n")
        return path

    def integration(self, max_steps: int) -> Path:
        """The method of FERN, as test_integration.py has it."""
        n = len(self.states)
        weights = ", ".join(
            f'"{name}" = {mass:.1f}' for name, mass in zip(self.states, self.mass_numbers)
        )
        zones, states, counts = "tensor<?xf64>", f"tensor<{n}x?xf64>", "tensor<?xi32>"
        arguments = [("time", zones), ("end", "f64"), ("step", zones), ("y", states),
                     ("parameters", "tensor<2x?xf64>")]
        results = list(zip(RESULTS, (states, zones, zones, counts, counts)))
        types = ", ".join(kind for _, kind in results)
        named = ", ".join(f'{kind} {{wavesmith.name = "{name}"}}' for name, kind in results)
        taken = ", ".join(
            f'%a{i}: {kind} {{wavesmith.name = "{name}"}}'
            for i, (name, kind) in enumerate(arguments)
        )
        return self.module(f"integrate-{max_steps}", f"""func.func @integrate({taken}) -> ({named}) {{
  %r:5 = wavesmith.ode_integrate {self.system}(%a0, %a1, %a2, %a3, %a4)
      method #wavesmith.asymptotic<flux_fraction = 1.0e-02, time_fraction = 1.0e-01, tolerance = 1.0e-07>
      conserved [{weights}] total 1.0 max_steps {max_steps}
      : ({", ".join(kind for _, kind in arguments)}) -> ({types})
  return {", ".join(f"%r#{i}" for i in range(5))} : {types}
}}
""")

    def initial(self) -> dict[str, np.ndarray]:
        """One zone: carbon and oxygen at 7e9 K and 1e8 g/cm^3, as 150.ini has them."""
        y = np.zeros((len(self.states), 1))
        for names, abundance in ((("c12", "12C"), 0.04166), (("o16", "16O"), 0.03125)):
            (index,) = [i for i, name in enumerate(self.states) if name in names]
            y[index] = abundance
        return {"time": np.array([1e-20]), "step": np.array([1.23456789e-22]), "y": y,
                "parameters": np.array([[7e9], [1e8]])}

    def run(self, tool: str, first: Path, inputs, *options, end: float = END) -> dict:
        arguments = []
        for name, array in inputs.items():
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(array))
            arguments.append(f"--input={name}={self.folder / name}.npy")
        outputs = {name: self.folder / f"out-{name}.npy" for name in RESULTS}
        run_tool(tool, first, f"--scalar=end={end!r}", *arguments, *options,
                 *(f"--output={name}={path}" for name, path in outputs.items()))
        return {name: np.load(path) for name, path in outputs.items()}

    def compiled(self, module: Path, target: str) -> Path:
        code = module.with_suffix(f".{target}.hsaco")
        if not code.exists():
            run_tool("wavesmith-compile", module, f"--target={target}", "-o", code)
        return code

    def device(self, module: Path, target: str, inputs, threads: int = 2) -> dict:
        return self.run("wavesmith-run", self.compiled(module, target), inputs, "--device=sim",
                        f"--threads={threads}")

    def annotated(self, module: Path, target: str) -> Path:
        """What the optional passes leave at the workgroup level, for the evaluator."""
        path = module.with_suffix(f".{target}.annotated.mlir")
        passes = [name for name in PASSES if name != "eliminate-barriers"]
        pipeline = ",".join([
            f"wavesmith-attach-target{{architecture={target}}}", "wavesmith-select-schedule",
            "wavesmith.ode_system(cse)", "convert-wavesmith-ode-to-workgroup",
            *(f"wavesmith-{name}" for name in passes)])
        run_tool("wavesmith-opt", module, f"--pass-pipeline=builtin.module({pipeline})",
                 "-o", path)
        return path

    @functools.cached_property
    def reference(self) -> dict:
        """The whole integration by the reference evaluator, with the inputs before the
        sampled steps as `before-<name>`, and its branches."""
        module, branches = self.integration(1_000_000), self.folder / "branches.json"
        inputs = self.initial()
        whole = self.run("wavesmith-evaluate", module, inputs, f"--branches={branches}")
        (whole["branches"],) = json.loads(branches.read_text())["zones"]
        steps = np.random.default_rng(7).choice(whole["steps"][0], SAMPLES, replace=False)
        self.run("wavesmith-evaluate", module, inputs,
                 "--record-steps=" + ",".join(map(str, np.sort(steps))),
                 *(f"--record={name}={self.folder}/before-{name}.npy" for name in INPUTS))
        for name in INPUTS:
            whole[f"before-{name}"] = np.load(self.folder / f"before-{name}.npy")
        return whole

    def before(self, zones=slice(None)) -> dict[str, np.ndarray]:
        return {name: self.reference[f"before-{name}"][..., zones] for name in INPUTS}

    def production_loss(self, inputs) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.states)
        module = self.module("production-loss", f"""func.func @sums(
    %t: f64 {{wavesmith.name = "t"}}, %y: tensor<{n}x?xf64> {{wavesmith.name = "y"}},
    %p: tensor<2x?xf64> {{wavesmith.name = "parameters"}})
    -> (tensor<{n}x?xf64> {{wavesmith.name = "P"}}, tensor<{n}x?xf64> {{wavesmith.name = "L"}}) {{
  %r:2 = wavesmith.ode_production_loss {self.system}(%t, %y, %p)
      : (f64, tensor<{n}x?xf64>, tensor<2x?xf64>) -> (tensor<{n}x?xf64>, tensor<{n}x?xf64>)
  return %r#0, %r#1 : tensor<{n}x?xf64>, tensor<{n}x?xf64>
}}
""")
        arguments = []
        for name in ("y", "parameters"):
            np.save(self.folder / f"{name}.npy", np.ascontiguousarray(inputs[name]))
            arguments.append(f"--input={name}={self.folder / name}.npy")
        run_tool("wavesmith-evaluate", module, "--scalar=t=0", *arguments,
                 *(f"--output={name}={self.folder / name}.npy" for name in "PL"))
        return np.load(self.folder / "P.npy"), np.load(self.folder / "L.npy")

    def published(self) -> np.ndarray:
        """The abundances at the end by somebody else: FERN's, or those of a plain C++
        program that shares nothing with the compiler."""
        if self.folder.name.startswith("fern"):
            lines = (FERN / "150_test.ref").read_text().splitlines()
            return np.array([float(line.split(",")[1]) for line in lines if line[:1].isdigit()])
        output = self.folder / "sequential.txt"
        subprocess.run(
            [BUILD / "bin" / "sequential-integration", self.integration(1), f"--output={output}"],
            check=True, capture_output=True)  # fmt: skip
        return np.array([float(line.split()[1]) for line in output.read_text().splitlines()])


@pytest.fixture(scope="module", params=NETWORKS)
def network(request, tmp_path_factory) -> Network:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "fern":
        text = fern_network(folder, "150").read_text()
        # The start that the test writes is the one of FERN's file.
        wanted = [entry.abundance for entry in read_network(FERN / "CUDAnet_150.inp")]
    else:
        text, wanted = make_network("150").read_text(), None
    system, states = re.search(
        r"wavesmith\.ode_system (@\S+) states \[(.*?)\] parameters", text
    ).groups()
    result = Network(folder, text[: text.index("func.func")], system,
                     re.findall(r'"([^"]+)" : ', states))
    assert len(result.states) == 150
    if wanted is not None:
        assert np.array_equal(result.initial()["y"][:, 0], wanted)
    return result


def assert_same(got: dict, wanted: dict, zones=slice(None)) -> None:
    for name in RESULTS:
        assert got[name].dtype == wanted[name].dtype
        assert np.array_equal(got[name], wanted[name][..., zones]), name


@pytest.mark.parametrize("target", TARGETS)
def test_whole_integration(network, target, record_property):
    module = network.integration(1_000_000)
    got = network.device(module, target, network.initial())
    assert got["status"].tolist() == [0] and got["t1"].tolist() == [END]
    # Bit for bit what the code at the workgroup level means, after 30,000 steps.
    annotated = network.annotated(module, target)
    assert_same(got, network.run("wavesmith-evaluate", annotated, network.initial()))
    # Sums are trees, and still no step was lost or won.
    assert got["steps"].tolist() == network.reference["steps"].tolist()
    assert got["steps"][0] > 30_000
    published = network.published()
    large = published > 1e-12
    assert large.sum() > 100
    for name, states in (("device", got["states"]), ("reference", network.reference["states"])):
        error = np.max(np.abs(states[:, 0] - published)[large] / published[large])
        record_property(f"largest_error_of_{name}", error)
        assert error <= 1e-3
    branches = network.reference["branches"]
    assert branches["reduced"] > 0 and branches["stretched"] > 0
    assert branches["asymptotic"] > 0 and branches["euler"] > 0


@pytest.mark.parametrize("target", TARGETS)
def test_single_steps_from_sampled_states(network, target, record_property):
    inputs = network.before()
    assert inputs["time"].shape == (SAMPLES,)
    module = network.integration(1)
    got = network.device(module, target, inputs)
    wanted = network.run("wavesmith-evaluate", module, inputs)
    assert_same(got, network.run("wavesmith-evaluate", network.annotated(module, target), inputs))
    for name in ("steps", "status"):
        assert np.array_equal(got[name], wanted[name])
    assert np.all(got["steps"] == 1)

    P, L = network.production_loss(inputs)
    Y = inputs["y"]
    # A branch of the step control that went the other way moves the step size, and a
    # state that went the other way lies nearer the other formula's result.
    other_size = np.abs(got["h1"] - wanted["h1"]) > 1e-9 * wanted["h1"]
    d = got["h1"]
    with np.errstate(invalid="ignore", divide="ignore"):
        q = L * d / Y
        asymptotic, euler = (Y + P * d) / (1.0 + q), Y + (P - L) * d
        taken = np.abs(got["states"] - asymptotic) < np.abs(got["states"] - euler)
        other_formula = (taken != (q > 1.0)) & (asymptotic != euler) & (Y > 0.0)
    changed = other_size | other_formula.any(axis=0)
    record_property("changed_branches_of_step_control", int(other_size.sum()))
    record_property("changed_branches_of_states", int(other_formula.sum()))
    assert changed.sum() <= SAMPLES // 100
    # Both formulas are in the sample, so that the count could have found something.
    assert (q > 1.0).any() and (q < 1.0).any()

    scale = np.abs(Y) + wanted["h1"] * (P + L)
    error = np.abs(got["states"] - wanted["states"])[:, ~changed]
    scale = scale[:, ~changed]
    assert np.all(error <= 1e-12 * scale)
    largest = np.max(error[scale > 0] / scale[scale > 0])
    record_property("largest_error", float(largest))
    # Sums in another order leave something.
    assert 0.0 < largest


def test_bits_do_not_depend_on_the_launch(network):
    """A zone has its bits whatever the number of zones, its neighbours, its place, the
    host threads of the simulator and the run."""
    module = network.integration(40)
    states = network.before(slice(0, SAMPLES, 25))
    count = states["time"].size
    together = network.device(module, "gfx90a", states)
    assert_same(network.device(module, "gfx90a", states, threads=1), together)
    for zones in ([0], [count - 1], [7, 3, 20], list(range(count))[::-1], list(range(13))):
        some = {name: array[..., zones] for name, array in states.items()}
        assert_same(network.device(module, "gfx90a", some), together, zones)
    # One of them breaks.
    broken = {name: array.copy() for name, array in states.items()}
    broken["y"][5, 11] = np.nan
    got = network.device(module, "gfx90a", broken)
    assert got["status"][11] == 2
    others = [zone for zone in range(count) if zone != 11]
    assert_same({name: array[..., others] for name, array in got.items()}, together, others)
