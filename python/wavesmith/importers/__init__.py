# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Importers of reaction mechanisms: each gives MLIR text with an
`wavesmith.ode_system` and a function that asks for a quantity of it.

- `from_cantera`: gas-phase mechanisms that Cantera reads (YAML).
- `from_pynucastro`: nuclear networks of REACLIB rates.
- `from_fern`: the rate and network files of FERN.
- `from_musica`: mechanisms of MUSICA, version 1, in JSON.

Cantera and pynucastro are needed only by their own importer.
On the command line: `python -m wavesmith.importers --help`.
"""

from __future__ import annotations

from wavesmith.importers.cantera_mechanism import from_cantera
from wavesmith.importers.errors import (
    MechanismError,
    MissingPackageError,
    UnsupportedMechanismError,
)
from wavesmith.importers.fern_network import from_fern
from wavesmith.importers.musica_mechanism import from_musica
from wavesmith.importers.reaclib_network import from_pynucastro

__all__ = [
    "MechanismError",
    "MissingPackageError",
    "UnsupportedMechanismError",
    "from_cantera",
    "from_fern",
    "from_musica",
    "from_pynucastro",
]
