# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command line of the importers: `python -m wavesmith.importers --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from wavesmith.importers import from_cantera, from_fern, from_musica, from_pynucastro
from wavesmith.importers.errors import MechanismError, MissingPackageError
from wavesmith.importers.mlir_text import LAYOUTS, QUANTITIES, write_atomically


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m wavesmith.importers",
        description="Import a reaction mechanism as MLIR text.",
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("-o", "--output", required=True, help="the MLIR file to write")
    common.add_argument(
        "--layout",
        choices=LAYOUTS,
        default="soa",
        help="states x zones (soa, the default) or zones x states (aos)",
    )
    common.add_argument(
        "--quantity",
        choices=QUANTITIES,
        default="rhs",
        help="what the function computes (default: rhs)",
    )
    common.add_argument("--name", help="symbol name of the system")
    formats = parser.add_subparsers(dest="format", required=True, metavar="FORMAT")

    cantera = formats.add_parser(
        "cantera", parents=[common], help="a gas-phase mechanism, read by Cantera"
    )
    cantera.add_argument("file", help="a YAML file, or the name of one in Cantera")
    cantera.add_argument("--phase", help="the phase to take (default: the first)")

    pynucastro = formats.add_parser(
        "pynucastro", parents=[common], help="a network of REACLIB rates"
    )
    choice = pynucastro.add_mutually_exclusive_group(required=True)
    choice.add_argument(
        "--nuclides", help="names, separated by commas: p,he4,c12; all REACLIB rates "
        "between them are taken"
    )
    choice.add_argument(
        "--network", choices=("150",), help="a network that Wavesmith defines: 150 "
        "nuclides up to iron"
    )

    musica = formats.add_parser(
        "musica", parents=[common], help="a mechanism of MUSICA, version 1"
    )
    musica.add_argument("file", help="a JSON file")

    fern = formats.add_parser("fern", parents=[common], help="files of FERN")
    fern.add_argument("--rates", required=True, help="the rate file")
    fern.add_argument("--network", required=True, help="the network file")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, or 1 after an error message."""
    options = _parser().parse_args(arguments)
    keywords = {"layout": options.layout, "quantity": options.quantity}
    if options.name:
        keywords["name"] = options.name
    try:
        if options.format == "cantera":
            text = from_cantera(options.file, phase=options.phase, **keywords)
        elif options.format == "pynucastro":
            if options.network:
                from wavesmith.importers.nuclides import network_150

                nuclides = network_150()
            else:
                nuclides = [n.strip() for n in options.nuclides.split(",")]
            text = from_pynucastro(nuclides, **keywords)
        elif options.format == "musica":
            text = from_musica(options.file, **keywords)
        else:
            text = from_fern(options.rates, options.network, **keywords)
        write_atomically(options.output, text)
    except (MechanismError, MissingPackageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
