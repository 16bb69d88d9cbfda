# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imported systems by the reference evaluator: against Cantera, and against the
tests' own reading of the text."""

from __future__ import annotations

import numpy as np
import pytest

import mlir_text_evaluator
from importers_support import MECHANISMS, evaluate, max_relative_error

from wavesmith.importers import from_cantera

ct = pytest.importorskip("cantera")

from wavesmith.importers.zones import cantera_net_production_rates, sample_zones

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SOLUTIONS = [
    ("gri30.yaml", ""),
    ("h2o2.yaml", ""),
    ("nDodecane_Reitz.yaml", "nDodecane_IG"),
    *((str(path), "") for path in sorted(MECHANISMS.glob("*.yaml"))),
]


@pytest.mark.parametrize("layout", ["soa", "aos"])
@pytest.mark.parametrize(("file", "phase"), SOLUTIONS)
def test_reference_evaluator_agrees_with_cantera(tmp_path, file, phase, layout):
    solution = ct.Solution(file, phase)
    y, T = sample_zones(solution, 101, seed=11)
    reference = cantera_net_production_rates(solution, y, T)

    def turn(array):
        return array if layout == "soa" else array.T

    inputs = {"y": turn(y), "parameters": turn(T)}
    text = from_cantera(solution, layout=layout)
    (dydt,) = evaluate(tmp_path, text, inputs, ["dydt"])
    assert max_relative_error(turn(dydt), reference.net, reference.scale) <= 1e-12
    error = max_relative_error(
        turn(dydt), reference.net_from_progress, reference.net_scale
    )
    assert error <= 1e-12

    text = from_cantera(solution, layout=layout, quantity="production_loss")
    production, loss = evaluate(tmp_path, text, inputs, ["production", "loss"])
    for got, wanted in (
        (production, reference.creation),
        (loss, reference.destruction),
    ):
        assert max_relative_error(turn(got), wanted, reference.scale) <= 1e-12

    text = from_cantera(solution, layout=layout, quantity="term_values")
    coefficients, values = evaluate(
        tmp_path, text, inputs, ["coefficients", "values"]
    )
    second = mlir_text_evaluator.evaluate(mlir_text_evaluator.parse(text), y, T)
    # Fall-off by third bodies that cancel in the total concentration has no
    # digits in common; all else agrees to the rounding of the Gibbs energies.
    for got, wanted in ((coefficients, second.coefficients), (values, second.values)):
        got = turn(got)
        close = np.abs(got - wanted) <= 1e-12 * np.abs(wanted) + 1e-300
        assert np.mean(close) > 0.999
