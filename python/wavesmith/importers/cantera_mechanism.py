# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of gas-phase reaction mechanisms through Cantera.

States are the concentrations of the species in kmol/m^3, the parameter T is
the temperature in K, time is in s. The system is the isothermal one, whose
right-hand side is what Cantera calls the net production rates.

Each direction of a reaction is one term: forward, then reverse if there is
one. Reactions are numbered from 1, as the comments in mechanism files do.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wavesmith.importers.errors import (
    MechanismError,
    MissingPackageError,
    UnsupportedMechanismError,
)
from wavesmith.importers.mlir_text import (
    LAYOUTS,
    QUANTITIES,
    SystemWriter,
    check_choice,
    decimal_sum,
    format_float,
    format_unit,
    identifier,
)

if TYPE_CHECKING:
    import cantera

#: The gas constant, in J/kmol/K, that `wavesmith.reverse_rate` is defined with.
GAS_CONSTANT = 8314.46261815324


def load_cantera() -> Any:
    """The module `cantera`; MissingPackageError if it is not installed."""
    try:
        import cantera
    except ModuleNotFoundError as error:
        if error.name != "cantera":
            raise
        raise MissingPackageError("cantera", "importing a Cantera mechanism") from None
    if cantera.gas_constant != GAS_CONSTANT:
        raise MechanismError(
            f"this Cantera has the gas constant {cantera.gas_constant!r} J/kmol/K, "
            f"expected {GAS_CONSTANT!r}"
        )
    return cantera


def load_solution(
    source: str | os.PathLike[str] | cantera.Solution, phase: str | None = None
) -> cantera.Solution:
    """A Cantera solution from a file name, or `source` itself if it is one.

    Raises MechanismError, with Cantera's own explanation, if it cannot be read.
    """
    ct = load_cantera()
    if isinstance(source, ct.Solution):
        if phase is not None and source.name != phase:
            raise ValueError(
                f"got phase={phase!r} for a solution that is the phase {source.name!r}"
            )
        return source
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            f"expected a file name or a cantera.Solution, got {type(source).__name__}"
        )
    try:
        return ct.Solution(os.fspath(source), phase or "")
    except (ct.CanteraError, ValueError, NotImplementedError) as error:
        raise MechanismError(
            f"Cantera cannot load {os.fspath(source)!r}: {_explanation(error)}"
        ) from error


