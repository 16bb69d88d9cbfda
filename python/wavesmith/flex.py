# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads Python functions as regions of attention, in FlexAttention's signatures.

    def score_mod(score, b, h, q_idx, kv_idx): ...   # the new score
    def mask_mod(b, h, q_idx, kv_idx): ...           # whether the pair takes part

What Python knows when the function is read is computed as Python does; what belongs to
a pair of a query and a key becomes an operation. Arrays that the function names are
captured: they are operands of the kernel. Each index has the range that follows from
the ranges of batch, heads and positions, so that an array of a wrong size, or an index on
a wrong axis, is an error with its place and not a read past the end.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import operator
import re
import sys
import types
from typing import Any, NoReturn

import numpy as np

from wavesmith import language
from wavesmith import math as ws_math
from wavesmith.errors import CompileError, Place
from wavesmith.importers.mlir_text import format_float, quote
from wavesmith.reader import (
    _BINARY,
    _MATH,
    Reader,
    Value,
    _closure,
    _Frame,
    _holds_value,
    _is_number,
    _math_name,
    _Return,
    plain_function,
    source_of,
)

SCORE_ARGUMENTS = ("score", "b", "h", "q_idx", "kv_idx")
MASK_ARGUMENTS = SCORE_ARGUMENTS[1:]

#: What captured arrays may hold, and the type of the operand.
_CAPTURED = {
    "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int32": "i32", "int64": "i64",
}  # fmt: skip

_PREDICATES = {"olt": "slt", "ole": "sle", "ogt": "sgt", "oge": "sge", "oeq": "eq", "une": "ne"}


class PairValue(Value):
    """What a pair of a query and a key has: a number ("f32"), an integer ("index") or a
    condition ("i1"). An integer lies from `low` to `high`."""

    def __init__(self, operation: int, kind: str, low: int = 0, high: int = 0):
        super().__init__(operation, kind)
        self.low, self.high = low, high

    def __repr__(self) -> str:
        return {"f32": "<a score>", "index": "<a position>", "i1": "<a condition>"}[self.kind]


class Capture:
    """An array that functions read, with the indices that it has so far."""

    def __init__(self, name: str, array: np.ndarray, number: int, indices: tuple = ()):
        self.name, self.array, self.number, self.indices = name, array, number, indices


class Captures:
    """The captured arrays of all regions of an attention, each once."""

    def __init__(self):
        self.arrays: list[np.ndarray] = []
        self.names: list[str] = []
        #: The arrays as the functions have them.
        self.given: list[Any] = []

    def add(self, name: str, given: Any, array: np.ndarray) -> int:
        for number, known in enumerate(self.given):
            if known is given:
                return number
        self.given.append(given)
        self.names.append(name)
        self.arrays.append(array)
        return len(self.arrays) - 1

    def types(self) -> list[str]:
        """The tensors' types."""
        return [
            "tensor<" + "".join(f"{n}x" for n in a.shape) + _CAPTURED[a.dtype.name] + ">"
            for a in self.arrays
        ]


def is_function(thing: Any) -> bool:
    """Whether it is a function that can be read: also one with arguments of its own, as
    methods, `functools.partial` and objects with `__call__` have."""
    return isinstance(thing, JoinedMask) or plain_function(thing) is not None


class JoinedMask:
    """Several mask functions as one: `and_masks`, `or_masks`."""

    def __init__(self, masks: tuple, is_and: bool):
        for mask in masks:
            if not is_function(mask):
                remedy = ": its mask_mod is one" if hasattr(mask, "mask_mod") else ""
                raise TypeError(f"expected mask functions, got {mask!r:.60}{remedy}")
        if not masks:
            raise TypeError("expected at least one mask function")
        self.masks, self.is_and = masks, is_and
        self.__name__ = "and_masks" if is_and else "or_masks"


class Region:
    """A function that was read: operations as text, with their places."""

    def __init__(self, lines: list[str], places: list[Place], result: str):
        self.lines, self.places, self.result = lines, places, result


