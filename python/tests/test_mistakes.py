# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Typical mistakes in Python, and what users are told: the file, the line, a caret
under the expression, and what to do."""

from __future__ import annotations

import importlib.util
import itertools
import textwrap

import numpy as np
import pytest

ws = pytest.importorskip("wavesmith")

_numbers = itertools.count()
HEAD = """\
import math
import numpy as np
import wavesmith as ws

"""


def load(folder, body: str):
    """A module with this text; errors while it is imported come through."""
    path = folder / f"model_{next(_numbers)}.py"
    path.write_text(HEAD + textwrap.dedent(body))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mistake(folder, body: str) -> tuple[ws.CompileError, list[str]]:
    with pytest.raises(ws.CompileError) as caught:
        load(folder, body)
    error = caught.value
    assert isinstance(error, ValueError)
    text = str(error)
    assert "wavesmith.ode_system" not in text and "loc(" not in text, text
    return error, text.splitlines()


SYSTEM = """\
@ws.ode_system
def net(A: ws.State("mol/l"), B: ws.State("mol/l"), T: ws.Parameter("K"), t: ws.Time("s")):
    k = 2.0 * T
    {line}
"""

#: The line of the mistake, what is underlined, the message, the remedy.
CASES = {
    "unknown state in an equation": (
        'ws.reaction(k, "A -> C")', '"A -> C"', "unknown state 'C'",
        "the states are A, B",
    ),
    "unknown state in weights": (
        'ws.term(k, reactants={"A": 1, "Bb": 2})', '"Bb"', "unknown state 'Bb'",
        "did you mean 'B'? the states are A, B",
    ),
    "no blanks around plus": (
        'ws.reaction(k, "A+B -> A")', '"A+B -> A"', "unknown state 'A+B'",
        "put blanks around '+' in an equation",
    ),
    "no arrow": (
        'ws.reaction(k, "A = B")', '"A = B"',
        "the equation 'A = B' is not of the form 'A + B -> C'",
        "write one '->' between reactants and products, or '<=>' with reverse=",
    ),
    "no reverse rate": (
        'ws.reaction(k, "A <=> B")', '"A <=> B"',
        "the equation is reversible, but there is no reverse rate coefficient",
        "give reverse=, or write '->'",
    ),
    "parameter as a reactant": (
        "ws.term(k, reactants={T: 1})", "T", "expected a state, got <parameter T>",
        "states are: A, B",
    ),
    "negative weight": (
        'ws.term(k, reactants={"A": 1}, products={"B": -1})', "-1",
        "products: the weight of 'B' is negative, -1",
        "swap it to the other side: what is used up is a reactant, what is made is a product",
    ),
    "weight of the zone": (
        'ws.term(k, reactants={"A": T})', "T",
        "reactants: the weight of 'A' depends on values of the zone",
        "multiply the rate coefficient by it",
    ),
    "term of nothing": (
        'ws.term(k, orders={"A": 1})', 'ws.term(k, orders={"A": 1})',
        "a term changes no state", 'give reactants={"A": 1} or products={"B": 1}, or both',
    ),
    "unit that does not fit": (
        'ws.reaction(k, "A -> B", unit="l/mol/s")', 'ws.reaction(k, "A -> B", unit="l/mol/s")',
        "term: inconsistent units: coefficient times factors is s^-1, but the change of "
        'state "A" is',
        "check the units of the states; without unit= the coefficient has the one that fits",
    ),
    "unknown unit": (
        'ws.reaction(k, "A -> B", unit="1/sec")', '"1/sec"',
        "ValueError: unit '1/sec': unknown unit 'sec'", None,
    ),
    "unknown keyword": (
        'ws.term(k, reagents={"A": 1})', 'ws.term(k, reagents={"A": 1})',
        "ws.term: got an unexpected keyword argument 'reagents'",
        "it is ws.term(k, *, reactants=None, products=None, orders=None, unit=None)",
    ),
    "if on the zone": (
        "if T > 300.0: k = 1.0", "T > 300.0",
        "the condition depends on values of the zone, which are not known when the system "
        "is built",
        "choose between values instead: `x = a if condition else b`",
    ),
    "while on the zone": (
        "while A < 1.0: k = 1.0", "A < 1.0",
        "the condition depends on values of the zone, which are not known when the system "
        "is built",
        "loop over data that Python knows: `for i in range(n)`",
    ),
    "loop over the zone": (
        "for a in A: pass", "A", "cannot loop over <state A>",
        "loop over a list, a range or other data that Python knows when the system is built",
    ),
    "index of the zone": (
        "k = [1.0, 2.0][T]", "T",
        "the index depends on values of the zone, which are not known when the system is built",
        "index by what Python knows; choose by `a if condition else b`",
    ),
    "assign to a state": (
        "A = 2.0", "A", "the state 'A' cannot be assigned",
        "use another name; states change by ws.term and ws.reaction",
    ),
    "unsupported construct": (
        "with open('rates.txt') as f: pass", "with open('rates.txt') as f: pass",
        "`with` is not supported in a system",
        "read files and the like outside of the system, and use the result here",
    ),
    "try": (
        "try: k = 1.0\n    except ValueError: pass", "try: k = 1.0",
        "`try` is not supported in a system", "handle errors outside of the system",
    ),
    "import": (
        "import os", "import os", "`import` is not supported in a system",
        "import at the top of the file",
    ),
    "name that is not defined": (
        "ws.reaction(kk, 'A -> B')", "kk", "the name 'kk' is not defined",
        "did you mean 'k'?",
    ),
    "word that does not exist": (
        "ws.reactoin(k, 'A -> B')", "ws.reactoin", "the module 'wavesmith' has no 'reactoin'",
        "did you mean 'reaction'?",
    ),
    "function that kernels lack": (
        "k = math.gamma(T)", "math.gamma(T)", "'gamma' does not take numbers of the zone",
        "ws.math has acos, acosh",
    ),
    "foreign function": (
        "k = np.interp(T, [0, 1], [2, 3])", "np.interp(T, [0, 1], [2, 3])",
        "'interp' ", None,
    ),
    "modulo": (
        "k = T % 2", "T % 2", "`%` does not take numbers of the zone",
        "use ws.math.fmod(a, b), whose result has the sign of a",
    ),
    "caret for a power": (
        "k = T ^ 2", "T ^ 2", "`^` does not take numbers of the zone", "write powers as `x**2`",
    ),
    "text in arithmetic": (
        "k = T * '2'", "'2'", "`*` takes numbers, got '2'", None,
    ),
    "condition as a number": (
        "k = 2.0 * (T > 300.0)", "2.0 * (T > 300.0)", "expected a number, got a condition",
        "choose a number by it: `a if condition else b`",
    ),
    "parenthesis for a product": (
        "k = T(2.0)", "T(2.0)", "<parameter T> cannot be called", "write `*` for a product",
    ),
    "attribute of the zone": (
        "k = [1.0, 2.0, 3.0][3]", "[1.0, 2.0, 3.0][3]", "IndexError: list index out of range", None,
    ),
    "number that is not finite": (
        "ws.reaction(math.inf, 'A -> B')", "math.inf", "expected a finite number, got inf", None,
    ),
    "rate with values of the zone": (
        "k = ws.arrhenius(T, A, 0.0, 100.0)", "A",
        "ws.arrhenius: 'A' has to be known when the system is built, got <state A>",
        "write the formula out with ws.math",
    ),
    "rows of a wrong length": (
        "k = ws.reaclib(T, [[1.0, 2.0]])", "[[1.0, 2.0]]",
        "ws.reaclib: expected 7 numbers for 'sets', got 2", None,
    ),
    "result of another array": (
        "d = np.zeros(2); d[0] = T", "d[0]",
        "an array has numbers only, it cannot keep values of the zone",
        "keep them in a list or a dictionary",
    ),
    "array of the zone": (
        "k = np.array([A, B])", "np.array([A, B])", "'array' does not take numbers of the zone",
        "arrays are of numbers only: use lists, loops and `sum`; ws.math has ",
    ),
    "array times the zone": (
        "k = np.array([1.0, 2.0]) * T", "np.array([1.0, 2.0])", "`*` takes numbers, got array",
        "take one of its numbers, or make a list: `[x * A for x in array]`",
    ),
    "power that is not finite": (
        "k = T ** math.inf", "T ** math.inf", "expected a finite number, got inf", None,
    ),
    "text of a state": (
        "ws.reaction(k, str(A) + ' -> B')", "str(A)",
        "a value of the zone has no text when the system is built",
        "use the name of a state: `A.name`",
    ),
    "state in old formats": (
        "ws.reaction(k, '%s -> B' % A)", "'%s -> B'", "`%` takes numbers, got '%s -> B'",
        "use the name of a state: `A.name`",
    ),
    "result of a system": (
        "return k", "return k", "a system returns nothing",
        "add what changes the states by ws.term or ws.reaction",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_message(tmp_path, case):
    line, underlined, message, remedy = CASES[case]
    body = SYSTEM.replace("{line}", line)
    if case == "unit that does not fit":
        # Units of terms are the compiler's to check.
        pytest.importorskip("wavesmith.kernel")
        body += "\nnet.compile()\n"
    error, lines = mistake(tmp_path, body)
    assert lines[0].startswith(message), lines
    assert lines[1].startswith('  File "') and lines[1].endswith(", line 8, in net"), lines
    assert lines[2].strip() == line.splitlines()[0]
    start = lines[3].index("^")
    assert set(lines[3].strip()) == {"^"}
    assert lines[2][start : start + lines[3].count("^")] == underlined, "\n".join(lines)
    if remedy:
        assert lines[4].startswith(f"  remedy: {remedy}"), lines
    assert (error.lineno, error.filename.endswith(".py")) == (8, True)
    assert error.text[error.offset - 1 :].startswith(underlined)


@pytest.mark.parametrize(
    ("head", "message", "remedy"),
    [
        ("A", "the argument 'A' has no annotation", 'say what it is: `A: ws.State("mol/l")`'),
        ("A: float", "the annotation of 'A' is <class 'float'>", "expected ws.State, "),
        ('A: ws.State("mol/litre")', "ValueError: unit 'mol/litre': unknown unit 'litre'", None),
        ("*A: ws.State", "a system has no argument '*A'", "declare many states by"),
        ('A: ws.State, B: ws.State("1", name="A")', "two states have the name 'A'", None),
        ("T: ws.Parameter", "the system 'net' has no states", "declare them as arguments"),
        ("A: ws.State, t: ws.Time, s: ws.Time", "the time is declared twice", None),
        ("A: ws.State, T: ws.Parameter = 300.0", "an argument of a system has no default",
         "give the value where the system is computed: `system.rhs(y=y, T=300.0)`"),
        ('A: ws.States("A, B")', "TypeError: expected a list of names, got 'A, B'", None),
    ],
)
def test_arguments(tmp_path, monkeypatch, head, message, remedy):
    # Python does not evaluate the annotations itself then.
    monkeypatch.setitem(globals(), "HEAD", "from __future__ import annotations\n" + HEAD)
    body = f"@ws.ode_system\ndef net({head}):\n    ws.term(1.0, reactants={{'A': 1}})\n"
    _, lines = mistake(tmp_path, body)
    assert lines[0].startswith(message), lines
    assert ", line 7" in lines[1] and "^" in lines[3]
    if remedy:
        assert lines[4].startswith(f"  remedy: {remedy}"), lines


def test_no_terms(tmp_path):
    _, lines = mistake(tmp_path, "@ws.ode_system\ndef net(A: ws.State): pass\n")
    assert lines[0] == "the system 'net' has no terms"
    assert lines[-1] == "  remedy: add some by ws.term or ws.reaction"


def test_helper_functions_show_their_calls(tmp_path):
    _, lines = mistake(
        tmp_path,
        """
        def rate(T):
            return T @ 2

        def outer(T):
            return 1.0 + rate(T)

        @ws.ode_system
        def net(A: ws.State, T: ws.Parameter):
            ws.term(outer(T), reactants=A)
        """,
    )
    assert lines[0] == "`@` does not take numbers of the zone"
    files = [line for line in lines if line.startswith("  File")]
    assert [line.split(", ", 1)[1] for line in files] == [
        "line 14, in net", "line 10, in outer", "line 7, in rate",
    ]  # fmt: skip
    assert [line.strip() for line in lines if "^" in line] == ["^^^^^^^^", "^^^^^^^", "^^^^^"]


def test_errors_of_the_users_own(tmp_path):
    _, lines = mistake(
        tmp_path,
        """
        @ws.ode_system
        def net(A: ws.State, T: ws.Parameter):
            assert 1 + 1 == 3, "sums"
            ws.term(T, reactants=A)
        """,
    )
    assert lines[0] == "AssertionError: sums" and ", line 8, in net" in lines[1]
    _, lines = mistake(
        tmp_path,
        """
        def check(x):
            if x < 0:
                raise ValueError(f"negative: {x}")
            return x

        @ws.ode_system
        def net(A: ws.State, T: ws.Parameter):
            ws.term(T * check(-1), reactants=A)
        """,
    )
    assert lines[0] == "ValueError: negative: -1" and ", line 13, in net" in lines[1]


def test_a_lambda_and_a_function_without_source():
    with pytest.raises(ws.CompileError, match="the argument 'A' has no annotation"):
        ws.ode_system(lambda A: None)
    names: dict = {"ws": ws}
    exec("def net(A: ws.State):\n    ws.term(1.0, reactants=A)\n", names)
    with pytest.raises(ws.CompileError, match="the source of the function 'net' cannot be found"):
        ws.ode_system(names["net"])
    with pytest.raises(TypeError, match="expected a function, got int: write @ws.ode_system"):
        ws.ode_system(3)
    with pytest.raises(TypeError, match="name: expected text, got 5"):
        ws.ode_system(name=5)


def test_decorators_are_not_passed_over(tmp_path):
    """A system is what stands under its name, not what a decorator hides."""
    _, lines = mistake(
        tmp_path,
        """
        import functools

        def logged(function):
            @functools.wraps(function)
            def call(*arguments):
                return function(*arguments)
            return call

        @ws.ode_system
        @logged
        def net(A: ws.State):
            ws.term(1.0, reactants=A)
        """,
    )
    assert lines[0] == "a system has no argument '*arguments'" and ", line 10, in net" in lines[1]


def test_words_stand_in_systems():
    with pytest.raises(TypeError, match="ws.term stands in functions under @ws.ode_system"):
        ws.term(1.0, reactants={"A": 1})


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    pytest.importorskip("wavesmith.kernel")
    return load(
        tmp_path_factory.mktemp("net"),
        """
        @ws.ode_system
        def net(A: ws.State("mol/l"), B: ws.State("mol/l"), T: ws.Parameter("K"),
                rho: ws.Parameter("g/cm^3")):
            ws.reaction(T * rho, "A -> B")
        """,
    ).net


def integrate(net, t_end=1.0, method="tsit5", **options):
    return net.integrate(np.ones((2, 3)), t_end, T=1.0, rho=1.0, method=method, **options)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda n: n.rhs(1.0, 2.0, np.ones((3, 5))), ValueError,
         r"y has the shape \[3, 5\], expected \[2, zones\] for the states A, B"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((5, 2))), ValueError,
         "the other way round it fits: give layout='aos'"),
        (lambda n: n.rhs(1.0, 2.0, np.ones(3)), ValueError, r"one zone is \[2\]"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 0))), ValueError, "y has no zones"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)) * 1j), ValueError,
         "y: expected real numbers, got an array of complex128"),
        (lambda n: n.rhs(1.0, 2.0, [["a"], ["b"]]), ValueError, "y: expected real numbers"),
        (lambda n: n.rhs(np.ones(4), 2.0, np.ones((2, 3))), ValueError,
         r"T has the shape \[4\], expected a number, or one for each of the 3 zones"),
        (lambda n: n.rhs(1.0, 2.0, {"A": 1.0, "b": 2.0}), ValueError,
         "unknown state 'b'; there are A, B"),
        (lambda n: n.rhs(np.ones((2, 3)), T=1.0), TypeError,
         r"the parameter 'rho' \(in g/cm\^3\) is missing"),
        (lambda n: n.rhs(np.ones((2, 3)), T=1.0, roh=2.0), TypeError,
         "net has no parameter 'roh'; did you mean 'rho'"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), T=1.0), TypeError, "'T' is given twice"),
        (lambda n: n.rhs(1.0, np.ones((2, 3))), TypeError,
         "net takes T, rho, y by place, got 2 arguments"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), unit="mol"), ValueError,
         "the unit 'mol' cannot be converted to 'mol/l'"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), basis="mass_fractions"), ValueError,
         'the molar mass of A, B is not known: give it where the state is declared'),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), density=2.0), ValueError,
         "density and pressure belong to basis="),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), layout="zones"), ValueError,
         "unknown layout 'zones': expected one of 'soa', 'aos'"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), target="gfx1100"), ValueError, "gfx1100"),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0), ValueError,
         "give conserved="),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0, conserved={"A": 1, "C": 1}),
         ValueError, "unknown state 'C'"),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0, method="rk4"), ValueError,
         "unknown method 'rk4': expected one of 'asymptotic', 'tsit5'"),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0, conserved={}, rtol=1e-3),
         ValueError, "method 'asymptotic' has no option 'rtol', only flux_fraction, "
         "time_fraction, tolerance; that is an option of 'tsit5'"),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0, conserved={}, t0=0.0),
         ValueError, "t0 has to be above zero, got 0.0"),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0, conserved={}, max_steps=0),
         ValueError, "max_steps: expected a positive whole number, got 0"),
        (lambda n: n.integrate(np.ones((2, 3)), 1.0, T=1.0, rho=1.0, t=3.0), ValueError,
         "an integration starts at t0, it takes no t"),
        (lambda n: n.rhs(1.0, 2.0, np.ma.masked_array(np.ones((2, 3)), mask=True)), ValueError,
         "'y' is a masked array"),
        (lambda n: n.rhs(1.0, 2.0, [[1.0, 2.0], [3.0]]), ValueError, "'y' is no array: "),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), t="0"), ValueError,
         "t: expected a number, got '0'"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), device=0), TypeError,
         "device: expected 'auto', 'hip', 'sim' or a wavesmith.Device, got 0"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), threads=2.5), TypeError,
         "threads: expected a whole number, got 2.5"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), form="table"), TypeError,
         "'form' is an option of wavesmith.compile: give options="),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), options="fast"), TypeError,
         "options: expected a dictionary of options of wavesmith.compile"),
        (lambda n: n.rhs(1.0, 2.0, np.ones((2, 3)), options={"workgroup_size": 96}),
         ws.CompileError, r"^expected a workgroup size that is a multiple of 64.*, got 96$"),
        (lambda n: integrate(n, t_end=-1.0), ValueError,
         "t_end: expected a time that is not before the start, got -1.0 with t0 up to 0.0"),
        (lambda n: integrate(n, t_end=1.0, t0=[0.0, 2.0, 1.0]), ValueError, "t0 up to 2.0"),
        (lambda n: integrate(n, t_end=np.nan), ValueError, "t_end: expected a finite number"),
        (lambda n: integrate(n, t_end=np.inf), ValueError, "t_end: expected a finite number"),
        (lambda n: integrate(n, first_step=0.0), ValueError,
         "first_step: expected numbers above zero, got 0.0"),
        (lambda n: integrate(n, first_step=[0.1, np.nan, 0.1]), ValueError,
         "first_step: expected numbers above zero"),
        (lambda n: integrate(n, max_steps=2**40), ValueError,
         "max_steps: expected a number below 2147483648"),
        (lambda n: integrate(n, rtol=-1.0), ValueError,
         "rtol: expected a number that is not negative, got -1.0"),
        (lambda n: integrate(n, atol=0.0), ValueError, "atol: expected a number above zero"),
        (lambda n: integrate(n, atol="1e-6"), ValueError, "atol: expected a number, got '1e-6'"),
        (lambda n: integrate(n, method="asymptotic", conserved={}, flux_fraction=-0.5),
         ValueError, "flux_fraction: expected a number above zero, got -0.5"),
        (lambda n: integrate(n, method="asymptotic", conserved=["A"]), ValueError,
         'conserved: expected weights of states such as {"A": 1.0}'),
        (lambda n: integrate(n, method="asymptotic", conserved={}, total=[1.0, 2.0]), ValueError,
         "total: expected a number"),
        (lambda n: n.compile("jacobian"), ValueError,
         "unknown quantity 'jacobian': expected one of 'rhs', 'production_loss'"),
    ],
)  # fmt: skip
def test_calls(net, call, kind, message):
    with pytest.raises(kind, match=message):
        call(net)
