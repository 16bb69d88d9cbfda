# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of the rate and network files of FERN.

States are the abundances Y (mol/g), parameters the temperature T in K and the
density rho in g/cm^3, time is in s. For a reaction with n reactants,

    k = statistical factor * rho^(n-1) * exp(REACLIB form)

and v is k times the reactants' Y. A species' net count in the reaction, products
minus reactants, is its weight: in the gain if positive, in the loss if negative.
As in FERN's own method, the flag for electron captures and the partition
functions take no part.

A rate file has 8 lines a reaction:

1. label, group class, group member, reaction class, number of reactants, number
   of products, electron capture flag, reverse flag, statistical factor, Q;
2. the seven REACLIB parameters;
3. to 6. Z of the reactants, N of the reactants, Z of the products, N of the
   products;
7. and 8. numbers of the reactants and products in the network file, from 0.

A network file has 4 lines a species: name, A, Z, N, abundance, mass excess; and
three lines of 8 partition function values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

from wavesmith.importers.errors import MechanismError
from wavesmith.importers.mlir_text import (
    LAYOUTS,
    QUANTITIES,
    SystemWriter,
    check_choice,
)
from wavesmith.importers.reaclib_network import (
    coefficient_unit,
    density_power,
    sets_text,
)

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class FernSpecies:
    """A species of a network file: abundance in mol/g, mass excess in MeV."""

    name: str
    A: int
    Z: int
    N: int
    abundance: float
    mass_excess: float


@dataclass(frozen=True)
class FernReaction:
    """A reaction of a rate file. `reactants` and `products` are species' numbers
    from 0, one entry a particle; `parameters` are those of REACLIB, `Q` in MeV.
    """

    label: str
    reaction_class: int
    electron_capture: bool
    reverse: bool
    statistical_factor: float
    Q: float
    parameters: tuple[float, ...]
    reactants: tuple[int, ...]
    products: tuple[int, ...]


