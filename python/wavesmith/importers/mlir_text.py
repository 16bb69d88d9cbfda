# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing of `wavesmith.ode_system` as MLIR text, shared by all importers.

The text is meant to be read by people: one comment a reaction, values named
after what they are, numbers with as many digits as they need and no more.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from wavesmith.importers.errors import MechanismError

LAYOUTS = ("soa", "aos")
QUANTITIES = ("rhs", "production_loss", "term_values")


def check_choice(what: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless `value` is one of `choices`."""
    if value not in choices:
        wanted = ", ".join(f"'{choice}'" for choice in choices)
        raise ValueError(f"unknown {what} {value!r}: expected one of {wanted}")


def format_float(value: float) -> str:
    """The shortest text that MLIR reads back as exactly `value`.

    Raises ValueError for infinities and NaN, which no mechanism means.
    """
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"got {value!r}, expected a finite number")
    text = repr(value)
    # MLIR's number tokens need a decimal point: 1e-05 is written 1.0e-05.
    if "." not in text:
        mantissa, _, exponent = text.partition("e")
        text = f"{mantissa}.0e{exponent}" if exponent else f"{mantissa}.0"
    return text


def quote(text: str) -> str:
    """A string attribute. Bytes that MLIR does not print stand escaped."""
    out = []
    for byte in text.encode("utf-8"):
        if byte in b'"\\' or not 0x20 <= byte < 0x7F:
            out.append(f"\\{byte:02X}")
        else:
            out.append(chr(byte))
    return '"' + "".join(out) + '"'


def symbol(name: str) -> str:
    """A symbol reference, quoted only where MLIR asks for it."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$.]*", name):
        return "@" + name
    return "@" + quote(name)


def identifier(text: str) -> str:
    """`text` with all that may not stand in a value's name replaced."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


def comment_text(text: str) -> str:
    """`text` made safe for the rest of a `//` line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def format_unit(powers: Iterable[tuple[str, Decimal]]) -> str:
    """A unit string from (base unit, exponent) pairs; "1" without any.

    Integer exponents are written as in books (`m^3/kmol/s`), others as a plain
    product of powers (`m^1.5 kmol^-0.5 s^-1`). Exponents are decimals, so that
    sums of reaction orders are exact.
    """
    factors = [(unit, exponent.normalize()) for unit, exponent in powers if exponent]

    def power(unit: str, exponent: Decimal) -> str:
        return unit if exponent == 1 else f"{unit}^{exponent:f}"

    if any(exponent != exponent.to_integral_value() for _, exponent in factors):
        return " ".join(power(*factor) for factor in factors)
    above = [power(unit, exponent) for unit, exponent in factors if exponent > 0]
    below = [power(unit, -exponent) for unit, exponent in factors if exponent < 0]
    return " ".join(above or ["1"]) + "".join("/" + factor for factor in below)


def decimal_sum(values: Iterable[float]) -> Decimal:
    """The exact sum of the values' shortest decimal representations."""
    return sum((Decimal(repr(float(value))) for value in values), Decimal(0))


