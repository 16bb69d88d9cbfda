# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a Python function as a `wavesmith.ode_system`.

The reader walks the function's syntax tree once. What Python knows when the system
is built (numbers, lists, loops over them, conditions on them) is computed as Python
does; what belongs to a zone (states, parameters, time, and what follows from them)
becomes an operation, with the place of its expression. Helper functions are read at
each call.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import functools
import inspect
import math
import numbers
import operator
import re
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from wavesmith import language, units
from wavesmith import math as ws_math
from wavesmith.errors import CompileError, Place
from wavesmith.importers.mlir_text import SystemWriter, format_float, identifier, quote

_MAX_DEPTH = 100
_MAX_ITERATIONS = 1_000_000


class Value:
    """A number or a condition that a zone has: known to kernels only."""

    def __init__(self, operation: int, kind: str = "f64"):
        self.operation = operation
        self.kind = kind

    def __bool__(self):
        raise TypeError("a value of the zone has no truth when the system is built")

    def __repr__(self) -> str:
        return "<a number of the zone>" if self.kind == "f64" else "<a condition of the zone>"


class StateValue(Value):
    """A state: also the key of weights. Its operation is made at its first use."""

    def __init__(self, name: str, unit: str):
        self.name = name
        self.unit = unit
        self.operation = -1
        self.kind = "f64"

    def __repr__(self) -> str:
        return f"<state {self.name}>"


class StateFamily(Sequence):
    """Several states, by name and by index."""

    def __init__(self, values: list):
        self._values = values
        self._by_name = {value.name: value for value in values}
        self.names = tuple(self._by_name)

    def __getitem__(self, key):
        if isinstance(key, str):
            if key not in self._by_name:
                raise KeyError(f"there is none called {key!r}{_suggest(key, self.names)}")
            return self._by_name[key]
        return self._values[key]

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key) -> bool:
        return key in self._by_name if isinstance(key, str) else key in self._values


class ParameterValue(StateValue):
    """A parameter."""

    def __repr__(self) -> str:
        return f"<parameter {self.name}>"


class TimeValue(StateValue):
    """The time."""

    def __repr__(self) -> str:
        return "<the time>"


class _Function:
    """A function, or lambda, that was defined inside of one that is read."""

    def __init__(self, node: ast.AST, frame: _Frame, signature: inspect.Signature):
        self.node = node
        self.frame = frame
        self.signature = signature
        self.__name__ = getattr(node, "name", "<lambda>")


class _Generated(list):
    """What a generator expression gives, all of it at once; `next` takes from it."""

    def __next__(self):
        if not self:
            raise StopIteration
        return self.pop(0)


class _Return(Exception):
    def __init__(self, value):
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


class _Frame:
    """Names and place of one call of a function."""

    def __init__(self, function: str, filename: str, scopes: list[Mapping], depth: int = 0):
        self.function = function
        self.filename = filename
        #: Looked up from the first: locals, those of enclosing functions, globals.
        self.scopes = scopes
        self.locals = scopes[0]
        self.depth = depth

    def lookup(self, name: str):
        for scope in self.scopes:
            if name in scope:
                return scope[name]
        return getattr(builtins, name)


def _suggest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _listing(names: Sequence[str]) -> str:
    names = list(names)
    return ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")


def _holds_value(thing: Any, depth: int = 4) -> bool:
    if isinstance(thing, (Value, StateFamily)):
        return True
    if depth and isinstance(thing, Mapping):
        return any(
            _holds_value(k, depth - 1) or _holds_value(v, depth - 1)
            for k, v in thing.items()
        )
    if depth and isinstance(thing, (list, tuple, set, frozenset)):
        return any(_holds_value(item, depth - 1) for item in thing)
    return isinstance(thing, _Function)


def _is_number(thing: Any) -> bool:
    if isinstance(thing, numbers.Real):
        return True
    # A NumPy array without dimensions.
    return getattr(thing, "shape", None) == () and hasattr(thing, "__float__")


def _speaks_wavesmith(
    function: types.FunctionType, owner: type = object, seen: set | None = None
) -> bool:
    """Whether a function, or one that it calls, may add to the system; of a method, `owner`
    is the class of the object."""
    seen = set() if seen is None else seen
    if function.__code__ in seen:
        return False
    seen.add(function.__code__)
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    found += _closure(function).values()
    # Methods that it calls of its own object, as far as their names tell.
    found += [getattr(owner, name) for name in names if hasattr(owner, name)]
    for thing in found:
        if isinstance(thing, types.MethodType):
            thing = thing.__func__
        if isinstance(thing, (language.Word, Value, StateFamily)):
            return True
        if isinstance(thing, types.ModuleType) and thing.__name__ == "wavesmith":
            return True
        if isinstance(thing, types.FunctionType) and _speaks_wavesmith(thing, owner, seen):
            return True
    return False


def plain_function(function: Any) -> tuple[types.FunctionType, list, dict] | None:
    """The Python function that a callable object runs, and the arguments that the object
    adds by place and by name: of methods, of `functools.partial` and `functools.cache`,
    and of objects with `__call__`. None where there is none."""
    placed: list = []
    named: dict = {}
    while not isinstance(function, types.FunctionType):
        if isinstance(function, functools.partial):
            placed = [*function.args, *placed]
            named = {**function.keywords, **named}
            function = function.func
        elif isinstance(function, types.MethodType):
            placed.insert(0, function.__self__)
            function = function.__func__
        elif isinstance(function, functools._lru_cache_wrapper):
            function = function.__wrapped__
        elif not isinstance(function, type) and isinstance(
            getattr(type(function), "__call__", None), types.FunctionType
        ):
            placed.insert(0, function)
            function = type(function).__call__
        else:
            return None
    return function, placed, named


#: What was read last, by the identity of the code, which is kept with it: score functions
#: are read at each call of attention.
_sources: dict[int, tuple[types.CodeType, tuple[ast.FunctionDef, str]]] = {}
_MAX_SOURCES = 256


def source_of(function: types.FunctionType) -> tuple[ast.FunctionDef, str]:
    """The syntax tree of a function, with the lines and columns of its file."""
    code = function.__code__
    if id(code) not in _sources:
        _sources[id(code)] = code, _parse_source(function)
        while len(_sources) > _MAX_SOURCES:
            _sources.pop(next(iter(_sources)), None)
    return _sources[id(code)][1]


def _parse_source(function: types.FunctionType) -> tuple[ast.FunctionDef, str]:
    code, name = function.__code__, function.__name__
    where = Place(code.co_filename, code.co_firstlineno, 1, code.co_firstlineno, 1, name)
    try:
        # Of the code: of a function, inspect would take what a decorator has wrapped.
        if code.co_name == "<lambda>":
            return _parse_lambda(code, where), inspect.getsourcefile(code) or code.co_filename
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise CompileError(
            f"the source of the function '{name}' cannot be found",
            where,
            remedy="put the function into a file or a notebook's cell",
        ) from None
    text = "".join(lines)
    indented = lines[0][:1].isspace()
    try:
        tree = ast.parse("if 1:\n" + text if indented else text)
    except SyntaxError:
        raise CompileError(
            f"the source of the function '{name}' cannot be read by itself", where,
            remedy="indent it as Python does, without lines that stand further left",
        ) from None  # fmt: skip
    ast.increment_lineno(tree, first - 1 - (1 if indented else 0))
    node = tree.body[0].body[0] if indented else tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise CompileError(
            f"'{name}' is no plain function", where, remedy="write it with `def`"
        )
    return node, inspect.getsourcefile(code) or code.co_filename


