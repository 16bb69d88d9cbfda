# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The network of 150 nuclides on the simulated device: bit for bit against the
reference evaluator, and against pynucastro."""

from __future__ import annotations

import numpy as np
import pytest

from numeric_support import TARGETS, assert_same_bits, compile_text, run_device, run_reference

# The tolerance of a REACLIB rate is a matter of its exponent; the importer's tests
# derive it.
from test_importers_pynucastro import tolerance

import pynucastro

from wavesmith.importers import from_pynucastro, reaclib_network
from wavesmith.importers.nuclides import network_150

pytestmark = pytest.mark.filterwarnings("ignore:ReacLib neutron decay")


class Network:
    """150 nuclides in some zones, with pynucastro's answer."""

    #: Zones that pynucastro, which is slow, evaluates; the rest repeat the states.
    compared = 6
    zones = 70

    def __init__(self):
        self.library = reaclib_network._reaclib_library().linking_nuclei(network_150())
        self.rates = self.library.get_rates()
        network = pynucastro.RateCollection(libraries=[self.library])
        species = self.species = network.unique_nuclei
        random = np.random.default_rng(8)
        self.T = 10.0 ** random.uniform(8.0, 10.0, self.zones)
        self.rho = 10.0 ** random.uniform(-2.0, 9.0, self.zones)
        self.T[:2], self.rho[:2] = (1e8, 1e10), (1e9, 1e-2)
        X = -np.log(1.0 - random.random((len(species), self.zones)))
        X[random.random(X.shape) < 0.3] = 0.0
        X /= X.sum(axis=0)
        self.Y = X / np.array([[float(nuclide.A)] for nuclide in species])
        self.values = np.empty((len(self.rates), self.compared))
        self.errors = np.empty_like(self.values)
        self.ydots = np.empty((len(species), self.compared))
        for zone in range(self.compared):
            composition = pynucastro.Composition(species)
            for i, nuclide in enumerate(species):
                composition[nuclide] = X[i, zone]
            molar = composition.get_molar()
            self.Y[:, zone] = [molar[nuclide] for nuclide in species]
            state = pynucastro.rates.rate.ThermoState(
                rho=self.rho[zone], T=self.T[zone], comp=composition
            )
            evaluated = network.evaluate_rates(state)
            self.values[:, zone] = [evaluated[rate] for rate in self.rates]
            self.errors[:, zone] = [tolerance(rate, self.T[zone]) for rate in self.rates]
            evaluated = network.evaluate_ydots(state)
            self.ydots[:, zone] = [evaluated[nuclide] for nuclide in species]
        # What each rate gives and takes, by pynucastro's own lists.
        index = {nuclide: i for i, nuclide in enumerate(species)}
        self.counts = np.zeros((len(species), len(self.rates)))
        for r, rate in enumerate(self.rates):
            for nuclide in (*rate.reactants, *rate.products):
                self.counts[index[nuclide], r] += 1.0


@pytest.fixture(scope="module")
def network():
    return Network()


@pytest.mark.parametrize("target", TARGETS)
def test_network_of_150_nuclides(tmp_path, network, target):
    inputs = {"y": network.Y, "parameters": np.array([network.T, network.rho])}
    results = {}
    for quantity, names in (("rhs", ("dydt",)), ("term_values", ("coefficients", "values"))):
        text = from_pynucastro(network.library, quantity=quantity)
        code_object = compile_text(tmp_path, text, target)
        got = run_device(tmp_path, code_object, inputs, names)
        wanted = run_reference(tmp_path, text, inputs, names)
        for name, device, reference in zip(names, got, wanted, strict=True):
            assert np.isfinite(reference).all()
            assert_same_bits(device, reference)
            results[name] = device
    values = results["values"][:, : network.compared]
    dydt = results["dydt"][:, : network.compared]
    # A value below 1e-300 has lost digits to underflow.
    magnitude = np.abs(network.values)
    assert np.all(np.abs(values - network.values) <= network.errors * magnitude + 1e-300)
    # The sum of the terms' allowed errors bounds that of dY/dt.
    allowed = network.counts @ (network.errors * magnitude)
    allowed += 1e-13 * (network.counts @ magnitude) + 1e-290
    assert network.ydots.any(axis=0).all()
    difference = np.abs(dydt - network.ydots)
    assert np.all(difference <= allowed)
    assert np.median(network.errors) < 1e-12
    # Relative to the sum of its terms, dY/dt agrees to 1e-12 in all species but
    # those that live on a set whose exponent cancels from above 1e4: there two
    # right evaluations in double precision differ by more (docs/numbers.md).
    gross = network.counts @ magnitude
    cancelling = network.counts @ (magnitude * (network.errors > 1e-11))
    ordinary = cancelling <= 1e-3 * gross
    assert np.all(difference[ordinary] <= 1e-12 * gross[ordinary] + 1e-290)
    exceptions = {str(network.species[i]) for i in np.nonzero(~ordinary)[0]}
    assert exceptions <= {"Fe49"}, exceptions
