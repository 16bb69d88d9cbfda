# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The method Tsit5: its coefficients against the order conditions, the reference
evaluator against a second integrator with exact fractions and against solutions in
closed form, and the compiled kernels against the evaluator, bit for bit."""

from __future__ import annotations

import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from numeric_support import REPOSITORY, TARGETS, run_tool

RESULTS = ("states", "t1", "h1", "steps", "status")
TOLERANCES = "absolute_tolerance = 1.0e-09, relative_tolerance = 1.0e-06"

# Table 1 of Tsitouras' paper of 2011.
C = [0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0]
A = [
    [],
    [0.161],
    [-0.008480655492356989, 0.335480655492357],
    [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
    [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
    [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
     -0.028269050394068383],
    [0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742,
     -3.290069515436081, 2.324710524099774],
]
E = [-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
     -0.1447110071732629, 0.5823571654525552, -0.45808210592918697, 1 / 66]


# ---------------------------------------------------------------------------
# Coefficients
# ---------------------------------------------------------------------------


def rooted_trees(order: int) -> list:
    """Rooted trees with `order` nodes, each the sorted tuple of its branches."""
    if order == 1:
        return [()]
    trees = set()
    for count in range(1, order):
        for sizes in itertools.combinations_with_replacement(range(1, order), count):
            if sum(sizes) == order - 1:
                for branches in itertools.product(*map(rooted_trees, sizes)):
                    trees.add(tuple(sorted(branches)))
    return sorted(trees)


def nodes_of(tree) -> int:
    return 1 + sum(map(nodes_of, tree))


def density(tree) -> int:
    return nodes_of(tree) * math.prod(map(density, tree))


def weights_of(tree, matrix) -> list[Fraction]:
    """The elementary weight of a tree at each stage."""
    result = [Fraction(1)] * len(matrix)
    for branch in tree:
        inner = weights_of(branch, matrix)
        result = [
            value * sum((a * w for a, w in zip(row, inner)), Fraction(0))
            for value, row in zip(result, matrix)
        ]
    return result


def largest_defect(b, order: int) -> float:
    """How far the weights `b` miss the order conditions of exactly `order`, in units of
    what the rounding of every coefficient to f64 may do."""
    matrix = [[Fraction(a) for a in row] for row in A]
    sizes = [[abs(a) for a in row] for row in matrix]
    worst = Fraction(0)
    for tree in rooted_trees(order):
        total = sum(w * Fraction(x) for x, w in zip(b, weights_of(tree, matrix)))
        size = sum(w * abs(Fraction(x)) for x, w in zip(b, weights_of(tree, sizes)))
        rounding = order * size / 2**53
        worst = max(worst, abs(total - Fraction(1, density(tree))) / rounding)
    return float(worst)


def test_coefficients_meet_the_order_conditions() -> None:
    assert [len(rooted_trees(order)) for order in range(1, 7)] == [1, 1, 2, 4, 9, 20]
    solution = [*A[6], 0.0]
    embedded = [b - e for b, e in zip(solution, E)]
    for row, node in zip(A, C):
        assert abs(float(sum(map(Fraction, row)) - Fraction(node))) < 4e-15
    for order in range(1, 6):
        assert largest_defect(solution, order) < 2, order
    for order in range(1, 5):
        assert largest_defect(embedded, order) < 2, order
    # The checks can fail: the orders end where they should.
    assert largest_defect(solution, 6) > 1e9
    assert largest_defect(embedded, 5) > 1e9


def test_coefficients_of_the_compiler_are_these() -> None:
    text = (REPOSITORY / "include/wavesmith/Dialect/Wavesmith/IR/Tsit5.h").read_text()

    def numbers(name: str) -> list[float]:
        body = re.search(rf"{name}\[[^=]*=\s*(\{{.*?\}});", text, re.DOTALL).group(1)
        return [float(number) for number in re.findall(r"-?\d+\.\d+", body)]

    assert numbers("kNodes") == C
    assert numbers("kMatrix") == [x for row in A for x in row + [0.0] * (6 - len(row))]
    assert numbers("kError") == E


# ---------------------------------------------------------------------------
# The evaluator
# ---------------------------------------------------------------------------


def function_text(system: str, states: int, parameters: int, method: str, steps: int) -> str:
    arguments = ["tensor<?xf64>", "f64", "tensor<?xf64>", f"tensor<{states}x?xf64>"]
    names = ["time", "end", "step", "y"]
    if parameters:
        arguments.append(f"tensor<{parameters}x?xf64>")
        names.append("p")
    results = [arguments[3], arguments[0], arguments[2], "tensor<?xi32>", "tensor<?xi32>"]
    named = [f'%{n}: {t} {{wavesmith.name = "{n}"}}' for n, t in zip(names, arguments)]
    out = [f'{t} {{wavesmith.name = "{n}"}}' for n, t in zip(RESULTS, results)]
    return f"""{system}
