"""Makes the arrays of integrate.mlir, and checks the tool's results against an
integrator of Robertson's system that is written down here once more, with exact
fractions for what is fused.
"""

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

END, MAX_STEPS = 10.0, 400
K1, K2, K3 = 0.04, 3e7, 1e4
#: Time, step size and states of each zone: one that ends, one that has too many
#: steps to take, one that has none to take, one that is broken.
ZONES = [
    (9.0, 1e-2, (0.9, 1e-5, 0.1)),
    (1e-6, 1e-9, (1.0, 0.0, 0.0)),
    (10.0, 0.5, (0.25, 0.5, 0.75)),
    (1e-3, 1e-4, (1.0, math.nan, 0.0)),
]


def fma(a, b, c):
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def total(y):
    return fma(1.0, y[2], fma(1.0, y[1], fma(1.0, y[0], 0.0)))


def integrate(t, h, y):
    """t, h, y, steps and status; the zone before each step; the branches."""
    before = []
    counts = dict.fromkeys(("reduced", "stretched", "unchanged", "asymptotic", "euler"), 0)
    x0 = total(y)
    status = 0
    while t < END:
        if len(before) == MAX_STEPS:
            status = 1
            break
        v1, v2, v3 = K1 * y[0], K2 * (y[1] * y[1]), (K3 * y[1]) * y[2]
        gain = (v3, v1, v2)
        loss = (v1, fma(1.0, v3, v2), 0.0)
        changes = [abs(p - l) for p, l in zip(gain, loss)]
        if not all(map(math.isfinite, changes)):
            status = 2
            break

        def update(d):
            new = []
            branches = 0
            for p, l, old in zip(gain, loss, y):
                q = (l * d) / old if old else (math.inf if l * d > 0 else math.nan)
                branches += q > 1.0
                new.append(fma(p, d, old) / (1.0 + q) if q > 1.0 else fma(p - l, d, old))
            return new, branches

        h1 = min(0.01 / max(changes), 0.1 * t, h)
        x = total(update(h1)[0])
        c, w = abs(x0 - x), 1e-6
        if abs(x - 1.0) > abs(x0 - 1.0) and c > w:
            h2, branch = h1 * max(w / max(c, 1e-9 * w), 0.1), "reduced"
        elif c < 0.25 * w:
            h2, branch = h1 * (w / max(c, 0.9 * w)), "stretched"
        else:
            h2, branch = h1, "unchanged"
        before.append((t, h, y))
        last = t + h2 >= END
        y, asymptotic = update(END - t if last else h2)
        t, h, x0 = END if last else t + h2, h2, total(y)
        counts[branch] += 1
        counts["asymptotic"] += asymptotic
        counts["euler"] += 3 - asymptotic
    return t, h, y, len(before), status, before, counts


def make(folder):
    np.save(folder / "time.npy", np.array([zone[0] for zone in ZONES]))
    np.save(folder / "h.npy", np.array([zone[1] for zone in ZONES]))
    y = np.array([zone[2] for zone in ZONES])
    np.save(folder / "y-aos.npy", y)
    np.save(folder / "y.npy", np.ascontiguousarray(y.T))
    np.save(folder / "p-aos.npy", np.array([[K1, K3]] * len(ZONES)))


def check(folder):
    def compare(name, wanted, dtype="f8"):
        np.testing.assert_array_equal(
            np.load(folder / f"{name}.npy"), np.array(wanted, dtype), err_msg=name, strict=True
        )

    zones = [integrate(*zone) for zone in ZONES]
    t, h, y, steps, status, before, counts = zip(*zones)
    assert status == (0, 1, 0, 2), status
    assert steps[0] > 50 and steps[1:] == (MAX_STEPS, 0, 0), steps
    assert counts[0]["asymptotic"] and counts[0]["euler"] and counts[1]["stretched"]
    y = np.array(y)
    compare("t1", t)
    compare("h1", h)
    compare("states", y.T)
    compare("steps", steps, "i4")
    compare("status", status, "i4")
    compare("states-aos", y)
    compare("status-aos", status, "i4")
    branches = json.loads((folder / "branches.json").read_text())
    assert branches == {"zones": list(counts)}, branches

    # Records are sorted by zone and step. The broken zone stands before its first.
    records = [zone[step] for zone in before for step in (0, 3, 7) if step < len(zone)]
    records.append(ZONES[3])
    compare("record-time", [record[0] for record in records])
    compare("record-h", [record[1] for record in records])
    compare("record-y", np.array([record[2] for record in records]).T)
    compare("record-y-aos", [zone[1][2] for zone in before if len(zone) > 1])
    compare("record-p-aos", [[K1, K3]] * 2)


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](Path(sys.argv[2]))
