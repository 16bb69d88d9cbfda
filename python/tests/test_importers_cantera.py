# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mechanisms imported through Cantera, against Cantera's own rates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

ct = pytest.importorskip("cantera")

import mlir_text_evaluator as evaluator
from importers_support import MECHANISMS, max_relative_error, verify

from wavesmith.importers import (
    MechanismError,
    UnsupportedMechanismError,
    from_cantera,
)
from wavesmith.importers.cantera_mechanism import simplest_preimage
from wavesmith.importers.zones import (
    ATMOSPHERE,
    cantera_net_production_rates,
    sample_zones,
)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: (file, phase) whose rates are compared.
REAL = [
    ("h2o2.yaml", ""),
    ("gri30.yaml", ""),
    ("gri30_ion.yaml", ""),
    ("ohn.yaml", ""),
    ("air.yaml", ""),
    ("ptcombust.yaml", "gas"),
    ("nDodecane_Reitz.yaml", "nDodecane_IG"),
    ("example_data/ammonia-CO-H2-Alzueta-2023.yaml", ""),
]
INVENTED = sorted(path.name for path in MECHANISMS.glob("*.yaml"))
TOLERANCE = 1e-12


def compare(solution, zones=400, seed=7):
    """Compare all quantities of an imported solution with Cantera."""
    system = evaluator.parse(from_cantera(solution))
    assert system.state_names() == solution.species_names
    y, T = sample_zones(solution, zones, seed)
    reference = cantera_net_production_rates(solution, y, T)
    result = evaluator.evaluate(system, y, T)
    for got, wanted, scale in (
        (result.rhs, reference.net, reference.scale),
        (result.rhs, reference.net_from_progress, reference.net_scale),
        (result.production, reference.creation, reference.scale),
        (result.loss, reference.destruction, reference.scale),
    ):
        assert max_relative_error(got, wanted, scale) <= TOLERANCE


@pytest.mark.parametrize(("file", "phase"), REAL)
def test_rates_of_real_mechanisms(file, phase):
    compare(ct.Solution(file, phase))


@pytest.mark.parametrize("file", INVENTED)
def test_rates_of_invented_mechanisms(file):
    solution = ct.Solution(str(MECHANISMS / file))
    compare(solution, zones=1000)
    for quantity in ("rhs", "production_loss", "term_values"):
        for layout in ("soa", "aos"):
            verify(from_cantera(solution, quantity=quantity, layout=layout))


def test_invented_mechanisms_cover_every_kind():
    """The files use the operations for which they were made."""
    assert len(INVENTED) == 8
    text = "".join(from_cantera(str(MECHANISMS / file)) for file in INVENTED)
    for operation in ("sri", "tsang", "troe", "falloff", "chemically_activated", "plog",
                      "chebyshev", "third_body", "nasa7", "reverse_rate"):
        assert f"wavesmith.{operation} " in text
    for detail in (
        "e -0.02", " c 0.0 d", "T2 5069.0", "T3 0.0", "A -", "default 0.9",
        'orders ["C" = 1.5, "E" = -0.25, "AR" = 0.5]', "m^2.25 kmol^-0.75 s^-1",
    ):
        assert detail in text, detail


def all_yaml_files():
    folder = Path(ct.__file__).parent / "data"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.yaml"))


def test_there_are_yaml_files():
    assert {"gri30.yaml", "h2o2.yaml", "sofc.yaml"} <= set(all_yaml_files())


@pytest.mark.parametrize("file", all_yaml_files())
def test_every_file_of_cantera_imports_or_is_refused(file):
    try:
        text = from_cantera(file)
    except MechanismError as error:
        message = str(error)
        print(f"{file}: refused: {message}")
        assert len(message) > 20 and "\n" not in message
        assert file in message or "phase '" in message or "reaction " in message
        return
    print(f"{file}: imported, {text.count('wavesmith.term ')} terms")
    assert text.count("wavesmith.term ") >= 1
    verify(text)


def make(reactions: str, thermo: str = "ideal-gas"):
    """A solution of the invented species with reactions as YAML text."""
    text = (MECHANISMS / "explicit_reverse.yaml").read_text()
    head = text[: text.index("reactions:\n")].replace(
        "thermo: ideal-gas\n",
        f"thermo: {thermo}\n  skip-undeclared-third-bodies: true\n",
    )
    return ct.Solution(yaml=head + "reactions:\n" + reactions)


