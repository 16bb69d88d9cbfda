# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorials: every block runs as it is printed, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs_support import BUILD, DOCS, REPOSITORY, blocks

ws = pytest.importorskip("wavesmith")


def matches(wanted: str, got: str) -> bool:
    """Whether a text is what a page shows; a line of three dots stands for any lines, and
    three dots in a line for anything in it."""
    pattern = ""
    for line in wanted.splitlines(keepends=True):
        pattern += "(?:.*\n)*?" if line == "...\n" else re.escape(line).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, got) is not None


@pytest.mark.parametrize("target", ["gfx942", "gfx90a"])
def test_python(tmp_path, target):
    pytest.importorskip("cantera")
    page = DOCS / "tutorial-python.md"
    text = page.read_text()
    if target != "gfx942":
        # The default target is a keyword of all that computes.
        text = text.replace('device="sim"', f'device="sim", target="{target}"')
        text = text.replace('target="gfx942"', f'target="{target}"')
        text = re.sub(r"(kernel\(.*), target=\"gfx90a\"", r"\1", text)
    found = blocks(text)
    assert len(found) > 20 and {b.kind for b in found} == {"python", "python error", "text"}
    names: dict = {"__name__": "tutorial"}
    for number, (block, shown) in enumerate(zip(found[::2], found[1::2], strict=True)):
        assert block.kind.startswith("python") and shown.kind == "text", (block, shown)
        # Each is a file, as if it stood alone: lines in messages count from its first.
        file = tmp_path / str(number) / "tutorial.py"
        file.parent.mkdir()
        file.write_text(block.text)
        printed = io.StringIO()
        program = compile(block.text, str(file), "exec")
        with contextlib.redirect_stdout(printed):
            if block.kind == "python":
                exec(program, names)
                got = printed.getvalue()
            else:
                with pytest.raises((ws.CompileError, ValueError)) as error:
                    exec(program, names)
                got = str(error.value).replace(str(file), file.name) + "\n"
        place = f"{page.name}:{shown.line}"
        assert matches(shown.text, got), f"{place}:\n{got}\ninstead of\n{shown.text}"


# Shell ---------------------------------------------------------------------------

#: The shell's options; errors of a pipe's first commands count too.
PRELUDE = "set -e -o pipefail\nexec 2>&1\n"


#: How the reader of this environment begins: from the build tree, or with the installed
#: package. Blocks with the other mark are left out.
BEGINNINGS = ("build-tree", "installed")
BEGINNING = BEGINNINGS[ws.__file__.startswith(sys.prefix)]
#: What needs a build tree, by page: the section's title, and where it says so.
BUILD_TREE_ONLY = {
    "tutorial-library.md": ("In another MLIR compiler", "The Python package does not have it"),
}


def without_section(text: str, title: str, reason: str) -> str:
    """A page without one section, which has to give the reason to leave it out."""
    sections = re.split(r"^(?=## )", text, flags=re.M)
    chosen = [s for s in sections if s.startswith(f"## {title}\n")]
    assert len(chosen) == 1 and reason in chosen[0], f"no section '{title}' says '{reason}'"
    assert sections[-1] == chosen[0], "lines of what follows would be counted wrongly"
    return "".join(sections[:-1])


def script_of(page: str) -> tuple[str, list]:
    """A script of a page's blocks, and the texts that it has to print, by the mark that
    stands before each. A block with the name of a file is written to it; `sh error` has
    to end with a status other than 0."""
    script, wanted = PRELUDE, []
    found = blocks(page)
    for block, after in zip(found, [*found[1:], None]):
        kind, _, name = block.kind.partition(" ")
        mark = f"--- block at line {block.line} ---"
        if kind == "sh":
            body = block.text
            if name in BEGINNINGS:
                if name != BEGINNING:
                    continue
            elif name:
                assert name == "error", block
                body = f"if (set -e -o pipefail\n{body}); then echo succeeded; false; fi\n"
            script += f"echo; echo '{mark}'\n{body}"
            shown = after.text if after is not None and after.kind == "text" else ""
            wanted.append((mark, block, shown))
        elif name:
            script += f"cat > {name} <<'END_OF_BLOCK'\n{block.text}END_OF_BLOCK\n"
        else:
            assert kind == "text", block
    return script, wanted


def run_page(name: str, folder) -> None:
    page = (DOCS / name).read_text()
    environment = {n: v for n, v in os.environ.items() if not n.startswith("PYTHON")}
    if BEGINNING == "installed":
        if name in BUILD_TREE_ONLY:
            page = without_section(page, *BUILD_TREE_ONLY[name])
        # As in an activated environment.
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    else:
        # Where the reader begins.
        (folder / "build").symlink_to(BUILD)
        (folder / "examples").symlink_to(REPOSITORY / "examples")
    script, wanted = script_of(page)
    environment["TMPDIR"] = str(folder)
    result = subprocess.run(
        ["bash"], input=script, cwd=folder, capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    output = result.stdout
    for (mark, block, shown), after in zip(wanted, [*wanted[1:], None]):
        place = f"{name}:{block.line}"
        assert f"\n{mark}\n" in output, f"{place} was not reached: {result.stdout}{result.stderr}"
        got = output.split(f"\n{mark}\n", 1)[1]
        if after is not None:
            got = got.split(f"\n{after[0]}\n", 1)[0]
        assert matches(shown, got), f"{place}:\n{got}\ninstead of\n{shown}"
    assert result.returncode == 0, f"{place}: status {result.returncode}: {output[-2000:]}"


def test_tool(tmp_path):
    run_page("tutorial-tool.md", tmp_path)


def test_library(tmp_path):
    run_page("tutorial-library.md", tmp_path)


@pytest.mark.parametrize(
    "wanted, got, fits",
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("a ... us\n", "a 1.5 us\n", True),
        ("a ... us\n", "a 1.5 us\nb us\n", False),
        ("a\n...\nc\n", "a\nb\nb\nc\n", True),
        ("a\n...\nc\n", "a\nb\nb\n", False),
        ("a\n...\n", "a\n", True),
        ("a.c\n", "abc\n", False),
    ],
)
def test_matches(wanted, got, fits):
    assert matches(wanted, got) is fits
