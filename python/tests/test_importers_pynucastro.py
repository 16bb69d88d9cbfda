# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""REACLIB networks imported through pynucastro, against pynucastro's rates."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pynucastro = pytest.importorskip("pynucastro")

import mlir_text_evaluator as evaluator
from importers_support import max_relative_error, verify

from wavesmith.importers import (
    MechanismError,
    UnsupportedMechanismError,
    from_pynucastro,
    reaclib_network,
)
from wavesmith.importers.nuclides import network_150, nuclide_name

pytestmark = pytest.mark.filterwarnings("ignore:ReacLib neutron decay")

#: Hydrogen burning has electron captures of one and of two nuclei, helium burning
#: has three equal reactants.
SMALL = ["p", "d", "he3", "he4", "be7", "b8", "li7", "c12", "c13", "n13", "n14",
         "n15", "o15", "o16"]
EPSILON = np.finfo(float).eps


def library(nuclides):
    return reaclib_network._reaclib_library().linking_nuclei(nuclides)


def tolerance(rate, T):
    """Relative rounding error to expect of a rate.

    The exponent of a set is a sum of seven numbers, each with a few roundings;
    some sets cancel from 5e4 down to 1e2. Its absolute error is the rate's
    relative one.
    """
    t9 = T / 1e9
    factors = np.array([1.0, 1 / t9, t9 ** (-1 / 3), t9 ** (1 / 3), t9, t9 ** (5 / 3),
                        np.log(t9)])
    errors = total = 0.0
    for s in rate.sets:
        parts = np.array(s.a) * factors
        value = np.exp(parts.sum())
        total += value
        errors += value * np.abs(parts).sum()
    return 4 * EPSILON * (errors / total if total > 0.0 else np.abs(parts).sum()) + 8 * EPSILON


def compare(nuclides, zones, seed=5):
    lib = library(nuclides)
    rates = lib.get_rates()
    network = pynucastro.RateCollection(libraries=[lib])
    system = evaluator.parse(from_pynucastro(lib))
    species = network.unique_nuclei
    assert system.state_names() == [nuclide.raw for nuclide in species]
    assert len(system.terms) == len(rates)

    random = np.random.default_rng(seed)
    T = 10.0 ** random.uniform(8.0, 10.0, zones)
    rho = 10.0 ** random.uniform(-2.0, 9.0, zones)
    T[:2], rho[:2] = (1e8, 1e10), (1e9, 1e-2)
    X = -np.log(random.random((len(species), zones)))
    X[random.random(X.shape) < 0.3] = 0.0
    X[:, 2:] /= X[:, 2:].sum(axis=0)  # two zones are not normalised: Y_e is a quotient
    Y, ydots, values, errors = (
        np.empty((n, zones)) for n in (len(species),) * 2 + (len(rates),) * 2
    )
    for zone in range(zones):
        composition = pynucastro.Composition(species)
        for i, nuclide in enumerate(species):
            composition[nuclide] = X[i, zone]
        molar = composition.get_molar()
        Y[:, zone] = [molar[nuclide] for nuclide in species]
        state = pynucastro.rates.rate.ThermoState(
            rho=rho[zone], T=T[zone], comp=composition
        )
        evaluated = network.evaluate_rates(state)
        values[:, zone] = [evaluated[rate] for rate in rates]
        errors[:, zone] = [tolerance(rate, T[zone]) for rate in rates]
        evaluated = network.evaluate_ydots(state)
        ydots[:, zone] = [evaluated[nuclide] for nuclide in species]

    result = evaluator.evaluate(system, Y, np.array([T, rho]))
    # A value below 1e-300 has lost digits to underflow.
    assert np.all(np.abs(result.values - values) <= errors * np.abs(values) + 1e-300)
    # The sum of the terms' allowed errors bounds that of dY/dt.
    allowed = np.zeros_like(ydots)
    gross = np.zeros_like(ydots)
    names = system.state_names()
    for term, value, error in zip(system.terms, values, errors):
        for name, weight in term.loss + term.gain:
            allowed[names.index(name)] += error * weight * np.abs(value)
            gross[names.index(name)] += weight * np.abs(value)
    allowed += 1e-13 * gross + 1e-290
    assert np.all(np.isfinite(ydots)) and np.all(ydots.any(axis=0))
    assert np.all(np.abs(result.rhs - ydots) <= allowed)
    assert np.median(errors) < 1e-12
    return result, ydots, gross


