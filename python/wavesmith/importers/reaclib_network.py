# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Import of nuclear reaction networks of REACLIB rates through pynucastro.

States are the molar abundances Y in mol/g, parameters the temperature T in K
and the density rho in g/cm^3, time is in s. There is no screening. With n
reactants, a rate is

    v = lambda(T) * rho^(n-1) / (product of c! for a nuclide that stands c
        times among the reactants) * product of the reactants' Y

and electron captures have one more factor rho Y_e, Y_e = sum Z Y / sum A Y, as
in pynucastro, where `dens_exp` counts that power of rho or not.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from decimal import Decimal
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
    format_float,
    format_unit,
)

if TYPE_CHECKING:
    import pynucastro


def load_pynucastro() -> Any:
    """The module `pynucastro`; MissingPackageError if it is not installed."""
    try:
        import pynucastro
    except ModuleNotFoundError as error:
        if error.name != "pynucastro":
            raise
        raise MissingPackageError("pynucastro", "importing a REACLIB network") from None
    return pynucastro


def from_pynucastro(
    source: Iterable[str] | pynucastro.rates.Library,
    *,
    layout: str = "soa",
    quantity: str = "rhs",
    name: str = "network",
) -> str:
    """Import a nuclear network.

    Args:
        source: names of nuclides ("p", "he4", "c12"), which are linked by all
            rates of JINA REACLIB between them; or a pynucastro library or
            network, whose rates are taken.
        layout: "soa" (states x zones) or "aos" (zones x states).
        quantity: what the function computes: "rhs" (dY/dt, in mol/g/s),
            "production_loss" or "term_values".
        name: the system's symbol name.

    Returns:
        MLIR text. States: molar abundances in mol/g, in pynucastro's order of
        the nuclides (by A, then Z); parameters: T in K, rho in g/cm^3. A nuclide
        that was asked for and that no rate touches stays a state.

    Raises:
        UnsupportedMechanismError: a rate is not a plain REACLIB rate.
        MechanismError: a nuclide is unknown, or there are no rates.
        MissingPackageError: pynucastro is not installed.
    """
    check_choice("layout", layout, LAYOUTS)
    check_choice("quantity", quantity, QUANTITIES)
    writer, _ = read_pynucastro(source, name=name)
    return writer.module(quantity=quantity, layout=layout)


def read_pynucastro(
    source: Any, *, name: str | None = None
) -> tuple[SystemWriter, dict[str, float]]:
    """The network itself, and each nuclide's mass number; as `from_pynucastro`."""
    if isinstance(source, str):
        raise TypeError(
            "expected a list of names of nuclides, got one string; write "
            f"[{source!r}] or split it"
        )
    pynucastro = load_pynucastro()
    if hasattr(source, "get_rates"):
        nuclides, rates = [], list(source.get_rates())
    else:
        nuclides = _nuclides(pynucastro, list(source))
        library = _reaclib_library()
        rates = list(
            library.linking_nuclei(nuclides, print_warning=False).get_rates()
        )
    if not rates:
        raise MechanismError("no rate links these nuclides")
    found = {nuclide for rate in rates for nuclide in rate.reactants + rate.products}
    nuclides = sorted(found | set(nuclides))
    writer = _write(pynucastro, name or "network", nuclides, rates)
    return writer, {nuclide.raw: float(nuclide.A) for nuclide in nuclides}


@functools.lru_cache(maxsize=1)
def _reaclib_library() -> Any:
    """The whole REACLIB library; reading it takes many seconds."""
    return load_pynucastro().ReacLibLibrary()


def _nuclides(pynucastro: Any, names: list[Any]) -> list[Any]:
    """pynucastro's objects for names of nuclides."""
    nuclides = []
    for name in names:
        if isinstance(name, pynucastro.Nucleus):
            nuclides.append(name)
            continue
        try:
            nuclides.append(pynucastro.Nucleus(name))
        except Exception as error:  # pynucastro has no common class of errors
            raise MechanismError(f"pynucastro knows no nuclide {name!r}") from error
    if not nuclides:
        raise MechanismError("got an empty list of nuclides")
    return nuclides


def rate_text(rate: Any) -> str:
    """A rate in plain ASCII, such as `c12 + he4 -> o16`."""

    def side(nuclides: list[Any]) -> str:
        return " + ".join(nuclide.raw for nuclide in nuclides)

    electron = " + e-" if rate.weak_type == "electron_capture" else ""
    return f"{side(rate.reactants)}{electron} -> {side(rate.products)}"


