# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wavesmith compiles systems of ODEs to kernels for AMD Instinct GPUs.

    import wavesmith as ws

    @ws.ode_system
    def decay(A: ws.State("mol/l"), B: ws.State("mol/l"), T: ws.Parameter("K")):
        ws.reaction(1e7 * ws.math.exp(-5000.0 / T), "A -> B")

    dydt = decay.rhs(300.0, {"A": 1.0})

- `ode_system`, `load_mechanism`: a `System` from a Python function or a mechanism;
  `rhs`, `production_loss`, `term_values`, `integrate` of it run on arrays of zones.
- `State`, `Parameter`, `term`, `reaction`, `arrhenius`, ...: the words of a system
  (`wavesmith.language`); `math`: functions for rates.
- `attention`, `flex_attention`: attention on arrays, with masks and biases that have names,
  or with functions of your own; `create_block_mask`, `and_masks`, `or_masks`.
- `compile`: ahead of time, from a system or MLIR text, to a `CompiledModule` with its
  stages; `load`: takes up what wavesmith-compile wrote.
- `Device`: where kernels run; "auto", "hip" and "sim" do for most uses.
- `testing.do_bench`, `autotune`: times, and the best of several schedules.
- `importers`: MLIR text from files of other programs.

The importers and the reading of systems need no binding; what runs does, which is
loaded when it is first used.
"""

from __future__ import annotations

import difflib
import importlib
import sys

_PLACES = {
    "wavesmith.kernel": [
        "CompiledModule", "Device", "DeviceError", "Kernel", "NoDeviceError", "compile",
        "load", "version",
    ],
    "wavesmith._attention": [
        "BlockMask", "and_masks", "attention", "attention_mlir", "create_block_mask", "flex_attention",
        "or_masks",
    ],
    "wavesmith.errors": ["CompileError"],
    "wavesmith.system": ["Integration", "Status", "System", "load_mechanism", "ode_system"],
    "wavesmith.language": [
        "Parameter", "Parameters", "State", "States", "Time", "arrhenius", "chebyshev",
        "chemically_activated", "falloff", "nasa7", "plog", "reaclib", "reaction",
        "reduced_pressure", "reverse_rate", "sri", "term", "third_body", "troe", "tsang",
        "weighted_sum",
    ],
    "wavesmith.tuning": ["Trial", "Tuning", "autotune"],
}  # fmt: skip
_MODULES = ["importers", "math", "simulator", "testing"]
_ORIGIN = {name: module for module, names in _PLACES.items() for name in names}

__all__ = sorted([*_ORIGIN, *_MODULES])


#: Modules that were imported: to ask Python's importer takes longer.
_imported: dict = {}


def _import(name: str):
    module = _imported.get(name)
    if module is None:
        module = _imported[name] = importlib.import_module(name)
    return module


def _register_torch_op() -> None:
    """Make torch.ops.wavesmith, where torch has been imported."""
    if hasattr(sys.modules.get("torch"), "ops"):
        _import("wavesmith.torch_op")


def __getattr__(name: str):
    _register_torch_op()
    if name in _ORIGIN:
        return getattr(_import(_ORIGIN[name]), name)
    if name in _MODULES:
        return _import(f"wavesmith.{name}")
    near = difflib.get_close_matches(name, __all__, 1, 0.7)
    raise AttributeError(
        f"module 'wavesmith' has no attribute '{name}'"
        + (f"; did you mean '{near[0]}'?" if near else "")
    )


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


_register_torch_op()
