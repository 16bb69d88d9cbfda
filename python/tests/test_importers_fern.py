# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FERN's files, against a second reading of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mlir_text_evaluator as evaluator
from importers_support import REPOSITORY, verify

from wavesmith.importers import MechanismError, from_fern
from wavesmith.importers.fern_network import read_network, read_rates

PARTITION = "1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0\n" * 3
#: Three invented species and four reactions between them.
NETWORK = (
    f"xa 1 1 0 0.5 7.25\n{PARTITION}"
    f"xb 2 1 1 0.125 13.5\n{PARTITION}"
    f"xc 3 2 1 1.0e-25 14.75\n{PARTITION}"
)
RATES = """xa+xb-->xc 2 0 4 2 1 0 0 1.00000000 5.5
8.1 0.25 -3.5 0.75 -0.125 0.0625 -0.6666667
1 1
0 1
2
1
0 1
2
xc-->xa+xb 2 1 2 1 2 0 1 1.0 -5.5
30.5 -63.0 -3.5 0.75 -0.125 0.0625 0.8333333
2
1
1 1
0 1
2
0 1
xc+xc-->xc+xa+xb 2 2 6 2 3 0 0 0.5 -5.5
3.5 -10.25 0.0 0.0 0.0 0.0 0.0
2 2
1 1
2 1 1
1 0 1
2 2
2 0 1
xa+xa+xb-->xa+xc 3 0 9 3 2 1 0 0.5 5.5
-4.0 -1.5 -2.0 0.0 0.0 0.0 -3.0
1 1 1
0 0 1
1 2
0 1
0 0 1
0 2
"""


@pytest.fixture
def files(tmp_path):
    """Write a rate and a network file and return their paths."""

    def write(rates=RATES, network=NETWORK):
        (tmp_path / "rates.data").write_text(rates)
        (tmp_path / "net.inp").write_text(network)
        return tmp_path / "rates.data", tmp_path / "net.inp"

    return write


def independent_rates(rate_file, network_file, Y, T, rho):
    """F+, F- and term values by the method of the data's README, on zones; each
    with the rounding error to expect.

    The exponent is a sum of seven numbers of up to 1e5 that may cancel: its
    absolute error is the relative one of the value.
    """
    lines = Path(rate_file).read_text().split("\n")
    num_species = sum(len(line.split()) == 6 for line in Path(network_file).open())
    assert num_species == Y.shape[0]
    t9 = T / 1e9
    factors = [np.ones_like(t9), 1 / t9, t9 ** (-1 / 3), t9 ** (1 / 3), t9, t9 ** (5 / 3),
               np.log(t9)]
    plus, minus, plus_error, minus_error = (np.zeros_like(Y) for _ in range(4))
    values, errors = [], []
    for i in range(0, len(lines) - 7, 8):
        head = lines[i].split()
        reactants, products = (list(map(int, lines[i + j].split())) for j in (6, 7))
        parts = np.array([float(p) * f for p, f in zip(lines[i + 1].split(), factors)])
        v = float(head[8]) * rho ** (int(head[4]) - 1) * np.exp(parts.sum(axis=0))
        for species in reactants:
            v = v * Y[species]
        error = v * np.finfo(float).eps * (4 * np.abs(parts).sum(axis=0) + 8)
        values.append(v)
        errors.append(error)
        net = Counter(products)
        net.subtract(reactants)
        for species, count in net.items():
            if count > 0:
                plus[species] += count * v
                plus_error[species] += count * (error + 1e-14 * v)
            else:
                minus[species] -= count * v
                minus_error[species] -= count * (error + 1e-14 * v)
    return (
        (plus, plus_error),
        (minus, minus_error),
        (np.array(values), np.array(errors)),
    )


def compare(rate_file, network_file, num_species, zones=30):
    random = np.random.default_rng(2)
    T = 10.0 ** random.uniform(8.5, 10.0, zones)
    rho = 10.0 ** random.uniform(0.0, 9.0, zones)
    Y = random.random((num_species, zones))
    Y[random.random(Y.shape) < 0.2] = 0.0
    system = evaluator.parse(from_fern(rate_file, network_file))
    result = evaluator.evaluate(system, Y, np.array([T, rho]))
    (plus, plus_error), (minus, minus_error), (values, errors) = independent_rates(
        rate_file, network_file, Y, T, rho
    )
    underflow = 1e-290  # smaller values have fewer digits
    assert np.all(np.isfinite(values)) and plus.any() and minus.any()
    assert np.all(np.abs(result.values - values) <= errors + underflow)
    assert np.all(np.abs(result.production - plus) <= plus_error + underflow)
    assert np.all(np.abs(result.loss - minus) <= minus_error + underflow)
    assert np.all(
        np.abs(result.rhs - (plus - minus)) <= plus_error + minus_error + underflow
    )
    # The bound is tight: nearly all values agree to twelve digits.
    assert np.median(errors[values > underflow] / values[values > underflow]) < 1e-12
    return system


def test_small_network(files):
    rates, network = files()
    system = compare(rates, network, 3)
    assert system.states == [(name, "mol/g") for name in ("xa", "xb", "xc")]
    assert system.parameters == [("T", "K"), ("rho", "g/cm^3")]
    assert system.time_unit == "s"
    assert [term.unit for term in system.terms] == [
        "g/mol/s", "1/s", "g/mol/s", "g^2/mol^2/s",
    ]
    # Net counts: xc + xc -> xc + xa + xb loses one xc.
    assert system.terms[2].orders == [("xc", 2.0)]
    assert system.terms[2].loss == [("xc", 1.0)]
    assert system.terms[2].gain == [("xa", 1.0), ("xb", 1.0)]
    assert system.terms[3].loss == [("xa", 1.0), ("xb", 1.0)]
    for quantity in ("rhs", "production_loss", "term_values"):
        for layout in ("soa", "aos"):
            verify(from_fern(rates, network, quantity=quantity, layout=layout))


