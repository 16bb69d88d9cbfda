# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Systems written in Python and systems of mechanisms, computed on the simulator.
Expected values are plain NumPy, Cantera or pynucastro."""

from __future__ import annotations

import copy as copy_module
import functools
import inspect
import math
import pickle
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

ws = pytest.importorskip("wavesmith")
pytest.importorskip("wavesmith.kernel")

TARGETS = ["gfx90a", "gfx942"]
R = 8.31446261815324
CHAIN = ["N0", "N1", "N2", "N3"]
TABLE = {"N0": 2.0, "N1": 3.0, "N2": 0.5}


@ws.ode_system
def robertson(
    A: ws.State("mol/l", mass=1.0),
    B: ws.State("mol/l", mass=1.0),
    C: ws.State("mol/l", mass=1.0),
):
    """Robertson's three reactions."""
    ws.reaction(0.04, "A -> B")
    ws.reaction(3e7, "2 B -> B + C")
    ws.term(1e4, orders={"B": 1, "C": 1}, reactants={B: 1}, products={A: 1})


def arrhenius(T, A, E):
    return A * math.exp(-E / T)


class Decay:
    """A helper with a method and data of its own."""

    def __init__(self, factor):
        self.factor = factor

    def rate(self, T, n):
        if n == 0:
            return self.factor * arrhenius(T, 1.0, 100.0)
        return self.factor * n + 0.0 * T


def add_chain(Y, T, decay):
    for i, (name, k) in enumerate(sorted(TABLE.items())):
        ws.term(k * decay.rate(T, i), reactants={Y[name]: 1}, products={Y[i + 1]: 1})


@ws.ode_system(name="many_things")
def everything(
    Y: ws.States(CHAIN, "mol/l"),
    X: ws.State("mol/l", name="X(s)"),
    T: ws.Parameter("K"),
    p: ws.Parameters(["p0", "p1"], "1"),
    t: ws.Time("ms"),
):
    add_chain(Y, T, Decay(1.5))
    total = sum(Y) + X
    # Choices, conditions and functions.
    hot = T > 1000.0 and not (T >= 2000.0 or p[0] == 1.0)
    k = 2.0 if hot else 3.0
    k *= max(p["p0"], p["p1"]) - min(p["p0"], 0.25) + abs(-p[1])
    k = k + ws.math.fma(p[0], 2.0, t) + T**2 / 1e6 + T**5 / 1e15 + T**-1 + T**0.5 - (-p[1]) ** 3
    k = k + np.sqrt(T) + ws.math.where(300.0 < T < 1500.0, p[0], p[1]) + p[0] ** p[1]
    squares = [n * n for n in range(4) if n % 2]
    names = {f"N{n}": float(n) for n in (1, 2)}
    shift = lambda x, by=1.0: x + by  # noqa: E731
    k = k + sum(squares) * shift(p[0]) + ws.math.fmod(T, 7.0) + math.log(T, 2) + math.log10(T)

    def scale(x):
        return x / 1e3

    v = ws.reaction(scale(k), "X(s) + N0 -> 1.5 N3", orders={"X(s)": 0.5, "N0": 1})
    i = 0
    while True:
        i += 1
        if i == 2:
            continue
        if i > 3:
            break
        ws.term(0.1 * i * v / total, products=names)
    assert len(squares) == 2
    ws.reaction(0.3 * t, "N2 <=> N3", reverse=0.1)


