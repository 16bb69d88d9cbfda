"""Writes what a test of wavesmith-run on the axpy kernel needs.

usage: make_axpy.py FOLDER TARGET ZONES

x.npy (2, ZONES), y.npy (ZONES,), expected.npy = 3 x + y, axpy.json for TARGET,
and inputs that are wrong in one way each. All sums are exact in double
precision, so a result is compared bit by bit.
"""

import pathlib
import sys

import numpy as np

folder, target, zones = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)
x = np.arange(2 * zones, dtype=np.float64).reshape(2, zones) / 4
y = 1000.0 - np.arange(zones, dtype=np.float64)
np.save(folder / "x.npy", x)
np.save(folder / "y.npy", y)
np.save(folder / "expected.npy", 3.0 * x + y)

np.save(folder / "x-f32.npy", x.astype(np.float32))
np.save(folder / "x-big-endian.npy", x.astype(">f8"))
np.save(folder / "x-fortran.npy", np.asfortranarray(x))
np.save(folder / "x-transposed.npy", np.ascontiguousarray(x.T))
np.save(folder / "x-short.npy", x[:, :-1].copy())
np.save(folder / "x-empty.npy", x[:, :0].copy())
np.save(folder / "y-empty.npy", y[:0])
whole = (folder / "x.npy").read_bytes()
(folder / "x-truncated.npy").write_bytes(whole[:-1])
(folder / "x-header-cut.npy").write_bytes(whole[:40])
(folder / "x-oversized.npy").write_bytes(whole + b"\0")
(folder / "x-text.npy").write_text("1 2 3\n")
(folder / "nothing.npy").write_bytes(b"")

template = (pathlib.Path(__file__).parent / "axpy.json.in").read_text()
(folder / "axpy.json").write_text(template.replace("TARGET", target))
