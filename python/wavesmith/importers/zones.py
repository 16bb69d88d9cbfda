# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Zones for an imported Cantera mechanism, and Cantera's answer for them.

For tests and first runs: states that cover the corners of a range, and the
reference to compare with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wavesmith.importers.cantera_mechanism import GAS_CONSTANT, load_cantera

if TYPE_CHECKING:
    import cantera
    from numpy.typing import NDArray

#: One standard atmosphere, in Pa.
ATMOSPHERE = 101325.0


def sample_zones(
    solution: cantera.Solution,
    num_zones: int,
    seed: int = 0,
    T_range: Sequence[float] = (250.0, 3500.0),
    P_range: Sequence[float] = (0.01 * ATMOSPHERE, 100.0 * ATMOSPHERE),
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Zones of varied temperature, pressure and composition.

    The first four zones stand at the corners of the ranges; the others are
    spread evenly in log T and log P. Compositions take turns: all species with
    similar mole fractions; all species with mole fractions over ten orders of
    magnitude; half of the species; two to six species. The same arguments give
    the same zones.

    Args:
        solution: a Cantera solution, of which only the species are used.
        num_zones: at least 1.
        seed: of the random numbers.
        T_range: lowest and highest temperature in K.
        P_range: lowest and highest pressure in Pa.

    Returns:
        Concentrations in kmol/m^3, states x zones, and temperatures in K,
        1 x zones.
    """
    if num_zones < 1:
        raise ValueError(f"got {num_zones} zones, expected at least 1")
    for what, (low, high) in (("T_range", T_range), ("P_range", P_range)):
        if not 0.0 < low <= high < np.inf:
            raise ValueError(
                f"got {what} = ({low!r}, {high!r}), expected 0 < low <= high"
            )
    random = np.random.Generator(np.random.PCG64(seed))
    num_species = solution.n_species

    def spread(bounds: Sequence[float]) -> NDArray[np.float64]:
        low, high = np.log(bounds[0]), np.log(bounds[1])
        values = np.exp(low + (high - low) * random.random(num_zones))
        return np.clip(values, bounds[0], bounds[1])

    temperature, pressure = spread(T_range), spread(P_range)
    corners = [(t, p) for t in T_range for p in P_range]
    for zone, corner in enumerate(corners[:num_zones]):
        temperature[zone], pressure[zone] = corner

    # -log(u) of uniform u are a uniform composition once normalised; u is in
    # (0, 1].
    fractions = -np.log(1.0 - random.random((num_species, num_zones))) + 1e-3
    wide = 10.0 ** (-10.0 * random.random((num_species, num_zones)))
    ranks = np.argsort(np.argsort(random.random((num_species, num_zones)), axis=0), axis=0)
    few = random.integers(2, 7, num_zones)
    kind = np.arange(num_zones) % 4
    fractions = np.where(kind == 1, wide, fractions)
    present = np.full(num_zones, num_species)
    present[kind == 2] = (num_species + 1) // 2
    present[kind == 3] = np.minimum(few[kind == 3], num_species)
    fractions = np.where(ranks < present, fractions, 0.0)
    fractions /= fractions.sum(axis=0)
    concentrations = fractions * (pressure / (GAS_CONSTANT * temperature))
    return concentrations, temperature[np.newaxis, :]


@dataclass(frozen=True)
class ReferenceRates:
    """Cantera's rates for some zones, each states x zones in kmol/m^3/s.

    A sum of terms may cancel, so its error is measured relative to the sum of
    the absolute values of the terms, which stands beside each.

    Attributes:
        net: Cantera's `net_production_rates`.
        scale: forward plus reverse rate of progress of each reaction, times the
            sum of the species' coefficients on both sides: all that Cantera
            adds up for `net`. A species that stands on both sides is added and
            taken away there, which costs digits.
        net_from_progress: the net coefficients times Cantera's rates of
            progress, which does without that loss.
        net_scale: the same with absolute values: sum over the reactions of
            |net coefficient| * (forward + reverse rate of progress).
        creation: Cantera's `creation_rates`.
        destruction: Cantera's `destruction_rates`.
    """

    net: NDArray[np.float64]
    scale: NDArray[np.float64]
    net_from_progress: NDArray[np.float64]
    net_scale: NDArray[np.float64]
    creation: NDArray[np.float64]
    destruction: NDArray[np.float64]


def cantera_net_production_rates(
    solution: cantera.Solution,
    y: NDArray[np.float64],
    T: NDArray[np.float64],
) -> ReferenceRates:
    """Cantera's net production rates, and the scale of their terms.

    Args:
        solution: an ideal gas; its state is left as it was.
        y: concentrations in kmol/m^3, states x zones.
        T: temperatures in K, 1 x zones or as a vector.

    Raises ValueError if the shapes do not fit or a zone is empty.
    """
    ct = load_cantera()
    y = np.asarray(y, dtype=np.float64)
    if y.ndim != 2 or y.shape[0] != solution.n_species:
        raise ValueError(
            f"got concentrations of shape {y.shape}, expected "
            f"({solution.n_species}, zones)"
        )
    temperature = np.asarray(T, dtype=np.float64)
    if temperature.size != y.shape[1] or temperature.ndim > 2:
        raise ValueError(
            f"got temperatures of shape {temperature.shape}, expected (1, {y.shape[1]})"
        )
    temperature = temperature.reshape(-1)
    total = y.sum(axis=0)
    if not np.all(total > 0.0):
        raise ValueError(
            f"zone {int(np.argmin(total > 0.0))} has a total concentration of zero"
        )
    saved = solution.state
    try:
        zones = ct.SolutionArray(solution, total.shape)
        zones.TPX = temperature, GAS_CONSTANT * temperature * total, (y / total).T
        forward = zones.forward_rates_of_progress.T
        reverse = zones.reverse_rates_of_progress.T
        progress = np.abs(forward) + np.abs(reverse)
        products = solution.product_stoich_coeffs
        reactants = solution.reactant_stoich_coeffs
        net = products - reactants
        return ReferenceRates(
            net=np.ascontiguousarray(zones.net_production_rates.T),
            scale=(products + reactants) @ progress,
            net_from_progress=net @ (forward - reverse),
            net_scale=np.abs(net) @ progress,
            creation=np.ascontiguousarray(zones.creation_rates.T),
            destruction=np.ascontiguousarray(zones.destruction_rates.T),
        )
    finally:
        solution.state = saved