def _explanation(error: Exception) -> str:
    """Cantera's message without its frame of asterisks, on one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    return " ".join(line for line in lines if line.strip("*-| "))


def from_cantera(
    source: str | os.PathLike[str] | cantera.Solution,
    *,
    phase: str | None = None,
    layout: str = "soa",
    quantity: str = "rhs",
    name: str | None = None,
) -> str:
    """Import a gas-phase mechanism.

    Args:
        source: a file that Cantera reads (a path, or the name of a file that
            Cantera ships), or a `cantera.Solution`.
        phase: the phase of the file; the first if it is left out.
        layout: "soa" (states x zones) or "aos" (zones x states).
        quantity: what the function computes: "rhs" (dy/dt, in kmol/m^3/s),
            "production_loss" or "term_values".
        name: the system's symbol name; that of the phase if it is left out.

    Returns:
        MLIR text. States: concentrations in kmol/m^3, in Cantera's order of
        the species; the one parameter: T in K; time in s.

    Raises:
        UnsupportedMechanismError: the mechanism needs what the dialect lacks.
        MechanismError: Cantera cannot read it.
        MissingPackageError: Cantera is not installed.
    """
    check_choice("layout", layout, LAYOUTS)
    check_choice("quantity", quantity, QUANTITIES)
    writer, _ = read_cantera(source, phase=phase, name=name)
    return writer.module(quantity=quantity, layout=layout)


def read_cantera(
    source: str | os.PathLike[str] | cantera.Solution,
    *,
    phase: str | None = None,
    name: str | None = None,
) -> tuple[SystemWriter, dict[str, float]]:
    """The system itself, and each species' molar mass in g/mol; as
    `from_cantera`."""
    solution = load_solution(source, phase)
    importer = _Importer(solution, name or identifier(solution.name) or "mechanism")
    masses = zip(solution.species_names, map(float, solution.molecular_weights))
    return importer.run(), dict(masses)


def simplest_preimage(function: Callable[[float], float], value: float) -> float:
    """The number of fewest decimals near `value` that `function` cannot tell
    from it.

    Cantera keeps some inputs only as a function of them (1/T3, log p, E/R): the
    way back is off by a rounding. This finds the input again where it is a
    short decimal, and never changes what Cantera computes with.
    """
    if value == 0.0 or not math.isfinite(value):
        return value
    wanted = function(value)
    for digits in range(1, 17):
        candidate = float(f"{value:.{digits}g}")
        if candidate != 0.0 and function(candidate) == wanted:
            return candidate
    return value


class _Importer:
    """The import of one solution."""

    def __init__(self, solution: cantera.Solution, name: str):
        self.ct = load_cantera()
        self.solution = solution
        self._check_phase()
        self.species = {species.name: species for species in solution.species()}
        source = Path(solution.source).name if solution.source else "a Python object"
        self.writer = SystemWriter(
            name,
            states=[(species, "kmol/m^3") for species in solution.species_names],
            parameters=[("T", "K")],
            header=[
                f"Phase '{solution.name}' of {source}: {solution.n_species} species, "
                f"{solution.n_reactions} reactions",
                f"Imported with Cantera {self.ct.__version__}; concentrations in "
                "kmol/m^3, temperature in K, time in s",
            ],
        )
        self.where = ""

    # Errors --------------------------------------------------------------------

    def unsupported(self, what: str) -> UnsupportedMechanismError:
        return UnsupportedMechanismError(f"{self.where}: {what}")

    def _check_phase(self) -> None:
        solution = self.solution
        self.where = f"phase '{solution.name}'"
        if solution.n_phases != 1:
            raise self.unsupported(
                f"its reactions involve {solution.n_phases} phases; only one "
                "ideal gas is supported"
            )
        if solution.thermo_model != "ideal-gas":
            raise self.unsupported(
                f"its thermodynamic model is '{solution.thermo_model}'; only "
                "'ideal-gas' is supported"
            )
        if solution.n_reactions == 0:
            raise self.unsupported("it has no reactions")
        if solution.kinetics_model not in ("bulk", "gas"):
            raise self.unsupported(
                f"its kinetics model is '{solution.kinetics_model}'; only 'bulk' is "
                "supported"
            )
        for i, equation in enumerate(solution.reaction_equations()):
            if solution.multiplier(i) != 1.0:
                raise UnsupportedMechanismError(
                    f"reaction {i + 1} ({equation}): its rate multiplier is set to "
                    f"{solution.multiplier(i)!r}; multipliers are not supported"
                )

    # Shared values -------------------------------------------------------------

    def temperature(self) -> str:
        return self.writer.shared("T", 'wavesmith.parameter "T"')

    def total(self) -> str:
        weights = {species: 1.0 for species in self.species}
        return self.writer.shared(
            "total", f"wavesmith.weighted_sum {self.writer.weights(weights)}"
        )

    def pressure(self) -> str:
        """P = (R T) total, in Pa."""
        total = self.total()
        gas_constant = self.writer.constant(GAS_CONSTANT, "R")
        rt = self.writer.shared(
            "RT", f"arith.mulf {gas_constant}, {self.temperature()} : f64"
        )
        return self.writer.shared("P", f"arith.mulf {rt}, {total} : f64")

    def third_body(self, third_body: Any) -> str:
        default = float(third_body.default_efficiency)
        # Efficiencies of species that the phase does not have take no part;
        # Cantera refuses them unless the phase says that it may skip them.
        efficiencies = {
            species: float(efficiency)
            for species, efficiency in third_body.efficiencies.items()
            if species in self.species and float(efficiency) != default
        }
        total = self.total()
        if not efficiencies and default == 1.0:
            return total
        return self.writer.shared(
            "M",
            f"wavesmith.third_body {total} default {format_float(default)} "
            f"efficiencies {self.writer.weights(efficiencies)}",
        )

    def gibbs(self, species: str) -> str:
        thermo = self.species[species].thermo
        if type(thermo) is not self.ct.NasaPoly2:
            raise self.unsupported(
                f"species '{species}' has thermodynamic data of the kind "
                f"{type(thermo).__name__}; reversible reactions need 7-coefficient "
                "NASA polynomials"
            )
        if thermo.reference_pressure != self.solution.reference_pressure:
            raise self.unsupported(
                f"species '{species}' has the reference pressure "
                f"{thermo.reference_pressure!r} Pa, the phase "
                f"{self.solution.reference_pressure!r} Pa"
            )
        coefficients = [float(c) for c in thermo.coeffs]

        def row(values: list[float]) -> str:
            return "[" + ", ".join(format_float(v) for v in values) + "]"

        return self.writer.shared(
            f"g_{species}",
            f"wavesmith.nasa7 gibbs {self.temperature()} T_mid "
            f"{format_float(coefficients[0])} low {row(coefficients[8:15])} "
            f"high {row(coefficients[1:8])}",
        )

    # Rate coefficients -----------------------------------------------------------

    def activation_temperature(self, rate: Any) -> float:
        """E_a/R in K. Cantera gives it times R."""
        energy = float(rate.activation_energy)
        return simplest_preimage(lambda e: e * GAS_CONSTANT, energy / GAS_CONSTANT)

    def arrhenius(self, hint: str, rate: Any) -> str:
        return self.writer.value(
            hint,
            f"wavesmith.arrhenius {self.temperature()} "
            f"A {format_float(rate.pre_exponential_factor)} "
            f"b {format_float(rate.temperature_exponent)} "
            f"E {format_float(self.activation_temperature(rate))}",
        )

    def blending(self, number: int, rate: Any, reduced_pressure: str) -> str | None:
        """The value F, or None for Lindemann's form."""
        ct = self.ct
        kind = type(rate)
        c = [float(value) for value in rate.falloff_coeffs]
        operands = f"{self.temperature()}, {reduced_pressure}"
        if kind is ct.LindemannRate:
            return None
        if kind is ct.TroeRate:
            # Cantera keeps 1/T3 and 1/T1.
            t3, t1 = (simplest_preimage(lambda t: 1.0 / t, t) for t in c[1:3])
            text = (
                f"wavesmith.troe {operands} A {format_float(c[0])} "
                f"T3 {format_float(t3)} T1 {format_float(t1)}"
            )
            # A fourth parameter that is zero is left out by Cantera too.
            if len(c) > 3 and c[3] != 0.0:
                text += f" T2 {format_float(c[3])}"
            return self.writer.value(f"F{number}", text)
        if kind is ct.SriRate:
            a, b, c_, d, e = c if len(c) == 5 else [*c, 1.0, 0.0]
            return self.writer.value(
                f"F{number}",
                f"wavesmith.sri {operands} a {format_float(a)} b {format_float(b)} "
                f"c {format_float(c_)} d {format_float(d)} e {format_float(e)}",
            )
        if kind is ct.TsangRate:
            a, b = c if len(c) == 2 else [*c, 0.0]
            return self.writer.value(
                f"F{number}",
                f"wavesmith.tsang {operands} A {format_float(a)} B {format_float(b)}",
            )
        raise self.unsupported(f"fall-off rates of the kind {kind.__name__}")

    def falloff(self, number: int, reaction: Any) -> str:
        rate = reaction.rate
        activated = bool(rate.chemically_activated)
        low = self.arrhenius(f"klow{number}", rate.low_rate)
        high = self.arrhenius(f"khigh{number}", rate.high_rate)
        third_body = self.third_body(reaction.third_body)
        reduced_pressure = self.writer.value(
            f"pr{number}", f"wavesmith.reduced_pressure {low}, {high}, {third_body}"
        )
        blending = self.blending(number, rate, reduced_pressure)
        operation = "chemically_activated" if activated else "falloff"
        return self.writer.value(
            f"k{number}",
            f"wavesmith.{operation} {low if activated else high}, {reduced_pressure}"
            + (f", {blending}" if blending else ""),
        )

    def plog(self, number: int, rate: Any) -> str:
        rows = []
        for pressure, arrhenius in rate.rates:
            # Cantera keeps log(p).
            rows.append(
                [
                    simplest_preimage(math.log, float(pressure)),
                    arrhenius.pre_exponential_factor,
                    arrhenius.temperature_exponent,
                    self.activation_temperature(arrhenius),
                ]
            )
        pressures = [row[0] for row in rows]
        for row in rows:
            if pressures.count(row[0]) == 1 and row[1] <= 0.0:
                raise self.unsupported(
                    f"a P-log rate with the pre-exponential factor {row[1]!r} as the "
                    f"only one at {row[0]!r} Pa"
                )
        return self.writer.value(
            f"kf{number}",
            f"wavesmith.plog {self.temperature()}, {self.pressure()} rates "
            + self.matrix(rows),
        )

    def chebyshev(self, number: int, rate: Any) -> str:
        temperatures, pressures = (
            "[" + ", ".join(format_float(v) for v in values) + "]"
            for values in (rate.temperature_range, rate.pressure_range)
        )
        return self.writer.value(
            f"kf{number}",
            f"wavesmith.chebyshev {self.temperature()}, {self.pressure()} "
            f"T_range {temperatures} p_range {pressures} coefficients "
            + self.matrix([[float(v) for v in row] for row in rate.data]),
        )

    @staticmethod
    def matrix(rows: list[list[float]]) -> str:
        texts = ("[" + ", ".join(format_float(v) for v in row) + "]" for row in rows)
        return "[" + ", ".join(texts) + "]"

    def forward(self, number: int, reaction: Any) -> str:
        """The forward coefficient, with the third bodies' concentration if the
        reaction has any."""
        ct = self.ct
        rate = reaction.rate
        kind = type(rate)
        falloffs = (ct.LindemannRate, ct.TroeRate, ct.SriRate, ct.TsangRate)
        if kind in falloffs:
            if reaction.third_body is None or reaction.third_body.mass_action:
                raise self.unsupported("a fall-off rate without a third body (+M)")
            return self.falloff(number, reaction)
        if kind is ct.ArrheniusRate:
            k = self.arrhenius(f"kf{number}", rate)
        elif kind is ct.PlogRate:
            k = self.plog(number, rate)
        elif kind is ct.ChebyshevRate:
            k = self.chebyshev(number, rate)
        else:
            raise self.unsupported(
                f"rates of the kind '{rate.type}' ({kind.__name__}) are not supported"
            )
        if reaction.third_body is None:
            return k
        if not reaction.third_body.mass_action:
            raise self.unsupported(
                f"a third body in parentheses with a rate of the kind '{rate.type}'"
            )
        return self.writer.multiply(f"k{number}", k, self.third_body(reaction.third_body))

    def reverse(self, number: int, reaction: Any, forward: str) -> str:
        net: dict[str, float] = {}
        for species, coefficient in reaction.products.items():
            net[species] = net.get(species, 0.0) + coefficient
        for species, coefficient in reaction.reactants.items():
            net[species] = net.get(species, 0.0) - coefficient
        listed = sorted(
            (species for species, nu in net.items() if nu != 0.0),
            key=self.writer.order_of,
        )
        if not listed:  # The equilibrium constant is 1.
            return forward
        pairs = [f"{self.gibbs(s)} = {format_float(net[s])}" for s in listed]
        return self.writer.value(
            f"kr{number}",
            f"wavesmith.reverse_rate {forward}, {self.temperature()} gibbs "
            f"[{', '.join(pairs)}] reference_pressure "
            f"{format_float(self.solution.reference_pressure)}",
        )

    # Reactions -----------------------------------------------------------------

    @staticmethod
    def coefficient_unit(orders: dict[str, float]) -> str:
        """kmol/m^3/s over (kmol/m^3)^(sum of the orders)."""
        total = decimal_sum(orders.values())
        return format_unit(
            [("m", 3 * (total - 1)), ("kmol", 1 - total), ("s", Decimal(-1))]
        )

    def add_reaction(self, number: int, reaction: Any) -> None:
        reactants = {s: float(nu) for s, nu in reaction.reactants.items()}
        products = {s: float(nu) for s, nu in reaction.products.items()}
        orders = reactants | {s: float(o) for s, o in reaction.orders.items()}
        first = self.writer.num_terms
        terms = f"terms {first} and {first + 1}" if reaction.reversible else f"term {first}"
        self.writer.comment("")
        self.writer.comment(f"reaction {number}: {reaction.equation} ({terms})")
        forward = self.forward(number, reaction)
        self.writer.term(
            forward, self.coefficient_unit(orders), orders, reactants, products
        )
        if reaction.reversible:
            reverse = self.reverse(number, reaction, forward)
            self.writer.term(
                reverse, self.coefficient_unit(products), products, products, reactants
            )

    def run(self) -> SystemWriter:
        for number, reaction in enumerate(self.solution.reactions(), start=1):
            self.where = f"reaction {number} ({reaction.equation})"
            try:
                self.add_reaction(number, reaction)
            except ValueError as error:
                if isinstance(error, MechanismError):
                    raise
                raise MechanismError(f"{self.where}: {error}") from error
        return self.writer
