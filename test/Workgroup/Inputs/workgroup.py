"""Makes the arrays of the workgroups written by hand, and checks the results.

What is expected is computed with exact fractions, rounded to float64 where the
operations' descriptions round.
"""

import os
import sys
from fractions import Fraction

import numpy as np

ZONES = 7


def fma(a, b, c):
    """a * b + c, rounded once; the numbers here are finite and no result is a
    negative zero."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def reduce(segment, lanes, init, accumulate, combine):
    """One segment's elements, by `lanes` lanes and a tree."""
    partial = []
    for lane in range(lanes):
        value = init
        for element in segment[lane::lanes]:
            value = accumulate(value, element)
        partial.append(value)
    while len(partial) > 1:
        # Neighbours first: the levels d = 1, 2, 4, ...
        partial = [combine(a, b) for a, b in zip(partial[0::2], partial[1::2])]
    return partial[0]


def product_sum(pairs, lanes=1):
    return reduce(
        pairs, lanes, 0.0, lambda s, p: fma(p[0], p[1], s), lambda a, b: a + b
    )


def stencil():
    random = np.random.default_rng(1)
    return {
        "temperature": random.uniform(0.0, 2.0, (128, ZONES)),
        "rate": random.uniform(0.0, 0.4, ZONES),
        "steps": np.arange(ZONES, dtype=np.int32),
    }


def expect_stencil(temperature, rate, steps):
    result = np.empty_like(temperature)
    for zone in range(ZONES):
        t = [float(x) for x in temperature[:, zone]]
        for _ in range(steps[zone]):
            t = [
                fma(rate[zone], fma(-2.0, t[e], t[e - 1] + t[(e + 1) % 128]), t[e])
                for e in range(128)
            ]
        result[:, zone] = t
    return {"result": result, "largest": result.max(axis=0)}


def sparse():
    return {"x": np.random.default_rng(2).uniform(-1.0, 1.0, (ZONES, 8))}


def expect_sparse(x):
    values = [0.5, -1.25, 3.0, 0.1, 0.7, -0.3, 2.5, 0.125, 1.0e-3, 7.0]
    values += [-2.0, 0.9, 0.2, 1.0, -0.6]
    columns = [0, 3, 1, 0, 1, 2, 3, 4, 5, 6, 7, 7, 2, 4, 6]
    rows = [0, 2, 3, 3, 11, 12, 15]
    y = np.empty((ZONES, 6))
    for zone in range(ZONES):
        pairs = [(v, float(x[zone, c])) for v, c in zip(values, columns)]
        for row in range(6):
            y[zone, row] = product_sum(
                pairs[rows[row] : rows[row + 1]], lanes=4 if row == 3 else 1
            )
    return {"y": y}


def gemm():
    random = np.random.default_rng(3)
    return {
        "a": random.uniform(-1.0, 1.0, (12, ZONES)),
        "b": random.uniform(-1.0, 1.0, (15, ZONES)),
    }


def expect_gemm(a, b):
    c, norm = np.empty((20, ZONES)), np.empty((1, ZONES))
    for zone in range(ZONES):
        left, right = a[:, zone].reshape(4, 3), b[:, zone].reshape(3, 5)
        for i in range(4):
            for j in range(5):
                c[5 * i + j, zone] = product_sum(
                    [(float(left[i, k]), float(right[k, j])) for k in range(3)]
                )
        squares = product_sum([(float(x), float(x)) for x in c[:, zone]], lanes=8)
        norm[0, zone] = np.sqrt(squares)
    return {"c": c, "norm": norm}


def main(command, folder):
    action, name = command.split("-")
    inputs = globals()[name]()
    if action == "make":
        for key, array in inputs.items():
            np.save(os.path.join(folder, key + ".npy"), array)
        return
    assert action == "check", action
    for key, wanted in globals()["expect_" + name](**inputs).items():
        got = np.load(os.path.join(folder, key + ".npy"))
        assert got.dtype == wanted.dtype, (key, got.dtype, wanted.dtype)
        assert got.shape == wanted.shape, (key, got.shape, wanted.shape)
        differs = got.view(np.int64) != wanted.view(np.int64)
        assert not differs.any(), (key, np.argwhere(differs)[:4], got, wanted)


main(*sys.argv[1:])
