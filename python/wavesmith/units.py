# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Units as `wavesmith.ode_system` writes them: products of powers.

The compiler checks units; here they are multiplied, to give a coefficient the unit
that its term needs, and converted. The names and factors are those of the dialect:
the SI brochure (2019), CODATA 2018, the thermochemical calorie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

from wavesmith.importers.mlir_text import format_unit

_ENERGY, _POWER = (2, 1, -2, 0, 0), (2, 1, -3, 0, 0)
_PRESSURE, _FORCE = (-1, 1, -2, 0, 0), (1, 1, -2, 0, 0)
_LENGTH, _MASS, _TIME = (1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0)
_AMOUNT = (0, 0, 0, 0, 1)
#: Each unit's factor, and its powers of m, kg, s, K and mol.
_UNITS: dict[str, tuple[Fraction, tuple[int, ...]]] = {
    name: (Fraction(factor), powers)
    for name, factor, powers in (
        ("1", 1, (0, 0, 0, 0, 0)),
        ("m", 1, _LENGTH),
        ("km", 1000, _LENGTH),
        ("dm", "0.1", _LENGTH),
        ("cm", "0.01", _LENGTH),
        ("mm", "0.001", _LENGTH),
        ("um", "1e-6", _LENGTH),
        ("l", "0.001", (3, 0, 0, 0, 0)),
        ("kg", 1, _MASS),
        ("g", "0.001", _MASS),
        ("mg", "1e-6", _MASS),
        ("s", 1, _TIME),
        ("ms", "0.001", _TIME),
        ("us", "1e-6", _TIME),
        ("ns", "1e-9", _TIME),
        ("min", 60, _TIME),
        ("h", 3600, _TIME),
        ("K", 1, (0, 0, 0, 1, 0)),
        ("mol", 1, _AMOUNT),
        ("kmol", 1000, _AMOUNT),
        ("mmol", "0.001", _AMOUNT),
        ("molecule", 1 / Fraction("6.02214076e23"), _AMOUNT),
        ("J", 1, _ENERGY),
        ("kJ", 1000, _ENERGY),
        ("cal", "4.184", _ENERGY),
        ("kcal", 4184, _ENERGY),
        ("erg", "1e-7", _ENERGY),
        ("eV", "1.602176634e-19", _ENERGY),
        ("W", 1, _POWER),
        ("N", 1, _FORCE),
        ("Pa", 1, _PRESSURE),
        ("kPa", 1000, _PRESSURE),
        ("MPa", "1e6", _PRESSURE),
        ("bar", "1e5", _PRESSURE),
        ("atm", 101325, _PRESSURE),
        ("Torr", Fraction(101325, 760), _PRESSURE),
    )
}
_FACTOR = re.compile(r"\s*(/|\*)?\s*([A-Za-z]+|1)(?:\^(-?[0-9]*\.?[0-9]+))?")


def parse(text: str) -> list[tuple[str, Decimal]]:
    """The factors of a unit and their powers, in the order of the text.

    Raises ValueError, as the compiler does, for what is not a unit.
    """
    factors, rest = [], text.strip()
    if not rest:
        raise ValueError(
            f"unit {text!r}: got nothing, wanted a unit such as 'kmol/m^3', or '1'"
        )
    while rest:
        match = _FACTOR.match(rest)
        if not match:
            raise ValueError(f"unit {text!r}: cannot read {rest!r}")
        sign, name, power = match.groups()
        if name not in _UNITS:
            raise ValueError(
                f"unit {text!r}: unknown unit {name!r}; known are "
                + " ".join(n for n in _UNITS if n != "1")
            )
        exponent = Decimal(power or 1)
        factors.append((name, -exponent if sign == "/" else exponent))
        rest = rest[match.end() :].strip()
    return factors


def product(factors: Iterable[tuple[str, float | Decimal]]) -> str:
    """The unit that is a product of powers of units.

        product([("mol/l", -1), ("s", -1)]) == "l/mol/s"
    """
    total: dict[str, Decimal] = {}
    for text, power in factors:
        for name, exponent in parse(text):
            if name != "1":
                total[name] = total.get(name, Decimal(0)) + exponent * Decimal(str(power))
    return format_unit(total.items())


def _resolve(text: str) -> tuple[float, tuple[Decimal, ...]]:
    scale, powers = 1.0, [Decimal(0)] * 5
    exact = Fraction(1)
    for name, exponent in parse(text):
        factor, dimension = _UNITS[name]
        if exponent == exponent.to_integral_value():
            exact *= factor ** int(exponent)
        else:
            scale *= float(factor) ** float(exponent)
        powers = [p + exponent * d for p, d in zip(powers, dimension)]
    return scale * float(exact), tuple(powers)


def dimension(text: str) -> tuple[Decimal, ...]:
    """The powers of m, kg, s, K and mol."""
    return _resolve(text)[1]


def conversion(source: str, target: str) -> float:
    """The factor from numbers in one unit to numbers in another.

    Raises ValueError if they measure different things.
    """
    (a, from_dimension), (b, to_dimension) = _resolve(source), _resolve(target)
    if from_dimension != to_dimension:
        raise ValueError(f"the unit {source!r} cannot be converted to {target!r}")
    return a / b
