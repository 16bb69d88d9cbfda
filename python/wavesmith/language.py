# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The words of a function under `@ws.ode_system`: what its arguments are, the terms
that it adds, and the kinds of rate coefficients.

None of them does anything elsewhere: called outside of a system they raise TypeError.
Temperatures are in K, pressures in Pa; a rate coefficient has the unit that the term
which uses it needs. The formulas, operation by operation, are in docs/reference/ops.md.
docs/tutorial-python.md is the tutorial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

#: Weights of states: names, or the states themselves.
Weights = Mapping[Any, float]


def _check_unit(unit: str) -> None:
    from wavesmith import units

    if not isinstance(unit, str):
        raise TypeError(f"expected a unit as text, such as 'mol/l', got {unit!r}")
    units.parse(unit)


@dataclass(frozen=True)
class State:
    """Annotation of a state: `A: ws.State("mol/l")`.

    Args:
        unit: a product of powers such as "mol/l" or "cm^3 mol^-1 s^-1"; "1" has no
            dimension. docs/reference/ops.md lists the known units (`ode_system`).
        name: the state's name where it is not that of the argument.
        mass: molar mass in g/mol, for mass fractions and the conserved mass.

    Raises:
        ValueError: the unit is not known.
    """

    unit: str = "1"
    name: str | None = None
    mass: float | None = None

    def __post_init__(self):
        _check_unit(self.unit)


@dataclass(frozen=True)
class States:
    """Annotation of many states: `Y: ws.States(["H1", "He4"], "mol/g")`. In the
    function, `Y["He4"]` and `Y[1]` are one of them, `for y in Y` goes over all.

    Args:
        names: of the states.
        unit: of all of them.
        masses: molar masses in g/mol by name.
    """

    names: Sequence[str]
    unit: str = "1"
    masses: Mapping[str, float] | None = None

    def __post_init__(self):
        _check_unit(self.unit)
        _check_names(self.names)


@dataclass(frozen=True)
class Parameter:
    """Annotation of a number that differs between zones and does not change in
    time: `T: ws.Parameter("K")`.

    Args:
        unit, name: as of a `State`.
    """

    unit: str = "1"
    name: str | None = None

    def __post_init__(self):
        _check_unit(self.unit)


@dataclass(frozen=True)
class Parameters:
    """Annotation of many parameters of one unit, as `States`.

    Args:
        names: of the parameters.
        unit: of all of them.
    """

    names: Sequence[str]
    unit: str = "1"

    def __post_init__(self):
        _check_unit(self.unit)
        _check_names(self.names)


@dataclass(frozen=True)
class Time:
    """Annotation of the time: `t: ws.Time("ms")`. A system without it counts in s.

    Args:
        unit: of the time, and so of rates.
    """

    unit: str = "s"

    def __post_init__(self):
        _check_unit(self.unit)


def _check_names(names: Sequence[str]) -> None:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"expected a list of names, got {names!r:.60}")


class Word:
    """A function that only means something in a system."""

    def __init__(self, function: Callable):
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    def __call__(self, *arguments, **named):
        raise TypeError(
            f"ws.{self.__name__} stands in functions under @ws.ode_system and in "
            "helper functions that they call"
        )

    def __repr__(self) -> str:
        return f"<ws.{self.__name__}>"


if TYPE_CHECKING:
    # Words have the signatures that they are written with.
    _F = TypeVar("_F", bound=Callable[..., Any])

    def word(function: _F) -> _F: ...

else:
    word = Word


@word
def term(
    k: float,
    *,
    reactants: Weights | None = None,
    products: Weights | None = None,
    orders: Weights | None = None,
    unit: str | None = None,
) -> float:
    """Add a term: v = k * product of state^order.

    Args:
        k: the rate coefficient.
        reactants: v times the weight is taken from these states.
        products: v times the weight is added to these.
        orders: the powers in the product; by default those of `reactants`.
        unit: of k; by default the one that fits the states and the time.

    Returns:
        v, for use in later expressions.
    """
    raise NotImplementedError


@word
def reaction(
    k: float,
    equation: str,
    *,
    reverse: float | None = None,
    orders: Weights | None = None,
    unit: str | None = None,
) -> float:
    """Add a reaction: `ws.reaction(k, "A + 2 B -> C")`.

    Args:
        k: the rate coefficient.
        equation: reactants and products, with weights; ` + ` has blanks around.
            One side may be empty. With `<=>` the reverse reaction is added too.
        reverse: the rate coefficient of the reverse reaction.
        orders: of the forward reaction, where they are not the weights of the
            reactants.
        unit: of k; by default the one that fits.

    Returns:
        The rate of progress; of a reversible reaction, forward minus reverse.
    """
    raise NotImplementedError


@word
def weighted_sum(weights: Weights) -> float:
    """The sum of weight times state.

    Args:
        weights: by state; the states have one unit, which the sum has too.
    """
    raise NotImplementedError


