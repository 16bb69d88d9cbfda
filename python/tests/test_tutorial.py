# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/python.md: every block runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ws = pytest.importorskip("wavesmith")
pytest.importorskip("wavesmith.kernel")
pytest.importorskip("cantera")

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def blocks(text: str) -> list[tuple[str, int, str]]:
    """The kind of each block, the number of its first line, and its text."""
    found, lines = [], text.splitlines(keepends=True)
    kind, start = None, 0
    for number, line in enumerate(lines, 1):
        match = re.fullmatch(r"```(.*)\n", line)
        if match and kind is None:
            kind, start = match.group(1), number + 1
        elif match:
            found.append((kind, start, "".join(lines[start - 1 : number - 1])))
            kind = None
    assert kind is None
    return found


@pytest.mark.parametrize("target", ["gfx942", "gfx90a"])
def test_tutorial(tmp_path, target):
    text = TUTORIAL.read_text()
    if target != "gfx942":
        # The default target is a keyword of all that computes.
        text = text.replace('device="sim"', f'device="sim", target="{target}"')
        text = text.replace('target="gfx942"', f'target="{target}"')
        text = re.sub(r"(kernel\(.*), target=\"gfx90a\"", r"\1", text)
    found = blocks(text)
    assert len(found) > 20 and {kind for kind, *_ in found} == {"python", "python error", "text"}
    file = tmp_path / "python.md"
    file.write_text(text)
    names: dict = {"__name__": "tutorial"}
    for (kind, start, code), (what, _, wanted) in zip(found[::2], found[1::2]):
        assert kind.startswith("python") and what == "text", (kind, start, what)
        printed = io.StringIO()
        program = compile("\n" * (start - 1) + code, str(file), "exec")
        with contextlib.redirect_stdout(printed):
            if kind == "python":
                exec(program, names)
                got = printed.getvalue()
            else:
                with pytest.raises(ws.CompileError) as error:
                    exec(program, names)
                got = str(error.value).replace(str(file), file.name) + "\n"
        assert got == wanted, f"{TUTORIAL.name}:{start}:\n{got}\ninstead of\n{wanted}"
