# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write a network of the ladder: make_network.py NAME OUTPUT.mlir

NAME: 50, 150 or 200 for REACLIB's rates between so many nuclides, but for the few
that the published ladder's kernels have no place for (rates of four reactants, and
electron captures, whose coefficient follows the composition); gri30 for GRI-Mech 3.0,
isothermal, as Cantera ships it; fern-70 or fern-150 for FERN's networks, from the
folder $WAVESMITH_FERN. Where that is missing, the exit status is 2.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

from wavesmith.importers import from_cantera, from_fern, from_pynucastro, nuclides
from wavesmith.importers.mlir_text import write_atomically
from wavesmith.importers.reaclib_network import load_pynucastro

REACLIB = {
    "50": nuclides.network_50,
    "150": nuclides.network_150,
    "200": nuclides.network_200,
}


def reaclib(names: list[str]) -> str:
    pynucastro = load_pynucastro()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pynucastro.ReacLibLibrary().linking_nuclei(
            names, print_warning=False
        )
        rates = [
            rate
            for rate in library.get_rates()
            if len(rate.reactants) <= 3 and not rate.use_ye_weighting
        ]
        return from_pynucastro(pynucastro.rates.Library(rates=rates))


def main(name: str, output: str) -> int:
    if name in REACLIB:
        text = reaclib(REACLIB[name]())
    elif name == "gri30":
        text = from_cantera("gri30.yaml")
    elif name in ("fern-70", "fern-150"):
        folder, size = Path(os.environ.get("WAVESMITH_FERN", "")), name.split("-")[1]
        rates, network = (
            folder / f"rateLibrary_{size}.data",
            folder / f"CUDAnet_{size}.inp",
        )
        if not (rates.is_file() and network.is_file()):
            print(f"FERN's networks are not in '{folder}'", file=sys.stderr)
            return 2
        text = from_fern(rates, network)
    else:
        print(f"got {name}, expected one of {', '.join(REACLIB)}, gri30, "
              "fern-70, fern-150", file=sys.stderr)  # fmt: skip
        return 1
    write_atomically(output, text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.splitlines()[0])
    sys.exit(main(*sys.argv[1:]))
