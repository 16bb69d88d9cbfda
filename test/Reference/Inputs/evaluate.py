"""Makes the arrays of evaluate.mlir, and checks the tool's results.

The expected numbers are computed with exact fractions and rounded to float64
where the dialect's description rounds: after each product of a term, and after
each fused multiplication and addition of a sum.
"""

import os
import sys
from fractions import Fraction

import numpy as np

ZONES = 5


def arrays():
    random = np.random.default_rng(20260106)
    y = random.uniform(0.0, 1.0, (3, ZONES)) * np.array([[1.0], [1e-4], [1.0]])
    p = random.uniform(0.0, 3.0, (2, ZONES))
    return y, p


def make(folder):
    y, p = arrays()
    np.save(os.path.join(folder, "y.npy"), y)
    np.save(os.path.join(folder, "y-aos.npy"), np.ascontiguousarray(y.T))
    np.save(os.path.join(folder, "p-aos.npy"), np.ascontiguousarray(p.T))


def fused(weights, values):
    """sum = fma(weight, value, sum) in order, from +0.0."""
    total = 0.0
    for weight, value in zip(weights, values):
        if weight != 0:
            total = float(Fraction(weight) * Fraction(value) + Fraction(total))
    return total


def exact(weights, values):
    return float(sum(Fraction(w) * v for w, v in zip(weights, values)))


GAIN = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
LOSS = [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
NET = [[g - l for g, l in zip(*rows)] for rows in zip(GAIN, LOSS)]


def check(folder):
    def load(name):
        array = np.load(os.path.join(folder, name + ".npy"))
        assert array.dtype == np.float64, (name, array.dtype)
        return array

    y, p = arrays()
    k = [0.04, 3e7, 1e4]
    expected = {
        name: np.empty((3, ZONES))
        for name in ("k", "v", "dydt", "magnitude", "high", "production", "loss")
    }
    for zone in range(ZONES):
        a, b, c = (float(number) for number in y[:, zone])
        values = [k[0] * a, k[1] * (b * b), (k[2] * b) * c]
        a, b, c = Fraction(a), Fraction(b), Fraction(c)
        exact_values = [Fraction(k[0]) * a, Fraction(k[1]) * b * b,
                        Fraction(k[2]) * b * c]
        expected["k"][:, zone] = k
        expected["v"][:, zone] = values
        for i in range(3):
            expected["dydt"][i, zone] = fused(NET[i], values)
            expected["high"][i, zone] = exact(NET[i], exact_values)
            expected["production"][i, zone] = fused(GAIN[i], values)
            expected["loss"][i, zone] = fused(LOSS[i], values)
            expected["magnitude"][i, zone] = fused([abs(w) for w in NET[i]],
                                                   values)

    for name, wanted in expected.items():
        got = load(name)
        if name in ("production", "loss"):
            got = got.T
        np.testing.assert_array_equal(got, wanted, err_msg=name, strict=True)
    assert (expected["dydt"] != expected["high"]).any()
    np.testing.assert_array_equal(load("sums"), expected["dydt"])
    np.testing.assert_array_equal(load("loss-magnitude").T, expected["loss"])

    a, b = p
    decay = np.array([-((a * 2.5) * y[0]), b * y[2], 0 * y[0]])
    np.testing.assert_array_equal(load("with-parameters"), decay.T)


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
