# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled mechanisms on the simulated device: against Cantera, and bit for bit
against the reference evaluator."""

from __future__ import annotations

import cantera as ct
import numpy as np
import pytest

from numeric_support import (
    FORMS,
    MECHANISMS,
    TARGETS,
    assert_same_bits,
    compile_text,
    max_relative_error,
    run_device,
    run_reference,
)

from wavesmith.importers import from_cantera
from wavesmith.importers.zones import cantera_net_production_rates, sample_zones

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RESULTS = {
    "rhs": ("dydt",),
    "production_loss": ("production", "loss"),
    "term_values": ("coefficients", "values"),
}
#: One file for each kind of rate that GRI-Mech 3.0 lacks.
KINDS = sorted(MECHANISMS.glob("*.yaml"))


def check(folder, file, phase, target, form, quantity="rhs", layout="soa", zones=331):
    """No number of zones here is a multiple of 64, and the first four zones stand at
    the ends of the ranges of temperature and pressure."""
    assert zones % 64
    solution = ct.Solution(str(file), phase)
    y, T = sample_zones(solution, zones, seed=17)

    def turn(array):
        return array if layout == "soa" else np.ascontiguousarray(array.T)

    inputs = {"y": turn(y), "parameters": turn(T)}
    text = from_cantera(solution, layout=layout, quantity=quantity)
    names = RESULTS[quantity]
    code_object = compile_text(folder, text, target, form)
    got = run_device(folder, code_object, inputs, names)
    for device, reference in zip(got, run_reference(folder, text, inputs, names), strict=True):
        assert_same_bits(device, reference)

    wanted = cantera_net_production_rates(solution, y, T)
    if quantity == "rhs":
        pairs = [(wanted.net, wanted.scale), (wanted.net_from_progress, wanted.net_scale)]
        for net, scale in pairs:
            assert np.count_nonzero(net)
            assert max_relative_error(turn(got[0]), net, scale) <= 1e-12
    elif quantity == "production_loss":
        for device, rate in zip(got, (wanted.creation, wanted.destruction), strict=True):
            assert np.count_nonzero(rate)
            assert max_relative_error(turn(device), rate, wanted.scale) <= 1e-12


def test_there_is_a_mechanism_for_every_kind():
    assert {path.stem for path in KINDS} >= {
        "chebyshev", "chemically_activated", "explicit_reverse", "negative_a", "plog",
        "real_orders", "sri", "tsang",
    }


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["soa", "aos"])
@pytest.mark.parametrize("quantity", RESULTS)
def test_h2o2(tmp_path, target, form, layout, quantity):
    check(tmp_path, "h2o2.yaml", "", target, form, quantity, layout)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("file", KINDS, ids=lambda path: path.stem)
def test_kind_of_rate(tmp_path, file, target, form):
    check(tmp_path, file, "", target, form)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("file", KINDS, ids=lambda path: path.stem)
def test_rate_coefficients_of_each_kind(tmp_path, file, target):
    check(tmp_path, file, "", target, "auto", "term_values", "aos")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", ["auto", *FORMS])
def test_gri30(tmp_path, target, form):
    check(tmp_path, "gri30.yaml", "", target, form, zones=437)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("quantity", "layout"),
    [("rhs", "aos"), ("production_loss", "soa"), ("term_values", "soa")],
)
def test_gri30_other_quantities(tmp_path, target, quantity, layout):
    check(tmp_path, "gri30.yaml", "", target, "table", quantity, layout, zones=130)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("quantity", ["rhs", "term_values"])
def test_n_dodecane(tmp_path, target, quantity):
    check(tmp_path, "nDodecane_Reitz.yaml", "nDodecane_IG", target, "auto", quantity, zones=131)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_values_that_no_gas_has(tmp_path, target, form):
    """Negative and huge concentrations, NaN, infinities, zeros of both signs: what
    the rules of the dialect make of them is one result too."""
    solution = ct.Solution("h2o2.yaml")
    y, T = sample_zones(solution, 150, seed=3)
    random = np.random.default_rng(4)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, -1e-3, 1e300, -1e300, 5e-324, 1e-310])
    for array, share in ((y, 0.1), (T, 0.3)):
        hit = random.random(array.shape) < share
        array[hit] = random.choice(odd, np.count_nonzero(hit))
    inputs = {"y": y, "parameters": T}
    for quantity in ("rhs", "term_values"):
        text = from_cantera(solution, quantity=quantity)
        code_object = compile_text(tmp_path, text, target, form)
        got = run_device(tmp_path, code_object, inputs, RESULTS[quantity])
        wanted = run_reference(tmp_path, text, inputs, RESULTS[quantity])
        assert any(np.isnan(w).any() for w in wanted)
        assert any(np.isfinite(w).any() for w in wanted)
        for device, reference in zip(got, wanted, strict=True):
            assert_same_bits(device, reference)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("layout", ["soa", "aos"])
def test_bits_depend_on_nothing_but_the_zone(tmp_path, target, form, layout):
    """Any number of zones and of the simulator's threads gives the same bits."""
    solution = ct.Solution("h2o2.yaml")
    y, T = sample_zones(solution, 321, seed=5)
    text = from_cantera(solution, layout=layout)
    code_object = compile_text(tmp_path, text, target, form)

    def results(first, last, threads):
        arrays = {"y": y[:, first:last], "parameters": T[:, first:last]}
        if layout == "aos":
            arrays = {name: array.T for name, array in arrays.items()}
        (dydt,) = run_device(tmp_path, code_object, arrays, ("dydt",), threads)
        return np.ascontiguousarray(dydt if layout == "soa" else dydt.T)

    whole = results(0, 321, 1)
    assert np.count_nonzero(whole) > whole.size // 2
    assert_same_bits(results(0, 321, 3), whole)
    for first, last in ((0, 1), (0, 63), (0, 64), (0, 65), (100, 228), (320, 321), (1, 321)):
        part = np.ascontiguousarray(whole[:, first:last])
        assert_same_bits(results(first, last, 2), part)