def test_small_network():
    result, ydots, gross = compare(SMALL, zones=40)
    assert max_relative_error(result.rhs, ydots, gross) < 1e-12


def test_small_network_has_every_kind_of_factor():
    text = from_pynucastro(SMALL)
    for part in (
        "p + p + e- -> d", "be7 + e- -> li7", "he4 + he4 + he4 -> c12", "arith.divf",
        "%rho2 = arith.mulf %rho, %rho : f64", "g^2/mol^2/s", 'orders ["he4" = 3.0]',
        "0.16666666666666666",
    ):
        assert part in text, part
    for quantity in ("rhs", "production_loss", "term_values"):
        for layout in ("soa", "aos"):
            verify(from_pynucastro(library(SMALL), quantity=quantity, layout=layout))


def test_network_of_150_nuclides():
    nuclides = network_150()
    assert len(nuclides) == len(set(nuclides)) == 150
    lib = library(nuclides)
    assert {nuclide.raw for nuclide in lib.get_nuclei()} == set(nuclides)
    assert 1500 <= lib.num_rates <= 1700
    compare(nuclides, zones=8)
    verify(from_pynucastro(nuclides))


def test_names_of_nuclides():
    assert (nuclide_name(6, 6), nuclide_name(26, 30)) == ("c12", "fe56")
    with pytest.raises(ValueError, match="Z = 5"):
        nuclide_name(5, 5)


def test_names_and_library_give_the_same_text():
    assert from_pynucastro(SMALL) == from_pynucastro(library(SMALL))
    assert from_pynucastro(reversed(SMALL)) == from_pynucastro(SMALL)


def test_nuclide_without_rates_stays_a_state():
    system = evaluator.parse(from_pynucastro(["p", "c12", "n13", "fe56"]))
    assert system.state_names() == ["p", "c12", "n13", "fe56"]


@pytest.mark.parametrize(
    ("nuclides", "message"),
    [
        (["p", "xx7"], "knows no nuclide 'xx7'"),
        ([], "empty list"),
        (["c12", "fe56"], "no rate links"),
    ],
)
def test_bad_nuclides(nuclides, message):
    with pytest.raises(MechanismError, match=message):
        from_pynucastro(nuclides)


def test_a_string_is_not_a_list():
    with pytest.raises(TypeError, match="one string"):
        from_pynucastro("p,he4")


def test_other_kinds_of_rates_are_refused_by_name():
    tabular = pynucastro.TabularWeakLibrary().linking_nuclei(["ne23", "na23"])
    with pytest.raises(
        UnsupportedMechanismError, match=r"rate 1 \(.*na23.*\): .*Tabular"
    ):
        from_pynucastro(tabular)
    forward = library(["p", "c12", "n13"]).get_rates()
    derived = [r for r in forward if len(r.reactants) == 2]
    with pytest.raises(UnsupportedMechanismError, match=r"rate 2 .*DerivedRate"):
        from_pynucastro(
            SimpleNamespace(
                get_rates=lambda: [derived[0], pynucastro.DerivedRate(derived[0])]
            )
        )


def test_rates_with_other_reactants_in_the_term_are_refused():
    rates = library(["p", "c12", "n13"]).get_rates()
    rates[0].not_in_ydot_term = [rates[0].reactants[0]]
    try:
        with pytest.raises(UnsupportedMechanismError, match="rate 1 .*take no part"):
            from_pynucastro(SimpleNamespace(get_rates=lambda: rates))
    finally:
        rates[0].not_in_ydot_term = []
