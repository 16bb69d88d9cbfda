# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the ladder's own network: make_network.py OUTPUT.mlir

REACLIB's rates between 150 nuclides, but for the few that the published ladder's
kernels have no place for: rates of four reactants, and electron captures, whose
coefficient follows the composition.
"""

from __future__ import annotations

import sys
import warnings

from wavesmith.importers import from_pynucastro
from wavesmith.importers.mlir_text import write_atomically
from wavesmith.importers.nuclides import network_150
from wavesmith.importers.reaclib_network import load_pynucastro


def main(output: str) -> int:
    pynucastro = load_pynucastro()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = pynucastro.ReacLibLibrary().linking_nuclei(
            network_150(), print_warning=False
        )
        rates = [
            rate
            for rate in library.get_rates()
            if len(rate.reactants) <= 3 and not rate.use_ye_weighting
        ]
        text = from_pynucastro(pynucastro.rates.Library(rates=rates))
    write_atomically(output, text)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    sys.exit(main(sys.argv[1]))
