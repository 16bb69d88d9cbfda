# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/reference/: it is up to date, and the examples of operations and attributes are
what wavesmith-opt takes."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess

import pytest

from docs_support import BUILD, DOCS, REPOSITORY

import make_docs


def test_reference_is_up_to_date():
    stale = [str(path.relative_to(REPOSITORY)) for path in make_docs.stale(BUILD)]
    assert not stale, f"{', '.join(stale)}: not up to date, run {make_docs.COMMAND}"


def public_python():
    """Every public name of the package, and the members of public classes."""
    import wavesmith as ws

    owners = [(ws, ws.__all__)]
    for module in make_docs.MODULES:
        module = importlib.import_module(module)
        owners.append((module, getattr(module, "__all__", ())))
    for owner, names in owners:
        for name in names:
            thing = getattr(owner, name)
            if isinstance(thing, (int, float)):  # numbers of ws.math
                continue
            yield f"{owner.__name__}.{name}", thing
            if inspect.isclass(thing):
                for member, value in make_docs.members(thing):
                    yield f"{owner.__name__}.{name}.{member}", value


def test_every_public_name_has_a_docstring():
    names = dict(public_python())
    assert len(names) > 120
    missing = [name for name, thing in names.items() if not (inspect.getdoc(thing) or "").strip()]
    assert not missing


def test_docstrings_name_every_argument():
    """Of the functions whose docstring has a list of arguments, the list is whole."""
    wrong = []
    for name, thing in public_python():
        text = inspect.getdoc(thing) or ""
        if "Args:\n" not in text or isinstance(thing, property):
            continue
        section = text.split("Args:\n")[1].split("\n\n")[0]
        items = re.findall(r"^    (\*{0,2}\w[\w., ]*):", section, flags=re.M)
        listed = {name.strip("* ") for item in items for name in item.split(",")}
        taken = {p for p in inspect.signature(thing).parameters if p != "self"}
        if listed != taken:
            wrong.append((name, taken ^ listed))
    assert not wrong


def test_every_function_of_the_c_api_has_a_comment():
    """One of its own, or that of the function right above it."""
    found = 0
    for header in sorted((REPOSITORY / "include" / "wavesmith-c").glob("*.h")):
        text = header.read_text()
        for match in re.finditer(r"^WAVESMITH_API\s[^;]*?(wavesmith_\w+)\(", text, flags=re.M):
            before = text[: match.start()]
            assert before.endswith((" */\n", ");\n")), f"{header.name}: {match[1]}"
            found += 1
    assert found > 20


# Examples ------------------------------------------------------------------------


def sections(heading: str) -> dict[str, str]:
    """The text below each heading of the page of operations, by what `heading` has in
    its group."""
    page = (DOCS / "reference" / "ops.md").read_text()
    parts = re.split(rf"^{heading}$", page, flags=re.M)[1:]
    return {
        name: re.split(r"^#+ ", text, flags=re.M)[0]
        for name, text in zip(parts[::2], parts[1::2])
    }


OPERATIONS = sections(r"#### `wavesmith\.(\w+)`")
# Attributes of one word, which stand in operations without their name, have no example.
ATTRIBUTES = {
    name: text for name, text in sections(r"### (\w+Attr)").items()
    if not re.search(r"# value$", text, flags=re.M)
}  # fmt: skip


def examples(text: str) -> list[str]:
    """What stands behind `Example:`, and the blocks of MLIR; two that a blank line
    separates are two."""
    found = []
    for match in re.finditer(r"^Examples?: (`.*?)(?:\n\n|\Z)", text, flags=re.M | re.S):
        found += re.findall(r"`([^`]*)`", match[1])
    for block in re.findall(r"^```mlir\n(.*?)^```", text, flags=re.M | re.S):
        found += block.split("\n\n")
    return found


def undefined(example: str) -> list[str]:
    """The values that an example takes from outside, in the order in which it names them."""
    defined = set()
    for line in example.splitlines():
        if match := re.match(r"\s*((?:%\w+(?::\d+)?(?:, )?)+) = ", line):
            defined |= set(re.findall(r"%(\w+)", match[1]))
    for block in re.findall(r"\^\w+\((.*?)\):", example):
        defined |= set(re.findall(r"%(\w+):", block))
    return [n for n in dict.fromkeys(re.findall(r"%([a-zA-Z]\w*)", example)) if n not in defined]


