# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""README.md and docs/: links lead somewhere, the index is whole, and the commands that
the README shows run."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys

import pytest

from docs_support import BUILD, DOCS, REPOSITORY

import make_docs

PAGES = [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]


def prose(path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: str(p.relative_to(REPOSITORY)))
def test_links(path):
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if re.match(r"\w+:", target):
            continue
        name, _, fragment = target.partition("#")
        linked = (path.parent / name).resolve() if name else path
        if not linked.exists():
            wrong.append(target)
        elif fragment:
            headings = re.findall(r"^#+ (.*)$", prose(linked), flags=re.M)
            if fragment not in map(make_docs.anchor, headings):
                wrong.append(target)
    assert not wrong


def test_files_that_pages_name_exist():
    """Paths in backticks that begin with a folder of the source tree."""
    folders = "bench|cmake|docs|examples|include|lib(?=/[A-Z])|python|scripts|test|tools"
    wrong = []
    for path in PAGES:
        for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", prose(path)):
            if not (REPOSITORY / name).exists():
                wrong.append((path.name, name))
    assert not wrong


def test_index_is_whole():
    linked = set(re.findall(r"\]\(([^)]+\.md)\)", (DOCS / "index.md").read_text()))
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} - {"index.md"}
    assert linked == pages


@functools.cache
def help_of(tool: str) -> str:
    options = "--help-hidden" if tool == "wavesmith-opt" else "--help"
    return subprocess.run(
        [BUILD / "bin" / tool, options], capture_output=True, text=True, check=True
    ).stdout


def test_options_that_pages_show_exist():
    """Of the tools and benchmarks, wherever a page has a command line of theirs."""
    tools = "|".join(sorted(
        (path.name for path in (BUILD / "bin").iterdir()
         if re.fullmatch("wavesmith-(opt|compile|run|evaluate|validate)|bench-.*|simulator-inst.*",
                         path.name)),
        key=len, reverse=True,
    ))  # fmt: skip
    found, wrong = 0, []
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        # To the end of the command: usages go on in lines that are indented further.
        for tool, rest in re.findall(
            rf"(?<![\w-])({tools})\b((?:[^\n`;|]|\|(?! )|\n {{8,}})*)", text
        ):
            for option in re.findall(r"(?<![\w-])--([a-z][\w-]*)", rest):
                found += 1
                if not re.search(rf"(?<![\w-])--{option}\b", help_of(tool)):
                    wrong.append(f"{page.name}: {tool} --{option}")
    assert found > 100 and not wrong


def readme_block(before: str) -> str:
    """The indented block of the README below a line."""
    text = (REPOSITORY / "README.md").read_text()
    block = re.search(rf"{re.escape(before)}\n\n((?:    .*\n|\n(?=    ))+)", text)[1]
    return re.sub(r"^    ", "", block, flags=re.M)


def test_commands_of_the_readme(tmp_path):
    build = tmp_path / "build"
    build.mkdir()
    for name in ("bin", "lib"):
        (build / name).symlink_to(BUILD / name)
    (build / "venv" / "bin").mkdir(parents=True)
    (build / "venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (build / "venv" / "bin" / "python").chmod(0o755)
    for name in ("examples", "python"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    script = readme_block("A system by hand, through all of them:")
    script += readme_block("An imported one:")
    assert "cmp dydt.npy reference.npy" in script
    result = subprocess.run(
        ["bash", "-e"], input=script, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "wavesmith.ode_system" in (build / "h2o2.mlir").read_text()


@pytest.mark.parametrize("target", ["gfx90a", "gfx942"])
def test_python_of_the_readme(target):
    ws = pytest.importorskip("wavesmith")
    pytest.importorskip("cantera")
    import numpy as np

    program = readme_block(
        "From Python, with `build/python` on `PYTHONPATH` (or installed by `pip install .`):"
    )
    # What the block leaves to the reader, and its places to run.
    place = f"device='sim', target='{target}'"
    program = program.replace("robertson.rhs(y)", f"robertson.rhs(y3, {place})")
    program = program.replace("T=temperatures)", f"T=temperatures, {place})")
    program = program.replace("gfx942", target)
    folder = os.environ["WAVESMITH_CACHE_DIR"]
    path = f"{folder}/readme_{target}.py"
    with open(path, "w") as file:
        file.write(program)
    temperatures = np.array([1000.0, 1500.0])
    gas = ws.load_mechanism("gri30.yaml")
    names = {
        "y3": np.full((3, 5), 0.1),
        "temperatures": temperatures,
        "y": gas.from_mole_fractions(
            {"CH4": 1.0, "O2": 2.0, "N2": 7.5}, pressure=1e5, T=temperatures
        ),
        "text": (REPOSITORY / "examples" / "robertson.mlir").read_text(),
    }
    exec(compile(program, path, "exec"), names)
    assert names["dydt"].shape == (3, 5)
    assert names["result"].finished.all()
    assert names["kernel"].target == target


def test_architecture_shows_what_the_tools_print():
    """Each block of code below a command has lines of its output, in their order; dots
    stand for what is left out."""
    text = (DOCS / "architecture.md").read_text()
    steps = re.findall(
        r"^    ((?:wavesmith-|\.\.\. )[^\n]*)\n\n```\w*\n(.*?)^```", text, flags=re.M | re.S
    )
    assert len(steps) == 5
    command = ""
    for step, block in steps:
        command = step.replace("...", command)
        result = subprocess.run(
            ["bash", "-c", f"'{BUILD / 'bin'}'/{command}"], cwd=REPOSITORY, capture_output=True,
            text=True, check=True,
        )  # fmt: skip
        printed = iter(result.stdout.splitlines())
        for line in block.splitlines():
            pattern = re.escape(" ".join(line.split())).replace(r"\.\.\.", ".*")
            found = (re.fullmatch(pattern, " ".join(other.split())) for other in printed)
            assert line.strip() == "..." or any(found), f"{command} does not print: {line}"


def test_examples_of_masks_run():
    result = subprocess.run(
        [sys.executable, REPOSITORY / "examples" / "attention_masks.py"], capture_output=True,
        text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert len(re.findall(r"^[\w -]+ gfx9(?:0a|42)  \d+\.\d{4}$", result.stdout, flags=re.M)) == 14