#: Modules whose attributes stay as they are.
_CONSTANT_MODULES = ("math", "numpy", "torch", "wavesmith", "wavesmith.math")
#: What gives the same for the same numbers, by id: what is looked for may have no hash.
_PURE = {id(f): f for f in (
    *(f for f in (*vars(operator).values(), *vars(math).values())
      if isinstance(f, types.BuiltinFunctionType)),
    abs, bool, float, int, max, min, range, round,
)}  # fmt: skip
_NUMBERS = frozenset([int, float, bool])


class Dependencies:
    """What the reading of functions depends on, as far as it can be told from their code:
    `parts`, equal for functions that read the same, is None where it cannot. Arrays go by
    their types, shapes and, of integers, ranges; their contents are not read, provided that
    the reader was `repeatable`."""

    def __init__(self):
        self.parts: list | None = []
        #: Each array once, in the order of `parts`.
        self.arrays: list[np.ndarray] = []
        #: To be kept as long as `parts`, which hold their numbers.
        self.codes: list[types.CodeType] = []

    def add(self, thing: Any) -> None:
        """A function, or what a name in one means."""
        kind, parts = type(thing), self.parts
        if parts is None:
            return
        if thing is None or kind in (int, bool, str):
            parts += (kind, thing)
        elif kind is float:
            parts += (kind, repr(thing))
        elif kind is np.ndarray and thing.ndim:
            self._add_array(thing)
        elif kind is types.FunctionType:
            self._add_function(thing)
        elif kind is JoinedMask:
            parts += (kind, thing.is_and, len(thing.masks))
            for mask in thing.masks:
                self.add(mask)
        elif kind is types.ModuleType and thing.__name__ in _CONSTANT_MODULES:
            parts += (kind, thing.__name__)
        elif id(thing) in _PURE:
            parts += (kind, thing.__module__, thing.__name__)
        else:
            self.parts = None

    def _add_array(self, array: np.ndarray) -> None:
        for number, known in enumerate(self.arrays):
            if known is array:
                self.parts += (np.ndarray, number)
                return
        self.arrays.append(array)
        self.parts += (np.ndarray, array.shape, array.dtype)
        if array.dtype.kind in "iu" and array.size:
            self.parts += (int(array.min()), int(array.max()))

    def _add_function(self, function: types.FunctionType) -> None:
        code = function.__code__
        if code in self.codes or function.__dict__ or function.__defaults__ \
                or function.__kwdefaults__ or len(self.codes) > 16:  # fmt: skip
            self.parts = None
            return
        self.codes.append(code)
        self.parts += (types.FunctionType, id(code))
        closure, names = _closure(function), function.__globals__
        for name in _names_in(code):
            if name in closure:
                self.add(closure[name])
            elif name in names:
                self.add(names[name])
            elif hasattr(builtins, name):
                self.add(getattr(builtins, name))
            elif self.parts is not None:
                self.parts.append("undefined")


@functools.lru_cache(maxsize=256)
def _names_in(code: types.CodeType) -> tuple[str, ...]:
    """Names that code looks up outside of its locals, and names of attributes."""
    names = dict.fromkeys((*code.co_freevars, *code.co_names))
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(_names_in(constant)))
    return tuple(names)


def _is_array(thing: Any) -> bool:
    return (
        not isinstance(thing, (Value, Capture, type, types.ModuleType))
        and hasattr(thing, "shape")
        and hasattr(thing, "dtype")
        and len(thing.shape) > 0
    )