def _parse_lambda(code: types.CodeType, where: Place) -> ast.FunctionDef:
    """A lambda as the function that returns its expression."""
    lines, _ = inspect.findsource(code)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        raise OSError from None
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and names
        == tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs))
    ]
    if len(found) > 1 and hasattr(code, "co_positions"):
        # Of several in one line, the innermost whose expression has all instructions; those
        # that stand for the call itself are at column 0.
        places = [(line, column) for line, _, column, _ in code.co_positions() if line and column]
        begin = operator.attrgetter("body.lineno", "body.col_offset")
        end = operator.attrgetter("body.end_lineno", "body.end_col_offset")
        found = [n for n in found if all(begin(n) <= place <= end(n) for place in places)]
        found = sorted(found, key=begin)[-1:]
    if len(found) != 1:
        raise CompileError(
            "this lambda cannot be told from others in its line", where,
            remedy="write one lambda in a line, or a function with `def`",
        )  # fmt: skip
    (node,) = found
    function = ast.FunctionDef("<lambda>", node.args, [ast.Return(node.body)], [])
    for part in (function, function.body[0]):
        ast.copy_location(part, node.body)
    return ast.copy_location(function, node)


def _closure(function: types.FunctionType) -> dict[str, Any]:
    names = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            pass
    return names


_BINARY = {
    ast.Add: ("+", operator.add, "arith.addf"),
    ast.Sub: ("-", operator.sub, "arith.subf"),
    ast.Mult: ("*", operator.mul, "arith.mulf"),
    ast.Div: ("/", operator.truediv, "arith.divf"),
    ast.Pow: ("**", operator.pow, None),
    ast.FloorDiv: ("//", operator.floordiv, None),
    ast.Mod: ("%", operator.mod, None),
    ast.MatMult: ("@", operator.matmul, None),
    ast.BitAnd: ("&", operator.and_, None),
    ast.BitOr: ("|", operator.or_, None),
    ast.BitXor: ("^", operator.xor, None),
    ast.LShift: ("<<", operator.lshift, None),
    ast.RShift: (">>", operator.rshift, None),
}
_IN_PLACE = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul,
    ast.Div: operator.itruediv, ast.Pow: operator.ipow, ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod, ast.MatMult: operator.imatmul, ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}  # fmt: skip
_COMPARE = {
    ast.Lt: ("<", operator.lt, "olt"),
    ast.LtE: ("<=", operator.le, "ole"),
    ast.Gt: (">", operator.gt, "ogt"),
    ast.GtE: (">=", operator.ge, "oge"),
    ast.Eq: ("==", operator.eq, "oeq"),
    ast.NotEq: ("!=", operator.ne, "une"),
    ast.In: ("in", lambda a, b: a in b, None),
    ast.NotIn: ("not in", lambda a, b: a not in b, None),
    ast.Is: ("is", operator.is_, None),
    ast.IsNot: ("is not", operator.is_not, None),
}
_UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}

#: Functions on numbers of the zone: operation and number of arguments.
_MATH: dict[str, tuple[str, int]] = {
    "acos": ("math.acos", 1), "acosh": ("math.acosh", 1), "asin": ("math.asin", 1),
    "asinh": ("math.asinh", 1), "atan": ("math.atan", 1), "atan2": ("math.atan2", 2),
    "atanh": ("math.atanh", 1), "cbrt": ("math.cbrt", 1), "ceil": ("math.ceil", 1),
    "copysign": ("math.copysign", 2), "cos": ("math.cos", 1), "cosh": ("math.cosh", 1),
    "erf": ("math.erf", 1), "erfc": ("math.erfc", 1), "exp": ("math.exp", 1),
    "exp2": ("math.exp2", 1), "expm1": ("math.expm1", 1), "fabs": ("math.absf", 1),
    "floor": ("math.floor", 1), "fma": ("math.fma", 3), "fmod": ("arith.remf", 2),
    "isfinite": ("math.isfinite", 1), "isinf": ("math.isinf", 1),
    "isnan": ("math.isnan", 1), "log": ("math.log", 1), "log10": ("math.log10", 1),
    "log1p": ("math.log1p", 1), "log2": ("math.log2", 1),
    "maximum": ("arith.maximumf", 2), "minimum": ("arith.minimumf", 2),
    "pow": ("math.powf", 2), "sin": ("math.sin", 1), "sinh": ("math.sinh", 1),
    "sqrt": ("math.sqrt", 1), "tan": ("math.tan", 1), "tanh": ("math.tanh", 1),
    "trunc": ("math.trunc", 1),
}  # fmt: skip
#: NumPy's own names of some of them.
_NUMPY_NAMES = {
    "absolute": "fabs", "power": "pow", "arccos": "acos", "arccosh": "acosh",
    "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh",
}  # fmt: skip


