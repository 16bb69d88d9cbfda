# Part of Wavesmith, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Run code objects of any compiler on the simulator.

    from wavesmith import simulator

    y = np.zeros(1000, np.float32)
    report = simulator.launch(
        open("axpy.hsaco", "rb").read(), "axpy",
        grid=4, block=256, args=[2.0, x, y, 1000], check=True)
    print(report.findings, report.counters["SQ_INSTS_VALU"])

The code object is an ELF file for gfx90a or gfx942 of version 4, 5 or 6, as hipcc,
clang, Triton or IREE make them; a bundle has to be unpacked first. The arguments'
places and sizes come from its metadata. docs/simulator.md says what is checked.
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wavesmith.kernel import DeviceError, _wavesmith

__all__ = ["DeviceError", "Memory", "Program", "Report", "launch"]

#: Instructions that a workgroup may issue, against endless loops: about a minute.
MAX_INSTRUCTIONS = 1 << 32


@dataclass(frozen=True)
class Report:
    """What a launch did; docs/devices.md has the names."""

    #: What was launched.
    kernel: str
    #: Events by name, such as SQ_INSTS_VALU.
    counters: dict[str, int]
    #: The same and more as rocprof counts and names them.
    rocprof_counters: dict[str, float]
    #: How many instructions were exact, and which were approximate.
    semantics: dict
    #: What the checker found, each with kind, message, kernel, instruction and place;
    #: None where it did not run.
    findings: list[dict] | None = None
    #: The modelled time and where it goes; None where it was not modelled.
    modelled_time: dict | None = None

    def counters_csv(self) -> str:
        """The `rocprof_counters` as rocprof writes them: a line of names and one of
        values."""
        return _wavesmith.counters_csv(
            json.dumps({"kernel": self.kernel, "rocprof_counters": self.rocprof_counters})
        )


class Memory:
    """Device memory, for pointers that a launch cannot make by itself: those inside of
    structures, or memory that outlives a launch.

        memory = Memory()
        address = memory.allocate(x.nbytes, "x")
        memory.write(address, x)
        program.launch("k", grid=1, block=64, args=[address], memory=memory)
        memory.read(address, x)

    Accesses outside of its allocations are errors, by the kernel or from here.
    """

    def __init__(self):
        self._handle = _wavesmith.SimulatorMemory()

    def allocate(self, nbytes: int, name: str = "") -> int:
        """The address of new memory, which reports call by the name. It holds a
        pattern that is a NaN."""
        return self._handle.allocate(_count("nbytes", nbytes, 64), name)

    def release(self, address: int) -> None:
        """Give an allocation back, by its first address."""
        self._handle.release(_count("address", address, 64))

    def write(self, address: int, array) -> None:
        """Copy an array, or any object with the buffer protocol, to the device."""
        self._handle.write(_count("address", address, 64), _bytes_of(array))

    def read(self, address: int, array) -> None:
        """Fill a writable array from the device."""
        self._handle.read(_count("address", address, 64), _bytes_of(array))


def _bytes_of(array):
    # Types that the buffer protocol does not know, bf16 for one, are bytes to it.
    return array.reshape(-1).view(np.uint8) if isinstance(array, np.ndarray) else array