class _Reader:
    """Lines of a file with their numbers. Blank lines between records are
    skipped."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        try:
            self.lines = self.path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise MechanismError(f"cannot read '{self.path}': {error}") from error
        self.position = 0

    def fail(self, message: str) -> NoReturn:
        raise MechanismError(f"{self.path}:{self.position}: {message}")

    def at_end(self) -> bool:
        while self.position < len(self.lines) and not self.lines[self.position].strip():
            self.position += 1
        return self.position == len(self.lines)

    def fields(self, what: str) -> list[str]:
        if self.position == len(self.lines):
            self.position += 1
            self.fail(f"the file ends where {what} should stand")
        self.position += 1
        return self.lines[self.position - 1].split()

    def number(self, text: str, convert: Callable[[str], _Number], what: str) -> _Number:
        try:
            value = convert(text)
        except ValueError:
            kind = "an integer" if convert is int else "a number"
            self.fail(f"got '{text}' as {what}, expected {kind}")
        if value - value != 0:  # not finite
            self.fail(f"got '{text}' as {what}, expected a finite number")
        return value

    def numbers(
        self, count: int, convert: Callable[[str], _Number], what: str
    ) -> list[_Number]:
        fields = self.fields(what)
        if len(fields) != count:
            self.fail(f"got {len(fields)} values as {what}, expected {count}")
        return [self.number(field, convert, what) for field in fields]


def read_network(path: str | os.PathLike[str]) -> list[FernSpecies]:
    """Read a network file; MechanismError names the file and the line."""
    reader = _Reader(path)
    species: list[FernSpecies] = []
    names: set[str] = set()
    while not reader.at_end():
        fields = reader.fields("a species")
        if len(fields) != 6:
            reader.fail(
                f"got {len(fields)} values, expected 6: name, A, Z, N, abundance, "
                "mass excess"
            )
        name = fields[0]
        if name in names:
            reader.fail(f"the species '{name}' stands here for the second time")
        names.add(name)
        a, z, n = (
            reader.number(field, int, what)
            for field, what in zip(fields[1:4], ("A", "Z", "N"))
        )
        if a != z + n or z < 0 or n < 0:
            reader.fail(f"got A = {a}, Z = {z}, N = {n}, expected A = Z + N")
        abundance = reader.number(fields[4], float, "abundance")
        mass_excess = reader.number(fields[5], float, "mass excess")
        for _ in range(3):
            reader.numbers(8, float, "partition function values")
        species.append(FernSpecies(name, a, z, n, abundance, mass_excess))
    if not species:
        reader.fail("the network has no species")
    return species


def read_rates(
    path: str | os.PathLike[str], species: Sequence[FernSpecies]
) -> list[FernReaction]:
    """Read a rate file for a network's species, and check that Z and N of the
    particles are those of the species; MechanismError names the file and the
    line."""
    reader = _Reader(path)
    reactions: list[FernReaction] = []
    while not reader.at_end():
        reactions.append(_read_reaction(reader, species))
    if not reactions:
        reader.fail("the file has no reactions")
    return reactions


def _read_reaction(reader: _Reader, species: Sequence[FernSpecies]) -> FernReaction:
    fields = reader.fields("a reaction")
    if len(fields) != 10:
        reader.fail(
            f"got {len(fields)} values, expected 10: label, group class, group member, "
            "reaction class, number of reactants, number of products, electron capture "
            "flag, reverse flag, statistical factor, Q"
        )
    label = fields[0]
    reader.number(fields[1], int, "group class")
    reader.number(fields[2], int, "group member")
    reaction_class = reader.number(fields[3], int, "reaction class")
    counts = [
        reader.number(fields[4], int, "number of reactants"),
        reader.number(fields[5], int, "number of products"),
    ]
    if counts[0] < 1 or counts[1] < 1:
        reader.fail(
            f"got {counts[0]} reactants and {counts[1]} products, expected at least one"
        )
    flags = []
    for text, what in zip(fields[6:8], ("electron capture flag", "reverse flag")):
        flag = reader.number(text, int, what)
        if flag not in (0, 1):
            reader.fail(f"got {flag} as {what}, expected 0 or 1")
        flags.append(bool(flag))
    factor = reader.number(fields[8], float, "statistical factor")
    q = reader.number(fields[9], float, "Q")
    parameters = reader.numbers(7, float, "REACLIB parameters")
    nuclei = []
    for count, side in zip(counts, ("reactants", "products")):
        z = reader.numbers(count, int, f"Z of the {side}")
        n = reader.numbers(count, int, f"N of the {side}")
        nuclei.append(list(zip(z, n)))
    sides = []
    for count, side, expected in zip(counts, ("reactants", "products"), nuclei):
        indices = reader.numbers(count, int, f"species numbers of the {side}")
        for index, (z, n) in zip(indices, expected):
            if not 0 <= index < len(species):
                reader.fail(
                    f"got the species number {index} in a network of "
                    f"{len(species)} species"
                )
            found = species[index]
            if (found.Z, found.N) != (z, n):
                reader.fail(
                    f"species {index} is '{found.name}' with Z = {found.Z}, "
                    f"N = {found.N}, but the reaction has Z = {z}, N = {n}"
                )
        sides.append(tuple(indices))
    return FernReaction(
        label,
        reaction_class,
        *flags,
        factor,
        q,
        tuple(parameters),
        *sides,
    )


def from_fern(
    rate_file: str | os.PathLike[str],
    network_file: str | os.PathLike[str],
    *,
    layout: str = "soa",
    quantity: str = "rhs",
    name: str = "network",
) -> str:
    """Import a network of FERN.

    Args:
        rate_file: the file of reactions.
        network_file: the file of species.
        layout: "soa" (states x zones) or "aos" (zones x states).
        quantity: what the function computes: "rhs" (dY/dt, in mol/g/s),
            "production_loss" or "term_values".
        name: the system's symbol name.

    Returns:
        MLIR text. States: Y in mol/g, named as in the network file and in its
        order; parameters: T in K, rho in g/cm^3; one term a reaction, in the
        order of the rate file.

    Raises:
        MechanismError: a file is malformed; the message names file and line.
    """
    check_choice("layout", layout, LAYOUTS)
    check_choice("quantity", quantity, QUANTITIES)
    species = read_network(network_file)
    reactions = read_rates(rate_file, species)
    writer = SystemWriter(
        name,
        states=[(s.name, "mol/g") for s in species],
        parameters=[("T", "K"), ("rho", "g/cm^3")],
        header=[
            f"FERN network of {len(species)} species and {len(reactions)} reactions, "
            f"from {Path(rate_file).name} and {Path(network_file).name}",
            "Abundances in mol/g, temperature in K, density in g/cm^3, time in s",
        ],
    )
    temperature = writer.shared("T", 'wavesmith.parameter "T"')
    for number, reaction in enumerate(reactions, start=1):
        writer.comment("")
        writer.comment(
            f"reaction {number}: {reaction.label} (term {writer.num_terms})"
        )
        # k = (statistical factor * rho^(n-1)) * exp(...)
        rate = writer.value(
            f"rate{number}",
            f"wavesmith.reaclib {temperature} sets {sets_text([reaction.parameters])}",
        )
        coefficient = rate
        factors = []
        if reaction.statistical_factor != 1.0:
            factors.append(writer.constant(reaction.statistical_factor, "statistical"))
        if len(reaction.reactants) > 1:
            factors.append(density_power(writer, len(reaction.reactants) - 1))
        if len(factors) == 2:
            prefactor = writer.shared(
                "prefactor", f"arith.mulf {factors[0]}, {factors[1]} : f64"
            )
            factors = [prefactor]
        if factors:
            coefficient = writer.multiply(f"k{number}", factors[0], rate)

        orders: dict[str, float] = {}
        net: dict[str, float] = {}
        for index in reaction.reactants:
            state = species[index].name
            orders[state] = orders.get(state, 0.0) + 1.0
            net[state] = net.get(state, 0.0) - 1.0
        for index in reaction.products:
            state = species[index].name
            net[state] = net.get(state, 0.0) + 1.0
        writer.term(
            coefficient,
            coefficient_unit(len(reaction.reactants)),
            orders,
            {state: -weight for state, weight in net.items() if weight < 0.0},
            {state: weight for state, weight in net.items() if weight > 0.0},
        )
    return writer.module(quantity=quantity, layout=layout)