@pytest.mark.parametrize(
    ("reactions", "message"),
    [
        (
            "- {equation: A + D <=> B + E, rate-constant: {A: 1.0e+9, b: 0, Ea: 0}}\n"
            "- {equation: C => A + B, type: Blowers-Masel, "
            "rate-constant: {A: 1.0e+9, b: 0, Ea0: 1.0e+4, w: 1.0e+6}}\n",
            r"reaction 2 \(C => A \+ B\): .*Blowers-Masel",
        ),
        (
            "- {equation: C => A + B, type: two-temperature-plasma, "
            "rate-constant: {A: 1.0e+9, b: 0, Ea-gas: 100.0, Ea-electron: 100.0}}\n",
            r"reaction 1 \(C => A \+ B\): .*two-temperature-plasma",
        ),
        (
            "- {equation: A + A (+M) <=> B (+M), type: linear-Burke, colliders: ["
            "{name: M, type: falloff, low-P-rate-constant: {A: 1.0e+9, b: 0, Ea: 0},"
            " high-P-rate-constant: {A: 1.0e+9, b: 0, Ea: 0},"
            " Troe: {A: 0.5, T3: 100.0, T1: 1000.0}},"
            " {name: AR, efficiency: {A: 0.7, b: 0, Ea: 0}}]}\n",
            r"reaction 1 \(.*\): .*linear-Burke",
        ),
    ],
)
def test_unsupported_rates_are_refused_by_name(reactions, message):
    solution = make(reactions)
    with pytest.raises(UnsupportedMechanismError, match=message):
        from_cantera(solution)


ONE = "- {equation: A + D <=> B + E, rate-constant: {A: 1.0e+9, b: 0, Ea: 0}}\n"


def test_custom_rate_is_refused():
    solution = make(ONE)
    rate = ct.CustomRate(lambda T: 1.0)
    reaction = ct.Reaction({"C": 1}, {"A": 1, "B": 1}, rate)
    reaction.reversible = False
    solution.add_reaction(reaction)
    with pytest.raises(UnsupportedMechanismError, match=r"reaction 2 .*custom"):
        from_cantera(solution)


def test_rate_multiplier_is_refused():
    solution = make(ONE)
    solution.set_multiplier(0.5, 0)
    with pytest.raises(UnsupportedMechanismError, match=r"reaction 1 .*multiplier.*0\.5"):
        from_cantera(solution)


@pytest.mark.parametrize(
    ("file", "phase", "message"),
    [
        ("nDodecane_Reitz.yaml", None, "Redlich-Kwong"),
        ("ptcombust.yaml", "Pt_surf", "2 phases"),
        ("airNASA9.yaml", None, "no reactions"),
        ("no-such-file.yaml", None, "no-such-file.yaml"),
        ("gri30.yaml", "no-such-phase", "no-such-phase"),
    ],
)
def test_unsupported_phases_are_refused(file, phase, message):
    with pytest.raises(MechanismError, match=message):
        from_cantera(file, phase=phase)


def test_nasa9_of_a_reversible_reaction_is_refused():
    nasa9 = """
units: {length: m, quantity: kmol, activation-energy: K}
phases:
- {name: gas, thermo: ideal-gas, kinetics: gas, elements: [N], species: [P, Q]}
species:
- name: P
  composition: {N: 1}
  thermo: {model: NASA9, temperature-ranges: [200.0, 1000.0],
    data: [[0.0, 0.0, 2.5, 0.0, 0.0, 0.0, 0.0, 5.61e+04, 4.19]]}
- name: Q
  composition: {N: 2}
  thermo: {model: constant-cp, h0: 1.0e+5, s0: 1.9e+5, cp0: 2.9e+4}
reactions:
- {equation: P + P => Q, rate-constant: {A: 1.0e+9, b: 0, Ea: 0}}
"""
    solution = ct.Solution(yaml=nasa9)
    assert "wavesmith.nasa7" not in from_cantera(solution)
    compare(solution, zones=40)
    for equation, species, kind in (
        ("P + P <=> Q", "P", "Nasa9"),
        ("Q + Q <=> P + P + Q", "P", "Nasa9"),
    ):
        solution = ct.Solution(yaml=nasa9.replace("P + P => Q", equation))
        with pytest.raises(
            UnsupportedMechanismError, match=f"reaction 1 .*species '{species}'.*{kind}"
        ):
            from_cantera(solution)


def test_one_range_of_nasa7_stands_for_both():
    text = (MECHANISMS / "sri.yaml").read_text()
    one = text.replace(
        "[200.0, 1000.0, 5000.0]\n    data:\n"
        "    - [2.61, 0.00021, -1.3e-07, 4.2e-11, -4.1e-15, 31250.5, 3.82]\n",
        "[200.0, 5000.0]\n    data:\n",
    )
    assert one != text
    compare(ct.Solution(yaml=one))


def test_undeclared_third_bodies_take_no_part():
    solution = make(
        "- {equation: A + A + M <=> B + M, rate-constant: {A: 1.0e+9, b: 0, Ea: 0},"
        " efficiencies: {XE: 3.0, AR: 0.5}}\n"
    )
    assert "XE" not in from_cantera(solution)
    compare(solution)