class Program:
    """A code object, read and decoded: to launch many times.

    Args:
        code_object: the bytes of the ELF file.

    Raises:
        ValueError: the bytes are no code object that the simulator can take.
    """

    def __init__(self, code_object: bytes):
        self._handle = _wavesmith.SimulatorProgram(bytes(code_object))
        #: What the metadata says, as wavesmith-c/Simulator.h describes it.
        self.description: dict = json.loads(self._handle.description)
        #: The architecture, "gfx90a" or "gfx942".
        self.target: str = self.description["target"]
        #: The kernels' descriptions by name.
        self.kernels: dict[str, dict] = {
            kernel["name"]: kernel for kernel in self.description["kernels"]
        }

    def __repr__(self) -> str:
        return f"<program for {self.target}: {', '.join(self.kernels) or 'no kernel'}>"

    def disassemble(self, kernel: str | None = None) -> list[dict]:
        """The instructions of a kernel: address, text, opcode and whether the
        simulator knows it."""
        return json.loads(self._handle.disassemble(kernel or ""))

    def launch(
        self,
        kernel: str | None = None,
        *,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence = (),
        dynamic_lds: int = 0,
        threads: int = 1,
        max_instructions: int = MAX_INSTRUCTIONS,
        memory: Memory | None = None,
        check: bool = False,
        model_time: bool | str = False,
        vary_fitted: bool = False,
    ) -> Report:
        """Run a kernel on the simulator and wait for it.

        Args:
            kernel: its name; not needed where there is only one.
            grid: the number of workgroups, in one to three dimensions.
            block: the work-items of a workgroup, in one to three dimensions.
            args: a value for each explicit argument, in order. For a pointer, an array
                in C order: the kernel gets a copy of exactly its bytes, and an array
                that is writable holds what the kernel left there afterwards. None is a
                null pointer, an integer an address in `memory`. For a value, a number, a
                NumPy scalar, or the bytes: of the size that the metadata names (a float of
                2, 4 or 8 bytes; an integer of any size, negative ones in two's
                complement). For a pointer to local memory, as OpenCL has it, the offset
                in the workgroup's LDS, the kernel's own part of which comes first.
            dynamic_lds: bytes of LDS on top of the kernel's own.
            threads: host threads; results do not depend on it.
            max_instructions: that a workgroup may issue; 0 for no limit. A loop in
                which nothing changes any more ends the launch much earlier.
            memory: where addresses among the arguments point to.
            check: look for mistakes that the hardware hides, too: races, missing waits,
                uninitialised values and others. Several times slower.
            model_time: model the time as well; the name of a chip, or True for the
                architecture's first.
            vary_fitted: model the time twice more, with the fitted parameters of the
                model a third lower and higher: `varied` of the modelled time. Not with
                `memory`, which the launch changes.

        Returns:
            A `Report`: counters, what a checked launch found, the modelled time.

        Raises:
            ValueError: an argument does not fit the kernel.
            DeviceError: the launch does not fit the kernel, or its execution failed;
                the message says where and why. Arrays are unchanged.
        """
        if kernel is None and len(self.kernels) == 1:
            (kernel,) = self.kernels
        if kernel not in self.kernels:
            raise ValueError(
                f"expected the name of one of the kernels {', '.join(self.kernels) or '(none)'}, "
                f"got {kernel!r}"
            )
        if vary_fitted and memory is not None:
            raise ValueError("vary_fitted: launches with their own memory cannot be repeated")
        if vary_fitted:
            model_time = model_time or True
        described = self.kernels[kernel]["arguments"]
        if len(args) != len(described):
            raise ValueError(
                f"kernel '{kernel}' takes {len(described)} arguments, got {len(args)}"
            )

        def run(memory: Memory, scale: float, check: bool, write_back: bool) -> Report:
            kernarg, copies = _pack_arguments(memory, kernel, described, args)
            try:
                report = json.loads(
                    _wavesmith.launch_simulator(
                        self._handle,
                        memory._handle,
                        kernel,
                        _three("grid", grid),
                        _three("block", block),
                        kernarg,
                        _count("dynamic_lds", dynamic_lds, 32),
                        _count("threads", threads, 32),
                        _count("max_instructions", max_instructions, 64),
                        check,
                        bool(model_time),
                        model_time if isinstance(model_time, str) else "",
                        scale,
                    )
                )
                for address, array in copies:
                    if write_back and array.flags.writeable:
                        memory.read(address, array)
            finally:
                for address, _ in copies:
                    memory.release(address)
            return Report(**report)

        # Before the arrays change.
        varied = [
            {"fitted_scale": scale, "cycles": run(Memory(), scale, False, False).modelled_time["cycles"]}
            for scale in ((2 / 3, 4 / 3) if vary_fitted else ())
        ]
        report = run(memory or Memory(), 1.0, bool(check), True)
        if vary_fitted:
            report.modelled_time["varied"] = varied
        return report


