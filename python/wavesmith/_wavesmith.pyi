# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The binding, a thin module over the C API. Use the package.

from collections.abc import Sequence
from typing import Any

class DeviceError(RuntimeError): ...
class NoDeviceError(DeviceError): ...
class CompileError(ValueError): ...

class CodeObject:
    @property
    def bytes(self) -> bytes: ...
    @property
    def description(self) -> str: ...
    @property
    def has_text(self) -> bool: ...
    def stage(self, number: int, /) -> str: ...

class Device:
    def __init__(
        self, kind: str, architecture: str, chip: str, number: int, threads: int, /
    ) -> None: ...

class Report:
    @property
    def json(self) -> str: ...
    @property
    def host_seconds(self) -> float: ...

class SimulatorProgram:
    def __init__(self, code_object: bytes, /) -> None: ...
    @property
    def description(self) -> str: ...
    def disassemble(self, kernel: str, /) -> str: ...

class SimulatorMemory:
    def __init__(self) -> None: ...
    def allocate(self, nbytes: int, name: str, /) -> int: ...
    def release(self, address: int, /) -> None: ...
    def write(self, address: int, array: Any, /) -> None: ...
    def read(self, address: int, array: Any, /) -> None: ...

def compile(
    text: str,
    source_name: str,
    target: str,
    chip: str,
    form: str,
    workgroup_size: int,
    straight_line_limit: int,
    code_object_version: int,
    optimization_level: int,
    threads_per_zone: int,
    /,
) -> CodeObject: ...
def load(code_object: bytes, description: str, /) -> CodeObject: ...
def run(
    device: Device,
    code: CodeObject,
    kernel: str,
    arguments: list[tuple[str, Any, str, bool]],
    zones: int,
    /,
) -> Report: ...
def launch(
    device: Device,
    code: CodeObject,
    kernel: str,
    arguments: list[tuple[str, int, Sequence[int], str]],
    scalars: list[tuple[str, Any, str]],
    zones: int,
    stream: int,
    /,
) -> None: ...
def version() -> str: ...
def launch_simulator(
    program: SimulatorProgram,
    memory: SimulatorMemory,
    kernel: str,
    grid: Sequence[int],
    workgroup: Sequence[int],
    kernarg: bytes,
    dynamic_lds: int,
    threads: int,
    max_instructions: int,
    check: bool,
    model_time: bool,
    chip: str,
    fitted_scale: float,
    /,
) -> str: ...
def counters_csv(report: str, /) -> str: ...