def expected_everything(y, T, p, t):
    n0, n1, n2, n3, x = y
    rates = [2.0 * 1.5 * np.exp(-100.0 / T), 3.0 * 1.5, 0.5 * 3.0]
    d = np.zeros_like(y)
    for i, k in enumerate(rates):
        d[i] -= k * y[i]
        d[i + 1] += k * y[i]
    total = y.sum(axis=0)
    hot = (T > 1000.0) & ~((T >= 2000.0) | (p[0] == 1.0))
    k = np.where(hot, 2.0, 3.0)
    k = k * (np.maximum(p[0], p[1]) - np.minimum(p[0], 0.25) + np.abs(p[1]))
    k = k + p[0] * 2.0 + t + T**2 / 1e6 + T**5 / 1e15 + 1 / T + T**0.5 + p[1] ** 3
    k = k + np.sqrt(T) + np.where((300.0 < T) & (T < 1500.0), p[0], p[1]) + p[0] ** p[1]
    k = k + 10 * (p[0] + 1.0) + np.fmod(T, 7.0) + np.log2(T) + np.log10(T)
    v = k / 1e3 * np.sqrt(x) * n0
    d[4] -= v
    d[0] -= v
    d[3] += 1.5 * v
    for i in (1, 3):
        d[1] += 0.1 * i * v / total
        d[2] += 0.2 * i * v / total
    w = 0.3 * t * n2 - 0.1 * n3
    d[2] -= w
    d[3] += w
    return d


@pytest.mark.parametrize("target", TARGETS)
def test_everything(target):
    random = np.random.default_rng(3)
    y = random.uniform(0.1, 1.0, (5, 40))
    T = random.uniform(250.0, 2500.0, 40)
    p = random.uniform(0.1, 1.0, (2, 40))
    p[0, 3] = 1.0
    got = everything.rhs(T, p[0], p[1], y, t=0.7, target=target, device="sim")
    np.testing.assert_allclose(got, expected_everything(y, T, p, 0.7), rtol=1e-12, atol=1e-14)
    assert everything.name == "many_things" and everything.time_unit == "ms"
    assert everything.states == (*CHAIN, "X(s)") and everything.parameters == ("T", "p0", "p1")
    # The other layout has the same bits.
    aos = everything.rhs(
        y=y.T, T=T, p0=p[0], p1=p[1], t=0.7, target=target, device="sim", layout="aos"
    )
    assert np.array_equal(aos.T, got)


def test_text_of_a_system():
    text = robertson.to_mlir()
    assert 'wavesmith.ode_system @robertson states ["A" : "mol/l"' in text
    assert 'wavesmith.term %c_1 : "l/mol/s" orders ["B" = 2.0] loss ["B" = 2.0]' in text
    lines, first = Path(__file__).read_text().splitlines(), None
    for number, line in enumerate(lines, 1):
        if '"A -> B"' in line and first is None:
            first = number
    assert f"test_systems.py\":{first}:5)" in text
    assert repr(robertson) == "<system robertson: 3 states, 0 parameters, 3 terms>"
    assert robertson.__doc__ == "Robertson's three reactions."
    assert ws.compile(robertson).asm["hsaco"][:4] == b"\x7fELF"


def test_shapes():
    y = np.random.default_rng(1).uniform(0.1, 1.0, (3, 7))
    r1, r2, r3 = 0.04 * y[0], 3e7 * y[1] ** 2, 1e4 * y[1] * y[2]
    production, loss = robertson.production_loss(y, device="sim")
    np.testing.assert_allclose(production, [r3, r1 + r2, r2], rtol=1e-14)
    np.testing.assert_allclose(loss, [r1, 2 * r2 + r3, 0 * r1], rtol=1e-14)
    k, v = robertson.term_values(y, device="sim")
    np.testing.assert_allclose(v, [r1, r2, r3], rtol=1e-14)
    np.testing.assert_allclose(k[:, 0], [0.04, 3e7, 1e4])
    whole = robertson.rhs(y, device="sim")
    np.testing.assert_allclose(whole, [r3 - r1, r1 - r2 - r3, r2], rtol=1e-13)
    assert robertson.report["zones"] == 7
    # One zone, other types, dictionaries.
    assert np.array_equal(robertson.rhs(y[:, 2], device="sim"), whole[:, 2])
    assert robertson.rhs([1, 0, 0], device="sim").tolist() == [-0.04, 0.04, 0.0]
    named = robertson.rhs({"A": y[0], "C": 0.5}, device="sim")
    assert np.array_equal(named[0], -0.04 * y[0])
    assert robertson.rhs({"A": 1}, device="sim").shape == (3,)
    # Numbers of another unit, and results in it.
    scaled = robertson.rhs(y * 1e-3, unit="mol/cm^3", device="sim")
    np.testing.assert_allclose(scaled, whole * 1e-3, rtol=1e-12)


