# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A second, independent reading of the text that importers write.

It reads the line-by-line form that the importers emit by regular expressions
(not MLIR in general) and evaluates it with NumPy, by the formulas in the
dialect's documentation, on all zones at once. `fma` has two roundings here, so
results agree with the compiled reference to a few units in the last place.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

import numpy as np

R = 8314.46261815324
LN10 = 2.302585092994046
TINY = 1e-300

_STRING = r'"(?:[^"\\]|\\.)*"'
_NUMBER = r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?"
_VALUE = r"%[A-Za-z0-9_]+"


def _unquote(text: str) -> str:
    raw = re.sub(
        rb"\\([0-9A-F]{2})",
        lambda match: bytes([int(match[1], 16)]),
        text[1:-1].encode(),
    )
    return raw.decode()


def _pairs(text: str, number: str = _NUMBER, key: str = _STRING) -> list[tuple[str, float]]:
    return [
        (_unquote(k) if k.startswith('"') else k, float(v))
        for k, v in re.findall(rf"({key}) = ({number})", text)
    ]


def _named(text: str) -> list[tuple[str, str]]:
    return [
        (_unquote(a), _unquote(b))
        for a, b in re.findall(rf"({_STRING}) : ({_STRING})", text)
    ]


def _bracketed(text: str, keyword: str) -> str:
    """The text between the brackets after a keyword, nested brackets included."""
    start = re.search(rf"\b{keyword} \[", text)
    if start is None:
        return ""
    depth, quoted, position = 1, False, start.end()
    while depth:
        character = text[position]
        quoted ^= character == '"'
        if not quoted:
            depth += {"[": 1, "]": -1}.get(character, 0)
        position += 1
    return text[start.end() : position - 1]


@dataclass
class Term:
    coefficient: str
    unit: str
    orders: list[tuple[str, float]]
    loss: list[tuple[str, float]]
    gain: list[tuple[str, float]]


@dataclass
class System:
    name: str
    states: list[tuple[str, str]]
    parameters: list[tuple[str, str]]
    time_unit: str
    operations: list[tuple[str, str, str]] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)

    def state_names(self) -> list[str]:
        return [name for name, _ in self.states]


def parse(text: str) -> System:
    """Read an importer's module."""
    system = None
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("wavesmith.ode_system"):
            system = System(
                re.match(r"wavesmith\.ode_system @(\S+)", line)[1],
                _named(_bracketed(line, "states")),
                _named(_bracketed(line, "parameters")),
                _unquote(re.search(rf"time ({_STRING}) {{$", line)[1]),
            )
        elif line.startswith("func.func"):
            break
        elif match := re.match(rf"wavesmith\.term ({_VALUE}) : ({_STRING})", line):
            system.terms.append(
                Term(
                    match[1],
                    _unquote(match[2]),
                    *(_pairs(_bracketed(line, k)) for k in ("orders", "loss", "gain")),
                )
            )
        elif match := re.match(rf"({_VALUE}) = ([a-z]+\.[a-z0-9_]+) ?(.*)$", line):
            system.operations.append((match[1], match[2], match[3]))
        elif line not in ("", "module {", "}") and not line.startswith("//"):
            raise AssertionError(f"unexpected line: {line}")
    return system


def _number(text: str, keyword: str) -> float:
    return float(re.search(rf"\b{keyword} ({_NUMBER})", text)[1])


def _blend(f, pr):
    lf = np.log10(np.maximum(f, TINY))
    a = np.log10(np.maximum(pr, TINY)) + (-0.67 * lf - 0.4)
    u = a / (-0.14 * a + (-1.27 * lf + 0.75))
    return np.exp(lf / (u * u + 1.0) * LN10)


def _arrhenius(T, A, b, E):
    if b == 0.0 and E == 0.0:
        return np.full_like(T, A)
    return A * np.exp(b * np.log(T) - E * (1.0 / T))


