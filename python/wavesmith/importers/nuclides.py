# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists of nuclides that define networks of a known size."""

from __future__ import annotations

_ELEMENTS = (
    "h he li be b c n o f ne na mg al si p s cl ar k ca sc ti v cr mn fe co ni cu zn"
).split()

#: Neutron, hydrogen and helium, and the nuclides of lithium to boron that live
#: long enough to pass matter on. The gap at mass 5 and 8 keeps them few.
_LIGHT = ("n", "p", "d", "t", "he3", "he4", "li6", "li7", "be7", "be9", "b10", "b11")


def nuclide_name(Z: int, N: int) -> str:
    """pynucastro's name of a nuclide from carbon to zinc: `nuclide_name(6, 6)` is
    `c12`."""
    if not 6 <= Z <= len(_ELEMENTS):
        raise ValueError(f"got Z = {Z}, expected 6 to {len(_ELEMENTS)}")
    return f"{_ELEMENTS[Z - 1]}{Z + N}"


def network_150() -> list[str]:
    """150 nuclides up to iron, which REACLIB links by about 1,550 rates.

    A network of the size that codes follow in explosive burning with explicit
    integrators: 12 light nuclides, and from carbon (Z = 6) to iron (Z = 26) all
    with -3 <= N - Z <= 2 up to silicon and <= 3 from phosphorus on. Helium,
    carbon, oxygen and silicon burning and the start of the rp-process run along
    N = Z, hence the band around it; it widens as the valley of stability bends to
    more neutrons.
    """
    nuclides = list(_LIGHT)
    for Z in range(6, 27):
        most = 2 if Z <= 14 else 3
        nuclides += [nuclide_name(Z, Z + excess) for excess in range(-3, most + 1)]
    return nuclides


def network_50() -> list[str]:
    """50 nuclides up to sulphur, which REACLIB links by about 440 rates: the light
    ones of `network_150`, from carbon to silicon all with -1 <= N - Z <= 2, and the
    next two on the way of alpha captures."""
    band = [nuclide_name(Z, Z + excess) for Z in range(6, 15) for excess in range(-1, 3)]
    return [*_LIGHT, *band, "p31", "s32"]


def network_200() -> list[str]:
    """200 nuclides up to zinc, which REACLIB links by about 2,130 rates: as
    `network_150`, with one more on the side of neutrons from fluorine on."""
    nuclides = list(_LIGHT)
    for Z in range(6, 31):
        most = 2 if Z <= 8 else 3 if Z <= 14 else 4
        nuclides += [nuclide_name(Z, Z + excess) for excess in range(-3, most + 1)]
    return nuclides
