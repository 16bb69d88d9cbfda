# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code of these tests is cached in a folder of the session."""

from __future__ import annotations

import pytest

import docs_support  # noqa: F401  finds the package


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAVESMITH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("WAVESMITH_DUMP_IR", raising=False)
        yield