def _plog(T, P, rows):
    groups: dict[float, list] = {}
    for p, *rest in rows:
        groups.setdefault(p, []).append(rest)
    pressures = sorted(groups)
    logs = []
    for p in pressures:
        if len(groups[p]) == 1:
            A, b, E = groups[p][0]
            logs.append(np.log(A) + b * np.log(T) - E / T)
        else:
            logs.append(np.log(TINY + sum(_arrhenius(T, *row) for row in groups[p])))
    lp = np.log(P)
    result = logs[0]
    for j in range(len(pressures) - 1):
        p0, p1 = np.log(pressures[j]), np.log(pressures[j + 1])
        w = (logs[j + 1] - logs[j]) * ((lp - p0) / (p1 - p0)) + logs[j]
        result = np.where(lp >= p0, w, result)
    result = np.where(lp >= np.log(pressures[-1]), logs[-1], result)
    return np.exp(result)


def _chebyshev(T, P, T_range, p_range, coefficients):
    t0, t1 = 1 / T_range[0], 1 / T_range[1]
    q0, q1 = np.log10(p_range[0]), np.log10(p_range[1])
    t = (2 / T - t0 - t1) / (t1 - t0)
    q = (2 * np.log10(P) - q0 - q1) / (q1 - q0)

    def series(x, n):
        c = [np.ones_like(x), x]
        while len(c) < n:
            c.append(2 * x * c[-1] - c[-2])
        return c[:n]

    ct, cq = series(t, len(coefficients)), series(q, len(coefficients[0]))
    total = sum(
        a * ct[i] * cq[j]
        for i, row in enumerate(coefficients)
        for j, a in enumerate(row)
    )
    return 10.0**total


def _gibbs(T, T_mid, low, high):
    a = [np.where(T <= T_mid, lo, hi) for lo, hi in zip(low, high)]
    h = a[0] + T * (a[1] / 2 + T * (a[2] / 3 + T * (a[3] / 4 + T * a[4] / 5))) + a[5] / T
    s = (
        a[0] * np.log(T)
        + T * (a[1] + T * (a[2] / 2 + T * (a[3] / 3 + T * a[4] / 4)))
        + a[6]
    )
    return h - s


def _reaclib(T, sets):
    t9 = T / 1e9
    c = np.cbrt(t9)
    return sum(
        np.exp(
            a[0] + a[1] / t9 + a[2] / c + a[3] * c + a[4] * t9
            + a[5] * t9 * c * c + a[6] * np.log(t9)
        )
        for a in sets
    )


@dataclass
class Result:
    """Coefficients and values are terms x zones, the others states x zones.
    `scale` is the sum of the terms' absolute values times the net weights."""

    coefficients: np.ndarray
    values: np.ndarray
    production: np.ndarray
    loss: np.ndarray
    rhs: np.ndarray
    scale: np.ndarray


