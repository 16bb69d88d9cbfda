# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text that importers write, their command line, and their errors."""

from __future__ import annotations

import math
import os
import struct
import subprocess
import sys
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers_support import REPOSITORY, verify

from wavesmith.importers import MechanismError, mlir_text
from wavesmith.importers.mlir_text import SystemWriter


def run_module(*arguments: str, prelude: str = "") -> subprocess.CompletedProcess:
    """Run the command line in a process of its own."""
    code = (
        f"import sys; sys.path.insert(0, {str(REPOSITORY / 'python')!r})\n{prelude}\n"
        "from wavesmith.importers.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_every_bit(value):
    text = mlir_text.format_float(value)
    assert struct.pack("d", float(text)) == struct.pack("d", value)
    # MLIR reads a number with a point as a float, and as nothing else.
    mantissa = text.lstrip("-").partition("e")[0]
    whole, point, fraction = mantissa.partition(".")
    assert point and whole.isdigit() and fraction.isdigit()


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1.0"), (1e-5, "1.0e-05"), (-2.5e22, "-2.5e+22"), (1e22, "1.0e+22"), (0.0, "0.0")],
)
def test_floats(value, text):
    assert mlir_text.format_float(value) == text


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_floats_are_finite(value):
    with pytest.raises(ValueError, match="expected a finite number"):
        mlir_text.format_float(value)


@pytest.mark.parametrize(
    ("powers", "text"),
    [
        ([("m", 0), ("kmol", 0), ("s", -1)], "1/s"),
        ([("m", 3), ("kmol", -1), ("s", -1)], "m^3/kmol/s"),
        ([("m", -3), ("kmol", 1), ("s", -1)], "kmol/m^3/s"),
        ([("m", "1.50"), ("kmol", "-0.5"), ("s", -1)], "m^1.5 kmol^-0.5 s^-1"),
        ([("m", "30"), ("kmol", -10), ("s", -1)], "m^30/kmol^10/s"),
        ([("m", 0)], "1"),
    ],
)
def test_units(powers, text):
    assert mlir_text.format_unit([(u, Decimal(p)) for u, p in powers]) == text


def test_orders_are_summed_as_decimals():
    assert mlir_text.decimal_sum([0.1, 0.2]) == Decimal("0.3")


def hostile_system() -> SystemWriter:
    """Names that need quoting, and a comment that would end its line."""
    names = ['a"b', "c\\d", "Ω", "CH2(S)", "x y"]
    writer = SystemWriter("odd-name", [(n, "mol/l") for n in names], [], header=["a\nb"])
    writer.comment("first\nsecond")
    k = writer.constant(0.5)
    weights = {name: 1.0 for name in reversed(names)}
    writer.term(k, "l^4/mol^4/s", weights, weights, {})
    writer.term(writer.constant(2.0), "mol/l/s", {}, {}, {"x y": 2.0, "Ω": 0.0})
    return writer


@pytest.mark.parametrize("quantity", mlir_text.QUANTITIES)
@pytest.mark.parametrize("layout", mlir_text.LAYOUTS)
def test_hostile_names_parse(quantity, layout):
    text = hostile_system().module(quantity=quantity, layout=layout)
    assert "Ω" not in text and r"\CE\A9" in text
    assert "// first second" in text
    verify(text)


def test_weights_stand_in_the_order_of_the_states():
    text = hostile_system().module()
    assert text.index('"a\\22b" = 1.0') < text.index('"x y" = 1.0')
    assert '"\\CE\\A9" = 0.0' not in text


def test_same_names_are_refused():
    with pytest.raises(MechanismError, match="two states have the name 'A'"):
        SystemWriter("s", [("A", "1"), ("A", "1")], [])


def test_negative_weights_are_refused():
    writer = SystemWriter("s", [("A", "mol/l")], [])
    with pytest.raises(ValueError, match="negative loss"):
        writer.term(writer.constant(1.0), "1/s", {"A": 1.0}, {"A": -1.0}, {})


def test_values_have_names_of_their_own():
    writer = SystemWriter("s", [("A", "mol/l")], ["T"][:0])
    first = writer.value("k(1)", "arith.constant 1.0 : f64")
    second = writer.value("k[1]", "arith.constant 2.0 : f64")
    shared = writer.constant(3.0)
    assert len({first, second, shared}) == 3
    assert writer.constant(3.0) == shared


def test_atomic_write(tmp_path):
    path = tmp_path / "out.mlir"
    path.write_text("old")
    mlir_text.write_atomically(path, "new\n")
    assert path.read_text() == "new\n"
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    assert os.listdir(tmp_path) == ["out.mlir"]


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.mlir"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        mlir_text.write_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.mlir"]


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("cantera", ["cantera", "h2o2.yaml"]),
        ("pynucastro", ["pynucastro", "--nuclides", "p,he4"]),
    ],
)
def test_missing_package_says_what_to_install(tmp_path, package, arguments):
    output = tmp_path / "out.mlir"
    run = run_module(
        *arguments, "-o", str(output), prelude=f"sys.modules[{package!r}] = None"
    )
    assert run.returncode == 1
    assert f"python -m pip install {package}" in run.stderr
    assert "Traceback" not in run.stderr
    assert not output.exists()


def test_command_line_imports_no_package_that_it_does_not_need(tmp_path):
    run = run_module(
        "fern", "--rates", "missing", "--network", "missing-too",
        "-o", str(tmp_path / "x"),
        prelude="sys.modules['cantera'] = sys.modules['pynucastro'] = None",
    )
    assert run.returncode == 1
    assert "error: cannot read 'missing-too'" in run.stderr
    assert os.listdir(tmp_path) == []


def test_command_line_reports_a_bad_output_path(tmp_path):
    pytest.importorskip("cantera")
    run = run_module("cantera", "h2o2.yaml", "-o", str(tmp_path / "no" / "out.mlir"))
    assert run.returncode == 1
    assert run.stderr.startswith("error: ") and "Traceback" not in run.stderr


def test_command_line_writes_a_module(tmp_path):
    pytest.importorskip("cantera")
    output = tmp_path / "h2o2.mlir"
    run = run_module(
        "cantera", "h2o2.yaml", "-o", str(output),
        "--layout", "aos", "--quantity", "production_loss", "--name", "h2o2",
    )
    assert run.returncode == 0, run.stderr
    text = output.read_text()
    assert "wavesmith.ode_system @h2o2 states" in text
    assert "{layout = #wavesmith.zone_layout<aos>} : (f64, tensor<?x10xf64>" in text
    verify(text)