#: Fragments of 32 x 32 on one wavefront, and the memory that they come from.
ALIASES = """\
#a = #wavesmith.layout<registers = [[0, 1], [0, 2]], lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], waves = []>
#b = #wavesmith.layout<registers = [[1, 0], [2, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#d = #wavesmith.layout<registers = [[1, 0], [2, 0], [8, 0], [16, 0]], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0]], waves = []>
#row = #wavesmith.layout<registers = [], lanes = [[1], [2], [4], [8], [16], [0]], waves = []>
#part = #wavesmith.layout<registers = [], lanes = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0]], waves = []>
#layout = #wavesmith.layout<registers = [[0, 1], [0, 2], [0, 4]], lanes = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], waves = []>
#load = #wavesmith.layout<registers = [[0, 1], [0, 2], [0, 4]], lanes = [[0, 8], [0, 16], [0, 32], [0, 64], [1, 0], [2, 0]], waves = []>
#operand = #a
#lds = #wavesmith.lds_layout<contiguous = 1, padding = 8>
"""
#: What the operations of a workgroup take, by the name that their example gives it. A
#: type is an argument of the function, the rest stands before the example.
VALUES = {
    "load_zones": {"y": "memref<53x?xf64>", "c3": "index"},
    "store_zones": {
        "v": "arith.constant dense<1.0> : tensor<64xf64>",
        "out": "memref<53x?xf64>",
        "c3": "index",
    },
    "table": {},
    "load_zone": {"in": "memref<150x?xf64>", "time": "memref<?xf64>"},
    "store_zone": {
        "y": "arith.constant dense<1.0> : tensor<150xf64>",
        "out": "memref<150x?xf64>",
    },
    "stage": {
        "y": "arith.constant dense<1.0> : tensor<150xf64>",
        "table": "wavesmith.table dense<1> : tensor<2704xi32>",
    },
    "replicate": {"p": "wavesmith.table dense<1.0> : tensor<150xf64>"},
    "gather": {
        "y": "wavesmith.table dense<1.0> : tensor<150xf64>",
        "at": "wavesmith.table dense<149> : tensor<1604xi32>",
    },
    "segmented_reduce": {
        "v": "arith.constant dense<1.0> : tensor<7xf64>",
        "w": "arith.constant dense<1.0> : tensor<7xf64>",
        "zero": "arith.constant 0.0 : f64",
    },
    "load_tile": {"A": "memref<?x?xf16, strided<[?, 1], offset: ?>>", "i": "index", "k": "index"},
    "store_tile": {
        "c": "arith.constant dense<1.0> : tensor<128x64xf32, #layout>",
        "C": "memref<?x?xf32, strided<[?, 1], offset: ?>>",
        "i": "index",
        "j": "index",
    },
    "gather_tile": {
        "table": "memref<?xf32>",
        "at": "arith.constant dense<1> : tensor<64x128xi64, #d>",
    },
    "stage_tile": {
        "k": "arith.constant dense<1.0> : tensor<64x128xf16, #load>",
        "k1": "arith.constant dense<1.0> : tensor<64x128xf16, #load>",
        "s": "wavesmith.stage_tile %k : tensor<64x128xf16, #load> -> tensor<64x128xf16, #lds>",
    },
    "read_tile": {
        "k": "arith.constant dense<1.0> : tensor<64x128xf16, #load>",
        "s": "wavesmith.stage_tile %k : tensor<64x128xf16, #load> -> tensor<64x128xf16, #lds>",
    },
    "dot": {
        "a": "arith.constant dense<1.0> : tensor<64x32xf16, #a>",
        "b": "arith.constant dense<1.0> : tensor<32x32xf16, #b>",
        "c": "arith.constant dense<1.0> : tensor<64x32xf32, #d>",
    },
    "reduce_tile": {"s": "arith.constant dense<1.0> : tensor<64x32xf32, #d>"},
    "any_tile": {"grows": "arith.constant dense<1> : tensor<2x128xi1, #part>"},
    "broadcast_tile": {"m": "arith.constant dense<1.0> : tensor<32xf32, #row>"},
    "tile_position": {},
}
TILES = {name for name in VALUES if "tile" in name} | {"dot"}
ZONE_THREADS = {"load_zone", "store_zone", "stage", "replicate", "gather", "segmented_reduce"}


def in_function(name: str, example: str, values: dict[str, str]) -> str:
    """The operation in a workgroup of a function of the memory that it takes."""
    arguments = {n: v for n, v in values.items() if v.startswith(("memref", "index"))}
    prelude = [f"%{n} = {v}" for n, v in values.items() if n not in arguments]
    opening = "wavesmith.workgroup zones %zones size 64 {"
    if name in ZONE_THREADS:
        opening = "wavesmith.workgroup zones %zones size 256 threads_per_zone 256 {"
    if name in TILES:
        opening = "wavesmith.grid_workgroup affine_map<(n) -> (n)>(%zones) waves 1 {\n"
        opening += "^bb0(%x: index):"
    # Two that an example gives side by side do not name the value that both make.
    shown = [line for line in prelude if f"{line.split(' = ')[0]} = " not in example]
    taken = ", ".join(f"%{n}: {t}" for n, t in {**arguments, "zones": "index"}.items())
    body = "\n".join([opening, *shown, example, "}"])
    return f"{ALIASES}func.func @f({taken}) {{\n{body}\nreturn\n}}\n"