@word
def third_body(
    total: float, efficiencies: Weights | None = None, default: float = 1.0
) -> float:
    """The concentration of third bodies.

    Args:
        total: the sum of all concentrations, in the states' unit.
        efficiencies: of the states that differ from the default.
        default: the efficiency of all others.
    """
    raise NotImplementedError


@word
def arrhenius(T: float, A: float, b: float = 0.0, E: float = 0.0) -> float:
    """A T^b exp(-E / T).

    Args:
        T: the temperature in K.
        A: a number, in the unit of the coefficient.
        b: a number.
        E: the activation temperature (energy over gas constant) in K, a number.
    """
    raise NotImplementedError


@word
def nasa7(
    quantity: str, T: float, T_mid: float, low: Sequence[float], high: Sequence[float]
) -> float:
    """A thermodynamic quantity by NASA's polynomials of seven coefficients; it has no
    dimension.

    Args:
        quantity: "gibbs" (g/RT), "enthalpy" (h/RT) or "heat_capacity" (c_p/R).
        T: the temperature in K.
        T_mid: up to which `low` counts, in K.
        low, high: seven coefficients each.
    """
    raise NotImplementedError


@word
def reverse_rate(
    forward: float,
    T: float,
    gibbs: Sequence[tuple[float, float]],
    reference_pressure: float = 101325.0,
) -> float:
    """The coefficient of the reverse reaction, by equilibrium, for concentrations in
    kmol/m^3.

    Args:
        forward: coefficient of the forward reaction.
        T: the temperature in K.
        gibbs: for each species g/RT and its net coefficient, products positive.
        reference_pressure: in Pa.
    """
    raise NotImplementedError


@word
def reaclib(T: float, sets: Sequence[Sequence[float]]) -> float:
    """A rate of REACLIB.

    Args:
        T: the temperature in K.
        sets: of seven parameters each; the rate is their sum.
    """
    raise NotImplementedError


@word
def reduced_pressure(low: float, high: float, third_body: float) -> float:
    """The reduced pressure of a fall-off reaction, which has no dimension.

    Args:
        low, high: the coefficients in the limits of low and of high pressure.
        third_body: the concentration of third bodies.
    """
    raise NotImplementedError


@word
def troe(
    T: float, reduced_pressure: float, A: float, T3: float, T1: float,
    T2: float | None = None,
) -> float:  # fmt: skip
    """Troe's blending function, for `falloff` and `chemically_activated`.

    Args:
        T: the temperature in K.
        reduced_pressure: as the function of that name gives it.
        A: a number.
        T3, T1, T2: numbers in K; without T2 there is no third exponential.
    """
    raise NotImplementedError


@word
def sri(
    T: float, reduced_pressure: float, a: float, b: float, c: float,
    d: float = 1.0, e: float = 0.0,
) -> float:  # fmt: skip
    """The SRI blending function.

    Args:
        T: the temperature in K.
        reduced_pressure: as the function of that name gives it.
        a, d, e: numbers.
        b, c: numbers in K.
    """
    raise NotImplementedError


@word
def tsang(T: float, reduced_pressure: float, A: float, B: float) -> float:
    """Tsang's blending function, of the centre A + B T.

    Args:
        T: the temperature in K.
        reduced_pressure: as the function of that name gives it.
        A: a number.
        B: a number in 1/K.
    """
    raise NotImplementedError


@word
def falloff(high: float, reduced_pressure: float, blending: float | None = None) -> float:
    """The coefficient of a fall-off reaction.

    Args:
        high: the coefficient in the limit of high pressure.
        reduced_pressure: as the function of that name gives it.
        blending: as `troe`, `sri` or `tsang` give it; without it Lindemann's form.
    """
    raise NotImplementedError


@word
def chemically_activated(
    low: float, reduced_pressure: float, blending: float | None = None
) -> float:
    """The coefficient of a chemically activated reaction.

    Args:
        low: the coefficient in the limit of low pressure.
        reduced_pressure, blending: as for `falloff`.
    """
    raise NotImplementedError


@word
def plog(T: float, P: float, rates: Sequence[Sequence[float]]) -> float:
    """Logarithmic interpolation in the pressure between Arrhenius rates.

    Args:
        T: the temperature in K.
        P: the pressure in Pa.
        rates: rows of (pressure in Pa, A, b, E), pressures ascending; rows of the
            same pressure are summed. Outside of them the nearest pressure counts.
    """
    raise NotImplementedError


@word
def chebyshev(
    T: float,
    P: float,
    T_range: Sequence[float],
    p_range: Sequence[float],
    coefficients: Sequence[Sequence[float]],
) -> float:
    """A rate by a Chebyshev polynomial in temperature and pressure.

    Args:
        T: the temperature in K.
        P: the pressure in Pa.
        T_range, p_range: smallest and largest temperature in K, and pressure in Pa.
        coefficients: a row for each degree in the temperature, of a number for each
            degree in the pressure.
    """
    raise NotImplementedError
