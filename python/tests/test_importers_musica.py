# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MUSICA's mechanisms, against their formulas in NumPy."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import wavesmith as ws
from wavesmith.importers import MechanismError, UnsupportedMechanismError, from_musica

R, K_B = 8.31446261815324, 1.380649e-23


def side(**species):
    return [{"species name": name, "coefficient": n} for name, n in species.items()]


MECHANISM = {
    "version": "1.0.0",
    "name": "Small Air",
    "species": [
        {"name": "M", "tracer type": "THIRD_BODY"},
        {"name": "N2", "constant mixing ratio [mol mol-1]": 0.78},
        {"name": "W", "constant concentration [mol m-3]": 0.5},
        {"name": "A", "molecular weight [kg mol-1]": 0.048},
        {"name": "B", "molecular weight [kg mol-1]": 0.016},
        {"name": "C"},
        {"name": "elsewhere"},
    ],
    "phases": [{"name": "gas", "species": ["A", "B", "C", "M", {"name": "N2"}, "W"]}],
    "reactions": [
        {"type": "ARRHENIUS", "gas phase": "gas", "name": "one", "A": 32.1, "B": -2.3, "C": 102.3,
         "D": 63.4, "E": 1.3e-5, "reactants": side(A=1, B=2), "products": side(C=1.2)},
        {"type": "ARRHENIUS", "name": "two", "A": 3.0, "Ea": 2.8e-21,
         "reactants": side(A=1, M=1, N2=2, W=1), "products": side(B=1, M=1)},
        {"type": "TROE", "name": "three", "k0_A": 2e-2, "k0_B": -1.6, "k0_C": 3.0,
         "kinf_A": 4.0, "kinf_B": 0.5, "kinf_C": 24.0, "Fc": 0.7, "N": 0.8,
         "reactants": side(B=1, C=1), "products": side(A=1)},
        {"type": "TERNARY_CHEMICAL_ACTIVATION", "k0_A": 2e-2, "kinf_A": 4.0,
         "reactants": side(C=1), "products": side(A=1)},
        {"type": "TUNNELING", "A": 12.0, "B": 1200.0, "C": 1e8,
         "reactants": side(B=1), "products": side(C=1)},
        {"type": "PHOTOLYSIS", "name": "jA", "scaling factor": 2.0,
         "reactants": side(A=1), "products": side(B=2)},
        {"type": "EMISSION", "name": "in", "products": side(C=1)},
        {"type": "FIRST_ORDER_LOSS", "name": "out", "reactants": side(C=1)},
        {"type": "USER_DEFINED", "name": "mine", "scaling factor": 3.0,
         "reactants": side(A=1, C=1), "products": side(B=1)},
    ],
}  # fmt: skip


def write(tmp_path, mechanism):
    path = tmp_path / "air.json"
    path.write_text(json.dumps(mechanism))
    return path


def expected(y, T, P, given):
    a, b, c = y
    M = P / (R * T)
    arrhenius = 32.1 * np.exp(102.3 / T) * (T / 63.4) ** -2.3 * (1 + 1.3e-5 * P)

    def falloff(k0, kinf, Fc, N):
        x = k0 * M / kinf
        return k0 / (1 + x) * Fc ** (1 / (1 + np.log10(x) ** 2 / N))

    k0, kinf = 2e-2 * np.exp(3 / T) * (T / 300) ** -1.6, 4.0 * np.exp(24 / T) * (T / 300) ** 0.5
    v = [
        arrhenius * a * b**2,
        3.0 * np.exp(-2.8e-21 / K_B / T) * a * M * (0.78 * M) ** 2 * 0.5,
        falloff(k0, kinf, 0.7, 0.8) * M * b * c,
        falloff(2e-2 + 0 * T, 4.0, 0.6, 1.0) * c,
        12.0 * np.exp(-1200 / T) * np.exp(1e8 / T**3) * b,
        2.0 * given["PHOTO.jA"] * a,
        given["EMIS.in"] + 0 * a,
        given["LOSS.out"] * c,
        3.0 * given["USER.mine"] * a * c,
    ]
    changes = np.array([
        [-1, -2, 1.2], [-1, 1, 0], [1, -1, -1], [1, 0, -1], [0, -1, 1], [-1, 2, 0], [0, 0, 1],
        [0, 0, -1], [-1, 1, -1],
    ])  # fmt: skip
    return changes.T @ np.array(v), np.abs(changes).T @ np.array(v)