def test_one_composition_at_many_temperatures():
    @ws.ode_system
    def decay(A: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.term(ws.arrhenius(T, 2.0, 0.5, 100.0), reactants=A)

    T = np.array([200.0, 300.0, 900.0])
    got = decay.rhs(T, [3.0], device="sim")
    assert got.shape == (1, 3)
    np.testing.assert_allclose(got[0], -6.0 * np.sqrt(T) * np.exp(-100.0 / T), rtol=1e-14)
    assert decay.rhs(300.0, [3.0], device="sim").shape == (1,)


def test_kinds_of_rates():
    """Against the formulas of their descriptions."""

    @ws.ode_system
    def kinds(
        O: ws.State("kmol/m^3"), O2: ws.State("kmol/m^3"), T: ws.Parameter("K"),
        P: ws.Parameter("Pa"),
    ):  # fmt: skip
        total = ws.weighted_sum({"O": 1, O2: 1})
        M = ws.third_body(total, {"O2": 0.5}, default=2.0)
        low, high = ws.arrhenius(T, 3.0, 0.5, 200.0), ws.arrhenius(T, 7.0)
        pr = ws.reduced_pressure(low, high, M)
        troe = ws.troe(T, pr, 0.6, 100.0, 1000.0, 5000.0)
        ws.term(ws.falloff(high, pr, troe), products=O)
        ws.term(ws.falloff(high, pr), products=O)
        ws.term(ws.chemically_activated(low, pr, ws.tsang(T, pr, 0.9, -1e-4)), products=O)
        ws.term(ws.sri(T, pr, 0.5, 200.0, 1000.0), products=O)
        ws.term(ws.reaclib(T * 1e6, [[1.0, 0.0, -0.5, 0.1, 0.0, 0.0, 0.2]]), products=O)
        ws.term(ws.plog(T, P, [[1e4, 2.0, 0.0, 100.0], [1e6, 3.0, 0.5, 50.0]]), products=O)
        ws.term(
            ws.chebyshev(T, P, [300.0, 2000.0], (1e3, 1e7), [[8.0, -1.0], [2.0, 1.0]]),
            products=O,
        )
        low_g = [2.5, 1e-3, 0, 0, 0, 100.0, 1.0]
        g = ws.nasa7("gibbs", T, 1000.0, low_g, low_g)
        ws.term(ws.reverse_rate(high, T, [(g, 1), (g, -2.0)]), products=O)
        ws.term(ws.third_body(total, default=0.25), products=O)

    T, P, y = 700.0, 2e5, np.array([0.2, 0.3])
    _, got = kinds.term_values(T, P, y, device="sim")
    M = 2.0 * 0.5 + (0.5 - 2.0) * 0.3
    low, high = 3.0 * T**0.5 * math.exp(-200.0 / T), 7.0
    pr = M * low / high

    def blend(f):
        lf = math.log10(f)
        a = math.log10(pr) - 0.67 * lf - 0.4
        return 10 ** (lf / (1 + (a / (0.75 - 1.27 * lf - 0.14 * a)) ** 2))

    troe = blend(0.4 * math.exp(-T / 100.0) + 0.6 * math.exp(-T / 1000.0) + math.exp(-5000.0 / T))
    sri = (0.5 * math.exp(-200.0 / T) + math.exp(-T / 1000.0)) ** (1 / (1 + math.log10(pr) ** 2))
    t9 = T / 1e3
    reaclib = math.exp(1.0 - 0.5 * t9 ** (-1 / 3) + 0.1 * t9 ** (1 / 3) + 0.2 * math.log(t9))
    ends = [2.0 * math.exp(-100.0 / T), 3.0 * T**0.5 * math.exp(-50.0 / T)]
    share = math.log(P / 1e4) / math.log(100.0)
    plog = ends[0] ** (1 - share) * ends[1] ** share
    ct = (2 / T - 1 / 300 - 1 / 2000) / (1 / 2000 - 1 / 300)
    cp = (2 * math.log10(P) - 3 - 7) / 4
    cheb = 10 ** (8.0 - 1.0 * cp + ct * (2.0 + cp))
    g = 2.5 * (1 - math.log(T)) - 1e-3 * T / 2 + 100.0 / T - 1.0
    # One mole fewer: g of the net is 1 - 2 of them.
    reverse = high * math.exp(math.log(101325.0 / (1000 * R * T)) + g - 2.0 * g)
    wanted = [
        high * pr / (1 + pr) * troe, high * pr / (1 + pr), low / (1 + pr) * blend(0.9 - 1e-4 * T),
        sri, reaclib, plog, cheb, reverse, 0.125,
    ]  # fmt: skip
    np.testing.assert_allclose(got, wanted, rtol=1e-11)


# Integration ------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_integrate(target):
    """A chain of two decays, whose solution is known."""

    @ws.ode_system
    def chain(
        A: ws.State("mol/l", mass=2.0), B: ws.State("mol/l", mass=2.0),
        C: ws.State("mol/l", mass=2.0), k: ws.Parameter("1/s"),
    ):  # fmt: skip
        ws.reaction(k, "A -> B")
        ws.reaction(0.5, "B -> C")

    k = np.array([1.0, 2.0, 4.0])
    seen = []
    result = chain.integrate(
        {"A": [1.0, 1.0, np.nan]}, 2.0, k=k, target=target, device="sim",
        flux_fraction=1e-3, progress=lambda done, zones: seen.append((done, zones)), batch=2,
    )  # fmt: skip
    assert seen == [(2, 3), (3, 3)]
    assert result.status.tolist() == [0, 0, 2] and result.finished.tolist() == [True, True, False]
    assert result.t[:2].tolist() == [2.0, 2.0] and (result.steps[:2] > 100).all()
    a = np.exp(-k * 2.0)
    b = k / (0.5 - k) * (np.exp(-k * 2.0) - np.exp(-0.5 * 2.0))
    np.testing.assert_allclose(result.y[:, :2], np.stack([a, b, 1 - a - b])[:, :2], atol=5e-3)
    assert repr(result) == "<integration of 3 zones: 2 finished, 1 failed>"
    # Batches change no bit; a zone alone neither.
    alone = chain.integrate([1.0, 0.0, 0.0], 2.0, k=2.0, target=target, device="sim",
                            flux_fraction=1e-3)  # fmt: skip
    assert np.array_equal(alone.y, result.y[:, 1]) and alone.steps == result.steps[1]
    short = chain.integrate([1.0, 0.0, 0.0], 2.0, k=2.0, max_steps=5, target=target, device="sim")
    assert short.status == ws.Status.TOO_MANY_STEPS and short.steps == 5 and short.t < 2.0
    aos = chain.integrate([[1.0, 0.0, 0.0]] * 2, 2.0, k=2.0, flux_fraction=1e-3, layout="aos",
                          target=target, device="sim")  # fmt: skip
    assert np.array_equal(aos.y[0], alone.y) and aos.y.shape == (2, 3)


def test_stiff():
    """Robertson's problem to t = 0.4, against published values to the method's accuracy."""
    result = robertson.integrate({"A": 1.0}, 0.4, device="sim", t0=1e-9, flux_fraction=1e-3)
    assert result.status == 0
    # As the literature on stiff solvers has it.
    wanted = np.array([9.8517e-1, 3.3864e-5, 1.4794e-2])
    assert np.all(np.abs(result.y - wanted) / wanted < 0.05), result.y


# Fractions --------------------------------------------------------------------


def test_fractions():
    @ws.ode_system
    def gas(H2: ws.State("mol/l", mass=2.0), O2: ws.State("mol/l", mass=32.0),
            T: ws.Parameter("K")):  # fmt: skip
        ws.reaction(T, "H2 -> O2")

    w = np.array([[0.2, 0.5], [0.8, 0.5]])
    y = gas.from_mass_fractions(w, density=[1.0, 2.0])
    # kg/m^3 over g/mol is kmol/m^3, which is mol/l.
    np.testing.assert_allclose(y, w * [1.0, 2.0] / np.array([[2.0], [32.0]]), rtol=1e-14)
    np.testing.assert_allclose(gas.to_mass_fractions(y), w, rtol=1e-14)
    x = gas.to_mole_fractions(y)
    np.testing.assert_allclose(x, y / y.sum(axis=0), rtol=1e-15)
    by_pressure = gas.from_mole_fractions(x, pressure=1e5, T=[300.0, 600.0])
    np.testing.assert_allclose(
        by_pressure.sum(axis=0), 1e5 / (R * np.array([300.0, 600.0])) * 1e-3, rtol=1e-14
    )
    np.testing.assert_allclose(gas.to_mole_fractions(by_pressure), x, rtol=1e-14)
    aos = gas.from_mass_fractions(w.T, density=[1.0, 2.0], layout="aos")
    assert np.array_equal(aos, y.T)
    # Rates in fractions: a reaction that turns one molecule into one of 16 times the mass
    # (no real one) shows the weights.
    dw = gas.rhs(300.0, w, basis="mass_fractions", density=[1.0, 2.0], device="sim")
    np.testing.assert_allclose(dw, [[-300 * w[0, 0], -300 * w[0, 1]],
                                    [4800 * w[0, 0], 4800 * w[0, 1]]], rtol=1e-13)  # fmt: skip
    dx = gas.rhs(300.0, x, basis="mole_fractions", pressure=1e5, device="sim")
    np.testing.assert_allclose(dx, [-300 * x[0], 300 * x[0]], rtol=1e-13)
    with pytest.raises(ValueError, match="fractions need density= "):
        gas.from_mass_fractions(w)
    with pytest.raises(ValueError, match="needs the temperature T"):
        gas.from_mass_fractions(w, pressure=1e5)
    with pytest.raises(ValueError, match="mole fractions are not defined"):
        gas.production_loss(300.0, x, basis="mole_fractions", pressure=1e5)


# Mechanisms -------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_cantera(target):
    ct = pytest.importorskip("cantera")
    gas = ct.Solution("h2o2.yaml")
    system = ws.load_mechanism("h2o2.yaml")
    assert system.states == tuple(gas.species_names) and system.parameters == ("T",)
    T = np.array([900.0, 1500.0, 2100.0])
    x = {"H2": 0.3, "O2": 0.2, "OH": 0.05, "H": 0.01, "AR": 0.44}
    wanted = []
    for temperature in T:
        gas.TPX = temperature, 2e5, x
        wanted.append(gas.net_production_rates)
    scale = np.abs(wanted).max(axis=1)
    got = system.rhs(T, system.from_mole_fractions(x, pressure=2e5, T=T), target=target,
                     device="sim")  # fmt: skip
    assert np.all(np.abs(got.T - wanted) <= 1e-12 * scale[:, np.newaxis])
    # In mass fractions: dw/dt = W rate / density.
    w, density = gas.Y, gas.density
    rate = system.rhs(T[2], w, basis="mass_fractions", density=density, target=target,
                      device="sim")  # fmt: skip
    expected = gas.molecular_weights * gas.net_production_rates / density
    assert np.all(np.abs(rate - expected) <= 1e-11 * np.abs(expected).max())
    assert np.array_equal(ws.load_mechanism(gas).rhs(
        T[2], w, basis="mass_fractions", density=density, target=target, device="sim"
    ), rate)  # fmt: skip


def test_integrate_cantera_in_mass_fractions():
    ct = pytest.importorskip("cantera")
    gas = ct.Solution("h2o2.yaml")
    gas.TPX = 1500.0, 1e5, "H2:0.2, O2:0.2, AR:0.6"
    density, w = gas.density, gas.Y
    system = ws.load_mechanism(gas)
    end = 1e-5
    results = [
        system.integrate(
            w, end, T=1500.0, basis="mass_fractions", density=density, device="sim",
            t0=1e-11, flux_fraction=flux, time_fraction=time, tolerance=1e-9,
        )
        for flux, time in ((1e-6, 0.1), (1e-7, 0.01))
    ]  # fmt: skip
    for result in results:
        assert result.status == 0 and abs(result.y.sum() - 1.0) < 1e-12
    reactor = ct.IdealGasReactor(gas, energy="off", clone=False)
    network = ct.ReactorNet([reactor])
    network.rtol, network.atol = 1e-10, 1e-16
    network.advance(end)
    wanted = gas.Y
    large = wanted > 1e-6
    coarse, fine = (np.abs(r.y[large] / wanted[large] - 1.0).max() for r in results)
    # The method is of first order.
    assert fine < 0.15 and fine < coarse / 2, (coarse, fine)


def test_pynucastro():
    pynucastro = pytest.importorskip("pynucastro")
    names = ["p", "he4", "c12", "n13", "c13", "n14", "o15", "n15", "o16"]
    system = ws.load_mechanism(names, name="cno")
    assert system.name == "cno" and system.parameters == ("T", "rho")
    library = pynucastro.ReacLibLibrary().linking_nuclei(names)
    assert ws.load_mechanism(library).states == system.states
    network = pynucastro.PythonNetwork(libraries=[library])
    assert ws.load_mechanism(network).num_terms == system.num_terms
    w = np.full(len(system.states), 1.0 / len(system.states))
    y = system.from_mass_fractions(w)
    masses = np.array([system.masses[s] for s in system.states])
    np.testing.assert_allclose(y, w / masses, rtol=1e-15)
    got = system.rhs(1e8, 100.0, w, basis="mass_fractions", device="sim")
    plain = system.rhs(1e8, 100.0, y, device="sim")
    np.testing.assert_allclose(got, plain * masses, rtol=1e-13, atol=1e-40)
    # Nucleons are conserved.
    assert abs(got.sum()) <= 1e-13 * np.abs(got).sum()
    with pytest.raises(ValueError, match="need neither density nor pressure"):
        system.from_mass_fractions(w, density=1.0)


def test_mechanism_errors(tmp_path):
    with pytest.raises(ws.importers.MechanismError, match="cannot tell what 'gri30.xml' is"):
        ws.load_mechanism("gri30.xml")
    with pytest.raises(TypeError, match="expected the name of a file.*got int"):
        ws.load_mechanism(3)
    with pytest.raises(ValueError, match="phase= is for files of Cantera"):
        ws.load_mechanism(["p"], phase="gas")


def test_reading_needs_no_binding(tmp_path):
    import subprocess

    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nsys.modules['wavesmith._wavesmith'] = None\nimport wavesmith as ws\n"
        "@ws.ode_system\ndef net(A: ws.State):\n    ws.term(1.0, reactants=A)\n"
        "print(net.to_mlir())\n"
    )
    package = Path(ws.__file__).parents[1]
    run = subprocess.run([sys.executable, script], capture_output=True, text=True,
                         env={"PYTHONPATH": str(package)})  # fmt: skip
    assert run.returncode == 0 and "wavesmith.ode_system @net" in run.stdout, run.stderr


