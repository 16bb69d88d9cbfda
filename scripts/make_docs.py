# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/reference/ from the sources: run it after a change of a description.

    PYTHONPATH=build/python build/venv/bin/python scripts/make_docs.py

- ops.md: operations and attributes, by mlir-tblgen from the .td files.
- passes.md: passes, likewise, each with its lit tests.
- python.md: the public names of the Python package, from signatures and docstrings.
- tools.md: what the tools say with --help.

With --check it writes nothing, and ends with status 1 if a file would change.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import inspect
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
LLVM = Path("/usr/lib/llvm-22")
#: What a test tells to run.
COMMAND = "PYTHONPATH=build/python build/venv/bin/python scripts/make_docs.py"

DIALECT = "include/wavesmith/Dialect/Wavesmith/IR/WavesmithOps.td"
#: Passes by what they are for: the file, and which of its passes.
PASSES = {
    "Between levels": "include/wavesmith/Conversion/Passes.td",
    "On the dialect": "include/wavesmith/Dialect/Wavesmith/Transforms/Passes.td",
}
TOOLS = {
    "wavesmith-compile": ["wavesmith-compile"],
    "wavesmith-run": ["wavesmith-run"],
    "wavesmith-evaluate": ["wavesmith-evaluate"],
    "wavesmith-validate": ["wavesmith-validate"],
    "python -m wavesmith": ["python", "-m", "wavesmith"],
    "python -m wavesmith compile": ["python", "-m", "wavesmith", "compile"],
    "python -m wavesmith cache": ["python", "-m", "wavesmith", "cache"],
    "python -m wavesmith.importers": ["python", "-m", "wavesmith.importers"],
}
#: The modules whose names `wavesmith` has, in the order of the page.
PYTHON = {
    "wavesmith.system": "Systems",
    "wavesmith.language": "The words of a system",
    "wavesmith._attention": "Attention",
    "wavesmith.kernel": "Compiled kernels and devices",
    "wavesmith.tuning": "Schedules",
    "wavesmith.errors": "Errors",
}
#: What users get from names of `wavesmith`, and do not make.
MORE = {"wavesmith.kernel": ["Stages"]}
#: Modules that are used by their own name.
MODULES = ("wavesmith.math", "wavesmith.testing", "wavesmith.simulator", "wavesmith.importers",
           "wavesmith.cache")  # fmt: skip


def header(title: str, source: str) -> str:
    return f"<!-- Written by scripts/make_docs.py from {source}; do not edit. -->\n\n# {title}\n"


def anchor(heading: str) -> str:
    """The name that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


# ---------------------------------------------------------------------------
# TableGen
# ---------------------------------------------------------------------------


def tablegen(generator: str, file: str) -> str:
    """What mlir-tblgen writes, without its first line and its mark for a contents."""
    text = subprocess.run(
        [LLVM / "bin" / "mlir-tblgen", *generator.split(), "-I", ROOT / "include",
         "-I", LLVM / "include", ROOT / file],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    text = text.split("\n", 1)[1].replace("[TOC]\n", "")
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def ops() -> str:
    text = tablegen("-gen-dialect-doc -dialect=wavesmith", DIALECT)
    title, text = text.split("\n", 1)
    assert title == "# 'wavesmith' Dialect", title
    # The C++ class is easier to read below the name than in the heading.
    text = re.sub(r"^(#### `[\w.]+`) \(::(\w+::\w+)\)$", r"\1\n\nIn C++: `\2`", text, flags=re.M)
    before, after = text.split("## Operations\n", 1)
    contents = []
    for line in after.split("\n## Attributes\n")[0].splitlines():
        if line.startswith("### "):
            contents.append(f"- {line[4:]}: ")
        elif line.startswith("#### `wavesmith."):
            name = line[6:-1]
            contents[-1] += ("" if contents[-1].endswith(": ") else ", ") + (
                f"[{name[len('wavesmith.'):]}](#{anchor(name)})"
            )
    return (
        header("The dialect `wavesmith`", Path(DIALECT).parent.as_posix() + "/*.td")
        + before + "\n".join(contents) + "\n\n## Operations\n" + after
    )  # fmt: skip


def lit_tests() -> dict[str, list[str]]:
    """The lit tests of each pass, by its flag, from their RUN lines."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "test").rglob("*.mlir")):
        flags = set()
        for line in path.read_text().splitlines():
            if "RUN:" in line and "wavesmith-opt" in line:
                # Also in the text of a pipeline.
                flags |= set(re.findall(r"(?<![/\w])(?:convert-)?wavesmith-[a-z-]+", line))
        for flag in flags:
            found.setdefault(flag, []).append(path.relative_to(ROOT).as_posix())
    return found