def evaluate(system: System, y: np.ndarray, parameters: np.ndarray) -> Result:
    """Evaluate a system on states x zones and parameters x zones."""
    index = {name: i for i, (name, _) in enumerate(system.states)}
    parameter_index = {name: i for i, (name, _) in enumerate(system.parameters)}
    zones = y.shape[1]
    v: dict[str, np.ndarray] = {}

    def weighted(text, start):
        total = start
        for name, weight in _pairs(text):
            total = total + weight * y[index[name]]
        return total

    for name, operation, text in system.operations:
        operands = [v[x] for x in re.findall(_VALUE, text)]
        match operation:
            case "wavesmith.parameter":
                result = parameters[parameter_index[_unquote(text)]]
            case "arith.constant":
                result = np.full(zones, float(text.split(" : ")[0]))
            case "arith.mulf":
                result = operands[0] * operands[1]
            case "arith.divf":
                result = operands[0] / operands[1]
            case "wavesmith.weighted_sum":
                result = weighted(text, np.zeros(zones))
            case "wavesmith.third_body":
                default = _number(text, "default")
                result = default * operands[0]
                for species, e in _pairs(_bracketed(text, "efficiencies")):
                    result = result + (e - default) * y[index[species]]
            case "wavesmith.arrhenius":
                result = _arrhenius(operands[0], *(_number(text, k) for k in "AbE"))
            case "wavesmith.nasa7":
                assert text.startswith("gibbs ")
                low, high = (
                    ast.literal_eval(f"[{_bracketed(text, k)}]") for k in ("low", "high")
                )
                result = _gibbs(operands[0], _number(text, "T_mid"), low, high)
            case "wavesmith.reverse_rate":
                kf, T = operands[:2]
                pairs = _pairs(_bracketed(text, "gibbs"), key=_VALUE)
                x = sum(nu * v[g] for g, nu in pairs)
                dn = sum(nu for _, nu in pairs)
                if dn != 0.0:
                    x = x - dn * np.log(_number(text, "reference_pressure") / R / T)
                result = kf * np.minimum(np.exp(x), 1e300)
            case "wavesmith.reduced_pressure":
                low, high, M = operands
                result = M * low / (high + TINY)
            case "wavesmith.troe":
                T, pr = operands
                A, T3, T1 = (_number(text, k) for k in ("A", "T3", "T1"))
                f = np.zeros(zones)
                if abs(T3) >= TINY:
                    f = f + (1 - A) * np.exp(-T / T3)
                if abs(T1) >= TINY:
                    f = f + A * np.exp(-T / T1)
                if " T2 " in text:
                    f = f + np.exp(-_number(text, "T2") / T)
                result = _blend(f, pr)
            case "wavesmith.sri":
                T, pr = operands
                a, b, c, d, e = (_number(text, k) for k in "abcde")
                w = a * np.exp(-b / T) + (np.exp(-T / c) if c else 0.0)
                l = np.log10(np.maximum(pr, TINY))
                result = w ** (1 / (1 + l * l)) * d * T**e
            case "wavesmith.tsang":
                T, pr = operands
                result = _blend(_number(text, "A") + _number(text, "B") * T, pr)
            case "wavesmith.falloff":
                k, pr = operands[:2]
                F = operands[2] if len(operands) > 2 else 1.0
                result = pr / (1 + pr) * F * k
            case "wavesmith.chemically_activated":
                k, pr = operands[:2]
                F = operands[2] if len(operands) > 2 else 1.0
                result = 1 / (1 + pr) * F * k
            case "wavesmith.plog":
                rows = ast.literal_eval(f"[{_bracketed(text, 'rates')}]")
                result = _plog(*operands, rows)
            case "wavesmith.chebyshev":
                T_range, p_range, rows = (
                    ast.literal_eval(f"[{_bracketed(text, k)}]")
                    for k in ("T_range", "p_range", "coefficients")
                )
                result = _chebyshev(*operands, T_range, p_range, rows)
            case "wavesmith.reaclib":
                sets = ast.literal_eval(f"[{_bracketed(text, 'sets')}]")
                result = _reaclib(operands[0], sets)
            case _:
                raise AssertionError(f"unknown operation {operation}")
        assert name not in v, f"{name} is defined twice"
        v[name] = result

    shape = (len(system.terms), zones)
    coefficients, values = np.empty(shape), np.empty(shape)
    production, loss, rhs, scale = (np.zeros_like(y) for _ in range(4))
    for r, term in enumerate(system.terms):
        value = v[term.coefficient]
        coefficients[r] = value
        for name, order in term.orders:
            q = y[index[name]]
            if order in (1.0, 2.0, 3.0, 4.0):
                value = value * q ** int(order)
            else:
                positive = q > 0.0
                power = np.exp(order * np.log(np.where(positive, q, 1.0)))
                value = value * np.where(positive, power, 0.0)
        values[r] = value
        net: dict[str, float] = {}
        for name, weight in term.gain:
            production[index[name]] += weight * value
            net[name] = net.get(name, 0.0) + weight
        for name, weight in term.loss:
            loss[index[name]] += weight * value
            net[name] = net.get(name, 0.0) - weight
        for name, weight in net.items():
            rhs[index[name]] += weight * value
            scale[index[name]] += abs(weight * value)
    return Result(coefficients, values, production, loss, rhs, scale)
