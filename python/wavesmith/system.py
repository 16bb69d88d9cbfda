# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Systems of ODEs as objects: made from a Python function (`ode_system`) or from a
mechanism (`load_mechanism`), and computed on arrays of zones."""

from __future__ import annotations

import difflib
import enum
import inspect
import math
import os
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wavesmith import units
from wavesmith.arrays import is_on_gpu, is_tensor, no_gradient, to_numpy, to_torch
from wavesmith.errors import CompileError, Place
from wavesmith.importers.mlir_text import (
    LAYOUTS,
    SystemWriter,
    check_choice,
    format_float,
    quote,
    symbol,
)

#: Of moles, in J/mol/K.
GAS_CONSTANT = 8.31446261815324

QUANTITIES = ("rhs", "production_loss", "term_values", "integrate")
#: The options of each method of integration, with their defaults.
METHODS: dict[str, dict[str, Any]] = {
    "asymptotic": {"flux_fraction": 0.01, "time_fraction": 0.1, "tolerance": 1e-7},
    "tsit5": {"rtol": 1e-6, "atol": 1e-12},
}
BASES = ("mass_fractions", "mole_fractions")


class Status(enum.IntEnum):
    """How the integration of a zone ended."""

    FINISHED = 0
    TOO_MANY_STEPS = 1
    FAILED = 2


@dataclass(frozen=True)
class Integration:
    """The result of `System.integrate`. All but `y` have one number a zone.

    Attributes:
        y: the states, in the unit, basis and layout of those that were given.
        t: the time that was reached.
        step: the step size to go on with.
        steps: how many steps were taken.
        status: `Status`: finished, too many steps, or failed (a number was not
            finite, or no step was small enough; y and t are those before).
    """

    y: np.ndarray
    t: np.ndarray
    step: np.ndarray
    steps: np.ndarray
    status: np.ndarray

    @property
    def finished(self) -> np.ndarray:
        """Which zones have reached the end."""
        return self.status == Status.FINISHED

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{int((self.status == s).sum())} {s.name.lower().replace('_', ' ')}"
            for s in Status
            if (self.status == s).any()
        )
        return f"<integration of {self.status.reshape(-1).shape[0]} zones: {counts}>"


@dataclass(frozen=True)
class _Run:
    """Where and how a quantity is computed."""

    target: str
    device: Any
    threads: int
    layout: str
    options: tuple


class System:
    """A system of ODEs. `ode_system` and `load_mechanism` make them.

    Methods that compute take the parameters, then the states: `rhs(T, y)`, or by
    name: `rhs(y=y, T=T)`. States are an array of a row for each state and a column
    for each zone (`layout="soa"`; with "aos" a row a zone), an array without zones,
    or a dictionary of names (states left out are zero). A parameter is a number,
    or one for each zone. Results have the shape of the states; they are tensors of
    torch where the states are one, else arrays of NumPy. Tensors on a GPU are taken
    where they are (float64, in the system's own units), as `Kernel` says; parameters
    beside them are numbers, or are there, too.

    Keywords that they share:
        t: the time, the same in all zones.
        parameters: parameters whose name is that of another keyword.
        layout: "soa" or "aos".
        unit: of the states that are given, and of the result, where it is not the
            system's own.
        basis: "mass_fractions" or "mole_fractions", with `density` (in kg/m^3, for
            systems of concentrations) or `pressure` (in Pa, with a parameter "T"):
            states and results are such fractions.
        target: "gfx90a" or "gfx942".
        device, threads: as for `Kernel`.
        options: of `wavesmith.compile`.
    """

    def __init__(
        self,
        writer: SystemWriter,
        *,
        masses: Mapping[str, float] | None = None,
        places: Sequence[Place] = (),
    ):
        self._writer = writer
        self._places = list(places)
        self._modules: dict = {}
        #: Its name in MLIR text.
        self.name: str = writer.name
        #: The names of the states, in the order of the rows.
        self.states: tuple[str, ...] = tuple(name for name, _ in writer.states)
        #: The unit of each state, by name.
        self.state_units: dict[str, str] = dict(writer.states)
        #: The names of the parameters.
        self.parameters: tuple[str, ...] = tuple(name for name, _ in writer.parameters)
        #: The unit of each parameter, by name.
        self.parameter_units: dict[str, str] = dict(writer.parameters)
        #: The unit of the time, and so of rates.
        self.time_unit: str = writer.time_unit
        #: How many terms it has; a reversible reaction has two.
        self.num_terms: int = writer.num_terms
        #: Molar masses in g/mol, of the states that have one.
        self.masses: dict[str, float] = dict(masses or {})
        self._last: Any = None

    def __getstate__(self) -> dict:
        # Copies in other processes compile, or take from the cache, for themselves.
        return {**self.__dict__, "_modules": {}, "_last": None}

    @property
    def report(self) -> dict | None:
        """The report of the last run (docs/devices.md), None before."""
        return self._last.report if self._last else None

    def __repr__(self) -> str:
        return (
            f"<system {self.name}: {len(self.states)} states, "
            f"{len(self.parameters)} parameters, {self.num_terms} terms>"
        )

    def index(self, state: str) -> int:
        """The row of a state. An unknown name is a ValueError."""
        if state not in self.state_units:
            raise ValueError(f"unknown state {state!r}{_suggest(state, self.states)}")
        return self.states.index(state)

    # Text and code ----------------------------------------------------------

    def to_mlir(self, quantity: str = "rhs", layout: str = "soa", **integration) -> str:
        """The system as MLIR text, with a function that computes one quantity.

        Args:
            quantity: "rhs", "production_loss", "term_values" or "integrate".
            layout: of the function's arrays: "soa" (states x zones) or "aos".
            integration: of "integrate": `method` and its options, `conserved`,
                `total` and `max_steps`, as `integrate` has them.
        """
        check_choice("quantity", quantity, QUANTITIES)
        if quantity != "integrate":
            if integration:
                raise TypeError(f"{quantity} takes no {', '.join(integration)}")
            return self._writer.module(quantity=quantity, layout=layout)
        check_choice("layout", layout, LAYOUTS)
        return self._writer.module_with(self._integration_function(layout, **integration))

    def compile(
        self,
        quantity: str = "rhs",
        target: str = "gfx942",
        *,
        layout: str = "soa",
        integration: Mapping | None = None,
        **options,
    ):
        """Compile one quantity ahead of time: a `CompiledModule` with its stages.

        Args:
            quantity, layout: as for `to_mlir`.
            target: "gfx90a" or "gfx942".
            integration: the keywords of `to_mlir` for "integrate".
            options: of `wavesmith.compile`.
        """
        from wavesmith.kernel import compile

        key: tuple = (target, quantity, layout)
        if integration or options:
            key += repr(sorted((integration or {}).items())), repr(sorted(options.items()))
        # Where stages are dumped the cache on disk does it, also of what is there already.
        if key not in self._modules or os.environ.get("WAVESMITH_DUMP_IR"):
            text = self.text(quantity, layout, **(integration or {}))
            self._modules[key] = compile(text, target, **options)
        return self._modules[key]

    def text(self, quantity: str = "rhs", layout: str = "soa", **integration) -> SystemText:
        """The same as `to_mlir`, for `wavesmith.compile` and `autotune`: errors keep
        their place in Python."""
        return SystemText(self, self.to_mlir(quantity, layout, **integration))

    def inputs(self, *arguments, **keywords) -> dict:
        """What the kernel of the right-hand side takes, by name, for the arguments
        that `rhs` takes."""
        call = _Call(self, arguments, keywords)
        return {"t": call.t, **call.inputs()}

    @property
    def source_name(self) -> str:
        """What diagnostics call the text."""
        return f"<{self.name}>"

    def explain(self, diagnostics: str) -> CompileError:
        """The error that stands for the compiler's diagnostics, at the place in
        Python where the system was read from one."""
        found = re.findall(
            r"^(.*?):(\d+):(\d+): (error|note): (.*)$", diagnostics, re.MULTILINE
        )
        first = self._writer.body_line
        by_place = {(p.filename, p.line, p.column): p for p in self._places}
        for filename, line, column, kind, text in found:
            place = by_place.get((filename, int(line), int(column)))
            row = int(line) - first
            if place is None and filename == self.source_name:
                place = self._places[row] if 0 <= row < len(self._places) else None
            if kind == "error" and place:
                text = _without_names(text)
                notes = [note for *_, kind, note in found if kind == "note"]
                remedy = None
                if "inconsistent units" in text:
                    remedy = (
                        "check the units of the states; without unit= the coefficient has "
                        "the one that fits the first state"
                    )
                return CompileError("\n".join([text, *notes]), place, remedy=remedy)
        # What is wrong with the whole, without the text that no one has written.
        messages = [text for filename, *_, kind, text in found if filename == self.source_name]
        if messages:
            return CompileError("\n".join(_without_names(text) for text in messages))
        return CompileError(diagnostics)

    def _integration_function(
        self,
        layout: str,
        method: str = "asymptotic",
        max_steps: int = 1_000_000,
        conserved: Mapping[str, float] | None = None,
        total: float | None = None,
        **options,
    ) -> list[str]:
        check_choice("method", method, tuple(METHODS))
        known = METHODS[method]
        for name in options:
            if name not in known:
                owner = next((m for m, o in METHODS.items() if name in o), None)
                hint = f"; that is an option of '{owner}'" if owner else ""
                raise ValueError(
                    f"method '{method}' has no option '{name}', only "
                    f"{', '.join(known)}{hint}"
                )
        values = {**known, **{n: v for n, v in options.items() if v is not None}}
        if method == "asymptotic":
            attribute = "#wavesmith.asymptotic<" + ", ".join(
                f"{name} = {format_float(_positive(name, value))}"
                for name, value in values.items()
            ) + ">"  # fmt: skip
        else:
            attribute = (
                f"#wavesmith.tsit5<absolute_tolerance = {self._tolerance('atol', values)}, "
                f"relative_tolerance = {self._tolerance('rtol', values)}>"
            )
        kept = self._conserved(method, conserved)
        text = f"method {attribute}"
        if kept:
            text += f" conserved {self._writer.weights(kept)}"
        if total is not None:
            text += f" total {format_float(_finite('total', total))}"
        text += f" max_steps {_whole('max_steps', max_steps)}"

        def tensor(rows: int) -> str:
            return f"tensor<{f'{rows}x?' if layout == 'soa' else f'?x{rows}'}xf64>"

        states, column, count = tensor(len(self.states)), "tensor<?xf64>", "tensor<?xi32>"
        arguments = [("time", column), ("end", "f64"), ("step", column), ("y", states)]
        if self.parameters:
            arguments.append(("parameters", tensor(len(self.parameters))))
        results = [("states", states), ("t1", column), ("h1", column),
                   ("steps", count), ("status", count)]  # fmt: skip

        def named(pairs, percent: str = "") -> str:
            return ", ".join(
                f"{percent and percent + name + ': '}{kind} {{wavesmith.name = {quote(name)}}}"
                for name, kind in pairs
            )

        operands = ", ".join(f"%{name}" for name, _ in arguments)
        kinds = ", ".join(kind for _, kind in results)
        if layout == "aos":
            text += " {layout = #wavesmith.zone_layout<aos>}"
        return [
            f"  func.func @integrate({named(arguments, '%')}) -> ({named(results)}) {{",
            f"    %0:5 = wavesmith.ode_integrate {symbol(self.name)}({operands}) {text} : "
            f"({', '.join(kind for _, kind in arguments)}) -> ({kinds})",
            f"    return {', '.join(f'%0#{i}' for i in range(5))} : {kinds}",
            "  }",
        ]

    def _tolerance(self, name: str, values: Mapping) -> str:
        given = values[name]
        if isinstance(given, Mapping):
            for state in given:
                self.index(state)
            default = METHODS["tsit5"][name]
            given = [given.get(state, default) for state in self.states]
        # Relative to nothing an absolute error remains.
        number = _positive if name == "atol" else _not_negative
        if np.ndim(given) == 0:
            return format_float(number(name, given))
        if np.shape(given) != (len(self.states),):
            raise ValueError(
                f"{name}: expected one number, or one for each of the {len(self.states)} "
                f"states, got an array of shape {list(np.shape(given))}"
            )
        return "[" + ", ".join(format_float(number(name, value)) for value in given) + "]"

    def _conserved(self, method: str, given: Mapping[str, float] | None) -> dict[str, float]:
        if method != "asymptotic":
            if given:
                raise ValueError(f"method '{method}' takes no conserved sum")
            return {}
        if given is None:
            if not self.masses:
                raise ValueError(
                    "method 'asymptotic' steers its step by a sum that the system "
                    'conserves: give conserved={"A": 1.0, ...} with the weight of each '
                    "state, or molar masses where the states are declared"
                )
            return self.masses
        if not isinstance(given, Mapping):
            raise ValueError(
                f'conserved: expected weights of states such as {{"{self.states[0]}": 1.0}}, got '
                f"{given!r:.60}"
            )
        for state in given:
            self.index(state)
        return {s: _finite(f"conserved[{s!r}]", weight) for s, weight in given.items()}

    # Quantities --------------------------------------------------------------

    def rhs(self, *arguments, **keywords) -> np.ndarray:
        """dy/dt: `rhs(T, y)`. See the class for arguments."""
        call = _Call(self, arguments, keywords)
        (result,) = call.run("rhs")
        return call.finish_rate(result)

    def production_loss(self, *arguments, **keywords) -> tuple[np.ndarray, np.ndarray]:
        """Production and loss of each state, whose difference is dy/dt: the gains
        and the losses of the terms, each for itself."""
        call = _Call(self, arguments, keywords)
        if call.basis == "mole_fractions":
            raise ValueError(
                "production and loss of mole fractions are not defined (their sum "
                "changes): take basis='mass_fractions' or concentrations"
            )
        production, loss = call.run("production_loss")
        return call.finish_rate(production), call.finish_rate(loss)

    def term_values(self, *arguments, **keywords) -> tuple[np.ndarray, np.ndarray]:
        """The coefficient and the value of each term, in the order of the terms and
        in the system's units."""
        call = _Call(self, arguments, keywords)
        return tuple(call.squeeze(result) for result in call.run("term_values"))

    def integrate(
        self,
        y0,
        t_end: float,
        *,
        method: str = "asymptotic",
        t0: float | None = None,
        first_step=None,
        max_steps: int = 1_000_000,
        conserved: Mapping[str, float] | None = None,
        total: float | None = None,
        progress: bool | Callable[[int, int], None] = False,
        batch: int | None = None,
        **keywords,
    ) -> Integration:
        """Integrate every zone to `t_end`, each with its own steps.

        Args:
            y0: the states at the start.
            t_end: the end, in the system's unit of time, at or after the start.
            method: "asymptotic" (explicit asymptotic, for stiff networks) or
                "tsit5" (Runge-Kutta of order 5, for systems that are not stiff).
            t0: the time at the start, a number or one a zone. "asymptotic" needs
                one above zero; by default it is 1e-12 of `t_end`. Else 0.
            first_step: the first step size, likewise; by default a hundredth of
                `t0`, for "tsit5" a millionth of the way.
            max_steps: the most steps of a zone.
            conserved: "asymptotic": weights of a sum of states that the system
                conserves, by default the molar masses; {} for none, where steps
                never grow.
            total: what the sum is held against, by default that at the start.
            progress: True writes to the standard error how many zones are done; a
                function is called with that number and the number of all.
            batch: zones of a launch, by default all, or with `progress` a
                twentieth. It changes no bit.
            keywords: parameters by name, those that the class describes, and the
                method's options. Of "asymptotic": `flux_fraction` (0.01), the most
                that a step may change a state, in the system's unit;
                `time_fraction` (0.1), the longest step as a share of the time;
                `tolerance` (1e-7), of the conserved sum. Of "tsit5": `rtol` (1e-6)
                and `atol` (1e-12), each a number, one a state, or a dictionary.
        """
        check_choice("method", method, tuple(METHODS))
        names = {name for known in METHODS.values() for name in known} - set(self.parameters)
        options = {name: keywords.pop(name) for name in list(keywords) if name in names}
        if "t" in keywords:
            raise ValueError("an integration starts at t0, it takes no t")
        call = _Call(self, (), {"y": y0, **keywords})
        end = _finite("t_end", t_end)
        if t0 is None:
            t0 = 1e-12 * end if method == "asymptotic" else 0.0
        start = call.column("t0", t0)
        if not (start <= end).all():
            raise ValueError(
                f"t_end: expected a time that is not before the start, got {end} with t0 up to "
                f"{float(start.max())}"
            )
        if method == "asymptotic" and not (start > 0.0).all():
            raise ValueError(
                "method 'asymptotic' takes steps of a fraction of the time: t0 has to be "
                f"above zero, got {float(start.min())}"
            )
        given_step = first_step is not None
        if first_step is None:
            first_step = 0.01 * start if method == "asymptotic" else 1e-6 * (end - start)
        step = call.column("first_step", first_step)
        if given_step and not (step > 0.0).all():
            raise ValueError(f"first_step: expected numbers above zero, got {first_step!r:.60}")
        integration = {
            "method": method, "max_steps": max_steps, "conserved": conserved, "total": total,
            **options,
        }  # fmt: skip
        module = call.compile("integrate", integration)
        if progress and batch is None:
            batch = max(1, -(-call.zones // 20))
        batch = _whole("batch", batch) if batch is not None else call.zones
        parts = []
        for first in range(0, call.zones, batch):
            some = slice(first, min(first + batch, call.zones))
            inputs = {"time": start[some], "end": end, "step": step[some],
                      **call.inputs(some)}  # fmt: skip
            parts.append(call.launch(module, inputs))
            if callable(progress):
                progress(some.stop, call.zones)
            elif progress:
                print(f"\r{some.stop} of {call.zones} zones", end="", file=sys.stderr)
        if progress and not callable(progress):
            print(file=sys.stderr)
        axis = 1 if call.layout == "soa" else 0
        y = call.join([part[0] for part in parts], axis)
        columns = [call.join([part[i] for part in parts], 0) for i in range(1, 5)]
        if call.is_single:
            columns = [column[0] for column in columns]
        elif call.is_tensor and call.place is None:
            columns = [to_torch(column) for column in columns]
        return Integration(call.finish_states(y), *columns)

    # Fractions ---------------------------------------------------------------

    def from_mass_fractions(
        self, fractions, *, density=None, pressure=None, T=None, layout: str = "soa"
    ) -> np.ndarray:
        """States, in the system's unit, for mass fractions.

        Args:
            fractions: as states are given; they are taken as they are, whatever
                their sum.
            density: in kg/m^3, a number or one a zone; for states that are amounts
                in a volume.
            pressure, T: in Pa and K, instead of the density, for an ideal gas.
            layout: "soa" or "aos".
        """
        return _fractions(self, "mass_fractions", fractions, density, pressure, T, layout)

    def from_mole_fractions(
        self, fractions, *, density=None, pressure=None, T=None, layout: str = "soa"
    ) -> np.ndarray:
        """The same for mole fractions."""
        return _fractions(self, "mole_fractions", fractions, density, pressure, T, layout)

    def to_mass_fractions(self, y, *, layout: str = "soa") -> np.ndarray:
        """Mass fractions of states; their sum is 1."""
        return _to_fractions(self, "mass_fractions", y, layout)

    def to_mole_fractions(self, y, *, layout: str = "soa") -> np.ndarray:
        """Mole fractions of states; their sum is 1."""
        return _to_fractions(self, "mole_fractions", y, layout)

    def _all_masses(self) -> tuple[np.ndarray, str, str]:
        """Molar masses in g/mol of all states, the states' unit, and whether that
        is an amount in a "volume" or a "mass"."""
        missing = [state for state in self.states if state not in self.masses]
        if missing:
            raise ValueError(
                f"the molar mass of {', '.join(missing[:5])} is not known: give it where "
                'the state is declared, ws.State("mol/l", mass=18.015)'
            )
        distinct = set(self.state_units.values())
        unit = self.state_units[self.states[0]]
        if len(distinct) != 1:
            raise ValueError(f"fractions need states of one unit, got {', '.join(distinct)}")
        for kind, sample in (("volume", "mol/m^3"), ("mass", "mol/kg")):
            if units.dimension(unit) == units.dimension(sample):
                masses = np.array([self.masses[state] for state in self.states])
                return masses, unit, kind
        raise ValueError(
            f"fractions need states that are amounts in a volume or a mass, got {unit!r}"
        )


def _without_names(diagnostic: str) -> str:
    """A diagnostic with the word for the operation."""
    return re.sub(r"^'wavesmith\.(\w+)' op ", r"\1: ", diagnostic)


class SystemText:
    """MLIR text of a system, and where it comes from."""

    def __init__(self, system: System, text: str):
        self._system, self._text = system, text
        self.source_name = system.source_name

    def to_mlir(self) -> str:
        return self._text

    def explain(self, diagnostics: str) -> CompileError:
        return self._system.explain(diagnostics)


def _suggest(name: Any, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(str(name), known, 1, 0.5)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"; there are {shown}" if known else "; there are none"


def _number(what: str, value) -> float:
    if type(value) is float:
        return value
    try:
        if isinstance(value, (str, bool)) or np.ndim(value) != 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what}: expected a number, got {value!r:.60}") from None


def _finite(what: str, value) -> float:
    number = _number(what, value)
    if not math.isfinite(number):
        raise ValueError(f"{what}: expected a finite number, got {number}")
    return number


def _positive(what: str, value) -> float:
    number = _finite(what, value)
    if number <= 0.0:
        raise ValueError(f"{what}: expected a number above zero, got {number}")
    return number


def _not_negative(what: str, value) -> float:
    number = _finite(what, value)
    if number < 0.0:
        raise ValueError(f"{what}: expected a number that is not negative, got {number}")
    return number


def _whole(what: str, value) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value <= 0:
        raise ValueError(f"{what}: expected a positive whole number, got {value!r:.60}")
    if value >= 2**31:
        raise ValueError(f"{what}: expected a number below 2147483648, got {value}")
    return int(value)


def _floats(what: str, value) -> np.ndarray:
    array = to_numpy(what, value)
    if array.dtype.kind not in "fiu" or array.dtype.itemsize > 8:
        raise ValueError(
            f"{what}: expected real numbers, got an array of {array.dtype}"
            + ("; name what it holds by a dictionary" if array.dtype.kind == "O" else "")
        )
    return array.astype(np.float64, copy=False)


def _states_array(system: System, what: str, given, layout: str) -> tuple[np.ndarray, bool]:
    """States as an array of its layout, and whether they came without zones."""
    check_choice("layout", layout, LAYOUTS)
    count = len(system.states)
    if isinstance(given, Mapping):
        rows: list = [np.zeros(())] * count
        for name, value in given.items():
            rows[system.index(name)] = _floats(f"{what}[{name!r}]", value)
        shapes = {row.shape for row in rows} - {()}
        if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
            raise ValueError(
                f"{what}: expected a number or one for each zone for every state, got "
                f"shapes {', '.join(str(list(s)) for s in sorted(shapes))}"
            )
        zones = shapes.pop() if shapes else None
        array = np.stack([np.broadcast_to(row, zones or (1,)) for row in rows])
        return (array if layout == "soa" else array.T), zones is None
    array = _floats(what, given)
    if array.shape == (count,):
        return array.reshape((count, 1) if layout == "soa" else (1, count)), True
    axis = 0 if layout == "soa" else 1
    if array.ndim != 2 or array.shape[axis] != count:
        wanted = f"[{count}, zones]" if layout == "soa" else f"[zones, {count}]"
        remedy = ""
        if array.ndim == 2 and array.shape[1 - axis] == count:
            other = "aos" if layout == "soa" else "soa"
            remedy = f"; the other way round it fits: give layout='{other}'"
        elif array.ndim == 1:
            remedy = f"; one zone is [{count}]"
        raise ValueError(
            f"{what} has the shape {list(array.shape)}, expected {wanted} for the states "
            f"{', '.join(system.states[:8])}{', ...' if count > 8 else ''}{remedy}"
        )
    if array.shape[1 - axis] == 0:
        raise ValueError(f"{what} has no zones, its shape is {list(array.shape)}")
    return array, False


def _column(what: str, given, zones: int) -> np.ndarray:
    array = _floats(what, given)
    if array.shape not in ((), (1,), (zones,)):
        raise ValueError(
            f"{what} has the shape {list(array.shape)}, expected a number, or one for each "
            f"of the {zones} zones"
        )
    return np.ascontiguousarray(array) if array.shape == (zones,) else np.full(zones, array)


def _compile_options() -> Mapping[str, Any]:
    from wavesmith.kernel import compile

    return inspect.signature(compile).parameters


class _Call:
    """The arguments of one computation, as arrays for kernels."""

    def __init__(self, system: System, arguments: Sequence, keywords: Mapping):
        self.system = system
        keywords = dict(keywords)
        given = dict(keywords.pop("parameters", None) or {})
        count = len(system.parameters)
        takes = ", ".join([*system.parameters, "y"])
        if len(arguments) > count + 1:
            raise TypeError(
                f"{system.name} takes at most {count + 1} arguments by place ({takes}), got "
                f"{len(arguments)}"
            )
        if len(arguments) == count + 1 or (len(arguments) == 1 and "y" not in keywords):
            # The last one by place is the states.
            *placed, states = arguments
            if "y" in keywords and "y" not in system.parameters:
                raise TypeError("'y' is given twice")
            keywords["y"] = states
        elif arguments and "y" not in keywords:
            raise TypeError(
                f"{system.name} takes {takes} by place, got {len(arguments)} arguments; "
                "give some of them by name"
            )
        else:
            placed = list(arguments)
        for name, value in zip(system.parameters, placed):
            if name in given or (name in keywords and name != "y"):
                raise TypeError(f"'{name}' is given twice")
            given[name] = value
        shared = {"y", "t", "layout", "unit", "basis", "density", "pressure", "target", "device",
                  "threads", "options"}  # fmt: skip
        for name in list(keywords):
            if name in system.parameters and name not in shared:
                if name in given:
                    raise TypeError(f"'{name}' is given twice")
                given[name] = keywords.pop(name)
            elif name not in shared:
                if name in _compile_options():
                    raise TypeError(
                        f"'{name}' is an option of wavesmith.compile: give "
                        f"options={{{name!r}: ...}}"
                    )
                raise TypeError(
                    f"{system.name} has no parameter '{name}'"
                    + _suggest(name, system.parameters)
                )
        for name in given:
            if name not in system.parameters:
                raise ValueError(
                    f"{system.name} has no parameter '{name}'"
                    + _suggest(name, system.parameters)
                )
        for name in system.parameters:
            if name not in given:
                raise TypeError(
                    f"the parameter '{name}' (in {system.parameter_units[name]}) is missing"
                )
        if "y" not in keywords:
            raise TypeError("the states y are missing")
        self.t = _number("t", keywords.get("t", 0.0))
        self.layout = keywords.get("layout", "soa")
        self.basis = keywords.get("basis")
        self.unit = keywords.get("unit")
        self.target = keywords.get("target", "gfx942")
        self.device = keywords.get("device", "auto")
        self.threads = keywords.get("threads", 1)
        options = keywords.get("options")
        if options is not None and not isinstance(options, Mapping):
            raise TypeError(
                "options: expected a dictionary of options of wavesmith.compile, such as "
                f'{{"workgroup_size": 64}}, got {options!r:.60}'
            )
        self.options = dict(options or {})
        if self.basis is not None:
            check_choice("basis", self.basis, BASES)
            if self.unit is not None:
                raise ValueError("fractions have no unit: give basis or unit, not both")
        self.is_tensor = is_tensor(keywords["y"])
        #: The GPU that has the arrays; None in host memory.
        self.place = None
        if is_on_gpu(keywords["y"]):
            self._take_from_gpu(keywords, given)
            return
        y, self.is_single = _states_array(system, "y", keywords["y"], self.layout)
        axis = 0 if self.layout == "soa" else 1
        zones = y.shape[1 - axis]
        shapes = {}
        if self.is_single:
            shapes = {n: np.shape(v) for n, v in given.items() if np.shape(v) not in ((), (1,))}
        if shapes:
            # One composition at many temperatures.
            name, shape = next(iter(shapes.items()))
            zones = _floats(name, given[name]).size if len(shape) == 1 else zones
            shape = (y.shape[0], zones) if self.layout == "soa" else (zones, y.shape[1])
            y = np.broadcast_to(y, shape)
            self.is_single = False
        self.zones = zones
        columns = [_column(name, given[name], zones) for name in system.parameters]
        self.columns = dict(zip(system.parameters, columns))
        #: Numbers of the caller times this are the system's, state by state; None
        #: where they are the system's already.
        self.scale = self._scale()
        self.density = None
        if self.basis:
            density, pressure = keywords.get("density"), keywords.get("pressure")
            y, self.density = _from_fractions(
                system, self.basis, y, density, pressure, self.columns.get("T"), self.layout
            )
        elif keywords.get("density") is not None or keywords.get("pressure") is not None:
            raise ValueError("density and pressure belong to basis='mass_fractions' or "
                             "'mole_fractions'")  # fmt: skip
        self.y = np.ascontiguousarray(y if self.scale is None else y * self.scale)

    def _take_from_gpu(self, keywords: Mapping, given: Mapping) -> None:
        """The arrays of a call on tensors of a GPU."""
        y, system = keywords["y"], self.system
        for name in ("unit", "basis", "density", "pressure"):
            if keywords.get(name) is not None:
                raise ValueError(
                    f"{name}: numbers on a GPU have to be the system's own, since units and "
                    "fractions are converted in host memory, where y.cpu() is"
                )
        if y.requires_grad and sys.modules["torch"].is_grad_enabled():
            raise no_gradient("y")
        check_choice("layout", self.layout, LAYOUTS)
        count, axis = len(system.states), 0 if self.layout == "soa" else 1
        self.is_single = tuple(y.shape) == (count,)
        if self.is_single:
            y = y.reshape((count, 1) if axis == 0 else (1, count))
        if len(y.shape) != 2 or y.shape[axis] != count or not y.shape[1 - axis]:
            wanted = f"[{count}, zones]" if axis == 0 else f"[zones, {count}]"
            raise ValueError(
                f"y has the shape {list(y.shape)}, expected {wanted} for the states "
                f"{', '.join(system.states[:8])}{', ...' if count > 8 else ''}"
            )
        self.place, self.y, self.zones = y.device, y.detach(), y.shape[1 - axis]
        self.scale = self.density = None
        self.columns = {name: self.column(name, given[name]) for name in system.parameters}

    def _scale(self) -> np.ndarray | None:
        if self.unit is None:
            return None
        system = self.system
        factors = np.array(
            [units.conversion(self.unit, system.state_units[s]) for s in system.states]
        )
        return factors[:, np.newaxis] if self.layout == "soa" else factors

    def column(self, what: str, given):
        if self.place is None:
            return _column(what, given, self.zones)
        if not is_on_gpu(given):
            return to_torch(_column(what, given, self.zones).copy()).to(self.place)
        if tuple(given.shape) not in ((), (1,), (self.zones,)):
            raise ValueError(
                f"{what} has the shape {list(given.shape)}, expected a number, or one for each "
                f"of the {self.zones} zones"
            )
        return given.detach().expand((self.zones,))

    def join(self, parts: list, axis: int):
        """Arrays of one batch after the other."""
        if self.place is None:
            return np.concatenate(parts, axis=axis)
        return parts[0] if len(parts) == 1 else sys.modules["torch"].cat(parts, axis)

    def inputs(self, some: slice | None = None) -> dict[str, Any]:
        some = some or slice(None)
        soa = self.layout == "soa"
        if self.place is not None:
            on_gpu = {"y": self.y[:, some] if soa else self.y[some]}
            if self.columns:
                columns = [column[some] for column in self.columns.values()]
                on_gpu["parameters"] = sys.modules["torch"].stack(columns, 0 if soa else 1)
            return on_gpu
        arrays = {"y": np.ascontiguousarray(self.y[:, some] if soa else self.y[some])}
        if self.columns:
            stacked = np.empty((len(self.columns), arrays["y"].shape[1 if soa else 0]))
            for row, column in zip(stacked, self.columns.values()):
                row[:] = column[some]
            arrays["parameters"] = np.ascontiguousarray(stacked if soa else stacked.T)
        return arrays

    def compile(self, quantity: str, integration: Mapping | None = None):
        return self.system.compile(
            quantity, self.target, layout=self.layout, integration=integration, **self.options
        )

    def launch(self, module, inputs: Mapping) -> tuple:
        result = module(inputs, device=self.device, threads=self.threads)
        self.system._last = module
        return result if isinstance(result, tuple) else (result,)

    def run(self, quantity: str) -> tuple:
        return self.launch(self.compile(quantity), {"t": self.t, **self.inputs()})

    def squeeze(self, array: np.ndarray):
        array = array.reshape(-1) if self.is_single else array
        return to_torch(array) if self.is_tensor and self.place is None else array

    def _along(self, numbers: np.ndarray) -> np.ndarray:
        """A number a zone, to be multiplied with states."""
        return numbers if self.layout == "soa" else numbers[:, np.newaxis]

    def finish_states(self, y: np.ndarray) -> np.ndarray:
        if self.basis:
            y = _to_fractions(self.system, self.basis, y, self.layout)
        else:
            y = y if self.scale is None else y / self.scale
        return self.squeeze(y)

    def finish_rate(self, rate: np.ndarray) -> np.ndarray:
        if not self.basis:
            return self.squeeze(rate if self.scale is None else rate / self.scale)
        masses, unit, kind = self.system._all_masses()
        axis = 0 if self.layout == "soa" else 1
        if self.basis == "mass_fractions":
            # In kg/m^3 or kg/kg, of which the fraction is a share.
            base = "mol/m^3" if kind == "volume" else "mol/kg"
            shape = (-1, 1) if axis == 0 else (1, -1)
            rate = rate * (units.conversion(unit, base) * 1e-3) * masses.reshape(shape)
            if kind == "volume":
                rate = rate / self._along(self.density)
        else:
            total = self.y.sum(axis=axis, keepdims=True)
            rate = (rate - self.y / total * rate.sum(axis=axis, keepdims=True)) / total
        return self.squeeze(rate)


def _from_fractions(
    system: System, basis: str, fractions: np.ndarray, density, pressure, T, layout: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """States for fractions, and the density in kg/m^3 where there is one."""
    masses, unit, kind = system._all_masses()
    axis = 0 if layout == "soa" else 1
    shape = (-1, 1) if axis == 0 else (1, -1)
    # In mol/g: what a mass fraction stands for.
    if basis == "mass_fractions":
        amounts = fractions / masses.reshape(shape)
    else:
        mean = (fractions * masses.reshape(shape)).sum(axis=axis, keepdims=True)
        amounts = fractions / mean
    if kind == "mass":
        if density is not None or pressure is not None:
            raise ValueError(
                f"the states of {system.name} are amounts in a mass ({unit}): fractions "
                "need neither density nor pressure"
            )
        return amounts * units.conversion("mol/g", unit), None
    zones = fractions.shape[1 - axis]
    if (density is None) == (pressure is None):
        raise ValueError(
            f"the states of {system.name} are concentrations: fractions need density= (in "
            "kg/m^3) or pressure= (in Pa), one of them"
        )
    if density is not None:
        rho = _column("density", density, zones)
    else:
        if T is None:
            raise ValueError("pressure= needs the temperature T in K")
        moles = amounts.sum(axis=axis) * 1e3  # in mol/kg
        rho = _column("pressure", pressure, zones) / (
            GAS_CONSTANT * _column("T", T, zones) * moles
        )
    along = rho if layout == "soa" else rho[:, np.newaxis]
    return amounts * along * 1e3 * units.conversion("mol/m^3", unit), rho


def _fractions(system, basis, fractions, density, pressure, T, layout) -> np.ndarray:
    array, single = _states_array(system, basis, fractions, layout)
    zones = max((np.size(x) for x in (density, pressure, T) if np.ndim(x) == 1), default=1)
    if single and zones > 1:
        shape = (array.shape[0], zones) if layout == "soa" else (zones, array.shape[1])
        array, single = np.broadcast_to(array, shape), False
    y, _ = _from_fractions(system, basis, array, density, pressure, T, layout)
    return y.reshape(-1) if single else y


def _to_fractions(system: System, basis: str, y, layout: str) -> np.ndarray:
    masses, _, _ = system._all_masses()
    array, single = _states_array(system, "y", y, layout)
    axis = 0 if layout == "soa" else 1
    if basis == "mass_fractions":
        array = array * masses.reshape((-1, 1) if axis == 0 else (1, -1))
    array = array / array.sum(axis=axis, keepdims=True)
    return array.reshape(-1) if single else array


def ode_system(function: Callable | None = None, *, name: str | None = None) -> Any:
    """Make a `System` of a Python function, as a decorator.

        @ws.ode_system
        def decay(A: ws.State("mol/l"), B: ws.State("mol/l"), T: ws.Parameter("K")):
            ws.reaction(1e7 * ws.math.exp(-5000.0 / T), "A -> B")

    The function is read, not run: docs/tutorial-python.md says what may stand in it.

    Args:
        function: its arguments are annotated by `State`, `States`, `Parameter`,
            `Parameters` and `Time`; left out, the result is a decorator.
        name: of the system, by default the function's.

    Raises:
        CompileError: the function is no system; the message shows the place.
    """
    if name is not None and not (isinstance(name, str) and name):
        raise TypeError(f"name: expected text, got {name!r:.60}")
    around = sys._getframe(1).f_locals
    if function is None:
        return lambda given: _read_system(given, name, around)
    return _read_system(function, name, around)


def _read_system(function: Any, name: str | None, around: Mapping[str, Any]) -> System:
    if not isinstance(function, types.FunctionType):
        raise TypeError(
            f"expected a function, got {type(function).__name__}: write @ws.ode_system "
            "above a `def`"
        )
    from wavesmith.reader import Reader

    reader = Reader(function, name or function.__name__, around)
    writer = reader.read()
    system = System(writer, masses=reader.masses, places=reader.places)
    system.__doc__ = function.__doc__
    return system


def load_mechanism(source, *, phase: str | None = None, name: str | None = None) -> System:
    """A `System` from a mechanism of another program.

    Args:
        source: a file that Cantera reads (a path, or the name of a file that it
            ships, such as "gri30.yaml"); a `cantera.Solution`; a network of
            pynucastro or a list of nuclides ("p", "he4", ...), between which all
            rates of REACLIB are taken; or MUSICA's configuration in JSON (a path).
        phase: of a Cantera file, by default the first.
        name: of the system.

    Returns:
        Of Cantera: concentrations in kmol/m^3, the parameter T in K. Of pynucastro:
        abundances in mol/g, the parameters T in K and rho in g/cm^3. Of MUSICA:
        concentrations in mol/m^3, the parameters T, P and those of its rates.

    Raises:
        MechanismError: it cannot be read, or needs what is not supported.
        MissingPackageError: cantera or pynucastro is not installed.
    """
    from wavesmith.importers.cantera_mechanism import read_cantera
    from wavesmith.importers.errors import MechanismError
    from wavesmith.importers.reaclib_network import read_pynucastro

    module = type(source).__module__.split(".")[0]
    if isinstance(source, (str, Path)):
        suffix = Path(source).suffix.lower()
        if suffix == ".json":
            from wavesmith.importers.musica_mechanism import read_musica

            if phase is not None:
                raise ValueError("phase= is for files of Cantera")
            return _make(read_musica(source, name=name))
        if suffix not in (".yaml", ".yml"):
            raise MechanismError(
                f"cannot tell what {str(source)!r} is: expected a file of Cantera (.yaml) "
                "or of MUSICA (.json), a cantera.Solution or a network of pynucastro"
            )
        return _make(read_cantera(source, phase=phase, name=name))
    if module == "cantera":
        return _make(read_cantera(source, phase=phase, name=name))
    if phase is not None:
        raise ValueError("phase= is for files of Cantera")
    if module == "pynucastro" or isinstance(source, (list, tuple)):
        return _make(read_pynucastro(source, name=name))
    raise TypeError(
        "expected the name of a file, a cantera.Solution, a network of pynucastro or a "
        f"list of nuclides, got {type(source).__name__}"
    )


def _make(read: tuple[SystemWriter, Mapping[str, float]]) -> System:
    writer, masses = read
    return System(writer, masses=masses)
