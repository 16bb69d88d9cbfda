"""Ends with status 1 unless two .npy files hold the same array, bit by bit."""

import sys

import numpy as np

got, expected = np.load(sys.argv[1]), np.load(sys.argv[2])
if got.dtype != expected.dtype or got.shape != expected.shape:
    sys.exit(f"got {got.dtype} {got.shape}, expected {expected.dtype} {expected.shape}")
different = np.flatnonzero(got.view(np.uint64) != expected.view(np.uint64))
if different.size:
    i = different[0]
    sys.exit(
        f"{different.size} of {got.size} differ, the first at {i}: "
        f"got {got.flat[i]!r}, expected {expected.flat[i]!r}"
    )
