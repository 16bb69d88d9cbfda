# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The systems in examples/ on the simulated device."""

from __future__ import annotations

import cantera as ct
import numpy as np
import pytest

from numeric_support import (
    EXAMPLES,
    FORMS,
    TARGETS,
    assert_same_bits,
    compile_text,
    max_relative_error,
    run_device,
    run_reference,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("form", FORMS),
]


def evaluate(folder, name, y, target, form):
    """dydt on the device, after a comparison with the reference."""
    text = (EXAMPLES / name).read_text()
    code_object = compile_text(folder, text, target, form)
    (got,) = run_device(folder, code_object, {"y": y}, ("dydt",))
    (wanted,) = run_reference(folder, text, {"y": y}, ("dydt",))
    assert_same_bits(got, wanted)
    return got


def test_robertson(tmp_path, target, form):
    random = np.random.default_rng(1)
    y = 10.0 ** random.uniform(-12.0, 0.0, (3, 149))
    y[:, 0] = 1.0, 0.0, 0.0
    got = evaluate(tmp_path, "robertson.mlir", y, target, form)
    a, b, c = y.astype(np.longdouble)
    v1, v2, v3 = np.longdouble(0.04) * a, np.longdouble(3e7) * b * b, np.longdouble(1e4) * b * c
    wanted = np.array([v3 - v1, v1 - v2 - v3, v2])
    scale = np.array([v1 + v3, v1 + v2 + v3, v2])
    assert max_relative_error(got, wanted, scale) <= 1e-15
    assert tuple(got[:, 0]) == (-0.04, 0.04, 0.0)


def test_adiabatic_reactor(tmp_path, target, form):
    gri = ct.Solution("gri30.yaml")
    species = [gri.species(name) for name in ("O", "O2", "AR")]
    reaction = ct.Reaction(
        equation="2 O + M <=> O2 + M",
        rate=ct.ArrheniusRate(1.2e11, -1.0, 0.0),
        third_body=ct.ThirdBody(efficiencies={"AR": 0.83}),
    )
    gas = ct.Solution(
        thermo="ideal-gas", kinetics="gas", species=species, reactions=[reaction]
    )
    assert gri.reaction(0).equation == reaction.equation
    assert gri.reaction(0).rate.pre_exponential_factor == pytest.approx(1.2e11, rel=1e-15)

    zones = 201
    random = np.random.default_rng(2)
    T = np.exp(random.uniform(np.log(300.0), np.log(3500.0), zones))
    T[:3] = 300.0, 1000.0, 3500.0
    pressure = np.exp(random.uniform(np.log(1e3), np.log(1e7), zones))
    X = -np.log(1.0 - random.random((3, zones)))
    X /= X.sum(axis=0)
    X[:, 3] = 0.0, 0.0, 1.0
    y = np.empty((4, zones))
    wanted, scale = np.empty((2, 4, zones))
    for zone in range(zones):
        gas.TPX = T[zone], pressure[zone], X[:, zone]
        y[:, zone] = *gas.concentrations, T[zone]
        energy = gas.partial_molar_int_energies
        capacity = gas.cv_mass * gas.density
        progress = gas.forward_rates_of_progress[0] + gas.reverse_rates_of_progress[0]
        net = gas.net_production_rates
        wanted[:, zone] = *net, -(energy @ net) / capacity
        weights = np.array([2.0, 1.0, 0.0])
        scale[:3, zone] = weights * progress
        scale[3, zone] = (np.abs(energy) * weights).sum() * progress / capacity
    got = evaluate(tmp_path, "adiabatic_reactor.mlir", y, target, form)
    assert np.count_nonzero(wanted[3]) > zones // 2
    assert max_relative_error(got, wanted, scale) <= 1e-12
    assert not got[:, 3].any()