def in_system(example: str) -> str:
    """A rate or a term among the states and numbers that it names."""
    # What stands behind a colon is the unit.
    names = re.findall(r'"([^"]+)"', re.sub(r': "[^"]*"', "", example))
    parameters = undefined(example)
    lines = [f'%{name} = wavesmith.parameter "{name}"' for name in parameters]
    units = {"T": "K", "P": "Pa"}
    declared = ", ".join(
        f'"{n}" : "{units.get(n, "1")}"' for n in dict.fromkeys([*parameters, *names])
    )
    states = ", ".join(f'"{n}" : "kmol/m^3"' for n in dict.fromkeys(names)) or '"A" : "kmol/m^3"'
    return (f'wavesmith.ode_system @s states [{states}] parameters [{declared}] time "s" {{\n'
            + "\n".join([*lines, example]) + "\n}\n")  # fmt: skip


def of_system(example: str) -> str:
    """A quantity of a system, whose operands have the types behind the colon."""
    types, depth, start = [], 0, 0
    inside = re.search(r":\s*\((.*?)\)\s*->", example, flags=re.S)[1]
    for i, character in enumerate(inside + ","):
        depth += (character in "<[") - (character in ">]")
        if character == "," and not depth:
            types.append(" ".join(inside[start:i].split()))
            start = i + 1
    arguments = ", ".join(f"%{n}: {t}" for n, t in zip(undefined(example), types, strict=True))
    text = f"func.func @f({arguments}) {{\n{example}\nreturn\n}}\n"
    # As many terms as `ode_term_values` has in its example.
    terms = "%k = arith.constant 1.0 : f64\n"
    terms += 58 * 'wavesmith.term %k : "mol/g/s" gain ["H1" = 1.0]\n'
    for name, states, parameters in (("h2o2", 10, 1), ("net", 2, 2)):
        named = ", ".join(f'"{n}" : "mol/g"' for n in ["H1", "He4", *"abcdefgh"][:states])
        given = ", ".join(f'"p{i}" : "1"' for i in range(parameters))
        text += f"wavesmith.ode_system @{name} states [{named}] parameters [{given}] "
        text += f'time "s" {{\n{terms}}}\n'
    return text


def in_context(name: str, example: str) -> str:
    """A module in which the example of an operation is whole."""
    # A line of dots stands for operations that the example leaves out.
    example = "\n".join(line for line in example.splitlines() if line.strip() != "...")
    if name == "ode_system":
        return example
    if name == "yield":
        whole = examples(OPERATIONS["segmented_reduce"])[0]
        assert example in whole
        return in_context("segmented_reduce", whole)
    if name == "attention" or name.startswith("ode_"):
        return of_system(example)
    if name == "workgroup":
        memory = re.search(r"%in\S* : (memref<.*?>)", example)[1]
        arguments = f"%num_zones: index, %in: {memory}, %out: {memory}"
        return f"func.func @f({arguments}) {{\n{example}\nreturn\n}}\n"
    if name == "grid_workgroup":
        return f"func.func @f(%m: index, %n: index) {{\n{example}\nreturn\n}}\n"
    if name in VALUES:
        return in_function(name, example, VALUES[name])
    return in_system(example)


def parse(text: str, *options: str) -> str:
    result = subprocess.run(
        [BUILD / "bin" / "wavesmith-opt", *options], input=text, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, f"{result.stderr}\n{text}"
    return result.stdout


@pytest.mark.parametrize("name", OPERATIONS)
def test_examples_of_operations_parse(name):
    found = examples(OPERATIONS[name])
    assert found, f"the description of wavesmith.{name} has no example"
    for example in found:
        assert f"wavesmith.{name}" in example, example
        printed = parse(in_context(name, example))
        assert f"wavesmith.{name}" in printed
        # What it prints is read again, and printed alike.
        assert parse(printed) == printed


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_examples_of_attributes_parse(name):
    found = [e for e in re.findall(r"`([^`\n]*)`", ATTRIBUTES[name]) if "#wavesmith." in e]
    assert found, f"the description of {name} has no example"
    for example in found:
        use = f'"test.use"() {{use = {example}}} : () -> ()'
        printed = parse(use, "--allow-unregistered-dialect")
        assert "#wavesmith." in printed


def test_every_operation_is_in_the_reference():
    sources = (REPOSITORY / "include/wavesmith/Dialect/Wavesmith/IR").glob("*.td")
    names = {name for path in sources
             for name in re.findall(r'Op<\s*"(\w+)"', path.read_text())}  # fmt: skip
    assert len(names) > 40 and names == set(OPERATIONS)


# Passes ---------------------------------------------------------------------------

PASSES = dict(re.findall(r"^### `-([\w-]+)`\n(.*?)(?=^###? |\Z)",
                         (DOCS / "reference" / "passes.md").read_text(), flags=re.M | re.S))  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
def test_passes_show_what_they_do(name):
    text = PASSES[name]
    assert re.search(r"^Before\b", text, flags=re.M)
    assert re.search(r"^After\b", text, flags=re.M)
    assert re.search(r"^Lit tests: \[", text, flags=re.M), "no lit test runs it by its flag"


def test_every_pass_is_in_the_reference():
    sources = (REPOSITORY / "include").rglob("Passes.td")
    names = {name for path in sources
             for name in re.findall(r'Pass<"([\w-]+)"', path.read_text())}  # fmt: skip
    assert len(names) > 15 and names == set(PASSES)
