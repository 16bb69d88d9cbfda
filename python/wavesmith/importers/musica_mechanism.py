# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of MUSICA's mechanisms: version 1 of the mechanism configuration, in JSON.

States are concentrations in mol/m^3, time is in s. Parameters are T in K, P in Pa
where a rate needs it, and the rates that the host gives, named as MUSICA names them:
PHOTO.name, LOSS.name and USER.name (times the reaction's scaling factor),
EMIS.name. The density of air is P / (R T).

Formulas, from the documentation of the format (open-atmos.github.io/
MechanismConfiguration), with T in K, P in Pa, [M] the density of air:

    ARRHENIUS    A exp(C/T) (T/D)^B (1 + E P), C = -Ea/k_B
    TROE         k0 [M] / (1 + x) F, x = k0 [M] / kinf,
                 F = Fc^(1 / (1 + log10(x)^2 / N)),
                 k0 = k0_A exp(k0_C/T) (T/300)^k0_B, kinf likewise
    TERNARY_CHEMICAL_ACTIVATION  k0 / (1 + x) F
    TUNNELING    A exp(-B/T) exp(C/T^3)
"""

from __future__ import annotations

import json
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from wavesmith.importers.errors import MechanismError, UnsupportedMechanismError
from wavesmith.importers.mlir_text import (
    LAYOUTS,
    QUANTITIES,
    SystemWriter,
    check_choice,
    decimal_sum,
    format_float,
    format_unit,
    identifier,
    quote,
)

#: J/mol/K and J/K, exact in the SI.
GAS_CONSTANT = 8.31446261815324
BOLTZMANN = 1.380649e-23
#: The kinds whose rate the host gives: prefix of the parameter.
_GIVEN = {
    "PHOTOLYSIS": "PHOTO",
    "EMISSION": "EMIS",
    "FIRST_ORDER_LOSS": "LOSS",
    "USER_DEFINED": "USER",
}
_ARRHENIUS = {"A": 1.0, "B": 0.0, "C": 0.0, "D": 300.0, "E": 0.0}
_FALLOFF = {"k0_A": 1.0, "k0_B": 0.0, "k0_C": 0.0, "kinf_A": 1.0, "kinf_B": 0.0,
            "kinf_C": 0.0, "Fc": 0.6, "N": 1.0}  # fmt: skip


def from_musica(
    source: str | os.PathLike[str],
    *,
    layout: str = "soa",
    quantity: str = "rhs",
    name: str | None = None,
) -> str:
    """Import a mechanism.

    Args:
        source: a JSON file of version 1.
        layout: "soa" (states x zones) or "aos" (zones x states).
        quantity: what the function computes: "rhs" (in mol/m^3/s),
            "production_loss" or "term_values".
        name: the system's symbol name; that of the mechanism if it is left out.

    Returns:
        MLIR text.

    Raises:
        UnsupportedMechanismError: it needs what is not supported.
        MechanismError: it cannot be read, or is malformed.
    """
    check_choice("layout", layout, LAYOUTS)
    check_choice("quantity", quantity, QUANTITIES)
    writer, _ = read_musica(source, name=name)
    return writer.module(quantity=quantity, layout=layout)


def read_musica(
    source: str | os.PathLike[str], *, name: str | None = None
) -> tuple[SystemWriter, dict[str, float]]:
    """The system itself, and the molar masses in g/mol that the file has; as
    `from_musica`."""
    path = Path(source)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MechanismError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise MechanismError(f"{path} is no JSON: {error}") from None
    if not isinstance(content, dict):
        raise MechanismError(f"{path}: expected an object, got a {type(content).__name__}")
    if "camp-data" in content or "camp-files" in content:
        raise UnsupportedMechanismError(
            f"{path} is a mechanism of version 0 ('camp-data'): only version 1 is supported"
        )
    version = str(content.get("version", ""))
    if version.split(".")[0] != "1":
        raise UnsupportedMechanismError(
            f"{path}: version {version or '(none)'} is not supported, only version 1 is"
        )
    return _Importer(path, content, name).run()


class _Importer:
    def __init__(self, path: Path, content: dict, name: str | None):
        self.path, self.content = path, content
        self.name = name or identifier(str(content.get("name") or "")) or "mechanism"
        self.where = str(path)
        self.masses: dict[str, float] = {}
        #: Species that are no states: a concentration in mol/m^3, a mixing ratio, or
        #: the air itself (a ratio of one).
        self.constants: dict[str, tuple[str, float]] = {}

    def fail(self, text: str) -> None:
        raise MechanismError(f"{self.where}: {text}")

    def unsupported(self, text: str) -> None:
        raise UnsupportedMechanismError(f"{self.where}: {text}")

    def listed(self, owner: dict, key: str) -> list:
        value = owner.get(key, [])
        if not isinstance(value, list):
            self.unsupported(f"expected a list of {key} in this file, got {value!r:.60}")
        return value

    def number(self, owner: dict, key: str, default: float | None = None) -> float:
        value = owner.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(f"expected a number for '{key}', got {value!r:.60}")
        if not math.isfinite(value):
            self.fail(f"expected a finite number for '{key}', got {value}")
        return float(value)

    def read_species(self) -> list[str]:
        states = []
        for entry in self.listed(self.content, "species"):
            if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
                self.fail(f"expected a species with a name, got {entry!r:.60}")
            name = entry["name"]
            if name in states or name in self.constants:
                self.fail(f"two species have the name '{name}'")
            if "molecular weight [kg mol-1]" in entry:
                self.masses[name] = 1e3 * self.number(entry, "molecular weight [kg mol-1]")
            if entry.get("is third body") or entry.get("tracer type") == "THIRD_BODY":
                self.constants[name] = ("ratio", 1.0)
            elif "constant concentration [mol m-3]" in entry:
                value = self.number(entry, "constant concentration [mol m-3]")
                self.constants[name] = ("concentration", value)
            elif "constant mixing ratio [mol mol-1]" in entry:
                value = self.number(entry, "constant mixing ratio [mol mol-1]")
                self.constants[name] = ("ratio", value)
            else:
                states.append(name)
        return states

    def read_phase(self, reactions: list[dict]) -> list[str] | None:
        """The species of the gas phase; None where the file has no phases."""
        phases = {}
        for entry in self.listed(self.content, "phases"):
            species = [s["name"] if isinstance(s, dict) else s for s in entry.get("species", [])]
            phases[entry.get("name")] = species
        names = {r["gas phase"] for r in reactions if "gas phase" in r}
        if len(names) > 1:
            self.unsupported(f"reactions in several gas phases ({', '.join(sorted(names))})")
        if names:
            (name,) = names
            if name not in phases:
                self.fail(f"there is no phase '{name}'")
            return phases[name]
        if len(phases) > 1:
            self.fail("reactions do not say which of the phases they are in")
        return next(iter(phases.values()), None)

    def run(self) -> tuple[SystemWriter, dict[str, float]]:
        states = self.read_species()
        reactions = self.listed(self.content, "reactions")
        kinds = {"ARRHENIUS", "TROE", "TERNARY_CHEMICAL_ACTIVATION", "TUNNELING", *_GIVEN}
        self.labels: list[str] = []
        for number, reaction in enumerate(reactions, 1):
            self.where = self.place(number, reaction)
            if not isinstance(reaction, dict):
                self.fail(f"expected an object, got {reaction!r:.60}")
            kind = reaction.get("type")
            if kind not in kinds:
                self.unsupported(
                    f"reactions of the type {kind!r} are not supported, only "
                    + ", ".join(sorted(kinds))
                )
            self.labels.append(
                f"{_GIVEN[kind]}.{reaction.get('name', number)}" if kind in _GIVEN else ""
            )
        self.where = str(self.path)
        phase = self.read_phase(reactions)
        if phase is not None:
            for species in phase:
                if species not in states and species not in self.constants:
                    self.fail(f"the phase has the unknown species '{species}'")
            states = [s for s in states if s in phase]
        parsed = [self.parse(n, r, states) for n, r in enumerate(reactions, 1)]
        parameters = [("T", "K")]
        if any(self.needs_pressure(r, constants) for r, (*_, constants) in zip(reactions, parsed)):
            parameters.append(("P", "Pa"))
        units = dict(parameters)
        for reaction, label, (reactants, _, constants) in zip(reactions, self.labels, parsed):
            if label:
                if label in units:
                    self.fail(f"two reactions have the name '{label}'")
                # The host's number is multiplied by what is constant.
                total = decimal_sum([*reactants.values(), *constants.values()])
                parameters.append((label, _unit(total)))
                units[label] = _unit(total)
        self.writer = SystemWriter(
            self.name,
            [(state, "mol/m^3") for state in states],
            parameters,
            header=[f"MUSICA mechanism {self.content.get('name', '')} from {self.path.name}"],
        )
        for number, (reaction, label, sides) in enumerate(
            zip(reactions, self.labels, parsed), 1
        ):
            self.where = self.place(number, reaction)
            self.add(number, reaction, label, *sides)
        if not self.writer.num_terms:
            self.fail("the mechanism has no reactions")
        return self.writer, {s: m for s, m in self.masses.items() if s in states}

    def place(self, number: int, reaction: Any) -> str:
        name = reaction.get("name") if isinstance(reaction, dict) else None
        return f"{self.path}: reaction {number}" + (f" ({name})" if name else "")

    def needs_pressure(self, reaction: dict, constants: dict[str, float]) -> bool:
        if any(self.constants[s][0] == "ratio" for s in constants):
            return True
        kind = reaction["type"]
        return kind in ("TROE", "TERNARY_CHEMICAL_ACTIVATION") or (
            kind == "ARRHENIUS" and self.number(reaction, "E", 0.0) != 0.0
        )

    def parse(
        self, number: int, reaction: dict, states: list[str]
    ) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
        """Reactants and products that are states, and the other reactants."""
        self.where = self.place(number, reaction)
        sides: list[dict[str, float]] = []
        constants: dict[str, float] = {}
        for key in ("reactants", "products"):
            side: dict[str, float] = {}
            for part in self.listed(reaction, key):
                species = part.get("species name", part.get("name"))
                weight = self.number(part, "coefficient", 1.0)
                if weight < 0.0:
                    self.unsupported(f"'{species}' has the negative coefficient {weight}")
                if species in states:
                    side[species] = side.get(species, 0.0) + weight
                elif species not in self.constants:
                    self.fail(f"unknown species '{species}'")
                elif key == "reactants":
                    constants[species] = constants.get(species, 0.0) + weight
            sides.append(side)
        for species, weight in constants.items():
            if weight != int(weight):
                self.unsupported(f"'{species}' has the coefficient {weight}, which is not whole")
        return sides[0], sides[1], constants

    # Rates -----------------------------------------------------------------

    def temperature(self) -> str:
        return self.writer.shared("T", 'wavesmith.parameter "T"')

    def air(self) -> str:
        """P / (R T)."""
        pressure = self.writer.shared("P", 'wavesmith.parameter "P"')
        gas = self.writer.constant(GAS_CONSTANT, "R")
        rt = self.writer.shared("RT", f"arith.mulf {gas}, {self.temperature()} : f64")
        return self.writer.shared("M", f"arith.divf {pressure}, {rt} : f64")

    def arrhenius(self, hint: str, A: float, B: float, C: float, D: float) -> str:
        try:
            factor = A * D**-B
        except (OverflowError, ZeroDivisionError):
            factor = math.inf
        if not math.isfinite(factor) or (A != 0.0 and factor == 0.0):
            self.fail(f"A (T/D)^B is out of range with A = {A}, B = {B}, D = {D}")
        return self.writer.value(
            hint, f"wavesmith.arrhenius {self.temperature()} A {format_float(factor)} "
            f"b {format_float(B)} E {format_float(-C)}",
        )  # fmt: skip

    def operation(self, hint: str, name: str, *operands: str) -> str:
        return self.writer.value(hint, f"{name} {', '.join(operands)} : f64")

    def rate(self, number: int, reaction: dict) -> str:
        kind = reaction["type"]
        if kind == "ARRHENIUS":
            if "C" in reaction and "Ea" in reaction:
                self.fail("both 'C' and 'Ea' are given, expected one of them")
            A, B, C, D, E = (self.number(reaction, k, d) for k, d in _ARRHENIUS.items())
            if "Ea" in reaction:
                C = -self.number(reaction, "Ea") / BOLTZMANN
            k = self.arrhenius(f"k{number}", A, B, C, D)
            if E:
                pressure = self.writer.shared("P", 'wavesmith.parameter "P"')
                factor = self.operation(
                    f"pressure{number}", "math.fma", self.writer.constant(E), pressure,
                    self.writer.constant(1.0),
                )  # fmt: skip
                k = self.writer.multiply(f"k{number}", k, factor)
            return k
        if kind == "TUNNELING":
            A, B, C = (self.number(reaction, k, d) for k, d in (("A", 1.0), ("B", 0.0), ("C", 0.0)))
            one = self.writer.constant(1.0)
            inverse = self.writer.shared("invT", f"arith.divf {one}, {self.temperature()} : f64")
            square = self.writer.shared("invT2", f"arith.mulf {inverse}, {inverse} : f64")
            cube = self.writer.shared("invT3", f"arith.mulf {square}, {inverse} : f64")
            linear = self.writer.multiply("x", self.writer.constant(-B), inverse)
            exponent = self.operation("x", "math.fma", self.writer.constant(C), cube, linear)
            power = self.operation("e", "math.exp", exponent)
            return self.writer.multiply(f"k{number}", self.writer.constant(A), power)
        values = {k: self.number(reaction, k, d) for k, d in _FALLOFF.items()}
        if not values["Fc"] > 0.0 or not values["N"] > 0.0:
            self.fail(f"expected positive Fc and N, got {values['Fc']} and {values['N']}")
        k0, kinf = (
            self.arrhenius(f"{p}_{number}", values[f"{p}_A"], values[f"{p}_B"], values[f"{p}_C"],
                           300.0)
            for p in ("k0", "kinf")
        )  # fmt: skip
        low = self.writer.multiply(f"k0M_{number}", k0, self.air())
        ratio = self.operation(f"x{number}", "arith.divf", low, kinf)
        one = self.writer.constant(1.0)
        log = self.operation("log", "math.log10", ratio)
        scaled = self.writer.multiply("scaled", log, self.writer.constant(1.0 / values["N"]))
        below = self.operation("below", "math.fma", scaled, log, one)
        exponent = self.operation(
            "exponent", "arith.divf", self.writer.constant(math.log(values["Fc"])), below
        )
        blending = self.operation(f"F{number}", "math.exp", exponent)
        whole = self.operation("whole", "arith.addf", one, ratio)
        first = low if kind == "TROE" else k0
        share = self.operation("share", "arith.divf", first, whole)
        return self.writer.multiply(f"k{number}", share, blending)

    def add(
        self,
        number: int,
        reaction: dict,
        label: str,
        reactants: dict[str, float],
        products: dict[str, float],
        constants: dict[str, float],
    ) -> None:
        kind = reaction["type"]
        if kind in ("PHOTOLYSIS", "FIRST_ORDER_LOSS") and (
            list(reactants.values()) + list(constants.values()) != [1.0]
        ):
            self.fail(f"{kind} takes one reactant with the coefficient 1")
        if kind == "EMISSION" and (reactants or constants):
            self.fail("EMISSION takes no reactants")
        if not reactants and not products:
            return  # Nothing that is a state changes.
        self.writer.comment("")
        self.writer.comment(
            f"reaction {number}: {reaction.get('name', kind)} (term {self.writer.num_terms})"
        )
        if label:
            k = self.writer.shared(label, f"wavesmith.parameter {quote(label)}")
            factor = self.number(reaction, "scaling factor",
                                 self.number(reaction, "scaling_factor", 1.0))  # fmt: skip
            if factor != 1.0:
                k = self.writer.multiply(f"k{number}", k, self.writer.constant(factor))
        else:
            k = self.rate(number, reaction)
        for species, weight in constants.items():
            what, value = self.constants[species]
            amount = self.writer.constant(value, species) if what == "concentration" else (
                self.air() if value == 1.0 else
                self.writer.shared(
                    species, f"arith.mulf {self.writer.constant(value)}, {self.air()} : f64"
                )
            )  # fmt: skip
            for _ in range(int(weight)):
                k = self.writer.multiply(f"k{number}", k, amount)
        self.writer.term(k, _unit(decimal_sum(reactants.values())), reactants, reactants, products)


def _unit(order: Decimal) -> str:
    """mol/m^3/s over (mol/m^3)^order."""
    return format_unit([("m", 3 * (order - 1)), ("mol", 1 - order), ("s", Decimal(-1))])