def test_records(files):
    rates, network = files()
    species = read_network(network)
    reactions = read_rates(rates, species)
    assert (species[2].abundance, species[1].mass_excess) == (1e-25, 13.5)
    assert [r.electron_capture for r in reactions] == [False, False, False, True]
    assert [r.reverse for r in reactions] == [False, True, False, False]
    assert reactions[3].reactants == (0, 0, 1) and reactions[3].Q == 5.5


def replaced(text, line, new):
    """`text` with line number `line` (from 1) replaced."""
    lines = text.split("\n")
    lines[line - 1] = new
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("rates", "where", "message"),
    [
        ("", 0, "no reactions"),
        (replaced(RATES, 1, "xa+xb-->xc 2 0 4 2 1 0 0 1.0"), 1, "got 9 values, expected 10"),
        (replaced(RATES, 1, "r 2 0 4 two 1 0 0 1.0 5.5"), 1, "got 'two' as number of reactants"),
        (replaced(RATES, 1, "r 2 0 4 0 1 0 0 1.0 5.5"), 1, "got 0 reactants"),
        (replaced(RATES, 1, "r 2 0 4 2 1 2 0 1.0 5.5"), 1, "got 2 as electron capture flag"),
        (replaced(RATES, 1, "r 2 0 4 2 1 0 0 nan 5.5"), 1, "expected a finite number"),
        (replaced(RATES, 2, "1.0 2.0 3.0"), 2, "got 3 values as REACLIB parameters"),
        (replaced(RATES, 2, "1 2 3 4 5 6 inf"), 2, "expected a finite number"),
        (replaced(RATES, 3, "1"), 3, "got 1 values as Z of the reactants, expected 2"),
        (replaced(RATES, 7, "0 3"), 7, "got the species number 3 in a network of 3"),
        (replaced(RATES, 7, "0 -1"), 7, "got the species number -1"),
        (replaced(RATES, 8, "1"), 8, "species 1 is 'xb' with Z = 1, N = 1"),
        ("\n".join(RATES.split("\n")[:13]), 14, "ends where N of the products"),
        ("\n".join(RATES.split("\n")[:9]), 10, "ends where REACLIB parameters"),
    ],
)
def test_malformed_rates(files, rates, where, message):
    with pytest.raises(MechanismError) as caught:
        from_fern(*files(rates=rates))
    assert message in str(caught.value)
    assert f"rates.data:{where}: " in str(caught.value)


@pytest.mark.parametrize(
    ("network", "where", "message"),
    [
        ("\n\n", 2, "no species"),
        (replaced(NETWORK, 1, "xa 1 1 0 0.5"), 1, "got 5 values, expected 6"),
        (replaced(NETWORK, 1, "xa 2 1 0 0.5 7.25"), 1, "expected A = Z + N"),
        (replaced(NETWORK, 5, "xa 1 1 0 0.5 7.25"), 5, "'xa' stands here for the second"),
        (replaced(NETWORK, 3, "1.0 1.0"), 3, "got 2 values as partition function"),
        (replaced(NETWORK, 5, "xb 2 1.5 1 0.5 7.25"), 5, "got '1.5' as Z"),
        (NETWORK.rstrip("\n").rsplit("\n", 1)[0], 12, "ends where partition function"),
    ],
)
def test_malformed_networks(files, network, where, message):
    with pytest.raises(MechanismError) as caught:
        from_fern(*files(network=network))
    assert message in str(caught.value)
    assert f"net.inp:{where}: " in str(caught.value)


@pytest.mark.parametrize("length", range(0, len(RATES), 7))
def test_truncated_rates_never_raise_anything_else(files, length):
    try:
        text = from_fern(*files(rates=RATES[:length]))
    except MechanismError as error:
        assert "rates.data:" in str(error)
    else:
        # Only a cut after a whole record, or inside its last number, can pass.
        assert text.count("wavesmith.term ") == (RATES[:length].count("\n") + 1) // 8


def test_files_that_cannot_be_read(files, tmp_path):
    rates, network = files()
    with pytest.raises(MechanismError, match="cannot read .*missing"):
        from_fern(rates, tmp_path / "missing")
    network.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MechanismError, match="cannot read"):
        from_fern(rates, network)


# FERN's own networks -----------------------------------------------------------

FERN = REPOSITORY.parent / "shared" / "data" / "fern"
if not FERN.is_dir():  # In a worktree, `shared` stands one folder higher.
    FERN = REPOSITORY.parent.parent / "shared" / "data" / "fern"


@pytest.mark.skipif(not FERN.is_dir(), reason=f"FERN's networks are not in {FERN}")
@pytest.mark.parametrize(
    ("size", "species", "terms"), [("alpha", 16, 48), ("70", 70, 598), ("150", 150, 1604)]
)
def test_networks_of_fern(size, species, terms):
    rates, network = FERN / f"rateLibrary_{size}.data", FERN / f"CUDAnet_{size}.inp"
    system = compare(rates, network, species, zones=8)
    assert len(system.states) == species and len(system.terms) == terms
    verify(from_fern(rates, network))
    if size == "150":
        orders = Counter(sum(o for _, o in term.orders) for term in system.terms)
        assert orders == {1.0: 484, 2.0: 1107, 3.0: 13}
        assert sum(len(term.gain) for term in system.terms) == 2710
        assert sum(len(term.loss) for term in system.terms) == 2704
        weights = {w for term in system.terms for _, w in term.gain + term.loss}
        assert weights == {1.0, 2.0, 3.0}
