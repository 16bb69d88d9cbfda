# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device's math library, ocml (hip/math.hip), against mpmath.

Tolerances are those of the OpenCL specification (full profile), which ocml
implements: so many units in the last place of the exact result.
"""

from __future__ import annotations

import functools

import mpmath
import numpy as np
import pytest
from peers_support import TARGETS, assert_same, compile_hip, launch

DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16}
COUNT = 320
FULL = "full"

#: Name, function of mpmath, range of the operands (FULL is all finite numbers), units
#: in the last place for f64 and f32, for f16.
UNARY = [
    ("exp", mpmath.exp, (-80, 80), 3, 2),
    ("exp2", lambda x: mpmath.power(2, x), (-120, 120), 3, 2),
    ("exp10", lambda x: mpmath.power(10, x), (-35, 35), 3, 2),
    ("expm1", mpmath.expm1, (-20, 80), 3, 2),
    ("log", mpmath.log, (1e-30, 1e30), 3, 2),
    ("log2", lambda x: mpmath.log(x, 2), (1e-30, 1e30), 3, 2),
    ("log10", mpmath.log10, (1e-30, 1e30), 3, 2),
    ("log1p", mpmath.log1p, (-0.999, 1e20), 2, 2),
    # Not for halves: Debian's ocml (5.2.3) gives NaN for each finite number, as its
    # test of the class is the wrong way round.
    ("sin", mpmath.sin, (-1e5, 1e5), 4, None),
    ("cos", mpmath.cos, (-1e5, 1e5), 4, 2),
    ("tan", mpmath.tan, (-1e5, 1e5), 5, 2),
    ("sinpi", mpmath.sinpi, (-100, 100), 4, 2),
    ("cospi", mpmath.cospi, (-100, 100), 4, 2),
    ("asin", mpmath.asin, (-1, 1), 4, 2),
    ("acos", mpmath.acos, (-1, 1), 4, 2),
    ("atan", mpmath.atan, FULL, 5, 2),
    ("sinh", mpmath.sinh, (-80, 80), 4, 2),
    ("cosh", mpmath.cosh, (-80, 80), 4, 2),
    ("tanh", mpmath.tanh, (-20, 20), 5, 2),
    ("asinh", mpmath.asinh, FULL, 4, 2),
    ("acosh", mpmath.acosh, (1, 1e30), 4, 2),
    ("atanh", mpmath.atanh, (-0.9999, 0.9999), 5, 2),
    ("sqrt", mpmath.sqrt, (0, 1e30), 0.5, 0.5),
    ("rsqrt", lambda x: 1 / mpmath.sqrt(x), (1e-30, 1e30), 2, 1),
    ("cbrt", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), FULL, 2, 2),
    ("erf", mpmath.erf, (-8, 8), 16, 4),
    ("erfc", mpmath.erfc, (-4, 8), 16, 4),
    ("tgamma", mpmath.gamma, (0.1, 30), 16, 4),
    ("logb", lambda x: mpmath.frexp(x)[1] - 1, (1e-30, 1e30), 0, 0),
    # OpenCL has no bounds for these; here those of its other special functions.
    ("j0", lambda x: mpmath.besselj(0, x), (0, 2), 16, None),
    ("y1", lambda x: mpmath.bessely(1, x), (0.2, 2), 16, None),
]


def mp_fmod(x, y):
    return mpmath.sign(x) * mpmath.fmod(abs(x), abs(y))


def mp_remainder(x, y):
    # A tie goes to the even quotient.
    return x - y * mpmath.nint(x / y)


BINARY = [
    ("pow", mpmath.power, (0.01, 50), (-15, 15), 16, 4),
    ("atan2", mpmath.atan2, FULL, FULL, 6, 2),
    ("hypot", mpmath.hypot, (-1e15, 1e15), (-1e15, 1e15), 4, 2),
    ("fmod", mp_fmod, (-1e6, 1e6), (0.5, 100), 0, 0),
    ("remainder", mp_remainder, (-1e6, 1e6), (0.5, 100), 0, 0),
]


def operands(seed: int, bounds, dtype) -> np.ndarray:
    """Half of them of any size within the bounds, half spread evenly."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    # Halves have no room for more; their functions shall not overflow.
    largest = float(info.max) if dtype != np.float16 else 8.0
    smallest = float(info.tiny)
    low, high = (-largest, largest) if bounds == FULL else bounds
    low, high = max(low, -largest), min(high, largest)
    even = rng.uniform(low / 2, high / 2, COUNT) * 2
    magnitude = np.exp(rng.uniform(np.log(max(smallest, low)), np.log(high), COUNT))
    if low < 0:
        magnitude = np.where(rng.random(COUNT) < 0.5, magnitude, -magnitude)
        magnitude = np.maximum(magnitude, low)
    x = np.where(rng.random(COUNT) < 0.5, even, magnitude).astype(dtype)
    return np.clip(x, dtype(low), dtype(high))