def test_plain_third_body_is_the_total_concentration():
    solution = make(
        "- {equation: A + A + M <=> B + M, rate-constant: {A: 1.0e+9, b: 0, Ea: 0}}\n"
    )
    text = from_cantera(solution)
    assert "wavesmith.third_body" not in text and "arith.mulf %kf1, %total" in text
    compare(solution)


def test_explicit_collider():
    solution = make(
        "- {equation: A + A + AR <=> B + AR, rate-constant: {A: 1.0e+9, b: 0, Ea: 0}}\n"
    )
    text = from_cantera(solution)
    assert 'wavesmith.third_body %total default 0.0 efficiencies ["AR" = 1.0]' in text
    assert 'orders ["A" = 2.0] loss ["A" = 2.0] gain ["B" = 1.0]' in text
    compare(solution)


def test_reaction_without_net_change():
    solution = make(
        "- {equation: A + B <=> B + A, rate-constant: {A: 1.0e+9, b: 0, Ea: 0}}\n"
    )
    text = from_cantera(solution)
    assert text.count("wavesmith.term %kf1") == 2
    verify(text)
    compare(solution)


def test_comments_number_reactions_and_terms():
    text = from_cantera("h2o2.yaml")
    assert "// reaction 3: H2 + O <=> H + OH (terms 4 and 5)" in text
    verify(text)


def test_same_input_gives_same_text():
    assert from_cantera("gri30.yaml") == from_cantera(ct.Solution("gri30.yaml"))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"layout": "csr"}, "unknown layout 'csr'"),
        ({"quantity": "jacobian"}, "unknown quantity 'jacobian'"),
    ],
)
def test_bad_arguments(arguments, error):
    with pytest.raises(ValueError, match=error):
        from_cantera("h2o2.yaml", **arguments)


def test_bad_sources():
    with pytest.raises(TypeError, match="got int"):
        from_cantera(3)
    with pytest.raises(ValueError, match="phase='x'"):
        from_cantera(ct.Solution("h2o2.yaml"), phase="x")


def test_simplest_preimage_finds_the_input_again():
    for t in (94.0, 1e30, 1746.0, 0.1, 5182.3):
        assert simplest_preimage(lambda x: 1.0 / x, 1.0 / (1.0 / t)) == t
    for p in (101325.0, 1000.0, 2.5e6):
        assert simplest_preimage(np.log, float(np.exp(np.log(p)))) == p
    # Where there is no short decimal, nothing changes.
    assert simplest_preimage(lambda x: x, 1.0 / 3.0) == 1.0 / 3.0
    assert simplest_preimage(lambda x: x, 0.0) == 0.0


# Zones -------------------------------------------------------------------------


def test_zones_cover_the_ranges():
    solution = ct.Solution("gri30.yaml")
    y, T = sample_zones(solution, 400, seed=3)
    assert y.shape == (53, 400) and T.shape == (1, 400)
    P = ct.gas_constant * T[0] * y.sum(axis=0)
    assert T.min() == 250.0 and T.max() == 3500.0
    assert P.min() == pytest.approx(0.01 * ATMOSPHERE, rel=1e-12)
    assert P.max() == pytest.approx(100.0 * ATMOSPHERE, rel=1e-12)
    assert np.all(y >= 0.0)
    present = (y > 0.0).sum(axis=0)
    assert present.max() == 53 and 2 <= present.min() <= 6
    again = sample_zones(solution, 400, seed=3)
    assert np.array_equal(y, again[0]) and np.array_equal(T, again[1])
    assert not np.array_equal(y, sample_zones(solution, 400, seed=4)[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_zones": 0}, "got 0 zones"),
        ({"num_zones": 2, "T_range": (0.0, 100.0)}, "T_range"),
        ({"num_zones": 2, "P_range": (5.0, 1.0)}, "P_range"),
    ],
)
def test_zones_refuse_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        sample_zones(ct.Solution("h2o2.yaml"), **arguments)


def test_reference_rates_refuse_bad_shapes_and_empty_zones():
    solution = ct.Solution("h2o2.yaml")
    y, T = sample_zones(solution, 4)
    with pytest.raises(ValueError, match=r"\(9, 4\)"):
        cantera_net_production_rates(solution, y[1:], T)
    with pytest.raises(ValueError, match=r"\(1, 3\)"):
        cantera_net_production_rates(solution, y, T[:, :3])
    y[:, 2] = 0.0
    with pytest.raises(ValueError, match="zone 2"):
        cantera_net_production_rates(solution, y, T)


def test_reference_rates_leave_the_solution_alone():
    solution = ct.Solution("h2o2.yaml")
    solution.TPX = 1234.0, 5e4, "H2:1, O2:3"
    before = solution.state.copy()
    y, T = sample_zones(solution, 4)
    cantera_net_production_rates(solution, y, T)
    assert np.array_equal(solution.state, before)
