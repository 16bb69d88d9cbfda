# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of docs/ share. Import it before `wavesmith`.

The folder of the build is $WAVESMITH_BUILD, else build/.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
BUILD = Path(os.environ.get("WAVESMITH_BUILD", REPOSITORY / "build"))

sys.path.append(str(REPOSITORY / "scripts"))
if importlib.util.find_spec("wavesmith") is None:
    sys.path.insert(0, str(BUILD / "python"))


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: what stands behind the fence, the number of its first
    line, and its text."""

    kind: str
    line: int
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page; those in lists are indented."""
    found, lines = [], page.splitlines(keepends=True)
    kind, start = None, 0
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"```(.*)\n", line)
        if match and kind is None:
            kind, start = match.group(1), number + 1
        elif match:
            found.append(Block(kind, start, "".join(lines[start - 1 : number - 1])))
            kind = None
    assert kind is None, f"the block at line {start} has no end"
    return found
