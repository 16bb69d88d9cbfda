# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tests find the package: an installed one with its binding, else that of
the build folder ($WAVESMITH_BUILD, else build/), else the source tree, which serves
the importers. Compiled code is cached in a folder of the session."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WAVESMITH_BUILD", REPOSITORY / "build"))


def _find_binding() -> bool:
    try:
        return importlib.util.find_spec("wavesmith._wavesmith") is not None
    except ImportError:
        return False


def _forget() -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "wavesmith"]:
        del sys.modules[name]
    importlib.invalidate_caches()


if not _find_binding():
    _forget()
    sys.path.insert(0, str(BUILD / "python"))
    if not _find_binding():
        _forget()
        sys.path.insert(0, str(REPOSITORY / "python"))

os.environ.pop("WAVESMITH_DUMP_IR", None)
os.environ.pop("WAVESMITH_DUMP_KERNEL", None)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """The cache of the session."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("WAVESMITH_CACHE_DIR")
    os.environ["WAVESMITH_CACHE_DIR"] = str(folder)
    yield folder
    if before is None:
        del os.environ["WAVESMITH_CACHE_DIR"]
    else:
        os.environ["WAVESMITH_CACHE_DIR"] = before
