# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for rate expressions, as `ws.math`.

They take plain numbers anywhere. In a function under `@ws.ode_system` they take
values of a zone as well, and so do the functions of Python's `math` and of NumPy
that have the same names.
"""

from __future__ import annotations

from math import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    ceil,
    copysign,
    cos,
    cosh,
    e,
    erf,
    erfc,
    exp,
    expm1,
    fabs,
    floor,
    fmod,
    inf,
    isfinite,
    isinf,
    isnan,
    log,
    log1p,
    log2,
    log10,
    nan,
    pi,
    pow,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    trunc,
)

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
    "copysign", "cos", "cosh", "e", "erf", "erfc", "exp", "exp2", "expm1", "fabs",
    "floor", "fma", "fmod", "inf", "isfinite", "isinf", "isnan", "log", "log10",
    "log1p", "log2", "maximum", "minimum", "nan", "pi", "pow", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc", "where",
]  # fmt: skip


def cbrt(x: float) -> float:
    """The cube root, of any sign."""
    import numpy

    return float(numpy.cbrt(x))


def exp2(x: float) -> float:
    """2 to the power x."""
    return 2.0**x


def fma(a: float, b: float, c: float) -> float:
    """a * b + c with one rounding."""
    from fractions import Fraction

    if not (isfinite(a) and isfinite(b) and isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def minimum(a: float, b: float) -> float:
    """The smaller number; NaN if one of them is."""
    return nan if isnan(a) or isnan(b) else min(a, b)


def maximum(a: float, b: float) -> float:
    """The larger number; NaN if one of them is."""
    return nan if isnan(a) or isnan(b) else max(a, b)


def where(condition: bool, a: float, b: float) -> float:
    """a where the condition holds, else b: `a if condition else b`."""
    return a if condition else b