class RegionReader(Reader):
    """Reads the functions of one region.

    Args:
        extents: the numbers of batches, heads, queries and keys.
        captures: where captured arrays are entered.
        convert: makes a NumPy array of an array of another library.
    """

    #: The words of systems, and those of pairs.
    _WORDS = (
        ("when the system is built", "when the function is read"),
        ("values of the zone", "positions or scores"),
        ("numbers of the zone", "positions or scores"),
        ("in a system", "in a score or mask function"),
        ("outside of the system", "outside of the function"),
        ("inside of a system", "inside of such a function"),
        ("above the system", "above the function"),
    )

    def __init__(self, extents: dict[str, int], captures: Captures, convert):
        self._extents, self._captures, self._convert = extents, captures, convert
        self._calls: list[Place] = []
        self._operations: list[tuple[str, Place]] = []
        self._shared: dict[str, int] = {}
        self._kinds: list[str | None] = []
        self._hints: dict[int, str] = {}
        #: Names of arrays that were looked up, less those of them that were captured; and
        #: whether Python computed with anything but numbers.
        self._other_uses = 0
        self._is_pure = True

    @property
    def repeatable(self) -> bool:
        """Whether what was read follows from its `Dependencies`."""
        return self._is_pure and self._other_uses == 0

    def _native(self, node: ast.AST, function, *arguments, **named):
        if function is getattr:
            owner = arguments[0]
            pure = isinstance(owner, types.ModuleType) and owner.__name__ in _CONSTANT_MODULES
        else:
            pure = function is self._convert or (
                id(function) in _PURE
                and all(type(x) in _NUMBERS for x in (*arguments, *named.values()))
            )  # fmt: skip
        self._is_pure &= pure
        return super()._native(node, function, *arguments, **named)

    def _evaluate_Name(self, node: ast.Name):
        thing = super()._evaluate_Name(node)
        self._other_uses += _is_array(thing)
        return thing

    # Functions ----------------------------------------------------------------

    def read(self, function: Any, arguments: tuple[str, ...]) -> Region:
        """Read a score function (SCORE_ARGUMENTS) or a mask (MASK_ARGUMENTS)."""
        is_mask = arguments == MASK_ARGUMENTS
        try:
            value = self._read_one(function, arguments)
        except RecursionError:
            self._fail(self._node, "the expressions are nested too deeply for Python")
        result = self._use(self._place_node, value, "i1" if is_mask else "f32")
        lines, places = [], []
        for number, ((text, place), kind) in enumerate(zip(self._operations, self._kinds)):
            if text.startswith("\1"):  # an argument of the region
                continue
            text = self._name(f"\0{number}\0 = {text}")
            lines.append(f"{text} loc({quote(place.filename)}:{place.line}:{place.column})")
            places.append(place)
        return Region(lines, places, self._name(result))

    def _name(self, text: str) -> str:
        def name(match):
            number = int(match.group(1))
            operation = self._operations[number][0]
            return operation[1:] if operation.startswith("\1") else f"%v{number}"

        return re.sub("\0(\\d+)\0", name, text)

    def _read_one(self, function: Any, arguments: tuple[str, ...]) -> Any:
        if isinstance(function, JoinedMask):
            result = self._read_one(function.masks[0], arguments)
            for mask in function.masks[1:]:
                other = self._read_one(mask, arguments)
                result = self._join(
                    self._place_node, "andi" if function.is_and else "ori", result, other
                )
            return result
        function, placed, named = plain_function(function)
        self._node, filename = source_of(function)
        self._place_node = self._node
        self._frame = _Frame(
            function.__name__, filename, [{}, _closure(function), function.__globals__]
        )
        self._check_arguments(function, placed, named, arguments)
        bound = inspect.signature(function, follow_wrapped=False).bind(
            *placed, *map(self._argument, arguments), **named
        )
        bound.apply_defaults()
        self._frame.locals.update(bound.arguments)
        try:
            self._run(self._node.body)
        except _Return as returned:
            value = returned.value
        else:
            value = None
        node = self._place_node
        what = "mask" if arguments == MASK_ARGUMENTS else "score"
        if value is None:
            self._fail(node, f"the {what} function returns nothing",
                       "return " + ("a condition: `return q_idx >= kv_idx`" if what == "mask"
                                    else "the new score: `return score`"))  # fmt: skip
        self._place_node = getattr(node, "value", None) or node
        kind = getattr(value, "kind", "i1" if isinstance(value, (bool, np.bool_)) else "f32")
        if what == "mask" and kind != "i1":
            self._fail(self._place_node, f"a mask function returns a condition, got {value!r:.60}",
                       "compare: `return q_idx >= kv_idx`; what changes scores is a score_mod"
                       )  # fmt: skip
        if what == "score" and kind == "i1":
            self._fail(self._place_node, "a score function returns a number, got a condition",
                       "choose by it: `return score if condition else -math.inf`; or make it a "
                       "mask: create_block_mask(mask_mod, ...)")  # fmt: skip
        return bool(value) if isinstance(value, np.bool_) else value

    def _check_arguments(self, function, placed: list, named: dict, roles: tuple) -> None:
        form = f"def {function.__name__}({', '.join(roles)})"
        if function.__name__ == "<lambda>":
            form = f"lambda {', '.join(roles)}: ..."
        given = self._node.args
        arguments = [*given.posonlyargs, *given.args]
        try:
            inspect.signature(function, follow_wrapped=False).bind(*placed, *roles, **named)
        except TypeError:
            count = len(arguments) - len(placed)
            self._fail(
                self._node, f"expected a function of {len(roles)} arguments "
                f"({', '.join(roles)}), got one of {count}", f"write `{form}`",
            )  # fmt: skip
        for i, (argument, role) in enumerate(zip(arguments[len(placed) :], roles)):
            # A name that means another argument.
            if argument.arg in roles and argument.arg != role:
                self._fail(
                    argument,
                    f"argument {i} is '{role}', but the function calls it '{argument.arg}'",
                    f"keep the order: `{form}`",
                )  # fmt: skip

    def _argument(self, role: str) -> PairValue:
        text = f"\1%{role}"
        if text not in self._shared:
            self._shared[text] = self._emit(self._node, text, "f32")
        if role == "score":
            return PairValue(self._shared[text], "f32")
        return PairValue(self._shared[text], "index", 0, max(self._extents[role] - 1, 0))

    def _fail(self, node: ast.AST, message: str, remedy: str | None = None) -> NoReturn:
        for old, new in self._WORDS:
            message = message.replace(old, new)
            remedy = remedy.replace(old, new) if remedy else remedy
        super()._fail(node, message, remedy)

    def _unsupported(self, node: ast.AST) -> NoReturn:
        super()._unsupported(node)

    # Values --------------------------------------------------------------------

    def _make(self, node, text: str, kind: str, low: int = 0, high: int = 0) -> PairValue:
        return PairValue(super()._value(node, text, kind).operation, kind, low, high)

    def _integer(self, node: ast.AST, number: int) -> PairValue:
        number = int(number)
        if not -(2**31) <= number < 2**31:
            self._fail(node, f"the integer {number} does not fit in 32 bits",
                       "write it as a float if it belongs to the score")  # fmt: skip
        return self._make(node, f"arith.constant {number} : index", "index", number, number)

    def _use(self, node: ast.AST, thing: Any, kind: str = "f32") -> str:
        if kind == "f64":  # of the base class
            kind = "f32"
        if isinstance(thing, Capture):
            thing = self._whole(node, thing)
        if isinstance(thing, PairValue):
            if thing.kind == kind:
                return self._operand(node, thing)
            if kind == "f32" and thing.kind == "index":
                narrow = self._make(
                    node, f"arith.index_cast {self._operand(node, thing)} : index to i32", "i32"
                )
                return self._operand(node, self._make(
                    node, f"arith.sitofp {self._operand(node, narrow)} : i32 to f32", "f32"
                ))  # fmt: skip
            if kind == "index":
                self._fail(node, f"expected an integer, got {thing!r}",
                           "positions and captured arrays of integers are")  # fmt: skip
            if kind == "i1":
                self._fail(node, "expected a condition, got a number",
                           "compare it: `x > 0`, for example")  # fmt: skip
            self._fail(node, "expected a number, got a condition",
                       "choose a number by it: `a if condition else b`")  # fmt: skip
        if isinstance(thing, (bool, np.bool_)) and kind == "i1":
            return self._operand(
                node, self._make(node, f"arith.constant {str(bool(thing)).lower()}", "i1")
            )
        if _is_array(thing):
            self._fail(node, f"expected one number, got an array of shape {tuple(thing.shape)}",
                       "index it by b, h, q_idx or kv_idx")  # fmt: skip
        if kind == "index" and self._is_integer(thing):
            return self._operand(node, self._integer(node, thing))
        if kind == "f32" and _is_number(thing):
            number = self._native(node, float, thing)
            if math.isnan(number):
                self._fail(node, "expected a number, got nan")
            with np.errstate(over="ignore"):
                narrow = float(np.float32(number))
            text = (
                format_float(narrow)
                if math.isfinite(narrow)
                else "0xFF800000" if narrow < 0 else "0x7F800000"
            )
            return self._operand(node, self._make(node, f"arith.constant {text} : f32", "f32"))
        wanted = {"f32": "a number", "index": "an integer", "i1": "a condition"}[kind]
        self._fail(node, f"expected {wanted}, got {thing!r:.60}")

    @staticmethod
    def _is_integer(thing: Any) -> bool:
        return isinstance(thing, (int, np.integer)) and not isinstance(thing, bool)

    def _operand(self, node: ast.AST, value: Value) -> str:
        return f"\0{value.operation}\0"

    def _bind(self, node: ast.AST, name: str, value: Any) -> None:
        self._frame.locals[name] = value

    def _whole(self, node: ast.AST, capture: Capture) -> Any:
        self._fail(
            node, f"the captured array '{capture.name}' has {capture.array.ndim} dimensions, got "
            f"{len(capture.indices)} indices",
            f"index it by {capture.array.ndim}: `{capture.name}[b, h]`, for example",
        )  # fmt: skip

    def _is_index(self, thing: Any) -> bool:
        return self._is_integer(thing) or getattr(thing, "kind", "") == "index"

    def _apply(self, node: ast.AST, operation: str, *things: Any, kind: str = "f32") -> Value:
        operands = [self._use(node, thing, "f32") for thing in things]
        kind = "f32" if kind == "f64" else kind
        return self._make(node, f"{operation} {', '.join(operands)} : f32", kind)

    def _range(self, thing: Any) -> tuple[int, int]:
        return (thing.low, thing.high) if isinstance(thing, PairValue) else (int(thing),) * 2

    def _integers(self, node, operation: str, left: Any, right: Any, ends: list) -> PairValue:
        operands = [self._use(node, thing, "index") for thing in (left, right)]
        low, high = min(ends), max(ends)
        if max(abs(low), abs(high)) >= 2**62:
            self._fail(node, "the integer may leave 63 bits", "use a float: `float(q_idx)`")
        return self._make(node, f"{operation} {', '.join(operands)} : index", "index", low, high)

    def _binary(self, node: ast.AST, op: ast.operator, left: Any, right: Any) -> Any:
        left, right = (
            self._whole(node, t) if isinstance(t, Capture) else t for t in (left, right)
        )
        if not isinstance(left, Value) and not isinstance(right, Value):
            return super()._binary(node, op, left, right)
        for side, thing in (("left", left), ("right", right)):
            if _is_array(thing):
                self._use(getattr(node, side, node), thing)
        if not (self._is_index(left) and self._is_index(right)):
            if isinstance(op, (ast.FloorDiv, ast.Mod)):
                sign = _BINARY[type(op)][0]
                self._fail(node, f"`{sign}` takes integers here",
                           "use ws.math.floor(a / b) or ws.math.fmod(a, b)")  # fmt: skip
            return super()._binary(node, op, left, right)
        (a, b), (c, d) = self._range(left), self._range(right)
        if isinstance(op, ast.Add):
            return self._integers(node, "arith.addi", left, right, [a + c, b + d])
        if isinstance(op, ast.Sub):
            return self._integers(node, "arith.subi", left, right, [a - d, b - c])
        if isinstance(op, ast.Mult):
            ends = [a * c, a * d, b * c, b * d]
            return self._integers(node, "arith.muli", left, right, ends)
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            if c <= 0:
                self._fail(getattr(node, "right", node),
                           f"the divisor may be {c}, which is not positive",
                           "divide by a positive number, or take `max(n, 1)`")  # fmt: skip
            # Python rounds down, and so does the rest have the sign of the divisor.
            quotient = self._floor_divide(node, left, right, [a // c, a // d, b // c, b // d])
            if isinstance(op, ast.FloorDiv):
                return quotient
            low, high = (a, b) if a >= 0 and b < c else (0, d - 1)
            product = self._integers(node, "arith.muli", quotient, right, [a - d, b])
            return self._integers(node, "arith.subi", left, product, [low, high])
        if isinstance(op, ast.Pow) and self._is_integer(right) and 0 < right <= 4:
            result = left
            for _ in range(int(right) - 1):
                result = self._binary(node, ast.Mult(), result, left)
            return result
        return super()._binary(node, op, left, right)

    def _floor_divide(self, node, left, right, ends: list) -> PairValue:
        low = self._range(left)[0]
        name = "arith.divui" if low >= 0 else "arith.floordivsi"
        return self._integers(node, name, left, right, ends)

    def _power(self, node: ast.AST, base: Any, exponent: Any) -> Value:
        if not isinstance(exponent, Value) and _is_number(exponent):
            number = float(exponent)
            if number in (2.0, 3.0, 4.0):
                square = self._apply(node, "arith.mulf", base, base)
                if number == 2.0:
                    return square
                return self._apply(node, "arith.mulf", square, base if number == 3.0 else square)
        return self._apply(node, "math.powf", base, exponent)

    def _negate(self, node: ast.AST, value: Value) -> Value:
        if value.kind == "index":
            return self._binary(node, ast.Sub(), 0, value)
        return self._apply(node, "arith.negf", value)

    def _evaluate_UnaryOp(self, node: ast.UnaryOp):
        value = self._evaluate(node.operand)
        if isinstance(value, Value) and isinstance(node.op, ast.UAdd):
            return value
        return super()._evaluate_UnaryOp(node)

    def _compare_values(self, node, right_node, predicate: str, left: Any, right: Any) -> Value:
        if getattr(left, "kind", "") == "i1" or getattr(right, "kind", "") == "i1":
            if predicate in ("oeq", "une"):
                name = {"oeq": "eq", "une": "ne"}[predicate]
                operands = [self._use(node, left, "i1"), self._use(right_node, right, "i1")]
                return self._make(node, f"arith.cmpi {name}, {', '.join(operands)} : i1", "i1")
        if self._is_index(left) and self._is_index(right):
            name = _PREDICATES[predicate]
            operands = [self._use(node, left, "index"), self._use(right_node, right, "index")]
            return self._make(node, f"arith.cmpi {name}, {', '.join(operands)} : index", "i1")
        operands = [self._use(node, left, "f32"), self._use(right_node, right, "f32")]
        return self._make(node, f"arith.cmpf {predicate}, {', '.join(operands)} : f32", "i1")

    def _join(self, node: ast.AST, operation: str, left: Any, right: Any) -> Any:
        if not isinstance(left, Value) and not isinstance(right, Value):
            return bool(left) and bool(right) if operation == "andi" else bool(left) or bool(right)
        operands = [self._use(node, t if isinstance(t, Value) else bool(t), "i1")
                    for t in (left, right)]  # fmt: skip
        return self._make(node, f"arith.{operation} {', '.join(operands)} : i1", "i1")

    def _value(self, node: ast.AST, text: str, kind: str = "f32") -> Value:
        return self._make(node, text, kind)

    def _select(self, node, test_node, test, a, b) -> Value:
        condition = self._use(test_node, test, "i1")
        parts = {getattr(t, "kind", "i1" if isinstance(t, bool) else "") for t in (a, b)}
        if parts == {"i1"}:
            kind, low, high = "i1", 0, 0
        elif self._is_index(a) and self._is_index(b):
            ends = [*self._range(a), *self._range(b)]
            kind, low, high = "index", min(ends), max(ends)
        else:
            kind, low, high = "f32", 0, 0
        operands = [condition, self._use(node, a, kind), self._use(node, b, kind)]
        return self._make(node, f"arith.select {', '.join(operands)} : {kind}", kind, low, high)

    # Captured arrays --------------------------------------------------------------

    def _evaluate_Subscript(self, node: ast.Subscript):
        container = self._evaluate(node.value)
        key = self._evaluate(node.slice)
        keys = key if isinstance(key, tuple) else (key,)
        if isinstance(container, Value):
            self._fail(node, f"{container!r} cannot be indexed")
        if not isinstance(container, Capture):
            if not _holds_value(keys):
                return self._native(node, operator.getitem, container, key)
            if not _is_array(container):
                self._fail(
                    node.slice, f"{container!r:.60} is indexed by positions, which are not known "
                    "when the function is read",
                    "make it an array: `np.array(..., np.float32)`",
                )  # fmt: skip
            container = self._capture(node.value, container)
        for part in keys:
            if not self._is_index(part):
                self._fail(
                    node.slice, f"expected an integer as the index, got {part!r:.60}",
                    "index by b, h, q_idx, kv_idx and what is computed of them in integers",
                )  # fmt: skip
        indices = (*container.indices, *keys)
        array = container.array
        if len(indices) > array.ndim:
            self._fail(
                node, f"the captured array '{container.name}' has {array.ndim} dimensions, got "
                f"{len(indices)} indices",
                f"its shape is {array.shape}",
            )  # fmt: skip
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for i, part in enumerate(keys):
            self._check_range(
                nodes[i] if len(nodes) == len(keys) else node, container,
                len(container.indices) + i, part,
            )  # fmt: skip
        capture = Capture(container.name, array, container.number, indices)
        return self._extract(node, capture) if len(indices) == array.ndim else capture

    def _capture(self, node: ast.AST, given: Any) -> Capture:
        name = ast.unparse(node)
        self._other_uses -= 1
        array = self._native(node, self._convert, name, given)
        if array.dtype.name not in _CAPTURED:
            self._fail(
                node, f"the captured array '{name}' has elements of {array.dtype}",
                "expected " + ", ".join(_CAPTURED)
                + f": `{name}.astype(np.{'int32' if array.dtype.kind in 'iu' else 'float32'})`"
                if array.dtype.name != "bool"
                else f"make it integers and compare: `{name}.astype(np.int32)`, `... != 0`",
            )  # fmt: skip
        if array.size == 0:
            self._fail(node, f"the captured array '{name}' has no elements")
        return Capture(name, array, self._captures.add(name, given, array))

    def _check_range(self, node, capture: Capture, dimension: int, index: Any) -> None:
        low, high = self._range(index)
        size = capture.array.shape[dimension]
        if 0 <= low and high < size:
            return
        shown = ast.unparse(node)
        what = f"'{shown}' goes from {low} to {high}" if low != high else f"'{shown}' is {low}"
        remedy = f"make it longer, or keep the index inside: `min(max({shown}, 0), {size - 1})`"
        fitting = [r for r, n in self._extents.items() if n == size]
        if size > 1 and isinstance(node, ast.Name) and fitting and node.id in self._extents:
            remedy = f"dimension {dimension} is as long as {fitting[0]} goes: index by that, or " \
                     f"make it {high + 1} long"  # fmt: skip
        self._fail(
            node, f"the captured array '{capture.name}' of shape {capture.array.shape} has the "
            f"size {size} along dimension {dimension}, but {what}", remedy,
        )  # fmt: skip

    def _extract(self, node: ast.AST, capture: Capture) -> PairValue:
        operands = ", ".join(self._use(node, index, "index") for index in capture.indices)
        kind = _CAPTURED[capture.array.dtype.name]
        shape = "".join(f"{n}x" for n in capture.array.shape)
        text = f"tensor.extract %array{capture.number}[{operands}] : tensor<{shape}{kind}>"
        entry = self._operand(node, self._make(node, text, kind))
        if kind == "f32":
            return self._make(node, text, "f32")
        if kind in ("f16", "bf16"):
            return self._make(node, f"arith.extf {entry} : {kind} to f32", "f32")
        ends = int(capture.array.min()), int(capture.array.max())
        return self._make(node, f"arith.index_cast {entry} : {kind} to index", "index", *ends)

    # Calls ------------------------------------------------------------------

    def _evaluate_Call(self, node: ast.Call):
        function = self._evaluate(node.func)
        if isinstance(function, language.Word):
            self._fail(node, f"ws.{function.__name__} is a word of systems",
                       "scores are plain arithmetic and functions of ws.math")  # fmt: skip
        return super()._evaluate_Call(node)

    def _evaluate_Attribute(self, node: ast.Attribute):
        owner = self._evaluate(node.value)
        # Methods of torch's tensors that FlexAttention's functions use.
        if isinstance(owner, PairValue) and node.attr in ("abs", "float"):
            return lambda: self._call(node, {"abs": abs, "float": float}[node.attr], [owner], {})
        if isinstance(owner, Value):
            self._fail(node, f"{owner!r} has no attribute '{node.attr}'")
        if isinstance(owner, Capture) and node.attr in ("shape", "ndim"):
            return getattr(owner.array, node.attr)
        return super()._evaluate_Attribute(node)

    def _call(self, node: ast.AST, function: Any, arguments: list, named: dict) -> Any:
        if isinstance(function, types.LambdaType) and function.__module__ == __name__:
            return function()
        name = self._function_name(function)
        if name and _holds_value([*arguments, *named.values()]):
            return self._call_math(node, name, arguments, named)
        if function is int and len(arguments) == 1 and self._is_index(arguments[0]):
            return arguments[0]
        return super()._call(node, function, arguments, named)

    def _function_name(self, function: Any) -> str | None:
        name = getattr(function, "__name__", None)
        torch = sys.modules.get("torch")
        if torch is not None and name and vars(torch).get(name) is function:
            return {"absolute": "fabs", "abs": "fabs"}.get(name, name)
        if getattr(ws_math, name or "", None) is function and name:
            return name
        return _math_name(function)

    def _call_math(self, node: ast.AST, name: str, arguments: list, named: dict) -> Any:
        arguments = [self._whole(node, a) if isinstance(a, Capture) else a for a in arguments]
        if name == "where" and len(arguments) == 3 and not named:
            return self._select(node, node, *arguments)
        if name in ("maximum", "minimum") and len(arguments) == 2 and not named:
            return self._extreme(node, name == "minimum", *arguments)
        if name == "fabs" and len(arguments) == 1 and not named:
            return self._absolute(node, arguments[0])
        if name in ("logical_and", "logical_or") and len(arguments) == 2 and not named:
            return self._join(node, "andi" if name == "logical_and" else "ori", *arguments)
        if name == "clip" and len(arguments) == 3 and not named:
            return self._extreme(node, True, self._extreme(node, False, *arguments[:2]),
                                 arguments[2])  # fmt: skip
        if name not in _MATH:
            return super()._call_math(node, name, arguments, named)
        return super()._call_math(node, name, arguments, named)

    def _extreme(self, node, is_minimum: bool, left: Any, right: Any) -> Any:
        if not isinstance(left, Value) and not isinstance(right, Value):
            return min(left, right) if is_minimum else max(left, right)
        if self._is_index(left) and self._is_index(right):
            choose = min if is_minimum else max
            (a, b), (c, d) = self._range(left), self._range(right)
            name = "arith.minsi" if is_minimum else "arith.maxsi"
            return self._integers(node, name, left, right, [choose(a, c), choose(b, d)])
        name = "arith.minimumf" if is_minimum else "arith.maximumf"
        return self._apply(node, name, left, right)

    def _absolute(self, node, value: Any) -> Any:
        if not self._is_index(value) or not isinstance(value, Value):
            return self._apply(node, "math.absf", value)
        if value.low >= 0:
            return value
        result = self._extreme(node, False, value, self._binary(node, ast.Sub(), 0, value))
        if value.low <= 0 <= value.high:
            result.low = 0
        return result

    def _call_builtin(self, node, function, arguments: list, named: dict) -> Any:
        if function is abs and len(arguments) == 1:
            return self._absolute(node, arguments[0])
        if function in (min, max) and not named:
            items = arguments
            if len(items) == 1:
                items = list(self._iterate(node, items[0]))
            if items:
                result = items[0]
                for item in items[1:]:
                    result = self._extreme(node, function is min, result, item)
                return result
        if function is float and len(arguments) == 1:
            operand = self._use(node, arguments[0], "f32")
            return PairValue(int(operand.strip("\0")), "f32")
        return super()._call_builtin(node, function, arguments, named)


def explain(diagnostics: str) -> CompileError:
    """The error that stands for the compiler's diagnostics, without its text: at the
    line of the function, or what is wrong with the whole."""
    found = re.findall(r"^(.*?):(\d+):(\d+): error: (.*)$", diagnostics, re.MULTILINE)
    for filename, line, column, text in found:
        text = re.sub(r"^'wavesmith\.(\w+)' op ", r"\1: ", text)
        if not filename.startswith("<"):
            place = Place(filename, int(line), int(column), int(line), int(column) + 1)
            return CompileError(text, place)
        return CompileError(text)
    return CompileError(diagnostics)
