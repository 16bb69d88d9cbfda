# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as such: its names, stubs and documentation; its benchmark."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
import typing
from pathlib import Path

import numpy as np
import pytest

from conftest import REPOSITORY
from test_binding import ws

PACKAGE = Path(ws.__file__).resolve().parent


def test_names_and_stubs():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    names = {alias.name for node in stub.body if isinstance(node, ast.ImportFrom)
             for alias in node.names}  # fmt: skip
    assert names == set(ws.__all__)
    for name in ws.__all__:
        thing = getattr(ws, name)
        assert name in dir(ws)
        documented = getattr(thing, "__doc__", None) or inspect.ismodule(thing)
        assert documented, name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ws.nothing
    assert (PACKAGE / "py.typed").exists()


def interface(stub: str) -> dict:
    """Of each function and method of a stub the types of its parameters and of its
    result, without what brackets add; of each property its type."""

    def plain(node: ast.expr | None) -> str | None:
        text = node and ast.unparse(node).split("[")[0].split(".")[-1]
        return "Any" if text == "object" else text

    def of(body: list[ast.stmt], prefix: str = "") -> dict:
        found: dict = {}
        for node in body:
            if isinstance(node, ast.ClassDef):
                found[prefix + node.name] = [plain(base) for base in node.bases]
                found |= of(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.FunctionDef):
                types = [plain(a.annotation) for a in node.args.posonlyargs + node.args.args]
                found[prefix + node.name] = (*types, "->", plain(node.returns))
        return found

    return of(ast.parse(stub).body)


def test_stub_of_the_binding():
    """Against the types that nanobind takes from the C++ code."""
    from wavesmith import _wavesmith

    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_wavesmith)
    generator.put(_wavesmith)
    wanted = interface(generator.get())
    assert "run" in wanted and "Report.json" in wanted
    assert interface((PACKAGE / "_wavesmith.pyi").read_text()) == wanted


def test_types_of_the_package():
    """The stub of the package sends names where the package looks for them, and the
    annotations there have a meaning."""
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text())
    places = {alias.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom)
              for alias in node.names}  # fmt: skip
    assert places == {**ws._ORIGIN, **dict.fromkeys(ws._MODULES, "wavesmith")}
    checked = 0
    for name in ws.__all__:
        thing = getattr(ws, name)
        if inspect.ismodule(thing):
            continue
        if inspect.isclass(thing):
            methods = [m for n, m in vars(thing).items() if inspect.isfunction(m)
                       and (not n.startswith("_") or n in ("__init__", "__call__"))]  # fmt: skip
        else:
            methods = [thing] if inspect.isfunction(thing) else []
        for function in methods:
            typing.get_type_hints(function)
            checked += 1
    assert checked > 30


def test_words_have_their_methods():
    from wavesmith import language
    from wavesmith.reader import Reader

    words = {n for n, v in vars(language).items() if isinstance(v, language.Word)}
    methods = {n[len("_word_") :] for n in vars(Reader) if n.startswith("_word_")}
    assert words == methods and words <= set(ws.__all__)


def test_functions_of_ws_math():
    import math

    from wavesmith.reader import _MATH

    assert set(_MATH) | {"where", "e", "pi", "inf", "nan"} == set(ws.math.__all__)
    assert ws.math.cbrt(-27.0) == pytest.approx(-3.0) and ws.math.exp2(3.0) == 8.0
    assert ws.math.fma(0.1, 10.0, -1.0) == 2.0**-54
    assert ws.math.fma(math.inf, 1.0, 0.0) == math.inf
    assert ws.math.minimum(1.0, 2.0) == 1.0 and math.isnan(ws.math.maximum(1.0, math.nan))
    assert ws.math.where(True, 1.0, 2.0) == 1.0