def test_text_of_integrations():
    """What the compiler is asked for."""
    text = robertson.to_mlir("integrate", conserved={"A": 1, "C": 2.0}, total=1, max_steps=7)
    assert (
        "wavesmith.ode_integrate @robertson(%time, %end, %step, %y) method "
        "#wavesmith.asymptotic<flux_fraction = 0.01, time_fraction = 0.1, tolerance = 1.0e-07> "
        'conserved ["A" = 1.0, "C" = 2.0] total 1.0 max_steps 7 : '
        "(tensor<?xf64>, f64, tensor<?xf64>, tensor<3x?xf64>) -> "
    ) in text
    text = robertson.to_mlir("integrate", "aos", method="tsit5", atol={"B": 1e-15}, rtol=1e-4)
    assert (
        "method #wavesmith.tsit5<absolute_tolerance = [1.0e-12, 1.0e-15, 1.0e-12], "
        "relative_tolerance = 0.0001> max_steps 1000000 "
        "{layout = #wavesmith.zone_layout<aos>} : "
    ) in text
    with pytest.raises(ValueError, match="atol: expected one number, or one for each of the 3"):
        robertson.to_mlir("integrate", method="tsit5", atol=[1.0, 2.0])
    with pytest.raises(ValueError, match="method 'tsit5' takes no conserved sum"):
        robertson.to_mlir("integrate", method="tsit5", conserved={"A": 1})