def _math_name(function: Any) -> str | None:
    """The name in `_MATH` of a function of math, of NumPy or of ws.math."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    for module in (math, ws_math):
        if getattr(module, name, None) is function:
            return name
    numpy = sys.modules.get("numpy")
    # Not getattr, which warns of names that NumPy has given up.
    if numpy is not None and vars(numpy).get(name) is function:
        return _NUMPY_NAMES.get(name, name)
    return None


#: What keeps values of the zone without looking at them.
_CONTAINERS = (list, tuple, dict, enumerate, zip, reversed, len, range, isinstance, print, id,
               iter, next, type, repr, str, map, filter)  # fmt: skip


def _keeps_values(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, (list, tuple, dict, StateFamily)):
        return True
    if getattr(function, "__module__", None) in ("itertools", "collections"):
        return True
    return any(function is known for known in _CONTAINERS if known not in (map, filter))


class Reader:
    """Reads one function; `read` gives the writer of the system.

    Args:
        function: a plain Python function, its arguments annotated.
        name: the system's name.
        around: the names where the function is defined, for annotations that Python keeps
            as text (`from __future__ import annotations`).
    """

    def __init__(
        self, function: types.FunctionType, name: str, around: Mapping[str, Any] | None = None
    ):
        self._node, filename = source_of(function)
        self._name = name
        self._annotations = getattr(function, "__annotations__", {})
        self._around = around or {}
        self._frame = _Frame(
            function.__name__, filename, [{}, _closure(function), function.__globals__]
        )
        self._calls: list[Place] = []
        self._place_node: ast.AST = self._node
        self._operations: list[tuple[str, Place]] = []
        self._shared: dict[str, int] = {}
        self._kinds: list[str | None] = []
        self._hints: dict[int, str] = {}
        self._num_terms = 0
        self._states: dict[str, StateValue] = {}
        self._parameters: dict[str, ParameterValue] = {}
        self._time_unit = "s"
        self.masses: dict[str, float] = {}
        #: For each line of the system's body the place it comes from.
        self.places: list[Place] = []

    # Errors ------------------------------------------------------------------

    def _place(self, node: ast.AST) -> Place:
        return Place.of(node, self._frame.filename, self._frame.function)

    def _fail(self, node: ast.AST, message: str, remedy: str | None = None) -> NoReturn:
        raise CompileError(
            message, self._place(node), remedy=remedy, callers=tuple(self._calls)
        )

    def _native(self, node: ast.AST, function, *arguments, **named):
        """What Python computes, with its errors as ours."""
        try:
            return function(*arguments, **named)
        except (CompileError, _Return, _Break, _Continue):
            raise
        except RecursionError:
            raise
        except Exception as error:
            text = str(error)
            if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
                text = error.args[0]
            self._fail(node, f"{type(error).__name__}: {text}")

    # Operations ----------------------------------------------------------------

    def _emit(self, node: ast.AST, text: str, kind: str | None = "f64") -> int:
        self._operations.append((text, self._place(node)))
        self._kinds.append(kind)
        return len(self._operations) - 1

    def _value(self, node: ast.AST, text: str, kind: str = "f64") -> Value:
        """The value of an operation; one that stands already is used again."""
        if text not in self._shared:
            self._shared[text] = self._emit(node, text, kind)
        return Value(self._shared[text], kind)

    def _use(self, node: ast.AST, thing: Any, kind: str = "f64") -> str:
        """The operand for a value or a plain number."""
        if isinstance(thing, Value):
            if thing.kind != kind:
                if kind == "f64":
                    self._fail(
                        node, "expected a number, got a condition",
                        "choose a number by it: `a if condition else b`",
                    )  # fmt: skip
                self._fail(
                    node, "expected a condition, got a number",
                    "compare it: `x > 0.0`, for example",
                )  # fmt: skip
            return self._operand(node, thing)
        if kind == "i1" and isinstance(thing, bool):
            return self._operand(
                node, self._value(node, f"arith.constant {str(thing).lower()}", "i1")
            )
        if kind == "f64" and _is_number(thing):
            number = self._native(node, float, thing)
            if math.isnan(number) or math.isinf(number):
                self._fail(node, f"expected a finite number, got {number}")
            return self._operand(
                node, self._value(node, f"arith.constant {format_float(number)} : f64")
            )
        if isinstance(thing, StateFamily):
            self._fail(
                node, "expected a number, got several states",
                "take one of them by name or index, as in `Y[\"He4\"]`",
            )  # fmt: skip
        wanted = "a number" if kind == "f64" else "a condition"
        self._fail(node, f"expected {wanted}, got {thing!r:.60}")

    def _operand(self, node: ast.AST, value: Value) -> str:
        if isinstance(value, StateValue) and value.operation < 0:
            if isinstance(value, TimeValue):
                text, hint = "wavesmith.time", "t"
            else:
                what = "parameter" if isinstance(value, ParameterValue) else "state"
                text, hint = f"wavesmith.{what} {quote(value.name)}", value.name
            value.operation = self._value(node, text).operation
            self._hints.setdefault(value.operation, hint)
        return f"\0{value.operation}\0"

    def _apply(self, node: ast.AST, operation: str, *things: Any, kind: str = "f64") -> Value:
        operands = [self._use(node, thing) for thing in things]
        return self._value(node, f"{operation} {', '.join(operands)} : f64", kind)

    # The system -----------------------------------------------------------------

    def read(self) -> SystemWriter:
        self._read_arguments()
        try:
            self._run(self._node.body)
        except _Return as returned:
            if returned.value is not None:
                self._fail(
                    self._place_node, "a system returns nothing",
                    "add what changes the states by ws.term or ws.reaction",
                )  # fmt: skip
        except RecursionError:
            self._fail(self._node, "the expressions are nested too deeply for Python")
        if not self._num_terms:
            self._fail(
                self._node, f"the system '{self._name}' has no terms",
                "add some by ws.term or ws.reaction",
            )  # fmt: skip
        writer = SystemWriter(
            self._name,
            [(s.name, s.unit) for s in self._states.values()],
            [(p.name, p.unit) for p in self._parameters.values()],
            self._time_unit,
            [f"Read from {self._frame.filename}:{self._node.lineno}"],
        )
        self._write(writer)
        return writer

    def _write(self, writer: SystemWriter) -> None:
        names: dict[int, str] = {}
        taken: set[str] = set()
        for number, ((text, place), kind) in enumerate(zip(self._operations, self._kinds)):
            if kind is not None:
                hint = "c" if text.startswith("arith.constant") else "v"
                base = identifier(self._hints.get(number, hint)) or hint
                base = f"v{base}" if base[0].isdigit() else base
                name, count = base, 0
                while name in taken:
                    count += 1
                    name = f"{base}_{count}"
                taken.add(name)
                names[number] = "%" + name
                text = f"{names[number]} = {text}"
            text = re.sub("\0(\\d+)\0", lambda m: names[int(m.group(1))], text)
            location = f"loc({quote(place.filename)}:{place.line}:{place.column})"
            writer.line(f"    {text} {location}")
            self.places.append(place)
        writer.num_terms = self._num_terms

    def _read_arguments(self) -> None:
        arguments = self._node.args
        for extra, what in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
            if extra:
                self._fail(
                    extra, f"a system has no argument '{what}{extra.arg}'",
                    'declare many states by `Y: ws.States(names, "mol/l")`',
                )  # fmt: skip
        for default in [*arguments.defaults, *filter(None, arguments.kw_defaults)]:
            self._fail(
                default, "an argument of a system has no default",
                "give the value where the system is computed: `system.rhs(y=y, T=300.0)`",
            )  # fmt: skip
        time_seen = False
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            kinds = "ws.State, ws.States, ws.Parameter, ws.Parameters or ws.Time"
            if argument.annotation is None:
                self._fail(
                    argument, f"the argument '{argument.arg}' has no annotation",
                    f'say what it is: `{argument.arg}: ws.State("mol/l")`, or {kinds}',
                )  # fmt: skip
            node = argument.annotation
            kind = self._annotations.get(argument.arg)
            if kind is None or isinstance(kind, str):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    node = self._native(node, ast.parse, node.value, mode="eval").body
                    for part in ast.walk(node):
                        ast.copy_location(part, argument.annotation)
                kind = self._native(node, self._evaluate_natively, node)
            if isinstance(kind, type) and issubclass(
                kind, (language.State, language.Parameter, language.Time)
            ):
                kind = kind()
            name = argument.arg
            if isinstance(kind, language.State):
                self._bind(argument, name, self._new_state(node, kind.name or name, kind.unit))
                if kind.mass is not None:
                    self.masses[kind.name or name] = float(kind.mass)
            elif isinstance(kind, language.States):
                for state in kind.masses or {}:
                    if state not in kind.names:
                        self._fail(node, f"a mass is given for '{state}', which is no state "
                                   f"of '{name}'")  # fmt: skip
                self._bind(argument, name, StateFamily(
                    [self._new_state(node, state, kind.unit) for state in kind.names]
                ))  # fmt: skip
                self.masses.update({s: float(m) for s, m in (kind.masses or {}).items()})
            elif isinstance(kind, language.Parameter):
                self._bind(
                    argument, name, self._new_parameter(node, kind.name or name, kind.unit)
                )
            elif isinstance(kind, language.Parameters):
                self._bind(argument, name, StateFamily(
                    [self._new_parameter(node, p, kind.unit) for p in kind.names]
                ))  # fmt: skip
            elif isinstance(kind, language.Time):
                if time_seen:
                    self._fail(argument, "the time is declared twice")
                time_seen = True
                self._time_unit = kind.unit
                self._bind(argument, name, TimeValue("t", kind.unit))
            else:
                self._fail(
                    node, f"the annotation of '{name}' is {kind!r:.60}",
                    f"expected {kinds}",
                )  # fmt: skip
        if not self._states:
            self._fail(
                self._node, f"the system '{self._name}' has no states",
                'declare them as arguments: `def system(A: ws.State("mol/l"), ...)`',
            )  # fmt: skip

    def _evaluate_natively(self, node: ast.AST):
        names: dict = dict(self._around)
        for scope in reversed(self._frame.scopes):
            names.update(scope)
        return eval(compile(ast.Expression(node), self._frame.filename, "eval"), names)

    def _new_state(self, node: ast.AST, name: str, unit: str) -> StateValue:
        if name in self._states:
            self._fail(node, f"two states have the name '{name}'")
        self._states[name] = StateValue(name, unit)
        return self._states[name]

    def _new_parameter(self, node: ast.AST, name: str, unit: str) -> ParameterValue:
        if name in self._parameters:
            self._fail(node, f"two parameters have the name '{name}'")
        self._parameters[name] = ParameterValue(name, unit)
        return self._parameters[name]

    # Statements ---------------------------------------------------------------

    def _run(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._place_node = statement
            method = getattr(self, f"_run_{type(statement).__name__}", None)
            if method is None:
                self._unsupported(statement)
            method(statement)

    def _unsupported(self, node: ast.AST) -> NoReturn:
        name, remedy = {
            "Try": ("try", "handle errors outside of the system"),
            "TryStar": ("try", "handle errors outside of the system"),
            "With": ("with", "read files and the like outside of the system, "
                     "and use the result here"),
            "AsyncFunctionDef": ("async def", "write it with `def`"),
            "AsyncFor": ("async for", "use `for`"),
            "AsyncWith": ("async with", "open things outside of the system"),
            "ClassDef": ("class", "define it outside of the system"),
            "Import": ("import", "import at the top of the file"),
            "ImportFrom": ("import", "import at the top of the file"),
            "Global": ("global", "a system changes nothing outside of it; return the value"),
            "Nonlocal": ("nonlocal", "a system changes nothing outside of it; return the value"),
            "Delete": ("del", "leave the name alone"),
            "Match": ("match", "use `if` and `elif`"),
            "Yield": ("yield", "return a list"),
            "YieldFrom": ("yield from", "return a list"),
            "Await": ("await", "call a plain function"),
            "NamedExpr": (":=", "assign in a statement of its own"),
        }.get(type(node).__name__, (type(node).__name__, None))  # fmt: skip
        self._fail(node, f"`{name}` is not supported in a system", remedy)

    def _run_Pass(self, node: ast.Pass) -> None:
        pass

    def _run_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._evaluate(node.value)

    def _run_Assign(self, node: ast.Assign) -> None:
        value = self._evaluate(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _run_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            self._fail(
                node, "a name is declared without a value",
                "states and parameters are arguments of the function",
            )  # fmt: skip
        self._assign(node.target, self._evaluate(node.value))

    def _run_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        loaded = type(target)(**{
            **{field: getattr(target, field) for field in target._fields}, "ctx": ast.Load()
        })  # fmt: skip
        ast.copy_location(loaded, target)
        left, right = self._evaluate(loaded), self._evaluate(node.value)
        if isinstance(left, Value) or isinstance(right, Value):
            self._assign(target, self._binary(node, node.op, left, right))
        else:
            self._assign(target, self._native(node, _IN_PLACE[type(node.op)], left, right))

    def _assign(self, target: ast.AST, value: Any) -> None:
        if isinstance(target, ast.Name):
            bound = self._frame.locals.get(target.id)
            if isinstance(bound, (StateValue, StateFamily)) and self._frame.depth == 0:
                what = "time" if isinstance(bound, TimeValue) else (
                    "parameter" if isinstance(bound, ParameterValue) else "state"
                )  # fmt: skip
                self._fail(
                    target, f"the {what} '{target.id}' cannot be assigned",
                    "use another name; states change by ws.term and ws.reaction",
                )  # fmt: skip
            self._bind(target, target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            container = self._evaluate(target.value)
            if isinstance(container, (Value, StateFamily)):
                self._fail(
                    target, f"{container!r} cannot be assigned to"
                    if isinstance(container, Value) else "states cannot be assigned",
                    "states change by ws.term and ws.reaction",
                )  # fmt: skip
            key = self._evaluate(target.slice)
            if hasattr(container, "dtype") and (_holds_value(value) or _holds_value(key)):
                self._fail(
                    target, "an array has numbers only, it cannot keep values of the zone",
                    "keep them in a list or a dictionary",
                )  # fmt: skip
            self._native(target, operator.setitem, container, key, value)
        else:
            self._fail(target, "cannot assign to this in a system", "assign to a name")

    def _bind(self, node: ast.AST, name: str, value: Any) -> None:
        if isinstance(value, Value) and not isinstance(value, StateValue):
            self._hints.setdefault(value.operation, name)
        self._frame.locals[name] = value

    def _unpack(self, target: ast.AST, value: Any) -> None:
        items = list(self._iterate(target, value))
        targets = target.elts
        stars = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        if stars:
            before, after = stars[0], len(targets) - stars[0] - 1
            if len(items) < before + after:
                self._fail(target, f"expected at least {before + after} values, got {len(items)}")
            middle = items[before : len(items) - after]
            items = [*items[:before], middle, *items[len(items) - after :]]
            targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
        if len(items) != len(targets):
            self._fail(target, f"expected {len(targets)} values, got {len(items)}")
        for part, item in zip(targets, items):
            self._assign(part, item)

    def _iterate(self, node: ast.AST, value: Any):
        if isinstance(value, Value):
            self._fail(
                node, f"cannot loop over {value!r}",
                "loop over a list, a range or other data that Python knows when the "
                "system is built",
            )  # fmt: skip
        return self._native(node, iter, value)

    def _condition(self, node: ast.AST, remedy: str) -> bool:
        value = self._evaluate(node)
        if isinstance(value, Value):
            self._fail(node, "the condition depends on values of the zone, which are not "
                       "known when the system is built", remedy)  # fmt: skip
        return self._native(node, bool, value)

    def _run_If(self, node: ast.If) -> None:
        remedy = "choose between values instead: `x = a if condition else b`"
        self._run(node.body if self._condition(node.test, remedy) else node.orelse)

    def _run_For(self, node: ast.For) -> None:
        iterator = self._iterate(node.iter, self._evaluate(node.iter))
        while True:
            item = self._native(node.iter, next, iterator, _Break)
            if item is _Break:
                break
            self._assign(node.target, item)
            try:
                self._run(node.body)
            except _Break:
                return
            except _Continue:
                continue
        self._run(node.orelse)

    def _run_While(self, node: ast.While) -> None:
        remedy = "loop over data that Python knows: `for i in range(n)`"
        for _ in range(_MAX_ITERATIONS):
            if not self._condition(node.test, remedy):
                self._run(node.orelse)
                return
            try:
                self._run(node.body)
            except _Break:
                return
            except _Continue:
                continue
        self._fail(node, f"the loop has not ended after {_MAX_ITERATIONS} rounds")

    def _run_Break(self, node: ast.Break) -> None:
        raise _Break

    def _run_Continue(self, node: ast.Continue) -> None:
        raise _Continue

    def _run_Return(self, node: ast.Return) -> None:
        value = self._evaluate(node.value) if node.value else None
        self._place_node = node
        raise _Return(value)

    def _run_Assert(self, node: ast.Assert) -> None:
        remedy = "check the results outside of the system"
        if not self._condition(node.test, remedy):
            text = self._evaluate(node.msg) if node.msg else "the assertion does not hold"
            self._fail(node, f"AssertionError: {text}")

    def _run_Raise(self, node: ast.Raise) -> None:
        error = self._evaluate(node.exc) if node.exc else None
        kind = error if isinstance(error, type) else type(error)
        text = "" if isinstance(error, type) or error is None else str(error)
        self._fail(node, f"{kind.__name__}: {text}" if text else kind.__name__)

    def _run_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            self._fail(
                node.decorator_list[0], "a function inside of a system has no decorator",
                "define it outside of the system",
            )  # fmt: skip
        self._frame.locals[node.name] = self._define(node)

    # Functions ----------------------------------------------------------------

    def _define(self, node: ast.AST) -> _Function:
        kinds, empty = inspect.Parameter, inspect.Parameter.empty
        arguments, parameters = node.args, []
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults = [empty] * (len(plain) - len(arguments.defaults)) + [
            self._evaluate(default) for default in arguments.defaults
        ]
        for i, (argument, default) in enumerate(zip(plain, defaults)):
            kind = (
                kinds.POSITIONAL_ONLY
                if i < len(arguments.posonlyargs)
                else kinds.POSITIONAL_OR_KEYWORD
            )
            parameters.append(kinds(argument.arg, kind, default=default))
        if arguments.vararg:
            parameters.append(kinds(arguments.vararg.arg, kinds.VAR_POSITIONAL))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
            value = empty if default is None else self._evaluate(default)
            parameters.append(kinds(argument.arg, kinds.KEYWORD_ONLY, default=value))
        if arguments.kwarg:
            parameters.append(kinds(arguments.kwarg.arg, kinds.VAR_KEYWORD))
        return _Function(node, self._frame, inspect.Signature(parameters))

    def _inline(self, call: ast.AST, function: Any, arguments: list, named: dict) -> Any:
        """Read the body of a function for one call of it."""
        if isinstance(function, _Function):
            node, signature = function.node, function.signature
            filename, scopes = function.frame.filename, function.frame.scopes
        else:
            try:
                node, filename = source_of(function)
            except CompileError as error:
                self._fail(call, error.message, error.remedy)
            signature = inspect.signature(function, follow_wrapped=False)
            scopes = [_closure(function), function.__globals__]
        name = function.__name__
        for part in ast.walk(node):
            if isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)):
                self._unsupported_in(call, part, name, filename)
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError as error:
            self._fail(call, f"{name}(): {error}")
        bound.apply_defaults()
        depth = self._frame.depth + 1
        if depth > _MAX_DEPTH:
            self._fail(
                call, f"calls are nested deeper than {_MAX_DEPTH}",
                "a recursion has to end by what Python knows when the system is built",
            )  # fmt: skip
        caller = self._frame
        self._calls.append(self._place(call))
        self._frame = _Frame(name, filename, [dict(bound.arguments), *scopes], depth)
        try:
            if isinstance(node, ast.Lambda):
                return self._evaluate(node.body)
            self._run(node.body)
            return None
        except _Return as returned:
            return returned.value
        finally:
            self._frame = caller
            self._calls.pop()

    def _unsupported_in(self, call, part, name, filename) -> NoReturn:
        self._calls.append(self._place(call))
        self._frame = _Frame(name, filename, [{}])
        self._unsupported(part)

    # Expressions ----------------------------------------------------------------

    def _evaluate(self, node: ast.AST) -> Any:
        method = getattr(self, f"_evaluate_{type(node).__name__}", None)
        if method is None:
            self._unsupported(node)
        return method(node)

    def _evaluate_Constant(self, node: ast.Constant):
        return node.value

    def _evaluate_Name(self, node: ast.Name):
        try:
            return self._frame.lookup(node.id)
        except AttributeError:
            known = [name for scope in self._frame.scopes for name in scope]
            near = difflib.get_close_matches(node.id, known, 1, 0.6)
            self._fail(
                node, f"the name '{node.id}' is not defined",
                f"did you mean '{near[0]}'?" if near else
                "define it above the system, which is read where it stands",
            )  # fmt: skip

    def _evaluate_Attribute(self, node: ast.Attribute):
        owner = self._evaluate(node.value)
        if isinstance(owner, StateValue) and node.attr in ("name", "unit"):
            return getattr(owner, node.attr)
        if isinstance(owner, Value):
            self._fail(node, f"{owner!r} has no attribute '{node.attr}'")
        try:
            return self._native(node, getattr, owner, node.attr)
        except CompileError:
            if isinstance(owner, types.ModuleType):
                near = difflib.get_close_matches(node.attr, dir(owner), 1, 0.5)
                self._fail(
                    node, f"the module '{owner.__name__}' has no '{node.attr}'",
                    f"did you mean '{near[0]}'?" if near else None,
                )  # fmt: skip
            raise

    def _evaluate_Subscript(self, node: ast.Subscript):
        container = self._evaluate(node.value)
        key = self._evaluate(node.slice)
        if isinstance(container, Value):
            self._fail(node, f"{container!r} cannot be indexed")
        if isinstance(key, Value) and not (
            isinstance(container, dict) and isinstance(key, StateValue)
        ):
            self._fail(
                node.slice, "the index depends on values of the zone, which are not known "
                "when the system is built",
                "index by what Python knows; choose by `a if condition else b`",
            )  # fmt: skip
        return self._native(node, operator.getitem, container, key)

    def _evaluate_Index(self, node):  # Python 3.8's trees
        return self._evaluate(node.value)

    def _evaluate_Slice(self, node: ast.Slice):
        return slice(*(
            self._evaluate(part) if part else None for part in (node.lower, node.upper, node.step)
        ))  # fmt: skip

    def _items(self, nodes: Sequence[ast.AST]) -> list:
        items = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items += self._iterate(node, self._evaluate(node.value))
            else:
                items.append(self._evaluate(node))
        return items

    def _evaluate_List(self, node: ast.List):
        return self._items(node.elts)

    def _evaluate_Tuple(self, node: ast.Tuple):
        return tuple(self._items(node.elts))

    def _evaluate_Set(self, node: ast.Set):
        return self._native(node, set, self._items(node.elts))

    def _evaluate_Dict(self, node: ast.Dict):
        result: dict = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                self._native(value, result.update, self._evaluate(value))
            else:
                self._native(
                    key, operator.setitem, result, self._evaluate(key), self._evaluate(value)
                )
        return result

    def _evaluate_JoinedStr(self, node: ast.JoinedStr):
        return "".join(str(self._evaluate(part)) for part in node.values)

    def _evaluate_FormattedValue(self, node: ast.FormattedValue):
        value = self._evaluate(node.value)
        if isinstance(value, Value):
            self._no_text(node.value)
        convert = {115: str, 114: repr, 97: ascii}.get(node.conversion)
        value = convert(value) if convert else value
        spec = self._evaluate(node.format_spec) if node.format_spec else ""
        return self._native(node, format, value, spec)

    def _evaluate_Lambda(self, node: ast.Lambda):
        return self._define(node)

    def _comprehension(self, node: ast.AST, result):
        scope: dict = {}
        outer = self._frame
        self._frame = _Frame(
            outer.function, outer.filename, [scope, *outer.scopes], outer.depth + 1
        )

        def nest(generators):
            if not generators:
                result()
                return
            first = generators[0]
            for item in self._iterate(first.iter, self._evaluate(first.iter)):
                self._assign(first.target, item)
                remedy = "choose between values instead: `a if condition else b`"
                if all(self._condition(test, remedy) for test in first.ifs):
                    nest(generators[1:])

        try:
            nest(node.generators)
        finally:
            self._frame = outer

    def _evaluate_ListComp(self, node: ast.ListComp):
        items: list = []
        self._comprehension(node, lambda: items.append(self._evaluate(node.elt)))
        return items

    def _evaluate_GeneratorExp(self, node: ast.GeneratorExp):
        return _Generated(self._evaluate_ListComp(node))

    def _evaluate_SetComp(self, node: ast.SetComp):
        return self._native(node, set, self._evaluate_ListComp(node))

    def _evaluate_DictComp(self, node: ast.DictComp):
        items: dict = {}
        self._comprehension(
            node,
            lambda: self._native(
                node.key, operator.setitem, items, self._evaluate(node.key),
                self._evaluate(node.value),
            ),
        )  # fmt: skip
        return items

    def _evaluate_BinOp(self, node: ast.BinOp):
        return self._binary(node, node.op, self._evaluate(node.left), self._evaluate(node.right))

    def _binary(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        sign, function, operation = _BINARY[type(op)]
        if not isinstance(left, Value) and not isinstance(right, Value):
            return self._native(node, function, left, right)
        for side, thing in (("left", left), ("right", right)):
            if not isinstance(thing, Value) and not _is_number(thing):
                part = getattr(node, side, node)
                remedy = None
                if getattr(thing, "shape", ()):
                    remedy = "take one of its numbers, or make a list: `[x * A for x in array]`"
                elif isinstance(thing, str) and isinstance(op, (ast.Add, ast.Mod)):
                    remedy = "use the name of a state: `A.name`"
                self._fail(part, f"`{sign}` takes numbers, got {thing!r:.60}", remedy)
        if isinstance(op, (ast.BitAnd, ast.BitOr, ast.BitXor)):
            if all(isinstance(t, bool) or getattr(t, "kind", "") == "i1" for t in (left, right)):
                name = {ast.BitAnd: "andi", ast.BitOr: "ori", ast.BitXor: "xori"}[type(op)]
                operands = [self._use(node, t, "i1") for t in (left, right)]
                return self._value(node, f"arith.{name} {', '.join(operands)} : i1", "i1")
            remedy = "write powers as `x**2`" if sign == "^" else "join conditions only"
            self._fail(node, f"`{sign}` does not take numbers of the zone", remedy)
        if isinstance(op, ast.Pow):
            return self._power(node, left, right)
        if operation is None:
            remedies = {
                "//": "ws.math.floor(a / b)",
                "%": "ws.math.fmod(a, b), whose result has the sign of a",
            }
            remedy = remedies.get(sign)
            self._fail(
                node, f"`{sign}` does not take numbers of the zone",
                f"use {remedy}" if remedy else None,
            )  # fmt: skip
        return self._apply(node, operation, left, right)

    def _power(self, node: ast.AST, base: Any, exponent: Any) -> Value:
        """Integer powers up to 4 are products, as in terms."""
        if not isinstance(exponent, Value) and _is_number(exponent):
            number = float(exponent)
            if number == 1.0:
                self._use(node, base)
                return base
            if number in (2.0, 3.0, 4.0):
                square = self._apply(node, "arith.mulf", base, base)
                if number == 2.0:
                    return square
                return self._apply(node, "arith.mulf", square, base if number == 3.0 else square)
            if number.is_integer() and abs(number) < 2**31 and number != 0.0:
                power = self._value(node, f"arith.constant {int(number)} : i32", "i32")
                operands = f"{self._use(node, base)}, {self._operand(node, power)}"
                return self._value(node, f"math.fpowi {operands} : f64, i32")
        return self._apply(node, "math.powf", base, exponent)

    def _evaluate_UnaryOp(self, node: ast.UnaryOp):
        value = self._evaluate(node.operand)
        if not isinstance(value, Value):
            function = operator.not_ if isinstance(node.op, ast.Not) else _UNARY[type(node.op)]
            return self._native(node, function, value)
        if isinstance(node.op, ast.Not) or (
            isinstance(node.op, ast.Invert) and value.kind == "i1"
        ):
            operands = [self._use(node.operand, value, "i1"), self._use(node, True, "i1")]
            return self._value(node, f"arith.xori {', '.join(operands)} : i1", "i1")
        if isinstance(node.op, ast.Invert):
            self._fail(node, "`~` does not take numbers of the zone")
        if isinstance(node.op, ast.UAdd):
            self._use(node, value)
            return value
        return self._negate(node, value)

    def _negate(self, node: ast.AST, value: Value) -> Value:
        return self._apply(node, "arith.negf", value)

    def _evaluate_Compare(self, node: ast.Compare):
        left = self._evaluate(node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators):
            right = self._evaluate(right_node)
            sign, function, predicate = _COMPARE[type(op)]
            if predicate and (isinstance(left, Value) or isinstance(right, Value)):
                one: Any = self._compare_values(node, right_node, predicate, left, right)
            else:
                one = self._native(node, function, left, right)
                if len(node.ops) == 1:
                    # As it is: of arrays it is an array.
                    return one
            if result is True:
                result = one
            elif isinstance(one, Value) or isinstance(result, Value):
                result = self._join(node, "andi", result, one)
            else:
                result = one
            if not isinstance(result, Value) and not self._native(node, bool, result):
                return result
            left = right
        return result

    def _compare_values(self, node, right_node, predicate: str, left: Any, right: Any) -> Value:
        operands = [self._use(node, left), self._use(right_node, right)]
        return self._value(node, f"arith.cmpf {predicate}, {', '.join(operands)} : f64", "i1")

    def _join(self, node: ast.AST, operation: str, left: Any, right: Any) -> Value:
        operands = [self._use(node, t if isinstance(t, Value) else bool(t), "i1")
                    for t in (left, right)]  # fmt: skip
        return self._value(node, f"arith.{operation} {', '.join(operands)} : i1", "i1")

    def _evaluate_BoolOp(self, node: ast.BoolOp):
        is_and = isinstance(node.op, ast.And)
        result = self._evaluate(node.values[0])
        for part in node.values[1:]:
            if not isinstance(result, Value):
                if self._native(node, bool, result) != is_and:
                    return result
                result = self._evaluate(part)
                continue
            right = self._evaluate(part)
            result = self._join(part, "andi" if is_and else "ori", result, right)
        return result

    def _evaluate_IfExp(self, node: ast.IfExp):
        test = self._evaluate(node.test)
        if not isinstance(test, Value):
            chosen = node.body if self._native(node.test, bool, test) else node.orelse
            return self._evaluate(chosen)
        return self._select(node, node.test, test, self._evaluate(node.body),
                            self._evaluate(node.orelse))  # fmt: skip

    def _select(self, node, test_node, test, a, b) -> Value:
        operands = [self._use(test_node, test, "i1"), self._use(node, a), self._use(node, b)]
        return self._value(node, f"arith.select {', '.join(operands)} : f64")

    # Calls ------------------------------------------------------------------

    def _evaluate_Call(self, node: ast.Call):
        function = self._evaluate(node.func)
        arguments = self._items(node.args)
        named: dict = {}
        for keyword in node.keywords:
            value = self._evaluate(keyword.value)
            if keyword.arg is None:
                self._native(keyword.value, named.update, value)
            else:
                named[keyword.arg] = value
        if isinstance(function, language.Word):
            return self._call_word(node, function, arguments, named)
        return self._call(node, function, arguments, named)

    def _call(self, node: ast.AST, function: Any, arguments: list, named: dict) -> Any:
        if isinstance(function, _Function):
            return self._inline(node, function, arguments, named)
        if isinstance(function, Value):
            self._fail(node, f"{function!r} cannot be called", "write `*` for a product")
        has_values = _holds_value([*arguments, *named.values()])
        if not has_values:
            plain = plain_function(function)
            if plain and (
                _holds_value([*plain[1], *plain[2].values()])
                or _speaks_wavesmith(plain[0], type(plain[1][0]) if plain[1] else object)
            ):
                return self._inline_plain(node, plain, arguments, named)
            return self._native(node, function, *arguments, **named)
        name = _math_name(function)
        if name:
            return self._call_math(node, name, arguments, named)
        if any(function is known for known in (sum, min, max, abs, pow, float)):
            return self._call_builtin(node, function, arguments, named)
        if function in (str, repr) and arguments and isinstance(arguments[0], Value):
            self._no_text(node)
        if _keeps_values(function):
            return self._native(node, function, *arguments, **named)
        plain = plain_function(function)
        if plain:
            return self._inline_plain(node, plain, arguments, named)
        shown = getattr(function, "__name__", None) or f"{function!r:.60}"
        remedy = "write it as a Python function, or with the functions of ws.math"
        if (getattr(function, "__module__", None) or "").split(".")[0] == "numpy":
            remedy = "write it with lists, loops and the functions of ws.math"
        self._fail(node, f"'{shown}' cannot be called with values of the zone", remedy)

    def _inline_plain(self, node, plain: tuple, arguments: list, named: dict) -> Any:
        function, placed, known = plain
        return self._inline(node, function, [*placed, *arguments], {**known, **named})

    def _no_text(self, node: ast.AST) -> NoReturn:
        self._fail(
            node, "a value of the zone has no text when the system is built",
            "use the name of a state: `A.name`",
        )  # fmt: skip

    def _call_math(self, node: ast.AST, name: str, arguments: list, named: dict) -> Any:
        if named:
            self._fail(node, f"'{name}' takes no arguments by name")
        if name == "where" and len(arguments) == 3:
            return self._select(node, node, *arguments)
        if name == "log" and len(arguments) == 2:
            parts = [self._log(node, argument) for argument in arguments]
            return self._apply(node, "arith.divf", *parts)
        if name == "prod" and len(arguments) == 1:
            items = list(self._iterate(node, arguments[0]))
            result = items[0]
            for item in items[1:]:
                result = self._binary(node, ast.Mult(), result, item)
            return result
        if name not in _MATH:
            near = difflib.get_close_matches(name, _MATH, 1, 0.6)
            lists = any(isinstance(argument, (list, tuple)) for argument in arguments)
            self._fail(
                node, f"'{name}' does not take numbers of the zone",
                (f"did you mean '{near[0]}'? " if near else "")
                + ("arrays are of numbers only: use lists, loops and `sum`; " if lists else "")
                + "ws.math has " + ", ".join(sorted([*_MATH, "where"])),
            )  # fmt: skip
        operation, count = _MATH[name]
        if len(arguments) != count:
            self._fail(
                node, f"'{name}' takes {count} argument{'s' * (count > 1)}, got {len(arguments)}"
            )
        return self._apply(
            node, operation, *arguments, kind="i1" if name.startswith("is") else "f64"
        )

    def _log(self, node: ast.AST, thing: Any) -> Any:
        if isinstance(thing, Value):
            return self._apply(node, "math.log", thing)
        return self._native(node, math.log, thing)

    def _call_builtin(self, node, function, arguments: list, named: dict) -> Any:
        if function is pow and len(arguments) == 2 and not named:
            return self._power(node, *arguments)
        if function is abs and len(arguments) == 1:
            return self._apply(node, "math.absf", arguments[0])
        if function is float and len(arguments) == 1:
            self._use(node, arguments[0])
            return arguments[0]
        if function is sum and len(arguments) in (1, 2):
            total = arguments[1] if len(arguments) == 2 else named.pop("start", 0)
            if not named:
                items = list(self._iterate(node, arguments[0]))
                if total == 0 and not isinstance(total, Value) and items:
                    total, items = items[0], items[1:]
                for item in items:
                    total = self._binary(node, ast.Add(), total, item)
                return total
        if function in (min, max) and not named:
            items = arguments
            if len(items) == 1:
                items = list(self._iterate(node, items[0]))
            if items:
                result = items[0]
                name = "arith.minimumf" if function is min else "arith.maximumf"
                for item in items[1:]:
                    if isinstance(result, Value) or isinstance(item, Value):
                        result = self._apply(node, name, result, item)
                    else:
                        result = self._native(node, function, result, item)
                return result
        self._fail(node, f"'{function.__name__}' does not take these arguments in a system")

    # Words --------------------------------------------------------------------

    def _call_word(self, node: ast.Call, word: language.Word, arguments: list, named: dict):
        signature = inspect.signature(word.function)
        try:
            bound = signature.bind(*arguments, **named)
        except TypeError as error:
            shown = [p for p in signature.parameters.values()]
            shown = [p.replace(annotation=p.empty) for p in shown]
            text = str(inspect.Signature(shown))
            self._fail(node, f"ws.{word.__name__}: {error}", f"it is ws.{word.__name__}{text}")
        bound.apply_defaults()
        # Where each argument stands.
        nodes: dict[str, ast.AST] = {}
        if not any(isinstance(a, ast.Starred) for a in node.args) and all(
            k.arg for k in node.keywords
        ):
            nodes = signature.bind(
                *node.args, **{k.arg: k.value for k in node.keywords}
            ).arguments
        method = getattr(self, f"_word_{word.__name__}")
        return method(_Arguments(self, node, word.__name__, bound.arguments, nodes))

    def _state(self, node: ast.AST, key: Any) -> str:
        if isinstance(key, StateValue) and type(key) is StateValue:
            return key.name
        if isinstance(key, StateValue):
            self._fail(node, f"expected a state, got {key!r}", "states are: "
                       + _listing(list(self._states)))  # fmt: skip
        if not isinstance(key, str):
            self._fail(node, f"expected the name of a state, got {key!r:.60}")
        if key not in self._states:
            remedy = "the states are " + _listing(list(self._states))
            near = difflib.get_close_matches(key, self._states, 1, 0.5)
            if "+" in key and key.split("+")[0].strip() in self._states:
                remedy = "put blanks around '+' in an equation"
            elif near:
                remedy = f"did you mean '{near[0]}'? {remedy}"
            self._fail(node, f"unknown state '{key}'", remedy)
        return key

    def _weights(self, node: ast.AST, what: str, given: Any) -> dict[str, float]:
        if given is None:
            return {}
        if isinstance(given, (str, StateValue)):
            given = {given: 1.0}
        if not isinstance(given, Mapping):
            self._fail(
                node, f"{what}: expected weights of states, got {given!r:.60}",
                'write a dictionary such as {"A": 1, "B": 2}',
            )  # fmt: skip
        weights: dict[str, float] = {}
        # A dictionary's own places.
        keys = dict(enumerate(node.keys)) if isinstance(node, ast.Dict) else {}
        values = dict(enumerate(node.values)) if isinstance(node, ast.Dict) else {}
        if None in keys.values() or len(keys) != len(given):
            keys, values = {}, {}
        for i, (key, weight) in enumerate(given.items()):
            name = self._state(keys.get(i, node), key)
            where = values.get(i, node)
            if isinstance(weight, Value):
                self._fail(
                    where, f"{what}: the weight of '{name}' depends on values of the zone",
                    "multiply the rate coefficient by it",
                )  # fmt: skip
            if not _is_number(weight) or not math.isfinite(float(weight)):
                self._fail(where, f"{what}: expected a number for '{name}', got {weight!r:.60}")
            if what != "orders" and float(weight) < 0.0:
                self._fail(
                    where, f"{what}: the weight of '{name}' is negative, {weight}",
                    "swap it to the other side: what is used up is a reactant, what is "
                    "made is a product",
                )  # fmt: skip
            weights[name] = weights.get(name, 0.0) + float(weight)
        return weights

    def _format_weights(self, weights: Mapping[str, float]) -> str:
        order = list(self._states)
        return "[" + ", ".join(
            f"{quote(s)} = {format_float(weights[s])}" for s in sorted(weights, key=order.index)
        ) + "]"  # fmt: skip

    def _add_term(self, node, k: str, unit_node, unit, reactants, products, orders) -> Value:
        changed = [*reactants, *products]
        if unit is None:
            factors = [(self._states[changed[0]].unit, 1.0), (self._time_unit, -1.0)]
            # What stands in both is counted once.
            order = dict(orders)
            if order.get(changed[0]):
                order[changed[0]] -= 1.0
                factors = factors[1:]
            factors = [(self._states[s].unit, -o) for s, o in order.items()] + factors
            unit = units.product(factors)
        else:
            self._native(unit_node, units.parse, unit)
        text = f"wavesmith.term {k} : {quote(unit)}"
        for keyword, weights in (("orders", orders), ("loss", reactants), ("gain", products)):
            kept = {state: weight for state, weight in weights.items() if weight}
            if kept:
                text += f" {keyword} {self._format_weights(kept)}"
        self._num_terms += 1
        return Value(self._emit(node, text))

    def _word_term(self, a: _Arguments) -> Value:
        reactants = self._weights(a.node("reactants"), "reactants", a["reactants"])
        products = self._weights(a.node("products"), "products", a["products"])
        orders = reactants
        if a["orders"] is not None:
            orders = self._weights(a.node("orders"), "orders", a["orders"])
        if not any([*reactants.values(), *products.values()]):
            self._fail(
                a.call, "a term changes no state",
                'give reactants={"A": 1} or products={"B": 1}, or both',
            )  # fmt: skip
        return self._add_term(
            a.call, a.use("k"), a.node("unit"), a["unit"], reactants, products, orders
        )

    def _word_reaction(self, a: _Arguments) -> Value:
        node = a.node("equation")
        equation = a["equation"]
        if not isinstance(equation, str):
            self._fail(
                node, f"expected an equation as text, got {equation!r:.60}",
                'write ws.reaction(k, "A + 2 B -> C")',
            )  # fmt: skip
        parts = re.split(r"(<=>|<->|->|=>|=)", equation)
        if len(parts) != 3 or parts[1] not in ("->", "=>", "<=>", "<->"):
            self._fail(
                node, f"the equation {equation!r} is not of the form 'A + B -> C'",
                "write one '->' between reactants and products, or '<=>' with reverse=",
            )  # fmt: skip
        is_reversible = parts[1].startswith("<")
        if is_reversible and a["reverse"] is None:
            self._fail(
                node, "the equation is reversible, but there is no reverse rate coefficient",
                "give reverse=, or write '->'",
            )  # fmt: skip
        if not is_reversible and a["reverse"] is not None:
            self._fail(
                a.node("reverse"), "a reverse rate coefficient is given, but the equation "
                "goes one way",
                "write '<=>' in the equation",
            )  # fmt: skip
        reactants = self._side(node, parts[0])
        products = self._side(node, parts[2])
        if not reactants and not products:
            self._fail(node, "the equation has neither reactants nor products")
        orders = reactants
        if a["orders"] is not None:
            orders = self._weights(a.node("orders"), "orders", a["orders"])
        forward = self._add_term(
            a.call, a.use("k"), a.node("unit"), a["unit"], reactants, products, orders
        )
        if not is_reversible:
            return forward
        backward = self._add_term(
            a.call, a.use("reverse"), node, None, products, reactants, products
        )
        return self._apply(a.call, "arith.subf", forward, backward)

    def _side(self, node: ast.AST, text: str) -> dict[str, float]:
        weights: dict[str, float] = {}
        text = text.strip()
        if not text:
            return weights
        for part in re.split(r"\s\+\s", text):
            part = part.strip()
            name, weight = part, 1.0
            match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(\*\s*)?(\S.*)", part)
            if part not in self._states and match:
                weight, name = float(match.group(1)), match.group(3)
            name = self._state(node, name)
            weights[name] = weights.get(name, 0.0) + weight
        return weights

    def _word_weighted_sum(self, a: _Arguments) -> Value:
        weights = self._weights(a.node("weights"), "weights", a["weights"])
        if not weights:
            self._fail(a.call, "the sum has no states")
        return self._value(a.call, f"wavesmith.weighted_sum {self._format_weights(weights)}")

    def _word_third_body(self, a: _Arguments) -> Any:
        given = self._weights(a.node("efficiencies"), "efficiencies", a["efficiencies"])
        default = a.number("default")
        if not given:
            return self._apply(a.call, "arith.mulf", default, a["total"])
        return self._value(
            a.call, f"wavesmith.third_body {a.use('total')} default {format_float(default)} "
            f"efficiencies {self._format_weights(given)}",
        )  # fmt: skip

    def _plain_word(self, a: _Arguments, operands: Sequence[str], attributes: Sequence[str],
                    lead: str = "") -> Value:  # fmt: skip
        used = ", ".join(a.use(name) for name in operands if a[name] is not None)
        text = f"wavesmith.{a.word} {lead}{used}"
        for name in attributes:
            if a[name] is not None:
                text += f" {name} {format_float(a.number(name))}"
        return self._value(a.call, text)

    def _word_arrhenius(self, a):
        return self._plain_word(a, ["T"], ["A", "b", "E"])

    def _word_reduced_pressure(self, a):
        return self._plain_word(a, ["low", "high", "third_body"], [])

    def _word_troe(self, a):
        return self._plain_word(a, ["T", "reduced_pressure"], ["A", "T3", "T1", "T2"])

    def _word_sri(self, a):
        return self._plain_word(a, ["T", "reduced_pressure"], ["a", "b", "c", "d", "e"])

    def _word_tsang(self, a):
        return self._plain_word(a, ["T", "reduced_pressure"], ["A", "B"])

    def _word_falloff(self, a):
        return self._plain_word(a, ["high", "reduced_pressure", "blending"], [])

    def _word_chemically_activated(self, a):
        return self._plain_word(a, ["low", "reduced_pressure", "blending"], [])

    def _word_reaclib(self, a):
        sets = a.rows("sets", 7)
        return self._value(a.call, f"wavesmith.reaclib {a.use('T')} sets {sets}")

    def _word_plog(self, a):
        rates = a.rows("rates", 4)
        return self._value(a.call, f"wavesmith.plog {a.use('T')}, {a.use('P')} rates {rates}")

    def _word_chebyshev(self, a):
        return self._value(
            a.call, f"wavesmith.chebyshev {a.use('T')}, {a.use('P')} "
            f"T_range {a.row('T_range', 2)} p_range {a.row('p_range', 2)} "
            f"coefficients {a.rows('coefficients', None)}",
        )  # fmt: skip

    def _word_nasa7(self, a):
        quantities = ("gibbs", "enthalpy", "heat_capacity")
        if a["quantity"] not in quantities:
            self._fail(
                a.node("quantity"), f"unknown quantity {a['quantity']!r:.40}",
                "expected one of " + ", ".join(quantities),
            )  # fmt: skip
        return self._value(
            a.call, f"wavesmith.nasa7 {a['quantity']} {a.use('T')} "
            f"T_mid {format_float(a.number('T_mid'))} "
            f"low {a.row('low', 7)} high {a.row('high', 7)}",
        )  # fmt: skip

    def _word_reverse_rate(self, a):
        node, given = a.node("gibbs"), a["gibbs"]
        pairs = []
        for pair in self._iterate(node, given):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2 or isinstance(pair[1], Value):
                self._fail(
                    node, f"gibbs: expected pairs of g/RT and a number, got {pair!r:.60}",
                    "write [(g_O2, 1), (g_O, -2)]",
                )  # fmt: skip
            number = format_float(self._native(node, float, pair[1]))
            pairs.append(f"{self._use(node, pair[0])} = {number}")
        return self._value(
            a.call, f"wavesmith.reverse_rate {a.use('forward')}, {a.use('T')} "
            f"gibbs [{', '.join(pairs)}] "
            f"reference_pressure {format_float(a.number('reference_pressure'))}",
        )  # fmt: skip


class _Arguments:
    """The arguments of a word, and where they stand."""

    def __init__(self, reader: Reader, call: ast.Call, word: str, values: dict, nodes: dict):
        self._reader, self.call, self.word = reader, call, word
        self._values, self._nodes = values, nodes

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def node(self, name: str) -> ast.AST:
        return self._nodes.get(name, self.call)

    def use(self, name: str) -> str:
        return self._reader._use(self.node(name), self._values[name])

    def _number(self, name: str, value: Any) -> float:
        node = self.node(name)
        if isinstance(value, Value):
            self._reader._fail(
                node, f"ws.{self.word}: '{name}' has to be known when the system is built, "
                f"got {value!r}",
                "write the formula out with ws.math",
            )  # fmt: skip
        if not _is_number(value) or not math.isfinite(float(value)):
            self._reader._fail(
                node, f"ws.{self.word}: expected a finite number for '{name}', got {value!r:.60}"
            )
        return float(value)

    def number(self, name: str) -> float:
        return self._number(name, self._values[name])

    def _row(self, name: str, values: Any, length: int | None) -> str:
        node = self.node(name)
        if isinstance(values, (str, Value)) or not hasattr(values, "__iter__"):
            self._reader._fail(
                node, f"ws.{self.word}: expected numbers for '{name}', got {values!r:.60}"
            )
        row = [format_float(self._number(name, value)) for value in values]
        if length is not None and len(row) != length:
            self._reader._fail(
                node, f"ws.{self.word}: expected {length} numbers for '{name}', got {len(row)}"
            )
        return "[" + ", ".join(row) + "]"

    def row(self, name: str, length: int | None) -> str:
        return self._row(name, self._values[name], length)

    def rows(self, name: str, length: int | None) -> str:
        values = self._reader._iterate(self.node(name), self._values[name])
        return "[" + ", ".join(self._row(name, row, length) for row in values) + "]"