def passes() -> str:
    tests = lit_tests()
    parts = [header("Passes", "the files Passes.td"),
             "Each has a flag of `wavesmith-opt`. `wavesmith-compile` runs them in the order of "
             "[architecture.md](../architecture.md); `--passes` chooses among the optional "
             "ones.\n"]  # fmt: skip
    for title, file in PASSES.items():
        text = tablegen("-gen-pass-doc", file)
        parts.append(f"## {title}\n")
        for section in re.split(r"^(?=### )", text, flags=re.M)[1:]:
            flag = re.match(r"### `-([\w-]+)`", section)[1]
            links = ", ".join(f"[{path}](../../{path})" for path in tests.get(flag, ()))
            parts.append(section.strip() + "\n\n" + f"Lit tests: {links or 'none'}\n")
    return "\n".join(parts)


# ---------------------------------------------------------------------------
# Python
# ---------------------------------------------------------------------------


def docstring(thing: object) -> str:
    """A docstring as Markdown: its sections become lists."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    out: list[str] = []
    section = None
    for line, after in zip(lines, [*lines[1:], ""]):
        if re.match(r"[A-Z].*:$", line) and after.startswith("    "):
            section = line[:-1]
            out += [f"**{section}**", ""]
        elif section and line and not line.startswith(" "):
            section = None
            out.append(line)
        elif section == "Returns":
            out.append(line[4:])
        elif section:
            if item := re.match(r"    (\*{0,2}\w[\w., ]*): (.*)", line):
                names = ", ".join(f"`{name}`" for name in item[1].split(", "))
                out.append(f"- {names}: {item[2]}")
            else:
                out.append("  " + line.strip())
        else:
            out.append(line)
    return "\n".join(line.rstrip() for line in out).strip()


class _Annotation:
    """An annotation as it was written, without quotes."""

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def signature(name: str, function: object, method: bool = False) -> str:
    """How a function is called; of a class, how one is made."""
    found = inspect.signature(function)
    written = []
    for p in list(found.parameters.values())[1 if method else 0 :]:
        if isinstance(p.annotation, str):
            p = p.replace(annotation=_Annotation(p.annotation))
        if p.default is not p.empty and len(repr(p.default)) > 60:
            p = p.replace(default=...)
        written.append(p)
    inner = str(inspect.Signature(written))[1:-1].replace("Ellipsis", "...")
    result = found.return_annotation
    end = "" if inspect.isclass(function) or result is found.empty else f" -> {result}"
    line = f"{name}({inner}){end}"
    if len(line) > 88:
        parts = split_arguments(inner)
        line = f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"
    return f"```python\n{line}\n```"


def split_arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "[({") - (character in "])}")
        if character == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [*parts, text[start:].strip()]


def attributes(thing: type) -> list[tuple[str, str]]:
    """Names with a comment `#:` above them, in the class or its __init__."""
    try:
        lines = textwrap.dedent(inspect.getsource(thing)).splitlines()
    except (OSError, TypeError):
        return []
    found, comment = [], []
    for line in lines:
        if match := re.match(r"\s*#: ?(.*)", line):
            comment.append(match[1])
        elif comment:
            if match := re.match(r"\s*(?:self\.)?([a-z]\w*)\s*[:=]", line):
                found.append((match[1], " ".join(comment)))
            elif match := re.match(r"\s*([A-Z]\w*)\s*=", line):
                found.append((match[1], " ".join(comment)))
            comment = []
    return found


def members(thing: type) -> list[tuple[str, object]]:
    """The public methods and properties that a class or its own bases define."""
    found = {}
    for base in reversed(thing.__mro__):
        if not base.__module__.startswith("wavesmith"):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") and name != "__call__":
                continue
            if inspect.isfunction(member) or isinstance(member, (property, classmethod)):
                found[name] = member
    return list(found.items())


def describe(name: str, thing: object, level: str) -> str:
    """A public name: its signature, its docstring, and the members of a class."""
    parts = [f"{level} `{name}`", ""]
    if inspect.isclass(thing):
        if is_made_by_users(thing):
            parts += [signature(name, thing), ""]
        parts += [docstring(thing), ""]
        parts += [f"- `{attribute}`: {text}" for attribute, text in attributes(thing)]
        if issubclass(thing, enum.Enum):
            parts += [f"- `{member.name}` = {member.value}" for member in thing]
        parts.append("")
        for member, value in members(thing):
            if isinstance(value, property):
                parts += [f"{level}# `{name}.{member}`", "", docstring(value.fget), ""]
                continue
            function = value.__func__ if hasattr(value, "__func__") else value
            called = f"{name}.{member}"
            if member == "__call__":
                called = {"CompiledModule": "module"}.get(name, name.lower())
            parts += [f"{level}# `{called}{'()' * (member == '__call__')}`", "",
                      signature(called, function, method=True), "", docstring(function), ""]  # fmt: skip
    elif callable(thing):
        parts += [signature(name, thing), "", docstring(thing), ""]
    else:
        parts += [f"`{thing!r}`", ""]
    return "\n".join(parts)


def is_made_by_users(thing: type) -> bool:
    """Whether users call the class: its docstring has arguments, or it is a record."""
    return "Args:" in (inspect.getdoc(thing) or "") or hasattr(thing, "__dataclass_fields__")


def python() -> str:
    import wavesmith as ws

    parts = [header("The Python package", "its docstrings"),
             "`import wavesmith as ws`; the tutorial is "
             "[tutorial-python.md](../tutorial-python.md).\n"]  # fmt: skip
    for module, title in PYTHON.items():
        parts.append(f"## {title}\n")
        for name in [*ws._PLACES[module], *MORE.get(module, ())]:
            thing = getattr(importlib.import_module(module), name)
            parts.append(describe(name, thing, "###"))
    for name in MODULES:
        module = importlib.import_module(name)
        short = name.removeprefix("wavesmith.")
        parts.append(f"## `ws.{short}`\n\n{docstring(module)}\n")
        if short == "math":
            parts.append(", ".join(f"`{n}`" for n in module.__all__) + "\n")
            continue
        for public in getattr(module, "__all__", ()):
            if public in ws.__all__:
                continue
            parts.append(describe(public, getattr(module, public), "###"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip() + "\n"


# ---------------------------------------------------------------------------
# Tools
# ---------------------------------------------------------------------------


def tools(build: Path) -> str:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(
        [str(build / "python"), str(ROOT / "python")])}  # fmt: skip
    parts = [header("Tools", "their `--help`"),
             "`wavesmith-opt` has MLIR's options and a flag for each pass: "
             "[passes.md](passes.md).\n"]  # fmt: skip
    for title, command in TOOLS.items():
        program = sys.executable if command[0] == "python" else str(build / "bin" / command[0])
        text = subprocess.run(
            [program, *command[1:], "--help"], check=True, capture_output=True, text=True,
            env=environment,
        ).stdout  # fmt: skip
        text = "\n".join(line.rstrip() for line in text.splitlines()).strip()
        parts.append(f"## `{title}`\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


# ---------------------------------------------------------------------------


def reference(build: Path) -> dict[Path, str]:
    """All files of the reference, with what has to stand in them."""
    return {
        FOLDER / "ops.md": ops(),
        FOLDER / "passes.md": passes(),
        FOLDER / "python.md": python(),
        FOLDER / "tools.md": tools(build),
    }


def stale(build: Path) -> list[Path]:
    """The files that have to be written again, or that should not be there."""
    wanted = reference(build)
    changed = [p for p, text in wanted.items() if not p.is_file() or p.read_text() != text]
    return changed + [p for p in sorted(FOLDER.glob("*")) if p not in wanted]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; status 1 if a file would change")  # fmt: skip
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    changed = stale(build)
    if options.check:
        for path in changed:
            print(f"{path.relative_to(ROOT)} is not up to date; run: {COMMAND}", file=sys.stderr)
        return 1 if changed else 0
    FOLDER.mkdir(exist_ok=True)
    wanted = reference(build)
    for path in changed:
        if path in wanted:
            path.write_text(wanted[path])
        else:
            path.unlink()
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