def test_tsit5():
    """A decay, to the tolerance."""

    @ws.ode_system
    def decay(A: ws.State("mol/l"), k: ws.Parameter("1/s")):
        ws.term(k, reactants=A)

    k = np.array([0.5, 1.0, 2.0])
    try:
        result = decay.integrate([1.0], 3.0, k=k, method="tsit5", rtol=1e-8, device="sim")
    except ws.CompileError as error:
        if "tsit5" not in str(error):
            raise
        pytest.skip("this compiler has no method 'tsit5'")
    assert result.status.tolist() == [0, 0, 0] and (result.steps > 5).all()
    np.testing.assert_allclose(result.y[0], np.exp(-3.0 * k), rtol=1e-6)


def doubled(function):
    @functools.wraps(function)
    def call(T):
        return 2.0 * function(T)

    return call


@doubled
def wrapped_rate(T):
    return 3.0 * T


@functools.cache
def kept_rate(T):
    return 5.0 * T


class Rates:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, T):
        return self.factor * T

    def add(self):
        self.add_one("A", "B")

    def add_one(self, reactant, product):
        ws.reaction(self.factor, f"{reactant} -> {product}")


def with_order(T, n, factor):
    return factor * T**n


LAMBDAS = [lambda x, n=n: n * x for n in (7.0, 11.0)]
TWO = (lambda x: 13.0 * x, lambda x: 17.0 * x)