def test_every_function_of_ws_math_in_a_kernel():
    """On the device, against Python's."""
    import math

    @ws.ode_system
    def functions(x: ws.State, y: ws.Parameter):
        m = ws.math
        ws.term(m.acos(x), products=x)
        ws.term(m.acosh(1.0 + x), products=x)
        ws.term(m.asin(x), products=x)
        ws.term(m.asinh(x), products=x)
        ws.term(m.atan(x), products=x)
        ws.term(m.atan2(x, y), products=x)
        ws.term(m.atanh(x), products=x)
        ws.term(m.cbrt(x), products=x)
        ws.term(m.ceil(y), products=x)
        ws.term(m.copysign(x, -y), products=x)
        ws.term(m.cos(x), products=x)
        ws.term(m.cosh(x), products=x)
        ws.term(m.erf(x), products=x)
        ws.term(m.erfc(x), products=x)
        ws.term(m.exp(x), products=x)
        ws.term(m.exp2(x), products=x)
        ws.term(m.expm1(x), products=x)
        ws.term(m.fabs(-x), products=x)
        ws.term(m.floor(y), products=x)
        ws.term(m.fma(x, y, 2.0), products=x)
        ws.term(m.fmod(y, x), products=x)
        ws.term(1.0 if m.isfinite(x) else 2.0, products=x)
        ws.term(1.0 if m.isinf(x) else 2.0, products=x)
        ws.term(1.0 if not m.isnan(x) else 2.0, products=x)
        ws.term(m.log(x), products=x)
        ws.term(m.log10(x), products=x)
        ws.term(m.log1p(x), products=x)
        ws.term(m.log2(x), products=x)
        ws.term(m.maximum(x, y), products=x)
        ws.term(m.minimum(x, y), products=x)
        ws.term(m.pow(x, y), products=x)
        ws.term(m.sin(x), products=x)
        ws.term(m.sinh(x), products=x)
        ws.term(m.sqrt(x), products=x)
        ws.term(m.tan(x), products=x)
        ws.term(m.tanh(x), products=x)
        ws.term(m.trunc(-y), products=x)
        ws.term(m.where(x < y, 3.0, x), products=x)

    x, y = 0.3, 1.7
    _, got = functions.term_values(y, [x], device="sim")
    wanted = [
        math.acos(x), math.acosh(1 + x), math.asin(x), math.asinh(x), math.atan(x),
        math.atan2(x, y), math.atanh(x), x ** (1 / 3), 2.0, -x, math.cos(x), math.cosh(x),
        math.erf(x), math.erfc(x), math.exp(x), 2**x, math.expm1(x), x, 1.0, x * y + 2.0,
        math.fmod(y, x), 1.0, 2.0, 1.0, math.log(x), math.log10(x), math.log1p(x), math.log2(x),
        y, x, x**y, math.sin(x), math.sinh(x), math.sqrt(x), math.tan(x), math.tanh(x), -1.0, 3.0,
    ]  # fmt: skip
    np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_benchmark(tmp_path):
    """That it runs, and what it writes; times are not tested."""
    run = subprocess.run(
        [sys.executable, REPOSITORY / "bench" / "bench-python.py", "--mechanism=h2o2.yaml",
         "--milliseconds=5", f"--json={tmp_path / 'times.json'}"],
        capture_output=True, text=True, env={"PYTHONPATH": str(Path(ws.__file__).parents[1])},
    )  # fmt: skip
    if "cantera" in run.stderr and run.returncode:
        pytest.skip("cantera is not installed")
    assert run.returncode == 0, run.stderr[-3000:]
    rows = json.loads((tmp_path / "times.json").read_text())
    assert list(rows) == [
        "cached_compile_milliseconds",
        "kernel_launch_overhead_microseconds", "kernel_launch_simulation_microseconds",
        "system_launch_overhead_microseconds", "system_launch_simulation_microseconds",
        "attention_launch_overhead_microseconds", "attention_launch_simulation_microseconds",
        "flex_attention_launch_overhead_microseconds",
        "flex_attention_launch_simulation_microseconds",
    ]  # fmt: skip
    assert all(value > 0.0 for value in rows.values())
    assert len(run.stdout.splitlines()) == len(rows)
