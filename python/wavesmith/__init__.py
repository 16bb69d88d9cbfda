# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wavesmith compiles systems of ODEs to kernels for AMD Instinct GPUs.

    import wavesmith as ws

    k = ws.compile(text, target="gfx942")
    dydt = k(t=0.0, y=y, device="auto")

- `compile`: from a system, as MLIR text, to a `CompiledModule`.
- `load`: takes up what wavesmith-compile wrote.
- `Device`: where kernels run; "auto", "hip" and "sim" do for most uses.
- `wavesmith.importers`: systems from files of other programs.

The importers need nothing but Python; all else needs the binding, which is
loaded when it is first used.
"""

from __future__ import annotations

import importlib

__all__ = [
    "CompileError",
    "CompiledModule",
    "Device",
    "DeviceError",
    "Kernel",
    "NoDeviceError",
    "compile",
    "load",
    "version",
]


def __getattr__(name: str):
    if name in __all__:
        return getattr(importlib.import_module("wavesmith.kernel"), name)
    raise AttributeError(f"module 'wavesmith' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