@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
def test_against_the_formulas(tmp_path, target):
    pytest.importorskip("wavesmith.kernel")
    system = ws.load_mechanism(write(tmp_path, MECHANISM))
    assert system.name == "Small_Air" and system.states == ("A", "B", "C")
    assert system.masses == {"A": 48.0, "B": 16.0}
    assert system.parameter_units == {
        "T": "K", "P": "Pa", "PHOTO.jA": "1/s", "EMIS.in": "mol/m^3/s", "LOSS.out": "1/s",
        "USER.mine": "m^3/mol/s",
    }  # fmt: skip
    random = np.random.default_rng(2)
    y = random.uniform(0.1, 1.0, (3, 30))
    T, P = random.uniform(220.0, 320.0, 30), random.uniform(1e4, 1e5, 30)
    given = {n: random.uniform(0.5, 1.0, 30) for n in system.parameters[2:]}
    got = system.rhs(y=y, T=T, P=P, parameters=given, target=target, device="sim")
    wanted, scale = expected(y, T, P, given)
    assert np.all(np.abs(got - wanted) <= 1e-13 * scale)


def changed(**changes):
    mechanism = copy.deepcopy(MECHANISM)
    mechanism["reactions"][0].update(changes)
    return mechanism


@pytest.mark.parametrize(
    ("mechanism", "kind", "message"),
    [
        ({"camp-data": []}, UnsupportedMechanismError, "version 0 .'camp-data'.: only version 1"),
        ({"version": "2.0.0"}, UnsupportedMechanismError, "version 2.0.0 is not supported"),
        ([], MechanismError, "expected an object, got a list"),
        (changed(type="SURFACE"), UnsupportedMechanismError,
         "reaction 1 .one.: reactions of the type 'SURFACE' are not supported, only ARRHENIUS"),
        (changed(Ea=1e-20), MechanismError, "both 'C' and 'Ea' are given"),
        (changed(A="x"), MechanismError, "expected a number for 'A', got 'x'"),
        (changed(reactants=side(Q=1)), MechanismError, "unknown species 'Q'"),
        (changed(reactants=side(elsewhere=1)), MechanismError, "unknown species 'elsewhere'"),
        (changed(products=side(A=-1)), UnsupportedMechanismError, "negative coefficient -1"),
        (changed(reactants=side(M=0.5)), UnsupportedMechanismError, "coefficient 0.5, which is not"),
        (changed(**{"gas phase": "liquid"}), MechanismError, "there is no phase 'liquid'"),
        (changed(type="PHOTOLYSIS", name="jA", reactants=side(A=1)), MechanismError,
         "two reactions have the name 'PHOTO.jA'"),
        (changed(type="PHOTOLYSIS"), MechanismError, "PHOTOLYSIS takes one reactant"),
        (changed(D=0.0), MechanismError, "out of range"),
    ],
)  # fmt: skip
def test_errors(tmp_path, mechanism, kind, message):
    with pytest.raises(kind, match=message):
        from_musica(write(tmp_path, mechanism))


def test_files(tmp_path):
    with pytest.raises(MechanismError, match="cannot read .*none.json: No such file"):
        from_musica(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(MechanismError, match="bad.json is no JSON"):
        from_musica(tmp_path / "bad.json")


def test_text_and_command_line(tmp_path):
    from wavesmith.importers.__main__ import main

    path = write(tmp_path, MECHANISM)
    text = from_musica(path, name="air", quantity="production_loss", layout="aos")
    assert "wavesmith.ode_system @air" in text and "ode_production_loss @air" in text
    assert main(["musica", str(path), "-o", str(tmp_path / "air.mlir")]) == 0
    assert (tmp_path / "air.mlir").read_text() == from_musica(path)
