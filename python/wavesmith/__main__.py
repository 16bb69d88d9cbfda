# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Command line of the package: `python -m wavesmith --help`."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path


class _PrintFolder(argparse.Action):
    """Prints a folder of the package, for compilers and CMake."""

    def __call__(self, parser, namespace, values, option_string=None):
        from wavesmith._tools import folder

        try:
            print(folder() / self.const)
        except ImportError as error:
            parser.exit(1, f"error: {error}\n")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m wavesmith",
        description="Compile systems of ODEs for AMD Instinct GPUs. "
        "`python -m wavesmith.importers` turns mechanisms into MLIR text.",
    )
    for option, path, what in (
        ("--include-dir", "include", "the headers wavesmith-c/*.h"),
        ("--library-dir", "lib", "libwavesmith.so"),
        ("--cmake-dir", "lib/cmake/Wavesmith", "find_package(Wavesmith), as Wavesmith_DIR"),
    ):
        parser.add_argument(option, action=_PrintFolder, nargs=0, const=path,
                            help=f"print the folder for {what}")  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("version", help="print the version")

    compiling = commands.add_parser(
        "compile", help="compile MLIR text, a mechanism or a system in Python"
    )
    compiling.add_argument(
        "source",
        help="a file: .mlir, .yaml (Cantera), .json (MUSICA), or model.py:name, a system "
        "under @ws.ode_system in a Python file",
    )
    compiling.add_argument("-o", "--output", required=True,
                           help="the code object to write; its description stands beside "
                           "it, with the ending .json")  # fmt: skip
    compiling.add_argument("--target", default="gfx942", help="gfx90a or gfx942 (default)")
    compiling.add_argument("--quantity", default="rhs",
                           choices=("rhs", "production_loss", "term_values"),
                           help="what the kernel computes (not of .mlir)")  # fmt: skip
    compiling.add_argument("--layout", default="soa", choices=("soa", "aos"),
                           help="of its arrays (not of .mlir)")  # fmt: skip
    compiling.add_argument("--emit", default="hsaco",
                           choices=("source", "mlir", "llvm", "amdgcn", "hsaco"),
                           help="the stage to write (default: hsaco)")  # fmt: skip

    cache = commands.add_parser("cache", help="where compiled code is kept")
    cache.add_argument("--clear", action="store_true", help="delete it")
    return parser


def _load(source: str, quantity: str, layout: str):
    """What `wavesmith.compile` takes for a source of the command line."""
    import importlib.util

    import wavesmith as ws

    file, colon, name = source.rpartition(":")
    if colon and file.endswith(".py"):
        path = Path(file)
        if not path.is_file():
            raise OSError(f"cannot read {file}")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        system = getattr(module, name, None)
        if not isinstance(system, ws.System):
            known = [n for n, v in vars(module).items() if isinstance(v, ws.System)]
            raise ValueError(f"{file} has no system '{name}', only {', '.join(known) or 'none'}")
    elif source.endswith(".mlir"):
        return Path(source)
    else:
        system = ws.load_mechanism(source)
    return system.text(quantity, layout)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns 0, or 1 after an error message."""
    options = _parser().parse_args(arguments)
    from wavesmith import cache

    try:
        if options.command == "version":
            import wavesmith as ws

            print(ws.version())
        elif options.command == "cache":
            folder = cache.folder()
            if folder is None:
                print("the cache is turned off (WAVESMITH_CACHE_DIR is empty)")
                return 0
            files = [path for path in folder.rglob("*") if path.is_file()]
            size = sum(path.stat().st_size for path in files)
            print(f"{folder}: {len(files)} files, {size} bytes")
            if options.clear and folder.is_dir():
                # Only what is the cache's own.
                for child in folder.iterdir():
                    if child.is_dir() and len(child.name) == 2:
                        shutil.rmtree(child)
        else:
            import wavesmith as ws

            source = _load(options.source, options.quantity, options.layout)
            module = ws.compile(source, options.target)
            if options.emit == "hsaco":
                module.save(options.output)
            else:
                cache.write_file(Path(options.output), module.asm[options.emit].encode())
    except (ValueError, ImportError, OSError, TypeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