class SystemWriter:
    """Collects the text of one `wavesmith.ode_system`.

    Args:
        name: the system's symbol name.
        states: name and unit of each state, in the order of the zones' rows.
        parameters: name and unit of each parameter, likewise.
        time_unit: unit of time.
        header: comment lines for the top of the module.

    Raises:
        MechanismError: two states or two parameters have the same name.
    """

    def __init__(
        self,
        name: str,
        states: Sequence[tuple[str, str]],
        parameters: Sequence[tuple[str, str]],
        time_unit: str = "s",
        header: Sequence[str] = (),
    ):
        for what, pairs in (("state", states), ("parameter", parameters)):
            seen: set[str] = set()
            for entry, _ in pairs:
                if entry in seen:
                    raise MechanismError(f"two {what}s have the name '{entry}'")
                seen.add(entry)
        if not states:
            raise MechanismError("the system has no states")
        self.name = name
        self.states = list(states)
        self.parameters = list(parameters)
        self.time_unit = time_unit
        self.header = list(header)
        self.num_terms = 0
        self._index = {state: i for i, (state, _) in enumerate(states)}
        self._lines: list[str] = []
        self._names: set[str] = set()
        self._shared: dict[str, str] = {}

    # Pieces of assembly ----------------------------------------------------

    def weights(self, weights: Mapping[str, float]) -> str:
        """`["A" = 1.0, "B" = 2.0]`, in the order of the states."""
        ordered = sorted(weights, key=self._index.__getitem__)
        return (
            "["
            + ", ".join(f"{quote(s)} = {format_float(weights[s])}" for s in ordered)
            + "]"
        )

    def order_of(self, state: str) -> int:
        """The index of a state."""
        return self._index[state]

    # Lines -------------------------------------------------------------------

    def comment(self, text: str) -> None:
        """Add a comment line; an empty text gives an empty line."""
        self._lines.append(f"    // {comment_text(text)}" if text else "")

    def line(self, text: str) -> None:
        """Add a line as it is."""
        self._lines.append(text)

    def value(self, hint: str, operation: str) -> str:
        """Add `%name = operation` and return the name, made from `hint`."""
        base = identifier(hint)
        name, number = base, 0
        while name in self._names:
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        self._lines.append(f"    %{name} = {operation}")
        return f"%{name}"

    def shared(self, hint: str, operation: str) -> str:
        """As `value`, but the same operation is written only once."""
        if operation not in self._shared:
            self._shared[operation] = self.value(hint, operation)
        return self._shared[operation]

    def constant(self, value: float, hint: str = "c") -> str:
        """An f64 constant, written once."""
        return self.shared(hint, f"arith.constant {format_float(value)} : f64")

    def multiply(self, hint: str, a: str, b: str) -> str:
        """The product of two values."""
        return self.value(hint, f"arith.mulf {a}, {b} : f64")

    def term(
        self,
        coefficient: str,
        unit: str,
        orders: Mapping[str, float],
        loss: Mapping[str, float],
        gain: Mapping[str, float],
    ) -> None:
        """Add a term. Zero orders and weights take no part and are left out.

        Raises ValueError for a negative weight.
        """
        text = f"    wavesmith.term {coefficient} : {quote(unit)}"
        for keyword, weights in (("orders", orders), ("loss", loss), ("gain", gain)):
            kept = {state: weight for state, weight in weights.items() if weight != 0.0}
            if keyword != "orders" and any(weight < 0.0 for weight in kept.values()):
                raise ValueError(f"got a negative {keyword} weight")
            if kept:
                text += f" {keyword} {self.weights(kept)}"
        self._lines.append(text)
        self.num_terms += 1

    # The module --------------------------------------------------------------

    def module(self, *, quantity: str = "rhs", layout: str = "soa") -> str:
        """The module: the system and a function that asks for `quantity`."""
        check_choice("quantity", quantity, QUANTITIES)
        check_choice("layout", layout, LAYOUTS)
        return self.module_with(self._function(quantity, layout))

    @property
    def body_line(self) -> int:
        """The number of the body's first line in the module, from 1."""
        return len(self.header) + 3

    def module_with(self, function: Sequence[str]) -> str:
        """The module: the system and the lines of a function. The first line of
        the system's body is `body_line`."""

        def named_units(pairs: Sequence[tuple[str, str]]) -> str:
            return "[" + ", ".join(f"{quote(n)} : {quote(u)}" for n, u in pairs) + "]"

        lines = [f"// {comment_text(line)}" for line in self.header]
        lines.append("module {")
        lines.append(
            f"  wavesmith.ode_system {symbol(self.name)} states "
            f"{named_units(self.states)} parameters {named_units(self.parameters)} "
            f"time {quote(self.time_unit)} {{"
        )
        lines += self._lines
        lines.append("  }")
        lines.append("")
        lines += function
        lines.append("}")
        return "\n".join(lines) + "\n"

    def _function(self, quantity: str, layout: str) -> list[str]:
        def tensor(rows: int) -> str:
            shape = f"{rows}x?" if layout == "soa" else f"?x{rows}"
            return f"tensor<{shape}xf64>"

        states = tensor(len(self.states))
        results = {
            "rhs": [("dydt", states)],
            "production_loss": [("production", states), ("loss", states)],
            "term_values": [
                ("coefficients", tensor(self.num_terms)),
                ("values", tensor(self.num_terms)),
            ],
        }[quantity]
        arguments = [("t", "f64", "t"), ("y", states, "y")]
        if self.parameters:
            arguments.append(("p", tensor(len(self.parameters)), "parameters"))

        declared = ", ".join(
            f"%{value}: {type_} {{wavesmith.name = {quote(name)}}}"
            for value, type_, name in arguments
        )
        returned = ", ".join(
            f"{type_} {{wavesmith.name = {quote(name)}}}" for name, type_ in results
        )
        result_types = ", ".join(type_ for _, type_ in results)
        operands = ", ".join(f"%{value}" for value, _, _ in arguments)
        operand_types = ", ".join(type_ for _, type_, _ in arguments)
        several = len(results) > 1
        attributes = (
            " {layout = #wavesmith.zone_layout<aos>}" if layout == "aos" else ""
        )
        return [
            f"  func.func @{quantity}({declared}) -> ({returned}) {{",
            f"    %0{':' + str(len(results)) if several else ''} = "
            f"wavesmith.ode_{quantity} {symbol(self.name)}({operands}){attributes} : "
            f"({operand_types}) -> "
            + (f"({result_types})" if several else result_types),
            "    return "
            + (", ".join(f"%0#{i}" for i in range(len(results))) if several else "%0")
            + f" : {result_types}",
            "  }",
        ]


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` so that `path` is at no time incomplete.

    A temporary file in the same folder is renamed when it is complete.
    """
    path = Path(path)
    handle, temporary = tempfile.mkstemp(
        prefix=f".{path.name}.", suffix=".tmp", dir=path.parent
    )
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp makes private files; give the mode that open() would give.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