@functools.cache
def reference(name: str, kind: str) -> tuple[list[np.ndarray], list]:
    """Operands, and exact results."""
    for entry in (*UNARY, *BINARY):
        if entry[0] == name:
            break
    function, bounds = entry[1], entry[2:-2]
    arrays = [operands(len(name) + 7 * i, b, DTYPES[kind]) for i, b in enumerate(bounds)]
    with mpmath.workprec(160 if kind != "f64" else 240):
        exact = [
            function(*(mpmath.mpf(float(v)) for v in values)) for values in zip(*arrays)
        ]
    return arrays, exact


def units_off(got: np.ndarray, exact: list) -> np.ndarray:
    """Distances in units in the last place of the exact results, of which the
    smallest is the least subnormal number's."""
    info = np.finfo(got.dtype)
    off = []
    with mpmath.workprec(240):
        for value, want in zip(got, exact):
            if abs(want) > mpmath.mpf(float(info.max)) * (1 + mpmath.mpf(float(info.eps)) / 4):
                off.append(0.0 if np.isinf(value) and (value > 0) == (want > 0) else np.inf)
                continue
            if not np.isfinite(value):
                off.append(np.inf)
                continue
            exponent = mpmath.frexp(want)[1] - 1 if want else info.minexp
            unit = mpmath.ldexp(1, max(int(exponent), info.minexp) - info.nmant)
            off.append(float(abs(mpmath.mpf(float(value)) - want) / unit))
    return np.array(off)


CASES = [
    (entry[0], kind, len(entry) - 4, entry[-2 if kind != "f16" else -1])
    for entry in (*UNARY, *BINARY)
    for kind in DTYPES
    if entry[-1] is not None or kind != "f16"
]


@pytest.mark.parametrize("optimization", ("-O1", "-O3"))
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("name", "kind", "arity", "limit"), CASES, ids=[f"{c[0]}_{c[1]}" for c in CASES]
)
def test_math(name, kind, arity, limit, target, optimization):
    arrays, exact = reference(name, kind)
    assert len(arrays) == arity
    out = np.zeros(COUNT, DTYPES[kind])
    launch(
        compile_hip("math.hip", target, optimization), f"{name}_{kind}",
        grid=-(-COUNT // 128), block=128, args=[*arrays, out, COUNT],
    )  # fmt: skip
    off = units_off(out, exact)
    worst = int(np.argmax(off))
    # The specification's bounds are for the chips' approximate instructions.
    assert off[worst] <= limit, (
        f"{name}({', '.join(repr(a[worst]) for a in arrays)}) = {out[worst]!r} is "
        f"{off[worst]:.3g} units off, expected {mpmath.nstr(exact[worst], 20)} within {limit}"
    )


SPECIAL = {
    "exp": ([np.inf, -np.inf, np.nan, 0, -1e4], [np.inf, 0, np.nan, 1, 0]),
    "log": ([np.inf, -1, np.nan, 0, 1], [np.inf, np.nan, np.nan, -np.inf, 0]),
    "sqrt": ([np.inf, -1, np.nan, -0.0, 4], [np.inf, np.nan, np.nan, -0.0, 2]),
    "sin": ([np.inf, -np.inf, np.nan, 0, -0.0], [np.nan, np.nan, np.nan, 0, -0.0]),
    "cos": ([np.inf, -np.inf, np.nan, 0, -0.0], [np.nan, np.nan, np.nan, 1, 1]),
    "atan": ([0, np.nan, -0.0], [0, np.nan, -0.0]),
    "tanh": ([np.inf, -np.inf, np.nan, 100], [1, -1, np.nan, 1]),
    "cbrt": ([np.inf, -8, np.nan, -0.0], [np.inf, -2, np.nan, -0.0]),
    "erf": ([np.inf, -np.inf, np.nan, 0], [1, -1, np.nan, 0]),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("name", "kind"), [case[:2] for case in CASES if case[0] in SPECIAL]
)
def test_special(name, kind, target):
    values, want = (np.array(column, DTYPES[kind]) for column in SPECIAL[name])
    out = np.zeros_like(values)
    launch(
        compile_hip("math.hip", target, "-O3"), f"{name}_{kind}", grid=1, block=64,
        args=[values, out, out.size],
    )  # fmt: skip
    assert_same(out, want, f"{name} of special values")