func.func @integrate({", ".join(named)}) -> ({", ".join(out)}) {{
  %r:5 = wavesmith.ode_integrate @net({", ".join("%" + n for n in names)})
      method #wavesmith.tsit5<{method}> max_steps {steps}
      : ({", ".join(arguments)}) -> ({", ".join(results)})
  return {", ".join(f"%r#{i}" for i in range(5))} : {", ".join(results)}
}}
"""


def run(folder: Path, tool: str, first: Path, end: float, inputs, *options) -> dict:
    arguments = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
        arguments.append(f"--input={name}={folder / name}.npy")
    outputs = {name: folder / f"{tool}-{name}.npy" for name in RESULTS}
    run_tool(tool, first, f"--scalar=end={end!r}", *arguments, *options,
             *(f"--output={name}={path}" for name, path in outputs.items()))
    return {name: np.load(path) for name, path in outputs.items()}


def evaluate(folder: Path, text: str, end: float, inputs, record: int = 0) -> dict:
    """The results, the branches, and with `record` the zones before each of the first
    steps as `before-<name>`."""
    (folder / "module.mlir").write_text(text)
    options = [f"--branches={folder}/branches.json"]
    if record:
        options.append("--record-steps=" + ",".join(map(str, range(record))))
        options += [f"--record={name}={folder}/before-{name}.npy" for name in inputs]
    results = run(folder, "wavesmith-evaluate", folder / "module.mlir", end, inputs, *options)
    for name in inputs if record else ():
        results[f"before-{name}"] = np.load(folder / f"before-{name}.npy")
    results["branches"] = json.loads((folder / "branches.json").read_text())["zones"]
    return results


#: y' = lambda y with sources: A decays, B is made of A and grows with the time.
LINEAR = """
wavesmith.ode_system @net states ["A" : "1", "B" : "1", "C" : "1"] parameters [] time "s" {
  %k = arith.constant 1.5 : f64
  %t = wavesmith.time
  %s = math.cos %t : f64
  wavesmith.term %k : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  wavesmith.term %s : "1/s" gain ["C" = 1.0]
}
"""


def linear_solution(t: float, y) -> np.ndarray:
    a = y[0] * math.exp(-1.5 * t)
    return np.array([a, y[1] + y[0] - a, y[2] + math.sin(t)])


def test_order_of_convergence(tmp_path: Path) -> None:
    """Steps of a fixed size: the error falls with its fifth power."""
    y = np.array([[1.0], [0.25], [0.5]])
    errors = []
    for count in (8, 16, 32):
        # Tolerances that every step meets, and limits that hold the size.
        size = 2.0 / count
        method = ("absolute_tolerance = 1.0e+03, relative_tolerance = 0.0, "
                  f"largest_step = {size!r}, smallest_step = {size!r}")
        got = evaluate(tmp_path, function_text(LINEAR, 3, 0, method, 1000), 2.0,
                       {"time": np.zeros(1), "step": np.array([size]), "y": y})
        assert got["status"][0] == 0 and got["steps"][0] == count
        errors.append(np.abs(got["states"][:, 0] - linear_solution(2.0, y[:, 0])))
    for state in range(3):
        orders = [math.log2(errors[i][state] / errors[i + 1][state]) for i in (0, 1)]
        assert all(4.7 < order < 6.3 for order in orders), (state, orders)


def test_error_follows_the_tolerance(tmp_path: Path) -> None:
    y = np.array([[1.0], [0.25], [0.5]])
    inputs = {"time": np.zeros(1), "step": np.array([1e-3]), "y": y}
    errors, steps = [], []
    for tolerance in (1e-4, 1e-6, 1e-8, 1e-10):
        method = f"absolute_tolerance = {tolerance!r}, relative_tolerance = {tolerance!r}"
        method = re.sub(r"(?<![\d.])1e", "1.0e", method).replace("0.0001", "1.0e-04")
        got = evaluate(tmp_path, function_text(LINEAR, 3, 0, method, 1000), 5.0, inputs)
        assert got["status"][0] == 0 and got["t1"][0] == 5.0
        error = np.abs(got["states"][:, 0] - linear_solution(5.0, y[:, 0])).max()
        assert 1e-3 * tolerance < error < 10 * tolerance, (tolerance, error)
        errors.append(error)
        steps.append(int(got["steps"][0]))
        (branches,) = got["branches"]
        assert branches["accepted"] + branches["rejected"] == steps[-1]
        assert branches["accepted"] > 5
    # Order 5: a hundredth of the tolerance takes 100^(1/5) = 2.5 times the steps.
    assert 2.0 < steps[3] / steps[2] < 3.0, steps


def fma(a: float, b: float, c: float) -> float:
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def brusselator(t: float, y: list[float]) -> list[float]:
    """dy/dt of the system below, with its roundings."""
    a, b = 1.0, 3.0
    v = [a, b * y[0], (1.0 * (y[0] * y[0])) * y[1], 1.0 * y[0]]
    x = 0.0
    for weight, term in zip((1.0, -1.0, 1.0, -1.0), v):
        x = fma(weight, term, x)
    z = fma(-1.0, v[2], fma(1.0, v[1], 0.0))
    return [x, z]


#: The Brusselator: steps of very different sizes, and rejected ones.
BRUSSELATOR = """
wavesmith.ode_system @net states ["X" : "1", "Y" : "1"] parameters [] time "s" {
  %a = arith.constant 1.0 : f64
  %b = arith.constant 3.0 : f64
  wavesmith.term %a : "1/s" gain ["X" = 1.0]
  wavesmith.term %b : "1/s" orders ["X" = 1.0] loss ["X" = 1.0] gain ["Y" = 1.0]
  wavesmith.term %a : "1/s" orders ["X" = 2.0, "Y" = 1.0] loss ["Y" = 1.0] gain ["X" = 1.0]
  wavesmith.term %a : "1/s" orders ["X" = 1.0] loss ["X" = 1.0]
}
"""


def second_step(t, h, y, end, absolute, relative, f):
    """One step: accepted or not, t, y, error, d and whether the end cut it."""
    cut = t + h >= end
    d, after = (end - t, end) if cut else (h, t + h)
    k = [f(t, y)]
    for s in range(1, 7):
        states = []
        for i, value in enumerate(y):
            total = 0.0
            for j in range(s):
                total = fma(A[s][j], k[j][i], total)
            states.append(fma(d, total + 0.0, value))
        k.append(f(after if s == 6 else fma(C[s], d, t), states))
    squares = 0.0
    for i, value in enumerate(y):
        total = 0.0
        for j in range(7):
            total = fma(E[j], k[j][i], total)
        r = (d * total) / fma(relative[i], max(abs(value), abs(states[i])), absolute[i])
        squares = fma(r, r, squares)
    error = math.sqrt(squares / len(y))
    return (after, states) if error <= 1.0 else (t, y), error, d, cut


def test_bits_of_a_second_integrator(tmp_path: Path) -> None:
    """Each step from where the evaluator stands before it: states and times to the last
    bit, step sizes to the two ulp of a power that is computed elsewhere."""
    absolute, relative = [1e-7, 1e-8], [1e-5, 1e-6]
    method = ("absolute_tolerance = [1.0e-07, 1.0e-08], "
              "relative_tolerance = [1.0e-05, 1.0e-06]")
    inputs = {"time": np.zeros(1), "step": np.array([0.5]), "y": np.array([[1.2], [3.1]])}
    got = evaluate(tmp_path, function_text(BRUSSELATOR, 2, 0, method, 5000), 12.0, inputs,
                   record=5000)
    count = int(got["steps"][0])
    (branches,) = got["branches"]
    assert got["status"][0] == 0 and count > 60 and branches["rejected"] >= 3, branches
    assert len(got["before-time"]) == count
    times = [*got["before-time"], got["t1"][0]]
    sizes = [*got["before-step"], got["h1"][0]]
    states = [*got["before-y"].T, got["states"][:, 0]]
    rejected = 0
    for n in range(count):
        (t, y), error, d, cut = second_step(
            times[n], sizes[n], list(map(float, states[n])), 12.0, absolute, relative,
            brusselator)
        assert t == times[n + 1] and y == list(states[n + 1]), n
        rejected += error > 1.0
        assert abs(error - 1.0) > 1e-12
        x = 0.9 * float(mpmath.mpf(error) ** mpmath.mpf(-0.2))
        wanted = d * min(max(x, 0.2), 10.0)
        if error <= 1.0 and cut:
            wanted = max(wanted, sizes[n])
        assert abs(sizes[n + 1] - wanted) <= 4 * np.finfo(float).eps * wanted, n
    assert rejected == branches["rejected"]


def test_records_go_on_with_the_same_bits(tmp_path: Path) -> None:
    inputs = {"time": np.zeros(1), "step": np.array([0.5]), "y": np.array([[1.2], [3.1]])}
    text = function_text(BRUSSELATOR, 2, 0, TOLERANCES, 5000)
    whole = evaluate(tmp_path, text, 4.0, inputs, record=5000)
    some = {name: whole[f"before-{name}"] for name in inputs}
    rest = evaluate(tmp_path, text, 4.0, some)
    count = int(whole["steps"][0])
    assert np.array_equal(rest["steps"], count - np.arange(count))
    for name in ("states", "t1", "h1"):
        assert np.array_equal(rest[name], np.repeat(whole[name], count, axis=-1)), name


def test_limits_and_statuses(tmp_path: Path) -> None:
    y = np.array([[1.2] * 3, [3.1] * 3])
    y[0, 1] = np.nan
    inputs = {"time": np.zeros(3), "step": np.full(3, 0.01), "y": y}

    def status(method: str, steps: int = 5000, **changes):
        got = evaluate(tmp_path, function_text(BRUSSELATOR, 2, 0, method, steps), 2.0,
                       {**inputs, **changes})
        # The broken zone has not moved and the others do not know.
        assert got["status"][1] == 2 and got["steps"][1] == 0 and got["t1"][1] == 0.0
        assert got["states"][1, 1] == 3.1 and got["h1"][1] == inputs["step"][1]
        assert got["steps"][0] == got["steps"][2]
        return int(got["status"][0]), got

    free, usual = status(TOLERANCES)
    assert free == 0 and usual["steps"][0] > 10
    code, got = status(TOLERANCES + ", largest_step = 0.015625")
    assert code == 0 and got["steps"][0] > usual["steps"][0] and got["steps"][0] >= 128
    # Time, states and step size are those at the start of the step that failed.
    code, got = status(TOLERANCES + ", smallest_step = 1.0")
    assert code == 2 and got["steps"][0] == 0 and got["h1"][0] == 0.01
    code, got = status("absolute_tolerance = 1.0e-30, relative_tolerance = 0.0, "
                       "smallest_step = 0.005")
    assert code == 2 and got["steps"][0] > 0 and got["h1"][0] < 0.005
    assert got["t1"][0] == 0.0 and got["states"][0, 0] == 1.2
    code, got = status(TOLERANCES, steps=5)
    assert code == 1 and got["steps"][0] == 5 and got["t1"][0] < 2.0
    code, got = status(TOLERANCES, step=np.array([0.0, 0.01, -1.0]))
    assert code == 2 and got["status"].tolist() == [2, 2, 2] and not got["steps"].any()
    code, got = status(TOLERANCES, time=np.array([2.0, 0.0, np.inf]))
    assert got["status"].tolist() == [0, 2, 0] and not got["steps"].any()
    # An infinite first step is one to the end.
    code, got = status(TOLERANCES, step=np.array([np.inf, 0.01, np.inf]))
    assert code == 0 and np.isfinite(got["h1"][0]) and got["branches"][0]["rejected"] > 0


#: y' = y^2 leaves every bound at t = 1 / y(0).
EXPLOSION = """
wavesmith.ode_system @net states ["A" : "1", "B" : "1"] parameters [] time "s" {
  %k = arith.constant 1.0 : f64
  wavesmith.term %k : "1/s" orders ["A" = 2.0] gain ["A" = 1.0]
  wavesmith.term %k : "1/s" orders ["B" = 1.0] loss ["B" = 1.0]
}
"""


def test_an_explosion_harms_no_other_zone(tmp_path: Path) -> None:
    text = function_text(EXPLOSION, 2, 0, TOLERANCES, 5000)
    y = np.array([[0.1, 1.0, 0.2], [1.0, 1.0, 1.0]])
    inputs = {"time": np.zeros(3), "step": np.full(3, 1e-3), "y": y}
    together = evaluate(tmp_path, text, 2.0, inputs)
    assert together["status"].tolist() == [0, 2, 0]
    assert 0.999 < together["t1"][1] < 1.001
    for zone in (0, 2):
        one = {name: array[..., zone:zone + 1] for name, array in inputs.items()}
        alone = evaluate(tmp_path, text, 2.0, one)
        for name in RESULTS:
            assert np.array_equal(alone[name], together[name][..., zone:zone + 1]), name
        assert abs(alone["states"][0, 0] - 1 / (1 / y[0, zone] - 2.0)) < 1e-5


# ---------------------------------------------------------------------------
# Kernels
# ---------------------------------------------------------------------------

#: Rates that depend on the temperature, on nothing, on the time and on the states,
#: terms of each order, a catalyst whose weights cancel, a state that nothing changes.
NETWORK = """
wavesmith.ode_system @net states ["A" : "mol/l", "B" : "mol/l", "C" : "mol/l", "D" : "mol/l", "E" : "mol/l"]
    parameters ["T" : "K", "X" : "1"] time "s" {
  %T = wavesmith.parameter "T"
  %X = wavesmith.parameter "X"
  %k1 = wavesmith.arrhenius %T A 3.0e+01 b 0.5 E 4.0e+07
  %k2 = wavesmith.arrhenius %T A 2.0e+04 b -0.5 E 2.0e+07
  %k3 = arith.constant 5.0 : f64
  %d = wavesmith.state "D"
  %share = arith.divf %d, %X : f64
  %k5 = arith.mulf %share, %k3 : f64
  %t = wavesmith.time
  %k6 = arith.mulf %t, %k1 : f64
  wavesmith.term %k1 : "1/s" orders ["A" = 1.0] loss ["A" = 1.0] gain ["B" = 1.0]
  wavesmith.term %k2 : "l/mol/s" orders ["A" = 1.0, "B" = 1.0] loss ["A" = 1.0, "B" = 1.0] gain ["C" = 1.0, "D" = 1.0]
  wavesmith.term %k2 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 2.0] gain ["A" = 1.0, "D" = 1.0]
  wavesmith.term %k3 : "l^2/mol^2/s" orders ["C" = 3.0] loss ["C" = 3.0] gain ["A" = 3.0]
  wavesmith.term %k3 : "1/s" orders ["C" = 1.0] loss ["C" = 1.0] gain ["D" = 1.0]
  wavesmith.term %k5 : "1/s" orders ["D" = 1.0] loss ["D" = 1.0] gain ["A" = 1.0]
  wavesmith.term %k6 : "l/mol/s" orders ["B" = 1.0, "E" = 1.0] loss ["B" = 1.0, "E" = 1.0] gain ["A" = 1.0, "E" = 1.0]
}
"""
METHODS = {
    "uniform": TOLERANCES,
    "per_state": ("absolute_tolerance = [1.0e-09, 1.0e-10, 1.0e-09, 1.0e-08, 1.0e-06], "
                  "relative_tolerance = [1.0e-06, 1.0e-05, 1.0e-05, 1.0e-06, 0.0], "
                  "safety = 0.8, smallest_factor = 0.3, largest_factor = 4.0, "
                  "smallest_step = 1.0e-04, largest_step = 0.02"),
}


def network_zones() -> dict[str, np.ndarray]:
    """Seven zones: one starts with NaN, one after the end, one with too large a step,
    one with too small a step, one that overflows."""
    random = np.random.default_rng(4)
    y = random.uniform(0.05, 0.3, (5, 7))
    y[1, 2] = np.nan
    y[2, 4], y[2, 6] = 1e150, 1e102
    time = np.full(7, 1e-3)
    time[3] = 3.0
    step = random.uniform(1e-4, 1e-3, 7)
    step[1], step[5] = 10.0, 1e-6
    return {"time": time, "step": step, "y": y,
            "p": np.stack([random.uniform(600.0, 2500.0, 7), random.uniform(1.0, 4.0, 7)])}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_mapping_has_the_bits_of_the_reference(
    tmp_path: Path, target: str, method: str
) -> None:
    inputs = network_zones()
    wanted = evaluate(tmp_path, function_text(NETWORK, 5, 2, METHODS[method], 60), 0.5, inputs)
    status, steps = wanted["status"], wanted["steps"]
    assert status[[2, 4]].tolist() == [2, 2] and status[3] == 0
    assert not steps[[2, 3, 4]].any()
    assert wanted["branches"][6]["rejected"] > 1
    assert status[0] == 0 and steps[0] > 10 and wanted["t1"][0] == 0.5
    assert status[5] == (2 if method == "per_state" else 0)
    assert wanted["branches"][1]["rejected"] >= (method == "uniform")
    for size, threads in ((64, 64), (256, 256), (64, 8), (128, 32), (64, 1)):
        code, report = tmp_path / f"{size}-{threads}.hsaco", tmp_path / "report.json"
        run_tool("wavesmith-compile", tmp_path / "module.mlir", f"--target={target}",
                 f"--workgroup-size={size}", f"--threads-per-zone={threads}", "-o", code)
        got = run(tmp_path, "wavesmith-run", code, 0.5, inputs, "--device=sim", "--check",
                  f"--report={report}")
        assert json.loads(report.read_text())["findings"] == []
        for name in RESULTS:
            assert got[name].dtype == wanted[name].dtype
            assert np.array_equal(got[name], wanted[name], equal_nan=True), (size, threads, name)


def test_workgroup_code_has_the_bits_of_the_reference(tmp_path: Path) -> None:
    inputs = network_zones()
    wanted = evaluate(tmp_path, function_text(NETWORK, 5, 2, TOLERANCES, 60), 0.5, inputs)
    code = tmp_path / "workgroup.mlir"
    run_tool("wavesmith-opt", tmp_path / "module.mlir", "--wavesmith-attach-target",
             "--wavesmith-select-schedule=workgroup-size=64 threads-per-zone=16",
             "--convert-wavesmith-ode-to-workgroup", "-o", code)
    got = run(tmp_path, "wavesmith-evaluate", code, 0.5, inputs)
    for name in RESULTS:
        assert np.array_equal(got[name], wanted[name], equal_nan=True), name


def test_zones_are_alone(tmp_path: Path) -> None:
    """The bits of a zone do not depend on how many others there are."""
    (tmp_path / "module.mlir").write_text(function_text(NETWORK, 5, 2, TOLERANCES, 60))
    code = tmp_path / "k.hsaco"
    run_tool("wavesmith-compile", tmp_path / "module.mlir", "--target=gfx90a", "-o", code)
    inputs = network_zones()
    together = run(tmp_path, "wavesmith-run", code, 0.5, inputs, "--device=sim")
    for zone in (0, 6):
        one = {name: array[..., zone:zone + 1] for name, array in inputs.items()}
        alone = run(tmp_path, "wavesmith-run", code, 0.5, one, "--device=sim")
        for name in RESULTS:
            assert np.array_equal(alone[name], together[name][..., zone:zone + 1])