@pytest.mark.parametrize(
    ("rate", "factor"),
    [(wrapped_rate, 6.0), (kept_rate, 5.0), (Rates(2.0), 2.0), (LAMBDAS[1], 11.0),
     (functools.partial(with_order, n=1, factor=3.0), 3.0), (TWO[1], 17.0),
     (lambda T: math.prod([T, 2.0, 3.0]), 6.0)],
)  # fmt: skip
def test_helpers_of_all_kinds(rate, factor):
    """Whatever Python calls: with its own arguments, and what a decorator made of it."""

    @ws.ode_system
    def net(A: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.term(rate(T), reactants=A)

    T = np.array([1.0, 2.0])
    np.testing.assert_array_equal(net.rhs(T, {"A": 1.0}, device="sim"), [-factor * T])


def test_methods_that_add_terms():
    rates = Rates(4.0)

    @ws.ode_system
    def net(A: ws.State("mol/l"), B: ws.State("mol/l")):
        rates.add()

    assert net.rhs([2.0, 0.0], device="sim").tolist() == [-8.0, 8.0]


def make_chain(names, unit):
    @ws.ode_system
    def chain(N: ws.States(names, unit)):
        ws.term(2.0, reactants=N[0], products=N[1])

    return chain


@pytest.mark.parametrize("head", ["", "from __future__ import annotations"])
def test_annotations_of_factories(tmp_path, head):
    """Names of the enclosing function that only an annotation uses, evaluated by Python or
    kept as text."""
    path = tmp_path / "factory.py"
    path.write_text(f"{head}\nimport wavesmith as ws\n{inspect.getsource(make_chain)}")
    names = runpy.run_path(str(path))
    assert names["make_chain"](["a", "b"], "mol/g").states == ("a", "b")


def test_python_of_data():
    """What Python computes of its own data is what Python computes."""
    table = np.array([1.0, 2.0, 4.0])
    pairs = [("x", 3.0), ("y", 5.0)]

    @ws.ode_system
    def net(A: ws.State("mol/l")):
        chosen = table[table > 1.5]
        for k in chosen:
            ws.term(k, reactants=A)
        ws.term(next(v for n, v in pairs if n == "y"), reactants=A)

    assert net.rhs([1.0], device="sim").tolist() == [-11.0]


def test_copies_of_systems():
    """A system that has run goes to other processes all the same."""
    y = np.array([[1.0, 0.5], [0.0, 1e-5], [0.0, 0.5]])
    wanted = robertson.rhs(y, device="sim")
    for copy in (pickle.loads(pickle.dumps(robertson)), copy_module.deepcopy(robertson)):
        assert copy.report is None and copy.states == robertson.states
        np.testing.assert_array_equal(copy.rhs(y, device="sim"), wanted)