def _check_rate(pynucastro: Any, number: int, rate: Any) -> None:
    reaclib = pynucastro.rates.ReacLibRate
    where = f"rate {number} ({rate_text(rate)})"
    if (
        not isinstance(rate, reaclib)
        or type(rate).log_eval is not reaclib.log_eval
        or type(rate).eval is not reaclib.eval
        or type(rate).eval_full_rate is not reaclib.eval_full_rate
    ):
        raise UnsupportedMechanismError(
            f"{where}: rates of the kind {type(rate).__name__} are not supported; "
            "only ReacLibRate is"
        )
    if rate.not_in_ydot_term:
        raise UnsupportedMechanismError(
            f"{where}: reactants that take no part in the rate are not supported"
        )
    if not rate.sets:
        raise MechanismError(f"{where}: it has no sets of REACLIB parameters")


def _write(
    pynucastro: Any, name: str, nuclides: list[Any], rates: list[Any]
) -> SystemWriter:
    writer = SystemWriter(
        name,
        states=[(nuclide.raw, "mol/g") for nuclide in nuclides],
        parameters=[("T", "K"), ("rho", "g/cm^3")],
        header=[
            f"REACLIB network of {len(nuclides)} nuclides and {len(rates)} rates, "
            "without screening",
            f"Imported with pynucastro {pynucastro.__version__}; abundances in mol/g, "
            "temperature in K, density in g/cm^3, time in s",
        ],
    )
    temperature = writer.shared("T", 'wavesmith.parameter "T"')
    for number, rate in enumerate(rates, start=1):
        _check_rate(pynucastro, number, rate)
        writer.comment("")
        writer.comment(f"rate {number}: {rate_text(rate)} (term {writer.num_terms})")
        try:
            coefficient = writer.value(
                f"lambda{number}",
                f"wavesmith.reaclib {temperature} sets "
                + sets_text([s.a for s in rate.sets]),
            )
        except ValueError as error:
            raise MechanismError(
                f"rate {number} ({rate_text(rate)}): {error}"
            ) from error
        factors = []
        if rate.dens_exp != 0:
            factors.append(density_power(writer, int(rate.dens_exp)))
        if rate.use_ye_weighting:
            factors.append(_electron_fraction(writer, nuclides))
        if rate.prefactor != 1.0:
            factors.append(writer.constant(rate.prefactor, "identical"))
        for factor in factors:
            coefficient = writer.multiply(f"k{number}", coefficient, factor)
        # Orders count the reactants; weights are pynucastro's counts, which a
        # rate may set.
        reactants, products = set(rate.reactants), set(rate.products)
        writer.term(
            coefficient,
            coefficient_unit(len(rate.reactants)),
            {n.raw: float(rate.reactants.count(n)) for n in reactants},
            {n.raw: float(rate.reactant_count(n)) for n in reactants},
            {n.raw: float(rate.product_count(n)) for n in products},
        )
    return writer


def sets_text(sets: Iterable[Iterable[float]]) -> str:
    """Rows of the seven REACLIB parameters."""
    rows = []
    for parameters in sets:
        row = [format_float(a) for a in parameters]
        if len(row) != 7:
            raise ValueError(f"got {len(row)} REACLIB parameters, expected 7")
        rows.append("[" + ", ".join(row) + "]")
    return "[" + ", ".join(rows) + "]"


def density_power(writer: SystemWriter, exponent: int) -> str:
    """rho^exponent by repeated multiplication, exponent >= 1; written once."""
    if exponent < 1:
        raise MechanismError(f"got the power {exponent} of the density")
    rho = power = writer.shared("rho", 'wavesmith.parameter "rho"')
    for n in range(2, exponent + 1):
        power = writer.shared(f"rho{n}", f"arith.mulf {power}, {rho} : f64")
    return power


def _electron_fraction(writer: SystemWriter, nuclides: list[Any]) -> str:
    """Y_e = sum Z Y / sum A Y."""
    charge = {n.raw: float(n.Z) for n in nuclides if n.Z}
    mass = {n.raw: float(n.A) for n in nuclides}
    electrons = writer.shared(
        "electrons", f"wavesmith.weighted_sum {writer.weights(charge)}"
    )
    baryons = writer.shared("baryons", f"wavesmith.weighted_sum {writer.weights(mass)}")
    return writer.shared("Ye", f"arith.divf {electrons}, {baryons} : f64")


def coefficient_unit(num_reactants: int) -> str:
    """mol/g/s over (mol/g)^num_reactants."""
    return format_unit(
        [
            ("g", Decimal(num_reactants - 1)),
            ("mol", Decimal(1 - num_reactants)),
            ("s", Decimal(-1)),
        ]
    )
