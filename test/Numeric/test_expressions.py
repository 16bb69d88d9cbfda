# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions and rates at arguments that no gas has: compiled code on the simulated
device against the reference evaluator, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from numeric_support import (
    FORMS,
    TARGETS,
    assert_same_bits,
    compile_text,
    run_device,
    run_reference,
)

pytestmark = [
    pytest.mark.parametrize("target", TARGETS),
    pytest.mark.parametrize("form", FORMS),
]

#: All that docs/numbers.md names.
UNARY = (
    "arith.negf math.absf math.ceil math.floor math.trunc math.round math.roundeven "
    "math.sqrt math.rsqrt math.cbrt math.exp math.exp2 math.expm1 math.log math.log2 "
    "math.log10 math.log1p math.sin math.cos math.tan math.asin math.acos math.atan "
    "math.sinh math.cosh math.tanh math.asinh math.acosh math.atanh math.erf math.erfc"
).split()
BINARY = (
    "arith.addf arith.subf arith.mulf arith.divf arith.remf arith.maximumf "
    "arith.minimumf arith.maxnumf arith.minnumf math.powf math.atan2 math.copysign"
).split()
PREDICATES = ("math.isnan", "math.isinf", "math.isfinite")
ODD = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e300, 5e-324, -1e-310)


def term_values(expressions, parameters):
    """A module whose terms have the values %k0, %k1, ... as their coefficients."""
    named = ", ".join(f'"{name}" : "{unit}"' for name, unit in parameters.items())
    lines = [
        f'wavesmith.ode_system @s states ["A" : "1"] parameters [{named}] time "s" {{',
        *(f'  %{name} = wavesmith.parameter "{name}"' for name in parameters),
    ]
    for number, expression in enumerate(expressions):
        lines += [f"  {expression.replace('%k', f'%k{number}')}",
                  f'  wavesmith.term %k{number} : "1/s"']
    terms, rows = f"tensor<{len(expressions)}x?xf64>", f"tensor<{len(parameters)}x?xf64>"
    lines += [
        "}",
        'func.func @terms(%t: f64 {wavesmith.name = "t"}, %y: tensor<1x?xf64> '
        f'{{wavesmith.name = "y"}}, %p: {rows} {{wavesmith.name = "p"}}) -> '
        f'({terms} {{wavesmith.name = "coefficients"}}, {terms}) {{',
        "  %0:2 = wavesmith.ode_term_values @s(%t, %y, %p) : (f64, tensor<1x?xf64>, "
        f"{rows}) -> ({terms}, {terms})",
        f"  return %0#0, %0#1 : {terms}, {terms}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def evaluate(folder, text, parameters, target, form):
    """The coefficients on the device, after a comparison with the reference."""
    inputs = {"y": np.ones((1, parameters.shape[1])), "p": parameters}
    code_object = compile_text(folder, text, target, form)
    (got,) = run_device(folder, code_object, inputs, ("coefficients",))
    (wanted,) = run_reference(folder, text, inputs, ("coefficients",))
    assert_same_bits(got, wanted)
    return got


def test_every_operation(tmp_path, target, form):
    random = np.random.default_rng(11)
    pairs = np.array([(a, b) for a in ODD for b in ODD]).T
    normal = random.choice([-1, 1], (2, 200)) * 10.0 ** random.uniform(-6, 3, (2, 200))
    parameters = np.concatenate([pairs, normal, random.uniform(-1, 1, (2, 50))], axis=1)
    expressions = [f"%k = {op} %x : f64" for op in UNARY]
    expressions += [f"%k = {op} %x, %z : f64" for op in BINARY]
    expressions += [
        f"%k_is = {op} %x : f64\n  %k = arith.select %k_is, %z, %x : f64" for op in PREDICATES
    ]
    expressions += ["%k = math.fma %x, %z, %x : f64"]
    expressions += [
        f"%k_n = arith.constant {n} : i32\n  %k = math.fpowi %x, %k_n : f64, i32"
        for n in (-3, -1, 0, 1, 2, 5, 2147483647, -2147483648)
    ]
    expressions += [
        f"%k_a = arith.cmpf olt, %x, %z : f64\n  %k_b = arith.cmpf une, %x, %x : f64\n"
        f"  %k_c = arith.{op} %k_a, %k_b : i1\n  %k = arith.select %k_c, %z, %x : f64"
        for op in ("andi", "ori", "xori")
    ]
    # Of constants: folded by the compiler.
    expressions += [
        f"%k_x = arith.constant 0.7 : f64\n  %k = {op} %k_x : f64" for op in UNARY
    ]
    got = evaluate(
        tmp_path, term_values(expressions, {"x": "1/s", "z": "1/s"}), parameters, target, form
    )
    x, z = parameters
    with np.errstate(all="ignore"):
        # What IEEE 754 fixes, by NumPy.
        for op, wanted in {
            "math.rsqrt": 1.0 / np.sqrt(x), "math.trunc": np.trunc(x),
            "math.roundeven": np.rint(x),
        }.items():
            assert_same_bits(got[UNARY.index(op)], wanted)
        for op, wanted in {"arith.remf": np.fmod(x, z), "math.copysign": np.copysign(x, z)}.items():
            assert_same_bits(got[len(UNARY) + BINARY.index(op)], wanted)
        first = len(UNARY) + len(BINARY)
        for i, test in enumerate((np.isnan, np.isinf, np.isfinite)):
            assert_same_bits(got[first + i], np.where(test(x), z, x))


def test_parts_that_a_rate_leaves_out(tmp_path, target, form):
    """A part with b = 0 or E = 0 is left out at every temperature, 0 included, where
    0 log 0 and 0 / 0 would be NaN: alone and in P-log's sums."""
    rows = [(A, b, E) for A in (2.0, -3.0) for b in (0.0, -0.0, 1.5) for E in (0.0, -0.0, 900.0)]
    expressions = [f"%k = wavesmith.arrhenius %T A {A} b {b} E {E}" for A, b, E in rows]
    plog = [row for row in rows if row[0] > 0]
    # Each pair is summed at one pressure; the second pressure has one row.
    pairs = [(one, other) for one in plog for other in plog]
    for one, other in pairs:
        table = [(1e5, *one), (1e5, *other), (1e6, 3.0, 0.5, 100.0)]
        text = ", ".join(f"[{', '.join(map(repr, row))}]" for row in table)
        expressions.append(f"%k = wavesmith.plog %T, %p rates [{text}]")
    T = np.array([0.0, -0.0, 5e-324, 300.0, 2500.0, -300.0, np.inf, -np.inf, np.nan])
    p = np.array([1e4, 3e5, 1e7])
    parameters = np.array([(a, b) for a in T for b in p]).T
    got = evaluate(
        tmp_path, term_values(expressions, {"T": "K", "p": "Pa"}), parameters, target, form
    )
    # At the lower pressure, with no part at all: the sum of the constants.
    both = pairs.index(((2.0, 0.0, 0.0), (2.0, -0.0, -0.0)))
    low = (parameters[1] == 1e4) & ~np.isnan(parameters[0])
    assert np.allclose(got[len(rows) + both][low], 4.0, rtol=1e-14, atol=0.0)
