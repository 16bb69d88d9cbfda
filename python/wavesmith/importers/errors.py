# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors that importers raise for bad or unsupported input."""

from __future__ import annotations


class MechanismError(ValueError):
    """A mechanism cannot be imported: missing, malformed or not supported.

    The message says what was got, what was wanted and where.
    """


class UnsupportedMechanismError(MechanismError):
    """A mechanism is well formed but needs something that is not supported.

    Nothing is dropped or approximated: the message names the reaction (its
    number from 1, as in comments of mechanism files, and its equation) or the
    part of the mechanism, and the kind that is not supported.
    """


class MissingPackageError(ImportError):
    """The Python package that reads a format is not installed."""

    def __init__(self, package: str, purpose: str):
        super().__init__(
            f"{purpose} needs the Python package '{package}', which is not "
            f"installed; install it with: python -m pip install {package}",
            name=package,
        )