@functools.lru_cache(maxsize=16)
def _load(code_object: bytes) -> Program:
    return Program(code_object)


def launch(code_object: bytes | Program, kernel: str | None = None, **options) -> Report:
    """Run a kernel of a code object on the simulator and wait for it.

    Args:
        code_object: the bytes of an ELF file, or a `Program`.
        kernel, options: see `Program.launch`.
    """
    program = code_object if isinstance(code_object, Program) else _load(bytes(code_object))
    return program.launch(kernel, **options)


def _count(name: str, value: int, bits: int) -> int:
    if not 0 <= operator.index(value) < 1 << bits:
        raise ValueError(f"{name}: {value} is out of range")
    return value


def _three(name: str, sizes: int | Sequence[int]) -> list[int]:
    given = list(sizes) if isinstance(sizes, Sequence) else [sizes]
    if not 1 <= len(given) <= 3:
        raise ValueError(f"{name}: expected one to three sizes, got {len(given)}")
    return [_count(name, size, 32) for size in given + [1] * (3 - len(given))]


def _pack_arguments(
    memory: Memory, kernel: str, described: Sequence[dict], args: Sequence
) -> tuple[bytes, list[tuple[int, np.ndarray]]]:
    """The kernarg segment, and the arrays that were copied to memory with their
    addresses."""
    kernarg = bytearray(max((a["offset"] + a["size"] for a in described), default=0))
    copies: dict[int, tuple[int, np.ndarray]] = {}
    for number, (argument, value) in enumerate(zip(described, args)):
        name = argument["name"] or f"#{number}"
        if argument["kind"] == "by_value":
            packed = _pack_value(name, argument["size"], value)
        elif argument["kind"] == "global_buffer":
            if isinstance(value, np.ndarray):
                # The same array twice is the same memory twice.
                if id(value) not in copies:
                    copies[id(value)] = _copy_in(memory, name, value), value
                address = copies[id(value)][0]
            elif value is None or isinstance(value, int):
                address = _count(f"argument {name}", value or 0, 64)
            else:
                raise ValueError(
                    f"argument {name}: expected an array, an address or None for a "
                    f"pointer, got {type(value).__name__}"
                )
            packed = address.to_bytes(8, "little")
        elif argument["kind"] == "dynamic_shared_pointer":
            packed = _count(f"argument {name}", value, 32).to_bytes(4, "little")
        else:
            raise ValueError(
                f"argument {name} of kernel '{kernel}': cannot pass a {argument['kind']}"
            )
        kernarg[argument["offset"] : argument["offset"] + argument["size"]] = packed
    return bytes(kernarg), list(copies.values())


def _copy_in(memory: Memory, name: str, value: np.ndarray) -> int:
    if not value.flags.c_contiguous:
        raise ValueError(f"argument {name}: expected an array in C order")
    if value.dtype.hasobject:
        raise ValueError(f"argument {name}: expected an array of plain numbers, got objects")
    if not value.nbytes:
        raise ValueError(f"argument {name}: expected an array with elements, or None")
    address = memory.allocate(value.nbytes, name)
    memory.write(address, value)
    return address


def _pack_value(name: str, size: int, value) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        packed = bytes(value)
    elif isinstance(value, (np.generic, np.ndarray)):
        packed = value.tobytes()
    elif isinstance(value, int):
        low, high = -(1 << (8 * size - 1)), 1 << (8 * size)
        if not low <= value < high:
            raise ValueError(f"argument {name}: {value} does not fit in {size} bytes")
        packed = (value % high).to_bytes(size, "little")
    elif isinstance(value, float) and size in (2, 4, 8):
        packed = np.array(value, f"<f{size}").tobytes()
    else:
        raise ValueError(
            f"argument {name}: expected a number or bytes for a value of {size} bytes, "
            f"got {value!r:.60}"
        )
    if len(packed) != size:
        raise ValueError(f"argument {name}: expected {size} bytes, got {len(packed)}")
    return packed
